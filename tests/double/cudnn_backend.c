/* The graph API: executions are taken, and do nothing. */
#include "config.h"

#include "tests/double/cudnn_state.h"

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t executionPlan,
                                  cudnnBackendDescriptor_t variantPack)
{
    (void)executionPlan;
    (void)variantPack;
    return uc_cudnn_alive(handle, UC_HANDLE, "handle") ? CUDNN_STATUS_SUCCESS
                                                       : CUDNN_STATUS_BAD_PARAM;
}
