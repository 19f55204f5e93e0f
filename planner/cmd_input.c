#include "config.h"

#include "planner/cmd_input.h"

#include "planner/bench.h"
#include "planner/coverage.h"
#include "planner/data.h"
#include "planner/report.h"
#include "planner/work.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const struct opt_spec input_opts[] = {
    { "profile", 'p', OPT_STRING, offsetof(struct input_options, profile),
      "FILE", "profile to plan from, or the name of a shipped one" },
    { "policy", 0, OPT_POLICY, offsetof(struct input_options, planning.policy),
      "POLICY", "micro-batch sizes: undivided, power-of-two, all or a list" },
    { "batch", 'b', OPT_COUNT, offsetof(struct input_options, overrides.batch),
      "N", "batch size in place of the network's" },
    { "dtype", 0, OPT_DTYPE, offsetof(struct input_options, overrides.dtype),
      "TYPE", "data type: fp32, fp16, bf16 or fp64" },
    { "layout", 0, OPT_LAYOUT, offsetof(struct input_options, overrides.layout),
      "LAYOUT", "layout of the tensors: nchw or nhwc" },
    { "math", 'm', OPT_MATH, offsetof(struct input_options, overrides.math),
      "MATH", "arithmetic: fma, tf32, fp16 or bf16" },
    { "deterministic", 0, OPT_FLAG,
      offsetof(struct input_options, planning.filter.deterministic), NULL,
      "only kernels that give the same result each time" },
    { "allow", 0, OPT_ALLOW,
      offsetof(struct input_options, planning.filter.allow), "WHAT",
      "let in kernels that down-convert or use reduced-precision" },
    { "no-runtime-compiled", 0, OPT_FLAG,
      offsetof(struct input_options, planning.filter.no_runtime_compiled), NULL,
      "no engines that cuDNN compiles when a program loads the plan" },
    { "api", 0, OPT_API, offsetof(struct input_options, planning.filter.apis),
      "API", "only kernels of this API: legacy, graph or both (default)" },
    { "min-gain", 0, OPT_SHARE,
      offsetof(struct input_options, planning.min_gain), "SHARE",
      "divide an operation only if it gains more (default 1%)" },
    { "max-pieces", 0, OPT_COUNT,
      offsetof(struct input_options, planning.max_pieces), "N",
      "most micro-batches of one operation (default: no limit)" },
    { "mip-gap", 0, OPT_SHARE, offsetof(struct input_options, mip_gap), "SHARE",
      "how far from the best a division may be (default 1e-4)" },
    { "time-limit", 0, OPT_SECONDS,
      offsetof(struct input_options, time_limit_s), "TIME",
      "stop solving a division after this long (90, 10m)" },
    { "environment", 0, OPT_COUNT, offsetof(struct input_options, environment),
      "ID", "which of the profile's environments (default: its only one)" },
    { "offline", 0, OPT_FLAG, offsetof(struct input_options, offline), NULL,
      "never measure what the profile lacks" },
    { "quiet", 'q', OPT_FLAG, offsetof(struct input_options, quiet), NULL,
      "no table, no progress and no notes" },
    { .type = OPT_END },
};

void input_free(struct input *input)
{
    uc_workload_free(&input->work);
    uc_profile_close(input->profile);
}

/** The environment asked for, or the only one; id -1 when there is none. */
static enum uc_status choose_environment(const struct input_options *options,
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
    uc_report_environments(list, count, text, sizeof text);
    for (size_t i = 0; i < count; i++)
        if (list[i].id == options->environment ||
            (options->environment == 0 && count == 1))
            input->environment = list[i];
    free(list);
    if (input->environment.id >= 0 || (count == 0 && options->environment == 0))
        return UC_OK;
    if (options->environment == 0)
        return uc_fail(err, UC_EINPUT,
                       "%.64s holds several environments, choose one with "
                       "--environment: %s",
                       input->profile_path, text);
    return uc_fail(err, UC_EINPUT, "%.64s has no environment %" PRId64 "%s%s",
                   input->profile_path, options->environment,
                   count > 0 ? ", it has " : "", text);
}

static enum uc_status open_profile(const struct input_options *options,
                                   struct input *input, struct uc_error *err)
{
    enum uc_status status =
        uc_data_find(UC_DATA_PROFILE, options->profile, input->profile_path,
                     sizeof input->profile_path, err);

