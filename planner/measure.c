#include "config.h"

#include "planner/measure.h"

#include "planner/timing.h"
#include "runtime/runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SEED_X = 1, SEED_W = 2, SEED_Y = 3, SEED_PRIOR = 4 };

/** A problem at one size with its buffers: the one measured, or the
    reference it is compared with. */
struct bench {
    struct uc_measure_session *session;
    struct uc_problem problem;
    struct uc_runner *runner;
    struct uc_buffer *x, *w, *y;
    bool has_reference;
};

static struct uc_buffer *buffer_of(const struct bench *b, enum uc_tensor tensor)
{
    return tensor == UC_X ? b->x : tensor == UC_W ? b->w : b->y;
}

static enum uc_dtype type_of(const struct uc_problem *p, enum uc_tensor tensor)
{
    return tensor == UC_X ? p->x_type : tensor == UC_W ? p->w_type : p->y_type;
}

double uc_measure_tolerance(const struct uc_problem *problem)
{
    static const double tolerances[UC_MATHS] = {
        [UC_MATH_FMA] = 1e-2, /* Winograd's 5x5 reaches 5e-3 */
        [UC_MATH_TF32] = 1e-2,
        [UC_MATH_FP16] = 2e-2,
        [UC_MATH_BF16] = 1e-1,
    };
    static const enum uc_math coarsest[UC_DTYPES] = {
        [UC_FP32] = UC_MATH_FMA,
        [UC_FP16] = UC_MATH_FP16,
        [UC_BF16] = UC_MATH_BF16,
        [UC_FP64] = UC_MATH_FMA,
    };
    double math = tolerances[problem->math];
    /* The result is rounded to the output's type whatever the math. */
    enum uc_tensor out = uc_operation_output(problem->operation);
    double rounding = tolerances[coarsest[type_of(problem, out)]];

    return math > rounding ? math : rounding;
}

static enum uc_status fill_tensor(struct bench *b, enum uc_tensor tensor,
                                  enum uc_dtype rounding, int64_t micro_batch,
                                  struct uc_error *err)
{
    struct uc_gpu *gpu = &b->session->gpu;
    struct uc_buffer *buffer = buffer_of(b, tensor);
    static const uint64_t seeds[] = {
        [UC_X] = SEED_X, [UC_W] = SEED_W, [UC_Y] = SEED_Y
    };
    enum uc_status status;
    int64_t bytes;

    if ((status = uc_problem_tensor_bytes(&b->problem, tensor, micro_batch,
                                          &bytes, err)) != UC_OK ||
        (status = uc_gpu_reserve(gpu, buffer, bytes, err)) != UC_OK)
        return status;
    return uc_gpu_fill(gpu, buffer, type_of(&b->problem, tensor), rounding,
                       seeds[tensor], err);
}

/** Descriptors, buffers and random inputs; values rounded as `like` has. */
static enum uc_status prepare(struct bench *b, const struct uc_problem *like,
                              int64_t micro_batch, struct uc_error *err)
{
    enum uc_status status = uc_runner_create(
        &b->session->gpu.cudnn, &b->problem, micro_batch, &b->runner, err);

    for (int t = UC_X; status == UC_OK && t <= UC_Y; t++)
        status =
            fill_tensor(b, (enum uc_tensor)t, type_of(like, (enum uc_tensor)t),
                        micro_batch, err);
    return status;
}

static cudnnStatus_t run(struct bench *b, const struct uc_kernel *kernel,
                         bool accumulate, size_t workspace_bytes)
{
    static const float ones[] = { 0, 1 };
    static const double double_ones[] = { 0, 1 };
    bool wide = b->problem.x_type == UC_FP64;
    const void *one = wide ? (const void *)&double_ones[1] : &ones[1];
    const void *zero = wide ? (const void *)&double_ones[0] : &ones[0];
    struct uc_tensors tensors = { (void *)b->x->data, (void *)b->w->data,
                                  (void *)b->y->data };

    return uc_runner_run(
        b->runner, b->session->gpu.handle, kernel, one, &tensors,
        accumulate ? one : zero,
        workspace_bytes > 0 ? (void *)b->session->workspace.data : NULL,
        workspace_bytes);
}

/** NaN everywhere; where a strided tensor has gaps, random data instead,
    since nothing will ever be written there. */
