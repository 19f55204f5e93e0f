#include "config.h"

#include "runtime/runner_impl.h"

#include "runtime/geometry.h"

/* CUDNN_DEFAULT_MATH lets fp32 use TF32; tensor-op math never converts
 * data down. */
static const cudnnMathType_t math_types[UC_MATHS] = {
    [UC_MATH_FMA] = CUDNN_FMA_MATH,
    [UC_MATH_TF32] = CUDNN_DEFAULT_MATH,
    [UC_MATH_FP16] = CUDNN_TENSOR_OP_MATH,
    [UC_MATH_BF16] = CUDNN_TENSOR_OP_MATH,
};

static void narrow(const int64_t *values, int count, int *narrowed)
{
    for (int i = 0; i < count; i++)
        narrowed[i] = (int)values[i];
}

static cudnnStatus_t set_tensor(const struct uc_cudnn *cudnn,
                                cudnnTensorDescriptor_t descriptor,
                                const struct uc_geometry *geometry,
                                enum uc_tensor tensor)
{
    const struct uc_geometry_tensor *t = &geometry->tensors[tensor];
    int extents[UC_MAX_DIMS], strides[UC_MAX_DIMS];

    narrow(t->extents, geometry->dims, extents);
    narrow(t->strides, geometry->dims, strides);
    return cudnn->SetTensorNdDescriptor(descriptor, t->type, geometry->dims,
                                        extents, strides);
}

static cudnnStatus_t set_filter(const struct uc_cudnn *cudnn,
                                cudnnFilterDescriptor_t descriptor,
                                const struct uc_problem *problem,
                                const struct uc_geometry *geometry)
{
    const struct uc_geometry_tensor *t = &geometry->tensors[UC_W];
    int extents[UC_MAX_DIMS];

    narrow(t->extents, geometry->dims, extents);
    return cudnn->SetFilterNdDescriptor(
        descriptor, t->type,
        problem->w.kind == UC_NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
        geometry->dims, extents);
}

static cudnnStatus_t set_convolution(const struct uc_cudnn *cudnn,
                                     cudnnConvolutionDescriptor_t descriptor,
                                     const struct uc_geometry *geometry,
                                     int64_t groups, cudnnMathType_t math)
{
    int pad[UC_MAX_SPATIAL], stride[UC_MAX_SPATIAL], dilation[UC_MAX_SPATIAL];
    cudnnStatus_t status;

    narrow(geometry->pad, geometry->spatial, pad);
    narrow(geometry->stride, geometry->spatial, stride);
    narrow(geometry->dilation, geometry->spatial, dilation);
    status = cudnn->SetConvolutionNdDescriptor(
        descriptor, geometry->spatial, pad, stride, dilation, geometry->mode,
        geometry->compute);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnn->SetConvolutionGroupCount(descriptor, (int)groups);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnn->SetConvolutionMathType(descriptor, math);
    return status;
}

cudnnStatus_t uc_legacy_create(const struct uc_cudnn *cudnn,
                               const struct uc_problem *problem,
                               int64_t micro_batch,
                               const struct uc_kernel *kernel,
                               struct uc_legacy *legacy)
{
    struct uc_legacy l = { .operation = problem->operation,
                           .algorithm = kernel->algorithm,
                           .notes =
                               uc_legacy_notes(kernel, problem->operation) };
    struct uc_geometry geometry;
    cudnnStatus_t status;

    uc_geometry_make(problem, micro_batch, &geometry);
    if ((status = cudnn->CreateTensorDescriptor(&l.x)) ||
        (status = cudnn->CreateTensorDescriptor(&l.y)) ||
        (status = cudnn->CreateFilterDescriptor(&l.w)) ||
        (status = cudnn->CreateConvolutionDescriptor(&l.convolution)) ||
        (status = set_tensor(cudnn, l.x, &geometry, UC_X)) ||
        (status = set_tensor(cudnn, l.y, &geometry, UC_Y)) ||
        (status = set_filter(cudnn, l.w, problem, &geometry)) ||
        (status = set_convolution(cudnn, l.convolution, &geometry,
                                  problem->groups, math_types[kernel->math]))) {
        uc_legacy_free(cudnn, &l);
        return status;
    }
    *legacy = l;
    return CUDNN_STATUS_SUCCESS;
}

