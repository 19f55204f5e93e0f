#include "config.h"

#include "planner/compact.h"

#include "planner/candidates.h"
#include "planner/prune.h"

#include <stdlib.h>
#include <string.h>

/** The rows of one micro-batch and beta case. */
struct group {
    const struct uc_problem *problem;
    struct uc_measurement *rows;
    size_t count;
    bool *dropped; /**< by row */
};

/** By one that any plan may have instead. What is as fast stays beside what
    has another spread, which decides what a division must gain. */
static bool is_beaten(const struct group *group, size_t index)
{
    const struct uc_measurement *one = &group->rows[index];

    for (size_t i = 0; i < group->count; i++) {
        const struct uc_measurement *other = &group->rows[i];
        bool equal = other->time_ns == one->time_ns &&
                     other->workspace_bytes == one->workspace_bytes;

        if (i == index || other->outcome != UC_MEASURED ||
            !uc_candidate_keeps_math(group->problem, other) ||
            other->time_ns > one->time_ns ||
            other->workspace_bytes > one->workspace_bytes ||
            (other->time_ns == one->time_ns &&
             other->spread_ns != one->spread_ns) ||
            !uc_prune_stands_for(other, one))
            continue;
        /* Of two that stand for each other the first stays. */
        if (!equal || i < index || !uc_prune_stands_for(one, other))
            return true;
    }
    return false;
}

static bool is_needed(const struct group *group, size_t index)
{
    switch (group->rows[index].outcome) {
    case UC_MEASURED:
        return !is_beaten(group, index);
    case UC_CUT_OFF:
    case UC_UNSUPPORTED:
        return false;
    default:
        return true;
    }
}

/** Every legacy kernel has its row, so that a record may say so. */
static bool has_all_legacy(const struct group *group)
{
    struct uc_kernel kernels[UC_LEGACY_KERNELS];
    size_t wanted = uc_legacy_kernels(group->problem, kernels), found = 0;

    for (size_t k = 0; k < wanted; k++)
        for (size_t i = 0; i < group->count; i++)
            found += uc_kernel_equal(&group->rows[i].kernel, &kernels[k]);
    return found == wanted;
}

/** What is found out about the legacy API's kernels by their rows. */
static struct uc_search legacy_search(const struct group *group)
{
    struct uc_search search = { .api = UC_API_LEGACY,
                                .micro_batch = group->rows[0].micro_batch,
                                .accumulate = group->rows[0].accumulate };

    for (size_t i = 0; i < group->count; i++) {
        const struct uc_measurement *row = &group->rows[i];

        if (row->kernel.api != UC_API_LEGACY)
            continue;
        search.found += row->outcome != UC_UNSUPPORTED;
        if (row->measured_at > search.searched_at)
            search.searched_at = row->measured_at;
    }
    return search;
}

/**
 * Drop what is not needed of one API. All that its search found and that has
 * no row then is left out, whether here, by an earlier compacting or by the
 * benchmark.
 */
static void drop(struct group *group, enum uc_api api, struct uc_search *search)
{
    int64_t kept = 0, there = 0;
    bool any = false;

    for (size_t i = 0; i < group->count; i++) {
        if (group->rows[i].kernel.api != api)
            continue;
        group->dropped[i] = !is_needed(group, i);
        any = any || group->dropped[i];
        kept += !group->dropped[i];
        there += group->rows[i].outcome != UC_UNSUPPORTED;
    }
    /* Other searches may have found more than the one on record. */
    if (search->found < there)
        search->found = there;
    if (any)
        search->pruned = search->found > kept ? search->found - kept : 0;
}

/** `list` has room for one more search. */
static void compact_group(struct group *group, struct uc_search *list,
                          size_t *count)
{
    const struct uc_measurement *row = &group->rows[0];
    struct uc_search *search = uc_search_find(
        list, *count, UC_API_LEGACY, row->micro_batch, row->accumulate);

    if (search == NULL && has_all_legacy(group)) {
        search = &list[(*count)++];
        *search = legacy_search(group);
    }
    if (search != NULL)
        drop(group, UC_API_LEGACY, search);
    search = uc_search_find(list, *count, UC_API_GRAPH, row->micro_batch,
                            row->accumulate);
    if (search != NULL)
        drop(group, UC_API_GRAPH, search);
}

static bool same_group(const struct uc_measurement *a,
                       const struct uc_measurement *b)
{
    return a->micro_batch == b->micro_batch && a->accumulate == b->accumulate;
}

enum uc_status uc_compact(const struct uc_problem *problem,
                          struct uc_measurement *rows, size_t *count,
                          struct uc_search **searches, size_t *search_count,
                          struct uc_error *err)
{
    bool *dropped = calloc(*count + 1, sizeof *dropped);
    struct uc_search *list =
        malloc((*search_count + *count + 1) * sizeof *list);
    size_t kept = 0, end;

    if (dropped == NULL || list == NULL) {
        free(dropped);
        free(list);
        return uc_no_memory(err);
    }
    if (*search_count > 0)
        memcpy(list, *searches, *search_count * sizeof *list);
    /* Rows of version 1 may lack notes of legacy kernels. */
    for (size_t i = 0; i < *count; i++)
        rows[i].notes |= uc_legacy_notes(&rows[i].kernel, problem->operation);
    for (size_t i = 0; i < *count; i = end) {
        struct group group = { problem, rows + i, 0, dropped + i };

        for (end = i; end < *count && same_group(&rows[i], &rows[end]); end++)
            group.count++;
        compact_group(&group, list, search_count);
    }
    for (size_t i = 0; i < *count; i++)
        if (!dropped[i]) {
            rows[kept] = rows[i];
            rows[kept].samples = 0;
            memset(rows[kept].sample_ns, 0, sizeof rows[kept].sample_ns);
            kept++;
        }
    *count = kept;
    free(dropped);
    free(*searches);
    *searches = list;
    return UC_OK;
}
