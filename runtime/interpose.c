/*
 * cuDNN's convolutions, in front of the real ones: a planned call runs its
 * micro-batches, any other goes on as it came.
 */
#include "config.h"

#include "runtime/execute.h"
#include "runtime/session.h"

#define EXPORT __attribute__((visibility("default")))

static bool is_zero(const void *scale, const struct uc_entry *entry)
{
    return entry->key.x_type == UC_FP64 ? *(const double *)scale == 0
                                        : *(const float *)scale == 0;
}

/**
 * Run a call as planned. False: the call must pass through; else *status
 * is the answer. *algorithm is the program's own, and then the one to pass
 * through with.
 */
static bool follow_plan(const struct uc_call *call,
                        const struct uc_tensors *tensors, const void *alpha,
                        const void *beta, void *workspace,
                        size_t workspace_bytes, int *algorithm,
                        cudnnStatus_t *status)
{
    struct uc_admission a;
    bool started;

    if (uc_session_admit(call, alpha, beta, tensors, workspace, workspace_bytes,
                         &a)) {
        *status = uc_execute(a.ready, call->handle, alpha, tensors, beta,
                             a.workspace, a.workspace_bytes, &started);
        /* With beta 0 the whole call overwrites what the pieces did. */
        if (*status != CUDNN_STATUS_SUCCESS && is_zero(beta, a.entry))
            started = false;
        if (uc_session_finish(call, &a, *status, started))
            return true;
    }
    *algorithm = uc_session_algorithm(call, &a, *algorithm, workspace_bytes);
    return false;
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
    struct uc_call call = {
        handle, UC_FORWARD, { xDesc, yDesc, wDesc, convDesc }, false
    };
    struct uc_tensors tensors = { (void *)x, (void *)w, y };
    cudnnStatus_t status = CUDNN_STATUS_INTERNAL_ERROR;
    int algorithm = (int)algo;

    if (session == NULL || session->cudnn.ConvolutionForward == NULL)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (!(session->table != NULL &&
          follow_plan(&call, &tensors, alpha, beta, workSpace,
                      workSpaceSizeInBytes, &algorithm, &status)))
        status = session->cudnn.ConvolutionForward(
            handle, alpha, xDesc, x, wDesc, w, convDesc,
            (cudnnConvolutionFwdAlgo_t)algorithm, workSpace,
            workSpaceSizeInBytes, beta, yDesc, y);
    if (session->observed)
        uc_session_observe(&call, status);
    return status;
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
    struct uc_call call = {
        handle, UC_BACKWARD_DATA, { dxDesc, dyDesc, wDesc, convDesc }, false
    };
    struct uc_tensors tensors = { dx, (void *)w, (void *)dy };
    cudnnStatus_t status = CUDNN_STATUS_INTERNAL_ERROR;
    int algorithm = (int)algo;

    if (session == NULL || session->cudnn.ConvolutionBackwardData == NULL)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (!(session->table != NULL &&
          follow_plan(&call, &tensors, alpha, beta, workSpace,
                      workSpaceSizeInBytes, &algorithm, &status)))
        status = session->cudnn.ConvolutionBackwardData(
            handle, alpha, wDesc, w, dyDesc, dy, convDesc,
            (cudnnConvolutionBwdDataAlgo_t)algorithm, workSpace,
            workSpaceSizeInBytes, beta, dxDesc, dx);
    if (session->observed)
        uc_session_observe(&call, status);
    return status;
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
    struct uc_call call = {
        handle, UC_BACKWARD_FILTER, { xDesc, dyDesc, dwDesc, convDesc }, false
    };
    struct uc_tensors tensors = { (void *)x, dw, (void *)dy };
    cudnnStatus_t status = CUDNN_STATUS_INTERNAL_ERROR;
    int algorithm = (int)algo;

    if (session == NULL || session->cudnn.ConvolutionBackwardFilter == NULL)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (!(session->table != NULL &&
          follow_plan(&call, &tensors, alpha, beta, workSpace,
                      workSpaceSizeInBytes, &algorithm, &status)))
        status = session->cudnn.ConvolutionBackwardFilter(
            handle, alpha, xDesc, x, dyDesc, dy, convDesc,
            (cudnnConvolutionBwdFilterAlgo_t)algorithm, workSpace,
            workSpaceSizeInBytes, beta, dwDesc, dw);
    if (session->observed)
        uc_session_observe(&call, status);
    return status;
}

