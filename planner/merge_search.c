#include "config.h"

#include "planner/merge_search.h"

#include "planner/prune.h"

#include <stdlib.h>
#include <string.h>

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

/** By key, the better one first. */
static int by_key_and_order(const void *left, const void *right)
{
    const struct uc_search *a = left, *b = right;
    const int orders[] = {
        rising(a->api, b->api),
        rising(a->micro_batch, b->micro_batch),
        rising(a->accumulate, b->accumulate),
        search_order(a, b),
    };

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (orders[i] != 0)
            return orders[i];
    return 0;
}

static bool is_tuned(const struct uc_merge_part *part,
                     const struct uc_search *like)
{
    const struct uc_search *search =
        uc_search_find(part->searches, part->search_count, like->api,
                       like->micro_batch, like->accumulate);

    return search != NULL && search->tuned;
}

/** Whether a row is of the engines that a record is about, and has a time that
    tuning begins with. */
static bool is_timed(const struct uc_measurement *row,
                     const struct uc_search *search)
{
    return row->kernel.api == search->api && row->outcome == UC_MEASURED &&
           row->micro_batch == search->micro_batch &&
           row->accumulate == search->accumulate &&
           (row->notes & search->tune_left_out) == 0;
}

/** Whether a part that was tuned has a time of the row's kernel or, where
    `merge --compact` has left it out, of one that is at least as good. */
static bool was_there(const struct uc_merge_part *parts, size_t count,
                      const struct uc_search *search,
                      const struct uc_measurement *row)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_tuned(&parts[i], search))
            continue;
        for (size_t j = 0; j < parts[i].row_count; j++) {
            const struct uc_measurement *known = &parts[i].rows[j];

            if (known->time_ns > 0 && uc_measurement_order(known, row) == 0)
                return true;
            if (is_timed(known, search) && known->time_ns <= row->time_ns &&
                known->workspace_bytes <= row->workspace_bytes &&
                uc_prune_stands_for(known, row))
                return true;
        }
    }
    return false;
}

/** Whether tuning, as the record tells of it, knew all that has a time. */
static bool knew_all(const struct uc_merge_part *parts, size_t count,
                     const struct uc_search *search)
{
    for (size_t i = 0; i < count; i++) {
        if (is_tuned(&parts[i], search))
            continue;
        for (size_t j = 0; j < parts[i].row_count; j++) {
            const struct uc_measurement *row = &parts[i].rows[j];

            if (is_timed(row, search) && !was_there(parts, count, search, row))
                return false;
        }
    }
    return true;
}

enum uc_status uc_merge_searches(const struct uc_merge_part *parts,
                                 size_t count, struct uc_search **list,
                                 size_t *list_count, struct uc_error *err)
{
    size_t all = 0, kept = 0;
    struct uc_search *searches;

    *list = NULL;
    *list_count = 0;
    for (size_t i = 0; i < count; i++)
        all += parts[i].search_count;
    if (all == 0)
        return UC_OK;
    searches = calloc(all, sizeof *searches);
    if (searches == NULL)
        return uc_no_memory(err);
    all = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].search_count > 0)
            memcpy(searches + all, parts[i].searches,
                   parts[i].search_count * sizeof *searches);
        all += parts[i].search_count;
    }
    qsort(searches, all, sizeof *searches, by_key_and_order);
    for (size_t i = 0; i < all; i++) {
        struct uc_search *search = &searches[i];

        if (uc_search_find(searches, kept, search->api, search->micro_batch,
                           search->accumulate) != NULL)
            continue;
        if (search->tuned && !knew_all(parts, count, search)) {
            search->tuned = false;
            search->tune_left_out = 0;
        }
        searches[kept++] = *search;
    }
    *list = searches;
    *list_count = kept;
    return UC_OK;
}
