#include "config.h"

#include "runtime/runner.h"

#include <stdlib.h>

struct uc_runner {
    const struct uc_cudnn *cudnn; /**< borrowed */
    enum uc_operation operation;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution[UC_MATHS];
};

static const cudnnDataType_t data_types[UC_DTYPES] = {
    [UC_FP32] = CUDNN_DATA_FLOAT,
    [UC_FP16] = CUDNN_DATA_HALF,
    [UC_BF16] = CUDNN_DATA_BFLOAT16,
    [UC_FP64] = CUDNN_DATA_DOUBLE,
};

/* CUDNN_DEFAULT_MATH lets fp32 use TF32; tensor-op math never converts
 * data down. */
static const cudnnMathType_t math_types[UC_MATHS] = {
    [UC_MATH_FMA] = CUDNN_FMA_MATH,
    [UC_MATH_TF32] = CUDNN_DEFAULT_MATH,
    [UC_MATH_FP16] = CUDNN_TENSOR_OP_MATH,
    [UC_MATH_BF16] = CUDNN_TENSOR_OP_MATH,
};

/**
 * cuDNN's convolutions have at least two spatial dimensions: a 1-D problem
 * runs with H = 1, which takes `fill` in its place. Returns how many
 * dimensions the result has.
 */
static int widen(const struct uc_problem *problem, const int64_t *values,
                 int leading, int64_t fill, int wide[UC_MAX_DIMS])
{
    int n = 0;

    for (int i = 0; i < leading; i++)
        wide[n++] = (int)values[i];
    if (problem->spatial == 1)
        wide[n++] = (int)fill;
    for (int i = 0; i < problem->spatial; i++)
        wide[n++] = (int)values[leading + i];
    return n;
}

static cudnnStatus_t set_tensor(const struct uc_cudnn *cudnn,
                                cudnnTensorDescriptor_t descriptor,
                                const struct uc_problem *problem,
                                enum uc_tensor tensor, int64_t batch,
                                enum uc_dtype type)
{
    int64_t extents[UC_MAX_DIMS], strides[UC_MAX_DIMS];
    int wide_extents[UC_MAX_DIMS], wide_strides[UC_MAX_DIMS], dims;

    uc_problem_extents(problem, tensor, batch, extents);
    uc_problem_strides(problem, tensor, strides);
    dims = widen(problem, extents, 2, 1, wide_extents);
    widen(problem, strides, 2, extents[2] * strides[2], wide_strides);
    return cudnn->SetTensorNdDescriptor(descriptor, data_types[type], dims,
                                        wide_extents, wide_strides);
}

static cudnnStatus_t set_filter(const struct uc_cudnn *cudnn,
                                cudnnFilterDescriptor_t descriptor,
                                const struct uc_problem *problem)
{
    int64_t extents[UC_MAX_DIMS];
    int wide[UC_MAX_DIMS], dims;

    uc_problem_extents(problem, UC_W, 0, extents);
    dims = widen(problem, extents, 2, 1, wide);
    return cudnn->SetFilterNdDescriptor(
        descriptor, data_types[problem->w_type],
        problem->w.kind == UC_NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
        dims, wide);
}

static cudnnStatus_t set_convolution(const struct uc_cudnn *cudnn,
                                     cudnnConvolutionDescriptor_t descriptor,
                                     const struct uc_problem *problem,
                                     cudnnMathType_t math)
{
    int pad[UC_MAX_DIMS], stride[UC_MAX_DIMS], dilation[UC_MAX_DIMS], dims;
    cudnnStatus_t status;

    dims = widen(problem, problem->pad, 0, 0, pad);
    widen(problem, problem->stride, 0, 1, stride);
    widen(problem, problem->dilation, 0, 1, dilation);
    status = cudnn->SetConvolutionNdDescriptor(
        descriptor, dims, pad, stride, dilation,
        problem->mode == UC_CONVOLUTION ? CUDNN_CONVOLUTION
                                        : CUDNN_CROSS_CORRELATION,
        data_types[problem->compute_type]);
    if (status == CUDNN_STATUS_SUCCESS)
        status =
            cudnn->SetConvolutionGroupCount(descriptor, (int)problem->groups);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnn->SetConvolutionMathType(descriptor, math);
    return status;
}

/** One for each math, so that a runner never changes once it is made. */
static cudnnStatus_t create_convolutions(struct uc_runner *r,
                                         const struct uc_problem *problem)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    for (int math = 0; math < UC_MATHS && !status; math++)
        if (!(status =
                  r->cudnn->CreateConvolutionDescriptor(&r->convolution[math])))
            status = set_convolution(r->cudnn, r->convolution[math], problem,
                                     math_types[math]);
    return status;
}

enum uc_status uc_runner_create(const struct uc_cudnn *cudnn,
                                const struct uc_problem *problem,
                                int64_t micro_batch, struct uc_runner **out,
                                struct uc_error *err)
{
    struct uc_runner *r = calloc(1, sizeof *r);
    cudnnStatus_t status;

