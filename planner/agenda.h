/**
 * @file agenda.h
 * One problem on its way through the benchmark: size by size, what to look
 * for, what to measure, what came of it, and the record that says that
 * nothing is missing. Knows nothing of workers and GPUs.
 *
 * At each size graph kernels are searched first (beta 0, then 1). What they
 * found and the legacy kernels, less what the profile has, what is known to
 * be bad and what pruning leaves out, is measured next; then what was left out
 * for the sake of one that failed. Where tuning is wanted, what is like the
 * best of them is searched and measured then, round by round. At last the
 * records of the searches are stored: a run that ends before starts the size
 * again, and finds its rows.
 *
 * Owner:   borrows profile, problem and options; uc_agenda_close() frees the
 *          rest, and takes zeros.
 * Errors:  as the profile's; UC_EINTERNAL (no memory).
 * Threads: one.
 */
#ifndef UC_PLANNER_AGENDA_H
#define UC_PLANNER_AGENDA_H

#include "planner/work.h"

struct uc_agenda_counts {
    int64_t sizes;     /**< that were gone through */
    int64_t searches;  /**< of graph kernels, that were made */
    int64_t given_up;  /**< searches that failed */
    int64_t pruned;    /**< kernels left out as hopeless */
    int64_t known_bad; /**< kernels left out as known to be bad */
};

struct uc_agenda {
    struct uc_profile *profile;
    int64_t env;
    const struct uc_work_problem *of;
    const struct uc_work_options *options;
    struct uc_measurement *rows; /**< the profile's, by micro-batch, then new
                                      ones */
    size_t known_rows, row_count;
    struct uc_measurement *replaced; /**< the profile's that are measured again
                                          as if they were not there */
    size_t replaced_count;
    struct uc_search *searches;
    size_t search_count;
    struct uc_agenda_counts counts;

    size_t next_size; /**< index of the size behind the one in work */
    enum uc_agenda_state {
        UC_AGENDA_BETWEEN_SIZES,
        UC_AGENDA_SEARCHING,
        UC_AGENDA_MEASURING
    } state;
    bool is_new[2];         /**< no search is on record that covers what is
                                 wanted, by beta case */
    bool newly_timed[2];    /**< something is that was not when this size was
                                 tuned, by beta case */
    bool to_search[2];      /**< by beta case */
    bool searching;         /**< beta case of the search in work */
    int64_t known_bad_from; /**< what had been counted then */
    size_t search_from;     /**< kernels before that search */
    bool to_tune[2];        /**< by beta case */
    int round;              /**< of tuning; 0: what the heuristics name */
    struct uc_work_kernel *kernels; /**< to be measured at this size */
    size_t kernel_count, handed_out;
    struct uc_work_kernel *hopeless; /**< left out of them by pruning */
    size_t hopeless_count;
    struct uc_work_kernel *seen;  /**< that searches found at this size */
    size_t seen_count, seen_from; /**< now, and before the search in work */
    struct uc_work_kernel *tuned; /**< what is like these is known */
    size_t tuned_count;
    size_t round_from;           /**< this round's of them begin here */
    struct uc_search records[2]; /**< by beta case */
    bool to_record[2];
};

/** Zeros on failure. */
enum uc_status uc_agenda_open(struct uc_agenda *agenda,
                              struct uc_profile *profile, int64_t env,
                              const struct uc_work_problem *of,
                              const struct uc_work_options *options,
                              struct uc_error *err);
void uc_agenda_close(struct uc_agenda *agenda);

/**
 * What to do next into *work, when all of the work before is settled; *more
 * is false when the problem is finished. With `stop` no further size is
 * begun.
 */
enum uc_status uc_agenda_next(struct uc_agenda *agenda, bool stop,
                              struct uc_work *work, bool *more,
                              struct uc_error *err);

/** A graph kernel that the search in work found. */
enum uc_status uc_agenda_candidate(struct uc_agenda *agenda,
                                   const struct uc_work_kernel *candidate,
                                   struct uc_error *err);
/** The search in work ended badly: forget what it found. With `give_up` it
    is not made again by this run, nor recorded: a next run tries. */
void uc_agenda_search_failed(struct uc_agenda *agenda, bool give_up);

/** A measurement of the work: stored and remembered. Of graph kernels that
    cuDNN does not have after all, the search's record is enough, but where the
    profile says otherwise. */
enum uc_status uc_agenda_settle(struct uc_agenda *agenda,
                                const struct uc_measurement *m,
                                struct uc_error *err);

/** The work in hand could not be settled: nothing more is done at this size,
    and it has no record. */
void uc_agenda_leave_unrecorded(struct uc_agenda *agenda);

#endif
