/**
 * @file merge_search.h
 * What merge.h does with records of searches.
 *
 * Owner:   borrows everything.
 * Errors:  as the profiles'; UC_EINTERNAL (no memory).
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_MERGE_SEARCH_H
#define UC_PLANNER_MERGE_SEARCH_H

#include "db/profile.h"

/** Those of one problem and environment of an input: each is stored unless
    there is a better one of the same key. */
enum uc_status uc_merge_searches(struct uc_profile *out, int64_t env,
                                 struct uc_profile *in, int64_t from,
                                 const struct uc_problem *problem,
                                 struct uc_error *err);

/** Of the rows of all inputs, ordered by key: where one has a time of a kernel
    and another tells why it has none, it may not have been there to be tuned,
    and the search is recorded as not tuned. */
enum uc_status uc_merge_check_tuned(struct uc_profile *out, int64_t env,
                                    const struct uc_problem *problem,
                                    const struct uc_measurement *rows,
                                    size_t count, struct uc_error *err);

#endif