    if (r == NULL)
        return uc_no_memory(err);
    r->cudnn = cudnn;
    r->operation = problem->operation;
    if ((status = cudnn->CreateTensorDescriptor(&r->x)) ||
        (status = cudnn->CreateTensorDescriptor(&r->y)) ||
        (status = cudnn->CreateFilterDescriptor(&r->w)) ||
        (status = set_tensor(cudnn, r->x, problem, UC_X, micro_batch,
                             problem->x_type)) ||
        (status = set_tensor(cudnn, r->y, problem, UC_Y, micro_batch,
                             problem->y_type)) ||
        (status = set_filter(cudnn, r->w, problem)) ||
        (status = create_convolutions(r, problem))) {
        uc_runner_free(r);
        return uc_fail(err, UC_EDEVICE, "cuDNN refuses a descriptor: %s",
                       cudnn->GetErrorString(status));
    }
    *out = r;
    return UC_OK;
}

void uc_runner_free(struct uc_runner *runner)
{
    if (runner == NULL)
        return;
    for (int math = 0; math < UC_MATHS; math++)
        if (runner->convolution[math] != NULL)
            runner->cudnn->DestroyConvolutionDescriptor(
                runner->convolution[math]);
    if (runner->w != NULL)
        runner->cudnn->DestroyFilterDescriptor(runner->w);
    if (runner->y != NULL)
        runner->cudnn->DestroyTensorDescriptor(runner->y);
    if (runner->x != NULL)
        runner->cudnn->DestroyTensorDescriptor(runner->x);
    free(runner);
}

cudnnStatus_t uc_runner_workspace(const struct uc_runner *runner,
                                  cudnnHandle_t handle,
                                  const struct uc_kernel *kernel, size_t *bytes)
{
    const struct uc_cudnn *cudnn = runner->cudnn;
    const struct uc_runner *r = runner;
    cudnnConvolutionDescriptor_t convolution = r->convolution[kernel->math];

    switch (r->operation) {
    case UC_FORWARD:
        return cudnn->GetConvolutionForwardWorkspaceSize(
            handle, r->x, r->w, convolution, r->y,
            (cudnnConvolutionFwdAlgo_t)kernel->algorithm, bytes);
    case UC_BACKWARD_DATA:
        return cudnn->GetConvolutionBackwardDataWorkspaceSize(
            handle, r->w, r->y, convolution, r->x,
            (cudnnConvolutionBwdDataAlgo_t)kernel->algorithm, bytes);
    default:
        return cudnn->GetConvolutionBackwardFilterWorkspaceSize(
            handle, r->x, r->y, convolution, r->w,
            (cudnnConvolutionBwdFilterAlgo_t)kernel->algorithm, bytes);
    }
}

cudnnStatus_t uc_runner_run(const struct uc_runner *runner,
                            cudnnHandle_t handle,
                            const struct uc_kernel *kernel, const void *alpha,
                            const struct uc_tensors *tensors, const void *beta,
                            void *workspace, size_t workspace_bytes)
{
    const struct uc_cudnn *cudnn = runner->cudnn;
    const struct uc_tensors *t = tensors;
    const struct uc_runner *r = runner;
    cudnnConvolutionDescriptor_t convolution = r->convolution[kernel->math];

    switch (r->operation) {
    case UC_FORWARD:
        return cudnn->ConvolutionForward(
            handle, alpha, r->x, t->x, r->w, t->w, convolution,
            (cudnnConvolutionFwdAlgo_t)kernel->algorithm, workspace,
            workspace_bytes, beta, r->y, t->y);
    case UC_BACKWARD_DATA:
        return cudnn->ConvolutionBackwardData(
            handle, alpha, r->w, t->w, r->y, t->y, convolution,
            (cudnnConvolutionBwdDataAlgo_t)kernel->algorithm, workspace,
            workspace_bytes, beta, r->x, t->x);
    default:
        return cudnn->ConvolutionBackwardFilter(
            handle, alpha, r->x, t->x, r->y, t->y, convolution,
            (cudnnConvolutionBwdFilterAlgo_t)kernel->algorithm, workspace,
            workspace_bytes, beta, r->w, t->w);
    }
}

cudnnStatus_t uc_runner_run_fused(const struct uc_runner *runner,
                                  cudnnHandle_t handle,
                                  const struct uc_kernel *kernel,
                                  const void *alpha,
                                  const struct uc_tensors *tensors,
                                  const struct uc_epilogue *epilogue,
                                  void *workspace, size_t workspace_bytes)
{
    const struct uc_runner *r = runner;
    const struct uc_epilogue *e = epilogue;

    return r->cudnn->ConvolutionBiasActivationForward(
        handle, alpha, r->x, tensors->x, r->w, tensors->w,
        r->convolution[kernel->math],
        (cudnnConvolutionFwdAlgo_t)kernel->algorithm, workspace,
        workspace_bytes, e->alpha2, r->y, e->z, e->bias_descriptor, e->bias,
        e->activation, r->y, tensors->y);
}
