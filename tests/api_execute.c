/*
 * ucudnn_execute_operation() on the double: the result of the undivided
 * convolution, or a reason and nothing done.
 */
#include "config.h"

#include "tests/api_support.h"

#include <math.h>
#include <pthread.h>

static struct uc_case c;

static int set_up(void **state)
{
    double_fresh(state);
    double_open();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    double_expect_misuses(0);
    double_close();
    return 0;
}

static enum uc_number number_of(const char *type)
{
    return strcmp(type, "fp64") == 0   ? UC_NUMBER_FP64
           : strcmp(type, "fp16") == 0 ? UC_NUMBER_FP16
                                       : UC_NUMBER_FP32;
}

static void reserve(struct uc_case *k, size_t bytes)
{
    assert_int_equal(cuMemFree(k->workspace), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&k->workspace, bytes), CUDA_SUCCESS);
    k->workspace_bytes = bytes;
}

static void *address(CUdeviceptr pointer)
{
    return (void *)(uintptr_t)pointer;
}

static ucudnn_status execute(const struct uc_case *k, cudnnHandle_t handle,
                             const ucudnn_operation *o, double alpha,
                             double beta, cudnnStatus_t *cudnn)
{
    float narrow[2] = { (float)alpha, (float)beta };
    bool wide = k->type == UC_NUMBER_FP64;

    return ucudnn_execute_operation(
        o, handle, wide ? (const void *)&alpha : &narrow[0],
        address(k->device[X]), address(k->device[W]), address(k->device[Y]),
        wide ? (const void *)&beta : &narrow[1], address(k->workspace),
        k->workspace_bytes, cudnn);
}

static int output_of(int kind)
{
    return kind == UCUDNN_FORWARD ? Y : kind == UCUDNN_BACKWARD_DATA ? X : W;
}

/** The output before a run: its values, or NaN where beta is 0. */
static void prepare_output(int output, const double *values, double beta)
{
    for (size_t i = 0; i < c.count[output]; i++)
        c.host[output][i] = beta == 0 ? (double)NAN : values[i];
    uc_case_upload(&c, output);
}

/**
 * The undivided result of the double's algorithm 1, then the planned one:
 * multiples of 1/64 that every order of summation gives exactly.
 */
static void assert_same_result(ucudnn_plan_file *file, int kind, double alpha,
                               double beta)
{
    int output = output_of(kind);
    size_t bytes = c.count[output] * sizeof(double);
    double *before = malloc(bytes), *expected = malloc(bytes);
    const ucudnn_operation *o = NULL;

    assert_non_null(before);
    assert_non_null(expected);
    memcpy(before, c.host[output], bytes);
    prepare_output(output, before, beta);
    assert_int_equal(
        uc_case_run_sized(&c, (enum uc_double_operation)kind, 1, alpha, beta),
        0);
    uc_case_download(&c, output);
    memcpy(expected, c.host[output], bytes);

    prepare_output(output, before, beta);
    assert_int_equal(api_find(file, &c, kind, &o, NULL, 0), UCUDNN_OK);
    reserve(&c, FIRST_WORKSPACE);
    assert_int_equal(execute(&c, double_handle, o, alpha, beta, NULL),
                     UCUDNN_OK);
    uc_case_download(&c, output);
    for (size_t i = 0; i < c.count[output]; i++)
        if (c.host[output][i] != expected[i])
            fail_msg("%d, alpha %g, beta %g: element %zu is %g, not %g", kind,
                     alpha, beta, i, c.host[output][i], expected[i]);
    memcpy(c.host[output], before, bytes);
    uc_case_upload(&c, output);
    free(before);
    free(expected);
}

