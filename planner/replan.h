/**
 * @file replan.h
 * From a plan back to what it was chosen from: the times at other limits.
 *
 * Units:   as curve.h.
 * Owner:   the curve is the caller's: uc_curve_free().
 * Errors:  UC_EMISSING (the profile lacks measurements of the plan's
 *          operations), UC_EINPUT (no environment like the plan's; a plan
 *          that cannot be made again), the profile's; outputs are untouched.
 * Threads: as profile.h.
 */
#ifndef UC_PLANNER_REPLAN_H
#define UC_PLANNER_REPLAN_H

#include "planner/curve.h"

/**
 * The curve of the plan's mode for its operations, policy and choices, from
 * the profile's environment that is the plan's. A division's curve has the
 * plan's total as a point.
 */
enum uc_status uc_replan_curve(const struct uc_plan *plan,
                               struct uc_profile *profile, double target,
                               struct uc_curve *curve, struct uc_error *err);

#endif
