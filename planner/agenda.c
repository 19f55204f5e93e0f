#include "config.h"

#include "planner/agenda_impl.h"

#include "common/array.h"
#include "planner/prune.h"

#include <stdlib.h>
#include <string.h>

static enum uc_status append_row(struct uc_agenda *agenda,
                                 const struct uc_measurement *row,
                                 struct uc_error *err)
{
    void *rows = agenda->rows;
    struct uc_measurement *entry =
        uc_array_append(&rows, &agenda->row_count, sizeof *entry);

    if (entry == NULL)
        return uc_no_memory(err);
    agenda->rows = rows;
    *entry = *row;
    return UC_OK;
}

bool uc_agenda_lists(const struct uc_work_kernel *list, size_t count,
                     const struct uc_kernel *kernel, bool accumulate)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].accumulate == accumulate &&
            uc_kernel_equal(&list[i].kernel, kernel))
            return true;
    return false;
}

enum uc_status uc_agenda_open(struct uc_agenda *agenda,
                              struct uc_profile *profile, int64_t env,
                              const struct uc_work_problem *of,
                              const struct uc_work_options *options,
                              struct uc_error *err)
{
    struct uc_agenda opened = {
        .profile = profile, .env = env, .of = of, .options = options
    };
    struct uc_measurement *rows = NULL;
    size_t count = 0;
    enum uc_status status;

    *agenda = (struct uc_agenda){ 0 };
    status = uc_profile_load(profile, env, &of->problem, &rows, &count, err);
    if (status == UC_OK && options->remeasure) {
        opened.replaced = rows;
        opened.replaced_count = count;
        rows = NULL;
        count = 0;
    }
    if (status == UC_OK)
        status = uc_profile_load_searches(profile, env, &of->problem,
                                          &opened.searches,
                                          &opened.search_count, err);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = append_row(&opened, &rows[i], err);
    opened.known_rows = opened.row_count;
    free(rows);
    if (status != UC_OK) {
        uc_agenda_close(&opened);
        return status;
    }
    *agenda = opened;
    return UC_OK;
}

void uc_agenda_close(struct uc_agenda *agenda)
{
    free(agenda->rows);
    free(agenda->replaced);
    free(agenda->searches);
    free(agenda->kernels);
    free(agenda->hopeless);
    free(agenda->seen);
    free(agenda->tuned);
    *agenda = (struct uc_agenda){ 0 };
}

/* The size in work -------------------------------------------------------*/

const struct uc_work_size *uc_agenda_size(const struct uc_agenda *agenda)
{
    return &agenda->of->sizes[agenda->next_size - 1];
}

bool uc_agenda_is_here(const struct uc_agenda *agenda,
                       const struct uc_measurement *row, bool accumulate)
{
    return row->micro_batch == uc_agenda_size(agenda)->micro_batch &&
           row->accumulate == accumulate;
}

static enum uc_status begin_size(struct uc_agenda *agenda, struct uc_error *err)
{
    struct uc_work_known known = { agenda->rows, agenda->known_rows,
                                   agenda->searches, agenda->search_count };
    struct uc_work_gap gap;
    const struct uc_work_size *size;
    enum uc_status status;

    agenda->next_size++;
    size = uc_agenda_size(agenda);
    status = uc_work_gap(&agenda->of->problem, size, agenda->options, &known,
                         &gap, err);
    if (status != UC_OK)
        return status;
    agenda->state = UC_AGENDA_SEARCHING;
    free(agenda->kernels);
    agenda->kernels = gap.kernels; /* taken over */
    agenda->kernel_count = gap.kernel_count;
    agenda->handed_out = 0;
    free(agenda->hopeless);
    free(agenda->seen);
    free(agenda->tuned);
    agenda->hopeless = agenda->seen = agenda->tuned = NULL;
    agenda->hopeless_count = agenda->seen_count = agenda->tuned_count = 0;
    agenda->round = 0;
    for (int beta = 0; beta < 2 && status == UC_OK; beta++) {
        agenda->is_new[beta] = gap.search[beta];
        agenda->newly_timed[beta] = false;
        agenda->to_search[beta] = gap.search[beta] || gap.tune[beta];
        agenda->to_tune[beta] = gap.tune[beta];
        agenda->to_record[beta] = agenda->to_search[beta] || gap.again[beta];
        if (agenda->to_record[beta])
            status = uc_agenda_begin_record(agenda, beta, err);
    }
    return status;
}

/** Of those given and of those that have a time at the size in work, which
    exist there; their count into *count. */
static struct uc_work_kernel *engines_here(const struct uc_agenda *agenda,
                                           const struct uc_work_kernel *given,
                                           size_t given_count, size_t *count,
                                           struct uc_error *err)
{
    int64_t micro_batch = uc_agenda_size(agenda)->micro_batch;
    struct uc_work_kernel *list =
        calloc(given_count + agenda->row_count + 1, sizeof *list);
    size_t used = given_count;

