#include "config.h"

#include "planner/measure.h"

#include "common/array.h"
#include "common/clock.h"
#include "planner/prune.h"
#include "planner/timing.h"
#include "planner/tolerance.h"
#include "planner/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One kernel -------------------------------------------------------------*/

static void set_outcome(struct uc_measurement *m, enum uc_outcome outcome,
                        const char *reason)
{
    m->outcome = outcome;
    snprintf(m->reason, sizeof m->reason, "%.*s", (int)strcspn(reason, "\n"),
             reason);
}

/** Run once, checked. *fit tells whether the kernel may be timed. */
static enum uc_status check_kernel(struct uc_trial *trial, bool accumulate,
                                   struct uc_measurement *m, bool *fit,
                                   struct uc_error *err)
{
    struct uc_measure_session *s = trial->session;
    struct uc_trial_result left;
    enum uc_status status;
    cudnnStatus_t result;

    *fit = false;
    if ((status = uc_trial_clear(trial, accumulate, err)) != UC_OK ||
        (status = uc_gpu_poison(&s->gpu, &s->workspace, err)) != UC_OK)
        return status;
    result = uc_trial_run(trial, accumulate, (size_t)m->workspace_bytes, 0);
    if (result != CUDNN_STATUS_SUCCESS) {
        set_outcome(
            m, uc_cudnn_is_unsupported(result) ? UC_UNSUPPORTED : UC_FAILED,
            s->gpu.cudnn.GetErrorString(result));
        return uc_gpu_wait(&s->gpu, err);
    }
    status = uc_gpu_wait(&s->gpu, err);
    if (status != UC_OK) {
        set_outcome(m, UC_FAILED, err->text);
        return status;
    }
    status = uc_trial_inspect(trial, accumulate, &left, err);
    if (status != UC_OK)
        return status;
    m->error = trial->reference != UC_REFERENCE_NONE && !isnan(left.error)
                   ? left.error
                   : -1;
    if (left.overran != NULL) {
        set_outcome(m, UC_OUT_OF_BOUNDS, left.overran);
    } else if (trial->reference == UC_REFERENCE_DISPUTED) {
        set_outcome(m, UC_WRONG, "no two kernels in a row agree");
    } else if (!(left.error <= uc_tolerance(&trial->problem, m->notes))) {
        snprintf(m->reason, sizeof m->reason, "relative L2 error %.3g",
                 left.error);
        m->outcome = UC_WRONG;
    } else {
        *fit = true;
    }
    return UC_OK;
}

struct timed_call {
    struct uc_trial *trial;
    const struct uc_measurement *m;
    int64_t turn;
};

static enum uc_status issue(void *context, int calls, struct uc_error *err)
{
    struct timed_call *call = context;
    const struct uc_measurement *m = call->m;
    struct uc_trial *trial = call->trial;

    for (int i = 0; i < calls; i++) {
        cudnnStatus_t status = uc_trial_run(
            trial, m->accumulate, (size_t)m->workspace_bytes, call->turn++);

        if (status != CUDNN_STATUS_SUCCESS)
            return uc_fail(err, UC_EDEVICE, "cuDNN: %s",
                           trial->session->gpu.cudnn.GetErrorString(status));
    }
    return UC_OK;
}

static enum uc_status sample(void *context, bool lead, int samples, int calls,
                             float *device_ns, float *host_ns,
                             struct uc_error *err)
{
    const struct timed_call *call = context;

    return uc_gpu_sample(&call->trial->session->gpu, issue, context, lead,
                         samples, calls, device_ns, host_ns, err);
}

/* Memory -----------------------------------------------------------------*/

/** Whether buffers are larger than this trial needs. */
static bool has_slack(struct uc_measure_session *s)
{
    const struct uc_buffer *const buffers[] = UC_SESSION_BUFFERS(s);

    for (int i = 0; buffers[i] != NULL; i++)
        if (buffers[i]->capacity_bytes > buffers[i]->bytes)
            return true;
    return false;
}

static enum uc_status reserve_workspace(struct uc_trial *trial, int64_t bytes,
                                        struct uc_error *err)
{
    struct uc_measure_session *s = trial->session;
    enum uc_status status = uc_trial_reserve_workspace(trial, bytes, err);

    if (status != UC_ENOFIT || !has_slack(s))
        return status;
    uc_session_release(s);
    status = uc_trial_open(trial, err);
    if (status == UC_OK)
        status = uc_trial_reserve_workspace(trial, bytes, err);
    return status;
}

