/* What the double checks, promises and breaks, as tests/double/README says. */
#include "config.h"

#include "tests/double_support.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* M = 4 * 3 * 2 * 9 * 64 = 13,824 multiply-adds */
static const struct shape square = { "square", 2,        4,        2,
                                     3,        1,        { 8, 8 }, { 3, 3 },
                                     { 1, 1 }, { 1, 1 }, { 1, 1 }, false };

static const char *const variables[] = {
    "UC_DOUBLE_FAULT",         "UC_DOUBLE_DEVICES", "UC_DOUBLE_DEVICE_NAME",
    "UC_DOUBLE_CUDNN_VERSION", "UC_DOUBLE_MEMORY",  "UC_DOUBLE_ALIGNMENT",
    "UC_DOUBLE_MAX_ELEMENTS",  "UC_DOUBLE_EMPTY",   "UC_DOUBLE_LOG",
};

static int fresh(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(variables); i++) {
        unsetenv(variables[i]);
    }
    uc_double_reset();
    return 0;
}

static void with(const char *variable, const char *value)
{
    setenv(variable, value, 1);
    uc_double_reset();
}

/* Misuses write on stderr; here they are expected. */
static void expect_misuse(int misuses)
{
    assert_int_equal(uc_double_count(UC_DOUBLE_MISUSES), misuses);
}

static void workspaces_follow_the_readme(void **state)
{
    static const int64_t forward[] = { 0,     1024,  18432, -1,
                                       53248, 53248, 384,   20480 };
    static const int64_t data[] = { 0, 1024, 53248, 53248, 384, 20480 };
    static const int64_t filter[] = { 0, 1024, 53248, 18432, -1, 20480, 53248 };
    static const int64_t *const expected[] = { forward, data, filter };
    static const int counts[] = { UNIT_COUNT(forward), UNIT_COUNT(data),
                                  UNIT_COUNT(filter) };
    struct shape three = square;
    struct uc_case c;
    size_t bytes;

    (void)state;
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    for (int op = 0; op < UC_DOUBLE_OPERATIONS; op++) {
        for (int a = 0; a < counts[op]; a++) {
            cudnnStatus_t status =
                uc_case_query(&c, (enum uc_double_operation)op, a, &bytes);

            if (expected[op][a] < 0) {
                assert_int_equal(status, CUDNN_STATUS_NOT_SUPPORTED);
            } else {
                assert_int_equal(status, CUDNN_STATUS_SUCCESS);
                assert_int_equal(bytes, expected[op][a]);
            }
        }
        assert_int_equal(
            uc_case_query(&c, (enum uc_double_operation)op, counts[op], &bytes),
            CUDNN_STATUS_NOT_SUPPORTED);
    }
    uc_case_free(&c);
    three.n = 3; /* fewer images, more workspace */
    uc_case_open(&c, &three, UC_NUMBER_FP32, NCHW);
    assert_int_equal(uc_case_query(&c, UC_DOUBLE_FORWARD, 7, &bytes), 0);
    assert_int_equal(bytes, 30720);
    uc_case_free(&c);
    double_close();
}

static double timed(struct uc_case *c, enum uc_double_operation op,
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

static void times_follow_the_readme(void **state)
{
    struct uc_case c;

    (void)state;
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    assert_true(timed(&c, UC_DOUBLE_FORWARD, 0, 0) == 60296);
    assert_true(timed(&c, UC_DOUBLE_FORWARD, 0, 1) == 60796);
    assert_true(timed(&c, UC_DOUBLE_FORWARD, 1, 0) == 33648);
    assert_true(timed(&c, UC_DOUBLE_FORWARD, 7, 0) == 18912);
    assert_true(timed(&c, UC_DOUBLE_BACKWARD_DATA, 0, 0) == 74120);
    assert_true(timed(&c, UC_DOUBLE_BACKWARD_FILTER, 2, 0) == 38295);
    assert_int_equal(
        cudnnSetConvolutionMathType(c.convolution, CUDNN_DEFAULT_MATH), 0);
    assert_true(timed(&c, UC_DOUBLE_FORWARD, 1, 0) == 12912);
    uc_case_free(&c);
    double_close();
}

static void demands_the_workspace_and_spoils_it(void **state)
{
    unsigned char bytes[1025];
    struct uc_case c;

    (void)state;
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(cuMemAlloc(&c.workspace, sizeof bytes), 0);
    assert_int_equal(cuMemsetD8(c.workspace, 7, sizeof bytes), 0);
    c.workspace_bytes = 1023;
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 1, 1, 0),
                     CUDNN_STATUS_BAD_PARAM);
    c.workspace_bytes = sizeof bytes;
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 1, 1, 0), 0);
    assert_int_equal(cuMemcpyDtoH(bytes, c.workspace, sizeof bytes), 0);
    assert_int_equal(bytes[0], 0xFF);
    assert_int_equal(bytes[1023], 0xFF);
    assert_int_equal(bytes[1024], 7);
    c.workspace_bytes = sizeof bytes + 1; /* more than there is */
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 1, 1, 0),
                     CUDNN_STATUS_BAD_PARAM);
    expect_misuse(1);
    uc_case_free(&c);
    double_close();
}

