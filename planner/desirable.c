#include "config.h"

#include "planner/desirable.h"

#include "common/array.h"
#include "planner/sweep.h"

#include <stdlib.h>

/** A configuration before its runs have their final place. */
struct draft {
    int64_t workspace_bytes;
    int64_t time_ns;
    int64_t pieces;
    size_t run, run_count; /**< slice of drafts.runs */
    bool undivided;
};

struct drafts {
    struct draft *list;
    size_t count;
    struct uc_piece *runs;
    size_t run_count;
};

/** Append a configuration; its runs are copied. */
static bool append(struct drafts *drafts, struct draft draft,
                   const struct uc_piece *runs)
{
    void *list = drafts->list, *all_runs = drafts->runs;
    struct draft *added;

    draft.run = drafts->run_count;
    for (size_t i = 0; i < draft.run_count; i++) {
        struct uc_piece *run =
            uc_array_append(&all_runs, &drafts->run_count, sizeof *run);

        if (run == NULL)
            return false;
        drafts->runs = all_runs;
        *run = runs[i];
    }
    added = uc_array_append(&list, &drafts->count, sizeof *added);
    if (added == NULL)
        return false;
    drafts->list = list;
    *added = draft;
    return true;
}

/** The first row again as a configuration of its own. */
static bool append_undivided(struct drafts *drafts,
                             const struct uc_micro *micro)
{
    struct uc_piece run = { *micro, 1, true };
    struct draft draft = { .workspace_bytes = micro->workspace_bytes,
                           .time_ns = micro->time_ns,
                           .pieces = 1,
                           .run_count = 1,
                           .undivided = true };

    return append(drafts, draft, &run);
}

/**
 * Walk the sorted items once. A configuration is born at the end of each
 * group of equal workspaces that made the whole batch faster. With
 * `keep_undivided`, what is undivided and beats every lesser undivided one
 * is added as well, whether or not a divided one beats it.
 */
static bool sweep_all(struct uc_sweep *sweep, bool keep_undivided,
                      struct drafts *drafts)
{
    int64_t best = UC_SWEEP_NEVER, undivided = UC_SWEEP_NEVER;

    for (size_t i = 0; i < sweep->item_count; i++) {
        const struct uc_sweep_item *item = &sweep->items[i];
        const struct uc_micro *micro = uc_sweep_micro(sweep, item);

        uc_sweep_add(sweep, i);
        if (keep_undivided && item->size == sweep->batch &&
            uc_sweep_may_be_first(sweep, item) && item->time < undivided) {
            undivided = item->time;
            if (!append_undivided(drafts, micro))
                return false;
        }
        if (i + 1 < sweep->item_count && item->workspace == item[1].workspace)
            continue;
        if (uc_sweep_time(sweep) < best) {
            struct draft draft = { .workspace_bytes = item->workspace };

            best = draft.time_ns = uc_sweep_time(sweep);
            draft.pieces = uc_sweep_runs(sweep, &draft.run_count);
            draft.undivided = draft.pieces == 1;
            if (!append(drafts, draft, sweep->runs))
                return false;
        }
    }
    return true;
}

static double spread_of(const struct uc_piece *runs, size_t count)
{
    double spread = 0;

    for (size_t i = 0; i < count; i++)
        spread += (double)runs[i].count * (double)runs[i].micro.spread_ns;
    return spread;
}

static bool gains(int64_t divided_ns, double divided_spread,
                  int64_t undivided_ns, double undivided_spread,
                  double min_gain)
{
    double gain = (double)(undivided_ns - divided_ns);

    return gain > min_gain * (double)undivided_ns &&
           gain > divided_spread + undivided_spread;
}

bool uc_configuration_gains(const struct uc_configuration *divided,
                            const struct uc_configuration *undivided,
                            double min_gain)
{
    return gains(divided->time_ns, spread_of(divided->runs, divided->run_count),
                 undivided->time_ns,
                 spread_of(undivided->runs, undivided->run_count), min_gain);
}

static int by_workspace(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;

    if (x->workspace_bytes != y->workspace_bytes)
        return x->workspace_bytes < y->workspace_bytes ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->pieces > y->pieces) - (x->pieces < y->pieces);
}

static bool worth_it(const struct drafts *drafts, const struct draft *draft,
                     const struct draft *undivided, double min_gain)
{
    return gains(draft->time_ns,
                 spread_of(drafts->runs + draft->run, draft->run_count),
                 undivided->time_ns,
                 spread_of(drafts->runs + undivided->run, 1), min_gain);
}

/** Take out divided configurations that do not gain enough, then every
 * configuration that another beats. */
