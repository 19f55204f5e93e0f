/**
 * @file table.h
 * The plan table: what a plan file says to do, by operation and batch, and
 * made ready to be run.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds, batches count images.
 * Owner:   a table owns its entries; they live as long as it does. Free it
 *          with uc_table_free(), which takes NULL, when nobody uses it.
 * Errors:  UC_EFILE from opening.
 * Threads: a table does not change once it is open, except for what an
 *          entry's uc_entry_prepare() does under its own lock and counters,
 *          which are atomic.
 */
#ifndef UC_RUNTIME_TABLE_H
#define UC_RUNTIME_TABLE_H

#include "db/plan.h"
#include "runtime/runner.h"

#include <stdatomic.h>

/** `count` equal micro-batches in a row, ready to run. */
struct uc_step {
    struct uc_kernel kernel;
    struct uc_runner *runner; /**< owned */
    int64_t count;
    bool accumulate;          /**< beta = 1, else the caller's */
    int64_t x_bytes, y_bytes; /**< from one piece to the next */
};

enum uc_entry_state {
    UC_ENTRY_COLD,  /**< not prepared yet */
    UC_ENTRY_READY, /**< steps and workspace are set */
    UC_ENTRY_BROKEN /**< cuDNN refuses it; passes through for good */
};

/** One planned operation at one batch. */
struct uc_entry {
    const struct uc_plan *plan;                /**< borrowed from the table */
    const struct uc_plan_operation *operation; /**< of the plan */
    struct uc_problem key;                     /**< canonical */
    int64_t batch;
    struct uc_entry *next_copy; /**< the same operation in an older plan */
    _Atomic int state;
    _Atomic uint64_t warm;   /**< by device: has run outside stream capture */
    _Atomic bool told;       /**< a failure to run has been logged */
    int64_t workspace_bytes; /**< that cuDNN asked for when prepared */
    struct uc_step *steps;   /**< owned; one a piece of the plan */
    size_t step_count;
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

/** Whether the entry has run on a device, which loads its modules. */
bool uc_entry_is_warm(const struct uc_entry *entry, int device);
void uc_entry_set_warm(struct uc_entry *entry, int device);

/**
 * Make descriptors and ask cuDNN for the workspaces; once, whoever comes
 * first. Returns the state then. Needs no stream, and works under capture.
 */
enum uc_entry_state uc_entry_prepare(struct uc_entry *entry,
                                     const struct uc_cudnn *cudnn,
                                     cudnnHandle_t handle);

#endif
