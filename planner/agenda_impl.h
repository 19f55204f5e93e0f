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

/** A record to be filled in. If its size is going to have rows that were not
    tuned, what the profile says is taken back now. */
enum uc_status uc_agenda_begin_record(struct uc_agenda *agenda, int beta,
                                      struct uc_error *err);
/** The row of the same key that the profile had; NULL: none. */
const struct uc_measurement *uc_agenda_known(const struct uc_agenda *agenda,
                                             const struct uc_measurement *m);
/** A measurement that is going to be stored: if something had no time when its
    size was tuned and has one now, the size is recorded as not tuned. */
enum uc_status uc_agenda_note_newly_timed(struct uc_agenda *agenda,
                                          const struct uc_measurement *m,
                                          struct uc_error *err);
/** Fill in the records of the size in work, and store them. */
enum uc_status uc_agenda_store_records(struct uc_agenda *agenda,
                                       struct uc_error *err);

/** A round of tuning; not begun when there is nothing left to tune. */
enum uc_status uc_agenda_begin_round(struct uc_agenda *agenda, bool *begun,
                                     struct uc_error *err);
/** A search's part in a round: what it shall look for the like of. */
void uc_agenda_set_likes(const struct uc_agenda *agenda, int beta,
                         struct uc_work *work);

#endif