/* Timing -----------------------------------------------------------------*/

/** `best_ns`: the fastest kernel of no larger workspace; 0: none yet. */
static enum uc_status time_kernel(struct uc_trial *trial, int64_t best_ns,
                                  struct uc_measurement *m,
                                  struct uc_error *err)
{
    bool graph = m->kernel.api == UC_API_GRAPH;
    double factor = graph ? UC_NEAR_CUT_OFF_FACTOR : UC_CUT_OFF_FACTOR;
    double limit_ns = (double)best_ns * factor;
    struct uc_timing_limits limits = { limit_ns, graph ? limit_ns : 0 };
    struct timed_call call = { trial, m, 0 };
    struct uc_timing timing;
    enum uc_status status =
        uc_timing_take(sample, &call, &limits, &timing, err);

    if (status != UC_OK) {
        set_outcome(m, UC_FAILED, err->text);
        return status;
    }
    m->outcome = timing.cut_off ? UC_CUT_OFF : UC_MEASURED;
    if (timing.cut_off)
        snprintf(m->reason, sizeof m->reason,
                 "over %g times the best of no larger workspace", factor);
    m->time_ns = timing.median_ns;
    m->spread_ns = timing.spread_ns;
    m->host_ns = timing.host_ns;
    m->calls = timing.calls;
    /* Engines are many: of those that are cut off the time will do. */
    m->samples = timing.cut_off && graph ? 0 : timing.samples;
    memcpy(m->sample_ns, timing.sample_ns,
           (size_t)m->samples * sizeof *m->sample_ns);
    return UC_OK;
}

/** Whether it needs more workspace than any may, which is then its outcome. */
static bool is_over_limit(const struct uc_measure_session *s,
                          struct uc_measurement *m)
{
    if (m->workspace_bytes <= s->max_workspace_bytes)
        return false;
    set_outcome(m, UC_TOO_LARGE, "workspace over the benchmark's limit");
    return true;
}

/** Take the kernel in hand and make it ready. *fit: it may run. */
static enum uc_status build_kernel(struct uc_trial *trial,
                                   struct uc_measurement *m, bool *fit,
                                   struct uc_error *err)
{
    struct uc_measure_session *s = trial->session;
    size_t bytes = 0;
    cudnnStatus_t result =
        uc_trial_select(trial, &m->kernel, m->accumulate, &bytes);
    enum uc_status status = UC_OK;
    double start;

    *fit = false;
    if (result == CUDNN_STATUS_SUCCESS) {
        m->workspace_bytes = (int64_t)bytes;
        if (is_over_limit(s, m))
            return UC_OK;
        status = reserve_workspace(trial, m->workspace_bytes, err);
        if (status == UC_ENOFIT) {
            set_outcome(m, UC_TOO_LARGE, err->text);
            return UC_OK;
        }
        if (status != UC_OK)
            return status;
        start = uc_clock_s();
        result = uc_runner_build(trial->runner);
        if (m->kernel.api == UC_API_GRAPH)
            m->build_ns = (int64_t)((uc_clock_s() - start) * 1e9);
    }
    *fit = result == CUDNN_STATUS_SUCCESS;
    if (!*fit)
        set_outcome(
            m, uc_cudnn_is_unsupported(result) ? UC_UNSUPPORTED : UC_FAILED,
            s->gpu.cudnn.GetErrorString(result));
    return UC_OK;
}

/** The fastest so far of no larger workspace that any plan admits if it admits
    this; 0: none. */
static int64_t best_before(const struct uc_measured *measured,
                           const struct uc_measurement *m)
{
    const struct uc_measurement *rows = measured->rows;
    int64_t best_ns = 0;

    for (size_t i = 0; i < measured->count; i++)
        if (rows[i].accumulate == m->accumulate &&
            rows[i].workspace_bytes <= m->workspace_bytes &&
            uc_prune_stands_for(&rows[i], m) &&
            (best_ns == 0 || rows[i].time_ns < best_ns))
            best_ns = rows[i].time_ns;
    return best_ns;
}

static enum uc_status measure_kernel(struct uc_trial *trial,
                                     struct uc_measurement *m,
                                     struct uc_error *err)
{
    const struct uc_measured *measured = &trial->session->measured;
    bool fit;
    enum uc_status status = build_kernel(trial, m, &fit, err);

    if (status == UC_OK && fit)
        status = check_kernel(trial, m->accumulate, m, &fit, err);
    if (status == UC_OK && fit)
        status = time_kernel(trial, best_before(measured, m), m, err);
    return status;
}

