#include "config.h"

#include "planner/sweep.h"

#include "common/bytes.h"

#include <inttypes.h>
#include <stdlib.h>

static size_t width(const struct uc_sweep *sweep)
{
    return (size_t)sweep->batch + 1;
}

static struct uc_sweep_cell *layer(const struct uc_sweep *sweep,
                                   struct uc_sweep_cell *cells, int32_t index)
{
    return cells + (size_t)index * width(sweep);
}

static int by_workspace(const void *a, const void *b)
{
    const struct uc_sweep_item *x = a, *y = b;

    if (x->workspace != y->workspace)
        return x->workspace < y->workspace ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->source > y->source) - (x->source < y->source);
}

/** Rows that can be part of a configuration, as items. */
static size_t gather(struct uc_sweep_item *items, const struct uc_micro *rows,
                     size_t count, int64_t batch, bool first)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].size >= 1 && rows[i].size <= batch &&
            rows[i].workspace_bytes >= 0 && rows[i].time_ns >= 1 &&
            rows[i].time_ns < UC_SWEEP_NEVER)
            items[kept++] =
                (struct uc_sweep_item){ .workspace = rows[i].workspace_bytes,
                                        .time = rows[i].time_ns,
                                        .size = (int32_t)rows[i].size,
                                        .source =
                                            first ? ~(int32_t)i : (int32_t)i };
    return kept;
}

static size_t cell_count(const struct uc_sweep *sweep)
{
    return ((size_t)sweep->layers + sweep->capped) * width(sweep);
}

static struct uc_sweep_cell *cells_new(const struct uc_sweep *sweep)
{
    size_t count = cell_count(sweep);
    struct uc_sweep_cell *cells = malloc(count * sizeof *cells);

    for (size_t i = 0; cells != NULL && i < count; i++)
        cells[i] = (struct uc_sweep_cell){ UC_SWEEP_NEVER, 0, -1 };
    return cells;
}

/** Sweeps that take more memory than a planner should are refused. */
static enum uc_status check_room(const struct uc_sweep *sweep,
                                 struct uc_error *err)
{
    const int64_t most = INT64_C(1) << 30;
    int64_t bytes =
        (int64_t)sizeof(struct uc_sweep_cell) * (sweep->same ? 1 : 2);
    char text[UC_BYTES_TEXT], limit[UC_BYTES_TEXT];

    if (__builtin_mul_overflow(bytes, cell_count(sweep), &bytes))
        bytes = INT64_MAX;
    if (bytes <= most)
        return UC_OK;
    uc_bytes_print(bytes, text);
    uc_bytes_print(most, limit);
    if (!sweep->capped)
        return uc_fail(err, UC_EINPUT,
                       "batch %" PRId32 " is too large to be divided: that "
                       "takes %s of memory, over %s",
                       sweep->batch, text, limit);
    return uc_fail(err, UC_EINPUT,
                   "a cap of %" PRId32 " pieces at batch %" PRId32
                   " takes %s of "
                   "memory, over %s",
                   sweep->layers, sweep->batch, text, limit);
}

enum uc_status uc_sweep_start(struct uc_sweep *out,
                              const struct uc_candidates *candidates,
                              int64_t max_pieces, struct uc_error *err)
{
    struct uc_sweep sweep = { .candidates = candidates };
    enum uc_status status;
    size_t rows;

    sweep.same = candidates->first == candidates->rest &&
                 candidates->first_count == candidates->rest_count;
    if (candidates->batch >= INT32_MAX)
        return uc_fail(err, UC_EINPUT,
                       "batch %" PRId64 " is too large to be divided",
                       candidates->batch);
    if (candidates->first_count >= INT32_MAX / 2 ||
        candidates->rest_count >= INT32_MAX / 2)
        return uc_fail(err, UC_EINPUT, "too many measurements");
    sweep.batch = (int32_t)candidates->batch;
    sweep.capped = max_pieces > 0 && max_pieces < candidates->batch;
    sweep.layers = sweep.capped ? (int32_t)max_pieces : 1;
    status = check_room(&sweep, err);
    if (status != UC_OK)
        return status;

    rows = candidates->rest_count + (sweep.same ? 0 : candidates->first_count);
    sweep.items = malloc((rows + 1) * sizeof *sweep.items);
    sweep.counts = calloc(rows + 1, sizeof *sweep.counts);
    sweep.touched = malloc((rows + 1) * sizeof *sweep.touched);
    sweep.runs = malloc((rows + 1) * sizeof *sweep.runs);
    sweep.rest = cells_new(&sweep);
    sweep.first = sweep.same ? sweep.rest : cells_new(&sweep);
    if (sweep.items == NULL || sweep.counts == NULL || sweep.touched == NULL ||
        sweep.runs == NULL || sweep.rest == NULL || sweep.first == NULL) {
        uc_sweep_end(&sweep);
        return uc_no_memory(err);
    }
    for (int32_t p = 0; p < sweep.layers + sweep.capped; p++)
        layer(&sweep, sweep.rest, p)->time = 0;

    sweep.item_count = gather(sweep.items, candidates->rest,
                              candidates->rest_count, candidates->batch, false);
    if (!sweep.same)
        sweep.item_count +=
            gather(sweep.items + sweep.item_count, candidates->first,
                   candidates->first_count, candidates->batch, true);
    qsort(sweep.items, sweep.item_count, sizeof *sweep.items, by_workspace);
    *out = sweep;
    return UC_OK;
}

