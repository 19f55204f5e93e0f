#include "config.h"

#include "planner/merge_search.h"

#include <stdlib.h>

static int rising(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/** The one that left out least first, then what was tuned, then the one that
    found most. */
static int search_order(const struct uc_search *a, const struct uc_search *b)
{
    const int orders[] = {
        rising(__builtin_popcount(a->left_out),
               __builtin_popcount(b->left_out)),
        rising(b->tuned, a->tuned),
        rising(__builtin_popcount(a->tune_left_out),
               __builtin_popcount(b->tune_left_out)),
        rising(a->pruned, b->pruned),
        rising(b->found, a->found),
        rising(b->searched_at, a->searched_at),
        rising(a->left_out, b->left_out),
        rising(a->tune_left_out, b->tune_left_out),
    };

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (orders[i] != 0)
            return orders[i];
    return 0;
}

/** Stored unless the result has a better one of the same key. */
static enum uc_status merge_search(struct uc_profile *out, int64_t env,
                                   const struct uc_problem *problem,
                                   const struct uc_search *search,
                                   struct uc_error *err)
{
    struct uc_search *stored = NULL;
    const struct uc_search *other;
    size_t count = 0;
    enum uc_status status =
        uc_profile_load_searches(out, env, problem, &stored, &count, err);

    if (status != UC_OK)
        return status;
    other = uc_search_find(stored, count, search->api, search->micro_batch,
                           search->accumulate);
    if (other == NULL || search_order(search, other) < 0)
        status = uc_profile_store_search(out, env, problem, search, err);
    free(stored);
    return status;
}

enum uc_status uc_merge_searches(struct uc_profile *out, int64_t env,
                                 struct uc_profile *in, int64_t from,
                                 const struct uc_problem *problem,
                                 struct uc_error *err)
{
    struct uc_search *list = NULL;
    size_t count = 0;
    enum uc_status status =
        uc_profile_load_searches(in, from, problem, &list, &count, err);

    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = merge_search(out, env, problem, &list[i], err);
    free(list);
    return status;
}

/** That a search is not tuned, if it is on record. */
static enum uc_status withdraw_tuned(struct uc_profile *out, int64_t env,
                                     const struct uc_problem *problem,
                                     const struct uc_measurement *row,
                                     struct uc_error *err)
{
    struct uc_search *list = NULL, *search;
    size_t count = 0;
    enum uc_status status =
        uc_profile_load_searches(out, env, problem, &list, &count, err);

    if (status != UC_OK)
        return status;
    search = uc_search_find(list, count, row->kernel.api, row->micro_batch,
                            row->accumulate);
    if (search != NULL && search->tuned) {
        search->tuned = false;
        search->tune_left_out = 0;
        status = uc_profile_store_search(out, env, problem, search, err);
    }
    free(list);
    return status;
}

enum uc_status uc_merge_check_tuned(struct uc_profile *out, int64_t env,
                                    const struct uc_problem *problem,
                                    const struct uc_measurement *rows,
                                    size_t count, struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = 1; i < count && status == UC_OK; i++)
        if (uc_measurement_order(&rows[i - 1], &rows[i]) == 0 &&
            (rows[i - 1].time_ns > 0) != (rows[i].time_ns > 0))
            status = withdraw_tuned(out, env, problem, &rows[i], err);
    return status;
}
