/**
 * @file wd.h
 * Workspace division: one total for all operations whose workspaces exist at
 * once; one desirable configuration each; least total time.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds.
 * Owner:   sets are borrowed; free a result with uc_wd_free(), which takes
 *          NULL.
 * Errors:  UC_ENOFIT (with the least total that would do in the text),
 *          UC_EINPUT (times that add up to more than 2^62 ns),
 *          UC_EINTERNAL (GLPK or memory). Never aborts, never prints.
 * Threads: GLPK keeps thread-local state; any number of threads.
 * Source:  Oyama et al., the 0-1 integer programme; identical operations are
 *          aggregated into integer counts.
 */
#ifndef UC_PLANNER_WD_H
#define UC_PLANNER_WD_H

#include "planner/desirable.h"

struct uc_wd_operation {
    const struct uc_desirable *set; /**< borrowed; equal pointers are equal
                                         operations and are aggregated */
    int64_t repeat; /**< >= 1 copies, each with a workspace of its own */
};

struct uc_wd_options {
    int64_t total_bytes; /**< >= 0 */
    double mip_gap;      /**< relative, >= 0 */
    double time_limit_s; /**< <= 0: none */
};

/** `count` copies of the operation take configuration `index` of its set. */
struct uc_wd_choice {
    size_t operation; /**< index into the operations given */
    size_t index;
    int64_t count;
};

struct uc_wd_result {
    struct uc_wd_choice *choices; /**< owned: uc_wd_free(); by operation */
    size_t choice_count;
    int64_t time_ns;
    int64_t workspace_bytes; /**< exact 64-bit sum, <= total_bytes */
    double gap;              /**< proven relative gap, 0 when optimal */
    bool time_ran_out;       /**< the best found, not proven to the gap */
};

enum uc_status uc_wd_solve(const struct uc_wd_operation *operations,
                           size_t count, const struct uc_wd_options *options,
                           struct uc_wd_result *out, struct uc_error *err);
void uc_wd_free(struct uc_wd_result *result);

#endif