void uc_sweep_end(struct uc_sweep *sweep)
{
    free(sweep->items);
    free(sweep->counts);
    free(sweep->touched);
    free(sweep->runs);
    if (!sweep->same)
        free(sweep->first);
    free(sweep->rest);
}

const struct uc_micro *uc_sweep_micro(const struct uc_sweep *sweep,
                                      const struct uc_sweep_item *item)
{
    return item->source < 0 ? &sweep->candidates->first[~item->source]
                            : &sweep->candidates->rest[item->source];
}

bool uc_sweep_may_be_first(const struct uc_sweep *sweep,
                           const struct uc_sweep_item *item)
{
    return sweep->same || item->source < 0;
}

/** to[n] = min(to[n], item + from[n - size]), ascending: `to` may be `from`,
 * and then the item is used any number of times. */
static void relax(struct uc_sweep_cell *to, const struct uc_sweep_cell *from,
                  int32_t batch, const struct uc_sweep_item *item,
                  int32_t index)
{
    for (int32_t n = item->size; n <= batch; n++) {
        const struct uc_sweep_cell *before = &from[n - item->size];
        int64_t time = before->time + item->time;

        if (time < to[n].time ||
            (time == to[n].time && before->pieces + 1 < to[n].pieces))
            to[n] = (struct uc_sweep_cell){ time, before->pieces + 1, index };
    }
}

/** Whether what makes `size` images already is as good as the item. */
static bool useless(const struct uc_sweep_cell *cell,
                    const struct uc_sweep_item *item)
{
    return cell->time < item->time ||
           (cell->time == item->time && cell->pieces <= 1);
}

void uc_sweep_add(struct uc_sweep *sweep, size_t index)
{
    const struct uc_sweep_item *item = &sweep->items[index];
    bool is_first = item->source < 0;
    struct uc_sweep_cell *seen = is_first ? sweep->first : sweep->rest;

    /* With a cap only a single piece can stand in for the item. */
    if (useless(&layer(sweep, seen, sweep->capped)[item->size], item))
        return;
    for (int32_t p = sweep->capped; p < sweep->layers + sweep->capped; p++) {
        int32_t before = sweep->capped ? p - 1 : p;
        struct uc_sweep_cell *first = layer(sweep, sweep->first, p);
        const struct uc_sweep_cell *rest = layer(sweep, sweep->rest, before);

        if (is_first) {
            relax(first, rest, sweep->batch, item, (int32_t)index);
            continue;
        }
        if (!sweep->same)
            relax(first, layer(sweep, sweep->first, before), sweep->batch, item,
                  (int32_t)index);
        relax(layer(sweep, sweep->rest, p), rest, sweep->batch, item,
              (int32_t)index);
    }
}

static int32_t top_layer(const struct uc_sweep *sweep)
{
    return sweep->layers - 1 + sweep->capped;
}

int64_t uc_sweep_time(const struct uc_sweep *sweep)
{
    return layer(sweep, sweep->first, top_layer(sweep))[sweep->batch].time;
}

static int by_falling_size(const void *a, const void *b)
{
    const struct uc_piece *x = a, *y = b;

    if (x->first != y->first)
        return x->first ? -1 : 1;
    if (x->micro.size != y->micro.size)
        return x->micro.size > y->micro.size ? -1 : 1;
    if (x->micro.time_ns != y->micro.time_ns)
        return x->micro.time_ns < y->micro.time_ns ? -1 : 1;
    return 0;
}

int64_t uc_sweep_runs(struct uc_sweep *sweep, size_t *run_count)
{
    struct uc_sweep_cell *cells = sweep->first;
    int32_t p = top_layer(sweep), n = sweep->batch;
    int64_t pieces = 0;
    size_t count = 0;

    while (n > 0) {
        int32_t index = layer(sweep, cells, p)[n].item;
        const struct uc_sweep_item *item = &sweep->items[index];

        if (sweep->counts[index]++ == 0)
            sweep->touched[count++] = index;
        pieces++;
        n -= item->size;
        p -= sweep->capped;
        if (item->source < 0)
            cells = sweep->rest;
    }
    for (size_t i = 0; i < count; i++) {
        int32_t index = sweep->touched[i];
        const struct uc_sweep_item *item = &sweep->items[index];

        sweep->runs[i] =
            (struct uc_piece){ *uc_sweep_micro(sweep, item),
                               sweep->counts[index], item->source < 0 };
        sweep->counts[index] = 0;
    }
    qsort(sweep->runs, count, sizeof *sweep->runs, by_falling_size);
    sweep->runs[0].first = true;
    *run_count = count;
    return pieces;
}
