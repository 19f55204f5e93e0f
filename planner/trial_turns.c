#include "config.h"

#include "planner/trial.h"

/** Buffers begin at multiples of it, and so do the parts of one. */
enum { ALIGN_BYTES = 256 };

static int64_t stride(const struct uc_buffer *buffer)
{
    return (buffer->bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

/** `count` tensors like one of the trial's. */
static enum uc_status fill_more(struct uc_trial *trial, enum uc_tensor tensor,
                                int64_t count, struct uc_buffer *more,
                                struct uc_error *err)
{
    struct uc_gpu *gpu = &trial->session->gpu;
    enum uc_dtype type = uc_problem_type(&trial->problem, tensor);
    enum uc_status status = uc_gpu_reserve(
        gpu, more, count * stride(uc_trial_buffer(trial, tensor)), err);

    return status == UC_OK ? uc_gpu_fill(gpu, more, type, type,
                                         (uint64_t)UC_SEED_MORE + tensor, err)
                           : status;
}

static void forgo_turns(struct uc_trial *trial)
{
    struct uc_measure_session *s = trial->session;

    trial->turns = 1;
    uc_gpu_release(&s->gpu, &s->more_x);
    uc_gpu_release(&s->gpu, &s->more_y);
}

enum uc_status uc_trial_take_turns(struct uc_trial *trial, struct uc_error *err)
{
    struct uc_measure_session *s = trial->session;
    int64_t bytes = stride(trial->x) + stride(trial->y);
    int64_t turns = (2 * s->gpu.cache_bytes + bytes - 1) / bytes;
    enum uc_status status;

    if (turns < 2)
        return UC_OK;
    status = fill_more(trial, UC_X, turns - 1, &s->more_x, err);
    if (status == UC_OK)
        status = fill_more(trial, UC_Y, turns - 1, &s->more_y, err);
    if (status == UC_OK)
        trial->turns = turns;
    if (status != UC_ENOFIT)
        return status;
    forgo_turns(trial);
    return UC_OK;
}

enum uc_status uc_trial_reserve_workspace(struct uc_trial *trial, int64_t bytes,
                                          struct uc_error *err)
{
    struct uc_measure_session *s = trial->session;
    enum uc_status status = uc_gpu_reserve(&s->gpu, &s->workspace, bytes, err);

    if (status != UC_ENOFIT || trial->turns < 2)
        return status;
    forgo_turns(trial);
    return uc_gpu_reserve(&s->gpu, &s->workspace, bytes, err);
}

struct uc_tensors uc_trial_tensors(const struct uc_trial *trial, int64_t turn)
{
    const struct uc_measure_session *s = trial->session;
    int64_t at = trial->turns > 1 ? turn % trial->turns : 0;
    CUdeviceptr x = trial->x->data, y = trial->y->data;

    if (at > 0) {
        x = s->more_x.data + (CUdeviceptr)((at - 1) * stride(trial->x));
        y = s->more_y.data + (CUdeviceptr)((at - 1) * stride(trial->y));
    }
    return (struct uc_tensors){ (void *)x, (void *)trial->w->data, (void *)y };
}
