/*
 * Two GPUs of one host in one process, whose convolutions follow one plan
 * file: from one thread that changes its device (as cudaSetDevice() does) and
 * from two threads, with the program's workspaces (WR) and with the library's
 * own (WD). Linked before cuDNN; exits with 77, which means skipped, without a
 * GPU; with one, its cases are skipped by name.
 */
#include "config.h"

#include "tests/gpu_client.h"
#include "tests/gpu_plan.h"

#include "planner/measure.h"

#include <pthread.h>
#include <stdlib.h>

enum { DEVICES = 2, ROUNDS = 3, THREAD_ROUNDS = 50 };

static const char *const wr_problems[] = {
    "forward:fp32:fma:nchw:c8:k16:i14x14:f3x3:p1x1",
    "forward:fp16:fp16:nhwc:c16:k32:i14x14:f3x3:p1x1",
};
static const char *const wd_problems[] = {
    "forward:fp32:fma:nchw:c16:k8:i12x12:f3x3:p1x1",
    "forward:fp32:tf32:nchw:c16:k16:i16x16:f5x5:p2x2",
};
enum { PROBLEMS = UNIT_COUNT(wr_problems) };
_Static_assert(UNIT_COUNT(wd_problems) == PROBLEMS, "as many of both modes");

static struct uc_gpu devices[DEVICES];

static bool make_current(int device)
{
    gpu = devices[device];
    return gpu.cuda.CtxSetCurrent(gpu.context) == CUDA_SUCCESS;
}

/** One operation on one device. */
struct task {
    struct gpu_fixture fixture;
    struct gpu_descriptors descriptors;
    size_t bytes;
};

static void open_task(struct task *t, const char *text, int operation, bool wd)
{
    struct uc_problem problem;
    struct uc_error err;

    assert_int_equal(uc_problem_parse(text, &problem, &err), UC_OK);
    problem.operation = (enum uc_operation)operation;
    gpu_fixture_open(&t->fixture, &problem);
    t->descriptors = gpu_describe(&problem);
    t->bytes = gpu_ask(&problem, &t->descriptors);
    if (wd)
        assert_int_equal(t->bytes, 0);
    else
        assert_int_equal(uc_gpu_reserve(&gpu, &t->fixture.workspace,
                                        (int64_t)t->bytes, &err),
                         UC_OK);
    assert_int_equal(
        uc_gpu_poison(
            &gpu, &t->fixture.device[uc_operation_output(problem.operation)],
            &err),
        UC_OK);
}

static void check_task(struct task *t)
{
    const struct uc_problem *p = &t->fixture.problem;
    struct uc_error err;
    double error;

    assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
    error = gpu_fixture_error(&t->fixture, 1, 0);
    if (!(error <= gpu_bound(p, 0)))
        fail_msg("%s: error %g", uc_operation_name(p->operation), error);
    gpu_forget(&t->descriptors);
    gpu_fixture_close(&t->fixture);
}

/** All operations of all problems of a mode, on one device. */
struct tasks {
    struct task of[PROBLEMS][UC_OPERATIONS];
    int device;
    int failures;
};

static void open_tasks(struct tasks *t, int device, bool wd)
{
    t->device = device;
    t->failures = 0;
    assert_true(make_current(device));
    for (int i = 0; i < PROBLEMS; i++)
        for (int op = 0; op < UC_OPERATIONS; op++)
            open_task(&t->of[i][op], wd ? wd_problems[i] : wr_problems[i], op,
                      wd);
}

static void check_tasks(struct tasks *t)
{
    assert_int_equal(t->failures, 0);
    assert_true(make_current(t->device));
    for (int i = 0; i < PROBLEMS; i++)
        for (int op = 0; op < UC_OPERATIONS; op++)
            check_task(&t->of[i][op]);
}

static bool call_task(struct task *t)
{
    return gpu_call(&t->fixture, &t->descriptors, 1, 0, t->bytes) ==
           CUDNN_STATUS_SUCCESS;
}

/* One thread --------------------------------------------------------------*/

static void alternate(bool wd)
{
    struct tasks t[DEVICES];

    if (gpu.device_count < DEVICES)
        skip_because("fewer than two GPUs");
    for (int d = 0; d < DEVICES; d++)
        open_tasks(&t[d], d, wd);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < PROBLEMS; i++)
            for (int op = 0; op < UC_OPERATIONS; op++)
                for (int d = 0; d < DEVICES; d++) {
                    assert_true(make_current(d));
                    assert_true(call_task(&t[d].of[i][op]));
                }
    for (int d = 0; d < DEVICES; d++)
        check_tasks(&t[d]);
}

static void one_thread_alternates_between_devices(void **state)
{
    (void)state;
    alternate(false);
}

static void one_thread_alternates_with_the_librarys_workspaces(void **state)
{
    (void)state;
    alternate(true);
}

/* Two threads -------------------------------------------------------------*/

/** No assertions: cmocka's are for one thread. */
static void *work(void *argument)
{
    struct tasks *t = argument;

    t->failures += !make_current(t->device);
    for (int round = 0; round < THREAD_ROUNDS; round++)
        for (int i = 0; i < PROBLEMS; i++)
            for (int op = 0; op < UC_OPERATIONS; op++)
                t->failures += !call_task(&t->of[i][op]);
    return NULL;
}

static void share(bool wd)
{
    struct tasks t[DEVICES];
    pthread_t threads[DEVICES];

    if (gpu.device_count < DEVICES)
        skip_because("fewer than two GPUs");
    for (int d = 0; d < DEVICES; d++)
        open_tasks(&t[d], d, wd);
    for (int d = 0; d < DEVICES; d++)
        assert_int_equal(pthread_create(&threads[d], NULL, work, &t[d]), 0);
    for (int d = 0; d < DEVICES; d++)
        assert_int_equal(pthread_join(threads[d], NULL), 0);
    for (int d = 0; d < DEVICES; d++)
        check_tasks(&t[d]);
}

static void two_threads_have_a_device_each(void **state)
{
    (void)state;
    share(false);
}

static void two_threads_have_the_librarys_workspaces_on_each(void **state)
{
    (void)state;
    share(true);
}

/* Setup -------------------------------------------------------------------*/

/** Opens both devices and plans for each kind of device. */
static void open_devices(const char *path)
{
    struct uc_error err;

    devices[0] = gpu;
    if (uc_gpu_open(&devices[1], 1, &err) != UC_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    for (int d = 0; d < DEVICES; d++) {
        if (!make_current(d))
            exit(1);
        gpu_plan_add(path, UC_PLAN_WR, wr_problems, PROBLEMS);
        /* Else no memory would be the library's own. */
        assert_true(gpu_plan_add(path, UC_PLAN_WD, wd_problems, PROBLEMS) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_alternates_between_devices),
        cmocka_unit_test(one_thread_alternates_with_the_librarys_workspaces),
        cmocka_unit_test(two_threads_have_a_device_each),
        cmocka_unit_test(two_threads_have_the_librarys_workspaces_on_each),
    };

    if (!gpu_open())
        return 77;
    if (gpu.device_count < DEVICES) {
        puts("# one GPU only");
    } else {
        const char *path = gpu_plan_path();

        open_devices(path);
        setenv("UCUDNN_PLAN", path, 1);
        setenv("UCUDNN_LOG", "warning", 1);
        gpu_count_calls();
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
