/**
 * @file measure.h
 * Measuring one micro-batch of one problem: every kernel's workspace, result
 * and time.
 *
 * A kernel is first run once on random inputs into a poisoned output and a
 * poisoned workspace, both between guard zones, and compared with a strict
 * reference: an FMA kernel of cuDNN in fp32, or fp64 for fp64 data, on the
 * same values, with which a second such kernel agrees. Then it is timed: device
 * events around back-to-back calls, several samples, until the median is
 * steady. Each call has images of its own, as the micro-batches of an operation
 * have, until the device's cache has forgotten the first ones.
 *
 * Kernels are taken by growing workspace. One that is slower than
 * UC_CUT_OFF_FACTOR times another of no larger workspace, which any plan
 * that admits it admits too (uc_prune_stands_for()), can be in no best
 * configuration: it is cut off after one call. Engines of the graph API, which
 * are many, are cut off after one call or one sample that is slower than
 * UC_NEAR_CUT_OFF_FACTOR times the other, and keep no samples. Legacy kernels
 * are what plans are compared with, so they are measured in full. The other may
 * be an earlier work's of the same process, but no stored row: the device may
 * have run faster then.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds.
 * Owner:   a session owns its device buffers for the process's life.
 * Errors:  UC_EDEVICE when the device is lost; what a kernel does wrong, or
 *          that it does not fit the device's memory, is an outcome.
 * Threads: one in a process (it keeps its lists).
 */
#ifndef UC_PLANNER_MEASURE_H
#define UC_PLANNER_MEASURE_H

#include "db/profile.h"
#include "planner/gpu.h"
#include "planner/work.h"

#define UC_CUT_OFF_FACTOR 4
#define UC_NEAR_CUT_OFF_FACTOR 1.3

/** What this process has measured at one micro-batch of one problem. */
struct uc_measured {
    struct uc_problem problem;
    int64_t micro_batch;
    void *rows; /**< struct uc_measurement, of outcome UC_MEASURED */
    size_t count;
};

struct uc_measure_session {
    struct uc_gpu gpu;
    int64_t max_workspace_bytes;
    struct uc_measured measured;     /**< of the work in hand or the last */
    struct uc_buffer x, w, y;        /**< the problem's own tensors */
    struct uc_buffer more_x, more_y; /**< for other calls (trial.h) */
    struct uc_buffer rx, rw, ry;     /**< the reference's, when types differ */
    struct uc_buffer reference;      /**< its result */
    struct uc_buffer second;         /**< another kernel's, that must agree */
    struct uc_buffer workspace;
};

/** Every buffer of a session, for an array's initialiser; ends with NULL. */
#define UC_SESSION_BUFFERS(s)                                            \
    {                                                                    \
        &(s)->x, &(s)->w, &(s)->y, &(s)->more_x, &(s)->more_y, &(s)->rx, \
            &(s)->rw, &(s)->ry, &(s)->reference, &(s)->second,           \
            &(s)->workspace, NULL                                        \
    }

/** Told before a kernel may crash or hang, and when it is done. */
struct uc_measure_events {
    void (*started)(void *context, size_t kernel);
    void (*done)(void *context, size_t kernel,
                 const struct uc_measurement *measurement);
    void *context;
};

/**
 * Measure every kernel of the work, whose notes are known; `done` is called
 * once for each. After UC_EDEVICE the process cannot use the device any more.
 */
enum uc_status uc_measure_work(struct uc_measure_session *session,
                               const struct uc_work *work,
                               const struct uc_measure_events *events,
                               struct uc_error *err);

#endif
