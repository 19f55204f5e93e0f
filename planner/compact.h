/**
 * @file compact.h
 * Leaving out of a profile the measurements that no plan can need, so that one
 * that ships is small.
 *
 * At one micro-batch and beta case a measurement is needed unless another one
 * is at least as good in time and workspace and is admitted by every plan that
 * admits it (uc_prune_stands_for()). What was cut off or is unsupported is not
 * needed either, nor are samples: their median and spread stay. So do marks
 * (wrong, crashed, ...) and what was too large. The record of the search
 * (uc_search) then says that nothing is missing; where there is none and none
 * can be made, every row stays.
 *
 * Units:   as the profile's.
 * Owner:   arrays are the caller's, changed in place.
 * Errors:  UC_EINTERNAL (no memory): the rows are as they were.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_COMPACT_H
#define UC_PLANNER_COMPACT_H

#include "db/profile.h"

/**
 * Rows of one problem in one environment, in uc_measurement_order(), and its
 * searches, which grow by those of the legacy API; *searches is for free().
 */
enum uc_status uc_compact(const struct uc_problem *problem,
                          struct uc_measurement *rows, size_t *count,
                          struct uc_search **searches, size_t *search_count,
                          struct uc_error *err);

#endif
