#include "config.h"

#include "planner/agenda_impl.h"

#include <time.h>

/** The record of the graph kernels at the size in work; NULL: none. */
static const struct uc_search *stored_record(const struct uc_agenda *agenda,
                                             int beta)
{
    for (size_t i = 0; i < agenda->search_count; i++) {
        const struct uc_search *s = &agenda->searches[i];

        if (s->api == UC_API_GRAPH && s->accumulate == (beta == 1) &&
            s->micro_batch == uc_agenda_size(agenda)->micro_batch)
            return s;
    }
    return NULL;
}

/** Whether what a record says of tuning stays so: neither is everything
    measured, or measured again, nor does anything fit that was too large. */
static bool stays_tuned(const struct uc_agenda *agenda, int beta)
{
    const struct uc_search *stored = stored_record(agenda, beta);

    return stored != NULL && stored->tuned && !agenda->newly_fits[beta] &&
           !(agenda->is_new[beta] &&
             (agenda->options->exhaustive || agenda->options->remeasure));
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

enum uc_status uc_agenda_note_newly_fit(struct uc_agenda *agenda,
                                        const struct uc_measurement *m,
                                        struct uc_error *err)
{
    if (m->kernel.api != UC_API_GRAPH || m->time_ns == 0 ||
        agenda->newly_fits[m->accumulate])
        return UC_OK;
    for (size_t i = 0; i < agenda->known_rows; i++) {
        const struct uc_measurement *row = &agenda->rows[i];

        if (row->outcome == UC_TOO_LARGE && uc_measurement_order(row, m) == 0) {
            agenda->newly_fits[m->accumulate] = true;
            return withdraw_tuned(agenda, m->accumulate, err);
        }
    }
    return UC_OK;
}

/** Whether the row is one of an engine that the record is about, and the last
    of its key: one that was measured again is there twice. */
static bool is_recorded(const struct uc_agenda *agenda,
                        const struct uc_search *record, size_t index)
{
    const struct uc_measurement *row = &agenda->rows[index];

    if (row->kernel.api != UC_API_GRAPH ||
        !uc_agenda_is_here(agenda, row, record->accumulate) ||
        !uc_work_admits(&agenda->of->problem, agenda->options, row->notes))
        return false;
    for (size_t i = index + 1; i < agenda->row_count; i++)
        if (uc_measurement_order(&agenda->rows[i], row) == 0)
            return false;
    return true;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/**
 * What there is in all. A record that is not new has what its search found;
 * this run's tuning adds to that, or where there was a tuning before, finds
 * mostly the same. What has a row exists, also where this search did not name
 * it: it was too large once, or is what an interrupted run had come to by
 * tuning.
 */
static void count_all(const struct uc_agenda *agenda, int beta,
                      const struct uc_search *stored, struct uc_search *record)
{
    int64_t rows = 0;

    for (size_t i = 0; i < agenda->hopeless_count; i++)
        record->pruned += agenda->hopeless[i].accumulate == (beta == 1);
    for (size_t i = 0; i < agenda->row_count; i++)
        rows += is_recorded(agenda, record, i);
    if (stored != NULL && stored->tuned) {
        record->found = larger(record->found, stored->found);
        record->pruned = larger(record->pruned, stored->pruned);
    } else if (stored != NULL) {
        record->found += stored->found;
        record->pruned += stored->pruned;
    }
    record->found = larger(record->found, rows + record->pruned);
}

enum uc_status uc_agenda_store_records(struct uc_agenda *agenda,
                                       struct uc_error *err)
{
    for (int beta = 0; beta < 2; beta++) {
        const struct uc_search *stored = stored_record(agenda, beta);
        struct uc_search *record = &agenda->records[beta];
        bool stays = stays_tuned(agenda, beta);
        enum uc_status status;

        if (!agenda->to_record[beta])
            continue;
        count_all(agenda, beta, agenda->is_new[beta] ? NULL : stored, record);
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
