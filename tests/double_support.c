#include "config.h"

#include "tests/double_support.h"

#include <math.h>
#include <stdlib.h>

cudnnHandle_t double_handle;

const struct shape uc_square = { "square", 2,        4,        2,
                                 3,        1,        { 8, 8 }, { 3, 3 },
                                 { 1, 1 }, { 1, 1 }, { 1, 1 }, false };

static const char *const variables[] = {
    "UC_DOUBLE_FAULT",         "UC_DOUBLE_DEVICES", "UC_DOUBLE_DEVICE_NAME",
    "UC_DOUBLE_CUDNN_VERSION", "UC_DOUBLE_MEMORY",  "UC_DOUBLE_ALIGNMENT",
    "UC_DOUBLE_MAX_ELEMENTS",  "UC_DOUBLE_EMPTY",   "UC_DOUBLE_LOG",
};

int double_fresh(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(variables); i++) {
        unsetenv(variables[i]);
    }
    uc_double_reset();
    return 0;
}

void double_with(const char *variable, const char *value)
{
    setenv(variable, value, 1);
    uc_double_reset();
}

void double_expect_misuses(int misuses)
{
    assert_int_equal(uc_double_count(UC_DOUBLE_MISUSES), misuses);
}

void double_open(void)
{
    CUcontext context;

    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_int_equal(cudnnCreate(&double_handle), CUDNN_STATUS_SUCCESS);
}

