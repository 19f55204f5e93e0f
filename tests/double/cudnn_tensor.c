/* Tensor, filter and activation descriptors. */
#include "config.h"

#include "tests/double/cudnn_state.h"

#include <stdlib.h>
#include <string.h>

void uc_cudnn_strides(cudnnTensorFormat_t format, int dims, const int *extent,
                      int *stride)
{
    int step = 1;

    if (format == CUDNN_TENSOR_NHWC) {
        stride[1] = 1;
        step = extent[1];
    }
    for (int d = dims - 1; d >= 0; d--) {
        if (d == 1 && format == CUDNN_TENSOR_NHWC) {
            continue;
        }
        stride[d] = step;
        step *= extent[d];
    }
}

static bool type_known(cudnnDataType_t type)
{
    return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE ||
           type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16;
}

static size_t type_bytes(cudnnDataType_t type)
{
    return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
}

/** Extents >= 1 whose product fits 31 bits; the type one of ours. */
static cudnnStatus_t check(cudnnDataType_t type, int dims, const int *extent)
{
    int64_t elements = 1;

    if (!type_known(type)) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED,
                             "data type %d is not simulated", (int)type);
    }
    if (dims < 3 || dims > UC_DIMS || !extent) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "%d dimensions", dims);
    }
    for (int d = 0; d < dims; d++) {
        if (extent[d] < 1) {
            return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "extent %d is %d", d,
                                 extent[d]);
        }
        elements *= extent[d];
        if (elements > INT32_MAX) {
            return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED,
                                 "2^31 elements or more");
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

static void *create(size_t bytes, unsigned magic)
{
    unsigned *made = calloc(1, bytes);

    if (made) {
        *made = magic;
        uc_double_add(UC_DOUBLE_DESCRIPTORS, 1);
        uc_double_add(UC_DOUBLE_LIVE, 1);
    }
    return made;
}

static cudnnStatus_t destroy(void *object, unsigned magic, const char *what)
{
    if (!object) {
        return CUDNN_STATUS_SUCCESS;
    }
    if (!uc_cudnn_alive(object, magic, what)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *(unsigned *)object = UC_DEAD;
    free(object);
    uc_double_add(UC_DOUBLE_LIVE, -1);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t created(const void *object)
{
    return object ? CUDNN_STATUS_SUCCESS
                  : CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensor)
{
    *tensor = create(sizeof **tensor, UC_TENSOR);
    return created(*tensor);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor)
{
    return destroy(tensor, UC_TENSOR, "tensor descriptor");
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor,
                                         cudnnDataType_t type, int dims,
                                         const int extent[], const int stride[])
{
    cudnnStatus_t status;

    if (!uc_cudnn_alive(tensor, UC_TENSOR, "tensor descriptor")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    status = check(type, dims, extent);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    for (int d = 0; d < dims; d++) {
        if (stride[d] < 1) {
            return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "stride %d is %d",
                                 d, stride[d]);
        }
    }
    tensor->type = type;
    tensor->dims = dims;
    memcpy(tensor->extent, extent, (size_t)dims * sizeof *extent);
    memcpy(tensor->stride, stride, (size_t)dims * sizeof *stride);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensor,
                                           cudnnTensorFormat_t format,
                                           cudnnDataType_t type, int dims,
                                           const int extent[])
{
    int stride[UC_DIMS] = { 0 };
    cudnnStatus_t status = check(type, dims, extent);

    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    if (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "tensor format");
    }
    uc_cudnn_strides(format, dims, extent, stride);
    return cudnnSetTensorNdDescriptor(tensor, type, dims, extent, stride);
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor,
                                         cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c,
                                         int h, int w)
{
    int extent[4] = { n, c, h, w };

    return cudnnSetTensorNdDescriptorEx(tensor, format, type, 4, extent);
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensor,
                                           cudnnDataType_t type, int n, int c,
                                           int h, int w, int n_stride,
                                           int c_stride, int h_stride,
                                           int w_stride)
{
    int extent[4] = { n, c, h, w };
    int stride[4] = { n_stride, c_stride, h_stride, w_stride };

    return cudnnSetTensorNdDescriptor(tensor, type, 4, extent, stride);
}

cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensor,
                                         cudnnDataType_t *type, int *n, int *c,
                                         int *h, int *w, int *n_stride,
                                         int *c_stride, int *h_stride,
                                         int *w_stride)
{
    if (!uc_cudnn_alive(tensor, UC_TENSOR, "tensor descriptor") ||
        tensor->dims != 4) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *type = tensor->type;
    *n = tensor->extent[0];
    *c = tensor->extent[1];
    *h = tensor->extent[2];
    *w = tensor->extent[3];
    *n_stride = tensor->stride[0];
    *c_stride = tensor->stride[1];
    *h_stride = tensor->stride[2];
    *w_stride = tensor->stride[3];
    return CUDNN_STATUS_SUCCESS;
}

