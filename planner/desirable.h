/**
 * @file desirable.h
 * Desirable sets: the configurations of one operation that no other beats in
 * both time and workspace; and workspace reuse (WR), which reads its answer
 * off the set.
 *
 * A configuration is a sequence of micro-configurations whose sizes add up
 * to the batch. Its time is the sum, its workspace the maximum of theirs.
 * The first piece is one of the `first` rows, every later piece one of the
 * `rest` rows: the two differ for backward-filter, whose later pieces
 * accumulate (beta = 1), and have the same content otherwise.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds, sizes count images.
 * Owner:   a set borrows nothing; free it with uc_desirable_free().
 * Errors:  UC_EINPUT (a batch or a cap that would take more than 1 GiB),
 *          UC_EINTERNAL (no memory); outputs are untouched on failure.
 *          An empty set is no error: nothing adds up to the batch.
 *          A configuration of 2^62-1 ns or more (146 years) does not exist.
 * Threads: no hidden state.
 * Source:  the sweep over workspace of an unbounded min-cost composition;
 *          Oyama et al. 2017 for WR and the notion of a desirable set.
 */
#ifndef UC_PLANNER_DESIRABLE_H
#define UC_PLANNER_DESIRABLE_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A micro-configuration as the solvers see it. */
struct uc_micro {
    int64_t size;            /**< 1 .. batch; others are ignored */
    int64_t workspace_bytes; /**< >= 0 */
    int64_t time_ns;         /**< >= 1 */
    int64_t spread_ns;       /**< >= 0 */
    int kernel;              /**< the caller's index, carried along */
};

struct uc_candidates {
    int64_t batch; /**< >= 1 */
    const struct uc_micro *first;
    size_t first_count;
    const struct uc_micro *rest; /**< may be the same array as first */
    size_t rest_count;
};

/** `count` equal pieces in a row; `first` marks the operation's first. */
struct uc_piece {
    struct uc_micro micro;
    int64_t count;
    bool first; /**< from the first rows (then count is 1 unless both row
                     sets are the same array) */
};

struct uc_configuration {
    int64_t workspace_bytes;
    int64_t time_ns;
    int64_t pieces;        /**< micro-batches in all */
    struct uc_piece *runs; /**< first piece's run first; then by falling size */
    size_t run_count;
};

struct uc_desirable {
    struct uc_configuration *list; /**< ascending workspace, falling time */
    size_t count;
};

struct uc_desirable_options {
    int64_t max_pieces; /**< 0: no limit */
    /**
     * A divided configuration stays only if it is faster than the best
     * undivided one of at most its workspace by more than this share and by
     * more than the two's measurement spread. 0 keeps the exact set.
     */
    double min_gain;
};

enum uc_status uc_desirable_build(const struct uc_candidates *candidates,
                                  const struct uc_desirable_options *options,
                                  struct uc_desirable *set,
                                  struct uc_error *err);
void uc_desirable_free(struct uc_desirable *set);

/**
 * The test behind min_gain: is `divided` faster than `undivided` by more
 * than the share `min_gain` and by more than the spread of both together?
 */
bool uc_configuration_gains(const struct uc_configuration *divided,
                            const struct uc_configuration *undivided,
                            double min_gain);

/**
 * Workspace reuse: the fastest configuration within the limit, or NULL when
 * none fits. Borrowed from the set.
 */
const struct uc_configuration *uc_desirable_within(
    const struct uc_desirable *set, int64_t limit_bytes);

#endif
