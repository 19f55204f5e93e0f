/**
 * @file worker.h
 * Worker processes: each measures on one GPU, so that a kernel that crashes
 * or hangs takes down a worker and not the run.
 *
 * The parent never touches CUDA. Parent and worker talk over a socket whose
 * messages are struct uc_worker_message (to the parent) and struct uc_work
 * (to the worker, without the kernels that there are not); both ends are the
 * same program, so the structs are sent as they are. A worker goes on after a
 * measurement when the parent has acknowledged it, so that a killed run loses
 * the unfinished one only.
 *
 * Owner:   stop a started worker with uc_worker_stop(); takes stopped ones.
 * Errors:  UC_EDEVICE (no GPU, no cuDNN: the worker's own words),
 *          UC_EINTERNAL (fork, sockets).
 * Threads: the parent must be single-threaded when it starts workers.
 */
#ifndef UC_PLANNER_WORKER_H
#define UC_PLANNER_WORKER_H

#include "db/profile.h"
#include "planner/child.h"
#include "planner/work.h"

enum uc_worker_event {
    UC_WORKER_READY,   /**< environment and device_count are set */
    UC_WORKER_FOUND,   /**< candidate: a search found it */
    UC_WORKER_STARTED, /**< kernel: index into the work's kernels */
    UC_WORKER_DONE,    /**< kernel and measurement */
    UC_WORKER_IDLE,    /**< the work is finished */
    UC_WORKER_NOTHING, /**< the search is finished; error: it failed */
    UC_WORKER_FAILED   /**< error; the worker exits */
};

struct uc_worker_message {
    enum uc_worker_event event;
    int device_count; /**< GPUs that the worker sees */
    size_t kernel;
    union {
        struct uc_environment environment;
        struct uc_measurement measurement;
        struct uc_work_kernel candidate;
        struct uc_error error;
    } u;
};

struct uc_worker {
    struct uc_child child;
    int device;
};

/**
 * Start a worker on device number `device` and wait until it is ready (or
 * timeout_s pass); *ready is its first message.
 */
enum uc_status uc_worker_start(struct uc_worker *worker, int device,
                               int64_t max_workspace_bytes, double timeout_s,
                               struct uc_worker_message *ready,
                               struct uc_error *err);

/** Hand over work; only to a worker that is ready or idle. One that has died
    is found out by what it says next: nothing. */
enum uc_status uc_worker_send(struct uc_worker *worker,
                              const struct uc_work *work, struct uc_error *err);

/** The last UC_WORKER_DONE is stored: go on. */
enum uc_status uc_worker_acknowledge(struct uc_worker *worker,
                                     struct uc_error *err);

/** The message that poll() says is there; false when the worker is gone. */
bool uc_worker_receive(struct uc_worker *worker,
                       struct uc_worker_message *message);

/** Reap a worker that is gone, or kill one that is not; says how it ended:
    "signal 11 (Segmentation fault)", "exit status 1". */
void uc_worker_stop(struct uc_worker *worker, char *how, size_t size);

#endif
