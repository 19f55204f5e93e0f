#include "config.h"

#include "planner/commands.h"
#include "planner/coverage.h"
#include "planner/data.h"
#include "planner/outfile.h"
#include "planner/report.h"
#include "planner/report_compare.h"
#include "planner/work.h"
#include "planner/workload.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct args {
    struct opt_strings networks;
    struct uc_network_overrides overrides;
    struct uc_policy policy;
    int64_t limit_bytes; /**< -1: not given */
    int64_t environments[2];
    struct uc_compare_options compare;
    const char *junit;
    bool across_devices, markdown, json;
};

static const struct opt_spec opts[] = {
    { "network", 0, OPT_STRINGS, offsetof(struct args, networks), "NAME",
      "only this network's plans; profiles: plan it from both" },
    { "workspace-limit", 'w', OPT_BYTES, offsetof(struct args, limit_bytes),
      "BYTES", "profiles: limit of each operation (default 64M)" },
    { "policy", 0, OPT_POLICY, offsetof(struct args, policy), "POLICY",
      "profiles: micro-batch sizes: undivided, power-of-two, all or a list" },
    { "batch", 'b', OPT_COUNT, offsetof(struct args, overrides.batch), "N",
      "profiles: batch size in place of the network's" },
    { "dtype", 0, OPT_DTYPE, offsetof(struct args, overrides.dtype), "TYPE",
      "profiles: data type: fp32, fp16, bf16 or fp64" },
    { "layout", 0, OPT_LAYOUT, offsetof(struct args, overrides.layout),
      "LAYOUT", "profiles: layout of the tensors: nchw or nhwc" },
    { "math", 'm', OPT_MATH, offsetof(struct args, overrides.math), "MATH",
      "profiles: arithmetic: fma, tf32, fp16 or bf16" },
    { "old-environment", 0, OPT_COUNT, offsetof(struct args, environments[0]),
      "ID", "which of OLD's environments (default: its only one)" },
    { "new-environment", 0, OPT_COUNT, offsetof(struct args, environments[1]),
      "ID", "which of NEW's environments (default: its only one)" },
    { "threshold", 0, OPT_SHARE, offsetof(struct args, compare.threshold),
      "SHARE", "a change of no more than this does not count (default 5%)" },
    { "significance", 0, OPT_SHARE, offsetof(struct args, compare.level),
      "SHARE", "level of the rank test between samples (default 1%)" },
    { "across-devices", 0, OPT_FLAG, offsetof(struct args, across_devices),
      NULL, "compare also what is of different devices" },
    { "markdown", 0, OPT_FLAG, offsetof(struct args, markdown), NULL,
      "print Markdown, for a pull request" },
    { "json", 0, OPT_FLAG, offsetof(struct args, json), NULL, "print JSON" },
    { "junit", 0, OPT_STRING, offsetof(struct args, junit), "FILE",
      "also write JUnit's XML, for CI" },
    { .type = OPT_END },
};

static const struct args defaults = {
    .overrides = { 0, -1, -1, -1 },
    .policy = { .kind = UC_POLICY_POWER_OF_TWO },
    .limit_bytes = -1,
    .compare = { .threshold = 0.05, .level = 0.01 },
};

enum { DEFAULT_LIMIT = 64 << 20 };

/** Comparisons and the sides they borrow, which do not move. */
struct result {
    struct uc_comparison *list;
    struct uc_compare_side (*sides)[2];
    size_t count;
};

static enum uc_status result_init(struct result *result, size_t room,
                                  struct uc_error *err)
{
    result->list = calloc(room + 1, sizeof *result->list);
    result->sides = calloc(room + 1, sizeof *result->sides);
    return result->list == NULL || result->sides == NULL ? uc_no_memory(err)
                                                         : UC_OK;
}

static void result_free(struct result *result)
{
    for (size_t i = 0; i < result->count; i++) {
        uc_comparison_free(&result->list[i]);
        uc_compare_side_free(&result->sides[i][0]);
        uc_compare_side_free(&result->sides[i][1]);
    }
    free(result->list);
    free(result->sides);
}

