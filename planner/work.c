#include "config.h"

#include "planner/work.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

/* What one size lacks ----------------------------------------------------*/

unsigned uc_work_left_out(const struct uc_work_options *options)
{
    unsigned rounding = UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION;

    return (rounding & ~options->allow) |
           (options->no_runtime_compiled ? UC_NOTE_RUNTIME_COMPILED : 0u);
}

bool uc_work_admits(const struct uc_problem *problem,
                    const struct uc_work_options *options, unsigned notes)
{
    return uc_notes_keep_math(notes, problem) &&
           (notes & uc_work_left_out(options)) == 0;
}

/** The first row whose micro-batch is at least this. */
static size_t first_row(const struct uc_work_known *known, int64_t micro_batch)
{
    size_t from = 0, to = known->row_count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (known->rows[middle].micro_batch < micro_batch)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/** The record of a search for the API's kernels that covers these options;
    NULL: none. */
static const struct uc_search *find_search(
    const struct uc_work_known *known, const struct uc_work_options *options,
    enum uc_api api, int64_t micro_batch, bool accumulate)
{
    const struct uc_search *s = uc_search_find(
        known->searches, known->search_count, api, micro_batch, accumulate);

    return s != NULL && (s->pruned == 0 || !options->exhaustive) &&
                   (s->left_out & ~uc_work_left_out(options)) == 0
               ? s
               : NULL;
}

static bool is_tuned(const struct uc_search *search,
                     const struct uc_work_options *options)
{
    return search != NULL && search->tuned &&
           (search->tune_left_out & ~uc_work_left_out(options)) == 0;
}

/** What was too large once may fit today. */
static bool is_to_be_tried_again(const struct uc_measurement *row,
                                 const struct uc_work_options *options)
{
    return row->outcome == UC_TOO_LARGE &&
           row->workspace_bytes <= options->max_workspace_bytes;
}

enum uc_status uc_work_append(struct uc_work_kernel **list, size_t *count,
                              const struct uc_work_kernel *kernel,
                              struct uc_error *err)
{
    void *kernels = *list;
    struct uc_work_kernel *entry =
        uc_array_append(&kernels, count, sizeof *entry);

    if (entry == NULL)
        return uc_no_memory(err);
    *list = kernels;
    *entry = *kernel;
    return UC_OK;
}

static enum uc_status add_legacy(const struct uc_problem *problem,
                                 int64_t micro_batch, bool accumulate,
                                 const struct uc_work_options *options,
                                 const struct uc_work_known *known,
                                 struct uc_work_kernel **list,
                                 size_t *list_count, struct uc_error *err)
{
    struct uc_kernel kernels[UC_LEGACY_KERNELS];
    size_t count = uc_legacy_kernels(problem, kernels);
    bool searched = find_search(known, options, UC_API_LEGACY, micro_batch,
                                accumulate) != NULL;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        const struct uc_measurement *row =
            uc_measurement_find(known->rows, known->row_count, micro_batch,
                                accumulate, &kernels[i]);
        const struct uc_work_kernel kernel = {
            .kernel = kernels[i],
            .accumulate = accumulate,
            .notes = uc_legacy_notes(&kernels[i], problem->operation)
        };

        if (row == NULL ? !searched : is_to_be_tried_again(row, options))
            status = uc_work_append(list, list_count, &kernel, err);
    }
    return status;
}

/** Whether it counts as missing though it is there. */
static bool is_missing_again(const struct uc_measurement *row,
                             const struct uc_work_options *options)
{
    if (!(options->apis & 1u << row->kernel.api))
        return false;
    if (options->refresh_before == 0)
        return row->kernel.api == UC_API_GRAPH &&
               is_to_be_tried_again(row, options);
    return row->measured_at < options->refresh_before &&
           row->workspace_bytes <= options->max_workspace_bytes;
}

/** Kernels that are known from their rows: engines that were too large, or in
    a refresh whatever is old. */
static enum uc_status add_rows(const struct uc_problem *problem,
                               bool accumulate,
                               const struct uc_work_options *options,
                               const struct uc_work_known *known,
                               struct uc_work_kernel **list, size_t *list_count,
                               struct uc_error *err)
{
    enum uc_status status = UC_OK;

