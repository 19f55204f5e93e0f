/* From descriptors to the geometry of one convolution. */
#include "config.h"

#include "tests/double/cudnn_state.h"

#include <string.h>

static bool number_type(cudnnDataType_t type, enum uc_number *number)
{
    switch ((int)type) {
    case CUDNN_DATA_FLOAT:
        *number = UC_NUMBER_FP32;
        return true;
    case CUDNN_DATA_HALF:
        *number = UC_NUMBER_FP16;
        return true;
    case CUDNN_DATA_BFLOAT16:
        *number = UC_NUMBER_BF16;
        return true;
    case CUDNN_DATA_DOUBLE:
        *number = UC_NUMBER_FP64;
        return true;
    default:
        return false;
    }
}

static cudnnStatus_t build_types(cudnnTensorDescriptor_t x,
                                 cudnnFilterDescriptor_t w,
                                 cudnnConvolutionDescriptor_t convolution,
                                 cudnnTensorDescriptor_t y,
                                 struct uc_geometry *g)
{
    cudnnDataType_t compute =
        x->type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;

    if (!number_type(x->type, &g->type) || x->type != w->type ||
        x->type != y->type || convolution->compute_type != compute) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED,
                             "data types x %d, w %d, y %d, compute %d",
                             (int)x->type, (int)w->type, (int)y->type,
                             (int)convolution->compute_type);
    }
    g->double_scalars = x->type == CUDNN_DATA_DOUBLE;
    g->narrow = g->type == UC_NUMBER_FP16 || g->type == UC_NUMBER_BF16;
    g->math = convolution->math;
    g->tf32 = g->type == UC_NUMBER_FP32 && g->math != CUDNN_FMA_MATH;
    g->flip = convolution->mode == CUDNN_CONVOLUTION;
    return CUDNN_STATUS_SUCCESS;
}

/** N,C,...: the first two stay, the others move to the right end of five. */
static void align(int dims, const int *from, int64_t *to, int64_t fill)
{
    to[2] = to[3] = to[4] = fill;
    to[0] = from[0];
    to[1] = from[1];
    for (int d = 2; d < dims; d++) {
        to[d + 5 - dims] = from[d];
    }
}

/** Equal strides wherever the extent leaves a choice no room. */
static bool packed(int dims, const int *extent, const int *stride,
                   cudnnTensorFormat_t format)
{
    int dense[UC_DIMS];

    uc_cudnn_strides(format, dims, extent, dense);
    for (int d = 0; d < dims; d++) {
        if (extent[d] > 1 && stride[d] != dense[d]) {
            return false;
        }
    }
    return true;
}

static void build_layout(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                         cudnnTensorDescriptor_t y, struct uc_geometry *g)
{
    int filter_stride[UC_DIMS];
    int dims = x->dims;

    uc_cudnn_strides(w->format, dims, w->extent, filter_stride);
    align(dims, x->stride, g->strides[UC_ROLE_X], 0);
    align(dims, filter_stride, g->strides[UC_ROLE_W], 0);
    align(dims, y->stride, g->strides[UC_ROLE_Y], 0);
    g->nchw = packed(dims, x->extent, x->stride, CUDNN_TENSOR_NCHW) &&
              packed(dims, y->extent, y->stride, CUDNN_TENSOR_NCHW) &&
              packed(dims, w->extent, filter_stride, CUDNN_TENSOR_NCHW);
    g->nhwc = packed(dims, x->extent, x->stride, CUDNN_TENSOR_NHWC) &&
              packed(dims, y->extent, y->stride, CUDNN_TENSOR_NHWC) &&
              packed(dims, w->extent, filter_stride, CUDNN_TENSOR_NHWC);
}

static int64_t elements(const struct uc_geometry *g, enum uc_role role)
{
    int64_t extent[5];
    int64_t count = 1;

    uc_geometry_extents(g, role, extent);
    for (int d = 0; d < 5; d++) {
        count *= extent[d];
    }
    return count;
}

static cudnnStatus_t build_extents(cudnnTensorDescriptor_t x,
                                   cudnnFilterDescriptor_t w,
                                   cudnnConvolutionDescriptor_t convolution,
                                   cudnnTensorDescriptor_t y,
                                   struct uc_geometry *g)
{
    int64_t wide[5];
    int shift = 3 - convolution->spatial;

