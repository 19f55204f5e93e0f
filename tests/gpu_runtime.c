/*
 * libucudnn in front of the real cuDNN: planned calls against a direct
 * convolution on the CPU, two kernels and uneven pieces an operation, with
 * alpha and beta; planned calls captured and replayed with new inputs; and
 * operations that are met for the first time while another thread captures.
 * Linked before cuDNN; exits with 77, which means skipped, without a GPU.
 */
#include "config.h"

#include "tests/gpu_client.h"
#include "tests/gpu_plan.h"

#include "planner/measure.h"

#include <pthread.h>
#include <stdlib.h>

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

/** Its workspaces are the library's own. */
static const char *const wd_problem =
    "forward:fp32:fma:nchw:c16:k8:i12x12:f3x3:p1x1";

static void check_problem(void **state)
{
    static const struct {
        double alpha, beta;
    } scales[] = { { 1, 0 }, { 2, 0 }, { 1, 1 }, { 2, 0.5 } };
    struct uc_problem problem;
    struct uc_error err;

    assert_int_equal(uc_problem_parse(*state, &problem, &err), UC_OK);
    for (int op = 0; op < UC_OPERATIONS; op++) {
        struct gpu_descriptors d;
        struct gpu_fixture f;
        size_t bytes;
        int out;

        problem.operation = (enum uc_operation)op;
        out = (int)uc_operation_output(problem.operation);
        gpu_fixture_open(&f, &problem);
        d = gpu_describe(&problem);
        bytes = gpu_ask(&problem, &d);
        assert_int_equal(
            uc_gpu_reserve(&gpu, &f.workspace, (int64_t)bytes, &err), UC_OK);
        for (size_t s = 0; s < UNIT_COUNT(scales); s++) {
            double error;

            if (scales[s].beta == 0)
                uc_gpu_poison(&gpu, &f.device[out], &err);
            else
                gpu_fixture_upload(&f, out);
            assert_int_equal(
                gpu_call(&f, &d, scales[s].alpha, scales[s].beta, bytes), 0);
            assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
            error = gpu_fixture_error(&f, scales[s].alpha, scales[s].beta);
            if (!(error <= gpu_bound(&problem, 0)))
                fail_msg("%s, alpha %g, beta %g: error %g",
                         uc_operation_name(problem.operation), scales[s].alpha,
                         scales[s].beta, error);
        }
        gpu_forget(&d);
        gpu_fixture_close(&f);
    }
}

/* Capture -----------------------------------------------------------------*/

/** Every operation was run by check_problem() before: none is cold. */
static void captured_calls_replay_with_new_inputs(void **state)
{
    struct uc_problem problem;
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_problem_parse(problems[0], &problem, &err), UC_OK);
    for (int op = 0; op < UC_OPERATIONS; op++) {
        struct gpu_fixture f;
        struct gpu_descriptors d;
        CUgraphExec graph;
        size_t bytes;
        int out;

        problem.operation = (enum uc_operation)op;
        out = (int)uc_operation_output(problem.operation);
        gpu_fixture_open(&f, &problem);
        d = gpu_describe(&problem);
        bytes = gpu_ask(&problem, &d);
        assert_int_equal(
            uc_gpu_reserve(&gpu, &f.workspace, (int64_t)bytes, &err), UC_OK);
        assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
        gpu_capture_begin();
        assert_int_equal(gpu_call(&f, &d, 1, 0, bytes), 0);
        graph = gpu_capture_end();
        for (int i = 0; i < 2; i++) {
            gpu_fixture_renew(&f);
            uc_gpu_poison(&gpu, &f.device[out], &err);
            gpu_graph_launch(graph);
            assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
            assert_true(gpu_fixture_error(&f, 1, 0) <= gpu_bound(&problem, 0));
        }
        gpu_forget(&d);
        gpu_fixture_close(&f);
    }
}

/* Another thread captures -------------------------------------------------*/

/** What it captures with and what came of it; no assertions there. */
struct capture {
    CUresult (*begin)(CUstream, CUstreamCaptureMode);
    CUresult (*end)(CUstream, CUgraph *);
    CUresult (*destroy)(CUgraph);
    struct uc_gpu gpu; /**< with a stream of its own */
    struct uc_buffer buffer;
    pthread_barrier_t meet;
    CUresult results[4];
    bool whole;
};

