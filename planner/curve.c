#include "config.h"

#include "planner/curve.h"

#include "common/array.h"
#include "common/sum.h"
#include "planner/planning.h"

#include <stdlib.h>

/** At least this share of the best speed. */
static bool reaches(int64_t time_ns, int64_t best_ns, double target)
{
    return (double)time_ns * target <= (double)best_ns;
}

static bool append(struct uc_curve *curve, const struct uc_curve_point *point)
{
    void *points = curve->points;
    struct uc_curve_point *added =
        uc_array_append(&points, &curve->count, sizeof *added);

    if (added == NULL)
        return false;
    curve->points = points;
    *added = *point;
    return true;
}

static void set_best(struct uc_curve *curve)
{
    curve->best_ns = INT64_MAX;
    for (size_t i = 0; i < curve->count; i++)
        if (curve->points[i].time_ns < curve->best_ns)
            curve->best_ns = curve->points[i].time_ns;
}

void uc_curve_free(struct uc_curve *curve)
{
    free(curve->points);
    *curve = (struct uc_curve){ .count = 0 };
}

const struct uc_curve_point *uc_curve_knee(const struct uc_curve *curve,
                                           double target)
{
    size_t i = 0;

    while (i + 1 < curve->count &&
           !reaches(curve->points[i].time_ns, curve->best_ns, target))
        i++;
    return &curve->points[i];
}

const struct uc_curve_point *uc_curve_at(const struct uc_curve *curve,
                                         int64_t limit_bytes)
{
    const struct uc_curve_point *at = NULL;

    for (size_t i = 0; i < curve->count; i++)
        if (curve->points[i].limit_bytes <= limit_bytes)
            at = &curve->points[i];
    return at;
}

/* --------------------------------------------------------------- limits */

/** Ascending, distinct. */
struct limits {
    int64_t *list;
    size_t count;
};

static bool add_limit(struct limits *limits, int64_t bytes)
{
    void *list = limits->list;
    int64_t *added = uc_array_append(&list, &limits->count, sizeof *added);

    if (added == NULL)
        return false;
    limits->list = list;
    *added = bytes;
    return true;
}

static int ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void sort(struct limits *limits)
{
    size_t kept = 0;

    if (limits->count == 0)
        return;
    qsort(limits->list, limits->count, sizeof *limits->list, ascending);
    for (size_t i = 0; i < limits->count; i++)
        if (kept == 0 || limits->list[i] != limits->list[kept - 1])
            limits->list[kept++] = limits->list[i];
    limits->count = kept;
}

/** Every workspace of the set from `least` on. */
static bool add_set(struct limits *limits, const struct uc_desirable *set,
                    int64_t least)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->list[i].workspace_bytes >= least &&
            !add_limit(limits, set->list[i].workspace_bytes))
            return false;
    return true;
}

/** Point i of the grid from 2^k = power on. */
static int64_t grid_point(int64_t power, int64_t i, int64_t steps)
{
    return power + power / steps * i + power % steps * i / steps;
}

/**
 * `least`, then the grid: from its last point that is not above `first` to
 * its first that is not below `last`, but only what is above `least`.
 */
static bool add_grid(struct limits *limits, int64_t steps, int64_t least,
                     int64_t first, int64_t last)
{
    int64_t at = 0;

    if (!add_limit(limits, least))
        return false;
    for (int64_t power = 1; at < last && power <= INT64_MAX / 4; power *= 2)
        for (int64_t i = 0; i < steps && at < last; i++) {
            at = grid_point(power, i, steps);
            if (at > least && grid_point(power, i + 1, steps) > first &&
                !add_limit(limits, at))
                return false;
        }
    sort(limits);
    return true;
}

/* ---------------------------------------------------------------- reuse */

/** The problems of a planning, each with how often it runs in all. */
static int64_t *count_runs(const struct uc_planning *planning)
{
    int64_t *runs = calloc(planning->problem_count + 1, sizeof *runs);

    for (size_t i = 0; i < planning->operation_count && runs != NULL; i++) {
        const struct uc_planning_operation *op = &planning->operations[i];
        int64_t *of = &runs[op->of - planning->problems];

        *of = uc_sum(*of, op->layer->repeat, 1);
    }
    return runs;
}

