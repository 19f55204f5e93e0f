/**
 * @file merge_search.h
 * What merge.h does with records of searches.
 *
 * Owner:   borrows the parts; the list is the caller's to free().
 * Errors:  UC_EINTERNAL (no memory).
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_MERGE_SEARCH_H
#define UC_PLANNER_MERGE_SEARCH_H

#include "db/profile.h"

/** What one profile has of a problem in an environment, as it was loaded. */
struct uc_merge_part {
    struct uc_measurement *rows;
    size_t row_count;
    struct uc_search *searches;
    size_t search_count;
};

/**
 * Of every key the best record, whatever the order of the parts. It is tuned
 * only if no part that was not tuned has a time of an engine of which no tuned
 * part has one, nor one of what is at least as good: its like was not looked
 * for.
 */
enum uc_status uc_merge_searches(const struct uc_merge_part *parts,
                                 size_t count, struct uc_search **list,
                                 size_t *list_count, struct uc_error *err);

#endif
