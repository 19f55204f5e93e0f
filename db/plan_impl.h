/**
 * @file plan_impl.h
 * What the files of plan.h share; nobody else includes it.
 *
 * Owner:   as plan.h says.
 * Errors:  as plan.h says.
 * Threads: as plan.h says.
 */
#ifndef UC_DB_PLAN_IMPL_H
#define UC_DB_PLAN_IMPL_H

#include "db/plan.h"
#include "db/sql.h"

enum uc_plan_statement {
    UC_PLAN_ADD,
    UC_PLAN_ADD_OPERATION,
    UC_PLAN_ADD_MICRO_BATCH,
    UC_PLAN_ALL,
    UC_PLAN_OPERATIONS,
    UC_PLAN_MICRO_BATCHES,
    UC_PLAN_STATEMENTS
};

extern const struct uc_sql_format uc_plan_format;

#endif