    if (list == NULL) {
        uc_no_memory(err);
        return NULL;
    }
    if (given_count > 0)
        memcpy(list, given, given_count * sizeof *list);
    for (size_t i = 0; i < agenda->row_count; i++) {
        const struct uc_measurement *row = &agenda->rows[i];

        if (row->micro_batch == micro_batch && row->time_ns > 0)
            list[used++] =
                (struct uc_work_kernel){ row->kernel, row->accumulate,
                                         row->notes, row->workspace_bytes };
    }
    *count = used;
    return list;
}

/** Whether the kernel has one of the rows, at the size in work. */
static bool has_row(const struct uc_agenda *agenda,
                    const struct uc_measurement *rows, size_t count,
                    const struct uc_work_kernel *candidate)
{
    return uc_measurement_find(rows, count, uc_agenda_size(agenda)->micro_batch,
                               candidate->accumulate,
                               &candidate->kernel) != NULL;
}

/** Whether it was wanted before: it is tried again. */
static bool was_wanted(const struct uc_agenda *agenda,
                       const struct uc_work_kernel *candidate)
{
    return has_row(agenda, agenda->rows, agenda->row_count, candidate) ||
           has_row(agenda, agenda->replaced, agenda->replaced_count, candidate);
}

/** Those of a list, which is freed, that are hopeless apart from those to be
    measured. Legacy kernels are few, and what plans are compared with. */
static enum uc_status sort_out(struct uc_agenda *agenda,
                               struct uc_work_kernel *list, size_t count,
                               struct uc_error *err)
{
    int64_t micro_batch = uc_agenda_size(agenda)->micro_batch;
    struct uc_prune known = { NULL, 0 };
    size_t here_count;
    struct uc_work_kernel *here =
        engines_here(agenda, list, count, &here_count, err);
    enum uc_status status =
        here == NULL
            ? UC_EINTERNAL
            : uc_prune_start(agenda->rows, agenda->row_count, &known, err);

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        bool hopeless =
            list[i].kernel.api == UC_API_GRAPH &&
            !was_wanted(agenda, &list[i]) &&
            uc_prune_leaves_out(&known, here, here_count, i, micro_batch);

        status = hopeless
                     ? uc_work_append(&agenda->hopeless,
                                      &agenda->hopeless_count, &list[i], err)
                     : uc_work_append(&agenda->kernels, &agenda->kernel_count,
                                      &list[i], err);
    }
    free(here);
    free(list);
    uc_prune_end(&known);
    return status;
}

/** Leave out what is hopeless of what was found. */
static enum uc_status prune(struct uc_agenda *agenda, struct uc_error *err)
{
    struct uc_work_kernel *found = agenda->kernels;
    size_t count = agenda->kernel_count - agenda->handed_out;

    if (count == 0)
        return UC_OK;
    memmove(found, found + agenda->handed_out, count * sizeof *found);
    agenda->kernels = NULL;
    agenda->kernel_count = agenda->handed_out = 0;
    return sort_out(agenda, found, count, err);
}

/** All others are measured: take back what was left out for the sake of one
    that came to nothing. */
static enum uc_status take_back(struct uc_agenda *agenda, struct uc_error *err)
{
    struct uc_work_kernel *hopeless = agenda->hopeless;
    size_t count = agenda->hopeless_count;

    if (count == 0)
        return UC_OK;
    agenda->hopeless = NULL;
    agenda->hopeless_count = 0;
    return sort_out(agenda, hopeless, count, err);
}

static enum uc_status begin_measuring(struct uc_agenda *agenda,
                                      struct uc_error *err)
{
    agenda->state = UC_AGENDA_MEASURING;
    return agenda->options->exhaustive || agenda->options->refresh_before > 0
               ? UC_OK
               : prune(agenda, err);
}

/** All is measured: say so. */
static enum uc_status end_size(struct uc_agenda *agenda, struct uc_error *err)
{
    enum uc_status status = uc_agenda_store_records(agenda, err);

    if (status != UC_OK)
        return status;
    agenda->counts.sizes++;
    agenda->counts.pruned += (int64_t)agenda->hopeless_count;
    agenda->state = UC_AGENDA_BETWEEN_SIZES;
    return UC_OK;
}

/* What to do next --------------------------------------------------------*/

static bool next_search(struct uc_agenda *agenda, struct uc_work *work)
{
    for (int beta = 0; beta < 2; beta++)
        if (agenda->to_search[beta]) {
            agenda->to_search[beta] = false;
            agenda->searching = beta == 1;
            agenda->search_from = agenda->kernel_count;
            agenda->seen_from = agenda->seen_count;
            agenda->known_bad_from = agenda->counts.known_bad;
            agenda->counts.searches++;
            work->search = true;
            work->runtime_compiled = !agenda->options->no_runtime_compiled;
            work->accumulate = beta == 1;
            uc_agenda_set_likes(agenda, beta, work);
            return true;
        }
    return false;
}

