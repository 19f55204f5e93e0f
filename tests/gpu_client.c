/* A program that convolves through cuDNN, libucudnn in front of it. */
#include "config.h"

#include "tests/gpu_client.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/** Of gpu_call(), by all threads. */
static atomic_llong calls;

static cudnnDataType_t data_type(enum uc_dtype type)
{
    return type == UC_FP16   ? CUDNN_DATA_HALF
           : type == UC_BF16 ? CUDNN_DATA_BFLOAT16
           : type == UC_FP64 ? CUDNN_DATA_DOUBLE
                             : CUDNN_DATA_FLOAT;
}

/** Values as ints, with H = 1 put before the W of a 1-D problem. */
static int widen(const struct uc_problem *p, const int64_t *values, int leading,
                 int fill, int *wide)
{
    int n = 0;

    for (int i = 0; i < leading; i++)
        wide[n++] = (int)values[i];
    if (p->spatial == 1)
        wide[n++] = fill;
    for (int i = 0; i < p->spatial; i++)
        wide[n++] = (int)values[leading + i];
    return n;
}

static cudnnTensorDescriptor_t tensor(const struct uc_problem *p,
                                      enum uc_tensor which, enum uc_dtype type)
{
    int64_t extents[UC_MAX_DIMS], strides[UC_MAX_DIMS];
    int e[UC_MAX_DIMS], s[UC_MAX_DIMS], dims;
    cudnnTensorDescriptor_t descriptor;

    uc_problem_extents(p, which, GPU_BATCH, extents);
    uc_problem_strides(p, which, strides);
    dims = widen(p, extents, 2, 1, e);
    widen(p, strides, 2, (int)(extents[2] * strides[2]), s);
    assert_int_equal(gpu.cudnn.CreateTensorDescriptor(&descriptor), 0);
    assert_int_equal(gpu.cudnn.SetTensorNdDescriptor(
                         descriptor, data_type(type), dims, e, s),
                     0);
    return descriptor;
}

struct gpu_descriptors gpu_describe(const struct uc_problem *p)
{
    struct gpu_descriptors d = { tensor(p, UC_X, p->x_type),
                                 tensor(p, UC_Y, p->y_type), NULL, NULL };
    int64_t extents[UC_MAX_DIMS];
    int e[UC_MAX_DIMS], pad[UC_MAX_DIMS], stride[UC_MAX_DIMS];
    int dilation[UC_MAX_DIMS], dims;

    uc_problem_extents(p, UC_W, 0, extents);
    dims = widen(p, extents, 2, 1, e);
    assert_int_equal(gpu.cudnn.CreateFilterDescriptor(&d.w), 0);
    assert_int_equal(gpu.cudnn.SetFilterNdDescriptor(d.w, data_type(p->w_type),
                                                     p->w.kind == UC_NHWC
                                                         ? CUDNN_TENSOR_NHWC
                                                         : CUDNN_TENSOR_NCHW,
                                                     dims, e),
                     0);
    dims = widen(p, p->pad, 0, 0, pad);
    widen(p, p->stride, 0, 1, stride);
    widen(p, p->dilation, 0, 1, dilation);
    assert_int_equal(gpu.cudnn.CreateConvolutionDescriptor(&d.convolution), 0);
    assert_int_equal(gpu.cudnn.SetConvolutionNdDescriptor(
                         d.convolution, dims, pad, stride, dilation,
                         p->mode == UC_CONVOLUTION ? CUDNN_CONVOLUTION
                                                   : CUDNN_CROSS_CORRELATION,
                         data_type(p->compute_type)),
                     0);
    assert_int_equal(
        gpu.cudnn.SetConvolutionGroupCount(d.convolution, (int)p->groups), 0);
    assert_int_equal(gpu.cudnn.SetConvolutionMathType(d.convolution,
                                                      p->math == UC_MATH_FMA
                                                          ? CUDNN_FMA_MATH
                                                          : CUDNN_DEFAULT_MATH),
                     0);
    return d;
}

void gpu_forget(struct gpu_descriptors *d)
{
    gpu.cudnn.DestroyTensorDescriptor(d->x);
    gpu.cudnn.DestroyTensorDescriptor(d->y);
    gpu.cudnn.DestroyFilterDescriptor(d->w);
    gpu.cudnn.DestroyConvolutionDescriptor(d->convolution);
}