static enum uc_status clear_output(struct bench *b, bool accumulate,
                                   struct uc_error *err)
{
    struct uc_gpu *gpu = &b->session->gpu;
    enum uc_tensor out = uc_operation_output(b->problem.operation);
    const struct uc_tensor_layout *layout = out == UC_X   ? &b->problem.x
                                            : out == UC_Y ? &b->problem.y
                                                          : &b->problem.w;

    if (accumulate || layout->kind == UC_STRIDED)
        return uc_gpu_fill(gpu, buffer_of(b, out), type_of(&b->problem, out),
                           type_of(&b->problem, out), SEED_PRIOR, err);
    return uc_gpu_poison(gpu, buffer_of(b, out), err);
}

/* Reference --------------------------------------------------------------*/

/** The first FMA kernel that runs computes the reference. */
static enum uc_status run_reference(struct bench *b, struct uc_error *err)
{
    static const int order[] = { 1, 0, 3, 2, 4, 5, 6, 7 };
    struct uc_measure_session *s = b->session;
    int count = uc_legacy_algorithm_count(b->problem.operation);

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct uc_kernel kernel = { UC_API_LEGACY, order[i], UC_MATH_FMA };
        size_t bytes;
        enum uc_status status;

        if (order[i] >= count ||
            uc_runner_workspace(b->runner, s->gpu.handle, &kernel, &bytes) ||
            (int64_t)bytes > s->max_workspace_bytes ||
            uc_gpu_reserve(&s->gpu, &s->workspace, (int64_t)bytes, err))
            continue;
        if ((status = clear_output(b, false, err)) != UC_OK)
            return status;
        if (run(b, &kernel, false, bytes) != CUDNN_STATUS_SUCCESS)
            continue;
        b->has_reference = true;
        return uc_gpu_wait(&s->gpu, err);
    }
    return UC_OK;
}

/**
 * Compute the strict result into session->reference. fp32 problems share
 * their inputs with it, others have copies of the same values in fp32.
 */
static enum uc_status make_reference(struct bench *measured,
                                     int64_t micro_batch, struct uc_error *err)
{
    struct uc_measure_session *s = measured->session;
    struct bench ref = { .session = s, .problem = measured->problem };
    struct uc_problem *p = &ref.problem;
    enum uc_dtype type = p->x_type == UC_FP64 ? UC_FP64 : UC_FP32;
    bool shared = p->x_type == type && p->w_type == type && p->y_type == type;
    enum uc_status status;

    p->x_type = p->w_type = p->y_type = p->compute_type = type;
    p->math = UC_MATH_FMA;
    ref.x = shared ? &s->x : &s->rx;
    ref.w = shared ? &s->w : &s->rw;
    ref.y = shared ? &s->y : &s->ry;
    switch (uc_operation_output(p->operation)) {
    case UC_X:
        ref.x = &s->reference;
        break;
    case UC_W:
        ref.w = &s->reference;
        break;
    case UC_Y:
        ref.y = &s->reference;
        break;
    }
    status = prepare(&ref, &measured->problem, micro_batch, err);
    if (status == UC_OK)
        status = run_reference(&ref, err);
    measured->has_reference = ref.has_reference;
    uc_runner_free(ref.runner);
    return status;
}

/* One kernel -------------------------------------------------------------*/

static void set_outcome(struct uc_measurement *m, enum uc_outcome outcome,
                        const char *reason)
{
    m->outcome = outcome;
    snprintf(m->reason, sizeof m->reason, "%.*s", (int)strcspn(reason, "\n"),
             reason);
}

/** cuDNN's status categories are its thousands; 3 is "not supported". */
static bool is_unsupported(cudnnStatus_t status)
{
    return (int)status / 1000 == (int)CUDNN_STATUS_NOT_SUPPORTED / 1000;
}

static enum uc_status compare(struct bench *b, bool accumulate, double *error,
                              struct uc_error *err)
{
    enum uc_tensor out = uc_operation_output(b->problem.operation);
    enum uc_dtype type = type_of(&b->problem, out);
    const struct uc_buffer *buffer = buffer_of(b, out);
    struct uc_measure_session *s = b->session;

    if (!b->has_reference) /* against itself: finds NaN, nothing else */
        return uc_gpu_compare(&s->gpu, buffer, type, buffer, type, 0, error,
                              err);
    return uc_gpu_compare(&s->gpu, buffer, type, &s->reference,
                          type == UC_FP64 ? UC_FP64 : UC_FP32,
                          accumulate ? SEED_PRIOR : 0, error, err);
}

