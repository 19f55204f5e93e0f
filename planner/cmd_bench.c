#include "config.h"

#include "planner/bench.h"
#include "planner/commands.h"
#include "planner/data.h"
#include "planner/device_list.h"
#include "planner/progress.h"
#include "planner/report.h"
#include "planner/shard.h"
#include "planner/work.h"
#include "planner/workload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
    const char *profile;
    struct uc_network_overrides overrides;
    struct uc_policy policy;
    struct uc_bench_options bench;
    struct uc_shard shard; /**< count 0: as Slurm says */
    bool dry_run;
};

static const struct opt_spec opts[] = {
    { "profile", 'p', OPT_STRING, offsetof(struct args, profile), "FILE",
      "profile to measure into; created when missing" },
    { "policy", 0, OPT_POLICY, offsetof(struct args, policy), "POLICY",
      "micro-batch sizes: undivided, power-of-two, all or a list" },
    { "batch", 'b', OPT_COUNT, offsetof(struct args, overrides.batch), "N",
      "batch size in place of the network's" },
    { "dtype", 0, OPT_DTYPE, offsetof(struct args, overrides.dtype), "TYPE",
      "data type: fp32, fp16, bf16 or fp64" },
    { "layout", 0, OPT_LAYOUT, offsetof(struct args, overrides.layout),
      "LAYOUT", "layout of the tensors: nchw or nhwc" },
    { "math", 'm', OPT_MATH, offsetof(struct args, overrides.math), "MATH",
      "arithmetic: fma, tf32, fp16 or bf16" },
    { "api", 0, OPT_API, offsetof(struct args, bench.work.apis), "API",
      "kernels of cuDNN's legacy API, graph API or both (default)" },
    { "allow", 0, OPT_ALLOW, offsetof(struct args, bench.work.allow), "WHAT",
      "measure engines that down-convert or use reduced-precision, too" },
    { "no-runtime-compiled", 0, OPT_FLAG,
      offsetof(struct args, bench.work.no_runtime_compiled), NULL,
      "leave out engines that are compiled when they are built" },
    { "exhaustive", 0, OPT_FLAG, offsetof(struct args, bench.work.exhaustive),
      NULL, "measure at every size what was hopeless at others, too" },
    { "tune", 0, OPT_FLAG, offsetof(struct args, bench.work.tune), NULL,
      "also turn the knobs of the fastest engines, one at a time" },
    { "devices", 'd', OPT_STRING, offsetof(struct args, bench.devices), "LIST",
      "GPUs to measure on: 0,1,... or all (default 0)" },
    { "max-workspace", 0, OPT_BYTES,
      offsetof(struct args, bench.work.max_workspace_bytes), "BYTES",
      "kernels that need more are not measured (default 8G)" },
    { "time-budget", 0, OPT_SECONDS, offsetof(struct args, bench.time_budget_s),
      "TIME", "stop after this long (90, 10m, 2h); run again to go on" },
    { "kernel-timeout", 0, OPT_SECONDS,
      offsetof(struct args, bench.kernel_timeout_s), "TIME",
      "a kernel that takes longer has hung (default 60)" },
    { "remeasure", 0, OPT_FLAG, offsetof(struct args, bench.work.remeasure),
      NULL, "measure again what the profile has, and search again" },
    { "refresh", 0, OPT_DATE, offsetof(struct args, bench.work.refresh_before),
      "DATE", "measure again what was measured before it, and nothing else" },
    { "shard", 0, OPT_SHARD, offsetof(struct args, shard), "I/N",
      "only share I of N (default: what Slurm's environment says)" },
    { "dry-run", 'n', OPT_FLAG, offsetof(struct args, dry_run), NULL,
      "say what would be measured and about how long it takes" },
    { "quiet", 'q', OPT_FLAG, offsetof(struct args, bench.quiet), NULL,
      "no progress and no summary" },
    { .type = OPT_END },
};

static const struct args defaults = {
    .overrides = { 0, -1, -1, -1 },
    .policy = { .kind = UC_POLICY_POWER_OF_TWO },
    .bench = { .work = { .apis = UC_WORK_EVERY_API,
                         .max_workspace_bytes = UC_BENCH_MAX_WORKSPACE },
               .kernel_timeout_s = UC_BENCH_KERNEL_TIMEOUT_S },
};

/** Kernels that a search finds and pruning leaves, about; and what tuning adds
    (AlexNet and ResNet-18: 37). */
enum { GRAPH_KERNELS = 25, TUNED_KERNELS = 40 };

/** About what an H200 takes: 40 ms a search, 4 ms a kernel, and eight runs at
    15 TFLOP/s for the half of the kernels that exist. */