static enum uc_status check_devices(const struct args *args,
                                    const struct uc_environment *old,
                                    const struct uc_environment *now,
                                    struct uc_error *err)
{
    const char *difference = uc_device_difference(&old->device, &now->device);

    if (difference == NULL || args->across_devices)
        return UC_OK;
    return uc_fail(err, UC_EINPUT,
                   "the devices differ in %s (%.64s, %.64s); "
                   "--across-devices compares them anyway",
                   difference, old->device.name, now->device.name);
}

/** The sides of the last comparison are filled: compare them. */
static enum uc_status finish(const struct args *args, struct result *result,
                             struct uc_error *err)
{
    struct uc_compare_side *sides = result->sides[result->count - 1];

    return uc_compare(&sides[0], &sides[1], &args->compare,
                      &result->list[result->count - 1], err);
}

/* ----------------------------------------------------------------- plans */

struct plans {
    struct uc_plan *list;
    size_t count;
};

static bool wanted(const struct args *args, const char *network)
{
    for (size_t i = 0; i < args->networks.count; i++)
        if (strcmp(args->networks.list[i], network) == 0)
            return true;
    return args->networks.count == 0;
}

/** The plans of the networks asked for. */
static enum uc_status read_plans(const struct args *args, const char *path,
                                 struct plans *plans, struct uc_error *err)
{
    size_t kept = 0;
    enum uc_status status =
        uc_plans_read(path, &plans->list, &plans->count, err);

    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < plans->count; i++) {
        if (wanted(args, plans->list[i].network))
            plans->list[kept++] = plans->list[i];
        else
            uc_plan_free(&plans->list[i]);
    }
    plans->count = kept;
    if (kept == 0)
        return uc_fail(err, UC_EINPUT, "%.256s: no plan to compare", path);
    return UC_OK;
}

static enum uc_status compare_pair(const struct args *args,
                                   const struct uc_plan *old,
                                   const struct uc_plan *now,
                                   struct result *result, struct uc_error *err)
{
    struct uc_compare_side *sides = result->sides[result->count];
    struct uc_comparison *comparison = &result->list[result->count++];
    enum uc_status status =
        check_devices(args, &old->environment, &now->environment, err);

    snprintf(comparison->title, sizeof comparison->title, "%s%s%s",
             old->network, strcmp(old->network, now->network) ? " -> " : "",
             strcmp(old->network, now->network) ? now->network : "");
    if (status == UC_OK)
        status = uc_compare_side_plan(old, &sides[0], err);
    if (status == UC_OK)
        status = uc_compare_side_plan(now, &sides[1], err);
    if (status == UC_OK)
        status = finish(args, result, err);
    if (status == UC_OK && comparison->common == 0)
        status = uc_compare_nothing(old, now, err);
    return status;
}

/** Plans that are for nothing that the other file has. */
static void tell_unpaired(const char *path, size_t count, size_t paired)
{
    if (count > paired)
        fprintf(stderr, "not compared: %zu of the %zu plans of %s\n",
                count - paired, count, path);
}

static enum uc_status compare_plans(const struct args *args,
                                    char paths[2][PATH_MAX],
                                    struct result *result, struct uc_error *err)
{
    struct plans old = { 0 }, now = { 0 };
    struct uc_compare_pair *pairs = NULL;
    size_t count = 0;
    enum uc_status status = read_plans(args, paths[0], &old, err);

