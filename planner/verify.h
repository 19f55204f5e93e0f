/**
 * @file verify.h
 * Verifying a plan on a GPU: every planned operation, and its undivided
 * counterpart, run on random data.
 *
 * What runs is what libucudnn runs (runtime/ready.h, runtime/execute.h), in a
 * process of its own: a kernel that crashes or hangs is an operation that
 * failed. Results are compared with a strict reference as bench does, then
 * timed. At last all operations run in the plan's order, each as often as the
 * network runs it, as one timed sequence: planned and undivided in turn, each
 * run of an operation on tensors of its own where memory allows, so that none
 * finds in the cache what the one before has left there.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds.
 * Owner:   a verification borrows its plan; free it with
 *          uc_verification_free(), which takes a zeroed one.
 * Errors:  UC_EDEVICE: no GPU, or one that nothing runs on. What an operation
 *          does wrong is a verdict.
 * Threads: the process must be single-threaded (it forks).
 */
#ifndef UC_PLANNER_VERIFY_H
#define UC_PLANNER_VERIFY_H

#include "db/plan.h"
#include "db/profile.h"

/** What came of an operation; the worst of what is true of it. */
enum uc_verdict {
    UC_VERIFIED,       /**< "ok" */
    UC_SLOWER,         /**< "slow": than predicted */
    UC_OVER_WORKSPACE, /**< "over-workspace": than stored */
    UC_WRONG_RESULT,   /**< "wrong" */
    UC_VERIFY_FAILED,  /**< "failed": refused, crashed, hung, out of bounds */
    UC_VERDICTS
};
const char *uc_verdict_name(enum uc_verdict verdict);

/** One way to run an operation. */
struct uc_verify_run {
    bool settled;                /**< what follows is known */
    char reason[UC_REASON_TEXT]; /**< why it failed; "": it did not */
    int64_t workspace_bytes;     /**< that cuDNN asks for now */
    double error;                /**< relative L2; negative: unknown */
    double allowed;              /**< most that is right */
    int64_t time_ns;             /**< median; 0: not timed */
    int64_t spread_ns;           /**< half the interquartile range */
    int64_t host_ns;             /**< median host time to issue it */
};

/** Where an undivided counterpart comes from. */
enum uc_undivided_source {
    UC_UNDIVIDED_NONE,    /**< there is none within the limit */
    UC_UNDIVIDED_PROFILE, /**< "profile": the one the plan was compared with */
    UC_UNDIVIDED_FOUND    /**< "found": the fastest of those tried here */
};

struct uc_undivided {
    enum uc_undivided_source source;
    struct uc_kernel kernel;
    unsigned notes;
};

struct uc_verify_operation {
    enum uc_verdict verdict; /**< set by uc_verify_judge() */
    struct uc_undivided choice;
    struct uc_verify_run planned, undivided;
};

/** All operations, one after another. */
struct uc_verify_sequence {
    bool settled;
    char reason[UC_REASON_TEXT]; /**< why it did not run; "": it did */
    enum uc_verdict verdict;     /**< set by uc_verify_judge() */
    int64_t predicted_ns;        /**< of the operations in it */
    int64_t planned_ns, planned_spread_ns;
    int64_t undivided_ns, undivided_spread_ns;
    int samples;
    int64_t left_out;    /**< operations that do not run */
    int64_t without;     /**< run as planned in both: no counterpart */
    bool shared_tensors; /**< memory was too small for tensors of their own */
};

struct uc_verification {
    const struct uc_plan *plan;
    char skipped[UC_REASON_TEXT]; /**< why it was not run; "": it was */
    struct uc_environment here;
    struct uc_verify_operation *operations; /**< owned; as the plan's */
    struct uc_verify_sequence sequence;
};

struct uc_verify_options {
    int device;
    double tolerance;        /**< share slower than predicted that passes */
    double kernel_timeout_s; /**< silence after which a kernel has hung */
    bool quiet;              /**< no progress */
};

#define UC_VERIFY_TOLERANCE 0.1
#define UC_VERIFY_KERNEL_TIMEOUT_S 60.0

/** The GPU and the versions here; UC_EDEVICE: there is none to use. */
enum uc_status uc_verify_environment(const struct uc_verify_options *options,
                                     struct uc_environment *here,
                                     struct uc_error *err);

/** Nothing settled yet. */
enum uc_status uc_verification_init(const struct uc_plan *plan,
                                    struct uc_verification *verification,
                                    struct uc_error *err);
void uc_verification_free(struct uc_verification *verification);

/**
 * The undivided kernels that the plan was compared with, from the profile it
 * was made from: of the time that the plan holds, else the fastest within the
 * limit. UC_EINPUT: the profile knows nothing of the plan's device.
 */
enum uc_status uc_verify_choose(struct uc_verification *verification,
                                struct uc_profile *profile,
                                struct uc_error *err);

/** Workspace that the undivided counterpart of an operation may use: the limit
 * of WR; in WD, where it is the solver's share, what the plan gives it. */
int64_t uc_verify_limit(const struct uc_plan *plan,
                        const struct uc_plan_operation *operation);
/** Whether a kernel with these notes is one that the plan could have had. */
bool uc_verify_admits(const struct uc_plan *plan,
                      const struct uc_problem *problem, unsigned notes);

/** Run everything. */
enum uc_status uc_verify_run_all(struct uc_verification *verification,
                                 const struct uc_verify_options *options,
                                 struct uc_error *err);

/** Set the verdicts; returns how many are not UC_VERIFIED. */
size_t uc_verify_judge(struct uc_verification *verification, double tolerance);

/** What is wrong with an operation, or the sequence: "slow: 1.2 ms, predicted
 * were 1 ms"; "" when nothing is. */
enum { UC_VERIFY_TEXT = 320 };
void uc_verify_fault(const struct uc_verification *verification, size_t index,
                     char text[UC_VERIFY_TEXT]);
void uc_verify_sequence_fault(const struct uc_verification *verification,
                              char text[UC_VERIFY_TEXT]);

#endif
