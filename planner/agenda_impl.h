/**
 * @file agenda_impl.h
 * What the files of agenda.h share; nobody else includes it.
 *
 * Owner:   as agenda.h says.
 * Errors:  as agenda.h says.
 * Threads: as agenda.h says.
 */
#ifndef UC_PLANNER_AGENDA_IMPL_H
#define UC_PLANNER_AGENDA_IMPL_H

#include "planner/agenda.h"

bool uc_agenda_lists(const struct uc_work_kernel *list, size_t count,
                     const struct uc_kernel *kernel, bool accumulate);

/** The size in work. */
const struct uc_work_size *uc_agenda_size(const struct uc_agenda *agenda);
/** Whether a row is of that size and this beta case. */
bool uc_agenda_is_here(const struct uc_agenda *agenda,
                       const struct uc_measurement *row, bool accumulate);

/** A record to be filled in: a new one, or without a search the stored one. */
enum uc_status uc_agenda_begin_record(struct uc_agenda *agenda, int beta,
                                      struct uc_error *err);
/** Whether what is found and what is pruned is counted in the record: not
    when a size is tuned that was tuned before, which finds the same again. */
bool uc_agenda_counts(const struct uc_agenda *agenda, int beta);
/** Whether this is the first of what was too large and fits: then its size is
    tuned no more. Said before the measurement is stored. */
enum uc_status uc_agenda_note_fit(struct uc_agenda *agenda,
                                  const struct uc_measurement *m,
                                  struct uc_error *err);
/** Of graph kernels: legacy ones all have rows, no need. */
enum uc_status uc_agenda_store_records(struct uc_agenda *agenda,
                                       struct uc_error *err);

/** A round of tuning; not begun when there is nothing left to tune. */
enum uc_status uc_agenda_begin_round(struct uc_agenda *agenda, bool *begun,
                                     struct uc_error *err);
/** A search's part in a round: what it shall look for the like of. */
void uc_agenda_set_likes(const struct uc_agenda *agenda, int beta,
                         struct uc_work *work);

#endif
