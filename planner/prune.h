/**
 * @file prune.h
 * Which kernels need not be measured at a micro-batch size, since they were
 * hopeless at others.
 *
 * A kernel is beaten at a size by another one that needs no more workspace, is
 * admitted by every plan that admits it, and is faster by UC_PRUNE_MARGIN and
 * by more than both spreads. One that is beaten by the same other one at two
 * measured sizes in a row, one of them at least UC_PRUNE_SPAN times the other,
 * and at every smaller one where it was measured, is left out at all sizes
 * below the larger where that other one exists and needs no more workspace; if
 * it then gets no time there, the first is measured after all (agenda.h). Beta
 * cases are apart.
 *
 * What is left out could still be the best at a small size;
 * tests/bench_pruning.c says by how much that changes what is predicted. The
 * workspace is not guessed: at large sizes FFT needs less than Winograd, at
 * small ones twice as much.
 *
 * Units:   *_bytes are bytes, sizes count images.
 * Owner:   a struct uc_prune borrows the rows; uc_prune_end() frees the rest.
 * Errors:  UC_EINTERNAL (no memory); outputs are untouched.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_PRUNE_H
#define UC_PLANNER_PRUNE_H

#include "planner/work.h"

#define UC_PRUNE_MARGIN 0.05
#define UC_PRUNE_SPAN 1.5

/**
 * Whether every plan that admits `one` admits `other`: they are of one API,
 * and `other` has no note that a plan may refuse and that `one` has not.
 */
bool uc_prune_stands_for(const struct uc_measurement *other,
                         const struct uc_measurement *one);

struct uc_prune_row {
    const struct uc_measurement *m;
};
struct uc_prune {
    struct uc_prune_row *rows; /**< timed ones, by beta case and kernel, sizes
                                    falling */
    size_t count;
};

/** Rows of one problem, of any sizes in any order. */
enum uc_status uc_prune_start(const struct uc_measurement *rows, size_t count,
                              struct uc_prune *out, struct uc_error *err);
void uc_prune_end(struct uc_prune *prune);

/** Whether kernel `index` of those that exist at a size, with their workspace
    there, is left out. */
bool uc_prune_leaves_out(const struct uc_prune *prune,
                         const struct uc_work_kernel *kernels, size_t count,
                         size_t index, int64_t micro_batch);

#endif