static double estimate_s(const struct uc_problem *problem,
                         const struct uc_work_size *size)
{
    double macs = uc_problem_macs(problem, size->micro_batch);
    int asked = size->searches + size->tunings;
    double kernels = (double)size->kernels + GRAPH_KERNELS * size->searches +
                     TUNED_KERNELS * size->tunings;

    return 40e-3 * asked + kernels * (4e-3 + 4 * 2 * macs / 15e12);
}

/** Whether a profile ships whose name on other commands this would be. */
static bool ships(const char *name)
{
    char path[PATH_MAX];
    struct uc_error err;

    return uc_data_find(UC_DATA_PROFILE, name, path, sizeof path, &err) ==
               UC_OK &&
           strcmp(path, name) != 0;
}

enum { AGAINST = PATH_MAX + UC_REPORT_LINE };

/** The environment a dry run asks about, and its cuDNN: this machine's GPU, or
    without one the profile's only environment; -1: none, so everything is
    missing. Which of them it was, for the user, goes to `against`. */
static enum uc_status dry_run_environment(const struct args *args,
                                          struct uc_profile *profile,
                                          int64_t *env, int *cudnn,
                                          char against[AGAINST],
                                          struct uc_error *err)
{
    struct uc_profile_environment *known = NULL;
    struct uc_environment here;
    struct uc_error no_gpu;
    bool gpu = uc_bench_environment(&args->bench, &here, &no_gpu) == UC_OK;
    char versions[UC_REPORT_LINE];
    size_t count;
    enum uc_status status =
        uc_profile_environments(profile, &known, &count, err);

    if (status != UC_OK)
        return status;
    *env = -1;
    if (gpu)
        *cudnn = here.versions.cudnn;
    for (size_t i = 0; i < count && gpu; i++)
        if (!uc_environment_difference(&known[i].environment, &here))
            *env = known[i].id;
    if (!gpu && count == 1) {
        *env = known[0].id;
        *cudnn = known[0].environment.versions.cudnn;
        uc_report_versions(&known[0].environment.versions, versions);
        snprintf(against, AGAINST,
                 "no GPU here: counted against what %s has of its only "
                 "environment, %s, %s",
                 args->profile, known[0].environment.device.name, versions);
    } else if (!gpu && count > 1) {
        snprintf(against, AGAINST,
                 "no GPU here, and %s has several environments: counted as "
                 "for a new one",
                 args->profile);
    } else {
        snprintf(against, AGAINST,
                 *env < 0 ? "counted as for a new environment: %s has nothing "
                            "of this GPU and these versions"
                          : "counted against what %s has of this GPU and these "
                            "versions",
                 args->profile);
    }
    free(known);
    return UC_OK;
}

/** What is missing in all. */
struct missing {
    int64_t kernels, searches, tunings;
    double seconds;
};

/** A line a size: kernels known by name, and what is to be searched. */
static void print_problem(const struct uc_work_problem *of,
                          struct missing *missing)
{
    char text[UC_PROBLEM_TEXT];

    uc_problem_print(&of->problem, text);
    for (size_t i = 0; i < of->size_count; i++) {
        const struct uc_work_size *size = &of->sizes[i];
        const char *engines =
            size->searches > 0  ? size->tunings > 0
                                      ? "graph engines to be searched and tuned"
                                      : "graph engines to be searched"
            : size->tunings > 0 ? "graph engines to be tuned"
                                : "";

        printf("%s batch %lld: ", text, (long long)size->micro_batch);
        if (size->kernels > 0)
            printf("%zu kernels%s", size->kernels,
                   engines[0] != '\0' ? ", " : "");
        puts(engines);
        missing->kernels += (int64_t)size->kernels;
        missing->searches += size->searches;
        missing->tunings += size->tunings;
        missing->seconds += estimate_s(&of->problem, size);
    }
}

static void print_missing(const struct missing *missing)
{
    char duration[32];

    uc_progress_duration(missing->seconds, duration);
    printf("%lld measurements", (long long)missing->kernels);
    if (missing->searches > 0)
        printf(", %lld searches for graph engines (about %d measured in each)",
               (long long)missing->searches, GRAPH_KERNELS);
    if (missing->tunings > 0)
        printf(", %lld tunings of them (about %d)", (long long)missing->tunings,
               TUNED_KERNELS);
    printf(", about %s on one GPU\n", duration);
}

static enum uc_status dry_run(const struct args *args,
                              const struct uc_workload *all,
                              struct uc_error *err)
{
    struct uc_profile *profile = NULL;
    struct uc_work_problem *list = NULL;
    struct uc_work_options work = args->bench.work;
    struct missing missing = { 0 };
    size_t count = 0;
    int64_t env = -1;
    int devices[UC_DEVICE_LIST], device_count;
    enum uc_status status =
        uc_device_list_parse(args->bench.devices, devices, &device_count, err);
    char against[AGAINST];

