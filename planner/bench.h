/**
 * @file bench.h
 * The benchmark: missing measurements into a profile, over one or more GPUs
 * of one kind.
 *
 * Units:   *_bytes are bytes, *_s seconds.
 * Owner:   borrows everything.
 * Errors:  UC_EDEVICE (no GPU, no cuDNN, different GPUs, no memory),
 *          UC_EFILE (the profile), UC_EINPUT (device list). What is already
 *          stored stays.
 * Threads: the process must be single-threaded (workers are forked).
 */
#ifndef UC_PLANNER_BENCH_H
#define UC_PLANNER_BENCH_H

#include "db/profile.h"
#include "planner/agenda.h"
#include "planner/network.h"
#include "planner/policy.h"

struct uc_bench_options {
    const char *devices; /**< "0", "0,1", "all"; NULL: "0" */
    /** What to measure; kernels that need more than its max_workspace_bytes
        are not run, and its cudnn is set from the GPU's library. */
    struct uc_work_options work;
    double time_budget_s;    /**< 0: none */
    double kernel_timeout_s; /**< silence after which a worker has hung */
    bool quiet;
};

#define UC_BENCH_MAX_WORKSPACE ((int64_t)8 << 30)
#define UC_BENCH_KERNEL_TIMEOUT_S 60.0

struct uc_bench_summary {
    int64_t environment; /**< its id in the profile */
    int64_t outcomes[UC_OUTCOMES];
    int64_t done; /**< measurements */
    int64_t left; /**< micro-batch sizes of problems that lack something */
    struct uc_agenda_counts counts;
    char search_failure[UC_REASON_TEXT]; /**< of the last one given up */
    double elapsed_s;
};

/**
 * Into the profile at `path`, which is created when missing (but not before
 * a GPU is found), measure what the operations (each with its batch) need under
 * the policy and the profile does not have. Stops early, without error, when
 * the time budget is used up: summary->left tells.
 */
enum uc_status uc_bench_run(const char *path,
                            const struct uc_network_operation *operations,
                            const int64_t *batches, size_t count,
                            const struct uc_policy *policy,
                            const struct uc_bench_options *options,
                            struct uc_bench_summary *summary,
                            struct uc_error *err);

/** The environment that uc_bench_run() would measure in. */
enum uc_status uc_bench_environment(const struct uc_bench_options *options,
                                    struct uc_environment *environment,
                                    struct uc_error *err);

#endif
