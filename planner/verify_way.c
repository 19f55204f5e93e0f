#include "config.h"

#include "planner/verify_impl.h"

#include "planner/tolerance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct uc_scaling plain = { 1, 0 };

static void set(struct uc_way *way, const struct uc_plan *plan)
{
    way->entry = (struct uc_entry){ .plan = plan,
                                    .operation = &way->operation,
                                    .key = way->operation.problem,
                                    .batch = way->operation.batch };
    way->set = true;
}

void uc_way_set_planned(struct uc_way *way, const struct uc_plan *plan,
                        size_t index)
{
    way->operation = plan->operations[index];
    set(way, plan);
}

void uc_way_set_undivided(struct uc_way *way, const struct uc_plan *plan,
                          size_t index, const struct uc_undivided *choice)
{
    if (way->set)
        uc_ready_free(way->entry.ready);
    way->operation = plan->operations[index];
    way->piece = (struct uc_plan_piece){ .size = way->operation.batch,
                                         .count = 1,
                                         .kernel = choice->kernel,
                                         .notes = choice->notes };
    way->operation.pieces = &way->piece;
    way->operation.piece_count = 1;
    way->operation.workspace_bytes = INT64_MAX; /* nothing was promised */
    set(way, plan);
}

const struct uc_ready *uc_way_ready(struct uc_verify_side *side,
                                    struct uc_way *way,
                                    char reason[UC_REASON_TEXT])
{
    const struct uc_gpu *gpu = &side->session.gpu;
    const struct uc_ready *ready = uc_ready_make(
        &way->entry, &gpu->cudnn, gpu->handle, side->device, &plain);

    if (ready != NULL && !ready->broken)
        return ready;
    snprintf(reason, UC_REASON_TEXT, "%s",
             ready != NULL ? ready->reason : "out of memory");
    return NULL;
}

enum uc_status uc_way_issue(struct uc_verify_side *side,
                            const struct uc_ready *ready,
                            const struct uc_tensors *tensors,
                            struct uc_error *err)
{
    static const float floats[] = { 0, 1 };
    static const double doubles[] = { 0, 1 };
    const void *zero = ready->wide ? (const void *)&doubles[0] : &floats[0];
    const void *one = ready->wide ? (const void *)&doubles[1] : &floats[1];
    struct uc_measure_session *s = &side->session;
    bool started;
    cudnnStatus_t status = uc_execute(
        ready, s->gpu.handle, one, tensors, zero,
        ready->workspace_bytes > 0 ? (void *)s->workspace.data : NULL,
        (size_t)ready->workspace_bytes, &started);

    return status == CUDNN_STATUS_SUCCESS
               ? UC_OK
               : uc_fail(err, UC_EDEVICE, "cuDNN: %s",
                         s->gpu.cudnn.GetErrorString(status));
}

/** The loosest of its kernels' classes. */
static double allowed_error(const struct uc_plan_operation *op)
{
    double allowed = 0;

    for (size_t i = 0; i < op->piece_count; i++) {
        double piece = uc_tolerance(&op->problem, op->pieces[i].notes);

        if (piece > allowed)
            allowed = piece;
    }
    return allowed;
}

/* One run, checked --------------------------------------------------------*/

struct issue {
    struct uc_verify_side *side;
    const struct uc_ready *ready;
    const struct uc_trial *trial;
    int64_t turn;
    float host_ns; /**< for one call, the least so far; 0: none yet */
};

static enum uc_status issue(void *context, int calls, struct uc_error *err)
{
    struct issue *i = context;
    enum uc_status status = UC_OK;

    while (status == UC_OK && calls-- > 0) {
        const struct uc_tensors tensors = uc_trial_tensors(i->trial, i->turn++);

        status = uc_way_issue(i->side, i->ready, &tensors, err);
    }
    return status;
}

