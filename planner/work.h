/**
 * @file work.h
 * What has to be measured: the micro-configurations of an operation under a
 * policy, less those a profile already has.
 *
 * An operation of batch N needs, for each candidate size b of the policy and
 * each kernel of uc_legacy_kernels(), the measurement at beta = 0, and for
 * backward-filter with b < N also at beta = 1.
 *
 * Owner:   lists are the caller's to free().
 * Errors:  as the profile's.
 * Threads: as the profile's.
 */
#ifndef UC_PLANNER_WORK_H
#define UC_PLANNER_WORK_H

#include "db/profile.h"
#include "planner/network.h"
#include "planner/policy.h"

/** One micro-batch of one problem: everything a worker measures at once. */
struct uc_work_kernel {
    struct uc_kernel kernel;
    bool accumulate;
};
enum { UC_WORK_KERNELS = 2 * UC_LEGACY_KERNELS };
struct uc_work {
    struct uc_problem problem;
    int64_t micro_batch;
    struct uc_work_kernel kernels[UC_WORK_KERNELS]; /**< beta 0 before 1 */
    size_t kernel_count;                            /**< >= 1 */
    int skip_references; /**< 0 at first; how many took down their worker
                              when they computed the reference */
};

/**
 * What the operations still need, each problem and size once however many
 * operations share it; sizes falling within a problem. `profile` may be
 * NULL (nothing is there yet) and `env` < 0 (no such environment yet).
 * With `remeasure`, what is there counts as missing; so do kernels that were
 * too large once, if they need no more than `max_workspace_bytes` (negative:
 * what is there, is there).
 */
enum uc_status uc_work_list(struct uc_profile *profile, int64_t env,
                            const struct uc_network_operation *operations,
                            const int64_t *batches, size_t count,
                            const struct uc_policy *policy, bool remeasure,
                            int64_t max_workspace_bytes, struct uc_work **list,
                            size_t *list_count, struct uc_error *err);

#endif
