#include "config.h"

#include "runtime/caller.h"

#include <string.h>

enum { MAX_DIMS = CUDNN_DIM_MAX };

/** What a tensor or filter descriptor says. */
struct shape {
    cudnnDataType_t type;
    cudnnTensorFormat_t format; /**< filters only */
    int dims;
    int extents[MAX_DIMS], strides[MAX_DIMS];
};

static bool dtype_of(cudnnDataType_t type, enum uc_dtype *dtype)
{
    switch (type) {
    case CUDNN_DATA_FLOAT:
        *dtype = UC_FP32;
        return true;
    case CUDNN_DATA_HALF:
        *dtype = UC_FP16;
        return true;
    case CUDNN_DATA_BFLOAT16:
        *dtype = UC_BF16;
        return true;
    case CUDNN_DATA_DOUBLE:
        *dtype = UC_FP64;
        return true;
    default:
        return false;
    }
}

/** FMA is FMA; the other math types let tensor cores work on the data as it
    is. Conversion to narrower types is never taken up. */
static enum uc_math math_of(cudnnMathType_t type, enum uc_dtype data)
{
    switch (type == CUDNN_FMA_MATH ? UC_FP64 : data) {
    case UC_FP32:
        return UC_MATH_TF32;
    case UC_FP16:
        return UC_MATH_FP16;
    case UC_BF16:
        return UC_MATH_BF16;
    default:
        return UC_MATH_FMA;
    }
}

cudnnMathType_t uc_caller_math(const struct uc_cudnn *cudnn,
                               cudnnConvolutionDescriptor_t convolution)
{
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;

    cudnn->GetConvolutionMathType(convolution, &math);
    return math;
}

static bool get_tensor(const struct uc_cudnn *cudnn,
                       cudnnTensorDescriptor_t descriptor, struct shape *s)
{
    return cudnn->GetTensorNdDescriptor(descriptor, MAX_DIMS, &s->type,
                                        &s->dims, s->extents,
                                        s->strides) == CUDNN_STATUS_SUCCESS;
}

static bool get_filter(const struct uc_cudnn *cudnn,
                       cudnnFilterDescriptor_t descriptor, struct shape *s)
{
    return cudnn->GetFilterNdDescriptor(descriptor, MAX_DIMS, &s->type,
                                        &s->format, &s->dims,
                                        s->extents) == CUDNN_STATUS_SUCCESS;
}

/** The batch's stride says nothing when there is one image: it becomes what
    it is when images follow each other. */
static void set_layout(struct uc_tensor_layout *layout, const struct shape *s)
{
    int64_t image = 1;

    layout->kind = UC_STRIDED;
    for (int i = 1; i < s->dims; i++) {
        layout->strides[i] = s->strides[i];
        if ((int64_t)s->extents[i] * s->strides[i] > image)
            image = (int64_t)s->extents[i] * s->strides[i];
    }
    layout->strides[0] = s->extents[0] == 1 ? image : s->strides[0];
}

static const char *set_types(const struct shape *x, const struct shape *w,
                             const struct shape *y, cudnnDataType_t compute,
                             struct uc_problem *p)
{
    if (!dtype_of(x->type, &p->x_type) || !dtype_of(w->type, &p->w_type) ||
        !dtype_of(y->type, &p->y_type))
        return "data type";
    if (!dtype_of(compute, &p->compute_type) ||
        (p->compute_type != UC_FP32 && p->compute_type != UC_FP64))
        return "compute type";
    return NULL;
}

static const char *set_extents(const struct shape *x, const struct shape *w,
                               int length, const int *pad, const int *stride,
                               const int *dilation, struct uc_problem *p)
{
    p->spatial = x->dims - 2;
    if (p->spatial < 1 || p->spatial > UC_MAX_SPATIAL || w->dims != x->dims)
        return "number of dimensions";
    /* A 3-D tensor takes the leading entries of a 2-D convolution. */
    if (length < p->spatial)
        return "number of dimensions";
    p->c = x->extents[1];
    p->k = w->extents[0];
    for (int i = 0; i < p->spatial; i++) {
        p->in[i] = x->extents[2 + i];
        p->filter[i] = w->extents[2 + i];
        p->pad[i] = pad[i];
        p->stride[i] = stride[i];
        p->dilation[i] = dilation[i];
    }
    return NULL;
}

/** cuDNN would refuse another; the plan's own descriptors would not. */
static bool is_output(const struct uc_problem *p, const struct shape *x,
                      const struct shape *y)
{
    if (y->dims != x->dims || y->extents[0] != x->extents[0] ||
        y->extents[1] != p->k)
        return false;
    for (int i = 0; i < p->spatial; i++) {
        int64_t room =
            p->in[i] + 2 * p->pad[i] - p->dilation[i] * (p->filter[i] - 1) - 1;

        if (p->stride[i] < 1 || room < 0 ||
            y->extents[2 + i] != room / p->stride[i] + 1)
            return false;
    }
    return true;
}

const char *uc_caller_problem(const struct uc_cudnn *cudnn,
                              enum uc_operation operation,
                              const struct uc_descriptors *descriptors,
                              struct uc_problem *problem, int64_t *batch)
{
    struct uc_problem p;
    struct shape x, w, y;
    int length, groups, pad[MAX_DIMS], stride[MAX_DIMS], dilation[MAX_DIMS];
    cudnnConvolutionDescriptor_t convolution = descriptors->convolution;
    cudnnConvolutionMode_t mode;
    cudnnDataType_t compute;
    const char *why;

    if (!get_tensor(cudnn, descriptors->x, &x) ||
        !get_tensor(cudnn, descriptors->y, &y) ||
        !get_filter(cudnn, descriptors->w, &w) ||
        cudnn->GetConvolutionNdDescriptor(convolution, UC_MAX_SPATIAL, &length,
                                          pad, stride, dilation, &mode,
                                          &compute) != CUDNN_STATUS_SUCCESS ||
        cudnn->GetConvolutionGroupCount(convolution, &groups) !=
            CUDNN_STATUS_SUCCESS)
        return "descriptor";
    memset(&p, 0, sizeof p);
    p.operation = operation;
    p.groups = groups;
    p.mode = mode == CUDNN_CONVOLUTION ? UC_CONVOLUTION : UC_CROSS_CORRELATION;
    if ((why = set_types(&x, &w, &y, compute, &p)) != NULL ||
        (why = set_extents(&x, &w, length, pad, stride, dilation, &p)) != NULL)
        return why;
    p.math = math_of(uc_caller_math(cudnn, convolution), p.x_type);
    if (groups < 1 || (int64_t)w.extents[1] * groups != p.c)
        return "filter channels";
    if (!is_output(&p, &x, &y))
        return "output extents";
    if (w.format != CUDNN_TENSOR_NCHW && w.format != CUDNN_TENSOR_NHWC)
        return "filter format";
    p.w.kind = w.format == CUDNN_TENSOR_NHWC ? UC_NHWC : UC_NCHW;
    set_layout(&p.x, &x);
    set_layout(&p.y, &y);
    uc_problem_canonical(&p);
    *problem = p;
    *batch = x.extents[0];
    return NULL;
}
