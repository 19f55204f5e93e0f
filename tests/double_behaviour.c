/* What the double checks and promises, as tests/double/README says. */
#include "config.h"

#include "tests/double_support.h"

#include <math.h>
#include <pthread.h>

static void workspaces_follow_the_readme(void **state)
{
    static const int64_t forward[] = { 0,     1024,  18432, -1,
                                       53248, 53248, 384,   20480 };
    static const int64_t data[] = { 0, 1024, 53248, 53248, 384, 20480 };
    static const int64_t filter[] = { 0, 1024, 53248, 18432, -1, 20480, 53248 };
    static const int64_t *const expected[] = { forward, data, filter };
    static const int counts[] = { UNIT_COUNT(forward), UNIT_COUNT(data),
                                  UNIT_COUNT(filter) };
    struct shape three = uc_square;
    struct uc_case c;
    size_t bytes;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
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

static void times_follow_the_readme(void **state)
{
    struct uc_case c;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_true(uc_case_time(&c, UC_DOUBLE_FORWARD, 0, 0) == 60296);
    assert_true(uc_case_time(&c, UC_DOUBLE_FORWARD, 0, 1) == 60796);
    assert_true(uc_case_time(&c, UC_DOUBLE_FORWARD, 1, 0) == 33648);
    assert_true(uc_case_time(&c, UC_DOUBLE_FORWARD, 7, 0) == 18912);
    assert_true(uc_case_time(&c, UC_DOUBLE_BACKWARD_DATA, 0, 0) == 74120);
    assert_true(uc_case_time(&c, UC_DOUBLE_BACKWARD_FILTER, 2, 0) == 38295);
    assert_int_equal(
        cudnnSetConvolutionMathType(c.convolution, CUDNN_DEFAULT_MATH), 0);
    assert_true(uc_case_time(&c, UC_DOUBLE_FORWARD, 1, 0) == 12912);
    uc_case_free(&c);
    double_close();
}

static void demands_the_workspace_and_spoils_it(void **state)
{
    unsigned char bytes[1025];
    struct uc_case c;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
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
    double_expect_misuses(1);
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
    double_with("UC_DOUBLE_MEMORY", "1000");
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
    double_expect_misuses(5);
    assert_int_equal(cuMemFree(p + 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemFree(p), 0);
    assert_int_equal(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    double_expect_misuses(7);
    assert_int_equal(cuMemAlloc(&p, 10), 0);
    raw = (char *)(uintptr_t)p;
    raw[10] = 0;
    assert_int_equal(cuMemFree(p), CUDA_ERROR_ILLEGAL_ADDRESS);
    double_expect_misuses(8);
    double_close();
}

static void misplaced_tensors_are_refused(void **state)
{
    struct uc_case c;
    CUdeviceptr y;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
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
    double_expect_misuses(2);
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
    double_expect_misuses(2);
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
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
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

static void large_tensors_are_not_supported(void **state)
{
    struct uc_case c;

    (void)state;
    double_with("UC_DOUBLE_MAX_ELEMENTS", "767"); /* y has 768 */
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(uc_case_run_once(&c), CUDNN_STATUS_NOT_SUPPORTED);
    uc_case_free(&c);
    double_close();
}

static void capture_forbids_waiting_and_memory(void **state)
{
    CUstreamCaptureStatus status;
    CUstream stream;
    CUgraph graph;
    CUdeviceptr p;

    (void)state;
    double_open();
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(cuStreamEndCapture(stream, &graph),
                     CUDA_ERROR_ILLEGAL_STATE);
    assert_int_equal(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    for (int call = 0; call < 4; call++) {
        assert_int_equal(
            cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
        assert_int_equal(cuStreamIsCapturing(stream, &status), 0);
        assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
        assert_int_equal(call == 0   ? cuMemAlloc(&p, 1)
                         : call == 1 ? cuStreamSynchronize(stream)
                         : call == 2 ? cuCtxSynchronize()
                                     : 0,
                         call < 3 ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : 0);
        assert_int_equal(cuStreamEndCapture(stream, &graph),
                         call < 3 ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : 0);
    }
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(cuStreamIsCapturing(stream, &status), 0);
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_int_equal(cuStreamDestroy(stream), 0);
    double_expect_misuses(3);
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
        uc_case_open(&cases[i], &uc_square, UC_NUMBER_FP32, NCHW);
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
    double_expect_misuses(0);
    double_close();
}

#define TEST(function) cmocka_unit_test_setup(function, double_fresh)

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
        TEST(large_tensors_are_not_supported),
        TEST(capture_forbids_waiting_and_memory),
        TEST(threads_do_not_disturb_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