    g->spatial = convolution->spatial;
    g->groups = convolution->groups;
    g->n = x->extent[0];
    g->c = x->extent[1];
    g->k = w->extent[0];
    align(x->dims, x->extent, wide, 1);
    memcpy(g->in, wide + 2, sizeof g->in);
    align(x->dims, w->extent, wide, 1);
    memcpy(g->filter, wide + 2, sizeof g->filter);
    align(x->dims, y->extent, wide, 1);
    memcpy(g->out, wide + 2, sizeof g->out);
    for (int d = 0; d < 3; d++) {
        g->pad[d] = d < shift ? 0 : convolution->pad[d - shift];
        g->stride[d] = d < shift ? 1 : convolution->stride[d - shift];
        g->dilation[d] = d < shift ? 1 : convolution->dilation[d - shift];
    }
    for (int role = 0; role < 3; role++) {
        if (elements(g, (enum uc_role)role) >
            uc_double_settings()->max_elements) {
            return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED,
                                 "a tensor has too many elements");
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t uc_geometry_build(cudnnTensorDescriptor_t x,
                                cudnnFilterDescriptor_t w,
                                cudnnConvolutionDescriptor_t convolution,
                                cudnnTensorDescriptor_t y,
                                struct uc_geometry *geometry)
{
    struct uc_geometry g = { 0 };
    int output[UC_DIMS];
    cudnnStatus_t status;

    if (!uc_cudnn_alive(x, UC_TENSOR, "tensor descriptor") ||
        !uc_cudnn_alive(y, UC_TENSOR, "tensor descriptor")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    status = cudnnGetConvolutionNdForwardOutputDim(convolution, x, w, x->dims,
                                                   output);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    if (x->dims > 5) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "%d dimensions",
                             x->dims);
    }
    if (y->dims != x->dims ||
        memcmp(output, y->extent, (size_t)x->dims * sizeof *output) != 0) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM,
                             "y does not have the extents of the output");
    }
    status = build_types(x, w, convolution, y, &g);
    if (status == CUDNN_STATUS_SUCCESS) {
        status = build_extents(x, w, convolution, y, &g);
    }
    if (status == CUDNN_STATUS_SUCCESS) {
        build_layout(x, w, y, &g);
        *geometry = g;
    }
    return status;
}

void uc_geometry_extents(const struct uc_geometry *g, enum uc_role role,
                         int64_t extent[5])
{
    const int64_t *spatial = role == UC_ROLE_X   ? g->in
                             : role == UC_ROLE_W ? g->filter
                                                 : g->out;

    extent[0] = role == UC_ROLE_W ? g->k : g->n;
    extent[1] = role == UC_ROLE_X   ? g->c
                : role == UC_ROLE_W ? g->c / g->groups
                                    : g->k;
    memcpy(extent + 2, spatial, 3 * sizeof *extent);
}

int64_t uc_geometry_span(const struct uc_geometry *g, enum uc_role role)
{
    int64_t extent[5];
    int64_t last = 0;

    uc_geometry_extents(g, role, extent);
    for (int d = 0; d < 5; d++) {
        last += (extent[d] - 1) * g->strides[role][d];
    }
    return last + 1;
}

enum uc_role uc_geometry_output(enum uc_double_operation operation)
{
    static const enum uc_role roles[UC_DOUBLE_OPERATIONS] = {
        UC_ROLE_Y,
        UC_ROLE_X,
        UC_ROLE_W,
    };

    return roles[operation];
}

void uc_walk_start(struct uc_walk *walk, const struct uc_geometry *g,
                   enum uc_role role)
{
    memset(walk, 0, sizeof *walk);
    uc_geometry_extents(g, role, walk->extent);
    memcpy(walk->stride, g->strides[role], sizeof walk->stride);
}

bool uc_walk_next(struct uc_walk *walk)
{
    for (int d = 4; d >= 0; d--) {
        walk->offset += walk->stride[d];
        if (++walk->index[d] < walk->extent[d]) {
            return true;
        }
        walk->offset -= walk->extent[d] * walk->stride[d];
        walk->index[d] = 0;
    }
    return false;
}