/** Run once, checked. *fit tells whether the kernel may be timed. */
static enum uc_status check_kernel(struct bench *b, bool accumulate,
                                   struct uc_measurement *m, bool *fit,
                                   struct uc_error *err)
{
    struct uc_measure_session *s = b->session;
    struct uc_buffer *out =
        buffer_of(b, uc_operation_output(b->problem.operation));
    bool out_intact, workspace_intact;
    enum uc_status status;
    cudnnStatus_t result;
    double error;

    *fit = false;
    if ((status = clear_output(b, accumulate, err)) != UC_OK ||
        (status = uc_gpu_poison(&s->gpu, &s->workspace, err)) != UC_OK)
        return status;
    result = run(b, &m->kernel, accumulate, (size_t)m->workspace_bytes);
    if (result != CUDNN_STATUS_SUCCESS) {
        set_outcome(m, is_unsupported(result) ? UC_UNSUPPORTED : UC_FAILED,
                    s->gpu.cudnn.GetErrorString(result));
        return uc_gpu_wait(&s->gpu, err);
    }
    status = uc_gpu_wait(&s->gpu, err);
    if (status != UC_OK) {
        set_outcome(m, UC_FAILED, err->text);
        return status;
    }
    if ((status = compare(b, accumulate, &error, err)) != UC_OK ||
        (status = uc_gpu_check_guards(&s->gpu, out, &out_intact, err)) !=
            UC_OK ||
        (status = uc_gpu_check_guards(&s->gpu, &s->workspace, &workspace_intact,
                                      err)) != UC_OK)
        return status;
    m->error = b->has_reference && !isnan(error) ? error : -1;
    if (!out_intact || !workspace_intact) {
        set_outcome(m, UC_OUT_OF_BOUNDS,
                    out_intact ? "wrote outside its workspace"
                               : "wrote outside its output");
    } else if (!(error <= uc_measure_tolerance(&b->problem))) {
        snprintf(m->reason, sizeof m->reason, "relative L2 error %.3g", error);
        m->outcome = UC_WRONG;
    } else {
        *fit = true;
    }
    return UC_OK;
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct timed_call {
    struct bench *bench;
    const struct uc_measurement *m;
};

static enum uc_status issue(struct timed_call *call, int calls,
                            struct uc_error *err)
{
    const struct uc_measurement *m = call->m;
    struct bench *b = call->bench;

    for (int i = 0; i < calls; i++) {
        cudnnStatus_t status =
            run(b, &m->kernel, m->accumulate, (size_t)m->workspace_bytes);

        if (status != CUDNN_STATUS_SUCCESS)
            return uc_fail(err, UC_EDEVICE, "cuDNN: %s",
                           b->session->gpu.cudnn.GetErrorString(status));
    }
    return UC_OK;
}

/** uc_timing's sampler: device time between events, one behind each sample. */
static enum uc_status sample(void *context, bool lead, int samples, int calls,
                             float *device_ns, float *host_ns,
                             struct uc_error *err)
{
    struct timed_call *call = context;
    struct uc_gpu *gpu = &call->bench->session->gpu;
    enum uc_status status = issue(call, lead ? 1 : 0, err);
    CUresult result = gpu->cuda.EventRecord(gpu->marks[0], gpu->stream);

    for (int i = 0; i < samples && status == UC_OK && !result; i++) {
        double start = now_ns();

        status = issue(call, calls, err);
        host_ns[i] = (float)((now_ns() - start) / calls);
        result = gpu->cuda.EventRecord(gpu->marks[i + 1], gpu->stream);
    }
    if (status != UC_OK)
        return status;
    if (!result)
        result = gpu->cuda.EventSynchronize(gpu->marks[samples]);
    for (int i = 0; i < samples && !result; i++) {
        float milliseconds = 0;

        result = gpu->cuda.EventElapsedTime(&milliseconds, gpu->marks[i],
                                            gpu->marks[i + 1]);
        device_ns[i] = milliseconds * 1e6f / (float)calls;
    }
    return result == CUDA_SUCCESS ? UC_OK
                                  : uc_gpu_fail(gpu, "timing", result, err);
}

/** `best_ns`: the fastest kernel of no larger workspace; 0: none yet. */
static enum uc_status measure_kernel(struct bench *b, int64_t best_ns,
                                     struct uc_measurement *m,
                                     struct uc_error *err)
{
    struct uc_measure_session *s = b->session;
    struct timed_call call = { b, m };
    struct uc_timing timing;
    enum uc_status status;
    bool fit;

