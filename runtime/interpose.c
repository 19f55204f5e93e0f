/*
 * cuDNN's convolutions, in front of the real ones: a planned call runs its
 * micro-batches, any other goes on as it came.
 */
#include "config.h"

#include "runtime/execute.h"
#include "runtime/session.h"

#define EXPORT __attribute__((visibility("default")))

/**
 * Run a call as planned. False: nothing has been enqueued, the call must
 * pass through; else *status is the answer.
 */
static bool follow_plan(const struct uc_call *call,
                        const struct uc_tensors *tensors, const void *alpha,
                        const void *beta, void *workspace,
                        size_t workspace_bytes, cudnnStatus_t *status)
{
    struct uc_entry *entry = uc_session_admit(call, tensors, workspace_bytes);
    bool started;

    if (entry == NULL)
        return false;
    *status = uc_execute(entry, call->handle, alpha, tensors, beta, workspace,
                         workspace_bytes, &started);
    if (*status != CUDNN_STATUS_SUCCESS && !started) {
        uc_session_failed(call, *status);
        return false;
    }
    atomic_store_explicit(&entry->ran, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&entry->executed, 1, memory_order_relaxed);
    return true;
}

EXPORT cudnnStatus_t cudnnConvolutionForward(
    cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionFwdAlgo_t algo,
    void *workSpace, size_t workSpaceSizeInBytes, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y)
{
    struct uc_session *session = uc_session_get();
    struct uc_call call = { handle,
                            UC_FORWARD,
                            { xDesc, yDesc, wDesc, convDesc } };
    struct uc_tensors tensors = { (void *)x, (void *)w, y };
    cudnnStatus_t status;

    if (session == NULL)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (session->table != NULL &&
        follow_plan(&call, &tensors, alpha, beta, workSpace,
                    workSpaceSizeInBytes, &status))
        return status;
    return session->cudnn.ConvolutionForward(
        handle, alpha, xDesc, x, wDesc, w, convDesc, algo, workSpace,
        workSpaceSizeInBytes, beta, yDesc, y);
}

EXPORT cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t handle, const void *alpha,
    const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdDataAlgo_t algo, void *workSpace,
    size_t workSpaceSizeInBytes, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx)
{
    struct uc_session *session = uc_session_get();
    struct uc_call call = { handle,
                            UC_BACKWARD_DATA,
                            { dxDesc, dyDesc, wDesc, convDesc } };
    struct uc_tensors tensors = { dx, (void *)w, (void *)dy };
    cudnnStatus_t status;

    if (session == NULL)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (session->table != NULL &&
        follow_plan(&call, &tensors, alpha, beta, workSpace,
                    workSpaceSizeInBytes, &status))
        return status;
    return session->cudnn.ConvolutionBackwardData(
        handle, alpha, wDesc, w, dyDesc, dy, convDesc, algo, workSpace,
        workSpaceSizeInBytes, beta, dxDesc, dx);
}

EXPORT cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workSpace,
    size_t workSpaceSizeInBytes, const void *beta,
    const cudnnFilterDescriptor_t dwDesc, void *dw)
{
    struct uc_session *session = uc_session_get();
    struct uc_call call = { handle,
                            UC_BACKWARD_FILTER,
                            { xDesc, dyDesc, dwDesc, convDesc } };
    struct uc_tensors tensors = { (void *)x, dw, (void *)dy };
    cudnnStatus_t status;

    if (session == NULL)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (session->table != NULL &&
        follow_plan(&call, &tensors, alpha, beta, workSpace,
                    workSpaceSizeInBytes, &status))
        return status;
    return session->cudnn.ConvolutionBackwardFilter(
        handle, alpha, xDesc, x, dyDesc, dy, convDesc, algo, workSpace,
        workSpaceSizeInBytes, beta, dwDesc, dw);
}
