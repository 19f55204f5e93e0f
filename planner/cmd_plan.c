#include "config.h"

#include "planner/bench.h"
#include "planner/commands.h"
#include "planner/data.h"
#include "planner/plan_build.h"
#include "planner/report.h"
#include "planner/work.h"
#include "planner/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
    const char *profile, *output;
    int64_t limit_bytes, total_bytes; /**< -1: not given */
    struct uc_network_overrides overrides;
    struct uc_planning_options planning;
    double mip_gap, time_limit_s;
    int64_t environment; /**< 0: not given */
    bool offline, quiet;
};

static const struct opt_spec opts[] = {
    { "profile", 'p', OPT_STRING, offsetof(struct args, profile), "FILE",
      "profile to plan from, or the name of a shipped one" },
    { "workspace-limit", 'w', OPT_BYTES, offsetof(struct args, limit_bytes),
      "BYTES", "most workspace each operation may use (64M, 1.5G)" },
    { "total-workspace", 't', OPT_BYTES, offsetof(struct args, total_bytes),
      "BYTES", "workspace that all operations divide among them" },
    { "output", 'o', OPT_STRING, offsetof(struct args, output), "PLAN",
      "plan file to write; other plans in it are kept" },
    { "policy", 0, OPT_POLICY, offsetof(struct args, planning.policy), "POLICY",
      "micro-batch sizes: undivided, power-of-two, all or a list" },
    { "batch", 'b', OPT_COUNT, offsetof(struct args, overrides.batch), "N",
      "batch size in place of the network's" },
    { "dtype", 0, OPT_DTYPE, offsetof(struct args, overrides.dtype), "TYPE",
      "data type: fp32, fp16, bf16 or fp64" },
    { "layout", 0, OPT_LAYOUT, offsetof(struct args, overrides.layout),
      "LAYOUT", "layout of the tensors: nchw or nhwc" },
    { "math", 'm', OPT_MATH, offsetof(struct args, overrides.math), "MATH",
      "arithmetic: fma, tf32, fp16 or bf16" },
    { "deterministic", 0, OPT_FLAG,
      offsetof(struct args, planning.filter.deterministic), NULL,
      "only kernels that give the same result each time" },
    { "allow", 0, OPT_ALLOW, offsetof(struct args, planning.filter.allow),
      "WHAT", "let in kernels that down-convert or use reduced-precision" },
    { "no-runtime-compiled", 0, OPT_FLAG,
      offsetof(struct args, planning.filter.no_runtime_compiled), NULL,
      "no engines that cuDNN compiles when a program loads the plan" },
    { "api", 0, OPT_API, offsetof(struct args, planning.filter.apis), "API",
      "only kernels of this API: legacy, graph or both (default)" },
    { "min-gain", 0, OPT_SHARE, offsetof(struct args, planning.min_gain),
      "SHARE", "divide an operation only if it gains more (default 1%)" },
    { "max-pieces", 0, OPT_COUNT, offsetof(struct args, planning.max_pieces),
      "N", "most micro-batches of one operation (default: no limit)" },
    { "mip-gap", 0, OPT_SHARE, offsetof(struct args, mip_gap), "SHARE",
      "how far from the best a division may be (default 1e-4)" },
    { "time-limit", 0, OPT_SECONDS, offsetof(struct args, time_limit_s), "TIME",
      "stop solving a division after this long (90, 10m)" },
    { "environment", 0, OPT_COUNT, offsetof(struct args, environment), "ID",
      "which of the profile's environments (default: its only one)" },
    { "offline", 0, OPT_FLAG, offsetof(struct args, offline), NULL,
      "never measure what the profile lacks" },
    { "quiet", 'q', OPT_FLAG, offsetof(struct args, quiet), NULL,
      "no table, no progress and no notes" },
    { .type = OPT_END },
};