    if (status == UC_OK)
        status = read_plans(args, paths[1], &now, err);
    if (status == UC_OK)
        status = uc_compare_pairs(old.list, old.count, now.list, now.count,
                                  &pairs, &count, err);
    if (status == UC_OK && count == 0)
        status = uc_fail(err, UC_EINPUT,
                         "no plan of %.128s is for network, batch, limit and "
                         "arithmetic of one of %.128s",
                         paths[1], paths[0]);
    if (status == UC_OK)
        status = result_init(result, count, err);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = compare_pair(args, &old.list[pairs[i].old],
                              &now.list[pairs[i].now], result, err);
    if (status == UC_OK) {
        tell_unpaired(paths[0], old.count, count);
        tell_unpaired(paths[1], now.count, count);
    }
    free(pairs);
    uc_plans_free(now.list, now.count);
    uc_plans_free(old.list, old.count);
    return status;
}

/* -------------------------------------------------------------- profiles */

struct source {
    const char *path;
    struct uc_profile *profile;
    struct uc_profile_environment environment;
};

static enum uc_status open_source(const struct args *args, int which,
                                  struct source *source, struct uc_error *err)
{
    static const char *const names[] = { "old", "new" };
    struct uc_profile_environment *list = NULL;
    int64_t id = args->environments[which];
    bool found = false;
    char text[400];
    size_t count = 0;
    enum uc_status status =
        uc_profile_open(source->path, UC_PROFILE_READ, &source->profile, err);

    if (status == UC_OK)
        status = uc_profile_environments(source->profile, &list, &count, err);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        if (list[i].id == id || (id == 0 && count == 1)) {
            source->environment = list[i];
            found = true;
        }
    uc_report_environments(list, count, text, sizeof text);
    free(list);
    if (status != UC_OK || found)
        return status;
    if (count == 0)
        return uc_fail(err, UC_EINPUT, "%.256s: holds no measurements",
                       source->path);
    if (id != 0)
        return uc_fail(err, UC_EINPUT,
                       "%.64s: has no environment %" PRId64 ", it has %s",
                       source->path, id, text);
    return uc_fail(err, UC_EINPUT,
                   "%.64s: holds several environments, choose one with "
                   "--%s-environment: %s",
                   source->path, names[which], text);
}

/** Plan the wishes from both. */
static enum uc_status compare_wishes(const struct args *args,
                                     struct source sources[2],
                                     const struct uc_compare_wish *wishes,
                                     size_t count, struct result *result,
                                     struct uc_error *err)
{
    struct uc_compare_side *sides = result->sides[result->count];
    int64_t limit = args->limit_bytes < 0 ? DEFAULT_LIMIT : args->limit_bytes;
    enum uc_status status = UC_OK;

    result->list[result->count++].strict = true;
    for (int i = 0; i < 2 && status == UC_OK; i++) {
        status = uc_compare_side_profile(sources[i].profile,
                                         &sources[i].environment, wishes, count,
                                         &args->policy, limit, &sides[i], err);
        if (status != UC_OK && status != UC_EFILE)
            uc_wrap(err, status, sources[i].path);
    }
    return status == UC_OK ? finish(args, result, err) : status;
}

/** The profile has all of the network that `plan` would want. */
static enum uc_status check_complete(const struct args *args,
                                     const struct source *source, char *name,
                                     const struct uc_workload *work,
                                     struct uc_error *err)
{
    const struct uc_work_options options = { .apis = 1u << UC_API_LEGACY,
                                             .max_workspace_bytes = -1 };
    struct uc_work_problem *list = NULL;
    char hint[UC_COVERAGE_HINT];
    size_t count = 0, kernels = 0;
    enum uc_status status =
        uc_work_list(source->profile, source->environment.id, work->operations,
                     work->batches, work->operation_count, &args->policy,
                     &options, &list, &count, err);

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < list[i].size_count; j++)
            kernels += list[i].sizes[j].kernels;
    uc_work_list_free(list, count);
    if (status != UC_OK || kernels == 0)
        return status;
    uc_coverage_hint(source->profile, &source->environment, name,
                     &args->overrides, &args->policy, hint);
    return uc_fail(err, UC_EMISSING,
                   "%.64s lacks %zu measurements of %.64s that bench could "
                   "add%s",
                   source->path, kernels, work->networks->name, hint);
}

