#include "config.h"

#include "runtime/execute.h"

static const float float_one = 1;
static const double double_one = 1;

cudnnStatus_t uc_execute(const struct uc_ready *ready, cudnnHandle_t handle,
                         const void *alpha, const struct uc_tensors *tensors,
                         const void *beta, void *workspace,
                         size_t workspace_bytes, bool *started)
{
    const void *one = ready->wide ? (const void *)&double_one : &float_one;
    struct uc_tensors at = *tensors;

    *started = false;
    for (size_t i = 0; i < ready->step_count; i++) {
        const struct uc_step *step = &ready->steps[i];

        for (int64_t n = 0; n < step->count; n++) {
            cudnnStatus_t status = uc_runner_run(
                step->runner, handle, alpha, &at, step->accumulate ? one : beta,
                workspace, workspace_bytes);

            *started = *started || !uc_cudnn_is_refusal(status);
            if (status != CUDNN_STATUS_SUCCESS)
                return status;
            at.x = (char *)at.x + step->x_bytes;
            at.y = (char *)at.y + step->y_bytes;
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t uc_execute_fused(const struct uc_ready *ready,
                               cudnnHandle_t handle, const void *alpha,
                               const struct uc_tensors *tensors,
                               const struct uc_epilogue *epilogue,
                               void *workspace, size_t workspace_bytes,
                               bool *started)
{
    struct uc_tensors at = *tensors;
    struct uc_epilogue e = *epilogue;

    *started = false;
    for (size_t i = 0; i < ready->step_count; i++) {
        const struct uc_step *step = &ready->steps[i];

        for (int64_t n = 0; n < step->count; n++) {
            cudnnStatus_t status =
                uc_runner_run_fused(step->runner, handle, alpha, &at, &e,
                                    workspace, workspace_bytes);

            *started = *started || !uc_cudnn_is_refusal(status);
            if (status != CUDNN_STATUS_SUCCESS)
                return status;
            at.x = (char *)at.x + step->x_bytes;
            at.y = (char *)at.y + step->y_bytes;
            e.z = (const char *)e.z + step->y_bytes;
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

bool uc_is_aligned(const struct uc_tensors *tensors, const void *workspace)
{
    return (((uintptr_t)tensors->x | (uintptr_t)tensors->w |
             (uintptr_t)tensors->y | (uintptr_t)workspace) %
            UC_ALIGNMENT) == 0;
}
