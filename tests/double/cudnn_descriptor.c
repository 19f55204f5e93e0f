/* The convolution descriptor and the geometry of a convolution. */
#include "config.h"

#include "tests/double/cudnn_state.h"

#include <stdlib.h>
#include <string.h>

cudnnStatus_t cudnnCreateConvolutionDescriptor(
    cudnnConvolutionDescriptor_t *convolution)
{
    cudnnConvolutionDescriptor_t made = calloc(1, sizeof *made);

    if (!made) {
        return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    }
    made->magic = UC_CONVOLUTION;
    made->groups = 1;
    made->math = CUDNN_DEFAULT_MATH;
    uc_double_add(UC_DOUBLE_DESCRIPTORS, 1);
    uc_double_add(UC_DOUBLE_LIVE, 1);
    *convolution = made;
    return CUDNN_STATUS_SUCCESS;
}

static bool alive(cudnnConvolutionDescriptor_t convolution)
{
    return uc_cudnn_alive(convolution, UC_CONVOLUTION,
                          "convolution descriptor");
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(
    cudnnConvolutionDescriptor_t convolution)
{
    if (!convolution) {
        return CUDNN_STATUS_SUCCESS;
    }
    if (!alive(convolution)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    convolution->magic = UC_DEAD;
    free(convolution);
    uc_double_add(UC_DOUBLE_LIVE, -1);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(
    cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math)
{
    if (!alive(convolution) || math < CUDNN_DEFAULT_MATH ||
        math > CUDNN_FMA_MATH) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    convolution->math = math;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionMathType(
    cudnnConvolutionDescriptor_t convolution, cudnnMathType_t *math)
{
    if (!alive(convolution)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *math = convolution->math;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(
    cudnnConvolutionDescriptor_t convolution, int groups)
{
    if (!alive(convolution) || groups < 1) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    convolution->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionGroupCount(
    cudnnConvolutionDescriptor_t convolution, int *groups)
{
    if (!alive(convolution)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *groups = convolution->groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionReorderType(
    cudnnConvolutionDescriptor_t convolution, cudnnReorderType_t reorder)
{
    if (!alive(convolution)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    convolution->reorder = reorder;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionReorderType(
    cudnnConvolutionDescriptor_t convolution, cudnnReorderType_t *reorder)
{
    if (!alive(convolution)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *reorder = convolution->reorder;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(
    cudnnConvolutionDescriptor_t convolution, int length, const int pad[],
    const int stride[], const int dilation[], cudnnConvolutionMode_t mode,
    cudnnDataType_t compute_type)
{
    size_t bytes;

    if (!alive(convolution) || length < 1 || length > UC_DIMS - 2) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    for (int d = 0; d < length; d++) {
        if (pad[d] < 0 || stride[d] < 1 || dilation[d] < 1) {
            return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM,
                                 "padding, stride or dilation %d", d);
        }
    }
    bytes = (size_t)length * sizeof *pad;
    convolution->spatial = length;
    memcpy(convolution->pad, pad, bytes);
    memcpy(convolution->stride, stride, bytes);
    memcpy(convolution->dilation, dilation, bytes);
    convolution->mode = mode;
    convolution->compute_type = compute_type;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(
    cudnnConvolutionDescriptor_t convolution, int pad_h, int pad_w,
    int stride_h, int stride_w, int dilation_h, int dilation_w,
    cudnnConvolutionMode_t mode, cudnnDataType_t compute_type)
{
    int pad[2] = { pad_h, pad_w };
    int stride[2] = { stride_h, stride_w };
    int dilation[2] = { dilation_h, dilation_w };

    return cudnnSetConvolutionNdDescriptor(convolution, 2, pad, stride,
                                           dilation, mode, compute_type);
}

cudnnStatus_t cudnnGetConvolutionNdDescriptor(
    const cudnnConvolutionDescriptor_t convolution, int requested, int *length,
    int pad[], int stride[], int dilation[], cudnnConvolutionMode_t *mode,
    cudnnDataType_t *compute_type)
{
    int count;

    if (!alive(convolution) || requested < 0) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    count = requested < convolution->spatial ? requested : convolution->spatial;
    *length = convolution->spatial;
    for (int d = 0; d < count; d++) {
        pad[d] = convolution->pad[d];
        stride[d] = convolution->stride[d];
        dilation[d] = convolution->dilation[d];
    }
    *mode = convolution->mode;
    *compute_type = convolution->compute_type;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolution2dDescriptor(
    const cudnnConvolutionDescriptor_t convolution, int *pad_h, int *pad_w,
    int *stride_h, int *stride_w, int *dilation_h, int *dilation_w,
    cudnnConvolutionMode_t *mode, cudnnDataType_t *compute_type)
{
    if (!alive(convolution) || convolution->spatial != 2) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *pad_h = convolution->pad[0];
    *pad_w = convolution->pad[1];
    *stride_h = convolution->stride[0];
    *stride_w = convolution->stride[1];
    *dilation_h = convolution->dilation[0];
    *dilation_w = convolution->dilation[1];
    *mode = convolution->mode;
    *compute_type = convolution->compute_type;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w, int dims,
    int output[])
{
    if (!alive(convolution) ||
        !uc_cudnn_alive(x, UC_TENSOR, "tensor descriptor") ||
        !uc_cudnn_alive(w, UC_FILTER, "filter descriptor")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    if (dims != x->dims || dims != w->dims ||
        dims != convolution->spatial + 2) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM,
                             "dimensions differ: %d, x %d, w %d, convolution "
                             "%d + 2",
                             dims, x->dims, w->dims, convolution->spatial);
    }
    if (x->extent[1] != w->extent[1] * convolution->groups ||
        w->extent[0] % convolution->groups != 0) {
        return uc_cudnn_fail(
            CUDNN_STATUS_BAD_PARAM, "channels: x %d, w %d by %d, %d groups",
            x->extent[1], w->extent[0], w->extent[1], convolution->groups);
    }
    output[0] = x->extent[0];
    output[1] = w->extent[0];
    for (int d = 2; d < dims; d++) {
        int reach = (w->extent[d] - 1) * convolution->dilation[d - 2] + 1;
        int room = x->extent[d] + 2 * convolution->pad[d - 2] - reach;

        if (room < 0) {
            return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM,
                                 "the filter is larger than the input");
        }
        output[d] = room / convolution->stride[d - 2] + 1;
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w, int *n,
    int *c, int *h, int *width)
{
    int output[4];
    cudnnStatus_t status =
        cudnnGetConvolutionNdForwardOutputDim(convolution, x, w, 4, output);

    if (status == CUDNN_STATUS_SUCCESS) {
        *n = output[0];
        *c = output[1];
        *h = output[2];
        *width = output[3];
    }
    return status;
}
