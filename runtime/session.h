/**
 * @file session.h
 * The process's one session: settings from the environment, the loaded
 * cuDNN, the plan table, and which plans this device may use.
 *
 * Nothing happens before the program first calls one of the interposed
 * functions: a program without cuDNN pays for a constructor that reads
 * nothing.
 *
 * Owner:   the session lives until the process ends; nothing is freed and
 *          no CUDA function is called at exit.
 * Errors:  reported through the log; the session then passes everything
 *          through.
 * Threads: uc_session_get() may be called from any thread, the rest is
 *          read-only or atomic.
 */
#ifndef UC_RUNTIME_SESSION_H
#define UC_RUNTIME_SESSION_H

#include "runtime/caller.h"
#include "runtime/stats.h"
#include "runtime/table.h"

struct uc_session {
    struct uc_cudnn cudnn; /**< the real functions */
    struct uc_cuda cuda;
    struct uc_table *table; /**< NULL: there is no plan to follow */
};

/** NULL when the process has no cuDNN to pass calls on to. */
struct uc_session *uc_session_get(void);

/** One call of the program. */
struct uc_call {
    cudnnHandle_t handle;
    enum uc_operation operation;
    struct uc_descriptors descriptors;
};

/**
 * The prepared entry that answers a call, or NULL (the reason is counted).
 * For queries about a planned operation.
 */
struct uc_entry *uc_session_find(const struct uc_call *call);

/** The same for running it with these tensors and this workspace. */
struct uc_entry *uc_session_admit(const struct uc_call *call,
                                  const struct uc_tensors *tensors,
                                  size_t workspace_bytes);

/** An admitted call that cuDNN refused before anything was enqueued. */
void uc_session_failed(const struct uc_call *call, cudnnStatus_t status);

#endif
