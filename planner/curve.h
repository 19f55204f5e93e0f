/**
 * @file curve.h
 * Predicted time against workspace: what workspace reuse (WR) makes of every
 * limit, and workspace division (WD) of every total.
 *
 * A point holds from its limit up to the next point's. Reuse is exact: its
 * answers change at the workspaces of the desirable sets and nowhere else.
 * A division can change at any sum of such workspaces, far too many, so it is
 * solved on a grid.
 *
 * Times fall along a curve, but for two things: a `min_gain` above 0 gives up
 * that share of a division's time for an undivided kernel that comes to fit,
 * and a division is as exact as its gap.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds. Sums stop at INT64_MAX.
 * Owner:   a curve borrows nothing; free it with uc_curve_free(), which takes
 *          zeros. Points are borrowed from their curve.
 * Errors:  as plan_build.h; outputs are untouched on failure.
 * Threads: as plan_build.h.
 */
#ifndef UC_PLANNER_CURVE_H
#define UC_PLANNER_CURVE_H

#include "planner/plan_build.h"

struct uc_curve_point {
    int64_t limit_bytes;  /**< per operation (WR) or in total (WD) */
    int64_t time_ns;      /**< of all operations and repeats */
    int64_t undivided_ns; /**< the same undivided; -1 when one cannot be */
};

struct uc_curve {
    enum uc_plan_mode mode;
    struct uc_curve_point *points; /**< ascending limits; the first is the
                                        least at which everything fits */
    size_t count;                  /**< >= 1 */
    int64_t best_ns;               /**< least time of any point */
    double gap;        /**< WD: the largest that was left of any point */
    bool time_ran_out; /**< WD: of some point */
};

/** Limits on a grid: 2^k bytes and `steps` - 1 in equal steps up to the next,
 * as far as anything changes. */
enum { UC_CURVE_EVERY = 0, UC_CURVE_MOST_STEPS = 1024 };

/** WR at every limit where the answer changes, or on a grid. */
enum uc_status uc_curve_reuse(const struct uc_planning *planning, int64_t steps,
                              struct uc_curve *out, struct uc_error *err);

struct uc_curve_division {
    int64_t steps;       /**< of the grid, >= 1 */
    double target;       /**< the knee to find to the byte, and to add */
    int64_t total_bytes; /**< one more total; -1: none */
    double mip_gap, time_limit_s; /**< of each total */
};
enum uc_status uc_curve_divide(const struct uc_planning *planning,
                               const struct uc_curve_division *options,
                               struct uc_curve *out, struct uc_error *err);

void uc_curve_free(struct uc_curve *curve);

/**
 * The knee: the first point whose speed is at least this share, 0 .. 1, of
 * the best, that is, whose time x target <= best_ns.
 */
const struct uc_curve_point *uc_curve_knee(const struct uc_curve *curve,
                                           double target);

/** The point that holds at a limit, or NULL when nothing fits. */
const struct uc_curve_point *uc_curve_at(const struct uc_curve *curve,
                                         int64_t limit_bytes);

#endif
