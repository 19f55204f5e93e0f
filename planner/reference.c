#include "config.h"

#include "planner/trial.h"

#include "planner/tolerance.h"

#include <math.h>

/** One kernel's result in its output; *good is false when it has none. */
static enum uc_status try_reference(struct uc_trial *trial,
                                    const struct uc_kernel *kernel, bool *good,
                                    struct uc_error *err)
{
    struct uc_measure_session *s = trial->session;
    enum uc_tensor out = uc_operation_output(trial->problem.operation);
    enum uc_dtype type = uc_problem_type(&trial->problem, out);
    struct uc_buffer *result = uc_trial_buffer(trial, out);
    enum uc_status status;
    size_t bytes;
    double error;

    *good = false;
    if (uc_trial_select(trial, kernel, false, &bytes) ||
        (int64_t)bytes > s->max_workspace_bytes)
        return UC_OK;
    status = uc_gpu_reserve(&s->gpu, &s->workspace, (int64_t)bytes, err);
    if (status != UC_OK) /* another one may do with less */
        return status == UC_ENOFIT ? UC_OK : status;
    if ((status = uc_trial_clear(trial, false, err)) != UC_OK)
        return status;
    if (uc_trial_run(trial, false, bytes, 0) != CUDNN_STATUS_SUCCESS)
        return uc_gpu_wait(&s->gpu, err);
    /* Against itself: NaN where it did not write or went wrong. */
    status =
        uc_gpu_compare(&s->gpu, result, type, result, type, 0, &error, err);
    *good = status == UC_OK && !isnan(error);
    return status;
}

/**
 * Whether the two results are one, as near as their kernels claim, whose notes
 * are given; if not, the newer takes the older's place.
 */
static enum uc_status compare_references(struct uc_trial *trial, unsigned notes,
                                         struct uc_error *err)
{
    struct uc_measure_session *s = trial->session;
    enum uc_tensor out = uc_operation_output(trial->problem.operation);
    enum uc_dtype type = uc_problem_type(&trial->problem, out);
    double error;
    enum uc_status status = uc_gpu_compare(&s->gpu, &s->second, type,
                                           &s->reference, type, 0, &error, err);
    struct uc_buffer newer = s->second;

    if (status != UC_OK)
        return status;
    if (error <= uc_tolerance(&trial->problem, notes)) {
        trial->reference = UC_REFERENCE_AGREED;
        return UC_OK;
    }
    s->second = s->reference;
    s->reference = newer;
    trial->reference = UC_REFERENCE_DISPUTED;
    return UC_OK;
}

/**
 * FMA kernels one after another, less those to skip, until one agrees with
 * the one before. When only one works at all, it is believed.
 */
static enum uc_status run_reference(struct uc_trial *trial,
                                    struct uc_error *err)
{
    static const int order[] = { 1, 0, 3, 2, 4, 5, 6, 7 };
    struct uc_measure_session *s = trial->session;
    struct uc_buffer *result =
        uc_trial_buffer(trial, uc_operation_output(trial->problem.operation));
    int count = uc_legacy_algorithm_count(trial->problem.operation);
    unsigned before = 0; /* the notes of the kernel before */

    for (size_t i = (size_t)trial->skip_references;
         i < sizeof order / sizeof *order; i++) {
        struct uc_kernel kernel = { .algorithm = order[i],
                                    .math = UC_MATH_FMA };
        enum uc_status status;
        unsigned notes;
        bool good;

        if (order[i] >= count)
            continue;
        notes = uc_legacy_notes(&kernel, trial->problem.operation);
        status = try_reference(trial, &kernel, &good, err);
        if (status != UC_OK)
            return status;
        if (!good)
            continue;
        if (trial->reference == UC_REFERENCE_NONE) {
            struct uc_buffer first = *result; /* result is &s->second */

            *result = s->reference;
            s->reference = first;
            trial->reference = UC_REFERENCE_ALONE;
            status = uc_gpu_reserve(&s->gpu, result, first.bytes, err);
            if (status == UC_ENOFIT) /* no room for a second opinion */
                return UC_OK;
        } else {
            status = compare_references(trial, before | notes, err);
        }
        before = notes;
        if (status != UC_OK || trial->reference == UC_REFERENCE_AGREED)
            return status;
    }
    return UC_OK;
}

enum uc_status uc_reference_make(struct uc_trial *measured,
                                 struct uc_error *err)
{
    struct uc_measure_session *s = measured->session;
    struct uc_trial ref = { .session = s,
                            .problem = measured->problem,
                            .micro_batch = measured->micro_batch,
                            .skip_references = measured->skip_references };
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
        ref.x = &s->second;
        break;
    case UC_W:
        ref.w = &s->second;
        break;
    case UC_Y:
        ref.y = &s->second;
        break;
    }
    status = uc_trial_prepare(&ref, &measured->problem, err);
    if (status == UC_OK)
        status = run_reference(&ref, err);
    measured->reference = ref.reference;
    uc_runner_free(ref.runner);
    return status;
}