static struct uc_curve_point reuse_at(const struct uc_planning *planning,
                                      const int64_t *runs, int64_t limit_bytes)
{
    struct uc_curve_point point = { .limit_bytes = limit_bytes };

    for (size_t i = 0; i < planning->problem_count; i++) {
        const struct uc_configuration *undivided,
            *chosen = uc_planning_choose(planning, &planning->problems[i],
                                         limit_bytes, &undivided);

        point.time_ns = uc_sum(point.time_ns, runs[i], chosen->time_ns);
        if (undivided == NULL)
            point.undivided_ns = -1;
        else if (point.undivided_ns >= 0)
            point.undivided_ns =
                uc_sum(point.undivided_ns, runs[i], undivided->time_ns);
    }
    return point;
}

/** The least limit that every operation fits. */
static int64_t least_limit(const struct uc_planning *planning)
{
    int64_t least = 0;

    for (size_t i = 0; i < planning->problem_count; i++)
        if (planning->problems[i].set.list[0].workspace_bytes > least)
            least = planning->problems[i].set.list[0].workspace_bytes;
    return least;
}

static bool reuse_limits(const struct uc_planning *planning, int64_t steps,
                         struct limits *limits)
{
    int64_t least = least_limit(planning);
    struct limits every = { .count = 0 };
    bool done = add_limit(&every, least);

    for (size_t i = 0; i < planning->problem_count && done; i++)
        done = add_set(&every, &planning->problems[i].set, least) &&
               add_set(&every, &planning->problems[i].undivided, least);
    sort(&every);
    if (!done || steps == UC_CURVE_EVERY) {
        *limits = every;
        return done;
    }
    done = add_grid(limits, steps, least, every.list[every.count > 1 ? 1 : 0],
                    every.list[every.count - 1]);
    free(every.list);
    return done;
}

static bool same_times(const struct uc_curve_point *a,
                       const struct uc_curve_point *b)
{
    return a->time_ns == b->time_ns && a->undivided_ns == b->undivided_ns;
}

enum uc_status uc_curve_reuse(const struct uc_planning *planning, int64_t steps,
                              struct uc_curve *out, struct uc_error *err)
{
    struct uc_curve curve = { .mode = UC_PLAN_WR };
    struct limits limits = { .count = 0 };
    int64_t *runs = count_runs(planning);
    bool done = runs != NULL && reuse_limits(planning, steps, &limits);

    for (size_t i = 0; i < limits.count && done; i++) {
        struct uc_curve_point point = reuse_at(planning, runs, limits.list[i]);

        if (steps != UC_CURVE_EVERY || i == 0 ||
            !same_times(&point, &curve.points[curve.count - 1]))
            done = append(&curve, &point);
    }
    free(limits.list);
    free(runs);
    if (!done) {
        uc_curve_free(&curve);
        return uc_no_memory(err);
    }
    set_best(&curve);
    *out = curve;
    return UC_OK;
}

/* ------------------------------------------------------------- division */

/** Solve one total; what it proved goes to the curve, the point does not. */
static enum uc_status divide_at(const struct uc_planning *planning,
                                const struct uc_curve_division *options,
                                int64_t total_bytes, struct uc_curve *curve,
                                struct uc_curve_point *point,
                                struct uc_error *err)
{
    struct uc_planning_proof proof;
    struct uc_plan_totals totals;
    struct uc_plan plan;
    enum uc_status status =
        uc_planning_divide(planning, total_bytes, options->mip_gap,
                           options->time_limit_s, &plan, &proof, err);

    if (status != UC_OK)
        return status;
    uc_plan_totals(&plan, &totals);
    uc_plan_free(&plan);
    *point = (struct uc_curve_point){ total_bytes, totals.predicted_ns,
                                      totals.undivided_ns };
    curve->time_ran_out = curve->time_ran_out || proof.time_ran_out;
    if (proof.gap > curve->gap)
        curve->gap = proof.gap;
    return UC_OK;
}