static void filter(struct drafts *drafts, double min_gain)
{
    struct draft *list = drafts->list;
    struct draft undivided = { .time_ns = UC_SWEEP_NEVER };
    int64_t best = UC_SWEEP_NEVER;
    size_t kept = 0, end;

    qsort(list, drafts->count, sizeof *list, by_workspace);
    for (size_t start = 0; start < drafts->count; start = end) {
        end = start;
        while (end < drafts->count &&
               list[end].workspace_bytes == list[start].workspace_bytes) {
            if (list[end].undivided && list[end].time_ns < undivided.time_ns)
                undivided = list[end];
            end++;
        }
        for (size_t i = start; i < end; i++) {
            struct draft draft = list[i];

            if (draft.time_ns >= best ||
                (!draft.undivided && undivided.time_ns < UC_SWEEP_NEVER &&
                 !worth_it(drafts, &draft, &undivided, min_gain)))
                continue;
            best = draft.time_ns;
            /* At most one of a group: the first kept is the fastest. */
            list[kept++] = draft;
        }
    }
    drafts->count = kept;
}

/** Copy the drafts into one block: the list, then the runs it points to. */
static enum uc_status publish(const struct drafts *drafts,
                              struct uc_desirable *set, struct uc_error *err)
{
    struct uc_piece *runs;
    size_t run_count = 0;

    if (drafts->count == 0) {
        *set = (struct uc_desirable){ NULL, 0 };
        return UC_OK;
    }
    for (size_t i = 0; i < drafts->count; i++)
        run_count += drafts->list[i].run_count;
    set->list =
        malloc(drafts->count * sizeof *set->list + run_count * sizeof *runs);
    if (set->list == NULL)
        return uc_no_memory(err);
    set->count = drafts->count;
    runs = (struct uc_piece *)(set->list + set->count);
    for (size_t i = 0; i < drafts->count; i++) {
        const struct draft *draft = &drafts->list[i];

        for (size_t j = 0; j < draft->run_count; j++)
            runs[j] = drafts->runs[draft->run + j];
        set->list[i] =
            (struct uc_configuration){ .workspace_bytes =
                                           draft->workspace_bytes,
                                       .time_ns = draft->time_ns,
                                       .pieces = draft->pieces,
                                       .runs = runs,
                                       .run_count = draft->run_count };
        runs += draft->run_count;
    }
    return UC_OK;
}

static void drafts_free(struct drafts *drafts)
{
    free(drafts->list);
    free(drafts->runs);
    *drafts = (struct drafts){ 0 };
}

/** One sweep into *drafts, which is empty. */
static enum uc_status draw_up(const struct uc_candidates *candidates,
                              int64_t max_pieces, bool keep_undivided,
                              struct drafts *drafts, struct uc_error *err)
{
    struct uc_sweep sweep;
    enum uc_status status = uc_sweep_start(&sweep, candidates, max_pieces, err);

    if (status != UC_OK)
        return status;
    if (!sweep_all(&sweep, keep_undivided, drafts))
        status = uc_no_memory(err);
    uc_sweep_end(&sweep);
    return status;
}

static bool within_cap(const struct drafts *drafts, int64_t max_pieces)
{
    for (size_t i = 0; i < drafts->count; i++)
        if (drafts->list[i].pieces > max_pieces)
            return false;
    return true;
}

/**
 * Capped sweeps take `cap` times as long, so the one without a cap comes
 * first: when what it finds is within the cap, nothing else could beat it.
 */
enum uc_status uc_desirable_build(const struct uc_candidates *candidates,
                                  const struct uc_desirable_options *options,
                                  struct uc_desirable *set,
                                  struct uc_error *err)
{
    bool keep_undivided = options->min_gain > 0;
    struct drafts drafts = { 0 };
    struct uc_desirable result = { NULL, 0 };
    enum uc_status status =
        draw_up(candidates, options->max_pieces == 1 ? 1 : 0, keep_undivided,
                &drafts, err);

    if (status == UC_OK && options->max_pieces > 1 &&
        !within_cap(&drafts, options->max_pieces)) {
        drafts_free(&drafts);
        status = draw_up(candidates, options->max_pieces, keep_undivided,
                         &drafts, err);
    }
    if (status == UC_OK) {
        if (options->min_gain > 0 && drafts.count > 0)
            filter(&drafts, options->min_gain);
        status = publish(&drafts, &result, err);
    }
    if (status == UC_OK)
        *set = result;
    drafts_free(&drafts);
    return status;
}

void uc_desirable_free(struct uc_desirable *set)
{
    if (set == NULL)
        return;
    free(set->list);
    *set = (struct uc_desirable){ NULL, 0 };
}

const struct uc_configuration *uc_desirable_within(
    const struct uc_desirable *set, int64_t limit_bytes)
{
    size_t low = 0, high = set->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->list[middle].workspace_bytes <= limit_bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &set->list[low - 1] : NULL;
}