void uc_legacy_free(const struct uc_cudnn *cudnn, struct uc_legacy *legacy)
{
    if (legacy->convolution != NULL)
        cudnn->DestroyConvolutionDescriptor(legacy->convolution);
    if (legacy->w != NULL)
        cudnn->DestroyFilterDescriptor(legacy->w);
    if (legacy->y != NULL)
        cudnn->DestroyTensorDescriptor(legacy->y);
    if (legacy->x != NULL)
        cudnn->DestroyTensorDescriptor(legacy->x);
}

cudnnStatus_t uc_legacy_workspace(const struct uc_cudnn *cudnn,
                                  const struct uc_legacy *legacy,
                                  cudnnHandle_t handle, size_t *bytes)
{
    const struct uc_legacy *r = legacy;

    switch (r->operation) {
    case UC_FORWARD:
        return cudnn->GetConvolutionForwardWorkspaceSize(
            handle, r->x, r->w, r->convolution, r->y,
            (cudnnConvolutionFwdAlgo_t)r->algorithm, bytes);
    case UC_BACKWARD_DATA:
        return cudnn->GetConvolutionBackwardDataWorkspaceSize(
            handle, r->w, r->y, r->convolution, r->x,
            (cudnnConvolutionBwdDataAlgo_t)r->algorithm, bytes);
    default:
        return cudnn->GetConvolutionBackwardFilterWorkspaceSize(
            handle, r->x, r->y, r->convolution, r->w,
            (cudnnConvolutionBwdFilterAlgo_t)r->algorithm, bytes);
    }
}

cudnnStatus_t uc_legacy_run(const struct uc_cudnn *cudnn,
                            const struct uc_legacy *legacy,
                            cudnnHandle_t handle, const void *alpha,
                            const struct uc_tensors *tensors, const void *beta,
                            void *workspace, size_t workspace_bytes)
{
    const struct uc_tensors *t = tensors;
    const struct uc_legacy *r = legacy;

    switch (r->operation) {
    case UC_FORWARD:
        return cudnn->ConvolutionForward(
            handle, alpha, r->x, t->x, r->w, t->w, r->convolution,
            (cudnnConvolutionFwdAlgo_t)r->algorithm, workspace, workspace_bytes,
            beta, r->y, t->y);
    case UC_BACKWARD_DATA:
        return cudnn->ConvolutionBackwardData(
            handle, alpha, r->w, t->w, r->y, t->y, r->convolution,
            (cudnnConvolutionBwdDataAlgo_t)r->algorithm, workspace,
            workspace_bytes, beta, r->x, t->x);
    default:
        return cudnn->ConvolutionBackwardFilter(
            handle, alpha, r->x, t->x, r->y, t->y, r->convolution,
            (cudnnConvolutionBwdFilterAlgo_t)r->algorithm, workspace,
            workspace_bytes, beta, r->w, t->w);
    }
}

cudnnStatus_t uc_legacy_run_fused(const struct uc_cudnn *cudnn,
                                  const struct uc_legacy *legacy,
                                  cudnnHandle_t handle, const void *alpha,
                                  const struct uc_tensors *tensors,
                                  const struct uc_epilogue *epilogue,
                                  void *workspace, size_t workspace_bytes)
{
    const struct uc_legacy *r = legacy;
    const struct uc_epilogue *e = epilogue;

    return cudnn->ConvolutionBiasActivationForward(
        handle, alpha, r->x, tensors->x, r->w, tensors->w, r->convolution,
        (cudnnConvolutionFwdAlgo_t)r->algorithm, workspace, workspace_bytes,
        e->alpha2, r->y, e->z, e->bias_descriptor, e->bias, e->activation, r->y,
        tensors->y);
}
