#include "config.h"

#include "planner/shard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHARDS = 1000000 };

/** The text up to its end or to `end`; -1 when it is no number so far. */
static int64_t number(const char *text, char end, const char **rest)
{
    int64_t value = 0;
    const char *c = text;

    for (; *c >= '0' && *c <= '9' && value < INT32_MAX; c++)
        value = value * 10 + (*c - '0');
    if (c == text || *c != end)
        return -1;
    *rest = c + 1;
    return value;
}

enum uc_status uc_shard_parse(const char *text, struct uc_shard *shard,
                              struct uc_error *err)
{
    const char *rest = text;
    int64_t index = number(text, '/', &rest), count = -1;

    if (index >= 0)
        count = number(rest, '\0', &rest);
    if (index < 1 || index > count || count > MOST_SHARDS)
        return uc_fail(err, UC_EINPUT,
                       "\"%.64s\" is no share such as 2/8, from 1/N to N/N",
                       text);
    *shard = (struct uc_shard){ index, count };
    return UC_OK;
}

/* ----------------------------------------------------------------- Slurm */

/** A variable's number; -1: not there or no number. */
static int64_t variable(const char *name)
{
    const char *text = getenv(name), *rest;

    return text == NULL ? -1 : number(text, '\0', &rest);
}

/** Of an array job, from 0; *count stays 1 outside of one. */
static enum uc_status array_task(int64_t *index, int64_t *count,
                                 struct uc_error *err)
{
    int64_t id = variable("SLURM_ARRAY_TASK_ID");
    int64_t least = variable("SLURM_ARRAY_TASK_MIN");
    int64_t most = variable("SLURM_ARRAY_TASK_MAX");
    int64_t step = variable("SLURM_ARRAY_TASK_STEP");
    int64_t tasks = variable("SLURM_ARRAY_TASK_COUNT");

    if (getenv("SLURM_ARRAY_TASK_ID") == NULL)
        return UC_OK;
    /* One task alone has no step. */
    if (step < 1)
        step = 1;
    if (least < 0 || id < least || most < id || (id - least) % step != 0 ||
        (most - least) / step + 1 != tasks)
        return uc_fail(err, UC_EINPUT,
                       "the tasks of the Slurm array are not evenly spaced "
                       "(SLURM_ARRAY_TASK_ID, _MIN, _MAX, _STEP, _COUNT); "
                       "say which share with --shard");
    *index = (id - least) / step;
    *count = tasks;
    return UC_OK;
}

/**
 * Of an srun, from 0. A batch script has SLURM_PROCID and SLURM_NTASKS too,
 * but runs once; only a step's tasks are many.
 */
static enum uc_status step_task(int64_t *index, int64_t *count,
                                struct uc_error *err)
{
    int64_t task = variable("SLURM_PROCID");
    int64_t tasks = variable("SLURM_STEP_NUM_TASKS");

    if (getenv("SLURM_STEP_ID") == NULL)
        return UC_OK;
    if (tasks < 0)
        tasks = variable("SLURM_NTASKS");
    if (task < 0 || task >= tasks)
        return uc_fail(err, UC_EINPUT,
                       "SLURM_PROCID is not one of SLURM_STEP_NUM_TASKS; say "
                       "which share with --shard");
    *index = task;
    *count = tasks;
    return UC_OK;
}

enum uc_status uc_shard_slurm(struct uc_shard *shard, struct uc_error *err)
{
    int64_t array = 0, arrays = 1, task = 0, tasks = 1;
    enum uc_status status = array_task(&array, &arrays, err);

    if (status == UC_OK)
        status = step_task(&task, &tasks, err);
    if (status == UC_OK && arrays > MOST_SHARDS / tasks)
        status = uc_fail(err, UC_EINPUT,
                         "%" PRId64 " tasks of %" PRId64 " each are too many",
                         arrays, tasks);
    if (status == UC_OK)
        *shard = (struct uc_shard){ 1 + array * tasks + task, arrays * tasks };
    return status;
}

