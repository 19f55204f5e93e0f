/* The double's execution plans under faults, capture and threads. */
#include "config.h"

#include "tests/graph_support.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static cudnnStatus_t run_engine(struct uc_case *c, int64_t index)
{
    return graph_run(c, UC_DOUBLE_FORWARD, index, NULL, 1, 0);
}

static void faults_strike_the_engine_they_name(void **state)
{
    struct uc_case c;

    (void)state;
    double_with("UC_DOUBLE_FAULT",
                "fail:op=forward,algorithm=eng1,n=4,beta=0,at=2,status=4000;"
                "fail:algorithm=1,status=5000;workspace:algorithm=eng12,"
                "factor=3;fail:algorithm=eng9,call=build,status=3000");
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(run_engine(&c, 1), 0);
    assert_int_equal(run_engine(&c, 0), 0);
    assert_int_equal(graph_run(&c, UC_DOUBLE_FORWARD, 1, NULL, 1, 1), 0);
    assert_int_equal(run_engine(&c, 1), CUDNN_STATUS_INTERNAL_ERROR);
    assert_int_equal(run_engine(&c, 1), 0);
    assert_int_equal(uc_case_run_once(&c), CUDNN_STATUS_EXECUTION_FAILED);
    assert_int_equal(run_engine(&c, 12), 0);
    assert_int_equal(c.workspace_bytes, 768);
    assert_int_equal(run_engine(&c, 9), CUDNN_STATUS_NOT_SUPPORTED);
    uc_case_free(&c);
    double_close();
}

static void faults_spoil_an_engines_result(void **state)
{
    struct uc_case c;
    double right;

    (void)state;
    double_with("UC_DOUBLE_FAULT", "wrong:algorithm=eng2;"
                                   "write-workspace:algorithm=eng12");
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(run_engine(&c, 0), 0);
    uc_case_download(&c, Y);
    right = c.host[Y][0];
    assert_int_equal(run_engine(&c, 2), 0);
    uc_case_download(&c, Y);
    assert_true(c.host[Y][0] - right > 0.999 && c.host[Y][0] - right < 1.001);
    assert_int_equal(run_engine(&c, 12), 0);
    assert_int_equal(cuMemFree(c.workspace), CUDA_ERROR_ILLEGAL_ADDRESS);
    c.workspace = 0;
    double_expect_misuses(1);
    uc_case_free(&c);
    double_close();
}

/** How a child ends that runs engine 7 and waits for it. */
static int child_status(const char *fault)
{
    int status;
    pid_t child;

    double_with("UC_DOUBLE_FAULT", fault);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct uc_case c;
        cudnnStatus_t result;

        alarm(1); /* ends those that hang */
        double_open();
        uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
        result = run_engine(&c, 7);
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
    assert_int_equal(child_status("crash:algorithm=eng7"), -SIGSEGV);
    assert_int_equal(child_status("abort:algorithm=eng7,call=build"), -SIGABRT);
    assert_int_equal(child_status("hang:algorithm=eng7,call=build"), -SIGALRM);
    assert_int_equal(child_status("hang-later:algorithm=eng7"), -SIGALRM);
    assert_int_equal(child_status("poison:algorithm=eng7"), 2);
    assert_int_equal(child_status("crash:algorithm=eng8"), 0);
    assert_int_equal(child_status("crash:algorithm=7"), 0);
    assert_int_equal(child_status("fail:algorithm=engine"), -SIGABRT);
    assert_int_equal(child_status("fail:call=now"), -SIGABRT);
}

static descriptor plan_of(const struct uc_case *c, int64_t index, double beta)
{
    return graph_plan_at(c, UC_DOUBLE_FORWARD, index, beta, 16);
}

