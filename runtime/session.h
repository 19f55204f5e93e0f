/**
 * @file session.h
 * The process's one session: settings from the environment, the loaded
 * cuDNN, the plan table, and which plans this device may use.
 *
 * Nothing happens before the program first calls one of the interposed
 * functions: a program without cuDNN pays for constructors that read two
 * variables, this one's (UCUDNN_STATS, for the summary of a program whose
 * calls are not seen) and that of sight.h.
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

#include "runtime/arena.h"
#include "runtime/caller.h"
#include "runtime/ready.h"
#include "runtime/stats.h"

struct uc_session {
    /** The real functions; where there is no table they may not all be there:
        one that is NULL is answered with CUDNN_STATUS_NOT_INITIALIZED. */
    struct uc_cudnn cudnn;
    struct uc_cuda cuda;
    struct uc_table *table; /**< NULL: there is no plan to follow */
    bool observed;          /**< calls go to uc_session_observe() */
};

/** NULL when the process has no cuDNN to pass calls on to. */
struct uc_session *uc_session_get(void);

/** One call of the program. */
struct uc_call {
    cudnnHandle_t handle;
    enum uc_operation operation;
    struct uc_descriptors descriptors;
    bool fused; /**< with bias and activation */
};

/**
 * A call that was answered with this status, as planned or not: recorded,
 * counted when there is no plan, and shown to a doctor. For sessions that are
 * observed.
 */
void uc_session_observe(const struct uc_call *call, cudnnStatus_t status);

/**
 * The entry that answers a call, ready to run, or NULL; and the workspace
 * that the program must bring, none for WD. For queries about a planned
 * operation; nothing is counted.
 */
const struct uc_entry *uc_session_find(const struct uc_call *call,
                                       size_t *workspace_bytes);

/** An entry that may run now, with its workspace. */
struct uc_admission {
    struct uc_entry *entry;
    struct uc_ready *ready;
    void *workspace;
    size_t workspace_bytes;
    struct uc_segment *segment; /**< to be released, or NULL */
    CUstreamCaptureMode mode;   /**< to be restored (capture.h) */
    CUdevice device;
};

/**
 * Whether the call may run as planned, with these scalars, tensors and the
 * program's workspace. A true answer must be followed by uc_session_finish()
 * or uc_session_withdraw().
 * After a false one, admission->entry tells whether the program's questions
 * were answered for the plan, if not NULL.
 */
bool uc_session_admit(const struct uc_call *call, const void *alpha,
                      const void *beta, const struct uc_tensors *tensors,
                      void *workspace, size_t workspace_bytes,
                      struct uc_admission *admission);

/**
 * Instead of uc_session_finish(): it cannot run as planned after all, since it
 * is fused; counted, with the reason, a constant.
 */
void uc_session_withdraw(const struct uc_call *call,
                         const struct uc_admission *admission, const char *why);

/**
 * The algorithm to pass a call through with: the program's own, unless our
 * answers led it to bring too little workspace for that one; then the first
 * that does with what there is, a deterministic one if there is.
 */
int uc_session_algorithm(const struct uc_call *call,
                         const struct uc_admission *admission, int algorithm,
                         size_t workspace_bytes);

/**
 * Its work is enqueued, or `status` says why not; `started` as uc_execute()
 * said. False: nothing has been enqueued and the call must pass through.
 */
bool uc_session_finish(const struct uc_call *call,
                       const struct uc_admission *admission,
                       cudnnStatus_t status, bool started);

#endif