static enum uc_status compare_network(const struct args *args,
                                      struct source sources[2], char *name,
                                      struct result *result,
                                      struct uc_error *err)
{
    struct uc_compare_wish *wishes = NULL;
    struct uc_workload work = { 0 };
    enum uc_status status =
        uc_workload_read(&name, 1, &args->overrides, &work, err);

    for (int i = 0; i < 2 && status == UC_OK; i++)
        status = check_complete(args, &sources[i], name, &work, err);
    if (status == UC_OK) {
        wishes = calloc(work.operation_count + 1, sizeof *wishes);
        status = wishes == NULL ? uc_no_memory(err) : UC_OK;
    }
    for (size_t i = 0; i < work.operation_count && status == UC_OK; i++) {
        const struct uc_network_operation *op = &work.operations[i];

        memcpy(wishes[i].layer, op->layer->name, sizeof wishes[i].layer);
        wishes[i].problem = op->problem;
        wishes[i].batch = work.batches[i];
        wishes[i].repeat = op->layer->repeat;
    }
    if (status == UC_OK) {
        snprintf(result->list[result->count].title, sizeof result->list->title,
                 "%s, batch %" PRId64, work.networks->name,
                 work.networks->batch);
        status = compare_wishes(args, sources, wishes, work.operation_count,
                                result, err);
    }
    free(wishes);
    uc_workload_free(&work);
    return status;
}

/** Without a network: every problem that both have, once. */
static enum uc_status compare_problems(const struct args *args,
                                       struct source sources[2],
                                       struct result *result,
                                       struct uc_error *err)
{
    struct uc_compare_wish *wishes = NULL;
    size_t count = 0, only[2];
    enum uc_status status = uc_compare_common(
        sources[0].profile, sources[0].environment.id, sources[1].profile,
        sources[1].environment.id, &wishes, &count, only, err);

    if (status == UC_OK && count == 0)
        status = uc_fail(err, UC_EINPUT,
                         "the profiles have no problem at "
                         "the same micro-batch in common");
    if (status == UC_OK) {
        snprintf(result->list[result->count].title, sizeof result->list->title,
                 "%zu problem%s that both have, each at its largest batch",
                 count, count == 1 ? "" : "s");
        status = compare_wishes(args, sources, wishes, count, result, err);
    }
    for (int i = 0; i < 2 && status == UC_OK; i++)
        if (only[i] > 0)
            fprintf(stderr, "not compared: %zu problems that only %s has\n",
                    only[i], sources[i].path);
    free(wishes);
    return status;
}

static enum uc_status compare_profiles(const struct args *args,
                                       char paths[2][PATH_MAX],
                                       struct result *result,
                                       struct uc_error *err)
{
    struct source sources[2] = { { .path = paths[0] }, { .path = paths[1] } };
    enum uc_status status = open_source(args, 0, &sources[0], err);

    if (status == UC_OK)
        status = open_source(args, 1, &sources[1], err);
    if (status == UC_OK)
        status = check_devices(args, &sources[0].environment.environment,
                               &sources[1].environment.environment, err);
    if (status == UC_OK)
        status = result_init(result, args->networks.count + 1, err);
    if (status == UC_OK && args->networks.count == 0)
        status = compare_problems(args, sources, result, err);
    for (size_t i = 0; i < args->networks.count && status == UC_OK; i++)
        status = compare_network(args, sources, (char *)args->networks.list[i],
                                 result, err);
    uc_profile_close(sources[0].profile);
    uc_profile_close(sources[1].profile);
    return status;
}

/* ---------------------------------------------------------------- output */

static enum uc_status print(const struct args *args,
                            const struct result *result, struct uc_error *err)
{
    enum uc_status status = UC_OK;

    if (args->json)
        return uc_report_compare_json(stdout, result->list, result->count, err);
    for (size_t i = 0; i < result->count && status == UC_OK; i++) {
        if (i > 0)
            putchar('\n');
        if (args->markdown)
            uc_report_compare_markdown(stdout, &result->list[i]);
        else
            status = uc_report_compare_table(stdout, &result->list[i], err);
    }
    return status;
}

