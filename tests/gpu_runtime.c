/*
 * libucudnn in front of the real cuDNN: planned calls against a direct
 * convolution on the CPU, two kernels and uneven pieces an operation, with
 * alpha and beta; and planned calls captured and replayed with new inputs.
 * Linked before cuDNN; exits with 77, which means skipped, without a GPU.
 */
#include "config.h"

#include "tests/gpu_fixture.h"

#include "db/plan.h"
#include "planner/measure.h"
#include "runtime/runner.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const problems[] = {
    "forward:fp32:fma:nchw:c8:k16:i14x14:f3x3:p1x1",
    "forward:fp32:tf32:nchw:c16:k16:i16x16:f5x5:p2x2",
    "forward:fp32:tf32:nhwc:c16:k16:i14x14:f3x3:p1x1",
    "forward:fp16:fp16:nhwc:c16:k32:i14x14:f3x3:p1x1:s2x2",
    "forward:bf16:bf16:nhwc:c16:k32:i14x14:f1x1",
    "forward:fp64:fma:nchw:c4:k4:i8x8:f3x3:p1x1",
    "forward:fp32:fma:nchw:c8:k16:i12x12:f3x3:p1x1:g4",
    "forward:fp32:fma:nchw:c8:k8:i16x12:f3x3:p2x2:d2x2",
    "forward:fp32:fma:nchw:c8:k8:i64:f5:p2",
    "forward:fp32:tf32:nchw:c8:k8:i8x8x8:f3x3x3:p1x1x1",
    "forward:fp32:fma:nchw:c8:k8:i12x12:f3x3:p1x1:conv",
};

/* The plan ----------------------------------------------------------------*/

/** Whether the kernel has a workspace and runs at this size. */
static bool runs(struct gpu_fixture *f, const struct uc_kernel *kernel,
                 int64_t size, int64_t *bytes)
{
    static const float one = 1, zero = 0;
    static const double wide_one = 1, wide_zero = 0;
    bool wide = f->problem.x_type == UC_FP64;
    struct uc_tensors t = { (void *)f->device[UC_X].data,
                            (void *)f->device[UC_W].data,
                            (void *)f->device[UC_Y].data };
    struct uc_runner *runner = NULL;
    struct uc_error err;
    size_t asked = 0;
    bool works;

    assert_int_equal(
        uc_runner_create(&gpu.cudnn, &f->problem, size, &runner, &err), UC_OK);
    works = !uc_runner_workspace(runner, gpu.handle, kernel, &asked) &&
            !uc_gpu_reserve(&gpu, &f->workspace, (int64_t)asked, &err) &&
            !uc_runner_run(runner, gpu.handle, kernel,
                           wide ? (const void *)&wide_one : &one, &t,
                           wide ? (const void *)&wide_zero : &zero,
                           (void *)f->workspace.data, asked);
    assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
    uc_runner_free(runner);
    *bytes = (int64_t)asked;
    return works;
}

static void set_piece(struct uc_plan_piece *piece, struct gpu_fixture *f,
                      bool last, int64_t size, bool accumulate)
{
    struct uc_kernel kernels[UC_LEGACY_KERNELS];
    int count = (int)uc_legacy_kernels(&f->problem, kernels), found = -1;
    int64_t bytes = 0;

    for (int i = 0; i < count; i++) {
        int k = last ? count - 1 - i : i;

        if (runs(f, &kernels[k], size, &bytes)) {
            found = k;
            break;
        }
    }
    assert_true(found >= 0);
    *piece = (struct uc_plan_piece){ .size = size,
                                     .count = 1,
                                     .accumulate = accumulate,
                                     .kernel = kernels[found],
                                     .workspace_bytes = bytes,
                                     .time_ns = 1000 };
}