/** What the host takes to enqueue, and some more; never long. */
static double hold_ns(double host_ns)
{
    const double factor = 1.5, more = 20e3, most = 50e6;
    double ns = host_ns * factor + more;

    return ns < most ? ns : most;
}

/** The device is held until a sample is enqueued, so that it is the device's
    time: whether the host keeps up is seen in the sequence, where an operation
    is not alone. */
static enum uc_status sample(void *context, bool lead, int samples, int calls,
                             float *device_ns, float *host_ns,
                             struct uc_error *err)
{
    struct issue *i = context;
    struct uc_gpu *gpu = &i->side->session.gpu;
    enum uc_status status = UC_OK;

    (void)lead; /* the hold stands for it */
    for (int n = 0; n < samples && status == UC_OK; n++) {
        status = uc_gpu_hold(gpu, hold_ns(i->host_ns * (float)calls), err);
        if (status == UC_OK)
            status = uc_gpu_sample(gpu, issue, i, false, 1, calls,
                                   &device_ns[n], &host_ns[n], err);
        /* The least: a host that had to wait for the device waited for a
           hold. */
        if (status == UC_OK && (i->host_ns == 0 || host_ns[n] < i->host_ns))
            i->host_ns = host_ns[n];
    }
    return status;
}

static void refuse(struct uc_verify_run *run, const char *why)
{
    snprintf(run->reason, sizeof run->reason, "%.*s", (int)strcspn(why, "\n"),
             why);
}

/** Into poisoned output and workspace; run->reason says what went wrong. */
static enum uc_status check(struct uc_trial *trial, struct issue *call,
                            struct uc_verify_run *run, struct uc_error *err)
{
    struct uc_measure_session *s = trial->session;
    struct uc_trial_result left;
    enum uc_status status;

    if ((status = uc_trial_clear(trial, false, err)) != UC_OK ||
        (status = uc_gpu_poison(&s->gpu, &s->workspace, err)) != UC_OK)
        return status;
    if (issue(call, 1, err) != UC_OK) {
        refuse(run, err->text);
        return uc_gpu_wait(&s->gpu, err);
    }
    if ((status = uc_gpu_wait(&s->gpu, err)) != UC_OK ||
        (status = uc_trial_inspect(trial, false, &left, err)) != UC_OK)
        return status;
    if (isnan(left.error))
        run->error = HUGE_VAL;
    else if (trial->reference != UC_REFERENCE_NONE)
        run->error = left.error;
    if (left.overran != NULL)
        refuse(run, left.overran);
    else if (trial->reference == UC_REFERENCE_DISPUTED)
        refuse(run, "no two strict kernels agree on what is right");
    return UC_OK;
}

enum uc_status uc_way_run(struct uc_verify_side *side, struct uc_trial *trial,
                          struct uc_way *way, double cut_off_ns,
                          struct uc_verify_run *run, struct uc_error *err)
{
    struct issue call = { .side = side,
                          .ready = uc_way_ready(side, way, run->reason),
                          .trial = trial };
    const struct uc_timing_limits limits = { .call_ns = cut_off_ns };
    struct uc_timing timing;
    enum uc_status status;

    run->settled = true;
    run->error = -1;
    run->allowed = allowed_error(&way->operation);
    if (call.ready == NULL)
        return UC_OK;
    run->workspace_bytes = call.ready->workspace_bytes;
    status = uc_trial_reserve_workspace(trial, run->workspace_bytes, err);
    if (status == UC_ENOFIT) {
        refuse(run, err->text);
        return UC_OK;
    }
    if (status == UC_OK)
        status = check(trial, &call, run, err);
    if (status != UC_OK || run->reason[0] != '\0' || run->error > run->allowed)
        return status;
    status = uc_timing_take(sample, &call, &limits, &timing, err);
    if (status != UC_OK || timing.cut_off)
        return status;
    run->time_ns = timing.median_ns;
    run->spread_ns = timing.spread_ns;
    run->host_ns = timing.host_ns;
    return UC_OK;
}
