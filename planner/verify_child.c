#include "config.h"

#include "planner/child.h"
#include "planner/verify_impl.h"

#include <stdio.h>
#include <stdlib.h>

void uc_verify_say_at(struct uc_verify_side *side, size_t operation,
                      enum uc_verify_step step)
{
    struct uc_verify_message m = { .event = UC_VERIFY_AT,
                                   .operation = operation,
                                   .step = step };

    uc_child_say(side->fd, &m, sizeof m);
}

static void say_run(struct uc_verify_side *side, size_t operation,
                    enum uc_verify_step step, const struct uc_verify_run *run)
{
    struct uc_verify_message m = {
        .event = UC_VERIFY_SETTLED,
        .operation = operation,
        .step = step,
        .choice = side->verification->operations[operation].choice,
        .u.run = *run,
    };

    uc_child_say(side->fd, &m, sizeof m);
}

/* An operation ------------------------------------------------------------*/

static enum uc_status run_planned(struct uc_verify_side *side,
                                  struct uc_trial *trial, size_t index,
                                  struct uc_error *err)
{
    struct uc_verify_run *run = &side->verification->operations[index].planned;
    struct uc_verify_run result = { 0 };
    enum uc_status status;

    uc_verify_say_at(side, index, UC_VERIFY_PLANNED);
    uc_way_set_planned(&side->planned[index], side->verification->plan, index);
    status = uc_way_run(side, trial, &side->planned[index], 0, &result, err);
    if (status != UC_OK)
        return status;
    *run = result;
    say_run(side, index, UC_VERIFY_PLANNED, run);
    return UC_OK;
}

static enum uc_status run_undivided(struct uc_verify_side *side,
                                    struct uc_trial *trial, size_t index,
                                    struct uc_error *err)
{
    struct uc_verify_operation *op = &side->verification->operations[index];
    struct uc_verify_run result = { 0 };
    enum uc_status status;

    uc_verify_say_at(side, index, UC_VERIFY_UNDIVIDED);
    if (op->choice.source == UC_UNDIVIDED_PROFILE) {
        uc_way_set_undivided(&side->undivided[index], side->verification->plan,
                             index, &op->choice);
        status =
            uc_way_run(side, trial, &side->undivided[index], 0, &result, err);
    } else {
        status = uc_way_find_undivided(side, trial, index, &op->choice, &result,
                                       err);
    }
    if (status != UC_OK)
        return status;
    op->undivided = result;
    say_run(side, index, UC_VERIFY_UNDIVIDED, &op->undivided);
    return UC_OK;
}

/** There can be no tensors of it. */
static void give_up(struct uc_verify_side *side, size_t index, const char *why)
{
    struct uc_verify_operation *op = &side->verification->operations[index];
    struct uc_verify_run run = { .settled = true, .error = -1 };

    snprintf(run.reason, sizeof run.reason, "%.*s", UC_REASON_TEXT - 1, why);
    op->planned = op->undivided = run;
    say_run(side, index, UC_VERIFY_PLANNED, &run);
    say_run(side, index, UC_VERIFY_UNDIVIDED, &run);
}

static enum uc_status run_operation(struct uc_verify_side *side, size_t index,
                                    struct uc_error *err)
{
    const struct uc_plan_operation *op =
        &side->verification->plan->operations[index];
    const struct uc_verify_operation *found =
        &side->verification->operations[index];
    struct uc_trial trial = { .session = &side->session,
                              .problem = op->problem,
                              .micro_batch = op->batch,
                              .skip_references = side->skip_references[index],
                              .x = &side->session.x,
                              .w = &side->session.w,
                              .y = &side->session.y };
    enum uc_status status;

    uc_verify_say_at(side, index, UC_VERIFY_REFERENCE);
    status = uc_trial_open(&trial, err);
    if (status == UC_ENOFIT || status == UC_EINPUT) {
        give_up(side, index, err->text);
        return UC_OK;
    }
    if (status == UC_OK && !found->planned.settled)
        status = run_planned(side, &trial, index, err);
    if (status == UC_OK && !found->undivided.settled)
        status = run_undivided(side, &trial, index, err);
    return status;
}

/* The process -------------------------------------------------------------*/

static enum uc_status run_all(struct uc_verify_side *side, struct uc_error *err)
{
    struct uc_verification *v = side->verification;
    struct uc_verify_message m = { .event = UC_VERIFY_SETTLED,
                                   .step = UC_VERIFY_SEQUENCE };
    enum uc_status status = UC_OK;

    side->planned = calloc(v->plan->operation_count, sizeof *side->planned);
    side->undivided = calloc(v->plan->operation_count, sizeof *side->undivided);
    if (side->planned == NULL || side->undivided == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < v->plan->operation_count && status == UC_OK; i++)
        if (!v->operations[i].planned.settled ||
            !v->operations[i].undivided.settled)
            status = run_operation(side, i, err);
    if (status == UC_OK)
        uc_verify_say_at(side, 0, UC_VERIFY_SEQUENCE);
    if (status == UC_OK)
        status = uc_verify_sequence_run(side, &m.u.sequence, err);
    if (status == UC_OK)
        uc_child_say(side->fd, &m, sizeof m);
    return status;
}

int uc_verify_child(void *context, int fd)
{
    static struct uc_verify_side side;
    const struct uc_verify_task *task = context;
    struct uc_verify_message m = { .event = UC_VERIFY_READY };
    struct uc_error err = { .status = UC_OK };
    enum uc_status status;

    side.fd = fd;
    side.device = task->device;
    side.verification = task->verification;
    side.skip_references = task->skip_references;
    side.session.max_workspace_bytes = INT64_MAX;
    status = uc_gpu_open(&side.session.gpu, task->device, &err);
    if (status == UC_OK) {
        m.u.here = side.session.gpu.environment;
        uc_child_say(fd, &m, sizeof m);
        if (side.verification != NULL)
            status = run_all(&side, &err);
    }
    m = (struct uc_verify_message){ .event = UC_VERIFY_ALL_DONE };
    if (status != UC_OK)
        m = (struct uc_verify_message){ .event = UC_VERIFY_LOST,
                                        .u.error = err };
    uc_child_say(fd, &m, sizeof m);
    return (int)status;
}
