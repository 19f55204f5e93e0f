#include "config.h"

#include "planner/wd.h"

#include "common/bytes.h"
#include "planner/wd_core.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void uc_wd_core_free(struct uc_wd_core *core)
{
    free(core->groups);
    free(core->options);
}

struct by_set {
    uintptr_t set;
    size_t index;
};

static int compare_set(const void *a, const void *b)
{
    const struct by_set *x = a, *y = b;

    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/**
 * Number the groups of equal sets in the order in which they first appear,
 * so that nothing depends on addresses.
 */
static enum uc_status number_groups(const struct uc_wd_operation *operations,
                                    size_t count, size_t *group_of,
                                    size_t *group_count, struct uc_error *err)
{
    struct by_set *order = malloc((count + 1) * sizeof *order);

    if (order == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct by_set){ (uintptr_t)operations[i].set, i };
    qsort(order, count, sizeof *order, compare_set);
    for (size_t i = 0, leader = 0; i < count; i++) {
        if (i == 0 || order[i].set != order[i - 1].set)
            leader = order[i].index;
        group_of[order[i].index] = leader;
    }
    free(order);
    *group_count = 0;
    for (size_t i = 0; i < count; i++)
        group_of[i] =
            group_of[i] == i ? (*group_count)++ : group_of[group_of[i]];
    return UC_OK;
}

static enum uc_status aggregate(const struct uc_wd_operation *operations,
                                size_t count, const size_t *group_of,
                                struct uc_wd_core *core, struct uc_error *err)
{
    size_t at = 0, g = 0;

    for (size_t i = 0; i < count; i++)
        core->option_count += operations[i].set->count;
    core->groups = calloc(core->group_count + 1, sizeof *core->groups);
    core->options = calloc(core->option_count + 1, sizeof *core->options);
    if (core->groups == NULL || core->options == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct uc_desirable *set = operations[i].set;
        struct uc_wd_group *group = &core->groups[group_of[i]];

        if (set->count == 0)
            return uc_fail(err, UC_ENOFIT, "operation %zu has no configuration",
                           i);
        if (__builtin_add_overflow(group->copies, operations[i].repeat,
                                   &group->copies))
            return uc_fail(err, UC_EINPUT, "too many copies of operation %zu",
                           i);
        if (group_of[i] != g)
            continue; /* seen before */
        g++;
        group->first = at;
        group->option_count = set->count;
        for (size_t j = 0; j < set->count; j++)
            core->options[at++] =
                (struct uc_wd_option){ .workspace =
                                           set->list[j].workspace_bytes,
                                       .time = set->list[j].time_ns };
    }
    core->option_count = at;
    return UC_OK;
}

/** Sums must stay in 64 bits, and the least workspaces within the total. */
static enum uc_status check_sums(const struct uc_wd_core *core,
                                 struct uc_error *err)
{
    int64_t time = 0, least = 0, product;
    bool wide = false;

    for (size_t g = 0; g < core->group_count; g++) {
        const struct uc_wd_option *option =
            &core->options[core->groups[g].first];

        if (__builtin_mul_overflow(core->groups[g].copies, option->time,
                                   &product) ||
            __builtin_add_overflow(time, product, &time) ||
            time > UC_WD_MOST_TIME)
            return uc_fail(err, UC_EINPUT,
                           "the operations' times add up to more than 2^62 "
                           "ns");
        wide = wide ||
               __builtin_mul_overflow(core->groups[g].copies, option->workspace,
                                      &product) ||
               __builtin_add_overflow(least, product, &least);
    }
    if (wide)
        return uc_fail(err, UC_ENOFIT,
                       "no division fits: the least total that would do is "
                       "over 2^63 bytes");
    if (least > core->total) {
        char text[UC_BYTES_TEXT];

        uc_bytes_print(least, text);
        return uc_fail(err, UC_ENOFIT,
                       "no division fits the total of %" PRId64
                       " bytes: the least total that would do is %" PRId64
                       " bytes (%s)",
                       core->total, least, text);
    }
    return UC_OK;
}

/** Hand the groups' counts out to the operations, in order. */
static enum uc_status spread(const struct uc_wd_operation *operations,
                             size_t count, const size_t *group_of,
                             struct uc_wd_core *core,
                             struct uc_wd_result *result, struct uc_error *err)
{
    size_t used = 0, at = 0;

    for (size_t i = 0; i < core->option_count; i++)
        used += core->options[i].count > 0;
    result->choices = malloc((used + count + 1) * sizeof *result->choices);
    if (result->choices == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct uc_wd_group *group = &core->groups[group_of[i]];
        int64_t left = operations[i].repeat;

        for (size_t j = 0; j < group->option_count && left > 0; j++) {
            struct uc_wd_option *option = &core->options[group->first + j];
            int64_t copies = option->count < left ? option->count : left;

            if (copies == 0)
                continue;
            option->count -= copies;
            left -= copies;
            result->choices[at++] = (struct uc_wd_choice){ i, j, copies };
        }
    }
    result->choice_count = at;
    return UC_OK;
}

static enum uc_status optimise(struct uc_wd_core *core,
                               const struct uc_wd_options *options,
                               struct uc_wd_result *result,
                               struct uc_error *err)
{
    enum uc_status status = uc_wd_relax(core, err);
    int64_t target;

    if (status != UC_OK)
        return status;
    /* Nothing at or above the target is needed to meet the gap. */
    target =
        core->time - (int64_t)floorl((long double)fmin(options->mip_gap, 1) *
                                     (long double)core->time);
    if (core->lower < target) {
        uc_wd_reduce(core, target);
        status =
            uc_wd_branch(core, target, options->mip_gap, options->time_limit_s,
                         &result->time_ran_out, err);
        if (status != UC_OK)
            return status;
    }
    result->time_ns = core->time;
    result->workspace_bytes = core->workspace;
    result->gap = core->time > core->lower
                      ? (double)(core->time - core->lower) / (double)core->time
                      : 0;
    return UC_OK;
}

enum uc_status uc_wd_solve(const struct uc_wd_operation *operations,
                           size_t count, const struct uc_wd_options *options,
                           struct uc_wd_result *out, struct uc_error *err)
{
    struct uc_wd_core core = { .total = options->total_bytes };
    struct uc_wd_result result = { 0 };
    size_t *group_of = malloc((count + 1) * sizeof *group_of);
    enum uc_status status;

    if (group_of == NULL)
        return uc_no_memory(err);
    status = number_groups(operations, count, group_of, &core.group_count, err);
    if (status == UC_OK)
        status = aggregate(operations, count, group_of, &core, err);
    if (status == UC_OK)
        status = check_sums(&core, err);
    if (status == UC_OK)
        status = optimise(&core, options, &result, err);
    if (status == UC_OK)
        status = spread(operations, count, group_of, &core, &result, err);
    if (status == UC_OK)
        *out = result;
    uc_wd_core_free(&core);
    free(group_of);
    return status;
}

void uc_wd_free(struct uc_wd_result *result)
{
    if (result == NULL)
        return;
    free(result->choices);
    result->choices = NULL;
    result->choice_count = 0;
}