/** 5 = 3 + 2, by the first and by the last algorithm that works. */
static void plan_operation(struct uc_plan_operation *op,
                           const struct uc_problem *problem)
{
    struct uc_plan_piece *p = calloc(2, sizeof *p);
    struct gpu_fixture f;

    gpu_fixture_open(&f, problem);
    set_piece(&p[0], &f, false, GPU_FIRST_PIECE, false);
    set_piece(&p[1], &f, true, GPU_BATCH - GPU_FIRST_PIECE,
              problem->operation == UC_BACKWARD_FILTER);
    gpu_fixture_close(&f);
    snprintf(op->layer, sizeof op->layer, "layer");
    op->batch = GPU_BATCH;
    op->repeat = 1;
    op->problem = *problem;
    op->workspace_bytes = p[0].workspace_bytes > p[1].workspace_bytes
                              ? p[0].workspace_bytes
                              : p[1].workspace_bytes;
    op->time_ns = 2000;
    op->undivided_ns = op->unlimited_ns = -1;
    op->pieces = p;
    op->piece_count = 2;
}

static void write_plan(const char *path)
{
    struct uc_plan plan = { .network = "gpu-runtime",
                            .environment = gpu.environment,
                            .mode = UC_PLAN_WR,
                            .limit_bytes = (int64_t)1 << 40,
                            .policy = "3",
                            .tool = "test" };
    struct uc_plan_operation ops[UNIT_COUNT(problems) * UC_OPERATIONS] = {
        { .layer = "" }
    };
    struct uc_error err = { .text = "" };

    for (size_t i = 0; i < UNIT_COUNT(problems); i++)
        for (int op = 0; op < UC_OPERATIONS; op++) {
            struct uc_problem problem;

            assert_int_equal(uc_problem_parse(problems[i], &problem, &err),
                             UC_OK);
            problem.operation = (enum uc_operation)op;
            plan_operation(&ops[plan.operation_count++], &problem);
        }
    plan.operations = ops;
    if (uc_plans_write(path, &plan, 1, &err) != UC_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < plan.operation_count; i++)
        free(ops[i].pieces);
}

/* The program's side ------------------------------------------------------*/

struct descriptors {
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
};

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

static struct descriptors describe(const struct uc_problem *p)
{
    struct descriptors d = { tensor(p, UC_X, p->x_type),
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

static void forget(struct descriptors *d)
{
    gpu.cudnn.DestroyTensorDescriptor(d->x);
    gpu.cudnn.DestroyTensorDescriptor(d->y);
    gpu.cudnn.DestroyFilterDescriptor(d->w);
    gpu.cudnn.DestroyConvolutionDescriptor(d->convolution);
}

/** The interposed answer; that it is the only one shows that it is ours. */
static size_t ask(const struct uc_problem *p, const struct descriptors *d)
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

static void call(struct gpu_fixture *f, const struct descriptors *d,
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

    switch (p->operation) {
    case UC_FORWARD:
        assert_int_equal(cudnnConvolutionForward(
                             gpu.handle, a, d->x, x, d->w, w, d->convolution,
                             CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
                             workspace, bytes, b, d->y, y),
                         0);
        break;
    case UC_BACKWARD_DATA:
        assert_int_equal(cudnnConvolutionBackwardData(
                             gpu.handle, a, d->w, w, d->y, y, d->convolution,
                             CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, workspace,
                             bytes, b, d->x, x),
                         0);
        break;
    default:
        assert_int_equal(cudnnConvolutionBackwardFilter(
                             gpu.handle, a, d->x, x, d->y, y, d->convolution,
                             CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, workspace,
                             bytes, b, d->w, w),
                         0);
    }
}

static void check_problem(void **state)
{
    static const struct {
        double alpha, beta;
    } scales[] = { { 1, 0 }, { 2, 0 }, { 1, 1 }, { 2, 0.5 } };
    struct uc_problem problem;
    struct uc_error err;

    assert_int_equal(uc_problem_parse(*state, &problem, &err), UC_OK);
    for (int op = 0; op < UC_OPERATIONS; op++) {
        struct descriptors d;
        struct gpu_fixture f;
        size_t bytes;
        int out;

        problem.operation = (enum uc_operation)op;
        out = (int)uc_operation_output(problem.operation);
        gpu_fixture_open(&f, &problem);
        d = describe(&problem);
        bytes = ask(&problem, &d);
        assert_int_equal(
            uc_gpu_reserve(&gpu, &f.workspace, (int64_t)bytes, &err), UC_OK);
        for (size_t s = 0; s < UNIT_COUNT(scales); s++) {
            double error;

            if (scales[s].beta == 0)
                uc_gpu_poison(&gpu, &f.device[out], &err);
            else
                gpu_fixture_upload(&f, out);
            call(&f, &d, scales[s].alpha, scales[s].beta, bytes);
            assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
            error = gpu_fixture_error(&f, scales[s].alpha, scales[s].beta);
            if (!(error <= uc_measure_tolerance(&problem)))
                fail_msg("%s, alpha %g, beta %g: error %g",
                         uc_operation_name(problem.operation), scales[s].alpha,
                         scales[s].beta, error);
        }
        forget(&d);
        gpu_fixture_close(&f);
    }
}

/* Capture -----------------------------------------------------------------*/

/** A function of the driver into the pointer at `to`. */
static void driver(const char *name, void *to)
{
    void *function = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);