static const struct args defaults = {
    .limit_bytes = -1,
    .total_bytes = -1,
    .overrides = { 0, -1, -1, -1 },
    .planning = { .policy = { .kind = UC_POLICY_POWER_OF_TWO },
                  .min_gain = 0.01 },
    .mip_gap = 1e-4,
};

/** What a run reads. */
struct input {
    char profile_path[4096];
    struct uc_workload work; /**< one network */
    struct uc_profile *profile;
    struct uc_profile_environment environment; /**< id -1: none yet */
};

static void input_free(struct input *input)
{
    uc_workload_free(&input->work);
    uc_profile_close(input->profile);
}

/** "1 (NVIDIA H200, cuDNN 9.19.0, CUDA 13.0), 2 (...)" as far as it fits. */
static void list_environments(const struct uc_profile_environment *list,
                              size_t count, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const struct uc_environment *env = &list[i].environment;
        char versions[UC_REPORT_LINE];
        int length;

        uc_report_versions(&env->versions, versions);
        length =
            snprintf(text + used, size - used, "%s%" PRId64 " (%s, %s)",
                     i > 0 ? ", " : "", list[i].id, env->device.name, versions);
        used += length > 0 ? (size_t)length : size;
    }
}

/** The environment asked for, or the only one; id -1 when there is none. */
static enum uc_status choose_environment(const struct args *args,
                                         struct input *input,
                                         struct uc_error *err)
{
    struct uc_profile_environment *list = NULL;
    size_t count = 0;
    char text[400];
    enum uc_status status =
        uc_profile_environments(input->profile, &list, &count, err);

    if (status != UC_OK)
        return status;
    input->environment.id = -1;
    list_environments(list, count, text, sizeof text);
    for (size_t i = 0; i < count; i++)
        if (list[i].id == args->environment ||
            (args->environment == 0 && count == 1))
            input->environment = list[i];
    free(list);
    if (input->environment.id >= 0 || (count == 0 && args->environment == 0))
        return UC_OK;
    if (args->environment == 0)
        return uc_fail(err, UC_EINPUT,
                       "%.64s holds several environments, choose one with "
                       "--environment: %s",
                       input->profile_path, text);
    return uc_fail(err, UC_EINPUT, "%.64s has no environment %" PRId64 "%s%s",
                   input->profile_path, args->environment,
                   count > 0 ? ", it has " : "", text);
}

static enum uc_status open_profile(const struct args *args, struct input *input,
                                   struct uc_error *err)
{
    enum uc_status status =
        uc_data_find(UC_DATA_PROFILE, args->profile, input->profile_path,
                     sizeof input->profile_path, err);

    /* One that is not there yet is measured from the start. */
    if (status == UC_OK && !args->offline &&
        access(input->profile_path, F_OK) != 0 && errno == ENOENT)
        return UC_OK;
    if (status == UC_OK)
        status = uc_profile_open(input->profile_path, UC_PROFILE_READ,
                                 &input->profile, err);
    return status != UC_OK ? status : choose_environment(args, input, err);
}

/* What the profile lacks. */

/** The first few on stderr, a line each; returns how many in all. */
static int64_t show_missing(const struct uc_work_problem *list, size_t count,
                            bool quiet)
{
    enum { SHOWN = 5 };
    int64_t kernels = 0;
    size_t sizes = 0;

    for (size_t i = 0; i < count; i++) {
        char text[UC_PROBLEM_TEXT];

        uc_problem_print(&list[i].problem, text);
        for (size_t j = 0; j < list[i].size_count; j++) {
            const struct uc_work_size *size = &list[i].sizes[j];

            kernels += (int64_t)size->kernels;
            if (++sizes <= SHOWN && !quiet)
                fprintf(stderr,
                        "missing: %s micro-batch %" PRId64 ": %zu kernels\n",
                        text, size->micro_batch, size->kernels);
        }
    }
    if (sizes > SHOWN && !quiet)
        fprintf(stderr, "missing: %zu more\n", sizes - SHOWN);
    return kernels;
}

