#include "config.h"

#include "planner/candidates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/** The sizes that may be part of a division of the batch. */
static void keep_sliceable(const struct uc_problem *problem, int64_t batch,
                           int64_t *sizes, size_t *count)
{
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++)
        if (sizes[i] == batch || uc_problem_splits_at(problem, sizes[i]))
            sizes[kept++] = sizes[i];
    *count = kept;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

bool uc_candidate_keeps_math(const struct uc_problem *problem,
                             const struct uc_measurement *row)
{
    const struct uc_kernel *kernel = &row->kernel;
    unsigned notes = row->notes | uc_legacy_notes(kernel, problem->operation);

    /* A graph kernel's math is in its notes only. */
    return (kernel->math == problem->math || kernel->math == UC_MATH_FMA) &&
           uc_notes_keep_math(notes, problem);
}

/** Why a plan may not use a kernel that works; UC_REFUSALS: it may. */
static enum uc_refusal judge(const struct uc_problem *problem,
                             const struct uc_candidate_filter *filter,
                             const struct uc_measurement *row)
{
    const struct uc_kernel *kernel = &row->kernel;
    unsigned notes = row->notes | uc_legacy_notes(kernel, problem->operation);

    if (filter->apis != 0 && (filter->apis & 1u << kernel->api) == 0)
        return UC_REFUSED_API;
    if (!uc_candidate_keeps_math(problem, row))
        return UC_REFUSED_MATH;
    if ((notes & UC_NOTE_DOWN_CONVERT & ~filter->allow) != 0)
        return UC_REFUSED_DOWN_CONVERT;
    if ((notes & UC_NOTE_REDUCED_PRECISION & ~filter->allow) != 0)
        return UC_REFUSED_REDUCED_PRECISION;
    if (filter->deterministic && (notes & UC_NOTE_NONDETERMINISTIC) != 0)
        return UC_REFUSED_NONDETERMINISTIC;
    if (filter->no_runtime_compiled && (notes & UC_NOTE_RUNTIME_COMPILED) != 0)
        return UC_REFUSED_RUNTIME_COMPILED;
    return UC_REFUSALS;
}

/** Whether a plan may use the row; counts why not. */
static bool usable(const struct uc_problem *problem,
                   const struct uc_candidate_filter *filter,
                   const struct uc_measurement *row,
                   struct uc_candidate_counts *counts)
{
    enum uc_refusal refusal;

    counts->outcomes[row->outcome]++;
    if (row->outcome != UC_MEASURED)
        return false;
    refusal = judge(problem, filter, row);
    if (refusal == UC_REFUSALS)
        counts->usable++;
    else
        counts->refused[refusal]++;
    return refusal == UC_REFUSALS;
}

enum uc_status uc_candidate_rows_build(
    const struct uc_problem *problem, int64_t batch,
    const struct uc_policy *policy, const struct uc_candidate_filter *filter,
    const struct uc_measurement *rows, size_t row_count,
    struct uc_candidate_rows *out, struct uc_error *err)
{
    bool accumulates = problem->operation == UC_BACKWARD_FILTER;
    struct uc_candidate_rows result = { .candidates = { .batch = batch } };
    struct uc_micro *micros[2]; /* of beta 0 and of beta 1 */
    size_t counts[2] = { 0, 0 }, size_count;
    int64_t *sizes;
    enum uc_status status =
        uc_policy_sizes(policy, batch, &sizes, &size_count, err);

    if (status != UC_OK)
        return status;
    keep_sliceable(problem, batch, sizes, &size_count);
    micros[0] = malloc((row_count + 1) * sizeof **micros);
    micros[1] = accumulates ? malloc((row_count + 1) * sizeof **micros) : NULL;
    if (micros[0] == NULL || (accumulates && micros[1] == NULL)) {
        free(micros[0]);
        free(micros[1]);
        free(sizes);
        return uc_no_memory(err);
    }
    for (size_t i = 0; i < row_count; i++) {
        const struct uc_measurement *row = &rows[i];

        if ((row->accumulate && !accumulates) ||
            bsearch(&row->micro_batch, sizes, size_count, sizeof *sizes,
                    ascending) == NULL ||
            !usable(problem, filter, row, &result.counts))
            continue;
        micros[row->accumulate][counts[row->accumulate]++] =
            (struct uc_micro){ .size = row->micro_batch,
                               .workspace_bytes = row->workspace_bytes,
                               .time_ns = row->time_ns,
                               .spread_ns = row->spread_ns,
                               .kernel = (int)i };
    }
    free(sizes);
    result.candidates.first = micros[0];
    result.candidates.first_count = counts[0];
    result.candidates.rest = micros[accumulates];
    result.candidates.rest_count = counts[accumulates];
    *out = result;
    return UC_OK;
}

void uc_candidate_rows_free(struct uc_candidate_rows *rows)
{
    if (rows == NULL)
        return;
    if (rows->candidates.rest != rows->candidates.first)
        free((void *)rows->candidates.rest);
    free((void *)rows->candidates.first);
    rows->candidates = (struct uc_candidates){ 0 };
}

struct reason {
    char *text;
    size_t used;
    const char *separator;
};

/** Append "N what" to the list. */
static void tell(struct reason *reason, int64_t count, const char *what)
{
    size_t room = UC_CANDIDATE_REASON - reason->used;
    int length;

    if (count == 0)
        return;
    length = snprintf(reason->text + reason->used, room, "%s%" PRId64 " %s",
                      reason->separator, count, what);
    if (length > 0)
        reason->used += (size_t)length < room ? (size_t)length : room - 1;
    reason->separator = ", ";
}

/** The heart of it, before the numbers. */
static const char *cause(const struct uc_candidate_counts *counts)
{
    int64_t refused = 0;

    for (int i = 0; i < UC_REFUSALS; i++)
        refused += counts->refused[i];
    if (counts->usable > 0)
        return "no sizes of usable kernels add up to the batch";
    if (refused > 0 && refused == counts->refused[UC_REFUSED_NONDETERMINISTIC])
        return "no kernel that works is deterministic";
    if (refused > 0)
        return "no kernel that works is allowed";
    for (int i = 0; i < UC_OUTCOMES; i++)
        if (counts->outcomes[i] > 0)
            return "no kernel works";
    return "nothing was measured";
}

void uc_candidate_reason(const struct uc_candidate_counts *counts,
                         char text[UC_CANDIDATE_REASON])
{
    static const char *const refusals[UC_REFUSALS] = {
        [UC_REFUSED_NONDETERMINISTIC] = "nondeterministic",
        [UC_REFUSED_DOWN_CONVERT] = "down-convert",
        [UC_REFUSED_REDUCED_PRECISION] = "reduced-precision",
        [UC_REFUSED_RUNTIME_COMPILED] = "runtime-compiled",
        [UC_REFUSED_MATH] = "of weaker math",
        [UC_REFUSED_API] = "of the other API",
    };
    struct reason reason = { .text = text, .separator = ": " };

    reason.used =
        (size_t)snprintf(text, UC_CANDIDATE_REASON, "%s", cause(counts));
    tell(&reason, counts->usable, "usable");
    for (int i = 0; i < UC_REFUSALS; i++)
        tell(&reason, counts->refused[i], refusals[i]);
    for (int i = UC_MEASURED + 1; i < UC_OUTCOMES; i++)
        tell(&reason, counts->outcomes[i], uc_outcome_name((enum uc_outcome)i));
}
