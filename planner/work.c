#include "config.h"

#include "planner/work.h"

#include <stdlib.h>
#include <string.h>

/** A growing list. */
struct works {
    struct uc_work *list;
    size_t count, room;
};

static enum uc_status append(struct works *works, const struct uc_work *work,
                             struct uc_error *err)
{
    if (works->count == works->room) {
        size_t room = works->room == 0 ? 64 : 2 * works->room;
        struct uc_work *list = realloc(works->list, room * sizeof *list);

        if (list == NULL)
            return uc_no_memory(err);
        works->list = list;
        works->room = room;
    }
    works->list[works->count++] = *work;
    return UC_OK;
}

static void want(struct uc_work *work, const struct uc_kernel *kernel,
                 bool accumulate)
{
    for (size_t i = 0; i < work->kernel_count; i++)
        if (work->kernels[i].accumulate == accumulate &&
            uc_kernel_equal(&work->kernels[i].kernel, kernel))
            return;
    work->kernels[work->kernel_count++] =
        (struct uc_work_kernel){ *kernel, accumulate };
}

/** Every kernel of a problem at one size; those of beta 0 first. */
static void want_all(struct uc_work *work, bool accumulate)
{
    struct uc_kernel kernels[UC_LEGACY_KERNELS];
    size_t count = uc_legacy_kernels(&work->problem, kernels);

    for (size_t i = 0; i < count; i++)
        want(work, &kernels[i], accumulate);
}

static void drop_present(struct uc_work *work,
                         const struct uc_measurement *rows, size_t count,
                         int64_t max_workspace_bytes)
{
    size_t kept = 0;

    for (size_t i = 0; i < work->kernel_count; i++) {
        const struct uc_work_kernel *k = &work->kernels[i];
        bool present = false;

        for (size_t j = 0; j < count && !present; j++)
            present = rows[j].micro_batch == work->micro_batch &&
                      rows[j].accumulate == k->accumulate &&
                      uc_kernel_equal(&rows[j].kernel, &k->kernel) &&
                      (rows[j].outcome != UC_TOO_LARGE ||
                       rows[j].workspace_bytes > max_workspace_bytes);
        if (!present)
            work->kernels[kept++] = *k;
    }
    work->kernel_count = kept;
}

/** The work of `size` among the sorted ones in [from, to), all of one
    problem. */
static struct uc_work *find_size(const struct works *works, size_t from,
                                 size_t to, int64_t size)
{
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int64_t there = works->list[middle].micro_batch;

        if (there == size)
            return &works->list[middle];
        if (there > size)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

static int by_falling_size(const void *a, const void *b)
{
    const struct uc_work *left = a, *right = b;

    return (left->micro_batch < right->micro_batch) -
           (left->micro_batch > right->micro_batch);
}

static void sort(struct works *works, size_t from)
{
    if (works->count > from)
        qsort(works->list + from, works->count - from, sizeof *works->list,
              by_falling_size);
}

/** What one batch of a problem needs, on top of what is there. */
static enum uc_status add_batch(struct works *works, size_t from,
                                const struct uc_problem *problem, int64_t batch,
                                const struct uc_policy *policy,
                                struct uc_error *err)
{
    int64_t *sizes = NULL;
    size_t count, sorted = works->count;
    enum uc_status status = uc_policy_sizes(policy, batch, &sizes, &count, err);

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        struct uc_work *work = find_size(works, from, sorted, sizes[i]);
        struct uc_work fresh = { .problem = *problem, .micro_batch = sizes[i] };

        if (sizes[i] < batch && !uc_problem_splits_at(problem, sizes[i]))
            continue;
        if (work == NULL) {
            status = append(works, &fresh, err);
            if (status != UC_OK)
                break;
            work = &works->list[works->count - 1];
        }
        want_all(work, false);
        if (problem->operation == UC_BACKWARD_FILTER && sizes[i] < batch)
            want_all(work, true);
    }
    free(sizes);
    sort(works, from);
    return status;
}

static bool seen_before(const struct uc_network_operation *operations,
                        size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (uc_problem_equal(&operations[i].problem,
                             &operations[index].problem))
            return true;
    return false;
}

/** All batches of one problem, less what the profile has. */
static enum uc_status add_problem(struct works *works,
                                  struct uc_profile *profile, int64_t env,
                                  const struct uc_network_operation *operations,
                                  const int64_t *batches, size_t count,
                                  size_t index, const struct uc_policy *policy,
                                  int64_t max_workspace_bytes,
                                  struct uc_error *err)
{
    const struct uc_problem *problem = &operations[index].problem;
    struct uc_measurement *rows = NULL;
    size_t row_count = 0, from = works->count, kept;
    enum uc_status status = UC_OK;

    for (size_t i = index; i < count && status == UC_OK; i++)
        if (uc_problem_equal(&operations[i].problem, problem))
            status = add_batch(works, from, problem, batches[i], policy, err);
    if (status == UC_OK && profile != NULL && env >= 0)
        status = uc_profile_load(profile, env, problem, &rows, &row_count, err);
    if (status != UC_OK)
        return status;
    kept = from;
    for (size_t i = from; i < works->count; i++) {
        drop_present(&works->list[i], rows, row_count, max_workspace_bytes);
        if (works->list[i].kernel_count > 0)
            works->list[kept++] = works->list[i];
    }
    works->count = kept;
    free(rows);
    return UC_OK;
}

enum uc_status uc_work_list(struct uc_profile *profile, int64_t env,
                            const struct uc_network_operation *operations,
                            const int64_t *batches, size_t count,
                            const struct uc_policy *policy, bool remeasure,
                            int64_t max_workspace_bytes, struct uc_work **list,
                            size_t *list_count, struct uc_error *err)
{
    struct works works = { NULL, 0, 0 };
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++)
        if (!seen_before(operations, i))
            status = add_problem(&works, remeasure ? NULL : profile, env,
                                 operations, batches, count, i, policy,
                                 max_workspace_bytes, err);
    if (status != UC_OK) {
        free(works.list);
        return status;
    }
    *list = works.list;
    *list_count = works.count;
    return UC_OK;
}