void double_close(void)
{
    assert_int_equal(cudnnDestroy(double_handle), CUDNN_STATUS_SUCCESS);
    assert_int_equal(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    uc_double_reset();
}

/* Reproducible; multiples of 1/8 are exact in every data type. */
static double random_eighth(void)
{
    static uint32_t state = 12345;

    state = state * 1664525 + 1013904223;
    return (double)(state >> 28) / 8 - 1;
}

static void lay_out(struct uc_case *c, int tensor, enum layout layout)
{
    int dims = c->shape.spatial + 2;
    int gap = layout == GAPS && tensor != W ? 3 : 0;
    int step = layout == NHWC ? c->extent[tensor][1] : 1;
    size_t last = 0;

    for (int d = dims - 1; d >= 2; d--) {
        c->step[tensor][d] = step;
        step = step * c->extent[tensor][d] + gap;
    }
    if (layout == NHWC) {
        c->step[tensor][1] = 1;
    } else {
        c->step[tensor][1] = step;
        step = step * c->extent[tensor][1] + gap;
    }
    c->step[tensor][0] = step;
    for (int d = 0; d < dims; d++) {
        last += (size_t)(c->extent[tensor][d] - 1) * (size_t)c->step[tensor][d];
    }
    c->count[tensor] = last + 1;
}

static cudnnDataType_t data_type(enum uc_number type)
{
    static const cudnnDataType_t types[UC_NUMBERS] = {
        [UC_NUMBER_FP32] = CUDNN_DATA_FLOAT,
        [UC_NUMBER_FP16] = CUDNN_DATA_HALF,
        [UC_NUMBER_BF16] = CUDNN_DATA_BFLOAT16,
        [UC_NUMBER_FP64] = CUDNN_DATA_DOUBLE,
    };

    return types[type];
}

static void describe(struct uc_case *c, enum layout layout)
{
    const struct shape *s = &c->shape;
    cudnnDataType_t type = data_type(c->type);
    int dims = s->spatial + 2;

    assert_int_equal(cudnnCreateTensorDescriptor(&c->x), 0);
    assert_int_equal(cudnnCreateTensorDescriptor(&c->y), 0);
    assert_int_equal(cudnnCreateFilterDescriptor(&c->w), 0);
    assert_int_equal(cudnnCreateConvolutionDescriptor(&c->convolution), 0);
    assert_int_equal(
        cudnnSetTensorNdDescriptor(c->x, type, dims, c->extent[X], c->step[X]),
        0);
    assert_int_equal(
        cudnnSetTensorNdDescriptor(c->y, type, dims, c->extent[Y], c->step[Y]),
        0);
    assert_int_equal(cudnnSetFilterNdDescriptor(
                         c->w, type,
                         layout == NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                         dims, c->extent[W]),
                     0);
    assert_int_equal(
        cudnnSetConvolutionNdDescriptor(
            c->convolution, s->spatial, s->pad, s->stride, s->dilation,
            s->flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION,
            c->type == UC_NUMBER_FP64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
        0);
    assert_int_equal(cudnnSetConvolutionGroupCount(c->convolution, s->groups),
                     0);
    assert_int_equal(
        cudnnSetConvolutionMathType(c->convolution, CUDNN_FMA_MATH), 0);
}

void uc_case_open(struct uc_case *c, const struct shape *shape,
                  enum uc_number type, enum layout layout)
{
    memset(c, 0, sizeof *c);
    c->shape = *shape;
    c->type = type;
    c->extent[X][0] = c->extent[Y][0] = shape->n;
    c->extent[X][1] = shape->c;
    c->extent[Y][1] = c->extent[W][0] = shape->k;
    c->extent[W][1] = shape->c / shape->groups;
    for (int d = 0; d < shape->spatial; d++) {
        int reach = (shape->filter[d] - 1) * shape->dilation[d] + 1;

        c->out[d] =
            (shape->in[d] + 2 * shape->pad[d] - reach) / shape->stride[d] + 1;
        c->extent[X][d + 2] = shape->in[d];
        c->extent[W][d + 2] = shape->filter[d];
        c->extent[Y][d + 2] = c->out[d];
    }
    for (int t = X; t <= Y; t++) {
        lay_out(c, t, t == W && layout == GAPS ? NCHW : layout);
        c->host[t] = malloc(c->count[t] * sizeof *c->host[t]);
        assert_non_null(c->host[t]);
        for (size_t i = 0; i < c->count[t]; i++) {
            c->host[t][i] = random_eighth();
        }
        assert_int_equal(
            cuMemAlloc(&c->device[t], c->count[t] * uc_number_bytes(type)),
            CUDA_SUCCESS);
        uc_case_upload(c, t);
    }
    describe(c, layout);
}

void uc_case_free(struct uc_case *c)
{
    for (int t = X; t <= Y; t++) {
        free(c->host[t]);
        assert_int_equal(cuMemFree(c->device[t]), CUDA_SUCCESS);
    }
    assert_int_equal(cuMemFree(c->workspace), CUDA_SUCCESS);
    assert_int_equal(cudnnDestroyTensorDescriptor(c->x), 0);
    assert_int_equal(cudnnDestroyTensorDescriptor(c->y), 0);
    assert_int_equal(cudnnDestroyFilterDescriptor(c->w), 0);
    assert_int_equal(cudnnDestroyConvolutionDescriptor(c->convolution), 0);
}

void uc_case_upload(struct uc_case *c, int tensor)
{
    size_t bytes = c->count[tensor] * uc_number_bytes(c->type);
    void *buffer = malloc(bytes);

    assert_non_null(buffer);
    for (size_t i = 0; i < c->count[tensor]; i++) {
        uc_number_store(buffer, c->type, (int64_t)i, c->host[tensor][i]);
    }
    assert_int_equal(cuMemcpyHtoD(c->device[tensor], buffer, bytes),
                     CUDA_SUCCESS);
    free(buffer);
}

void uc_case_download(struct uc_case *c, int tensor)
{
    size_t bytes = c->count[tensor] * uc_number_bytes(c->type);
    void *buffer = malloc(bytes);

    assert_non_null(buffer);
    assert_int_equal(cuMemcpyDtoH(buffer, c->device[tensor], bytes),
                     CUDA_SUCCESS);
    for (size_t i = 0; i < c->count[tensor]; i++) {
        c->host[tensor][i] = uc_number_load(buffer, c->type, (int64_t)i);
    }
    free(buffer);
}

cudnnStatus_t uc_case_query(struct uc_case *c, enum uc_double_operation op,
                            int algorithm, size_t *bytes)
{
    switch (op) {
    case UC_DOUBLE_FORWARD:
        return cudnnGetConvolutionForwardWorkspaceSize(
            double_handle, c->x, c->w, c->convolution, c->y,
            (cudnnConvolutionFwdAlgo_t)algorithm, bytes);
    case UC_DOUBLE_BACKWARD_DATA:
        return cudnnGetConvolutionBackwardDataWorkspaceSize(
            double_handle, c->w, c->y, c->convolution, c->x,
            (cudnnConvolutionBwdDataAlgo_t)algorithm, bytes);
    default:
        return cudnnGetConvolutionBackwardFilterWorkspaceSize(
            double_handle, c->x, c->y, c->convolution, c->w,
            (cudnnConvolutionBwdFilterAlgo_t)algorithm, bytes);
    }
}

cudnnStatus_t uc_case_run(struct uc_case *c, enum uc_double_operation op,
                          int algorithm, double alpha, double beta)
{
    float narrow[2] = { (float)alpha, (float)beta };
    bool wide = c->type == UC_NUMBER_FP64;
    const void *a = wide ? (const void *)&alpha : &narrow[0];
    const void *b = wide ? (const void *)&beta : &narrow[1];
    void *x = (void *)(uintptr_t)c->device[X];
    void *w = (void *)(uintptr_t)c->device[W];
    void *y = (void *)(uintptr_t)c->device[Y];
    void *workspace = (void *)(uintptr_t)c->workspace;

    switch (op) {
    case UC_DOUBLE_FORWARD:
        return cudnnConvolutionForward(
            double_handle, a, c->x, x, c->w, w, c->convolution,
            (cudnnConvolutionFwdAlgo_t)algorithm, workspace, c->workspace_bytes,
            b, c->y, y);
    case UC_DOUBLE_BACKWARD_DATA:
        return cudnnConvolutionBackwardData(
            double_handle, a, c->w, w, c->y, y, c->convolution,
            (cudnnConvolutionBwdDataAlgo_t)algorithm, workspace,
            c->workspace_bytes, b, c->x, x);
    default:
        return cudnnConvolutionBackwardFilter(
            double_handle, a, c->x, x, c->y, y, c->convolution,
            (cudnnConvolutionBwdFilterAlgo_t)algorithm, workspace,
            c->workspace_bytes, b, c->w, w);
    }
}

cudnnStatus_t uc_case_run_sized(struct uc_case *c, enum uc_double_operation op,
                                int algorithm, double alpha, double beta)
{
    cudnnStatus_t status = uc_case_query(c, op, algorithm, &c->workspace_bytes);

    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    assert_int_equal(cuMemFree(c->workspace), CUDA_SUCCESS);
    c->workspace = 0;
    if (c->workspace_bytes > 0) {
        assert_int_equal(cuMemAlloc(&c->workspace, c->workspace_bytes),
                         CUDA_SUCCESS);
    }
    return uc_case_run(c, op, algorithm, alpha, beta);
}

size_t uc_case_place(const struct uc_case *c, int tensor, const int index[5])
{
    size_t at = 0;

    for (int d = 0; d < c->shape.spatial + 2; d++) {
        at += (size_t)index[d] * (size_t)c->step[tensor][d];
    }
    return at;
}

bool uc_case_next(const struct uc_case *c, int tensor, int index[5])
{
    for (int d = 0; d < c->shape.spatial + 2; d++) {
        if (++index[d] < c->extent[tensor][d]) {
            return true;
        }
        index[d] = 0;
    }
    return false;
}

cudnnStatus_t uc_case_run_once(struct uc_case *c)
{
    return uc_case_run_sized(c, UC_DOUBLE_FORWARD, 1, 1, 0);
}

double uc_case_time(struct uc_case *c, enum uc_double_operation op,
                    int algorithm, double beta)
{
    CUevent begin;
    CUevent end;
    float milliseconds;

    assert_int_equal(cuEventCreate(&begin, CU_EVENT_DEFAULT), 0);
    assert_int_equal(cuEventCreate(&end, CU_EVENT_DEFAULT), 0);
    assert_int_equal(cuEventRecord(begin, NULL), 0);
    assert_int_equal(uc_case_run_sized(c, op, algorithm, 1, beta), 0);
    assert_int_equal(cuEventRecord(end, NULL), 0);
    assert_int_equal(cuEventElapsedTime(&milliseconds, begin, end),
                     CUDA_ERROR_NOT_READY);
    assert_int_equal(cuEventSynchronize(end), 0);
    assert_int_equal(cuEventElapsedTime(&milliseconds, begin, end), 0);
    assert_int_equal(cuEventDestroy(begin), 0);
    assert_int_equal(cuEventDestroy(end), 0);
    return round(milliseconds * 1e6);
}
