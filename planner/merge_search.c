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

enum uc_status uc_merge_searches(struct uc_profile *out, int64_t env,
                                 struct uc_profile *in, int64_t from,
                                 const struct uc_problem *problem,
                                 struct uc_error *err)
{
    struct uc_search *list = NULL, *stored = NULL;
    size_t count = 0, stored_count = 0;
    enum uc_status status =
        uc_profile_load_searches(in, from, problem, &list, &count, err);

    if (status == UC_OK)
        status = uc_profile_load_searches(out, env, problem, &stored,
                                          &stored_count, err);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        const struct uc_search *other =
            uc_search_find(stored, stored_count, list[i].api,
                           list[i].micro_batch, list[i].accumulate);

        if (other == NULL || search_order(&list[i], other) < 0)
            status = uc_profile_store_search(out, env, problem, &list[i], err);
    }
    free(stored);
    free(list);
    return status;
}

enum uc_status uc_merge_check_tuned(struct uc_profile *out, int64_t env,
                                    const struct uc_problem *problem,
                                    const struct uc_measurement *rows,
                                    size_t count, struct uc_error *err)
{
    struct uc_search *list = NULL;
    size_t searches = 0;
    enum uc_status status =
        uc_profile_load_searches(out, env, problem, &list, &searches, err);

    for (size_t i = 1; i < count && status == UC_OK; i++) {
        struct uc_search *search;

        if (uc_measurement_order(&rows[i - 1], &rows[i]) != 0 ||
            (rows[i - 1].time_ns > 0) == (rows[i].time_ns > 0))
            continue;
        search = uc_search_find(list, searches, rows[i].kernel.api,
                                rows[i].micro_batch, rows[i].accumulate);
        if (search == NULL || !search->tuned)
            continue;
        search->tuned = false;
        search->tune_left_out = 0;
        status = uc_profile_store_search(out, env, problem, search, err);
    }
    free(list);
    return status;
}