    /* One that is not there yet is measured from the start. */
    if (status == UC_OK && !options->offline &&
        access(input->profile_path, F_OK) != 0 && errno == ENOENT)
        return UC_OK;
    if (status == UC_OK)
        status = uc_profile_open(input->profile_path, UC_PROFILE_READ,
                                 &input->profile, err);
    return status != UC_OK ? status : choose_environment(options, input, err);
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
static const char *cannot_measure(const struct input_options *options,
                                  const struct input *input,
                                  const struct uc_bench_options *bench,
                                  char *text, size_t size)
{
    struct uc_environment here;
    struct uc_error err;
    const char *difference;

    if (options->offline)
        return "--offline does not measure";
    if (uc_bench_environment(bench, &here, &err) != UC_OK) {
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
static enum uc_status measure_missing(const struct input_options *options,
                                      struct input *input,
                                      const struct uc_work_problem *list,
                                      size_t count, struct uc_error *err)
{
    const struct uc_candidate_filter *filter = &options->planning.filter;
    struct uc_bench_options bench = {
        .work = { .apis = filter->apis != 0 ? filter->apis : UC_WORK_EVERY_API,
                  .allow = filter->allow,
                  .no_runtime_compiled = filter->no_runtime_compiled,
                  .max_workspace_bytes = UC_BENCH_MAX_WORKSPACE },
        .kernel_timeout_s = UC_BENCH_KERNEL_TIMEOUT_S,
        .quiet = options->quiet
    };
    struct uc_known_bad *known_bad = NULL;
    struct uc_bench_summary summary;
    struct input_options measured = *options;
    char text[256];
    const char *why = cannot_measure(options, input, &bench, text, sizeof text);
    enum uc_status status;

    if (why != NULL && input->profile == NULL)
        return uc_fail(err, UC_EFILE,
                       "%.64s is not there and cannot be measured (%s)",
                       input->profile_path, why);
    if (why != NULL) {
        int64_t kernels = show_missing(list, count, options->quiet);
        char hint[UC_COVERAGE_HINT];

        uc_coverage_hint(input->profile, &input->environment, input->name,
                         &options->overrides, &options->planning.policy, hint);
        return uc_fail(
            err, UC_EMISSING,
            hint[0] == '\0'
                ? "%.64s lacks %" PRId64
                  " measurements of %.64s%s that bench could add (%s)"
                : "%.64s lacks %" PRId64
                  " measurements of %.64s%s; bench could add them "
                  "(%s)",
            input->profile_path, kernels, input->work.networks->name, hint,
            why);
    }
    status = uc_known_bad_shipped(bench.work.apis, &known_bad, err);
    if (status != UC_OK)
        return status;
    bench.work.known_bad = known_bad;
    uc_profile_close(input->profile);
    input->profile = NULL;
    status = uc_bench_run(input->profile_path, input->work.operations,
                          input->work.batches, input->work.operation_count,
                          &options->planning.policy, &bench, &summary, err);
    uc_known_bad_free(known_bad);
    if (status == UC_OK)
        status = uc_profile_open(input->profile_path, UC_PROFILE_READ,
                                 &input->profile, err);
    if (status != UC_OK)
        return status;
    measured.environment = summary.environment;
    return choose_environment(&measured, input, err);
}

static enum uc_status complete_profile(const struct input_options *options,
                                       struct input *input,
                                       struct uc_error *err)
{
    bool graph_only = options->planning.filter.apis == 1u << UC_API_GRAPH;
    const struct uc_work_options work = {
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
                          input->work.operation_count,
                          &options->planning.policy, &work, &list, &count, err);
    if (status == UC_OK && count > 0)
        status = measure_missing(options, input, list, count, err);
    uc_work_list_free(list, count);
    return status;
}

/** Some size of a list may be above the batch, but not all of them. */
static enum uc_status check_policy(const struct uc_policy *policy,
                                   const struct uc_network *network,
                                   struct uc_error *err)
{
    if (policy->kind == UC_POLICY_LIST && policy->list[0] > network->batch)
        return uc_fail(err, UC_EINPUT,
                       "--policy: every size is larger than the batch of "
                       "%.64s, %" PRId64,
                       network->name, network->batch);
    return UC_OK;
}

enum uc_status input_read(const struct input_options *options, char **operands,
                          size_t count, struct input *input,
                          struct uc_error *err)
{
    enum uc_status status;

    *input = (struct input){ .name = operands[0], .environment = { .id = -1 } };
    if (options->profile == NULL)
        return uc_fail(err, UC_EINPUT, "--profile is needed");
    status = uc_workload_read(operands, count, &options->overrides,
                              &input->work, err);
    if (status == UC_OK)
        status =
            check_policy(&options->planning.policy, input->work.networks, err);
    if (status == UC_OK)
        status = open_profile(options, input, err);
    if (status == UC_OK)
        status = complete_profile(options, input, err);
    return status;
}

enum uc_status input_start(const struct input_options *options,
                           const struct input *input,
                           struct uc_planning **planning, struct uc_error *err)
{
    enum uc_status status = uc_planning_start(
        input->work.networks, input->profile, &input->environment,
        &options->planning, planning, err);

    return status == UC_OK ? UC_OK
                           : uc_wrap(err, status, input->work.networks->name);
}

void input_note_coverage(const struct input_options *options,
                         const struct uc_planning_coverage *coverage)
{
    unsigned apis = options->planning.filter.apis;

    if (coverage->unsearched > 0 &&
        (apis == 0 || (apis & 1u << UC_API_GRAPH) != 0))
        fprintf(stderr,
                "no graph engines measured for %zu of %zu problems; bench "
                "--api graph adds them\n",
                coverage->unsearched, coverage->problems);
}