static void memory_is_guarded(void **state)
{
    CUdeviceptr p;
    size_t available;
    size_t total;
    char text[8] = "1234567";
    char *raw;

    (void)state;
    with("UC_DOUBLE_MEMORY", "1000");
    double_open();
    assert_int_equal(cuMemAlloc(&p, 1001), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuMemAlloc(&p, 100), 0);
    assert_int_equal(cuMemGetInfo(&available, &total), 0);
    assert_int_equal(available, 900);
    assert_int_equal(total, 1000);
    assert_int_equal(cuMemcpyHtoD(p + 92, text, 8), 0);
    assert_int_equal(cuMemcpyHtoD(p + 93, text, 8), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH(text, p - 1, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoD(p, p + 50, 51), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD8(p, 0, 101), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD32(p, 0, 26), CUDA_ERROR_INVALID_VALUE);
    expect_misuse(5);
    assert_int_equal(cuMemFree(p + 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemFree(p), 0);
    assert_int_equal(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    expect_misuse(7);
    assert_int_equal(cuMemAlloc(&p, 10), 0);
    raw = (char *)(uintptr_t)p;
    raw[10] = 0;
    assert_int_equal(cuMemFree(p), CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_misuse(8);
    double_close();
}

static void misplaced_tensors_are_refused(void **state)
{
    struct uc_case c;
    CUdeviceptr y;

    (void)state;
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    y = c.device[Y];
    c.device[Y] = y + 16; /* its end lies outside */
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 1, 0),
                     CUDNN_STATUS_BAD_PARAM);
    c.device[Y] = y;
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 1, 0), 0);
    c.device[Y] = y + 4;
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 1, 0),
                     CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    c.device[Y] = y;
    expect_misuse(2);
    uc_case_free(&c);
    double_close();
}

static void pending_work_must_be_waited_for(void **state)
{
    CUstream stream;
    CUdeviceptr p;
    char byte;

    (void)state;
    double_open();
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(cuMemAlloc(&p, 4), 0);
    assert_int_equal(cuMemsetD8Async(p, 1, 4, stream), 0);
    assert_int_equal(cuMemcpyDtoH(&byte, p, 1), CUDA_ERROR_NOT_READY);
    assert_int_equal(cuStreamSynchronize(stream), 0);
    assert_int_equal(cuMemcpyDtoH(&byte, p, 1), 0);
    assert_int_equal(byte, 1);
    assert_int_equal(cuStreamDestroy(stream), 0);
    assert_int_equal(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    expect_misuse(2);
    /* a blocking stream is waited for by the copy */
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_DEFAULT), 0);
    assert_int_equal(cuMemsetD32Async(p, 0x02020202, 1, stream), 0);
    assert_int_equal(cuMemcpyDtoH(&byte, p, 1), 0);
    assert_int_equal(byte, 2);
    assert_int_equal(cuStreamDestroy(stream), 0);
    assert_int_equal(cuMemFree(p), 0);
    double_close();
}

static void searches_sort_and_obey_the_workspace(void **state)
{
    cudnnConvolutionFwdAlgoPerf_t perf[8];
    struct uc_case c;
    int count = -1;

    (void)state;
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(
        cudnnGetConvolutionForwardAlgorithm_v7(
            double_handle, c.x, c.w, c.convolution, c.y, 8, &count, perf),
        0);
    assert_int_equal(count, 8);
    assert_int_equal(perf[0].algo, 7);
    assert_int_equal(perf[0].memory, 20480);
    assert_int_equal(perf[0].mathType, CUDNN_FMA_MATH);
    assert_int_equal(perf[7].algo, 3);
    assert_int_equal(perf[7].status, CUDNN_STATUS_NOT_SUPPORTED);
    for (int i = 1; i < 7; i++) {
        assert_true(perf[i - 1].time <= perf[i].time);
    }
    assert_int_equal(cuMemAlloc(&c.workspace, 1024), 0);
    assert_int_equal(cudnnFindConvolutionForwardAlgorithmEx(
                         double_handle, c.x, (void *)(uintptr_t)c.device[X],
                         c.w, (void *)(uintptr_t)c.device[W], c.convolution,
                         c.y, (void *)(uintptr_t)c.device[Y], 3, &count, perf,
                         (void *)(uintptr_t)c.workspace, 1024),
                     0);
    assert_int_equal(count, 3);
    assert_int_equal(perf[0].algo, 6); /* 20,824 ns with 384 bytes */
    assert_int_equal(perf[1].algo, 1);
    assert_int_equal(perf[2].algo, 0);
    uc_case_download(&c, Y);
    assert_true(isnan(c.host[Y][0]));
    uc_case_free(&c);
    double_close();
}

