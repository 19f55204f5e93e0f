/**
 * @file sweep.h
 * The sweep that makes desirable sets: micro-configurations are added in
 * order of workspace to an unbounded min-cost composition of the batch.
 *
 * T[n] is the least time to compute n images from the rest rows added so
 * far, F[n] the same with exactly one first row; F[batch] is the fastest
 * configuration whose workspace is at most that of the last item. When both
 * row sets are one, T does for both. Equal times prefer fewer pieces. A cap
 * on the pieces adds a dimension: row p of T holds at most p pieces, which
 * takes `cap` times the memory and time.
 *
 * Adding item (b, t) is skipped when one piece or more of at most t already
 * make b images: whatever holds the item is no slower without it.
 *
 * Units:   workspaces are bytes, times nanoseconds, sizes images.
 * Owner:   borrows the candidates; uc_sweep_end() frees the rest.
 * Errors:  UC_EINPUT (a batch, or a cap at that batch, that would take more
 *          than 1 GiB), UC_EINTERNAL (no memory).
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_SWEEP_H
#define UC_PLANNER_SWEEP_H

#include "planner/desirable.h"

/** Longer than any time: sums of two never overflow. */
#define UC_SWEEP_NEVER (INT64_MAX / 2)

struct uc_sweep_item {
    int64_t workspace, time;
    int32_t size;
    int32_t source; /**< index of a rest row, or ~index of a first row */
};

/** The last piece of the best composition of n images. */
struct uc_sweep_cell {
    int64_t time;   /**< UC_SWEEP_NEVER: n cannot be made */
    int32_t pieces; /**< 0 when it cannot */
    int32_t item;
};

struct uc_sweep {
    const struct uc_candidates *candidates;
    bool same; /**< first and rest rows are one array */
    int32_t batch;
    int32_t layers; /**< 1 without a cap on the pieces, else the cap */
    bool capped;
    struct uc_sweep_item *items; /**< by workspace, then time */
    size_t item_count;
    struct uc_sweep_cell *rest, *first; /**< first is rest when same */
    struct uc_piece *runs;              /**< of the last uc_sweep_runs() */
    int32_t *counts;                    /**< scratch: pieces of each item */
    int32_t *touched;                   /**< scratch: items with a count */
};

enum uc_status uc_sweep_start(struct uc_sweep *out,
                              const struct uc_candidates *candidates,
                              int64_t max_pieces, struct uc_error *err);
void uc_sweep_end(struct uc_sweep *sweep);

/** The row behind an item. */
const struct uc_micro *uc_sweep_micro(const struct uc_sweep *sweep,
                                      const struct uc_sweep_item *item);

/** Whether an item is a first row (or both kinds are one). */
bool uc_sweep_may_be_first(const struct uc_sweep *sweep,
                           const struct uc_sweep_item *item);

/** Add item `index`; items are added in order. */
void uc_sweep_add(struct uc_sweep *sweep, size_t index);

/** Least time of the whole batch so far, or UC_SWEEP_NEVER. */
int64_t uc_sweep_time(const struct uc_sweep *sweep);

/** That configuration into sweep->runs: how many runs; returns the pieces. */
int64_t uc_sweep_runs(struct uc_sweep *sweep, size_t *run_count);

#endif
