/**
 * @file candidates.h
 * From what a profile knows of one problem to what the solvers choose from:
 * the sizes of a policy, and only kernels that a plan may use.
 *
 * A kernel may be used when it was measured (nothing that failed, was wrong
 * or was cut off), keeps the problem's arithmetic, and passes the filter. What
 * a graph kernel does is in its row's notes; of a legacy kernel more is known.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds, batches count images.
 * Owner:   the result borrows nothing (the kernel of a uc_micro is an index
 *          into the rows); free it with uc_candidate_rows_free().
 * Errors:  UC_EINPUT (policy), UC_EINTERNAL (no memory); outputs are
 *          untouched on failure. Finding nothing is no error.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_CANDIDATES_H
#define UC_PLANNER_CANDIDATES_H

#include "db/profile.h"
#include "planner/desirable.h"
#include "planner/policy.h"

struct uc_candidate_filter {
    bool deterministic;       /**< only kernels that are */
    bool no_runtime_compiled; /**< none that is compiled when it is built */
    unsigned allow; /**< UC_NOTE_DOWN_CONVERT, UC_NOTE_REDUCED_PRECISION:
                         kernels with that note are let in */
    unsigned apis;  /**< 1 << enum uc_api: only kernels of these; 0: all */
};

/** Why a kernel that works may not be used. */
enum uc_refusal {
    UC_REFUSED_NONDETERMINISTIC,
    UC_REFUSED_DOWN_CONVERT,
    UC_REFUSED_REDUCED_PRECISION,
    UC_REFUSED_RUNTIME_COMPILED,
    UC_REFUSED_MATH, /**< weaker than the problem's */
    UC_REFUSED_API,
    UC_REFUSALS
};

/** What became of the rows of the policy's sizes. */
struct uc_candidate_counts {
    int64_t usable;
    int64_t refused[UC_REFUSALS];
    int64_t outcomes[UC_OUTCOMES]; /**< rows of each outcome */
};

struct uc_candidate_rows {
    struct uc_candidates candidates; /**< its arrays are owned */
    struct uc_candidate_counts counts;
};

/** Whether a kernel keeps the problem's arithmetic, whatever is allowed. */
bool uc_candidate_keeps_math(const struct uc_problem *problem,
                             const struct uc_measurement *row);

enum uc_status uc_candidate_rows_build(
    const struct uc_problem *problem, int64_t batch,
    const struct uc_policy *policy, const struct uc_candidate_filter *filter,
    const struct uc_measurement *rows, size_t row_count,
    struct uc_candidate_rows *out, struct uc_error *err);
void uc_candidate_rows_free(struct uc_candidate_rows *rows);

/**
 * Why nothing makes up the batch: "no kernel that works is deterministic: 3
 * nondeterministic, 4 unsupported", "no kernel works: 5 unsupported"...
 */
enum { UC_CANDIDATE_REASON = 256 };
void uc_candidate_reason(const struct uc_candidate_counts *counts,
                         char text[UC_CANDIDATE_REASON]);

#endif