static void the_result_is_that_of_the_undivided_batch(void **state)
{
    static const double alphas[] = { 1, 2 }, betas[] = { 0, 0.5, 1 };
    static const char *const types[] = { "fp32", "fp64", "fp32" };
    static const char *const layouts[] = { "nchw", "nchw", "nhwc" };
    ucudnn_counters counters = { .struct_size = sizeof counters };

    (void)state;
    for (size_t t = 0; t < UNIT_COUNT(types); t++) {
        ucudnn_plan_file *file = api_seven(types[t], layouts[t]);

        uc_case_open(&c, &seven, number_of(types[t]),
                     strcmp(layouts[t], "nhwc") == 0 ? NHWC : NCHW);
        for (int kind = 0; kind < 3; kind++)
            for (size_t i = 0; i < UNIT_COUNT(alphas); i++)
                for (size_t j = 0; j < UNIT_COUNT(betas); j++)
                    assert_same_result(file, kind, alphas[i], betas[j]);
        ucudnn_get_counters(file, &counters);
        assert_int_equal(counters.executed, 3 * 2 * 3);
        assert_int_equal(counters.passed_through, 0);
        ucudnn_close_plan_file(file);
        uc_case_free(&c);
    }
}

/** Opens case and plan, finds forward and gives it its workspace. */
static const ucudnn_operation *open_forward(ucudnn_plan_file **file)
{
    const ucudnn_operation *o = NULL;

    uc_case_open(&c, &seven, UC_NUMBER_FP32, NCHW);
    *file = api_seven("fp32", "nchw");
    assert_int_equal(api_find(*file, &c, UCUDNN_FORWARD, &o, NULL, 0),
                     UCUDNN_OK);
    reserve(&c, FIRST_WORKSPACE);
    return o;
}

static void an_execution_is_its_micro_batches_and_nothing_else(void **state)
{
    static const enum uc_double_counter still[] = {
        UC_DOUBLE_ALLOCATIONS, UC_DOUBLE_FREES,    UC_DOUBLE_SYNCHRONISATIONS,
        UC_DOUBLE_COPIES,      UC_DOUBLE_SETS,     UC_DOUBLE_LAUNCHES,
        UC_DOUBLE_QUERIES,     UC_DOUBLE_SEARCHES, UC_DOUBLE_DESCRIPTORS,
    };
    uint64_t before[UNIT_COUNT(still)], asked;
    ucudnn_plan_file *file;
    const ucudnn_operation *o = open_forward(&file);

    (void)state;
    asked = uc_double_count(UC_DOUBLE_DEVICE_QUESTIONS);
    for (size_t i = 0; i < UNIT_COUNT(still); i++)
        before[i] = uc_double_count(still[i]);
    assert_int_equal(execute(&c, double_handle, o, 1, 0, NULL), UCUDNN_OK);
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), 3);
    for (size_t i = 0; i < UNIT_COUNT(still); i++)
        assert_int_equal(uc_double_count(still[i]), before[i]);
    assert_int_equal(uc_double_count(UC_DOUBLE_DEVICE_QUESTIONS), asked + 1);
    ucudnn_close_plan_file(file);
    uc_case_free(&c);
}

/** Refused with this status; cuDNN has seen nothing. */
static void assert_refused(const ucudnn_plan_file *file,
                           const ucudnn_operation *o, ucudnn_status status)
{
    ucudnn_counters before = { .struct_size = sizeof before }, after = before;
    uint64_t convolutions = uc_double_count(UC_DOUBLE_CONVOLUTIONS);

    ucudnn_get_counters(file, &before);
    assert_int_equal(execute(&c, double_handle, o, 1, 0, NULL), status);
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), convolutions);
    ucudnn_get_counters(file, &after);
    assert_int_equal(after.passed_through, before.passed_through + 1);
    assert_int_equal(after.executed, before.executed);
}

static void a_byte_too_few_of_workspace_is_refused(void **state)
{
    ucudnn_plan_file *file;
    const ucudnn_operation *o = open_forward(&file);
    CUdeviceptr workspace = c.workspace;

    (void)state;
    c.workspace_bytes--;
    assert_refused(file, o, UCUDNN_WORKSPACE);
    c.workspace_bytes++;
    c.workspace = 0;
    assert_refused(file, o, UCUDNN_WORKSPACE);
    c.workspace = workspace;
    assert_int_equal(execute(&c, double_handle, o, 1, 0, NULL), UCUDNN_OK);
    ucudnn_close_plan_file(file);
    uc_case_free(&c);
}