/** Why this machine cannot measure for the environment; NULL: it can. */
static const char *cannot_measure(const struct args *args,
                                  const struct input *input,
                                  const struct uc_bench_options *options,
                                  char *text, size_t size)
{
    struct uc_environment here;
    struct uc_error err;
    const char *difference;

    if (args->offline)
        return "--offline does not measure";
    if (uc_bench_environment(options, &here, &err) != UC_OK) {
        snprintf(text, size, "%.200s", err.text);
        return text;
    }
    if (input->environment.id < 0)
        return NULL;
    difference =
        uc_environment_difference(&input->environment.environment, &here);
    if (difference == NULL)
        return NULL;
    snprintf(text, size, "this machine differs in %s", difference);
    return text;
}

/**
 * Measure what is missing, on the GPU of the profile's environment, into the
 * profile; without such a GPU say what is missing.
 */
static enum uc_status plan_measure_missing(const struct args *args,
                                           struct input *input,
                                           const struct uc_work_problem *list,
                                           size_t count, struct uc_error *err)
{
    const struct uc_candidate_filter *filter = &args->planning.filter;
    struct uc_bench_options options = {
        .work = { .apis = filter->apis != 0 ? filter->apis : UC_WORK_EVERY_API,
                  .allow = filter->allow,
                  .no_runtime_compiled = filter->no_runtime_compiled,
                  .max_workspace_bytes = UC_BENCH_MAX_WORKSPACE },
        .kernel_timeout_s = UC_BENCH_KERNEL_TIMEOUT_S,
        .quiet = args->quiet
    };
    struct uc_known_bad *known_bad = NULL;
    struct uc_bench_summary summary;
    struct args measured = *args;
    char text[256];
    const char *why = cannot_measure(args, input, &options, text, sizeof text);
    enum uc_status status;

    if (why != NULL && input->profile == NULL)
        return uc_fail(err, UC_EFILE,
                       "%.64s is not there and cannot be measured (%s)",
                       input->profile_path, why);
    if (why != NULL) {
        int64_t kernels = show_missing(list, count, args->quiet);

        return uc_fail(err, UC_EMISSING,
                       "%.64s lacks %" PRId64 " measurements of %.64s (%s)",
                       input->profile_path, kernels, input->work.networks->name,
                       why);
    }
    status = uc_known_bad_shipped(options.work.apis, &known_bad, err);
    if (status != UC_OK)
        return status;
    options.work.known_bad = known_bad;
    uc_profile_close(input->profile);
    input->profile = NULL;
    status = uc_bench_run(input->profile_path, input->work.operations,
                          input->work.batches, input->work.operation_count,
                          &args->planning.policy, &options, &summary, err);
    uc_known_bad_free(known_bad);
    if (status == UC_OK)
        status = uc_profile_open(input->profile_path, UC_PROFILE_READ,
                                 &input->profile, err);
    if (status != UC_OK)
        return status;
    measured.environment = summary.environment;
    return choose_environment(&measured, input, err);
}

static enum uc_status complete_profile(const struct args *args,
                                       struct input *input,
                                       struct uc_error *err)
{
    bool graph_only = args->planning.filter.apis == 1u << UC_API_GRAPH;
    const struct uc_work_options options = {
        .apis = 1u << (graph_only ? UC_API_GRAPH : UC_API_LEGACY),
        .max_workspace_bytes = -1
    };
    struct uc_work_problem *list = NULL;
    size_t count = 0;
    enum uc_status status;

    /* Graph engines that were never looked for are told of, no more. */
    if (graph_only && input->profile != NULL)
        return UC_OK;
    status = uc_work_list(input->profile, input->environment.id,
                          input->work.operations, input->work.batches,
                          input->work.operation_count, &args->planning.policy,
                          &options, &list, &count, err);
    if (status == UC_OK && count > 0)
        status = plan_measure_missing(args, input, list, count, err);
    uc_work_list_free(list, count);
    return status;
}

