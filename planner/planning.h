/**
 * @file planning.h
 * What plan_build.c prepares and plan_divide.c and curve.c use as well.
 *
 * Units:   *_bytes are bytes, batches count images.
 * Owner:   as plan_build.h says; uc_planning_free() frees all of a planning.
 *          A plan begun is freed with uc_plan_free(), also after a failure.
 * Errors:  UC_EINTERNAL (no memory).
 * Threads: as plan_build.h.
 */
#ifndef UC_PLANNER_PLANNING_H
#define UC_PLANNER_PLANNING_H

#include "planner/plan_build.h"

/** One problem, however many layers share it. */
struct uc_planning_problem {
    struct uc_problem problem;
    struct uc_measurement *rows;   /**< owned; uc_micro.kernel indexes it */
    struct uc_desirable set;       /**< divided and undivided */
    struct uc_desirable undivided; /**< may be empty */
    bool graph_searched;           /**< at any size */
};

struct uc_planning_operation {
    const struct uc_layer *layer;   /**< of the network */
    struct uc_planning_problem *of; /**< equal problems: equal pointers */
};

struct uc_planning {
    const struct uc_network *network;
    struct uc_environment environment;
    struct uc_planning_options options;
    struct uc_planning_problem *problems;
    size_t problem_count;
    struct uc_planning_operation *operations; /**< in network order */
    size_t operation_count;
};

/**
 * WR's choice for one problem, or NULL when nothing fits, and the fastest
 * undivided configuration that fits, or NULL. The set compares a division
 * with what is undivided in no more workspace than its own; here the whole
 * limit is free, so the gain must hold over everything undivided that fits.
 */
const struct uc_configuration *uc_planning_choose(
    const struct uc_planning *planning,
    const struct uc_planning_problem *problem, int64_t limit_bytes,
    const struct uc_configuration **undivided);

/** A plan's header, and room for `room` operations. */
enum uc_status uc_planning_begin(const struct uc_planning *planning,
                                 enum uc_plan_mode mode, int64_t limit_bytes,
                                 size_t room, struct uc_plan *plan,
                                 struct uc_error *err);

/** Append `copies` of an operation; `undivided` may be NULL. */
enum uc_status uc_planning_append(const struct uc_planning_operation *operation,
                                  int64_t batch, int64_t copies,
                                  const struct uc_configuration *chosen,
                                  const struct uc_configuration *undivided,
                                  struct uc_plan *plan, struct uc_error *err);

#endif
