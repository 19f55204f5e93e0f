/*
 * ucudnn.h with the real cuDNN: operations of a plan are found by descriptors
 * and executed, compared with a direct convolution of the whole batch on the
 * CPU and with cuDNN's own undivided; captured and replayed. Linked before
 * cuDNN; exits with 77, which means skipped, without a GPU.
 */
#include "config.h"

#include "tests/gpu_client.h"
#include "tests/gpu_plan.h"

#include "planner/measure.h"
#include "runtime/runner.h"
#include "runtime/ucudnn.h"

#include <stdlib.h>

static const char *const problems[] = {
    "forward:fp32:fma:nchw:c8:k16:i14x14:f3x3:p1x1",
    "forward:fp32:tf32:nhwc:c16:k16:i14x14:f3x3:p1x1",
    "forward:fp16:fp16:nhwc:c16:k32:i14x14:f3x3:p1x1:s2x2",
    "forward:fp64:fma:nchw:c4:k4:i8x8:f3x3:p1x1",
    "forward:fp32:fma:nchw:c8:k16:i12x12:f3x3:p1x1:g4",
    "forward:fp32:tf32:nchw:c8:k8:i8x8x8:f3x3x3:p1x1x1",
};

static const char *plan_path;

static ucudnn_plan_file *open_file(void)
{
    ucudnn_plan_file *file = NULL;
    char error[256] = "";

    if (ucudnn_open_plan_file(plan_path, NULL, &file, error, sizeof error) !=
        UCUDNN_OK)
        fail_msg("%s", error);
    return file;
}

/** One operation: its tensors, descriptors, and place in an open file. */
struct subject {
    struct gpu_fixture fixture;
    struct gpu_descriptors descriptors;
    const ucudnn_operation *operation;
    size_t bytes;
    int output;
};

static void open_subject(struct subject *s, ucudnn_plan_file *file,
                         const char *text, int kind)
{
    ucudnn_operation_info info = { .struct_size = sizeof info };
    struct gpu_descriptors *d = &s->descriptors;
    struct uc_problem problem;
    struct uc_error err;
    char reason[256] = "";

    assert_int_equal(uc_problem_parse(text, &problem, &err), UC_OK);
    problem.operation = (enum uc_operation)kind;
    s->output = (int)uc_operation_output(problem.operation);
    gpu_fixture_open(&s->fixture, &problem);
    *d = gpu_describe(&problem);
    if (ucudnn_find_operation(file, gpu.handle, (ucudnn_kind)kind, d->x, d->w,
                              d->convolution, d->y, &s->operation, reason,
                              sizeof reason) != UCUDNN_OK)
        fail_msg("%s", reason);
    assert_int_equal(ucudnn_describe_operation(s->operation, &info), UCUDNN_OK);
    assert_int_equal(info.kind, kind);
    assert_int_equal(info.batch, GPU_BATCH);
    assert_int_equal(info.micro_batches, 2);
    s->bytes = (size_t)info.workspace_bytes;
    assert_int_equal(
        uc_gpu_reserve(&gpu, &s->fixture.workspace, info.workspace_bytes, &err),
        UC_OK);
}

static void close_subject(struct subject *s)
{
    gpu_forget(&s->descriptors);
    gpu_fixture_close(&s->fixture);
}

static void *address(const struct uc_buffer *buffer)
{
    return (void *)buffer->data;
}

static ucudnn_status execute(struct subject *s, double alpha, double beta,
                             size_t bytes)
{
    float narrow[2] = { (float)alpha, (float)beta };
    bool wide = s->fixture.problem.x_type == UC_FP64;
    struct uc_buffer *device = s->fixture.device;

    return ucudnn_execute_operation(
        s->operation, gpu.handle, wide ? (const void *)&alpha : &narrow[0],
        address(&device[UC_X]), address(&device[UC_W]), address(&device[UC_Y]),
        wide ? (const void *)&beta : &narrow[1], address(&s->fixture.workspace),
        bytes, NULL);
}

/** Waits for the output and compares it; within the kind's tolerance. */
static void assert_right(struct subject *s, double alpha, double beta)
{
    const struct uc_problem *p = &s->fixture.problem;
    struct uc_error err;
    double error;

    assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
    error = gpu_fixture_error(&s->fixture, alpha, beta);
    if (!(error <= gpu_bound(p, 0)))
        fail_msg("%s, alpha %g, beta %g: error %g",
                 uc_operation_name(p->operation), alpha, beta, error);
}

static void prepare_output(struct subject *s, double beta)
{
    struct uc_error err;

    if (beta != 0)
        gpu_fixture_upload(&s->fixture, s->output);
    else
        assert_int_equal(
            uc_gpu_poison(&gpu, &s->fixture.device[s->output], &err), UC_OK);
}

static void the_result_is_that_of_the_whole_batch(void **state)
{
    static const double scales[][2] = { { 1, 0 }, { 2, 0 }, { 2, 0.5 } };
    ucudnn_counters counters = { .struct_size = sizeof counters };
    ucudnn_plan_file *file = open_file();

    for (int kind = 0; kind < UC_OPERATIONS; kind++) {
        struct subject s;

        open_subject(&s, file, *state, kind);
        for (size_t i = 0; i < UNIT_COUNT(scales); i++) {
            prepare_output(&s, scales[i][1]);
            assert_int_equal(execute(&s, scales[i][0], scales[i][1], s.bytes),
                             UCUDNN_OK);
            assert_right(&s, scales[i][0], scales[i][1]);
        }
        close_subject(&s);
    }
    assert_int_equal(ucudnn_get_counters(file, &counters), UCUDNN_OK);
    assert_int_equal(counters.executed, UC_OPERATIONS * UNIT_COUNT(scales));
    assert_int_equal(counters.passed_through, 0);
    assert_int_equal(counters.not_found, 0);
    ucudnn_close_plan_file(file);
}