static void addresses_off_16_bytes_are_refused(void **state)
{
    ucudnn_plan_file *file;
    const ucudnn_operation *o = open_forward(&file);
    CUdeviceptr *const moved[] = { &c.device[X], &c.device[W], &c.device[Y],
                                   &c.workspace };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(moved); i++) {
        *moved[i] += 8;
        assert_refused(file, o, UCUDNN_ALIGNMENT);
        *moved[i] -= 8;
    }
    ucudnn_close_plan_file(file);
    uc_case_free(&c);
}

static void bad_arguments_are_refused(void **state)
{
    float one = 1;
    ucudnn_plan_file *file;
    const ucudnn_operation *o = open_forward(&file);
    void *x = address(c.device[X]), *w = address(c.device[W]);
    void *y = address(c.device[Y]), *space = address(c.workspace);

    (void)state;
#define TRY(...)                                                      \
    assert_int_equal(                                                 \
        ucudnn_execute_operation(__VA_ARGS__, FIRST_WORKSPACE, NULL), \
        UCUDNN_BAD_ARGUMENT)
    TRY(NULL, double_handle, &one, x, w, y, &one, space);
    TRY(o, NULL, &one, x, w, y, &one, space);
    TRY(o, double_handle, NULL, x, w, y, &one, space);
    TRY(o, double_handle, &one, NULL, w, y, &one, space);
    TRY(o, double_handle, &one, x, NULL, y, &one, space);
    TRY(o, double_handle, &one, x, w, NULL, &one, space);
    TRY(o, double_handle, &one, x, w, y, NULL, space);
#undef TRY
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), 0);
    ucudnn_close_plan_file(file);
    uc_case_free(&c);
}

/** By index, without ucudnn_find_operation(): prepared when executed. */
static void an_operation_got_by_index_is_executed(void **state)
{
    ucudnn_plan_file *file = api_seven("fp32", "nchw");

    (void)state;
    uc_case_open(&c, &seven, UC_NUMBER_FP32, NCHW);
    reserve(&c, FIRST_WORKSPACE);
    assert_int_equal(execute(&c, double_handle,
                             ucudnn_get_operation(file, 0, UCUDNN_FORWARD), 1,
                             0, NULL),
                     UCUDNN_OK);
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), 3);
    ucudnn_close_plan_file(file);
    uc_case_free(&c);
}

static void an_operation_of_another_device_is_refused(void **state)
{
    struct uc_plan plan;
    ucudnn_plan_file *file;

    (void)state;
    api_plan(&plan, "fp32", "nchw");
    strcpy(plan.environment.device.name, "Another");
    file = api_open(&plan, NULL);
    uc_plan_free(&plan);
    uc_case_open(&c, &seven, UC_NUMBER_FP32, NCHW);
    reserve(&c, FIRST_WORKSPACE);
    assert_refused(file, ucudnn_get_operation(file, 0, UCUDNN_FORWARD),
                   UCUDNN_OTHER_DEVICE);
    ucudnn_close_plan_file(file);
    uc_case_free(&c);
}

/** cuDNN fails at the first micro-batch, or at a later one. */
static void a_failure_says_whether_anything_was_enqueued(void **state)
{
    static const struct {
        const char *fault;
        ucudnn_status status;
        uint64_t passed_through;
    } cases[] = {
        { "fail:at=1,status=2000", UCUDNN_REFUSED, 1 },
        { "fail:at=1,status=3000", UCUDNN_REFUSED, 1 },
        { "fail:at=2,status=3000", UCUDNN_INCOMPLETE, 0 },
        { "fail:at=3,status=3000", UCUDNN_INCOMPLETE, 0 },
        /* Some kernels of its algorithm may have been enqueued before. */
        { "fail:at=1,status=4005", UCUDNN_INCOMPLETE, 0 },
        { "fail:at=1,status=5000", UCUDNN_INCOMPLETE, 0 },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        ucudnn_counters counters = { .struct_size = sizeof counters };
        cudnnStatus_t cudnn = CUDNN_STATUS_SUCCESS;
        ucudnn_plan_file *file;
        const ucudnn_operation *o;

        double_close();
        double_with("UC_DOUBLE_FAULT", cases[i].fault);
        double_open();
        o = open_forward(&file);
        assert_int_equal(execute(&c, double_handle, o, 1, 0, &cudnn),
                         cases[i].status);
        assert_int_equal(
            cudnn, strtol(strstr(cases[i].fault, "status=") + 7, NULL, 10));
        ucudnn_get_counters(file, &counters);
        assert_int_equal(counters.passed_through, cases[i].passed_through);
        assert_int_equal(counters.executed, 0);
        ucudnn_close_plan_file(file);
        uc_case_free(&c);
    }
}