static void copy(int *to, const int *from, int requested, int have)
{
    int count = requested < have ? requested : have;

    if (to && count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
}

cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensor,
                                         int requested, cudnnDataType_t *type,
                                         int *dims, int extent[], int stride[])
{
    if (!uc_cudnn_alive(tensor, UC_TENSOR, "tensor descriptor") ||
        requested < 0) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *type = tensor->type;
    *dims = tensor->dims;
    copy(extent, tensor->extent, requested, tensor->dims);
    copy(stride, tensor->stride, requested, tensor->dims);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensor,
                                        size_t *bytes)
{
    size_t last = 0;

    if (!uc_cudnn_alive(tensor, UC_TENSOR, "tensor descriptor")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    for (int d = 0; d < tensor->dims; d++) {
        last += (size_t)(tensor->extent[d] - 1) * (size_t)tensor->stride[d];
    }
    *bytes = tensor->dims ? (last + 1) * type_bytes(tensor->type) : 0;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filter)
{
    *filter = create(sizeof **filter, UC_FILTER);
    return created(*filter);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter)
{
    return destroy(filter, UC_FILTER, "filter descriptor");
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter,
                                         cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int dims,
                                         const int extent[])
{
    cudnnStatus_t status;

    if (!uc_cudnn_alive(filter, UC_FILTER, "filter descriptor")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    status = check(type, dims, extent);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    if (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "filter format");
    }
    filter->type = type;
    filter->format = format;
    filter->dims = dims;
    memcpy(filter->extent, extent, (size_t)dims * sizeof *extent);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter,
                                         cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k,
                                         int c, int h, int w)
{
    int extent[4] = { k, c, h, w };

    return cudnnSetFilterNdDescriptor(filter, type, format, 4, extent);
}

cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t filter,
                                         int requested, cudnnDataType_t *type,
                                         cudnnTensorFormat_t *format, int *dims,
                                         int extent[])
{
    if (!uc_cudnn_alive(filter, UC_FILTER, "filter descriptor") ||
        requested < 0) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *type = filter->type;
    *format = filter->format;
    *dims = filter->dims;
    copy(extent, filter->extent, requested, filter->dims);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filter,
                                         cudnnDataType_t *type,
                                         cudnnTensorFormat_t *format, int *k,
                                         int *c, int *h, int *w)
{
    int dims;
    int extent[4] = { 0 };
    cudnnStatus_t status =
        cudnnGetFilterNdDescriptor(filter, 4, type, format, &dims, extent);

    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    if (dims != 4) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *k = extent[0];
    *c = extent[1];
    *h = extent[2];
    *w = extent[3];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t filter,
                                        size_t *bytes)
{
    if (!uc_cudnn_alive(filter, UC_FILTER, "filter descriptor")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *bytes = type_bytes(filter->type);
    for (int d = 0; d < filter->dims; d++) {
        *bytes *= (size_t)filter->extent[d];
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateActivationDescriptor(
    cudnnActivationDescriptor_t *activation)
{
    *activation = create(sizeof **activation, UC_ACTIVATION);
    return created(*activation);
}

cudnnStatus_t cudnnDestroyActivationDescriptor(
    cudnnActivationDescriptor_t activation)
{
    return destroy(activation, UC_ACTIVATION, "activation descriptor");
}

cudnnStatus_t cudnnSetActivationDescriptor(
    cudnnActivationDescriptor_t activation, cudnnActivationMode_t mode,
    cudnnNanPropagation_t nan, double coefficient)
{
    if (!uc_cudnn_alive(activation, UC_ACTIVATION, "activation descriptor")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    activation->mode = mode;
    activation->nan = nan;
    activation->coefficient = coefficient;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetActivationDescriptor(
    const cudnnActivationDescriptor_t activation, cudnnActivationMode_t *mode,
    cudnnNanPropagation_t *nan, double *coefficient)
{
    if (!uc_cudnn_alive(activation, UC_ACTIVATION, "activation descriptor")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *mode = activation->mode;
    *nan = activation->nan;
    *coefficient = activation->coefficient;
    return CUDNN_STATUS_SUCCESS;
}
