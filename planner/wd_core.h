/**
 * @file wd_core.h
 * Workspace division inside: the aggregated problem, its bounds and the
 * integer programme left when they have done their part.
 *
 * Identical operations form a group of `copies`; each copy takes one option
 * (a desirable configuration) of the group. A solution is how many copies
 * take each option.
 *
 * Units:   workspaces are bytes, times nanoseconds.
 * Owner:   uc_wd_core_free() frees the arrays; sets are borrowed.
 * Errors:  as wd.h.
 * Threads: as wd.h.
 */
#ifndef UC_PLANNER_WD_CORE_H
#define UC_PLANNER_WD_CORE_H

#include "planner/wd.h"

/** Sums of times stay below, so that two of them never overflow. */
#define UC_WD_MOST_TIME (INT64_MAX / 2)

struct uc_wd_option {
    int64_t workspace, time;
    int64_t count; /**< copies that take it in the best solution known */
    int64_t most;  /**< copies a better solution can give it; 0: removed */
};

struct uc_wd_group {
    size_t first, option_count; /**< slice of the options */
    int64_t copies;
};

struct uc_wd_core {
    struct uc_wd_group *groups;
    size_t group_count;
    struct uc_wd_option *options;
    size_t option_count;
    int64_t total;           /**< bytes there are */
    int64_t time, workspace; /**< of the best solution known */
    int64_t lower;           /**< no solution is faster */
    double price;            /**< Lagrange multiplier: ns per byte */
    long double relaxed;     /**< value of the Lagrangian at that price */
    long double margin;      /**< most its rounding can amount to */
};

void uc_wd_core_free(struct uc_wd_core *core);

/**
 * The linear relaxation by its greedy: sets price, relaxed, margin and
 * lower, and a first solution. The least workspaces fit (checked before).
 */
enum uc_status uc_wd_relax(struct uc_wd_core *core, struct uc_error *err);

/**
 * Set `most` of every option, from the bound: solutions left out take
 * `target` or longer. Options of the best solution known stay.
 */
void uc_wd_reduce(struct uc_wd_core *core, int64_t target);

/**
 * What is left, by GLPK, until no solution faster than `target` can exist,
 * the gap is met or the time is over; updates the best solution and lower.
 */
enum uc_status uc_wd_branch(struct uc_wd_core *core, int64_t target,
                            double mip_gap, double time_limit_s,
                            bool *time_ran_out, struct uc_error *err);

/** Recompute time and workspace from the counts; false: not a solution. */
bool uc_wd_evaluate(const struct uc_wd_core *core, const int64_t *counts,
                    int64_t *time, int64_t *workspace);

#endif