    if (known->rows == NULL)
        return UC_OK;
    for (size_t i = 0; i < known->row_count && status == UC_OK; i++) {
        const struct uc_measurement *row = &known->rows[i];
        /* The row may be older than a note. */
        unsigned notes =
            row->notes | uc_legacy_notes(&row->kernel, problem->operation);
        const struct uc_work_kernel kernel = { row->kernel, accumulate, notes,
                                               row->workspace_bytes };

        if (row->accumulate == accumulate && is_missing_again(row, options) &&
            uc_work_admits(problem, options, notes) &&
            !uc_known_bad_reason(options->known_bad, options->cudnn, problem,
                                 &row->kernel))
            status = uc_work_append(list, list_count, &kernel, err);
    }
    return status;
}

enum uc_status uc_work_gap(const struct uc_problem *problem,
                           const struct uc_work_size *size,
                           const struct uc_work_options *options,
                           const struct uc_work_known *known,
                           struct uc_work_gap *gap, struct uc_error *err)
{
    size_t from = first_row(known, size->micro_batch);
    size_t to = first_row(known, size->micro_batch + 1);
    struct uc_work_known here = { NULL, 0, NULL, 0 };
    struct uc_work_gap found = { 0 };
    enum uc_status status = UC_OK;
    unsigned looked_for = options->refresh_before > 0 ? 0 : options->apis;
    int cases = size->accumulates ? 2 : 1;
    size_t named;

    if (!options->remeasure)
        here = (struct uc_work_known){ to > from ? known->rows + from : NULL,
                                       to - from, known->searches,
                                       known->search_count };
    for (int beta = 0; beta < cases && status == UC_OK; beta++) {
        if (looked_for & 1u << UC_API_LEGACY)
            status =
                add_legacy(problem, size->micro_batch, beta == 1, options,
                           &here, &found.kernels, &found.kernel_count, err);
        if (looked_for & 1u << UC_API_GRAPH) {
            const struct uc_search *s = find_search(
                &here, options, UC_API_GRAPH, size->micro_batch, beta == 1);

            found.search[beta] = s == NULL;
            found.tune[beta] = options->tune && !is_tuned(s, options);
        }
        named = found.kernel_count;
        if (status == UC_OK)
            status = add_rows(problem, beta == 1, options, &here,
                              &found.kernels, &found.kernel_count, err);
        found.again[beta] =
            found.kernel_count > named && options->refresh_before == 0;
    }
    if (status == UC_OK)
        *gap = found;
    else
        uc_work_gap_free(&found);
    return status;
}

void uc_work_gap_free(struct uc_work_gap *gap)
{
    free(gap->kernels);
    *gap = (struct uc_work_gap){ 0 };
}

/* Every size of a problem ------------------------------------------------*/

static int by_falling_size(const void *a, const void *b)
{
    int64_t left = ((const struct uc_work_size *)a)->micro_batch;
    int64_t right = ((const struct uc_work_size *)b)->micro_batch;

    return (left < right) - (left > right);
}

/** What one batch needs, into a list of sizes falling and each once. */
static enum uc_status add_batch(struct uc_work_problem *of, int64_t batch,
                                const struct uc_policy *policy,
                                struct uc_error *err)
{
    void *list = of->sizes;
    int64_t *sizes = NULL;
    size_t count, sorted = of->size_count;
    enum uc_status status = uc_policy_sizes(policy, batch, &sizes, &count, err);

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        struct uc_work_size key = { .micro_batch = sizes[i] }, *size = NULL;

        if (sizes[i] < batch && !uc_problem_splits_at(&of->problem, sizes[i]))
            continue;
        if (sorted > 0)
            size = bsearch(&key, list, sorted, sizeof key, by_falling_size);
        if (size == NULL)
            size = uc_array_append(&list, &of->size_count, sizeof *size);
        if (size == NULL) {
            status = uc_no_memory(err);
            break;
        }
        size->micro_batch = sizes[i];
        size->accumulates =
            size->accumulates ||
            (of->problem.operation == UC_BACKWARD_FILTER && sizes[i] < batch);
    }
    free(sizes);
    of->sizes = list;
    if (of->size_count > 0)
        qsort(of->sizes, of->size_count, sizeof *of->sizes, by_falling_size);
    if (batch > of->batch)
        of->batch = batch;
    return status;
}