static void success_leaves_cudnns_status_alone(void **state)
{
    cudnnStatus_t cudnn = CUDNN_STATUS_EXECUTION_FAILED;
    ucudnn_plan_file *file;
    const ucudnn_operation *o = open_forward(&file);

    (void)state;
    assert_int_equal(execute(&c, double_handle, o, 1, 0, &cudnn), UCUDNN_OK);
    assert_int_equal(cudnn, CUDNN_STATUS_EXECUTION_FAILED);
    ucudnn_close_plan_file(file);
    uc_case_free(&c);
}

/** Executed once outside capture, it may be captured. */
static void a_first_execution_under_capture_is_refused(void **state)
{
    ucudnn_plan_file *file;
    const ucudnn_operation *o = open_forward(&file);
    CUgraph graph;
    CUstream stream;

    (void)state;
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(cudnnSetStream(double_handle, (cudaStream_t)stream), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
        assert_int_equal(api_find(file, &c, UCUDNN_FORWARD, &o, NULL, 0),
                         UCUDNN_OK);
        if (i == 0)
            assert_refused(file, o, UCUDNN_CAPTURE);
        else
            assert_int_equal(execute(&c, double_handle, o, 1, 0, NULL),
                             UCUDNN_OK);
        assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
        assert_int_equal(cuGraphDestroy(graph), 0);
        assert_int_equal(execute(&c, double_handle, o, 1, 0, NULL), UCUDNN_OK);
    }
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), 3 + 2 * 3);
    assert_int_equal(cudnnSetStream(double_handle, NULL), 0);
    assert_int_equal(cuStreamSynchronize(stream), 0);
    assert_int_equal(cuStreamDestroy(stream), 0);
    ucudnn_close_plan_file(file);
    uc_case_free(&c);
}

/** A plan of engines, which are built at first use. */
static ucudnn_plan_file *open_engines(void)
{
    const struct uc_kernel engine = { .api = UC_API_GRAPH, .engine = 0 };
    ucudnn_plan_file *file;
    struct uc_plan plan;

    api_plan(&plan, "fp32", "nchw");
    for (size_t i = 0; i < plan.operation_count; i++)
        for (size_t j = 0; j < plan.operations[i].piece_count; j++)
            plan.operations[i].pieces[j].kernel = engine;
    file = api_open(&plan, NULL);
    uc_plan_free(&plan);
    return file;
}

/** Execution plans that cuDNN does not make, and pairs of scalars that are too
    many; its own status, or NOT_SUPPORTED. */
static void what_is_not_prepared_has_its_status(void **state)
{
    cudnnStatus_t cudnn = CUDNN_STATUS_SUCCESS;
    const ucudnn_operation *o;
    ucudnn_plan_file *file;

    (void)state;
    double_close();
    double_with("UC_DOUBLE_FAULT", "fail:call=build,beta=1,status=4001");
    double_open();
    file = open_engines();
    uc_case_open(&c, &seven, UC_NUMBER_FP32, NCHW);
    reserve(&c, FIRST_WORKSPACE);
    o = ucudnn_get_operation(file, 0, UCUDNN_FORWARD);
    assert_int_equal(execute(&c, double_handle, o, 1, 0.5, &cudnn),
                     UCUDNN_REFUSED);
    assert_int_equal(cudnn, 4001);
    for (int i = 1; i <= 17; i++) {
        cudnn = CUDNN_STATUS_SUCCESS;
        assert_int_equal(execute(&c, double_handle, o, i, 0, &cudnn),
                         i < 16 ? UCUDNN_OK : UCUDNN_REFUSED);
        assert_int_equal(cudnn, i < 16 ? CUDNN_STATUS_SUCCESS
                                       : CUDNN_STATUS_NOT_SUPPORTED);
    }
    ucudnn_close_plan_file(file);
    uc_case_free(&c);
}

