/**
 * @file verify_impl.h
 * What the two processes of a verification say to each other, and the side
 * that has the GPU.
 *
 * Owner, errors, threads: as verify.h says; the GPU's side lives as long as
 * its process.
 */
#ifndef UC_PLANNER_VERIFY_IMPL_H
#define UC_PLANNER_VERIFY_IMPL_H

#include "planner/trial.h"
#include "planner/verify.h"
#include "runtime/execute.h"

/** Where a child is; what is to blame if it goes no further. */
enum uc_verify_step {
    UC_VERIFY_REFERENCE,
    UC_VERIFY_PLANNED,
    UC_VERIFY_UNDIVIDED,
    UC_VERIFY_SEQUENCE
};

enum uc_verify_event {
    UC_VERIFY_READY,   /**< here */
    UC_VERIFY_AT,      /**< operation, step: begins, or is alive */
    UC_VERIFY_SETTLED, /**< operation, step: run and choice, or sequence */
    UC_VERIFY_LOST,    /**< error; the child ends */
    UC_VERIFY_ALL_DONE
};

struct uc_verify_message {
    enum uc_verify_event event;
    enum uc_verify_step step;
    size_t operation;
    struct uc_undivided choice;
    union {
        struct uc_environment here;
        struct uc_verify_run run;
        struct uc_verify_sequence sequence;
        struct uc_error error;
    } u;
};

/** What a child is started with. */
struct uc_verify_task {
    int device;
    struct uc_verification *verification; /**< NULL: only say what is here */
    const int *skip_references; /**< an operation: how many took down their
                                     child when they computed the reference */
};

/** The child: does all that is not settled. A uc_child_body. */
int uc_verify_child(void *context, int fd);

/** One way to run an operation, ready as the runtime makes it. */
struct uc_way {
    struct uc_plan_operation operation; /**< pieces borrowed, or `piece` */
    struct uc_plan_piece piece;         /**< of an undivided one */
    struct uc_entry entry;
    bool set;
};

/** The GPU's side. */
struct uc_verify_side {
    struct uc_measure_session session;
    struct uc_verification *verification; /**< this process's own copy */
    const int *skip_references;           /**< an operation */
    int device, fd;
    struct uc_way *planned, *undivided; /**< an operation each */
};

void uc_verify_say_at(struct uc_verify_side *side, size_t operation,
                      enum uc_verify_step step);

/* Ways ------------------------------------------------------------------*/

void uc_way_set_planned(struct uc_way *way, const struct uc_plan *plan,
                        size_t index);
/** Replaces what it was. */
void uc_way_set_undivided(struct uc_way *way, const struct uc_plan *plan,
                          size_t index, const struct uc_undivided *choice);
/** Ready with alpha 1 and beta 0; NULL: `reason` says why not. */
const struct uc_ready *uc_way_ready(struct uc_verify_side *side,
                                    struct uc_way *way,
                                    char reason[UC_REASON_TEXT]);
/** Enqueue it once. */
enum uc_status uc_way_issue(struct uc_verify_side *side,
                            const struct uc_ready *ready,
                            const struct uc_tensors *tensors,
                            struct uc_error *err);

/** Check and time a way on the trial's tensors. `cut_off_ns`: slower than
 * that is not timed (time_ns stays 0); 0: none. */
enum uc_status uc_way_run(struct uc_verify_side *side, struct uc_trial *trial,
                          struct uc_way *way, double cut_off_ns,
                          struct uc_verify_run *run, struct uc_error *err);

/** The fastest undivided kernel within the limit, of cuDNN's legacy ones and
 * the first that its graph API chooses; none: choice->source says so. */
enum uc_status uc_way_find_undivided(struct uc_verify_side *side,
                                     struct uc_trial *trial, size_t index,
                                     struct uc_undivided *choice,
                                     struct uc_verify_run *run,
                                     struct uc_error *err);

enum uc_status uc_verify_sequence_run(struct uc_verify_side *side,
                                      struct uc_verify_sequence *result,
                                      struct uc_error *err);

#endif
