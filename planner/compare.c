#include "config.h"

#include "planner/compare.h"

#include "common/sum.h"
#include "planner/rank_test.h"

#include <stdlib.h>
#include <string.h>

void uc_compare_side_free(struct uc_compare_side *side)
{
    free(side->items);
    side->items = NULL;
    side->count = 0;
}

void uc_comparison_free(struct uc_comparison *comparison)
{
    free(comparison->rows);
    comparison->rows = NULL;
    comparison->count = 0;
}

const char *uc_compare_verdict_name(enum uc_compare_verdict verdict)
{
    static const char *const names[] = {
        [UC_COMPARE_SAME] = "same",       [UC_COMPARE_FASTER] = "faster",
        [UC_COMPARE_SLOWER] = "slower",   [UC_COMPARE_ADDED] = "added",
        [UC_COMPARE_REMOVED] = "removed",
    };

    return names[verdict];
}

/* -------------------------------------------------------------- judging */

/** Whether the times differ by more than they scatter. */
static enum uc_status scatter_exceeded(const struct uc_compare_item *old,
                                       const struct uc_compare_item *now,
                                       double level, double *p, bool *exceeded,
                                       struct uc_error *err)
{
    size_t m = (size_t)old->samples, n = (size_t)now->samples;

    *p = -1;
    *exceeded = true;
    if (m > 0 && n > 0 && uc_rank_test_least(m, n) <= level) {
        enum uc_status status =
            uc_rank_test(old->sample_ns, m, now->sample_ns, n, p, err);

        *exceeded = *p <= level;
        return status;
    }
    if (old->spread_ns >= 0 && now->spread_ns >= 0) {
        double change = (double)now->time_ns - (double)old->time_ns;

        *exceeded = (change < 0 ? -change : change) >
                    (double)old->spread_ns + (double)now->spread_ns;
    }
    return UC_OK;
}

static enum uc_status judge(const struct uc_compare_options *options,
                            struct uc_compare_row *row, struct uc_error *err)
{
    double old = (double)row->old->time_ns, now = (double)row->now->time_ns;
    bool exceeded;
    enum uc_status status = scatter_exceeded(row->old, row->now, options->level,
                                             &row->p, &exceeded, err);

    row->verdict = UC_COMPARE_SAME;
    if (exceeded && now > old * (1 + options->threshold))
        row->verdict = UC_COMPARE_SLOWER;
    else if (exceeded && old > now * (1 + options->threshold))
        row->verdict = UC_COMPARE_FASTER;
    if (strcmp(row->old->split, row->now->split) != 0)
        row->split = UC_COMPARE_OTHER_SPLIT;
    else if (strcmp(row->old->kernels, row->now->kernels) != 0)
        row->split = UC_COMPARE_OTHER_KERNELS;
    return status;
}

/* --------------------------------------------------------------- totals */

/** Sample i of a sum is the sum of the samples i, as long as all have one. */
static void add_to_total(struct uc_compare_item *total, bool first,
                         const struct uc_compare_item *item)
{
    if (first || item->samples < total->samples)
        total->samples = item->samples;
    for (int i = 0; i < total->samples; i++)
        total->sample_ns[i] += (float)item->repeat * item->sample_ns[i];
    total->time_ns = uc_sum(total->time_ns, item->repeat, item->time_ns);
    total->spread_ns =
        total->spread_ns < 0 || item->spread_ns < 0
            ? -1
            : uc_sum(total->spread_ns, item->repeat, item->spread_ns);
    if (item->workspace_bytes > total->workspace_bytes)
        total->workspace_bytes = item->workspace_bytes;
}

/* -------------------------------------------------------------- matching */

struct uc_compare_item *uc_compare_find(const struct uc_compare_side *side,
                                        const char *layer, int64_t batch,
                                        const struct uc_problem *problem)
{
    struct uc_compare_item *items = side->items;

    for (size_t i = 0; i < side->count; i++)
        if (items[i].batch == batch && strcmp(items[i].layer, layer) == 0 &&
            uc_problem_equal(&items[i].problem, problem))
            return &items[i];
    return NULL;
}

static const struct uc_compare_item *twin(const struct uc_compare_side *side,
                                          const struct uc_compare_item *item)
{
    return uc_compare_find(side, item->layer, item->batch, &item->problem);
}

static enum uc_status compare_common(const struct uc_compare_options *options,
                                     struct uc_comparison *out,
                                     struct uc_compare_row *row,
                                     struct uc_error *err)
{
    enum uc_status status = judge(options, row, err);

    add_to_total(&out->old_total, out->common == 0, row->old);
    add_to_total(&out->new_total, out->common == 0, row->now);
    out->splits += row->split != UC_COMPARE_SAME_SPLIT;
    row->other_repeat = row->old->repeat != row->now->repeat;
    out->repeats += row->other_repeat;
    out->common++;
    row->regression =
        row->verdict == UC_COMPARE_SLOWER && out->now->mode != UC_PLAN_WD;
    return status;
}

static enum uc_status compare_rows(const struct uc_compare_options *options,
                                   struct uc_comparison *out,
                                   struct uc_error *err)
{
    const struct uc_compare_item *items = out->old->items;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < out->old->count && status == UC_OK; i++) {
        struct uc_compare_row *row = &out->rows[out->count++];

        *row = (struct uc_compare_row){ .old = &items[i],
                                        .now = twin(out->now, &items[i]),
                                        .p = -1 };
        if (row->now != NULL) {
            status = compare_common(options, out, row, err);
        } else {
            row->verdict = UC_COMPARE_REMOVED;
            row->regression = out->strict;
        }
    }
    items = out->now->items;
    for (size_t i = 0; i < out->now->count; i++)
        if (twin(out->old, &items[i]) == NULL)
            out->rows[out->count++] = (struct uc_compare_row){
                .now = &items[i], .verdict = UC_COMPARE_ADDED, .p = -1
            };
    return status;
}

static void add_all(const struct uc_compare_side *side,
                    struct uc_compare_item *all)
{
    const struct uc_compare_item *items = side->items;

    for (size_t i = 0; i < side->count; i++)
        all->time_ns = uc_sum(all->time_ns, items[i].repeat, items[i].time_ns);
}

enum uc_status uc_compare(const struct uc_compare_side *old,
                          const struct uc_compare_side *now,
                          const struct uc_compare_options *options,
                          struct uc_comparison *out, struct uc_error *err)
{
    enum uc_status status;

    out->old = old;
    out->now = now;
    out->old_total.repeat = out->new_total.repeat = 1;
    out->rows = calloc(old->count + now->count + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return uc_no_memory(err);
    status = compare_rows(options, out, err);
    for (size_t i = 0; i < out->count; i++) {
        out->verdicts[out->rows[i].verdict]++;
        out->regression |= out->rows[i].regression;
    }
    out->total = (struct uc_compare_row){ .old = &out->old_total,
                                          .now = &out->new_total,
                                          .p = -1 };
    if (status == UC_OK)
        status = judge(options, &out->total, err);
    out->total.regression = out->total.verdict == UC_COMPARE_SLOWER;
    out->regression |= out->total.regression;
    out->others = out->verdicts[UC_COMPARE_ADDED] > 0 ||
                  out->verdicts[UC_COMPARE_REMOVED] > 0;
    add_all(old, &out->old_all);
    add_all(now, &out->new_all);
    out->all = (struct uc_compare_row){ .old = &out->old_all,
                                        .now = &out->new_all,
                                        .p = -1 };
    return status;
}