/** What this thread captures forbids more than what another one does. */
static void a_capture_of_another_stream_stays_whole(void **state)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    ucudnn_plan_file *file = open_engines();
    const ucudnn_operation *o = NULL;
    CUgraph graph;
    CUstream stream;

    (void)state;
    uc_case_open(&c, &seven, UC_NUMBER_FP32, NCHW);
    reserve(&c, FIRST_WORKSPACE);
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(
        cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
    assert_int_equal(api_find(file, &c, UCUDNN_FORWARD, &o, NULL, 0),
                     UCUDNN_OK);
    assert_int_equal(execute(&c, double_handle, o, 1, 0, NULL), UCUDNN_OK);
    assert_int_equal(execute(&c, double_handle, o, 2, 0.5, NULL), UCUDNN_OK);
    ucudnn_close_plan_file(file);
    assert_int_equal(cuThreadExchangeStreamCaptureMode(&mode), 0);
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(uc_double_count(UC_DOUBLE_EXECUTIONS), 2 * 3);
    assert_int_equal(cuGraphDestroy(graph), 0);
    assert_int_equal(cuStreamDestroy(stream), 0);
    uc_case_free(&c);
}

/* Threads ----------------------------------------------------------------*/

enum { THREADS = 4, RUNS = 25 };

struct worker {
    ucudnn_plan_file *file;
    struct uc_case *tensors;
    pthread_barrier_t *start;
    CUcontext context;
    int failures;
};

/** No assertions: cmocka's are for one thread. */
static void *work(void *argument)
{
    struct worker *w = argument;
    const struct uc_case *k = w->tensors;
    cudnnHandle_t handle;

    if (cuCtxSetCurrent(w->context) != CUDA_SUCCESS ||
        cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) {
        w->failures++;
        pthread_barrier_wait(w->start);
        return NULL;
    }
    pthread_barrier_wait(w->start);
    for (int i = 0; i < RUNS; i++) {
        const ucudnn_operation *o = NULL;

        w->failures +=
            ucudnn_find_operation(w->file, handle, UCUDNN_FORWARD, k->x, k->w,
                                  k->convolution, k->y, &o, NULL, 0) != 0 ||
            execute(k, handle, o, 1, 0, NULL) != 0;
    }
    w->failures += cudnnDestroy(handle) != CUDNN_STATUS_SUCCESS;
    return NULL;
}

static void threads_share_a_file(void **state)
{
    ucudnn_counters counters = { .struct_size = sizeof counters };
    ucudnn_plan_file *file = api_seven("fp32", "nchw");
    struct uc_case tensors[THREADS];
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    CUcontext context;

    (void)state;
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        uc_case_open(&tensors[i], &seven, UC_NUMBER_FP32, NCHW);
        reserve(&tensors[i], FIRST_WORKSPACE);
        workers[i] = (struct worker){ file, &tensors[i], &start, context, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].failures, 0);
    }
    for (int i = 0; i < THREADS; i++)
        uc_case_free(&tensors[i]);
    ucudnn_get_counters(file, &counters);
    assert_int_equal(counters.executed, THREADS * RUNS);
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS),
                     3 * THREADS * RUNS);
    ucudnn_close_plan_file(file);
    pthread_barrier_destroy(&start);
    assert_int_equal(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(the_result_is_that_of_the_undivided_batch),
        CASE(an_execution_is_its_micro_batches_and_nothing_else),
        CASE(a_byte_too_few_of_workspace_is_refused),
        CASE(addresses_off_16_bytes_are_refused),
        CASE(bad_arguments_are_refused),
        CASE(an_operation_got_by_index_is_executed),
        CASE(an_operation_of_another_device_is_refused),
        CASE(a_failure_says_whether_anything_was_enqueued),
        CASE(what_is_not_prepared_has_its_status),
        CASE(success_leaves_cudnns_status_alone),
        CASE(a_first_execution_under_capture_is_refused),
        CASE(a_capture_of_another_stream_stays_whole),
        CASE(threads_share_a_file),
    };
#undef CASE

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