/** Whether z lies in memory as y does, so that it is sliced alike. */
static bool same_layout(const struct uc_cudnn *cudnn, cudnnTensorDescriptor_t a,
                        cudnnTensorDescriptor_t b)
{
    int dims[2] = { 0, 0 }, extents[2][CUDNN_DIM_MAX];
    int strides[2][CUDNN_DIM_MAX];
    cudnnDataType_t types[2];

    if (cudnn->GetTensorNdDescriptor(a, CUDNN_DIM_MAX, &types[0], &dims[0],
                                     extents[0], strides[0]) ||
        cudnn->GetTensorNdDescriptor(b, CUDNN_DIM_MAX, &types[1], &dims[1],
                                     extents[1], strides[1]) ||
        types[0] != types[1] || dims[0] != dims[1])
        return false;
    for (int i = 0; i < dims[0]; i++)
        if (extents[0][i] != extents[1][i] || strides[0][i] != strides[1][i])
            return false;
    return true;
}

/**
 * A piece that cuDNN refuses after others ran cannot be undone when z is y:
 * then only plans of one kernel are followed, which runs for all or none.
 */
static bool is_one_kernel(const struct uc_ready *ready)
{
    for (size_t i = 1; i < ready->step_count; i++)
        if (!uc_kernel_equal(ready->steps[i].kernel, ready->steps[0].kernel))
            return false;
    return true;
}

/** Why an admitted call cannot run in pieces; NULL: it can. */
static const char *obstacle(const struct uc_cudnn *cudnn,
                            const struct uc_call *call,
                            cudnnTensorDescriptor_t z, bool in_place,
                            const struct uc_ready *ready)
{
    if (!same_layout(cudnn, z, call->descriptors.y))
        return "z lies differently from y";
    if (in_place && !is_one_kernel(ready))
        return "z is y, and several kernels are planned";
    return NULL;
}

/** As follow_plan(), for the fused call. */
static bool follow_plan_fused(const struct uc_session *session,
                              const struct uc_call *call,
                              const struct uc_tensors *tensors,
                              const void *alpha,
                              const struct uc_epilogue *epilogue,
                              cudnnTensorDescriptor_t z_descriptor,
                              void *workspace, size_t workspace_bytes,
                              int *algorithm, cudnnStatus_t *status)
{
    const bool in_place = epilogue->z == tensors->y;
    struct uc_admission a;
    const char *why;
    bool started;

    if (!uc_session_admit(call, alpha, epilogue->alpha2, tensors, workspace,
                          workspace_bytes, &a)) {
        /* counted there */
    } else if ((why = obstacle(&session->cudnn, call, z_descriptor, in_place,
                               a.ready)) != NULL) {
        uc_session_withdraw(call, &a, why);
    } else {
        *status =
            uc_execute_fused(a.ready, call->handle, alpha, tensors, epilogue,
                             a.workspace, a.workspace_bytes, &started);
        /* The whole call writes all of y again, from inputs that still are. */
        if (*status != CUDNN_STATUS_SUCCESS && !in_place)
            started = false;
        if (uc_session_finish(call, &a, *status, started))
            return true;
    }
    *algorithm = uc_session_algorithm(call, &a, *algorithm, workspace_bytes);
    return false;
}

EXPORT cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void *alpha1,
    const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnConvolutionDescriptor_t convDesc, cudnnConvolutionFwdAlgo_t algo,
    void *workSpace, size_t workSpaceSizeInBytes, const void *alpha2,
    const cudnnTensorDescriptor_t zDesc, const void *z,
    const cudnnTensorDescriptor_t biasDesc, const void *bias,
    const cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t yDesc, void *y)
{
    struct uc_session *session = uc_session_get();
    struct uc_call call = {
        handle, UC_FORWARD, { xDesc, yDesc, wDesc, convDesc }, true
    };
    struct uc_tensors tensors = { (void *)x, (void *)w, y };
    struct uc_epilogue epilogue = { alpha2, z, biasDesc, bias, activationDesc };
    cudnnStatus_t status = CUDNN_STATUS_INTERNAL_ERROR;
    int algorithm = (int)algo;

    if (session == NULL ||
        session->cudnn.ConvolutionBiasActivationForward == NULL)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (!(session->table != NULL &&
          follow_plan_fused(session, &call, &tensors, alpha1, &epilogue, zDesc,
                            workSpace, workSpaceSizeInBytes, &algorithm,
                            &status)))
        status = session->cudnn.ConvolutionBiasActivationForward(
            handle, alpha1, xDesc, x, wDesc, w, convDesc,
            (cudnnConvolutionFwdAlgo_t)algorithm, workSpace,
            workSpaceSizeInBytes, alpha2, zDesc, z, biasDesc, bias,
            activationDesc, yDesc, y);
    if (session->observed)
        uc_session_observe(&call, status);
    return status;
}