/** uc_fill's value, from its definition. */
static double random_value(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return ldexp((double)(z >> 40), -23) - 1;
}

static void kernels_fill_and_compare(void **state)
{
    static const char ptx[] = ".version 7.0\n.target sm_70\n"
                              ".visible .entry uc_fill(\n)\n"
                              ".visible .entry uc_compare(\n)\n";
    enum { COUNT = 50 };
    uint64_t count = COUNT;
    uint64_t seed = 42;
    int fp32 = 0;
    int fp16 = 1;
    float values[COUNT];
    double sums[2] = { 1, 0 };
    CUdeviceptr a;
    CUdeviceptr b;
    CUdeviceptr result;
    CUmodule module;
    CUfunction fill;
    CUfunction compare;
    void *fill_a[] = { &a, &count, &fp32, &fp16, &seed };
    void *comparison[] = {
        &a, &fp32, &b, &fp32, &count, &seed, &fp16, &result
    };
    double expected = 0;

    (void)state;
    double_open();
    assert_int_equal(cuModuleLoadData(&module, "\177ELF"),
                     CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(cuModuleLoadData(&module, ptx), 0);
    assert_int_equal(cuModuleGetFunction(&fill, module, "uc_fil"),
                     CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cuModuleGetFunction(&fill, module, "uc_fill"), 0);
    assert_int_equal(cuModuleGetFunction(&compare, module, "uc_compare"), 0);
    assert_int_equal(cuMemAlloc(&a, sizeof values), 0);
    assert_int_equal(cuMemAlloc(&b, sizeof values), 0);
    assert_int_equal(cuMemAlloc(&result, sizeof sums), 0);
    assert_int_equal(
        cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, fill_a, NULL), 0);
    assert_int_equal(cuMemcpyDtoH(values, a, sizeof values), 0);
    for (int i = 0; i < COUNT; i++) {
        double value =
            uc_number_round(random_value(42, (uint64_t)i), UC_NUMBER_FP16);

        assert_true(values[i] == (float)value);
        expected += value * value;
    }
    /* a is b + prior but for one element, which is off by 3 */
    values[7] += 3;
    assert_int_equal(cuMemcpyHtoD(a, values, sizeof values), 0);
    assert_int_equal(cuMemsetD8(b, 0, sizeof values), 0);
    assert_int_equal(cuMemcpyHtoD(result, sums, sizeof sums), 0);
    assert_int_equal(
        cuLaunchKernel(compare, 1, 1, 1, 32, 1, 1, 0, NULL, comparison, NULL),
        0);
    assert_int_equal(cuMemcpyDtoH(sums, result, sizeof sums), 0);
    assert_true(fabs(sums[0] - (1 + 9)) < 1e-4);
    assert_true(fabs(sums[1] - expected) < 1e-9);
    assert_int_equal(cuModuleUnload(module), 0);
    expect_misuse(1);
    /* beyond the memory: as on a GPU, the device is lost */
    count = COUNT + 1;
    assert_int_equal(
        cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, fill_a, NULL), 0);
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    double_close();
}

/** Runs forward, algorithm 1, of a fresh case. */
static cudnnStatus_t run_once(struct uc_case *c)
{
    return uc_case_run_sized(c, UC_DOUBLE_FORWARD, 1, 1, 0);
}

static void faults_strike_what_they_name(void **state)
{
    struct uc_case c;

    (void)state;
    with("UC_DOUBLE_FAULT",
         "fail:op=forward,algorithm=1,n=4,beta=0,at=2,status=4000");
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(run_once(&c), 0);
    assert_int_equal(uc_case_run_sized(&c, UC_DOUBLE_FORWARD, 0, 1, 0), 0);
    assert_int_equal(uc_case_run_sized(&c, UC_DOUBLE_FORWARD, 1, 1, 1), 0);
    assert_int_equal(uc_case_run_sized(&c, UC_DOUBLE_BACKWARD_DATA, 1, 1, 0),
                     0);
    assert_int_equal(run_once(&c), CUDNN_STATUS_INTERNAL_ERROR);
    assert_int_equal(run_once(&c), 0);
    uc_case_free(&c);
    double_close();
}