    if (uc_gpu_reserve(&s->gpu, &s->workspace, m->workspace_bytes, err)) {
        set_outcome(m, UC_TOO_LARGE, err->text);
        return UC_OK;
    }
    status = check_kernel(b, m->accumulate, m, &fit, err);
    if (status != UC_OK || !fit)
        return status;
    status = uc_timing_take(sample, &call, (double)best_ns * UC_CUT_OFF_FACTOR,
                            &timing, err);
    if (status != UC_OK) {
        set_outcome(m, UC_FAILED, err->text);
        return status;
    }
    m->outcome = timing.cut_off ? UC_CUT_OFF : UC_MEASURED;
    if (timing.cut_off)
        snprintf(m->reason, sizeof m->reason,
                 "over %d times the best of no larger workspace",
                 UC_CUT_OFF_FACTOR);
    m->time_ns = timing.median_ns;
    m->spread_ns = timing.spread_ns;
    m->host_ns = timing.host_ns;
    m->calls = timing.calls;
    m->samples = timing.samples;
    memcpy(m->sample_ns, timing.sample_ns, sizeof m->sample_ns);
    return UC_OK;
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

static void query_workspace(struct bench *b, struct entry *entry)
{
    struct uc_measure_session *s = b->session;
    struct uc_measurement *m = &entry->m;
    size_t bytes = 0;
    cudnnStatus_t result =
        uc_runner_workspace(b->runner, s->gpu.handle, &m->kernel, &bytes);

    if (result != CUDNN_STATUS_SUCCESS) {
        set_outcome(m, UC_UNSUPPORTED, s->gpu.cudnn.GetErrorString(result));
    } else {
        m->workspace_bytes = (int64_t)bytes;
        entry->runs = m->workspace_bytes <= s->max_workspace_bytes;
        if (!entry->runs)
            set_outcome(m, UC_TOO_LARGE,
                        "workspace over the benchmark's limit");
    }
}

static enum uc_status measure_entries(struct bench *b, struct entry *entries,
                                      size_t count,
                                      const struct uc_measure_events *events,
                                      struct uc_error *err)
{
    int64_t best_ns[2] = { 0, 0 }; /* by beta case */

    for (size_t i = 0; i < count; i++) {
        struct entry *e = &entries[i];
        int64_t *best = &best_ns[e->m.accumulate];
        enum uc_status status = UC_OK;

        events->started(events->context, e->index);
        if (e->runs)
            status = measure_kernel(b, *best, &e->m, err);
        if (status != UC_OK && e->m.outcome != UC_FAILED)
            return status;
        e->m.measured_at = (int64_t)time(NULL);
        events->done(events->context, e->index, &e->m);
        if (status != UC_OK)
            return status;
        if (e->m.outcome == UC_MEASURED && (*best == 0 || e->m.time_ns < *best))
            *best = e->m.time_ns;
    }
    return UC_OK;
}

enum uc_status uc_measure_work(struct uc_measure_session *session,
                               const struct uc_work *work,
                               const struct uc_measure_events *events,
                               struct uc_error *err)
{
    struct bench b = { .session = session,
                       .problem = work->problem,
                       .x = &session->x,
                       .w = &session->w,
                       .y = &session->y };
    struct entry entries[UC_WORK_KERNELS];
    enum uc_status status = prepare(&b, &b.problem, work->micro_batch, err);

    if (status == UC_OK)
        status = make_reference(&b, work->micro_batch, err);
    if (status != UC_OK)
        goto out;
    memset(entries, 0, sizeof entries);
    for (size_t i = 0; i < work->kernel_count; i++) {
        struct uc_measurement *m = &entries[i].m;

        entries[i].index = i;
        m->kernel = work->kernels[i].kernel;
        m->accumulate = work->kernels[i].accumulate;
        m->micro_batch = work->micro_batch;
        m->error = -1;
        m->notes =
            uc_legacy_notes(work->problem.operation, m->kernel.algorithm) |
            (m->kernel.math == UC_MATH_FMA ? 0u : UC_NOTE_TENSOR_CORE);
        query_workspace(&b, &entries[i]);
    }
    qsort(entries, work->kernel_count, sizeof *entries, by_workspace);
    status = measure_entries(&b, entries, work->kernel_count, events, err);
out:
    uc_runner_free(b.runner);
    return status;
}