static bool next_kernels(struct uc_agenda *agenda, struct uc_work *work)
{
    size_t left = agenda->kernel_count - agenda->handed_out;

    work->kernel_count = left < UC_WORK_KERNELS ? left : UC_WORK_KERNELS;
    if (left > 0)
        memcpy(work->kernels, agenda->kernels + agenda->handed_out,
               work->kernel_count * sizeof *work->kernels);
    agenda->handed_out += work->kernel_count;
    return work->kernel_count > 0;
}

static void begin_work(const struct uc_agenda *agenda, struct uc_work *work)
{
    work->problem = agenda->of->problem;
    work->micro_batch = uc_agenda_size(agenda)->micro_batch;
    work->batch = agenda->of->batch;
    work->search = work->accumulate = work->runtime_compiled = false;
    work->skip_references = 0;
    work->kernel_count = 0;
}

/** No kernel is left: more of them, a round of tuning, or the end. */
static enum uc_status end_measuring(struct uc_agenda *agenda,
                                    struct uc_error *err)
{
    enum uc_status status = take_back(agenda, err);
    bool begun = agenda->kernel_count > agenda->handed_out;

    if (status == UC_OK && !begun)
        status = uc_agenda_begin_round(agenda, &begun, err);
    return status == UC_OK && !begun ? end_size(agenda, err) : status;
}

enum uc_status uc_agenda_next(struct uc_agenda *agenda, bool stop,
                              struct uc_work *work, bool *more,
                              struct uc_error *err)
{
    enum uc_status status = UC_OK;

    *more = false;
    while (status == UC_OK) {
        switch (agenda->state) {
        case UC_AGENDA_BETWEEN_SIZES:
            if (stop || agenda->next_size == agenda->of->size_count)
                return UC_OK;
            status = begin_size(agenda, err);
            break;
        case UC_AGENDA_SEARCHING:
            begin_work(agenda, work);
            *more = next_search(agenda, work);
            if (*more)
                return UC_OK;
            status = begin_measuring(agenda, err);
            break;
        case UC_AGENDA_MEASURING:
            begin_work(agenda, work);
            *more = next_kernels(agenda, work);
            if (*more)
                return UC_OK;
            status = end_measuring(agenda, err);
            break;
        }
    }
    return status;
}

/* What came of it --------------------------------------------------------*/

enum uc_status uc_agenda_candidate(struct uc_agenda *agenda,
                                   const struct uc_work_kernel *candidate,
                                   struct uc_error *err)
{
    const struct uc_work_options *options = agenda->options;
    const struct uc_problem *problem = &agenda->of->problem;
    enum uc_status status;
    bool beta = agenda->searching;

    if (!uc_work_admits(problem, options, candidate->notes) ||
        uc_agenda_lists(agenda->seen, agenda->seen_count, &candidate->kernel,
                        candidate->accumulate))
        return UC_OK;
    status = uc_work_append(&agenda->seen, &agenda->seen_count, candidate, err);
    /* Of a search on record only what tuning begins with is asked. */
    if (status != UC_OK || (agenda->round == 0 && !agenda->is_new[beta]))
        return status;
    if (uc_known_bad_reason(options->known_bad, options->cudnn, problem,
                            &candidate->kernel) != NULL) {
        agenda->counts.known_bad++;
        return UC_OK;
    }
    /* One that was too large and may fit today is in the list already. */
    return has_row(agenda, agenda->rows, agenda->row_count, candidate)
               ? UC_OK
               : uc_work_append(&agenda->kernels, &agenda->kernel_count,
                                candidate, err);
}

void uc_agenda_search_failed(struct uc_agenda *agenda, bool give_up)
{
    bool beta = agenda->searching;

    agenda->kernel_count = agenda->search_from;
    agenda->seen_count = agenda->seen_from;
    agenda->counts.known_bad = agenda->known_bad_from;
    if (give_up)
        agenda->to_record[beta] = agenda->to_tune[beta] = false;
    agenda->counts.given_up += give_up;
}

enum uc_status uc_agenda_settle(struct uc_agenda *agenda,
                                const struct uc_measurement *m,
                                struct uc_error *err)
{
    enum uc_status status = UC_OK;

    if (m->kernel.api == UC_API_GRAPH && m->outcome == UC_UNSUPPORTED &&
        uc_agenda_known(agenda, m) == NULL)
        return UC_OK;
    status = uc_agenda_note_newly_timed(agenda, m, err);
    if (status == UC_OK)
        status = uc_profile_store(agenda->profile, agenda->env,
                                  &agenda->of->problem, m, err);
    if (status == UC_OK)
        status = append_row(agenda, m, err);
    return status;
}

void uc_agenda_leave_unrecorded(struct uc_agenda *agenda)
{
    memset(agenda->to_record, 0, sizeof agenda->to_record);
    memset(agenda->to_tune, 0, sizeof agenda->to_tune);
    agenda->kernel_count = agenda->handed_out;
    agenda->hopeless_count = 0;
}