static bool is_coarse(const struct uc_work_problem *of, int64_t size)
{
    return size == of->batch || (size & (size - 1)) == 0;
}

/** Sizes far apart first: what is hopeless there is not measured between
    them. Keeps each part's order. */
static enum uc_status sort_coarse_first(struct uc_work_problem *of,
                                        struct uc_error *err)
{
    struct uc_work_size *sorted = calloc(of->size_count, sizeof *sorted);
    size_t at = 0;

    if (sorted == NULL)
        return uc_no_memory(err);
    for (int coarse = 1; coarse >= 0; coarse--)
        for (size_t i = 0; i < of->size_count; i++)
            if (is_coarse(of, of->sizes[i].micro_batch) == (coarse == 1))
                sorted[at++] = of->sizes[i];
    free(of->sizes);
    of->sizes = sorted;
    return UC_OK;
}

static enum uc_status drop_complete(struct uc_work_problem *of,
                                    const struct uc_work_options *options,
                                    const struct uc_work_known *known,
                                    struct uc_error *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < of->size_count; i++) {
        struct uc_work_gap gap;
        enum uc_status status =
            uc_work_gap(&of->problem, &of->sizes[i], options, known, &gap, err);

        if (status != UC_OK)
            return status;
        of->sizes[i].kernels = gap.kernel_count;
        of->sizes[i].searches = gap.search[0] + gap.search[1];
        of->sizes[i].tunings = gap.tune[0] + gap.tune[1];
        if (of->sizes[i].kernels > 0 || of->sizes[i].searches > 0 ||
            of->sizes[i].tunings > 0)
            of->sizes[kept++] = of->sizes[i];
        uc_work_gap_free(&gap);
    }
    of->size_count = kept;
    return UC_OK;
}

/** Less what the profile has. */
static enum uc_status drop_known(struct uc_work_problem *of,
                                 struct uc_profile *profile, int64_t env,
                                 const struct uc_work_options *options,
                                 struct uc_error *err)
{
    struct uc_measurement *rows = NULL;
    struct uc_search *searches = NULL;
    size_t row_count = 0, search_count = 0;
    enum uc_status status = UC_OK;

    if (profile != NULL && env >= 0 && !options->remeasure) {
        status =
            uc_profile_load(profile, env, &of->problem, &rows, &row_count, err);
        if (status == UC_OK)
            status = uc_profile_load_searches(profile, env, &of->problem,
                                              &searches, &search_count, err);
    }
    if (status == UC_OK)
        status = drop_complete(
            of, options,
            &(struct uc_work_known){ rows, row_count, searches, search_count },
            err);
    free(rows);
    free(searches);
    return status;
}

/* Every problem ----------------------------------------------------------*/

bool uc_work_is_repeated(const struct uc_network_operation *operations,
                         size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (uc_problem_equal(&operations[i].problem,
                             &operations[index].problem))
            return true;
    return false;
}

void uc_work_list_free(struct uc_work_problem *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i].sizes);
    free(list);
}

enum uc_status uc_work_list(struct uc_profile *profile, int64_t env,
                            const struct uc_network_operation *operations,
                            const int64_t *batches, size_t count,
                            const struct uc_policy *policy,
                            const struct uc_work_options *options,
                            struct uc_work_problem **list, size_t *list_count,
                            struct uc_error *err)
{
    void *problems = NULL;
    size_t used = 0;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        struct uc_work_problem *of;

        if (uc_work_is_repeated(operations, i))
            continue;
        of = uc_array_append(&problems, &used, sizeof *of);
        if (of == NULL) {
            status = uc_no_memory(err);
            break;
        }
        of->problem = operations[i].problem;
        for (size_t j = i; j < count && status == UC_OK; j++)
            if (uc_problem_equal(&operations[j].problem, &of->problem))
                status = add_batch(of, batches[j], policy, err);
        if (status == UC_OK)
            status = sort_coarse_first(of, err);
        if (status == UC_OK)
            status = drop_known(of, profile, env, options, err);
        if (status == UC_OK && of->size_count == 0) {
            free(of->sizes);
            used--; /* its place is the next one's: no growing, no hole */
        }
    }
    if (status != UC_OK || used == 0) {
        uc_work_list_free(problems, used);
        problems = NULL;
    }
    if (status != UC_OK)
        return status;
    *list = problems;
    *list_count = used;
    return UC_OK;
}