    /* Without a profile everything is missing. */
    snprintf(against, sizeof against, "counted as for a new profile, %s",
             args->profile);
    if (status == UC_OK &&
        (args->bench.work.refresh_before > 0 ||
         access(args->profile, F_OK) == 0 || errno != ENOENT))
        status = uc_profile_open(args->profile, UC_PROFILE_READ, &profile, err);
    if (status == UC_OK && profile != NULL)
        status =
            dry_run_environment(args, profile, &env, &work.cudnn, against, err);
    if (status == UC_OK)
        status = uc_work_list(profile, env, all->operations, all->batches,
                              all->operation_count, &args->policy, &work, &list,
                              &count, err);
    for (size_t i = 0; i < count; i++)
        print_problem(&list[i], &missing);
    if (status == UC_OK) {
        print_missing(&missing);
        puts(against);
    }
    uc_work_list_free(list, count);
    uc_profile_close(profile);
    return status;
}

/** `tuned`: what was left out can be of tuning. */
static void print_summary(const struct uc_bench_summary *summary, bool tuned)
{
    const struct uc_agenda_counts *counts = &summary->counts;
    char duration[32];
    const char *separator = ": ";

    uc_progress_duration(summary->elapsed_s, duration);
    printf("%lld measurements in %s", (long long)summary->done, duration);
    for (int i = 0; i < UC_OUTCOMES; i++)
        if (summary->outcomes[i] > 0) {
            printf("%s%lld %s", separator, (long long)summary->outcomes[i],
                   uc_outcome_name((enum uc_outcome)i));
            separator = ", ";
        }
    putchar('\n');
    if (counts->pruned > 0)
        printf("%lld kernels were hopeless at larger sizes and not measured "
               "(%s measures them)\n",
               (long long)counts->pruned,
               tuned ? "--exhaustive --tune" : "--exhaustive");
    if (counts->known_bad > 0)
        printf("%lld engines are known to be bad and were not measured\n",
               (long long)counts->known_bad);
    if (counts->given_up > 0)
        printf("%lld searches for graph engines failed (%s); the next run "
               "tries again\n",
               (long long)counts->given_up, summary->search_failure);
    if (summary->left > 0)
        printf("time budget used up: %lld micro-batch sizes are left\n",
               (long long)summary->left);
}

/** As asked for, with what may be measured read in. */
static enum uc_status measure(const struct args *args,
                              const struct uc_workload *all,
                              struct uc_error *err)
{
    struct uc_known_bad *known_bad = NULL;
    struct args with = *args;
    struct uc_bench_summary summary;
    enum uc_status status =
        uc_known_bad_shipped(args->bench.work.apis, &known_bad, err);

    with.bench.work.known_bad = known_bad;
    if (status == UC_OK && args->dry_run) {
        status = dry_run(&with, all, err);
    } else if (status == UC_OK) {
        status = uc_bench_run(with.profile, all->operations, all->batches,
                              all->operation_count, &with.policy, &with.bench,
                              &summary, err);
        if (status == UC_OK && !with.bench.quiet)
            print_summary(&summary, with.bench.work.tune);
    }
    uc_known_bad_free(known_bad);
    return status;
}

/** Leave this process's share of the work, and say so. */
static enum uc_status take_share(const struct args *args,
                                 struct uc_workload *all, struct uc_error *err)
{
    struct uc_shard shard = args->shard;
    size_t problems[2];
    enum uc_status status =
        shard.count > 0 ? UC_OK : uc_shard_slurm(&shard, err);

    if (status != UC_OK || shard.count == 1)
        return status;
    status = uc_shard_keep(&shard, all, problems, err);
    if (status == UC_OK && !args->bench.quiet)
        fprintf(stderr, "share %lld of %lld%s: %zu of %zu problems\n",
                (long long)shard.index, (long long)shard.count,
                args->shard.count > 0 ? "" : " (from Slurm)", problems[1],
                problems[0]);
    return status;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    struct uc_workload all = { 0 };
    enum uc_status status;

    if (args->profile == NULL)
        return uc_fail(err, UC_EINPUT, "--profile is needed");
    if (args->bench.work.refresh_before > 0 &&
        (args->bench.work.remeasure || args->bench.work.exhaustive ||
         args->bench.work.tune))
        return uc_fail(err, UC_EINPUT,
                       "--refresh does not go with --remeasure, --exhaustive "
                       "and --tune");
    if (!args->bench.quiet && access(args->profile, F_OK) != 0 &&
        ships(args->profile))
        fprintf(stderr,
                "%s: a new file in this folder, not the profile of this name "
                "that ships\n",
                args->profile);
    status = uc_workload_read(operands, count, &args->overrides, &all, err);
    if (status == UC_OK)
        status = take_share(args, &all, err);
    if (status == UC_OK)
        status = measure(args, &all, err);
    uc_workload_free(&all);
    return status;
}

const struct cmd cmd_bench = {
    .name = "bench",
    .operands = "NETWORK...",
    .summary = "measure a network's convolutions on a GPU into a profile",
    .opts = opts,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = run,
};