    assert_non_null(function);
    memcpy(to, &function, sizeof function);
}

/** Every operation was run by check_problem() before: none is cold. */
static void captured_calls_replay_with_new_inputs(void **state)
{
    CUresult (*begin)(CUstream, CUstreamCaptureMode);
    CUresult (*end)(CUstream, CUgraph *);
    CUresult (*instantiate)(CUgraphExec *, CUgraph, unsigned long long);
    CUresult (*launch)(CUgraphExec, CUstream);
    struct uc_problem problem;
    struct uc_error err;

    (void)state;
    driver("cuStreamBeginCapture_v2", &begin);
    driver("cuStreamEndCapture", &end);
    driver("cuGraphInstantiateWithFlags", &instantiate);
    driver("cuGraphLaunch", &launch);
    assert_int_equal(uc_problem_parse(problems[0], &problem, &err), UC_OK);
    for (int op = 0; op < UC_OPERATIONS; op++) {
        struct gpu_fixture f;
        struct descriptors d;
        CUgraph graph;
        CUgraphExec executable;
        size_t bytes;
        int out;

        problem.operation = (enum uc_operation)op;
        out = (int)uc_operation_output(problem.operation);
        gpu_fixture_open(&f, &problem);
        d = describe(&problem);
        bytes = ask(&problem, &d);
        assert_int_equal(
            uc_gpu_reserve(&gpu, &f.workspace, (int64_t)bytes, &err), UC_OK);
        assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
        assert_int_equal(begin(gpu.stream, CU_STREAM_CAPTURE_MODE_RELAXED), 0);
        call(&f, &d, 1, 0, bytes);
        assert_int_equal(end(gpu.stream, &graph), 0);
        assert_int_equal(instantiate(&executable, graph, 0), 0);
        for (int i = 0; i < 2; i++) {
            gpu_fixture_renew(&f);
            uc_gpu_poison(&gpu, &f.device[out], &err);
            assert_int_equal(launch(executable, gpu.stream), 0);
            assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
            assert_true(gpu_fixture_error(&f, 1, 0) <=
                        uc_measure_tolerance(&problem));
        }
        forget(&d);
        gpu_fixture_close(&f);
    }
}

int main(void)
{
    struct CMUnitTest tests[UNIT_COUNT(problems) + 1];
    char path[] = "/tmp/gpu_runtime.XXXXXX.plan";
    int result, fd;

    if (!gpu_open())
        return 77;
    fd = mkstemps(path, 5);
    if (fd < 0 || close(fd) != 0)
        return 1;
    write_plan(path);
    setenv("UCUDNN_PLAN", path, 1);
    setenv("UCUDNN_LOG", "warning", 1);
    for (size_t i = 0; i < UNIT_COUNT(problems); i++)
        tests[i] = (struct CMUnitTest){ problems[i], check_problem, NULL, NULL,
                                        (void *)problems[i] };
    tests[UNIT_COUNT(problems)] = (struct CMUnitTest)cmocka_unit_test(
        captured_calls_replay_with_new_inputs);
    result = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return result;
}
