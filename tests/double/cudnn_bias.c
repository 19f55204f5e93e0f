/* The fused forward pass and the bias gradient. */
#include "config.h"

#include "tests/double/cudnn_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double scalar(const void *value, cudnnDataType_t type)
{
    return uc_number_load(
        value, type == CUDNN_DATA_DOUBLE ? UC_NUMBER_FP64 : UC_NUMBER_FP32, 0);
}

static enum uc_number number_of(cudnnDataType_t type)
{
    switch ((int)type) {
    case CUDNN_DATA_DOUBLE:
        return UC_NUMBER_FP64;
    case CUDNN_DATA_HALF:
        return UC_NUMBER_FP16;
    case CUDNN_DATA_BFLOAT16:
        return UC_NUMBER_BF16;
    default:
        return UC_NUMBER_FP32;
    }
}

static bool in_memory(cudnnHandle_t handle, cudnnTensorDescriptor_t tensor,
                      const void *data, const char *what)
{
    size_t bytes;

    return cudnnGetTensorSizeInBytes(tensor, &bytes) == CUDNN_STATUS_SUCCESS &&
           uc_double_range(data, bytes, handle->device, what);
}

static bool next(const cudnnTensorDescriptor_t tensor, int index[UC_DIMS])
{
    for (int d = tensor->dims - 1; d >= 0; d--) {
        if (++index[d] < tensor->extent[d]) {
            return true;
        }
        index[d] = 0;
    }
    return false;
}

/** Where an element lies in a tensor that may have extents of 1 instead. */
static int64_t place(const cudnnTensorDescriptor_t tensor,
                     const int index[UC_DIMS])
{
    int64_t at = 0;

    for (int d = 0; d < tensor->dims; d++) {
        at +=
            tensor->extent[d] == 1 ? 0 : (int64_t)index[d] * tensor->stride[d];
    }
    return at;
}

static bool same_extents(const cudnnTensorDescriptor_t a,
                         const cudnnTensorDescriptor_t b)
{
    return a->dims == b->dims && a->type == b->type &&
           memcmp(a->extent, b->extent, (size_t)a->dims * sizeof *a->extent) ==
               0;
}

static bool bias_fits(const cudnnTensorDescriptor_t bias,
                      const cudnnTensorDescriptor_t y)
{
    bool fits = bias->dims == y->dims && bias->extent[0] == 1 &&
                bias->extent[1] == y->extent[1];

    for (int d = 2; fits && d < y->dims; d++) {
        fits = bias->extent[d] == 1;
    }
    return fits;
}

static double activate(double value,
                       const cudnnActivationDescriptor_t activation)
{
    if (activation->mode == CUDNN_ACTIVATION_IDENTITY || isnan(value)) {
        return value;
    }
    return value > 0 ? value : 0;
}

/** The parts that the plain forward pass does not check. */
static cudnnStatus_t check(cudnnHandle_t handle, int algorithm,
                           const cudnnTensorDescriptor_t z, const void *z_data,
                           const cudnnTensorDescriptor_t bias,
                           const void *bias_data,
                           const cudnnActivationDescriptor_t activation,
                           const cudnnTensorDescriptor_t y)
{
    if (!uc_cudnn_alive(handle, UC_HANDLE, "handle") ||
        !uc_cudnn_alive(z, UC_TENSOR, "tensor descriptor") ||
        !uc_cudnn_alive(bias, UC_TENSOR, "tensor descriptor") ||
        !uc_cudnn_alive(y, UC_TENSOR, "tensor descriptor") ||
        !uc_cudnn_alive(activation, UC_ACTIVATION, "activation descriptor")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    if (!same_extents(z, y) || !bias_fits(bias, y)) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "z or bias extents");
    }
    if (activation->mode != CUDNN_ACTIVATION_RELU &&
        (activation->mode != CUDNN_ACTIVATION_IDENTITY ||
         algorithm != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "activation");
    }
    if (!in_memory(handle, bias, bias_data, "bias") ||
        !in_memory(handle, z, z_data, "z")) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "z or bias");
    }
    return CUDNN_STATUS_SUCCESS;
}

