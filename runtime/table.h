/**
 * @file table.h
 * The plan table: what a plan file says to do, by operation and batch.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds, batches count images.
 * Owner:   a table owns its entries; they live as long as it does. Free it
 *          with uc_table_free(), which takes NULL, when nobody uses it.
 * Errors:  UC_EFILE from opening.
 * Threads: a table does not change once it is open, except for an
 *          entry's counters and what is made ready, which are atomic.
 */
#ifndef UC_RUNTIME_TABLE_H
#define UC_RUNTIME_TABLE_H

#include "db/plan.h"

#include <stdatomic.h>

struct uc_ready;

/** One planned operation at one batch. */
struct uc_entry {
    const struct uc_plan *plan;                /**< borrowed from the table */
    const struct uc_plan_operation *operation; /**< of the plan */
    struct uc_problem key;                     /**< canonical */
    int64_t batch;
    struct uc_entry *next_copy; /**< the same operation in an older plan */
    /** Owned: the newest of what was made ready to run (ready.h). */
    struct uc_ready *_Atomic ready;
    _Atomic bool told; /**< a failure to prepare or run it has been logged */
    _Atomic int64_t executed;
};

struct uc_table;

enum uc_status uc_table_open(const char *path, struct uc_table **out,
                             struct uc_error *err);
void uc_table_free(struct uc_table *table);

/** Plans of the file, in its order. Borrowed. */
const struct uc_plan *uc_table_plans(const struct uc_table *table,
                                     size_t *count);
/** Entries, in the plans' order, for statistics. Borrowed. */
struct uc_entry *uc_table_entries(const struct uc_table *table, size_t *count);

/**
 * The newest plan's entry for a canonical problem and batch; older ones
 * follow by next_copy. NULL: there is none.
 */
struct uc_entry *uc_table_find(const struct uc_table *table,
                               const struct uc_problem *problem, int64_t batch);

/**
 * Why a problem that is not in the table is not: the first field, in words,
 * in which the nearest entry of the same operation differs.
 */
const char *uc_table_nearest(const struct uc_table *table,
                             const struct uc_problem *problem, int64_t batch);

#endif
