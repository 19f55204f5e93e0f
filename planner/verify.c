#include "config.h"

#include "planner/verify.h"

#include "planner/child.h"
#include "planner/progress.h"
#include "planner/verify_impl.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_REFERENCES = 3 };

static const double start_timeout_s = 120;

struct run {
    struct uc_verification *verification;
    const struct uc_verify_options *options;
    struct uc_verify_task task;
    int *skip_references; /**< an operation */
    struct uc_child child;
    size_t operation;         /**< where the child is */
    enum uc_verify_step step; /**< and at what */
    struct uc_error error;    /**< its last words; status UC_OK: none */
    struct uc_progress progress;
};

/** Start a child; it says what device it has. */
static enum uc_status start(const struct uc_verify_options *options,
                            struct uc_verify_task *task, struct uc_child *child,
                            struct uc_environment *here, struct uc_error *err)
{
    struct uc_verify_message m;
    char how[128];
    enum uc_status status =
        uc_child_start_on(child, uc_verify_child, task, options->device,
                          start_timeout_s, &m, sizeof m, err);

    if (status != UC_OK)
        return status;
    if (m.event == UC_VERIFY_READY) {
        *here = m.u.here;
        return UC_OK;
    }
    uc_child_stop(child, how, sizeof how);
    *err = m.u.error;
    return err->status;
}

enum uc_status uc_verify_environment(const struct uc_verify_options *options,
                                     struct uc_environment *here,
                                     struct uc_error *err)
{
    struct uc_verify_task task = { .device = options->device };
    struct uc_child child = { 0 };
    char how[128];
    enum uc_status status = start(options, &task, &child, here, err);

    uc_child_stop(&child, how, sizeof how);
    return status;
}

/* What the child says -----------------------------------------------------*/

static void settle(struct run *run, const struct uc_verify_message *m)
{
    struct uc_verify_operation *op =
        &run->verification->operations[m->operation];
    const struct uc_plan_operation *planned =
        &run->verification->plan->operations[m->operation];
    char text[UC_VERIFY_TEXT];

    if (m->step == UC_VERIFY_SEQUENCE) {
        run->verification->sequence = m->u.sequence;
        return;
    }
    if (m->step == UC_VERIFY_PLANNED) {
        op->planned = m->u.run;
    } else {
        op->choice = m->choice;
        op->undivided = m->u.run;
    }
    snprintf(text, sizeof text, "%s %s", planned->layer,
             uc_operation_name(planned->problem.operation));
    uc_progress_step(&run->progress, text);
}

static void fail(struct uc_verify_run *failed, const char *why)
{
    *failed = (struct uc_verify_run){ .settled = true, .error = -1 };
    snprintf(failed->reason, sizeof failed->reason, "%.*s", UC_REASON_TEXT - 1,
             why);
}

/** The child is gone: what it was at has failed, and is not tried again. */
static enum uc_status blame(struct run *run, const char *why,
                            struct uc_error *err)
{
    struct uc_verify_operation *op =
        &run->verification->operations[run->operation];
    struct uc_verify_sequence *s = &run->verification->sequence;

    switch (run->step) {
    case UC_VERIFY_REFERENCE:
        if (op->planned.settled && op->undivided.settled)
            return uc_fail(err, UC_EDEVICE,
                           "GPU %d takes down its process before any kernel: "
                           "%s",
                           run->options->device, why);
        if (++run->skip_references[run->operation] <= MAX_REFERENCES)
            break;
        fail(&op->planned, why);
        fail(&op->undivided, why);
        break;
    case UC_VERIFY_PLANNED:
        fail(&op->planned, why);
        break;
    case UC_VERIFY_UNDIVIDED:
        fail(&op->undivided, why);
        break;
    default:
        *s = (struct uc_verify_sequence){ .settled = true };
        snprintf(s->reason, sizeof s->reason, "%.*s", UC_REASON_TEXT - 1, why);
        break;
    }
    return UC_OK;
}

/** Listen to one child; *done tells whether it came to its end. */
static enum uc_status attend(struct run *run, bool *done, struct uc_error *err)
{
    struct uc_verify_message m;
    char how[128], why[UC_REASON_TEXT];
    enum uc_child_word word;

    run->error.status = UC_OK;
    while ((word = uc_child_hear(&run->child, &m, sizeof m,
                                 run->options->kernel_timeout_s)) ==
           UC_CHILD_SAID) {
        if (m.event == UC_VERIFY_AT) {
            run->operation = m.operation;
            run->step = m.step;
        } else if (m.event == UC_VERIFY_SETTLED) {
            settle(run, &m);
        } else if (m.event == UC_VERIFY_LOST) {
            run->error = m.u.error;
        } else {
            break;
        }
    }
    uc_child_stop(&run->child, how, sizeof how);
    *done = word == UC_CHILD_SAID;
    if (*done)
        return UC_OK;
    if (run->error.status != UC_OK && run->error.status != UC_EDEVICE) {
        *err = run->error;
        return err->status;
    }
    if (word == UC_CHILD_SILENT)
        snprintf(why, sizeof why, "no answer for %g s",
                 run->options->kernel_timeout_s);
    else
        snprintf(why, sizeof why, "%.*s", UC_REASON_TEXT - 1,
                 run->error.status != UC_OK ? run->error.text : how);
    return blame(run, why, err);
}

enum uc_status uc_verify_run_all(struct uc_verification *verification,
                                 const struct uc_verify_options *options,
                                 struct uc_error *err)
{
    size_t count = verification->plan->operation_count;
    struct run run = { .verification = verification,
                       .options = options,
                       .skip_references =
                           calloc(count, sizeof *run.skip_references) };
    enum uc_status status = UC_OK;
    bool done = false;

    if (run.skip_references == NULL)
        return uc_no_memory(err);
    run.task = (struct uc_verify_task){ options->device, verification,
                                        run.skip_references };
    uc_progress_begin(&run.progress, (int64_t)(2 * count), options->quiet);
    while (status == UC_OK && !done && !verification->sequence.settled) {
        status =
            start(options, &run.task, &run.child, &verification->here, err);
        run.operation = 0;
        run.step = UC_VERIFY_REFERENCE;
        if (status == UC_OK)
            status = attend(&run, &done, err);
    }
    uc_progress_end(&run.progress);
    free(run.skip_references);
    return status;
}
