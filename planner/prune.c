#include "config.h"

#include "planner/prune.h"

#include <stdlib.h>

/** Notes that a plan may refuse. */
static const unsigned refusable =
    UC_NOTE_NONDETERMINISTIC | UC_NOTE_DOWN_CONVERT |
    UC_NOTE_REDUCED_PRECISION | UC_NOTE_RUNTIME_COMPILED;

bool uc_prune_stands_for(const struct uc_measurement *other,
                         const struct uc_measurement *one)
{
    return other->kernel.api == one->kernel.api &&
           (other->notes & refusable & ~one->notes) == 0;
}

static bool was_timed(const struct uc_measurement *row)
{
    return row->outcome == UC_MEASURED || row->outcome == UC_CUT_OFF;
}

/** Of two timed rows of one size and beta case. */
static bool beats(const struct uc_measurement *other,
                  const struct uc_measurement *row)
{
    int64_t gain = row->time_ns - other->time_ns;

    return other->outcome == UC_MEASURED &&
           other->workspace_bytes <= row->workspace_bytes &&
           gain > row->spread_ns + other->spread_ns &&
           (double)gain > UC_PRUNE_MARGIN * (double)other->time_ns &&
           uc_prune_stands_for(other, row);
}

static int by_kernel(const struct uc_measurement *left,
                     const struct uc_measurement *right)
{
    if (left->accumulate != right->accumulate)
        return left->accumulate ? 1 : -1;
    return uc_kernel_compare(&left->kernel, &right->kernel);
}

static int by_kernel_and_size(const void *a, const void *b)
{
    const struct uc_measurement *left = ((const struct uc_prune_row *)a)->m;
    const struct uc_measurement *right = ((const struct uc_prune_row *)b)->m;
    int order = by_kernel(left, right);

    return order != 0 ? order
                      : (left->micro_batch < right->micro_batch) -
                            (left->micro_batch > right->micro_batch);
}

enum uc_status uc_prune_start(const struct uc_measurement *rows, size_t count,
                              struct uc_prune *out, struct uc_error *err)
{
    struct uc_prune prune = { calloc(count + 1, sizeof *prune.rows), 0 };

    if (prune.rows == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count; i++)
        if (was_timed(&rows[i]))
            prune.rows[prune.count++].m = &rows[i];
    qsort(prune.rows, prune.count, sizeof *prune.rows, by_kernel_and_size);
    *out = prune;
    return UC_OK;
}

void uc_prune_end(struct uc_prune *prune)
{
    free(prune->rows);
    *prune = (struct uc_prune){ NULL, 0 };
}

/** A kernel's rows: sizes falling. */
struct history {
    const struct uc_prune_row *rows;
    size_t count;
};

static struct history find_history(const struct uc_prune *prune,
                                   const struct uc_work_kernel *kernel)
{
    const struct uc_measurement key = { .kernel = kernel->kernel,
                                        .accumulate = kernel->accumulate };
    size_t from = 0, to = prune->count, end;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (by_kernel(prune->rows[middle].m, &key) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (end = from; end < prune->count; end++)
        if (by_kernel(prune->rows[end].m, &key) != 0)
            break;
    return (struct history){ prune->rows + from, end - from };
}

/** Whether `other` beat `one` often enough to spare it this size. */
static bool always_beats(const struct history *other, const struct history *one,
                         int64_t micro_batch)
{
    int64_t since = 0; /* the size from which on down it did */
    bool hopeless = false;
    size_t at = 0;

    for (size_t i = 0; i < one->count; i++) {
        const struct uc_measurement *row = one->rows[i].m;

        while (at < other->count &&
               other->rows[at].m->micro_batch > row->micro_batch)
            at++;
        if (at == other->count ||
            other->rows[at].m->micro_batch != row->micro_batch ||
            !beats(other->rows[at].m, row)) {
            since = 0;
            hopeless = false;
        } else if (since == 0) {
            since = row->micro_batch;
        } else if (micro_batch < since &&
                   (double)since >= UC_PRUNE_SPAN * (double)row->micro_batch) {
            hopeless = true;
        }
    }
    return hopeless;
}

bool uc_prune_leaves_out(const struct uc_prune *prune,
                         const struct uc_work_kernel *kernels, size_t count,
                         size_t index, int64_t micro_batch)
{
    const struct uc_work_kernel *one = &kernels[index];
    struct history history = find_history(prune, one);

    for (size_t i = 0; i < count && history.count > 1; i++) {
        struct history other;

        if (i == index || kernels[i].accumulate != one->accumulate ||
            kernels[i].workspace_bytes > one->workspace_bytes)
            continue;
        other = find_history(prune, &kernels[i]);
        if (always_beats(&other, &history, micro_batch))
            return true;
    }
    return false;
}