/** A copy of z in y's order: z may be y itself. NULL: no memory. */
static double *copy_of(const cudnnTensorDescriptor_t z, const void *data)
{
    int index[UC_DIMS] = { 0 };
    size_t count = 1;
    double *copy;
    double *to;

    for (int d = 0; d < z->dims; d++) {
        count *= (size_t)z->extent[d];
    }
    copy = malloc(count * sizeof *copy);
    to = copy;
    if (copy) {
        do {
            *to++ = uc_number_load(data, number_of(z->type), place(z, index));
        } while (next(z, index));
    }
    return copy;
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void *alpha1, const cudnnTensorDescriptor_t x,
    const void *x_data, const cudnnFilterDescriptor_t w, const void *w_data,
    const cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionFwdAlgo_t algorithm, void *workspace,
    size_t workspace_bytes, const void *alpha2, const cudnnTensorDescriptor_t z,
    const void *z_data, const cudnnTensorDescriptor_t bias,
    const void *bias_data, const cudnnActivationDescriptor_t activation,
    const cudnnTensorDescriptor_t y, void *y_data)
{
    static const double zero = 0; /* 0 as a float too */
    int index[UC_DIMS] = { 0 };
    cudnnStatus_t status;
    double *addend;
    const double *from;
    double factor;

    if (uc_double_settings()->empty) {
        return cudnnConvolutionForward(handle, alpha1, x, x_data, w, w_data,
                                       convolution, algorithm, workspace,
                                       workspace_bytes, &zero, y, y_data);
    }
    status = check(handle, (int)algorithm, z, z_data, bias, bias_data,
                   activation, y);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    addend = copy_of(z, z_data);
    if (!addend) {
        return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    }
    status = cudnnConvolutionForward(handle, alpha1, x, x_data, w, w_data,
                                     convolution, algorithm, workspace,
                                     workspace_bytes, &zero, y, y_data);
    factor = scalar(alpha2, y->type);
    from = addend;
    if (status == CUDNN_STATUS_SUCCESS) {
        do {
            enum uc_number type = number_of(y->type);
            int64_t at = place(y, index);
            double value = uc_number_load(y_data, type, at) +
                           uc_number_load(bias_data, number_of(bias->type),
                                          place(bias, index));

            if (factor != 0) {
                value += factor * *from;
            }
            from++;
            uc_number_store(y_data, type, at, activate(value, activation));
        } while (next(y, index));
        uc_double_changed();
    }
    free(addend);
    return status;
}

cudnnStatus_t cudnnConvolutionBackwardBias(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t dy,
    const void *dy_data, const void *beta, const cudnnTensorDescriptor_t db,
    void *db_data)
{
    int index[UC_DIMS] = { 0 };
    double *sums;

    if (!uc_cudnn_alive(handle, UC_HANDLE, "handle") ||
        !uc_cudnn_alive(dy, UC_TENSOR, "tensor descriptor") ||
        !uc_cudnn_alive(db, UC_TENSOR, "tensor descriptor") ||
        !bias_fits(db, dy) || !in_memory(handle, dy, dy_data, "dy") ||
        !in_memory(handle, db, db_data, "db")) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "dy or db");
    }
    sums = calloc((size_t)dy->extent[1], sizeof *sums);
    if (!sums) {
        return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    }
    do {
        sums[index[1]] +=
            uc_number_load(dy_data, number_of(dy->type), place(dy, index));
    } while (next(dy, index));
    for (int k = 0; k < dy->extent[1]; k++) {
        enum uc_number type = number_of(db->type);
        int64_t at = (int64_t)k * db->stride[1];
        double value = scalar(alpha, dy->type) * sums[k];

        if (scalar(beta, dy->type) != 0) {
            value += scalar(beta, dy->type) * uc_number_load(db_data, type, at);
        }
        uc_number_store(db_data, type, at, value);
    }
    free(sums);
    uc_double_submit(handle->stream, handle->device, 2000, db_data);
    return CUDNN_STATUS_SUCCESS;
}
