/* The double's rule of stream capture: who may do what meanwhile. */
#include "config.h"

#include "tests/double_support.h"

#include <pthread.h>

enum { MODES = 3 };
static const CUstreamCaptureMode modes[MODES] = {
    CU_STREAM_CAPTURE_MODE_GLOBAL,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CU_STREAM_CAPTURE_MODE_RELAXED,
};

/** A thread that allocates in a mode of its own. */
struct allocation {
    CUcontext context;
    CUstreamCaptureMode mode, former;
    CUresult result;
    bool failed; /**< something else */
};

/** No assertions: cmocka's are for one thread. */
static void allocate(struct allocation *a)
{
    CUdeviceptr memory = 0;

    a->former = a->mode;
    a->failed |= cuThreadExchangeStreamCaptureMode(&a->former) != 0;
    a->result = cuMemAlloc(&memory, 1);
    a->failed |= cuMemFree(memory) != 0; /* of nothing does nothing */
    a->mode = a->former;
    a->failed |= cuThreadExchangeStreamCaptureMode(&a->mode) != 0;
}

static void *allocate_elsewhere(void *argument)
{
    struct allocation *a = argument;

    a->failed |= cuCtxSetCurrent(a->context) != 0;
    allocate(a);
    return NULL;
}

/** What an allocation in a thread's mode does to a capture of another. */
static void check(CUstream stream, CUstreamCaptureMode capture,
                  CUstreamCaptureMode mode, bool elsewhere, bool forbidden)
{
    struct allocation a = { .mode = mode };
    pthread_t thread;
    CUgraph graph;

    assert_int_equal(cuCtxGetCurrent(&a.context), 0);
    assert_int_equal(cuStreamBeginCapture(stream, capture), 0);
    if (elsewhere) {
        assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, &a),
                         0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    } else {
        allocate(&a);
    }
    assert_false(a.failed);
    assert_int_equal(a.former, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(a.mode, mode);
    assert_int_equal(a.result,
                     forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : 0);
    assert_int_equal(cuStreamEndCapture(stream, &graph),
                     forbidden ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : 0);
    if (!forbidden) {
        assert_int_equal(cuGraphDestroy(graph), 0);
    }
}

/** The driver API's words on cuThreadExchangeStreamCaptureMode(): by the
    thread's mode and the capture's. */
static void modes_say_whom_a_capture_forbids(void **state)
{
    static const bool own[MODES][MODES] = { { true, true, false },
                                            { true, true, false },
                                            { false, false, false } };
    static const bool other[MODES][MODES] = { { true, false, false },
                                              { false, false, false },
                                              { false, false, false } };
    CUstream stream;

    (void)state;
    double_open();
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    for (int mode = 0; mode < MODES; mode++) {
        for (int capture = 0; capture < MODES; capture++) {
            check(stream, modes[capture], modes[mode], false,
                  own[mode][capture]);
            check(stream, modes[capture], modes[mode], true,
                  other[mode][capture]);
        }
    }
    double_expect_misuses(4 + 1);
    assert_int_equal(cuStreamDestroy(stream), 0);
    double_close();
}

static void no_mode_lets_a_captured_stream_be_waited_for(void **state)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUstream captured;
    CUstream other;
    CUgraph graph;

    (void)state;
    double_open();
    assert_int_equal(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(cuThreadExchangeStreamCaptureMode(&mode), 0);
    for (int call = 0; call < 4; call++) {
        assert_int_equal(cuStreamBeginCapture(captured, modes[0]), 0);
        assert_int_equal(cuStreamSynchronize(other), 0);
        assert_int_equal(cuStreamQuery(other), 0);
        assert_int_equal(call == 0   ? cuStreamSynchronize(captured)
                         : call == 1 ? cuStreamQuery(captured)
                         : call == 2 ? cuCtxSynchronize()
                                     : 0,
                         call < 3 ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : 0);
        assert_int_equal(cuStreamEndCapture(captured, &graph),
                         call < 3 ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : 0);
    }
    assert_int_equal(cuGraphDestroy(graph), 0);
    double_expect_misuses(3);
    assert_int_equal(cuStreamDestroy(captured), 0);
    assert_int_equal(cuStreamDestroy(other), 0);
    double_close();
}

static void *end_elsewhere(void *stream)
{
    static CUresult result;
    CUcontext context;
    CUgraph graph;

    result = cuDevicePrimaryCtxRetain(&context, 0);
    if (result == CUDA_SUCCESS) {
        result = cuCtxSetCurrent(context);
    }
    if (result == CUDA_SUCCESS) {
        result = cuStreamEndCapture(stream, &graph);
    }
    cuDevicePrimaryCtxRelease(0);
    return &result;
}

static void who_begins_a_capture_ends_it(void **state)
{
    pthread_t thread;
    CUstream stream;
    CUgraph graph;
    void *result;

    (void)state;
    double_open();
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(cuStreamBeginCapture(stream, modes[0]), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, stream), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_int_equal(*(CUresult *)result,
                     CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(cuStreamDestroy(stream), 0);
    double_close();
}

static void a_mode_is_one_of_three(void **state)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)3;

    (void)state;
    double_open();
    assert_int_equal(cuThreadExchangeStreamCaptureMode(NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuThreadExchangeStreamCaptureMode(&mode),
                     CUDA_ERROR_INVALID_VALUE);
    double_close();
}

#define TEST(function) cmocka_unit_test_setup(function, double_fresh)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(modes_say_whom_a_capture_forbids),
        TEST(no_mode_lets_a_captured_stream_be_waited_for),
        TEST(who_begins_a_capture_ends_it),
        TEST(a_mode_is_one_of_three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