static void faults_spoil_results(void **state)
{
    struct uc_case c;
    double *right;

    (void)state;
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(run_once(&c), 0);
    uc_case_download(&c, Y);
    right = malloc(c.count[Y] * sizeof *right);
    assert_non_null(right);
    memcpy(right, c.host[Y], c.count[Y] * sizeof *right);
    /* the same tensors in a world that goes wrong */
    uc_case_free(&c);
    double_close();
    with("UC_DOUBLE_FAULT", "wrong:at=1;nan:at=2;slow:at=3,factor=3;"
                            "workspace:factor=1.5");
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(run_once(&c), 0);
    assert_int_equal(c.workspace_bytes, 1536);
    uc_case_download(&c, Y);
    right[0] = c.host[Y][0];
    assert_int_equal(run_once(&c), 0);
    uc_case_download(&c, Y);
    assert_true(fabs(right[0] - c.host[Y][0] - 1) < 1e-6);
    assert_true(isnan(c.host[Y][c.count[Y] - 1]));
    assert_true(timed(&c, UC_DOUBLE_FORWARD, 1, 0) > 33648);
    assert_true(timed(&c, UC_DOUBLE_FORWARD, 1, 0) == 33648);
    free(right);
    uc_case_free(&c);
    double_close();
}

static void faults_write_out_of_bounds(void **state)
{
    struct uc_case c;

    (void)state;
    with("UC_DOUBLE_FAULT", "write-output;write-workspace");
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(run_once(&c), 0);
    assert_int_equal(cuMemFree(c.device[Y]), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuMemFree(c.workspace), CUDA_ERROR_ILLEGAL_ADDRESS);
    c.device[Y] = c.workspace = 0;
    expect_misuse(2);
    uc_case_free(&c);
    double_close();
}

/** How a child ends that runs one convolution and waits for it. */
static int child_status(const char *fault)
{
    int status;
    pid_t child;

    with("UC_DOUBLE_FAULT", fault);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct uc_case c;
        cudnnStatus_t result;

        alarm(1); /* ends those that hang */
        double_open();
        uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
        result = run_once(&c);
        _exit(result != CUDNN_STATUS_SUCCESS ? 1
              : cuStreamSynchronize(NULL)    ? 2
                                             : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void faults_end_the_process(void **state)
{
    (void)state;
    assert_int_equal(child_status("abort:n=4"), -SIGABRT);
    assert_int_equal(child_status("crash"), -SIGSEGV);
    assert_int_equal(child_status("hang"), -SIGALRM);
    assert_int_equal(child_status("hang-later"), -SIGALRM);
    assert_int_equal(child_status("poison"), 2);
    assert_int_equal(child_status("fail"), 1);
    assert_int_equal(child_status("crash:n=5"), 0);
}

static void allocations_fail_when_told(void **state)
{
    CUdeviceptr p;
    CUdeviceptr q;

    (void)state;
    with("UC_DOUBLE_FAULT", "out-of-memory:at=2");
    double_open();
    assert_int_equal(cuMemAlloc(&p, 8), 0);
    assert_int_equal(cuMemAlloc(&q, 8), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuMemAlloc(&q, 8), 0);
    assert_int_equal(cuMemFree(p), 0);
    assert_int_equal(cuMemFree(q), 0);
    double_close();
}

static void devices_are_as_told(void **state)
{
    char name[32];
    int count;
    CUcontext context;
    CUdeviceptr p;
    const char *text;

    (void)state;
    with("UC_DOUBLE_DEVICES", "0");
    assert_int_equal(cuInit(0), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cuGetErrorString(CUDA_ERROR_NO_DEVICE, &text), 0);
    assert_string_equal(text, "no CUDA-capable device is detected");
    assert_int_equal(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    setenv("UC_DOUBLE_DEVICE_NAME", "One,Two", 1);
    setenv("UC_DOUBLE_CUDNN_VERSION", "80905", 1);
    with("UC_DOUBLE_DEVICES", "3");
    double_open();
    assert_int_equal(cuDeviceGetCount(&count), 0);
    assert_int_equal(count, 3);
    assert_int_equal(cuDeviceGetName(name, sizeof name, 0), 0);
    assert_string_equal(name, "One");
    assert_int_equal(cuDeviceGetName(name, sizeof name, 2), 0);
    assert_string_equal(name, "Two");
    assert_int_equal(cudnnGetVersion(), 80905);
    /* memory belongs to one of them */
    assert_int_equal(cuMemAlloc(&p, 8), 0);
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, 1), 0);
    assert_int_equal(cuCtxSetCurrent(context), 0);
    assert_int_equal(cuMemsetD8(p, 0, 8), CUDA_ERROR_INVALID_VALUE);
    expect_misuse(1);
    assert_int_equal(cuDevicePrimaryCtxRelease(1), 0);
    double_close();
}

static void large_tensors_are_not_supported(void **state)
{
    struct uc_case c;

    (void)state;
    with("UC_DOUBLE_MAX_ELEMENTS", "767"); /* y has 768 */
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(run_once(&c), CUDNN_STATUS_NOT_SUPPORTED);
    uc_case_free(&c);
    double_close();
}

static void cuda_is_dead_after_fork(void **state)
{
    int status;
    pid_t child;

    (void)state;
    double_open();
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    double_close();
}

static void the_log_tells_everything(void **state)
{
    char path[] = "/tmp/ucudnn-double.XXXXXX";
    char text[4096] = "";
    struct uc_case c;
    FILE *file;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    with("UC_DOUBLE_LOG", path);
    double_open();
    uc_case_open(&c, &square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(run_once(&c), 0);
    assert_int_equal(cuStreamSynchronize(NULL), 0);
    uc_case_free(&c);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    remove(path);
    assert_non_null(strstr(text, " query op=forward algorithm=1 n=4 "
                                 "workspace=1024\n"));
    assert_non_null(strstr(text, " convolution op=forward algorithm=1 n=4 "
                                 "alpha=1 beta=0 workspace=1024 given=1024 "
                                 "time_ns=33648 "));
    assert_non_null(strstr(text, " synchronise stream\n"));
    assert_non_null(strstr(text, " allocate bytes=1024\n"));
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), 1);
    assert_int_equal(uc_double_count(UC_DOUBLE_ALLOCATIONS), 4);
    assert_int_equal(uc_double_count(UC_DOUBLE_FREES), 4);
    assert_int_equal(uc_double_count(UC_DOUBLE_SYNCHRONISATIONS), 1);
    assert_int_equal(uc_double_count(UC_DOUBLE_LIVE), 1); /* the handle */
    double_close();
}