static void plans_run_under_capture_and_are_not_made_there(void **state)
{
    struct uc_case c;
    CUstream stream;
    CUgraph captured;
    struct graph g;
    descriptor plan;
    descriptor config;
    descriptor late;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    plan = plan_of(&c, 0, 0);
    graph_open(&g, &c, UC_DOUBLE_FORWARD, 1, 0);
    assert_int_equal(graph_config(&g, 0, NULL, &config), 0);
    graph_close(&g);
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(cudnnSetStream(double_handle, stream), 0);
    assert_int_equal(cuStreamBeginCapture(stream, 0), 0);
    assert_int_equal(graph_execute(&c, plan), 0);
    double_expect_misuses(0);
    assert_int_equal(graph_plan(config, &late), CUDNN_STATUS_INTERNAL_ERROR);
    double_expect_misuses(1);
    assert_int_equal(uc_double_count(UC_DOUBLE_PLANS), 2);
    assert_int_equal(uc_double_count(UC_DOUBLE_CAPTURED_PLANS), 1);
    assert_int_equal(cuStreamEndCapture(stream, &captured),
                     CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_int_equal(graph_plan(config, &late), 0);
    graph_destroy(config);
    graph_destroy(plan);
    graph_destroy(late);
    assert_int_equal(cudnnSetStream(double_handle, NULL), 0);
    assert_int_equal(cuStreamDestroy(stream), 0);
    uc_case_free(&c);
    double_close();
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void compiling_takes_its_time(void **state)
{
    struct uc_case c;
    double start;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    start = seconds();
    graph_destroy(plan_of(&c, 12, 0));
    assert_true(seconds() - start >= 0.005);
    uc_case_free(&c);
    double_close();
}

/** A thread that runs the plan again and again, on a handle of its own. */
struct runner {
    const struct uc_case *c;
    descriptor plan;
    pthread_barrier_t *start;
    int failures;
};

static void *run_often(void *argument)
{
    struct runner *r = argument;
    descriptor pack = graph_pack(r->c);
    CUcontext context;
    cudnnHandle_t handle;

    if (cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cudnnCreate(&handle)) {
        r->failures = -1;
        return NULL;
    }
    pthread_barrier_wait(r->start);
    for (int i = 0; i < 20; i++) {
        r->failures += cudnnBackendExecute(handle, r->plan, pack) ==
                       CUDNN_STATUS_EXECUTION_FAILED;
    }
    graph_destroy(pack);
    cudnnDestroy(handle);
    cuDevicePrimaryCtxRelease(0);
    return NULL;
}

/** How many runs of two threads were refused, with two plans or one. */
static int refused(bool shared)
{
    struct shape large = uc_square;
    struct runner runners[2];
    pthread_barrier_t start;
    pthread_t threads[2];
    struct uc_case c[2];

    large.in[0] = large.in[1] = 64; /* some milliseconds */
    assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
    for (int i = 0; i < 2; i++) {
        uc_case_open(&c[i], &large, UC_NUMBER_FP32, NCHW);
        runners[i] = (struct runner){ &c[i],
                                      shared && i == 1 ? runners[0].plan
                                                       : plan_of(&c[i], 0, 1),
                                      &start, 0 };
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(runners[i].failures >= 0);
        uc_case_free(&c[i]);
    }
    graph_destroy(runners[0].plan);
    if (!shared) {
        graph_destroy(runners[1].plan);
    }
    pthread_barrier_destroy(&start);
    return runners[0].failures + runners[1].failures;
}

static void threads_do_not_share_a_plan(void **state)
{
    int failures;

    (void)state;
    double_open();
    assert_int_equal(refused(false), 0);
    double_expect_misuses(0);
    failures = refused(true);
    assert_true(failures > 0);
    double_expect_misuses(failures);
    double_close();
}

static void empty_convolutions_are_counted(void **state)
{
    (void)state;
    double_with("UC_DOUBLE_EMPTY", "1");
    double_open();
    assert_int_equal(cudnnBackendExecute(double_handle, NULL, NULL), 0);
    assert_int_equal(uc_double_count(UC_DOUBLE_EXECUTIONS), 1);
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), 0);
    double_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(faults_strike_the_engine_they_name,
                               double_fresh),
        cmocka_unit_test_setup(faults_spoil_an_engines_result, double_fresh),
        cmocka_unit_test_setup(faults_end_the_process, double_fresh),
        cmocka_unit_test_setup(plans_run_under_capture_and_are_not_made_there,
                               double_fresh),
        cmocka_unit_test_setup(compiling_takes_its_time, double_fresh),
        cmocka_unit_test_setup(threads_do_not_share_a_plan, double_fresh),
        cmocka_unit_test_setup(empty_convolutions_are_counted, double_fresh),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
