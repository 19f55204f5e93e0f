#include "config.h"

#include "planner/coverage.h"

#include "common/array.h"
#include "planner/work.h"

#include <stdlib.h>

/** A micro-batch of a problem, and whether all is measured of it: as the
 * whole batch, and as a part of a larger one. */
struct size {
    int64_t micro_batch;
    bool whole, part;
};

/** What the profile has of one problem. */
struct known {
    struct size *list; /**< ascending; owned */
    size_t count;
    bool searched; /**< for graph engines, at any size */
};

static enum uc_status is_complete(const struct uc_problem *problem,
                                  int64_t micro_batch, bool accumulates,
                                  const struct uc_work_known *known,
                                  bool *complete, struct uc_error *err)
{
    const struct uc_work_options options = { .apis = 1u << UC_API_LEGACY,
                                             .max_workspace_bytes = -1 };
    const struct uc_work_size size = { .micro_batch = micro_batch,
                                       .accumulates = accumulates };
    struct uc_work_gap gap;
    enum uc_status status =
        uc_work_gap(problem, &size, &options, known, &gap, err);

    if (status != UC_OK)
        return status;
    *complete = gap.kernel_count == 0;
    uc_work_gap_free(&gap);
    return UC_OK;
}

/** The sizes that have rows, judged. */
static enum uc_status judge_sizes(const struct uc_problem *problem,
                                  const struct uc_work_known *rows,
                                  struct known *known, struct uc_error *err)
{
    bool accumulates = problem->operation == UC_BACKWARD_FILTER;
    enum uc_status status = UC_OK;
    void *list = NULL;

    for (size_t i = 0; i < rows->row_count && status == UC_OK; i++) {
        int64_t micro_batch = rows->rows[i].micro_batch;
        struct size *size;

        if (i > 0 && micro_batch == rows->rows[i - 1].micro_batch)
            continue;
        size = uc_array_append(&list, &known->count, sizeof *size);
        if (size == NULL) {
            status = uc_no_memory(err);
            break;
        }
        size->micro_batch = micro_batch;
        status =
            is_complete(problem, micro_batch, false, rows, &size->whole, err);
        size->part = size->whole;
        if (status == UC_OK && accumulates)
            status =
                is_complete(problem, micro_batch, true, rows, &size->part, err);
    }
    known->list = list;
    return status;
}

static enum uc_status read_known(struct uc_profile *profile, int64_t env,
                                 const struct uc_problem *problem,
                                 struct known *known, struct uc_error *err)
{
    struct uc_measurement *rows = NULL;
    struct uc_search *searches = NULL;
    size_t row_count = 0, search_count = 0;
    enum uc_status status =
        uc_profile_load(profile, env, problem, &rows, &row_count, err);

    if (status == UC_OK && row_count > 0)
        status = uc_profile_load_searches(profile, env, problem, &searches,
                                          &search_count, err);
    for (size_t i = 0; i < search_count; i++)
        known->searched |= searches[i].api == UC_API_GRAPH;
    if (status == UC_OK)
        status = judge_sizes(
            problem,
            &(struct uc_work_known){ rows, row_count, searches, search_count },
            known, err);
    free(rows);
    free(searches);
    return status;
}

static int by_size(const void *a, const void *b)
{
    int64_t left = ((const struct size *)a)->micro_batch;
    int64_t right = ((const struct size *)b)->micro_batch;

    return (left > right) - (left < right);
}

static const struct size *find(const struct known *known, int64_t micro_batch)
{
    const struct size key = { .micro_batch = micro_batch };

    return known->count == 0
               ? NULL
               : bsearch(&key, known->list, known->count, sizeof key, by_size);
}

/** Whether the problem can be planned at this batch. */
static enum uc_status can_plan(const struct uc_problem *problem, int64_t batch,
                               const struct known *known,
                               const struct uc_policy *policy, bool *can,
                               struct uc_error *err)
{
    int64_t *sizes = NULL;
    size_t count = 0;
    enum uc_status status;

    *can = false;
    if (find(known, batch) == NULL)
        return UC_OK;
    status = uc_policy_sizes(policy, batch, &sizes, &count, err);
    if (status != UC_OK)
        return status;
    *can = true;
    for (size_t i = 0; i < count && *can; i++) {
        const struct size *size = find(known, sizes[i]);

        if (sizes[i] < batch && !uc_problem_splits_at(problem, sizes[i]))
            continue;
        *can = size != NULL && (sizes[i] < batch ? size->part : size->whole);
    }
    free(sizes);
    return UC_OK;
}

static enum uc_status add_sizes(const struct known *known,
                                struct uc_coverage *coverage,
                                struct uc_error *err)
{
    for (size_t i = 0; i < known->count; i++) {
        int64_t *batch = uc_array_append(&coverage->batches,
                                         &coverage->batch_count, sizeof *batch);

        if (batch == NULL)
            return uc_no_memory(err);
        *batch = known->list[i].micro_batch;
    }
    return UC_OK;
}

/** Of the batches so far (of every size, for the first problem), keep those
 * that this problem can be planned at, too. */
static enum uc_status narrow(struct uc_profile *profile, int64_t env,
                             const struct uc_problem *problem,
                             const struct uc_policy *policy,
                             struct uc_coverage *coverage, struct uc_error *err)
{
    struct known known = { .list = NULL };
    size_t kept = 0;
    enum uc_status status = read_known(profile, env, problem, &known, err);
    int64_t *batches;

    if (status == UC_OK && coverage->problems == 0)
        status = add_sizes(&known, coverage, err);
    batches = coverage->batches;
    for (size_t i = 0; i < coverage->batch_count && status == UC_OK; i++) {
        bool can;

        status = can_plan(problem, batches[i], &known, policy, &can, err);
        if (status == UC_OK && can)
            batches[kept++] = batches[i];
    }
    coverage->batch_count = kept;
    coverage->problems++;
    coverage->unsearched += !known.searched;
    free(known.list);
    return status;
}

enum uc_status uc_coverage_of(struct uc_profile *profile, int64_t env,
                              const struct uc_network_operation *operations,
                              size_t count, const struct uc_policy *policy,
                              struct uc_coverage *coverage,
                              struct uc_error *err)
{
    struct uc_coverage made = { .batches = NULL };
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        if (uc_work_is_repeated(operations, i))
            continue;
        status =
            narrow(profile, env, &operations[i].problem, policy, &made, err);
        if (made.batch_count == 0)
            break;
    }
    if (status != UC_OK) {
        free(made.batches);
        return status;
    }
    *coverage = made;
    return UC_OK;
}