static void *capture_meanwhile(void *argument)
{
    struct capture *c = argument;
    CUgraph graph = NULL;

    c->results[0] = c->gpu.cuda.CtxSetCurrent(c->gpu.context);
    c->results[1] = c->begin(c->gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    c->results[2] =
        c->gpu.cuda.MemsetD8Async(c->buffer.data, 0, 256, c->gpu.stream);
    pthread_barrier_wait(&c->meet);
    pthread_barrier_wait(&c->meet);
    c->results[3] = c->end(c->gpu.stream, &graph);
    c->whole = graph != NULL;
    if (graph != NULL)
        c->destroy(graph);
    return NULL;
}

static void open_capture(struct capture *c)
{
    struct uc_error err;

    *c = (struct capture){ .gpu = gpu };
    gpu_driver("cuStreamBeginCapture_v2", &c->begin);
    gpu_driver("cuStreamEndCapture", &c->end);
    gpu_driver("cuGraphDestroy", &c->destroy);
    assert_int_equal(
        gpu.cuda.StreamCreate(&c->gpu.stream, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(uc_gpu_reserve(&gpu, &c->buffer, 256, &err), UC_OK);
    assert_int_equal(pthread_barrier_init(&c->meet, NULL, 2), 0);
}

static void close_capture(struct capture *c)
{
    for (size_t i = 0; i < UNIT_COUNT(c->results); i++)
        assert_int_equal(c->results[i], CUDA_SUCCESS);
    assert_true(c->whole);
    pthread_barrier_destroy(&c->meet);
    uc_gpu_release(&gpu, &c->buffer);
}

/** Nothing asked for it before: it is made ready, and has its memory
    allocated, while the other thread captures. */
static void meet_first(const struct uc_problem *problem)
{
    const int64_t most = (int64_t)64 << 20;
    const int out = (int)uc_operation_output(problem->operation);
    struct gpu_descriptors d;
    struct gpu_fixture f;
    struct capture other;
    cudnnStatus_t status;
    pthread_t thread;
    struct uc_error err;
    size_t bytes;

    gpu_fixture_open(&f, problem);
    d = gpu_describe(problem);
    assert_int_equal(uc_gpu_reserve(&gpu, &f.workspace, most, &err), UC_OK);
    uc_gpu_poison(&gpu, &f.device[out], &err);
    open_capture(&other);
    assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
    assert_int_equal(pthread_create(&thread, NULL, capture_meanwhile, &other),
                     0);
    pthread_barrier_wait(&other.meet);
    bytes = gpu_ask(problem, &d);
    status = gpu_call(&f, &d, 1, 0, bytes);
    pthread_barrier_wait(&other.meet);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close_capture(&other);
    assert_int_equal(status, CUDNN_STATUS_SUCCESS);
    assert_true((int64_t)bytes <= most);
    assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
    assert_true(gpu_fixture_error(&f, 1, 0) <= gpu_bound(problem, 0));
    gpu_forget(&d);
    gpu_fixture_close(&f);
}

/** Before all others, which would have met the operations. */
static void a_first_use_leaves_another_threads_capture_whole(void **state)
{
    const char *const texts[] = { problems[0], wd_problem };
    struct uc_problem problem;
    struct uc_error err;

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(texts); i++)
        for (int op = 0; op < UC_OPERATIONS; op++) {
            assert_int_equal(uc_problem_parse(texts[i], &problem, &err), UC_OK);
            problem.operation = (enum uc_operation)op;
            meet_first(&problem);
        }
}

int main(void)
{
    struct CMUnitTest tests[UNIT_COUNT(problems) + 2];
    const char *path;

    if (!gpu_open())
        return 77;
    path = gpu_plan_path();
    gpu_plan_add(path, UC_PLAN_WR, problems, UNIT_COUNT(problems));
    /* Else no memory would be the library's own. */
    assert_true(gpu_plan_add(path, UC_PLAN_WD, &wd_problem, 1) > 0);
    setenv("UCUDNN_PLAN", path, 1);
    setenv("UCUDNN_LOG", "warning", 1);
    gpu_count_calls();
    tests[0] = (struct CMUnitTest)cmocka_unit_test(
        a_first_use_leaves_another_threads_capture_whole);
    for (size_t i = 0; i < UNIT_COUNT(problems); i++)
        tests[1 + i] = (struct CMUnitTest){ problems[i], check_problem, NULL,
                                            NULL, (void *)problems[i] };
    tests[UNIT_COUNT(problems) + 1] = (struct CMUnitTest)cmocka_unit_test(
        captured_calls_replay_with_new_inputs);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