static void *convolve_often(void *result)
{
    float one = 1;
    float zero = 0;
    struct uc_case *c = result;
    CUcontext context;
    CUstream stream;
    cudnnHandle_t handle;

    if (cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) ||
        cudnnCreate(&handle) || cudnnSetStream(handle, stream)) {
        return NULL;
    }
    for (int i = 0; i < 20; i++) {
        if (cudnnConvolutionForward(
                handle, &one, c->x, (void *)(uintptr_t)c->device[X], c->w,
                (void *)(uintptr_t)c->device[W], c->convolution,
                CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, c->y,
                (void *)(uintptr_t)c->device[Y]) ||
            cuStreamSynchronize(stream)) {
            return NULL;
        }
    }
    cudnnDestroy(handle);
    cuStreamDestroy(stream);
    cuDevicePrimaryCtxRelease(0);
    return result;
}

static void threads_do_not_disturb_each_other(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct uc_case cases[THREADS];
    void *result;

    (void)state;
    double_open();
    for (int i = 0; i < THREADS; i++) {
        uc_case_open(&cases[i], &square, UC_NUMBER_FP32, NCHW);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, convolve_often, &cases[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, &cases[i]);
        uc_case_free(&cases[i]);
    }
    expect_misuse(0);
    double_close();
}

#define TEST(function) cmocka_unit_test_setup(function, fresh)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(workspaces_follow_the_readme),
        TEST(times_follow_the_readme),
        TEST(demands_the_workspace_and_spoils_it),
        TEST(memory_is_guarded),
        TEST(misplaced_tensors_are_refused),
        TEST(pending_work_must_be_waited_for),
        TEST(searches_sort_and_obey_the_workspace),
        TEST(kernels_fill_and_compare),
        TEST(faults_strike_what_they_name),
        TEST(faults_spoil_results),
        TEST(faults_write_out_of_bounds),
        TEST(faults_end_the_process),
        TEST(allocations_fail_when_told),
        TEST(devices_are_as_told),
        TEST(large_tensors_are_not_supported),
        TEST(cuda_is_dead_after_fork),
        TEST(the_log_tells_everything),
        TEST(threads_do_not_disturb_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
