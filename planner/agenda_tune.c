#include "config.h"

#include "planner/agenda_impl.h"
#include "planner/tune.h"

#include <stdlib.h>

/** The next larger size with measured engines at this beta case; 0: none. */
static int64_t size_above(const struct uc_agenda *agenda, int beta)
{
    int64_t size = uc_agenda_size(agenda)->micro_batch, above = 0;

    for (size_t i = 0; i < agenda->row_count; i++) {
        const struct uc_measurement *row = &agenda->rows[i];

        if (row->kernel.api == UC_API_GRAPH && row->outcome == UC_MEASURED &&
            row->accumulate == (beta == 1) && row->micro_batch > size &&
            (above == 0 || row->micro_batch < above))
            above = row->micro_batch;
    }
    return above;
}

static bool is_seen(const struct uc_agenda *agenda,
                    const struct uc_measurement *row)
{
    return uc_agenda_lists(agenda->seen, agenda->seen_count, &row->kernel,
                           row->accumulate);
}

/** Whether an engine took down its worker or wrote where it must not, as far
    as was seen: what is like its configurations is not looked for at the size
    in work. */
static bool is_dangerous(const struct uc_agenda *agenda, int engine, int beta)
{
    for (size_t i = 0; i < agenda->row_count; i++) {
        const struct uc_measurement *row = &agenda->rows[i];

        if (row->kernel.api == UC_API_GRAPH && row->kernel.engine == engine &&
            uc_agenda_is_here(agenda, row, beta == 1) && is_seen(agenda, row) &&
            (row->outcome == UC_CRASHED || row->outcome == UC_TIMED_OUT ||
             row->outcome == UC_OUT_OF_BOUNDS))
            return true;
    }
    return false;
}

/** Whether a work has room for another that this round tunes. */
static bool has_room(const struct uc_agenda *agenda, int beta)
{
    size_t count = 0;

    for (size_t i = agenda->round_from; i < agenda->tuned_count; i++)
        count += agenda->tuned[i].accumulate == (beta == 1);
    return count < UC_WORK_KERNELS;
}

/** Of rows of one size and beta case, those that are good enough and were not
    tuned yet, as long as there is room: others of the size in work are left to
    the next round. */
static enum uc_status add_wanted(struct uc_agenda *agenda, int beta,
                                 const struct uc_measurement *rows,
                                 size_t count, struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK && has_room(agenda, beta);
         i++) {
        const struct uc_work_kernel kernel = { rows[i].kernel, beta == 1,
                                               rows[i].notes,
                                               rows[i].workspace_bytes };

        if (uc_work_admits(&agenda->of->problem, agenda->options,
                           kernel.notes) &&
            !uc_agenda_lists(agenda->tuned, agenda->tuned_count, &kernel.kernel,
                             kernel.accumulate) &&
            uc_known_bad_reason(agenda->options->known_bad,
                                agenda->options->cudnn, &agenda->of->problem,
                                &kernel.kernel) == NULL &&
            uc_tune_wants(rows, count, i) &&
            !is_dangerous(agenda, kernel.kernel.engine, beta))
            status = uc_work_append(&agenda->tuned, &agenda->tuned_count,
                                    &kernel, err);
    }
    return status;
}

/** Of the rows of one size; with `seen`, of what this run's searches found. */
static enum uc_status add_of_size(struct uc_agenda *agenda, int beta,
                                  int64_t size, bool seen, struct uc_error *err)
{
    struct uc_measurement *rows =
        calloc(agenda->row_count + 1, sizeof *agenda->rows);
    size_t count = 0;
    enum uc_status status;

    if (rows == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < agenda->row_count; i++) {
        const struct uc_measurement *row = &agenda->rows[i];

        if (row->micro_batch == size && row->accumulate == (beta == 1) &&
            (!seen || is_seen(agenda, row)))
            rows[count++] = *row;
    }
    status = add_wanted(agenda, beta, rows, count, err);
    free(rows);
    return status;
}

/**
 * What this round tunes. An interrupted run has left rows of what it had come
 * to: judged by what was seen so far, a next run takes the same steps, and ends
 * where it would have. When these lead no further, what else is there is
 * judged, too.
 */
static enum uc_status add_to_tune(struct uc_agenda *agenda, int beta,
                                  struct uc_error *err)
{
    size_t from = agenda->tuned_count;
    int64_t size = uc_agenda_size(agenda)->micro_batch;
    int64_t above = agenda->round == 1 ? size_above(agenda, beta) : 0;
    enum uc_status status = add_of_size(agenda, beta, size, true, err);

    if (status == UC_OK && agenda->tuned_count == from)
        status = add_of_size(agenda, beta, size, false, err);
    if (status == UC_OK && above > 0)
        status = add_of_size(agenda, beta, above, false, err);
    return status;
}

/** What has a time by now has to be tuned, too: ask first what there is. True
    when something has to be asked. */
static bool tune_what_is_new(struct uc_agenda *agenda)
{
    bool any = false;

    for (int beta = 0; beta < 2; beta++)
        if (agenda->options->tune && agenda->newly_timed[beta] &&
            agenda->to_record[beta] && !agenda->to_tune[beta])
            any = agenda->to_tune[beta] = agenda->to_search[beta] = true;
    return any;
}

enum uc_status uc_agenda_begin_round(struct uc_agenda *agenda, bool *begun,
                                     struct uc_error *err)
{
    enum uc_status status = UC_OK;

    *begun = agenda->round == 0 && tune_what_is_new(agenda);
    if (*begun) {
        agenda->state = UC_AGENDA_SEARCHING;
        return UC_OK;
    }
    if (agenda->round == UC_TUNE_ROUNDS)
        return UC_OK;
    agenda->round++;
    agenda->round_from = agenda->tuned_count;
    for (int beta = 0; beta < 2 && status == UC_OK; beta++) {
        size_t from = agenda->tuned_count;

        if (!agenda->to_tune[beta])
            continue;
        status = add_to_tune(agenda, beta, err);
        agenda->to_search[beta] = agenda->tuned_count > from;
        *begun = *begun || agenda->to_search[beta];
    }
    if (*begun)
        agenda->state = UC_AGENDA_SEARCHING;
    return status;
}

void uc_agenda_set_likes(const struct uc_agenda *agenda, int beta,
                         struct uc_work *work)
{
    if (agenda->round == 0)
        return;
    for (size_t i = agenda->round_from; i < agenda->tuned_count; i++)
        if (agenda->tuned[i].accumulate == (beta == 1))
            work->kernels[work->kernel_count++] = agenda->tuned[i];
}