/** The very call that a program makes when the answer is not UCUDNN_OK. */
static void cudnn_itself_gives_the_same_undivided(void **state)
{
    ucudnn_plan_file *file = open_file();
    struct subject s;
    struct uc_error err;
    const float one = 1, zero = 0;
    size_t bytes = 0;
    const cudnnConvolutionFwdAlgo_t algorithm =
        CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    struct gpu_descriptors *d = &s.descriptors;

    (void)state;
    open_subject(&s, file, problems[0], UCUDNN_FORWARD);
    assert_int_equal(
        gpu.cudnn.GetConvolutionForwardWorkspaceSize(
            gpu.handle, d->x, d->w, d->convolution, d->y, algorithm, &bytes),
        0);
    assert_int_equal(
        uc_gpu_reserve(&gpu, &s.fixture.workspace, (int64_t)bytes, &err),
        UC_OK);
    prepare_output(&s, 0);
    assert_int_equal(gpu.cudnn.ConvolutionForward(
                         gpu.handle, &one, d->x,
                         address(&s.fixture.device[UC_X]), d->w,
                         address(&s.fixture.device[UC_W]), d->convolution,
                         algorithm, address(&s.fixture.workspace), bytes, &zero,
                         d->y, address(&s.fixture.device[UC_Y])),
                     0);
    assert_right(&s, 1, 0);
    close_subject(&s);
    ucudnn_close_plan_file(file);
}

static void a_byte_too_few_of_workspace_is_refused(void **state)
{
    ucudnn_counters counters = { .struct_size = sizeof counters };
    ucudnn_plan_file *file = open_file();
    uint64_t refused = 0;

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(problems); i++)
        for (int kind = 0; kind < UC_OPERATIONS; kind++) {
            struct subject s;

            open_subject(&s, file, problems[i], kind);
            if (s.bytes > 0) {
                assert_int_equal(execute(&s, 1, 0, s.bytes - 1),
                                 UCUDNN_WORKSPACE);
                refused++;
            }
            close_subject(&s);
        }
    assert_true(refused > 0);
    assert_int_equal(ucudnn_get_counters(file, &counters), UCUDNN_OK);
    assert_int_equal(counters.passed_through, refused);
    assert_int_equal(counters.executed, 0);
    ucudnn_close_plan_file(file);
}

static void another_batch_is_not_found(void **state)
{
    ucudnn_plan_file *file = open_file();
    struct subject s;
    const ucudnn_operation *o = NULL;
    char reason[256] = "";
    const int x[] = { 4, 8, 14, 14 }, x_strides[] = { 1568, 196, 14, 1 };
    const int y[] = { 4, 16, 14, 14 }, y_strides[] = { 3136, 196, 14, 1 };
    struct gpu_descriptors *d = &s.descriptors;

    (void)state;
    open_subject(&s, file, problems[0], UCUDNN_FORWARD);
    assert_int_equal(gpu.cudnn.SetTensorNdDescriptor(d->x, CUDNN_DATA_FLOAT, 4,
                                                     x, x_strides),
                     0);
    assert_int_equal(gpu.cudnn.SetTensorNdDescriptor(d->y, CUDNN_DATA_FLOAT, 4,
                                                     y, y_strides),
                     0);
    assert_int_equal(ucudnn_find_operation(file, gpu.handle, UCUDNN_FORWARD,
                                           d->x, d->w, d->convolution, d->y, &o,
                                           reason, sizeof reason),
                     UCUDNN_NOT_PLANNED);
    assert_non_null(strstr(reason, "batch"));
    close_subject(&s);
    ucudnn_close_plan_file(file);
}

/** Refused while cold; once executed it is captured, and replays. */
static void a_warm_operation_is_captured(void **state)
{
    ucudnn_plan_file *file = open_file();
    CUgraphExec graph;
    struct subject s;

    (void)state;
    open_subject(&s, file, problems[0], UCUDNN_FORWARD);
    gpu_capture_begin();
    assert_int_equal(execute(&s, 1, 0, s.bytes), UCUDNN_CAPTURE);
    gpu_capture_end();
    assert_int_equal(execute(&s, 1, 0, s.bytes), UCUDNN_OK);
    gpu_capture_begin();
    assert_int_equal(execute(&s, 1, 0, s.bytes), UCUDNN_OK);
    graph = gpu_capture_end();
    for (int i = 0; i < 2; i++) {
        gpu_fixture_renew(&s.fixture);
        prepare_output(&s, 0);
        gpu_graph_launch(graph);
        assert_right(&s, 1, 0);
    }
    close_subject(&s);
    ucudnn_close_plan_file(file);
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(cudnn_itself_gives_the_same_undivided),
        cmocka_unit_test(a_byte_too_few_of_workspace_is_refused),
        cmocka_unit_test(another_batch_is_not_found),
        cmocka_unit_test(a_warm_operation_is_captured),
    };
    struct CMUnitTest tests[UNIT_COUNT(problems) + UNIT_COUNT(others)];

    if (!gpu_open())
        return 77;
    plan_path = gpu_plan_path();
    gpu_plan_add(plan_path, UC_PLAN_WR, problems, UNIT_COUNT(problems));
    for (size_t i = 0; i < UNIT_COUNT(problems); i++)
        tests[i] = (struct CMUnitTest){ problems[i],
                                        the_result_is_that_of_the_whole_batch,
                                        NULL, NULL, (void *)problems[i] };
    memcpy(tests + UNIT_COUNT(problems), others, sizeof others);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
