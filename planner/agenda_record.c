#include "config.h"

#include "planner/agenda_impl.h"

#include <time.h>

/** The record of the graph kernels at the size in work; NULL: none. */
static const struct uc_search *stored_record(const struct uc_agenda *agenda,
                                             int beta)
{
    return uc_search_find(agenda->searches, agenda->search_count, UC_API_GRAPH,
                          uc_agenda_size(agenda)->micro_batch, beta == 1);
}

/** Whether this run looks again at all that is there, tuning aside, because
    something was left out: perhaps by the tuning, which it then forgets. */
static bool looks_at_all(const struct uc_agenda *agenda, int beta,
                         const struct uc_search *stored)
{
    return agenda->is_new[beta] && agenda->options->exhaustive &&
           !agenda->to_tune[beta] && stored->pruned > 0;
}

/** Whether what a record says of tuning stays so: nothing has a time now that
    had none then, or has another. */
static bool stays_tuned(const struct uc_agenda *agenda, int beta)
{
    const struct uc_search *stored = stored_record(agenda, beta);

    return stored != NULL && stored->tuned && !agenda->newly_timed[beta] &&
           !(agenda->is_new[beta] && agenda->options->remeasure) &&
           !looks_at_all(agenda, beta, stored);
}

/** Before there are rows that were not tuned, which a run that is killed
    leaves. */
static enum uc_status withdraw_tuned(struct uc_agenda *agenda, int beta,
                                     struct uc_error *err)
{
    const struct uc_search *stored = stored_record(agenda, beta);
    struct uc_search record;

    if (stored == NULL || !stored->tuned || stays_tuned(agenda, beta))
        return UC_OK;
    record = *stored;
    record.tuned = false;
    record.tune_left_out = 0;
    return uc_profile_store_search(agenda->profile, agenda->env,
                                   &agenda->of->problem, &record, err);
}

enum uc_status uc_agenda_begin_record(struct uc_agenda *agenda, int beta,
                                      struct uc_error *err)
{
    const struct uc_search *stored = stored_record(agenda, beta);
    struct uc_search *record = &agenda->records[beta];

    *record =
        (struct uc_search){ .api = UC_API_GRAPH,
                            .micro_batch = uc_agenda_size(agenda)->micro_batch,
                            .accumulate = beta == 1,
                            .left_out = uc_work_left_out(agenda->options) };
    if (stored != NULL && !agenda->is_new[beta])
        record->left_out = stored->left_out;
    return withdraw_tuned(agenda, beta, err);
}

const struct uc_measurement *uc_agenda_known(const struct uc_agenda *agenda,
                                             const struct uc_measurement *m)
{
    const struct uc_measurement *row =
        uc_measurement_find(agenda->rows, agenda->known_rows, m->micro_batch,
                            m->accumulate, &m->kernel);

    return row != NULL
               ? row
               : uc_measurement_find(agenda->replaced, agenda->replaced_count,
                                     m->micro_batch, m->accumulate, &m->kernel);
}

enum uc_status uc_agenda_note_newly_timed(struct uc_agenda *agenda,
                                          const struct uc_measurement *m,
                                          struct uc_error *err)
{
    const struct uc_measurement *known;

    if (m->kernel.api != UC_API_GRAPH || m->time_ns == 0 ||
        agenda->newly_timed[m->accumulate])
        return UC_OK;
    known = uc_agenda_known(agenda, m);
    /* What other options find is beyond what the record says. */
    if (known != NULL ? known->time_ns > 0 : !agenda->options->exhaustive)
        return UC_OK;
    agenda->newly_timed[m->accumulate] = true;
    return withdraw_tuned(agenda, m->accumulate, err);
}

/** Whether the row is of an engine that the record is about. */
static bool is_recorded(const struct uc_agenda *agenda,
                        const struct uc_search *record,
                        const struct uc_measurement *row)
{
    return row->kernel.api == UC_API_GRAPH &&
           uc_agenda_is_here(agenda, row, record->accumulate) &&
           uc_notes_keep_math(row->notes, &agenda->of->problem) &&
           (row->notes & record->left_out) == 0;
}

/** Of such engines, those that have a row. One that was measured again is in
    the list twice. */
static int64_t count_rows(const struct uc_agenda *agenda,
                          const struct uc_search *record)
{
    int64_t count = 0;

    for (size_t i = 0; agenda->rows != NULL && i < agenda->row_count; i++) {
        const struct uc_measurement *row = &agenda->rows[i];

        if (is_recorded(agenda, record, row) &&
            (i < agenda->known_rows || uc_agenda_known(agenda, row) == NULL))
            count++;
    }
    for (size_t i = 0; agenda->replaced != NULL && i < agenda->replaced_count;
         i++)
        count += is_recorded(agenda, record, &agenda->replaced[i]);
    return count;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/**
 * What there is, at least. A tuning finds what an earlier one found, and what
 * was left out then is not known by name: that is not counted twice. What has
 * a row exists, also where this run's searches did not name it: it was too
 * large once, or is what an interrupted run had come to by tuning.
 */
static void count_all(const struct uc_agenda *agenda, int beta,
                      const struct uc_search *before, struct uc_search *record)
{
    for (size_t i = 0; i < agenda->hopeless_count; i++)
        record->pruned += agenda->hopeless[i].accumulate == (beta == 1);
    if (before != NULL) {
        record->found = larger(record->found, before->found);
        record->pruned = larger(record->pruned, before->pruned);
    }
    record->found =
        larger(record->found, count_rows(agenda, record) + record->pruned);
}

enum uc_status uc_agenda_store_records(struct uc_agenda *agenda,
                                       struct uc_error *err)
{
    for (int beta = 0; beta < 2; beta++) {
        const struct uc_search *stored = stored_record(agenda, beta);
        struct uc_search *record = &agenda->records[beta];
        bool stays = stays_tuned(agenda, beta), knew;
        enum uc_status status;

        if (!agenda->to_record[beta])
            continue;
        /* Who looks anew and tunes anew needs nothing of what was known. */
        knew = !agenda->is_new[beta] || (stays && !agenda->to_tune[beta]);
        count_all(agenda, beta, knew ? stored : NULL, record);
        record->tuned = agenda->to_tune[beta] || stays;
        record->tune_left_out = agenda->to_tune[beta]
                                    ? uc_work_left_out(agenda->options)
                                : stays ? stored->tune_left_out
                                        : 0;
        record->searched_at = (int64_t)time(NULL);
        status = uc_profile_store_search(agenda->profile, agenda->env,
                                         &agenda->of->problem, record, err);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}
