#include "config.h"

#include "planner/trial.h"

struct uc_buffer *uc_trial_buffer(const struct uc_trial *trial,
                                  enum uc_tensor tensor)
{
    return tensor == UC_X ? trial->x : tensor == UC_W ? trial->w : trial->y;
}

static enum uc_status fill_tensor(struct uc_trial *trial, enum uc_tensor tensor,
                                  enum uc_dtype rounding, struct uc_error *err)
{
    struct uc_gpu *gpu = &trial->session->gpu;
    struct uc_buffer *buffer = uc_trial_buffer(trial, tensor);
    static const uint64_t seeds[] = {
        [UC_X] = UC_SEED_X, [UC_W] = UC_SEED_W, [UC_Y] = UC_SEED_Y
    };
    enum uc_status status;
    int64_t bytes;

    if ((status = uc_problem_tensor_bytes(&trial->problem, tensor,
                                          trial->micro_batch, &bytes, err)) !=
            UC_OK ||
        (status = uc_gpu_reserve(gpu, buffer, bytes, err)) != UC_OK)
        return status;
    return uc_gpu_fill(gpu, buffer, uc_problem_type(&trial->problem, tensor),
                       rounding, seeds[tensor], err);
}

enum uc_status uc_trial_prepare(struct uc_trial *trial,
                                const struct uc_problem *like,
                                struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (int t = UC_X; status == UC_OK && t <= UC_Y; t++)
        status = fill_tensor(trial, (enum uc_tensor)t,
                             uc_problem_type(like, (enum uc_tensor)t), err);
    return status;
}

void uc_session_release(struct uc_measure_session *session)
{
    struct uc_buffer *const buffers[] = UC_SESSION_BUFFERS(session);

    for (int i = 0; buffers[i] != NULL; i++)
        uc_gpu_release(&session->gpu, buffers[i]);
}

static enum uc_status fill(struct uc_trial *trial, struct uc_error *err)
{
    enum uc_status status;

    trial->reference = UC_REFERENCE_NONE;
    trial->turns = 1;
    status = uc_trial_prepare(trial, &trial->problem, err);
    if (status == UC_OK)
        status = uc_reference_make(trial, err);
    if (status == UC_OK)
        status = uc_trial_take_turns(trial, err);
    return status;
}

enum uc_status uc_trial_open(struct uc_trial *trial, struct uc_error *err)
{
    enum uc_status status = fill(trial, err);

    if (status != UC_ENOFIT)
        return status;
    uc_session_release(trial->session);
    return fill(trial, err);
}

cudnnStatus_t uc_trial_select(struct uc_trial *trial,
                              const struct uc_kernel *kernel, bool accumulate,
                              size_t *workspace_bytes)
{
    const struct uc_scaling scaling = { 1, accumulate ? 1 : 0 };
    const struct uc_gpu *gpu = &trial->session->gpu;
    cudnnStatus_t status;

    uc_runner_free(trial->runner);
    trial->runner = NULL;
    status =
        uc_runner_create(&gpu->cudnn, gpu->handle, &trial->problem,
                         trial->micro_batch, kernel, &scaling, &trial->runner);
    return status == CUDNN_STATUS_SUCCESS
               ? uc_runner_workspace(trial->runner, gpu->handle,
                                     workspace_bytes)
               : status;
}

cudnnStatus_t uc_trial_run(struct uc_trial *trial, bool accumulate,
                           size_t workspace_bytes, int64_t turn)
{
    static const float ones[] = { 0, 1 };
    static const double double_ones[] = { 0, 1 };
    bool wide = trial->problem.x_type == UC_FP64;
    const void *one = wide ? (const void *)&double_ones[1] : &ones[1];
    const void *zero = wide ? (const void *)&double_ones[0] : &ones[0];
    struct uc_tensors tensors = uc_trial_tensors(trial, turn);

    return uc_runner_run(
        trial->runner, trial->session->gpu.handle, one, &tensors,
        accumulate ? one : zero,
        workspace_bytes > 0 ? (void *)trial->session->workspace.data : NULL,
        workspace_bytes);
}

enum uc_status uc_trial_clear(struct uc_trial *trial, bool accumulate,
                              struct uc_error *err)
{
    struct uc_gpu *gpu = &trial->session->gpu;
    enum uc_tensor out = uc_operation_output(trial->problem.operation);
    const struct uc_tensor_layout *layout = out == UC_X   ? &trial->problem.x
                                            : out == UC_Y ? &trial->problem.y
                                                          : &trial->problem.w;

    if (accumulate || layout->kind == UC_STRIDED)
        return uc_gpu_fill(gpu, uc_trial_buffer(trial, out),
                           uc_problem_type(&trial->problem, out),
                           uc_problem_type(&trial->problem, out), UC_SEED_PRIOR,
                           err);
    return uc_gpu_poison(gpu, uc_trial_buffer(trial, out), err);
}

static enum uc_status compare(const struct uc_trial *trial, bool accumulate,
                              double *error, struct uc_error *err)
{
    enum uc_tensor out = uc_operation_output(trial->problem.operation);
    enum uc_dtype type = uc_problem_type(&trial->problem, out);
    const struct uc_buffer *result = uc_trial_buffer(trial, out);
    struct uc_measure_session *s = trial->session;

    if (trial->reference ==
        UC_REFERENCE_NONE) /* against itself: finds NaN, nothing else */
        return uc_gpu_compare(&s->gpu, result, type, result, type, 0, error,
                              err);
    return uc_gpu_compare(&s->gpu, result, type, &s->reference,
                          type == UC_FP64 ? UC_FP64 : UC_FP32,
                          accumulate ? UC_SEED_PRIOR : 0, error, err);
}

enum uc_status uc_trial_inspect(const struct uc_trial *trial, bool accumulate,
                                struct uc_trial_result *result,
                                struct uc_error *err)
{
    struct uc_measure_session *s = trial->session;
    const struct uc_buffer *out =
        uc_trial_buffer(trial, uc_operation_output(trial->problem.operation));
    bool out_intact, workspace_intact;
    enum uc_status status;
    double error;

    if ((status = compare(trial, accumulate, &error, err)) != UC_OK ||
        (status = uc_gpu_check_guards(&s->gpu, out, &out_intact, err)) !=
            UC_OK ||
        (status = uc_gpu_check_guards(&s->gpu, &s->workspace, &workspace_intact,
                                      err)) != UC_OK)
        return status;
    result->error = error;
    result->overran = !out_intact         ? "wrote outside its output"
                      : !workspace_intact ? "wrote outside its workspace"
                                          : NULL;
    return UC_OK;
}
