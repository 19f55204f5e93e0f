/**
 * @file tolerance.h
 * How far a kernel's result may be from the strict one: what it claims of its
 * arithmetic, checked by measurement.
 *
 * Units:   errors are relative in the L2 norm, against random inputs in
 *          [-1, 1).
 * Owner:   borrows everything.
 * Errors:  nothing fails.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_TOLERANCE_H
#define UC_PLANNER_TOLERANCE_H

#include "common/kernel.h"

/** Largest error of a right result of a kernel with these notes. */
double uc_tolerance(const struct uc_problem *problem, unsigned notes);

#endif
