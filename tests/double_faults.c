/* What the double breaks and says when told so by the environment. */
#include "config.h"

#include "tests/double_support.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void faults_strike_what_they_name(void **state)
{
    struct uc_case c;

    (void)state;
    double_with("UC_DOUBLE_FAULT",
                "fail:op=forward,algorithm=1,n=4,beta=0,at=2,status=4000");
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(uc_case_run_once(&c), 0);
    assert_int_equal(uc_case_run_sized(&c, UC_DOUBLE_FORWARD, 0, 1, 0), 0);
    assert_int_equal(uc_case_run_sized(&c, UC_DOUBLE_FORWARD, 1, 1, 1), 0);
    assert_int_equal(uc_case_run_sized(&c, UC_DOUBLE_BACKWARD_DATA, 1, 1, 0),
                     0);
    assert_int_equal(uc_case_run_once(&c), CUDNN_STATUS_INTERNAL_ERROR);
    assert_int_equal(uc_case_run_once(&c), 0);
    uc_case_free(&c);
    double_close();
}

static void faults_spoil_results(void **state)
{
    struct uc_case c;
    double *right;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(uc_case_run_once(&c), 0);
    uc_case_download(&c, Y);
    right = malloc(c.count[Y] * sizeof *right);
    assert_non_null(right);
    memcpy(right, c.host[Y], c.count[Y] * sizeof *right);
    /* the same tensors in a world that goes wrong */
    uc_case_free(&c);
    double_close();
    double_with("UC_DOUBLE_FAULT", "wrong:at=1;nan:at=2;slow:at=3,factor=3;"
                                   "workspace:factor=1.5");
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(uc_case_run_once(&c), 0);
    assert_int_equal(c.workspace_bytes, 1536);
    uc_case_download(&c, Y);
    right[0] = c.host[Y][0];
    assert_int_equal(uc_case_run_once(&c), 0);
    uc_case_download(&c, Y);
    assert_true(fabs(right[0] - c.host[Y][0] - 1) < 1e-6);
    assert_true(isnan(c.host[Y][c.count[Y] - 1]));
    assert_true(uc_case_time(&c, UC_DOUBLE_FORWARD, 1, 0) > 33648);
    assert_true(uc_case_time(&c, UC_DOUBLE_FORWARD, 1, 0) == 33648);
    free(right);
    uc_case_free(&c);
    double_close();
}

static void faults_write_out_of_bounds(void **state)
{
    struct uc_case c;

    (void)state;
    double_with("UC_DOUBLE_FAULT", "write-output;write-workspace");
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(uc_case_run_once(&c), 0);
    assert_int_equal(cuMemFree(c.device[Y]), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuMemFree(c.workspace), CUDA_ERROR_ILLEGAL_ADDRESS);
    c.device[Y] = c.workspace = 0;
    double_expect_misuses(2);
    uc_case_free(&c);
    double_close();
}

/** How a child ends that runs one convolution and waits for it. */
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
        result = uc_case_run_once(&c);
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
    double_with("UC_DOUBLE_FAULT", "out-of-memory:at=2");
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
    double_with("UC_DOUBLE_DEVICES", "0");
    assert_int_equal(cuInit(0), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cuGetErrorString(CUDA_ERROR_NO_DEVICE, &text), 0);
    assert_string_equal(text, "no CUDA-capable device is detected");
    assert_int_equal(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    setenv("UC_DOUBLE_DEVICE_NAME", "One,Two", 1);
    setenv("UC_DOUBLE_CUDNN_VERSION", "80905", 1);
    double_with("UC_DOUBLE_DEVICES", "3");
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
    double_expect_misuses(1);
    assert_int_equal(cuDevicePrimaryCtxRelease(1), 0);
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
    double_with("UC_DOUBLE_LOG", path);
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(uc_case_run_once(&c), 0);
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

#define TEST(function) cmocka_unit_test_setup(function, double_fresh)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(faults_strike_what_they_name), TEST(faults_spoil_results),
        TEST(faults_write_out_of_bounds),   TEST(faults_end_the_process),
        TEST(allocations_fail_when_told),   TEST(devices_are_as_told),
        TEST(cuda_is_dead_after_fork),      TEST(the_log_tells_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
