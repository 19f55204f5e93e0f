#include "config.h"

#include "planner/wd_core.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/** A step along a group's convex hull. */
struct step {
    double rate; /**< nanoseconds won a byte; falls along a group */
    size_t order;
    size_t from, to; /**< options */
};

static int by_rate(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    if (x->rate != y->rate)
        return x->rate > y->rate ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static double rate(const struct uc_wd_option *from,
                   const struct uc_wd_option *to)
{
    return (double)(from->time - to->time) /
           (double)(to->workspace - from->workspace);
}

/** Append the steps of one group: its lower convex hull, left to right. */
static size_t hull(const struct uc_wd_core *core, size_t index,
                   struct step *steps, size_t order)
{
    const struct uc_wd_group *group = &core->groups[index];
    size_t count = 0;

    for (size_t i = 1; i < group->option_count; i++) {
        size_t to = group->first + i;
        size_t from = count > 0 ? steps[count - 1].to : group->first;

        while (count > 0 && rate(&core->options[from], &core->options[to]) >=
                                steps[count - 1].rate)
            from = steps[--count].from;
        steps[count] =
            (struct step){ rate(&core->options[from], &core->options[to]),
                           order + count, from, to };
        count++;
    }
    return count;
}

/** Move as many copies from one option to another as the slack allows. */
static void take(struct uc_wd_option *from, struct uc_wd_option *to,
                 int64_t *slack)
{
    int64_t bytes = to->workspace - from->workspace;
    int64_t copies = *slack / bytes;

    if (copies > from->count)
        copies = from->count;
    from->count -= copies;
    to->count += copies;
    *slack -= copies * bytes;
}

/** The move that wins most a copy within the slack, for as many copies as
 * it can be; false: there is none. */
static bool improve(struct uc_wd_core *core, int64_t *slack)
{
    struct uc_wd_option *best_from = NULL, *best_to = NULL;

    for (size_t g = 0; g < core->group_count; g++) {
        struct uc_wd_option *from = &core->options[core->groups[g].first];
        struct uc_wd_option *end = from + core->groups[g].option_count;

        for (; from < end; from++) {
            struct uc_wd_option *to = from;

            if (from->count == 0)
                continue;
            while (to + 1 < end && to[1].workspace - from->workspace <= *slack)
                to++;
            if (to != from &&
                (best_to == NULL ||
                 from->time - to->time > best_from->time - best_to->time)) {
                best_from = from;
                best_to = to;
            }
        }
    }
    if (best_to == NULL)
        return false;
    take(best_from, best_to, slack);
    return true;
}

/** Lagrangian cost of an option. */
static long double priced(const struct uc_wd_core *core,
                          const struct uc_wd_option *option)
{
    return (long double)option->time +
           (long double)core->price * (long double)option->workspace;
}

static long double cheapest(const struct uc_wd_core *core,
                            const struct uc_wd_group *group)
{
    long double least = priced(core, &core->options[group->first]);

    for (size_t i = 1; i < group->option_count; i++) {
        long double cost = priced(core, &core->options[group->first + i]);

        if (cost < least)
            least = cost;
    }
    return least;
}

/** The Lagrangian bounds every solution from below at any price >= 0. */
static void bound(struct uc_wd_core *core)
{
    long double sum = 0, fixed;
    long double parts = (long double)core->group_count + 8;

    for (size_t g = 0; g < core->group_count; g++)
        sum += (long double)core->groups[g].copies *
               cheapest(core, &core->groups[g]);
    fixed = (long double)core->price * (long double)core->total;
    core->relaxed = sum - fixed;
    core->margin = 1e-6L + (sum + fixed) * parts * LDBL_EPSILON;
    core->lower = (int64_t)ceill(core->relaxed - core->margin);
    if (core->lower < 0)
        core->lower = 0;
}

enum uc_status uc_wd_relax(struct uc_wd_core *core, struct uc_error *err)
{
    struct step *steps = malloc((core->option_count + 1) * sizeof *steps);
    int64_t slack = core->total;
    size_t count = 0;

    if (steps == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < core->option_count; i++)
        core->options[i].count = 0;
    for (size_t g = 0; g < core->group_count; g++) {
        struct uc_wd_option *least = &core->options[core->groups[g].first];

        least->count = core->groups[g].copies;
        slack -= least->count * least->workspace;
        count += hull(core, g, steps + count, count);
    }
    qsort(steps, count, sizeof *steps, by_rate);
    core->price = 0;
    for (size_t i = 0; i < count; i++) {
        take(&core->options[steps[i].from], &core->options[steps[i].to],
             &slack);
        /* The first step not taken whole is where the relaxation ends. */
        if (core->price == 0 && core->options[steps[i].from].count > 0)
            core->price = steps[i].rate;
    }
    free(steps);
    while (improve(core, &slack))
        ;
    core->workspace = core->total - slack;
    core->time = 0;
    for (size_t i = 0; i < core->option_count; i++)
        core->time += core->options[i].count * core->options[i].time;
    bound(core);
    if (core->lower > core->time) /* rounding of values over 2^53 only */
        core->lower = core->time;
    return UC_OK;
}

void uc_wd_reduce(struct uc_wd_core *core, int64_t target)
{
    /* A solution below the target costs at most target - 1. */
    long double room = (long double)(target - 1) - core->relaxed + core->margin;

    for (size_t g = 0; g < core->group_count; g++) {
        const struct uc_wd_group *group = &core->groups[g];
        long double least = cheapest(core, group);

        for (size_t i = 0; i < group->option_count; i++) {
            struct uc_wd_option *option = &core->options[group->first + i];
            long double cost = priced(core, option) - least - core->margin;
            int64_t most = group->copies;

            if (cost > 0 && room < cost * (long double)most)
                most = room < cost ? 0 : (int64_t)floorl(room / cost);
            option->most = most > option->count ? most : option->count;
        }
    }
}

bool uc_wd_evaluate(const struct uc_wd_core *core, const int64_t *counts,
                    int64_t *time, int64_t *workspace)
{
    int64_t left = core->total, sum = 0;

    for (size_t g = 0; g < core->group_count; g++) {
        const struct uc_wd_group *group = &core->groups[g];
        int64_t copies = group->copies;

        for (size_t i = group->first; i < group->first + group->option_count;
             i++) {
            const struct uc_wd_option *option = &core->options[i];

            if (counts[i] < 0 || counts[i] > copies ||
                (counts[i] > 0 && option->workspace > left / counts[i]))
                return false;
            copies -= counts[i];
            left -= counts[i] * option->workspace;
            sum += counts[i] * option->time;
        }
        if (copies != 0)
            return false;
    }
    *time = sum;
    *workspace = core->total - left;
    return true;
}