/** The network that was read is not written over. */
static enum uc_status check_junit(const struct args *args, struct uc_error *err)
{
    for (size_t i = 0; args->junit != NULL && i < args->networks.count; i++)
        if (outfile_is_same(args->junit, args->networks.list[i]))
            return uc_fail(err, UC_EINPUT, "%.256s: is the network itself",
                           args->junit);
    return UC_OK;
}

static enum uc_status write_junit(struct outfile *file, const char *path,
                                  const struct result *result,
                                  struct uc_error *err)
{
    enum uc_status status = outfile_begin(file, path, err);

    if (status != UC_OK)
        return status;
    uc_report_compare_junit(file->stream, result->list, result->count);
    return outfile_write(file, err);
}

/** Printed first: a run that fails leaves the file as it was. */
static enum uc_status deliver(const struct args *args,
                              const struct result *result, struct uc_error *err)
{
    struct outfile file = { .path = NULL };
    enum uc_status status = UC_OK;

    if (args->junit != NULL)
        status = write_junit(&file, args->junit, result, err);
    if (status == UC_OK)
        status = print(args, result, err);
    if (status == UC_OK)
        status = command_flush(err);
    if (status == UC_OK && args->junit != NULL)
        status = outfile_finish(&file, err);
    outfile_drop(&file);
    for (size_t i = 0; i < result->count && status == UC_OK; i++)
        if (result->list[i].regression) {
            err->text[0] = '\0'; /* what there is to say was printed */
            status = UC_EREGRESSION;
        }
    return status;
}

/** Options that plans have no use for. */
static enum uc_status check_for_plans(const struct args *args,
                                      struct uc_error *err)
{
    const struct uc_network_overrides *o = &args->overrides;

    if (args->limit_bytes >= 0 || o->batch != 0 || o->dtype >= 0 ||
        o->layout >= 0 || o->math >= 0 ||
        args->policy.kind != UC_POLICY_POWER_OF_TWO ||
        args->environments[0] != 0 || args->environments[1] != 0)
        return uc_fail(err, UC_EINPUT,
                       "limit, policy, batch, data type, layout, arithmetic "
                       "and environment are for profiles; these are plans");
    return UC_OK;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    static const char *const kinds[] = {
        [UC_FILE_PROFILE] = "a profile", [UC_FILE_PLAN] = "a plan"
    };
    const struct args *args = options;
    struct result result = { 0 };
    char paths[2][PATH_MAX];
    enum uc_file_kind found[2];
    enum uc_status status = UC_OK;

    (void)count;
    if (args->json && args->markdown)
        return uc_fail(err, UC_EINPUT,
                       "--json and --markdown exclude each other");
    if (check_junit(args, err) != UC_OK)
        return err->status;
    for (int i = 0; i < 2 && status == UC_OK; i++) {
        status = uc_data_find_file(operands[i], paths[i], sizeof paths[i], err);
        if (status == UC_OK)
            status = uc_file_identify(paths[i], &found[i], err);
    }
    if (status != UC_OK)
        return status;
    if (found[0] != found[1])
        return uc_fail(err, UC_EINPUT,
                       "%.128s is %s and %.128s is %s: two of a kind can be "
                       "compared",
                       paths[0], kinds[found[0]], paths[1], kinds[found[1]]);
    if (found[0] == UC_FILE_PROFILE)
        status = compare_profiles(args, paths, &result, err);
    else if ((status = check_for_plans(args, err)) == UC_OK)
        status = compare_plans(args, paths, &result, err);
    if (status == UC_OK)
        status = deliver(args, &result, err);
    result_free(&result);
    return status;
}

const struct cmd cmd_compare = {
    .name = "compare",
    .operands = "OLD NEW",
    .summary = "say what two plans, or two profiles, have faster or slower",
    .opts = opts,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