/** Totals: the least, the least step above it, and where all have all. */
static void total_range(const struct uc_planning *planning, int64_t *least,
                        int64_t *first, int64_t *last)
{
    int64_t undivided = 0, step = INT64_MAX;

    *least = *last = 0;
    for (size_t i = 0; i < planning->operation_count; i++) {
        const struct uc_planning_problem *of = planning->operations[i].of;
        int64_t repeat = planning->operations[i].layer->repeat;
        const struct uc_configuration *list = of->set.list;

        *least = uc_sum(*least, repeat, list[0].workspace_bytes);
        *last = uc_sum(*last, repeat, list[of->set.count - 1].workspace_bytes);
        if (of->undivided.count > 0)
            undivided = uc_sum(
                undivided, repeat,
                of->undivided.list[of->undivided.count - 1].workspace_bytes);
        if (of->set.count > 1 &&
            list[1].workspace_bytes - list[0].workspace_bytes < step)
            step = list[1].workspace_bytes - list[0].workspace_bytes;
    }
    *last = undivided > *last ? undivided : *last;
    *first = uc_sum(*least, 1, step < *last ? step : *last);
}

static int by_limit(const void *a, const void *b)
{
    const struct uc_curve_point *x = a, *y = b;

    return ascending(&x->limit_bytes, &y->limit_bytes);
}

/**
 * The least total that reaches the target, by bisection between the knee of
 * the grid and the point before it.
 */
static enum uc_status add_knee(const struct uc_planning *planning,
                               const struct uc_curve_division *options,
                               struct uc_curve *curve, struct uc_error *err)
{
    const struct uc_curve_point *knee = uc_curve_knee(curve, options->target);
    struct uc_curve_point least = *knee, point;
    int64_t below;

    if (knee == curve->points)
        return UC_OK;
    below = knee[-1].limit_bytes;
    while (least.limit_bytes - below > 1) {
        int64_t middle = below + (least.limit_bytes - below) / 2;
        enum uc_status status =
            divide_at(planning, options, middle, curve, &point, err);

        if (status != UC_OK)
            return status;
        if (reaches(point.time_ns, curve->best_ns, options->target))
            least = point;
        else
            below = middle;
    }
    if (least.limit_bytes == knee->limit_bytes)
        return UC_OK;
    if (!append(curve, &least))
        return uc_no_memory(err);
    qsort(curve->points, curve->count, sizeof least, by_limit);
    return UC_OK;
}

static enum uc_status divide_all(const struct uc_planning *planning,
                                 const struct uc_curve_division *options,
                                 const struct limits *limits,
                                 struct uc_curve *curve, struct uc_error *err)
{
    for (size_t i = 0; i < limits->count; i++) {
        struct uc_curve_point point;
        enum uc_status status =
            divide_at(planning, options, limits->list[i], curve, &point, err);

        if (status != UC_OK)
            return status;
        if (!append(curve, &point))
            return uc_no_memory(err);
    }
    set_best(curve);
    return add_knee(planning, options, curve, err);
}

enum uc_status uc_curve_divide(const struct uc_planning *planning,
                               const struct uc_curve_division *options,
                               struct uc_curve *out, struct uc_error *err)
{
    struct uc_curve curve = { .mode = UC_PLAN_WD };
    struct limits limits = { .count = 0 };
    int64_t least, first, last;
    enum uc_status status = UC_OK;

    total_range(planning, &least, &first, &last);
    if (!add_grid(&limits, options->steps, least, first, last) ||
        (options->total_bytes >= least &&
         !add_limit(&limits, options->total_bytes)))
        status = uc_no_memory(err);
    sort(&limits);
    if (status == UC_OK)
        status = divide_all(planning, options, &limits, &curve, err);
    free(limits.list);
    if (status != UC_OK) {
        uc_curve_free(&curve);
        return status;
    }
    set_best(&curve);
    *out = curve;
    return UC_OK;
}