/* All kernels of one work ------------------------------------------------*/

/** A kernel's place in the work and what is known before it runs. */
struct entry {
    size_t index;
    struct uc_measurement m;
    bool runs; /**< false: the outcome is already known */
};

static int by_workspace(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;

    if (left->m.workspace_bytes != right->m.workspace_bytes)
        return left->m.workspace_bytes < right->m.workspace_bytes ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

/** Of a graph kernel its search asked, or an earlier run. */
static void query_workspace(struct uc_trial *trial, struct entry *entry,
                            int64_t known_bytes)
{
    struct uc_measure_session *s = trial->session;
    struct uc_measurement *m = &entry->m;
    size_t bytes = (size_t)known_bytes;
    cudnnStatus_t result =
        m->kernel.api == UC_API_GRAPH
            ? CUDNN_STATUS_SUCCESS
            : uc_trial_select(trial, &m->kernel, m->accumulate, &bytes);

    if (result != CUDNN_STATUS_SUCCESS) {
        set_outcome(m, UC_UNSUPPORTED, s->gpu.cudnn.GetErrorString(result));
    } else {
        m->workspace_bytes = (int64_t)bytes;
        entry->runs = !is_over_limit(s, m);
    }
}

/** Forget what was measured elsewhere. */
static void begin_measured(struct uc_measured *measured,
                           const struct uc_work *work)
{
    if (measured->micro_batch != work->micro_batch ||
        !uc_problem_equal(&measured->problem, &work->problem))
        measured->count = 0;
    measured->problem = work->problem;
    measured->micro_batch = work->micro_batch;
}

/** Without memory for it, others are measured that could be cut off. */
static void remember(struct uc_measured *measured,
                     const struct uc_measurement *m)
{
    struct uc_measurement *row;

    if (m->outcome != UC_MEASURED)
        return;
    row = uc_array_append(&measured->rows, &measured->count, sizeof *row);
    if (row != NULL)
        *row = *m;
}

static enum uc_status measure_entries(struct uc_trial *trial,
                                      struct entry *entries, size_t count,
                                      const struct uc_measure_events *events,
                                      struct uc_error *err)
{
    struct uc_measured *measured = &trial->session->measured;

    for (size_t i = 0; i < count; i++) {
        struct entry *e = &entries[i];
        enum uc_status status = UC_OK;

        events->started(events->context, e->index);
        if (e->runs)
            status = measure_kernel(trial, &e->m, err);
        if (status != UC_OK && e->m.outcome != UC_FAILED)
            return status;
        e->m.measured_at = (int64_t)time(NULL);
        remember(measured, &e->m);
        events->done(events->context, e->index, &e->m);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static void start_entries(struct uc_trial *trial, const struct uc_work *work,
                          struct entry entries[UC_WORK_KERNELS])
{
    memset(entries, 0, work->kernel_count * sizeof *entries);
    for (size_t i = 0; i < work->kernel_count; i++) {
        struct uc_measurement *m = &entries[i].m;

        entries[i].index = i;
        m->kernel = work->kernels[i].kernel;
        m->accumulate = work->kernels[i].accumulate;
        m->micro_batch = work->micro_batch;
        m->error = -1;
        m->notes = work->kernels[i].notes;
        query_workspace(trial, &entries[i], work->kernels[i].workspace_bytes);
    }
    qsort(entries, work->kernel_count, sizeof *entries, by_workspace);
}

enum uc_status uc_measure_work(struct uc_measure_session *session,
                               const struct uc_work *work,
                               const struct uc_measure_events *events,
                               struct uc_error *err)
{
    struct uc_trial trial = { .session = session,
                              .problem = work->problem,
                              .micro_batch = work->micro_batch,
                              .skip_references = work->skip_references,
                              .x = &session->x,
                              .w = &session->w,
                              .y = &session->y };
    static struct entry entries[UC_WORK_KERNELS];
    enum uc_status status = uc_trial_open(&trial, err);

    if (status == UC_OK || status == UC_ENOFIT) {
        start_entries(&trial, work, entries);
        begin_measured(&session->measured, work);
        for (size_t i = 0; i < work->kernel_count && status == UC_ENOFIT; i++)
            if (entries[i].runs) {
                entries[i].runs = false;
                set_outcome(&entries[i].m, UC_TOO_LARGE, err->text);
            }
        status =
            measure_entries(&trial, entries, work->kernel_count, events, err);
    }
    uc_runner_free(trial.runner);
    return status;
}
