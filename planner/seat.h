/**
 * @file seat.h
 * A seat of the benchmark: a worker, the problem it goes through, and what
 * happens when the worker dies. bench.c has one a GPU.
 *
 * A kernel that takes down its worker is stored as crashed or timed out. So
 * that a broken device condemns no kernels, those lost before anything was
 * measured on it are held back until something is.
 *
 * Owner:   as bench.h; uc_seat_stop() takes zeros.
 * Errors:  UC_EDEVICE, and as the profile's.
 * Threads: one.
 */
#ifndef UC_PLANNER_SEAT_H
#define UC_PLANNER_SEAT_H

#include "planner/agenda.h"
#include "planner/bench.h"
#include "planner/progress.h"
#include "planner/worker.h"

/** What the seats share. */
struct uc_bench {
    struct uc_profile *profile; /**< open once the workers are ready */
    const struct uc_bench_options *options;
    struct uc_work_options work; /**< the options', for this cuDNN */
    struct uc_bench_summary *summary;
    struct uc_work_problem *list;
    size_t count, next;
    struct uc_progress progress; /**< steps are sizes */
};

enum { UC_MAX_LOST = 2 };

/** Work whose every reference took down the worker. */
struct uc_lost_work {
    struct uc_work work;
    enum uc_outcome outcome;
    char reason[UC_REASON_TEXT];
};

struct uc_seat {
    struct uc_worker worker;
    bool busy;
    struct uc_agenda agenda; /**< of its problem */
    struct uc_work work; /**< what it was given, less what a crash settled */
    bool done[UC_WORK_KERNELS];
    int started; /**< kernel that was announced and not finished; -1: none */
    int failed_searches;
    double heard_s;
    struct uc_error error; /**< its last words; status UC_OK: none */
    /** Not stored before something is measured again: else it is the device
        that is at fault, and not these. */
    struct uc_lost_work lost[UC_MAX_LOST];
    int lost_count;
};

/** A worker on this device; its first message into *ready. */
enum uc_status uc_seat_start(const struct uc_bench *bench, struct uc_seat *seat,
                             int device, struct uc_worker_message *ready,
                             struct uc_error *err);
void uc_seat_stop(struct uc_seat *seat);

/** The next work, or none: then the seat is not busy any more. */
enum uc_status uc_seat_give_next(struct uc_bench *bench, struct uc_seat *seat,
                                 struct uc_error *err);

/** A message or the end of its worker is there. */
enum uc_status uc_seat_hear(struct uc_bench *bench, struct uc_seat *seat,
                            struct uc_error *err);

/** Nothing was heard for too long. */
enum uc_status uc_seat_hung(struct uc_bench *bench, struct uc_seat *seat,
                            struct uc_error *err);

/** What is still held back at the end speaks against the device. */
enum uc_status uc_seat_verdict(const struct uc_seat *seat,
                               struct uc_error *err);

#endif