/* ---------------------------------------------------------------- dealing */

/** A problem that some operations share. */
struct part {
    char text[UC_PROBLEM_TEXT];
    size_t first;  /**< the first of its operations */
    double cost;   /**< multiply-adds, and what any kernel takes */
    int64_t share; /**< from 1 */
};

/** Multiply-adds of the time that measuring takes without any. */
#define BASE_COST 7.5e9

/** The dearest first, so that the cheap ones even out; then by text. */
static int by_falling_cost(const void *left, const void *right)
{
    const struct part *a = left, *b = right;

    if (a->cost > b->cost || a->cost < b->cost)
        return a->cost > b->cost ? -1 : 1;
    return strcmp(a->text, b->text);
}

/** Where among the first `count` operations the problem is; or `count`. */
static size_t find(const struct uc_workload *work, size_t count,
                   const struct uc_problem *problem)
{
    size_t i = 0;

    while (i < count &&
           !uc_problem_equal(&work->operations[i].problem, problem))
        i++;
    return i;
}

/** The parts of a workload; returns how many. */
static size_t list_parts(const struct uc_workload *work, struct part *parts)
{
    size_t count = 0;

    for (size_t i = 0; i < work->operation_count; i++) {
        const struct uc_problem *problem = &work->operations[i].problem;
        int64_t images = 0;

        if (find(work, i, problem) < i)
            continue;
        for (size_t j = i; j < work->operation_count; j++)
            if (uc_problem_equal(&work->operations[j].problem, problem) &&
                work->batches[j] > images)
                images = work->batches[j];
        uc_problem_print(problem, parts[count].text);
        parts[count].first = i;
        parts[count++].cost = BASE_COST + uc_problem_macs(problem, images);
    }
    return count;
}

/** Each to the share that has least so far. */
static enum uc_status deal(struct part *parts, size_t count, int64_t shares,
                           struct uc_error *err)
{
    double *loads = calloc((size_t)shares, sizeof *loads);

    if (loads == NULL)
        return uc_no_memory(err);
    if (count > 0)
        qsort(parts, count, sizeof *parts, by_falling_cost);
    for (size_t i = 0; i < count; i++) {
        int64_t least = 0;

        for (int64_t s = 1; s < shares; s++)
            if (loads[s] < loads[least])
                least = s;
        loads[least] += parts[i].cost;
        parts[i].share = least + 1;
    }
    free(loads);
    return UC_OK;
}

static bool is_kept(const struct part *parts, size_t count, size_t first,
                    int64_t share)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].first == first)
            return parts[i].share == share;
    return false;
}

enum uc_status uc_shard_keep(const struct uc_shard *shard,
                             struct uc_workload *work, size_t problems[2],
                             struct uc_error *err)
{
    struct part *parts = calloc(work->operation_count + 1, sizeof *parts);
    bool *keep = calloc(work->operation_count + 1, sizeof *keep);
    size_t count = 0, kept = 0;
    enum uc_status status;

    status = parts == NULL || keep == NULL ? uc_no_memory(err) : UC_OK;
    if (status == UC_OK) {
        count = list_parts(work, parts);
        status = deal(parts, count, shard->count, err);
    }
    if (status == UC_OK) {
        problems[0] = count;
        problems[1] = 0;
        for (size_t i = 0; i < work->operation_count; i++)
            keep[i] = is_kept(parts, count,
                              find(work, i, &work->operations[i].problem),
                              shard->index);
        for (size_t i = 0; i < count; i++)
            problems[1] += parts[i].share == shard->index;
        for (size_t i = 0; i < work->operation_count; i++)
            if (keep[i]) {
                work->operations[kept] = work->operations[i];
                work->batches[kept++] = work->batches[i];
            }
        work->operation_count = kept;
    }
    free(keep);
    free(parts);
    return status;
}
