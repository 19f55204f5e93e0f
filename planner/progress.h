/**
 * @file progress.h
 * Progress of long work on stderr: one updating line on a terminal, a plain
 * line now and then elsewhere, nothing when quiet.
 *
 * Owner:   a plain value.
 * Errors:  none.
 * Threads: one.
 */
#ifndef UC_PLANNER_PROGRESS_H
#define UC_PLANNER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct uc_progress {
    bool quiet, terminal;
    int64_t total, done;
    double started_s, printed_s; /**< monotonic seconds */
};

void uc_progress_begin(struct uc_progress *progress, int64_t total, bool quiet);
/** One more is done; `now` says at what the work is. */
void uc_progress_step(struct uc_progress *progress, const char *now);
/** Clear the updating line. */
void uc_progress_end(struct uc_progress *progress);

double uc_progress_elapsed(const struct uc_progress *progress);

/** "42 s", "3 min 20 s", "2 h 5 min". */
void uc_progress_duration(double seconds, char text[32]);

#endif
