/**
 * @file dump_records.h
 * The records of a dump, for dump.c and restore.c; nobody else includes it.
 *
 * Owner:   constants.
 * Errors:  none.
 * Threads: any.
 */
#ifndef UC_PLANNER_DUMP_RECORDS_H
#define UC_PLANNER_DUMP_RECORDS_H

#include "db/plan.h"
#include "db/profile.h"
#include "planner/record.h"

enum { UC_DUMP_VERSION = 1 };

/** The first line. */
struct uc_dump_head {
    char kind[16]; /**< "profile", "plan" */
    int version;
};

/** A measurement's line. */
struct uc_dump_row {
    struct uc_problem problem;
    struct uc_measurement measurement;
};

/** A search's line. */
struct uc_dump_look {
    struct uc_problem problem;
    struct uc_search search;
};

extern const struct uc_record uc_dump_head;        /**< struct uc_dump_head */
extern const struct uc_record uc_dump_environment; /**< struct uc_environment */
extern const struct uc_record uc_dump_measurement; /**< struct uc_dump_row */
extern const struct uc_record uc_dump_search;      /**< struct uc_dump_look */
extern const struct uc_record uc_dump_plan;        /**< struct uc_plan */
extern const struct uc_record uc_dump_operation;   /**< uc_plan_operation */
extern const struct uc_record uc_dump_micro_batch; /**< uc_plan_piece */
extern const struct uc_record uc_dump_end;         /**< no fields */

#endif