/* Plans, at most one of each mode. */

struct plans {
    struct uc_plan list[2];
    size_t count;
    bool divided;
    struct uc_planning_proof proof; /**< of the division */
    struct uc_planning_coverage coverage;
};

static enum uc_status make_plans(const struct args *args,
                                 const struct input *input, struct plans *plans,
                                 struct uc_error *err)
{
    struct uc_planning *planning = NULL;
    enum uc_status status =
        uc_planning_start(input->work.networks, input->profile,
                          &input->environment, &args->planning, &planning, err);

    if (status == UC_OK && args->limit_bytes >= 0) {
        status = uc_planning_reuse(planning, args->limit_bytes,
                                   &plans->list[plans->count], err);
        plans->count += status == UC_OK;
    }
    if (status == UC_OK && args->total_bytes >= 0) {
        status = uc_planning_divide(
            planning, args->total_bytes, args->mip_gap, args->time_limit_s,
            &plans->list[plans->count], &plans->proof, err);
        plans->count += status == UC_OK;
        plans->divided = true;
    }
    if (status == UC_OK)
        plans->coverage = uc_planning_coverage(planning);
    uc_planning_free(planning);
    return status != UC_OK ? uc_wrap(err, status, input->work.networks->name)
                           : UC_OK;
}

/** What the reader of a plan should know of how it was made; on stderr. */
static void print_notes(const struct args *args, const struct plans *plans)
{
    unsigned apis = args->planning.filter.apis;

    if (plans->divided && plans->proof.time_ran_out)
        fprintf(stderr,
                "time limit reached: the division may be %.3g%% slower than "
                "the best\n",
                plans->proof.gap * 100);
    if (plans->coverage.unsearched > 0 &&
        (apis == 0 || (apis & 1u << UC_API_GRAPH) != 0))
        fprintf(stderr,
                "no graph engines measured for %zu of %zu problems; bench "
                "--api graph adds them\n",
                plans->coverage.unsearched, plans->coverage.problems);
}

/** Printed first: a run that fails leaves the plan file as it was. */
static enum uc_status deliver(const struct args *args,
                              const struct plans *plans, struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < plans->count && status == UC_OK && !args->quiet;
         i++) {
        if (i > 0)
            putchar('\n');
        status = uc_report_plan_table(stdout, &plans->list[i], err);
    }
    if (status == UC_OK && args->output != NULL) {
        status = command_flush(err);
        if (status == UC_OK)
            status =
                uc_plans_write(args->output, plans->list, plans->count, err);
    }
    if (status == UC_OK && !args->quiet)
        print_notes(args, plans);
    return status;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    struct input input = { .environment = { .id = -1 } };
    struct plans plans = { .count = 0 };
    enum uc_status status;

    if (args->profile == NULL)
        return uc_fail(err, UC_EINPUT, "--profile is needed");
    if (args->limit_bytes < 0 && args->total_bytes < 0)
        return uc_fail(err, UC_EINPUT,
                       "--workspace-limit or --total-workspace is needed");
    status =
        uc_workload_read(operands, count, &args->overrides, &input.work, err);
    if (status == UC_OK)
        status = open_profile(args, &input, err);
    if (status == UC_OK)
        status = complete_profile(args, &input, err);
    if (status == UC_OK)
        status = make_plans(args, &input, &plans, err);
    if (status == UC_OK)
        status = deliver(args, &plans, err);
    for (size_t i = 0; i < plans.count; i++)
        uc_plan_free(&plans.list[i]);
    input_free(&input);
    return status;
}

const struct cmd cmd_plan = {
    .name = "plan",
    .operands = "NETWORK",
    .summary = "choose micro-batches from a profile's measurements",
    .opts = opts,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
