/**
 * @file trial.h
 * A trial: one problem at one micro-batch size on the GPU, with its random
 * inputs and buffers, and one kernel at a time.
 *
 * Owner:   buffers are the session's; uc_runner_free() the runner.
 * Errors:  as uc_gpu's.
 * Threads: one.
 */
#ifndef UC_PLANNER_TRIAL_H
#define UC_PLANNER_TRIAL_H

#include "planner/measure.h"
#include "runtime/runner.h"

/** What the result in session->reference is worth. */
enum uc_reference {
    UC_REFERENCE_NONE,    /**< no strict kernel works */
    UC_REFERENCE_ALONE,   /**< only one does */
    UC_REFERENCE_AGREED,  /**< a second one computed the same */
    UC_REFERENCE_DISPUTED /**< several work, no two in a row agree */
};

/** A problem at one size with its buffers: the one measured, or the
    reference it is compared with. */
struct uc_trial {
    struct uc_measure_session *session;
    struct uc_problem problem;
    int64_t micro_batch;
    int skip_references;      /**< of the kernels that could make the reference,
                                   the first are left out: they crash */
    struct uc_runner *runner; /**< the kernel in hand; NULL: none */
    struct uc_buffer *x, *w, *y;
    int64_t turns; /**< calls whose x and y are apart; 0: not opened */
    enum uc_reference reference;
};

enum {
    UC_SEED_X = 1,
    UC_SEED_W,
    UC_SEED_Y,
    UC_SEED_PRIOR,
    UC_SEED_MORE /**< + enum uc_tensor */
};

struct uc_buffer *uc_trial_buffer(const struct uc_trial *trial,
                                  enum uc_tensor tensor);

/**
 * Buffers and random inputs; values are rounded to the types of
 * `like`, so that two trials of different types compute the same.
 */
enum uc_status uc_trial_prepare(struct uc_trial *trial,
                                const struct uc_problem *like,
                                struct uc_error *err);

/**
 * Poison the output with NaN. Where nothing will be written (gaps of a
 * strided tensor) or `accumulate` adds to it: the values of UC_SEED_PRIOR.
 */
enum uc_status uc_trial_clear(struct uc_trial *trial, bool accumulate,
                              struct uc_error *err);

/**
 * Take a kernel in hand, in place of the one before, and ask its workspace. It
 * is to be built (uc_runner_build()) before it runs.
 */
cudnnStatus_t uc_trial_select(struct uc_trial *trial,
                              const struct uc_kernel *kernel, bool accumulate,
                              size_t *workspace_bytes);

/**
 * Random values for the x and y of more calls, so many that in back-to-back
 * calls none finds its own in the device's cache: micro-batches do not either,
 * nor does a layer in a network, and one that fits the cache would else look up
 * to half as fast again. Without memory for it all calls have the same.
 */
enum uc_status uc_trial_take_turns(struct uc_trial *trial,
                                   struct uc_error *err);

/** The session's workspace; when memory runs out, in place of those values. */
enum uc_status uc_trial_reserve_workspace(struct uc_trial *trial, int64_t bytes,
                                          struct uc_error *err);

/** Of call number `turn` >= 0; number 0 has the trial's own. */
struct uc_tensors uc_trial_tensors(const struct uc_trial *trial, int64_t turn);

/** Enqueue one call of the kernel in hand, alpha 1, beta 1 or 0 as it was
    selected with, in the session's workspace. */
cudnnStatus_t uc_trial_run(struct uc_trial *trial, bool accumulate,
                           size_t workspace_bytes, int64_t turn);

/** What a run has left. */
struct uc_trial_result {
    double error; /**< relative L2; NaN when it holds a NaN, and without a
                       reference otherwise 0 */
    const char *overran; /**< says where it wrote that is not its own; NULL:
                              nowhere */
};

/** Of the run that was waited for, which added to UC_SEED_PRIOR's values if
    `accumulate`. */
enum uc_status uc_trial_inspect(const struct uc_trial *trial, bool accumulate,
                                struct uc_trial_result *result,
                                struct uc_error *err);

/** The strict result of the same values into session->reference; what it is
    worth into measured->reference. */
enum uc_status uc_reference_make(struct uc_trial *measured,
                                 struct uc_error *err);

/**
 * Buffers, random inputs and the strict result. Buffers only grow, from one
 * trial to the next, until memory runs out: then all start anew, as large as
 * this one needs them.
 */
enum uc_status uc_trial_open(struct uc_trial *trial, struct uc_error *err);

/** Give back the memory of all of a session's buffers. */
void uc_session_release(struct uc_measure_session *session);

#endif
