/**
 * @file ready.h
 * A planned operation made ready to run: a runner for each of its pieces.
 *
 * Legacy kernels are made ready once. Graph kernels belong to a device and
 * to the scalars alpha and beta, so an entry is made ready for each that a
 * program uses, up to UC_READY_MOST on each device.
 *
 * Units:   *_bytes are bytes.
 * Owner:   the entry owns what was made ready for it, and keeps it.
 * Errors:  something that cuDNN refuses, or that computes in weaker
 *          arithmetic than was planned, is `broken` for good; said once in the
 *          log.
 * Threads: any. What is ready does not change, but for `warm` and the locks
 *          of its runners.
 */
#ifndef UC_RUNTIME_READY_H
#define UC_RUNTIME_READY_H

#include "runtime/runner.h"
#include "runtime/table.h"

enum { UC_READY_MOST = 16 };

/** `count` equal micro-batches in a row. */
struct uc_step {
    const struct uc_kernel *kernel; /**< borrowed from the plan */
    struct uc_runner *runner;       /**< owned, built */
    int64_t count;
    bool accumulate;          /**< beta = 1, else the caller's */
    int64_t x_bytes, y_bytes; /**< from one piece to the next */
};

struct uc_ready {
    struct uc_ready *next; /**< owned */
    int device;
    struct uc_scaling scaling;
    bool legacy;             /**< fits every device and scaling */
    bool wide;               /**< scalars are doubles */
    bool broken;             /**< passes through for good; no steps */
    char reason[160];        /**< why it is broken */
    cudnnStatus_t status;    /**< then: cuDNN's, or NOT_SUPPORTED when it is
                                  not cuDNN that refuses it */
    _Atomic uint64_t warm;   /**< by device: has run outside stream capture */
    int64_t workspace_bytes; /**< that cuDNN asked for */
    struct uc_step *steps;   /**< owned; one a piece of the plan */
    size_t step_count;
};

/** What is ready already; NULL: nothing is. */
struct uc_ready *uc_ready_find(const struct uc_entry *entry, int device,
                               const struct uc_scaling *scaling);

/**
 * Find, or make: descriptors, workspaces, execution plans, which may take
 * seconds each. Whoever comes first makes it, others wait. Not under stream
 * capture unless uc_ready_is_quick(). NULL: no more is kept ready, or there is
 * no memory.
 */
struct uc_ready *uc_ready_make(struct uc_entry *entry,
                               const struct uc_cudnn *cudnn,
                               cudnnHandle_t handle, int device,
                               const struct uc_scaling *scaling);

/** Whether as much as is kept is ready for the device: what it does not fit is
    not made. Without a lock, however long someone else makes something. */
bool uc_ready_is_full(const struct uc_entry *entry, int device);
#define UC_READY_FULL "engines are kept for 16 pairs of alpha and beta"

/** The most workspace that what is ready asks for; the plan's when nothing
    is. */
int64_t uc_ready_workspace(const struct uc_entry *entry);

/** Whether making the entry ready takes descriptors only. */
bool uc_ready_is_quick(const struct uc_entry *entry);

/** Whether it has run on a device, which loads its modules. */
bool uc_ready_is_warm(const struct uc_ready *ready, int device);
void uc_ready_set_warm(struct uc_ready *ready, int device);

/** Free the whole chain; takes NULL. */
void uc_ready_free(struct uc_ready *ready);

#endif