size_t gpu_ask(const struct uc_problem *p, const struct gpu_descriptors *d)
{
    cudnnConvolutionFwdAlgoPerf_t f[8];
    cudnnConvolutionBwdDataAlgoPerf_t b[8];
    cudnnConvolutionBwdFilterAlgoPerf_t w[8];
    size_t bytes = 0, memory = 0;
    int count = 0;

    switch (p->operation) {
    case UC_FORWARD:
        assert_int_equal(
            cudnnGetConvolutionForwardAlgorithm_v7(
                gpu.handle, d->x, d->w, d->convolution, d->y, 8, &count, f),
            0);
        memory = f[0].memory;
        assert_int_equal(cudnnGetConvolutionForwardWorkspaceSize(
                             gpu.handle, d->x, d->w, d->convolution, d->y,
                             f[0].algo, &bytes),
                         0);
        break;
    case UC_BACKWARD_DATA:
        assert_int_equal(
            cudnnGetConvolutionBackwardDataAlgorithm_v7(
                gpu.handle, d->w, d->y, d->convolution, d->x, 8, &count, b),
            0);
        memory = b[0].memory;
        assert_int_equal(cudnnGetConvolutionBackwardDataWorkspaceSize(
                             gpu.handle, d->w, d->y, d->convolution, d->x,
                             b[0].algo, &bytes),
                         0);
        break;
    default:
        assert_int_equal(
            cudnnGetConvolutionBackwardFilterAlgorithm_v7(
                gpu.handle, d->x, d->y, d->convolution, d->w, 8, &count, w),
            0);
        memory = w[0].memory;
        assert_int_equal(cudnnGetConvolutionBackwardFilterWorkspaceSize(
                             gpu.handle, d->x, d->y, d->convolution, d->w,
                             w[0].algo, &bytes),
                         0);
    }
    assert_int_equal(count, 1);
    assert_true(memory == bytes);
    return bytes;
}

cudnnStatus_t gpu_call(struct gpu_fixture *f, const struct gpu_descriptors *d,
                       double alpha, double beta, size_t bytes)
{
    const struct uc_problem *p = &f->problem;
    float narrow[2] = { (float)alpha, (float)beta };
    double wide[2] = { alpha, beta };
    bool is_wide = p->x_type == UC_FP64;
    const void *a = is_wide ? (void *)&wide[0] : (void *)&narrow[0];
    const void *b = is_wide ? (void *)&wide[1] : (void *)&narrow[1];
    void *x = (void *)f->device[UC_X].data, *w = (void *)f->device[UC_W].data;
    void *y = (void *)f->device[UC_Y].data;
    void *workspace = (void *)f->workspace.data;

    atomic_fetch_add(&calls, 1);
    switch (p->operation) {
    case UC_FORWARD:
        return cudnnConvolutionForward(gpu.handle, a, d->x, x, d->w, w,
                                       d->convolution,
                                       CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
                                       workspace, bytes, b, d->y, y);
    case UC_BACKWARD_DATA:
        return cudnnConvolutionBackwardData(
            gpu.handle, a, d->w, w, d->y, y, d->convolution,
            CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, workspace, bytes, b, d->x, x);
    default:
        return cudnnConvolutionBackwardFilter(
            gpu.handle, a, d->x, x, d->y, y, d->convolution,
            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, workspace, bytes, b, d->w, w);
    }
}

/* Capture -----------------------------------------------------------------*/

void gpu_driver(const char *name, void *to)
{
    void *function = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);

    assert_non_null(function);
    memcpy(to, &function, sizeof function);
}

void gpu_capture_begin(void)
{
    CUresult (*begin)(CUstream, CUstreamCaptureMode);

    gpu_driver("cuStreamBeginCapture_v2", &begin);
    assert_int_equal(begin(gpu.stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
}

CUgraphExec gpu_capture_end(void)
{
    CUresult (*end)(CUstream, CUgraph *);
    CUresult (*instantiate)(CUgraphExec *, CUgraph, unsigned long long);
    CUgraphExec executable;
    CUgraph graph;

    gpu_driver("cuStreamEndCapture", &end);
    gpu_driver("cuGraphInstantiateWithFlags", &instantiate);
    assert_int_equal(end(gpu.stream, &graph), 0);
    assert_int_equal(instantiate(&executable, graph, 0), 0);
    return executable;
}

void gpu_graph_launch(CUgraphExec graph)
{
    CUresult (*launch)(CUgraphExec, CUstream);

    gpu_driver("cuGraphLaunch", &launch);
    assert_int_equal(launch(graph, gpu.stream), 0);
}

/* Counting ----------------------------------------------------------------*/

static char stats[] = "/tmp/ucudnn-gpu.XXXXXX.stats";

/** The number behind a word of the summary; -1 when there is none. */
static long long number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);

    return at == NULL ? -1 : strtoll(at + strlen(word), NULL, 10);
}

static void check_counts(void)
{
    long long made = atomic_load(&calls), executed, passed;
    char text[16384] = "";
    FILE *file = fopen(stats, "r");
    bool good;

    if (file != NULL) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    unlink(stats);
    executed = number_behind(text, "executed ");
    passed = number_behind(text, "passed through ");
    good = made > 0 && executed == made && passed == 0;
    printf("1..1\n%s 1 - all calls ran as planned\n", good ? "ok" : "not ok");
    printf("# %lld calls made, %lld as planned, %lld passed through\n", made,
           executed, passed);
}

void gpu_count_calls(void)
{
    int fd = mkstemps(stats, 6);

    if (fd < 0 || close(fd) != 0 || atexit(check_counts) != 0)
        exit(1);
    setenv("UCUDNN_STATS", stats, 1);
}
