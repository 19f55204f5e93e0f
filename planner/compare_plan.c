#include "config.h"

#include "planner/compare.h"

#include "common/array.h"
#include "planner/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ operations */

/** Behind "2 of 4x64", ", 1 of 256", as far as it fits. */
static void append(char *text, size_t size, int64_t copies, const char *more)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%" PRId64 " of %s",
             used > 0 ? ", " : "", copies, more);
}

/** Other copies of the same operation, which a division has cut up. */
static void add_copies(struct uc_compare_item *item,
                       const struct uc_plan_operation *op)
{
    int64_t repeat = item->repeat + op->repeat;
    struct uc_compare_item other;
    char first[sizeof item->split];

    uc_report_split(op, other.split, sizeof other.split);
    uc_report_kernels(op, other.kernels, sizeof other.kernels);
    if (strstr(item->split, " of ") == NULL) {
        memcpy(first, item->split, sizeof first);
        item->split[0] = '\0';
        append(item->split, sizeof item->split, item->repeat, first);
    }
    append(item->split, sizeof item->split, op->repeat, other.split);
    if (strcmp(item->kernels, other.kernels) != 0)
        append(item->kernels, sizeof item->kernels, op->repeat, other.kernels);
    item->time_ns = (int64_t)(((double)item->time_ns * (double)item->repeat +
                               (double)op->time_ns * (double)op->repeat) /
                              (double)repeat);
    if (op->workspace_bytes > item->workspace_bytes)
        item->workspace_bytes = op->workspace_bytes;
    item->repeat = repeat;
}

enum uc_status uc_compare_side_plan(const struct uc_plan *plan,
                                    struct uc_compare_side *side,
                                    struct uc_error *err)
{
    side->environment = plan->environment;
    side->mode = plan->mode;
    side->limit_bytes = plan->limit_bytes;
    snprintf(side->policy, sizeof side->policy, "%s", plan->policy);
    side->choices = plan->choices;
    for (size_t i = 0; i < plan->operation_count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];
        struct uc_compare_item *item =
            uc_compare_find(side, op->layer, op->batch, &op->problem);

        if (item != NULL) {
            add_copies(item, op);
            continue;
        }
        item = uc_array_append(&side->items, &side->count, sizeof *item);
        if (item == NULL)
            return uc_no_memory(err);
        memcpy(item->layer, op->layer, sizeof item->layer);
        item->problem = op->problem;
        item->batch = op->batch;
        item->repeat = op->repeat;
        item->time_ns = op->time_ns;
        item->spread_ns = -1;
        item->workspace_bytes = op->workspace_bytes;
        uc_report_split(op, item->split, sizeof item->split);
        uc_report_kernels(op, item->kernels, sizeof item->kernels);
    }
    return UC_OK;
}

/** "alexnet, batch 256, fp32 nchw, fma", of its first operation. */
static void describe(const struct uc_plan *plan, char text[96])
{
    const struct uc_plan_operation *first = plan->operations;

    if (plan->operation_count == 0)
        snprintf(text, 96, "%.40s, empty", plan->network);
    else
        snprintf(text, 96, "%.40s, batch %" PRId64 ", %s %s, %s", plan->network,
                 first->batch, uc_dtype_name(first->problem.x_type),
                 uc_layout_name(first->problem.x.kind),
                 uc_math_name(first->problem.math));
}

enum uc_status uc_compare_nothing(const struct uc_plan *old,
                                  const struct uc_plan *now,
                                  struct uc_error *err)
{
    char before[96], after[96];

    describe(old, before);
    describe(now, after);
    return uc_fail(err, UC_EINPUT,
                   "the plans have no operation in common: %s against %s%s",
                   before, after,
                   strcmp(before, after) == 0 ? " with other layers" : "");
}

/* ----------------------------------------------------------------- pairs */

/** How alike what two plans were made on is; a pass a kind. */
enum { SAME_ENVIRONMENT, SAME_DEVICE, ANY_DEVICE, PASSES };

static bool alike(const struct uc_plan *old, const struct uc_plan *now,
                  int pass)
{
    struct uc_plan here = *old;

    if (pass == SAME_ENVIRONMENT &&
        uc_environment_difference(&old->environment, &now->environment) != NULL)
        return false;
    if (pass == SAME_DEVICE &&
        uc_device_difference(&old->environment.device,
                             &now->environment.device) != NULL)
        return false;
    here.environment = now->environment;
    return uc_plan_same(&here, now);
}

/** Later plans come first; what is paired is marked. */
static void pair_up(const struct uc_plan *old, size_t old_count,
                    const struct uc_plan *now, size_t new_count,
                    struct uc_compare_pair *pairs, size_t *count, bool *taken)
{
    bool *old_taken = taken, *new_taken = taken + old_count;

    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = old_count; i-- > 0;)
            for (size_t j = new_count; j-- > 0 && !old_taken[i];)
                if (!new_taken[j] && alike(&old[i], &now[j], pass)) {
                    old_taken[i] = new_taken[j] = true;
                    pairs[(*count)++] = (struct uc_compare_pair){ i, j };
                }
}

static int by_old(const void *left, const void *right)
{
    const struct uc_compare_pair *a = left, *b = right;

    return (a->old > b->old) - (a->old < b->old);
}

enum uc_status uc_compare_pairs(const struct uc_plan *old, size_t old_count,
                                const struct uc_plan *now, size_t new_count,
                                struct uc_compare_pair **list, size_t *count,
                                struct uc_error *err)
{
    bool *taken = calloc(old_count + new_count + 1, sizeof *taken);
    struct uc_compare_pair *pairs = calloc(old_count + 1, sizeof *pairs);
    size_t used = 0;

    if (taken == NULL || pairs == NULL) {
        free(taken);
        free(pairs);
        return uc_no_memory(err);
    }
    if (old_count == 1 && new_count == 1)
        used = 1; /* zeros: the two */
    else
        pair_up(old, old_count, now, new_count, pairs, &used, taken);
    qsort(pairs, used, sizeof *pairs, by_old);
    free(taken);
    *list = pairs;
    *count = used;
    return UC_OK;
}
