/**
 * @file tune.h
 * Which engines are good enough at a micro-batch size that what is like them
 * is looked for, too (uc_engines_near()).
 *
 * A kernel is if it is the fastest of its engine among those that need no more
 * workspace, no other engine with no more workspace is faster by more than
 * UC_TUNE_MARGIN, and none at all is UC_TUNE_FACTOR times as fast. Compared are
 * only kernels that every plan admits which admits it. What is found by that is
 * measured and judged in the same way, until nothing new is good enough, or
 * UC_TUNE_ROUNDS have passed.
 *
 * Units:   as in struct uc_measurement.
 * Owner:   borrows the rows.
 * Errors:  none.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_TUNE_H
#define UC_PLANNER_TUNE_H

#include "db/profile.h"

#define UC_TUNE_MARGIN 0.05
#define UC_TUNE_FACTOR 2.0
enum { UC_TUNE_ROUNDS = 6 };

/** Of rows of one problem, of any sizes and both beta cases: whether this one
    is good enough at its size and beta case. */
bool uc_tune_wants(const struct uc_measurement *rows, size_t count,
                   size_t index);

#endif
