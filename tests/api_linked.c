/*
 * A program that is linked with -lucudnn before cuDNN follows the plan of
 * UCUDNN_PLAN by its ordinary calls, and may make explicit calls beside.
 */
#include "config.h"

#include "tests/api_support.h"

static struct uc_case c;

/** Before the first call of cuDNN, which is when the environment is read. */
static int open_group(void **state)
{
    struct uc_plan plan;

    if (folder_setup(state) != 0)
        return -1;
    double_fresh(state);
    double_open();
    api_plan(&plan, "fp32", "nchw");
    assert_done(uc_plans_write(in_folder("plan"), &plan, 1, err));
    uc_plan_free(&plan);
    setenv("UCUDNN_PLAN", in_folder("plan"), 1);
    setenv("UCUDNN_MATCH", "exact", 1);
    uc_case_open(&c, &seven, UC_NUMBER_FP32, NCHW);
    assert_int_equal(cuMemAlloc(&c.workspace, FIRST_WORKSPACE), CUDA_SUCCESS);
    c.workspace_bytes = FIRST_WORKSPACE;
    return 0;
}

static int close_group(void **state)
{
    uc_case_free(&c);
    double_expect_misuses(0);
    double_close();
    return folder_teardown(state);
}

static void ordinary_calls_follow_the_plan(void **state)
{
    uint64_t before = uc_double_count(UC_DOUBLE_CONVOLUTIONS);

    (void)state;
    for (int op = 0; op < 3; op++)
        assert_int_equal(uc_case_run(&c, (enum uc_double_operation)op, 0, 1, 0),
                         0);
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), before + 3 * 3);
}

static void calls_of_another_batch_pass_through(void **state)
{
    uint64_t before = uc_double_count(UC_DOUBLE_CONVOLUTIONS);
    const int x[] = { 6, 2, 8, 8 }, y[] = { 6, 3, 8, 8 };

    (void)state;
    assert_int_equal(
        cudnnSetTensorNdDescriptor(c.x, CUDNN_DATA_FLOAT, 4, x, c.step[X]), 0);
    assert_int_equal(
        cudnnSetTensorNdDescriptor(c.y, CUDNN_DATA_FLOAT, 4, y, c.step[Y]), 0);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 1, 0), 0);
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), before + 1);
    assert_int_equal(cudnnSetTensorNdDescriptor(c.x, CUDNN_DATA_FLOAT, 4,
                                                c.extent[X], c.step[X]),
                     0);
    assert_int_equal(cudnnSetTensorNdDescriptor(c.y, CUDNN_DATA_FLOAT, 4,
                                                c.extent[Y], c.step[Y]),
                     0);
}

/** Explicit calls go to the real cuDNN: no micro-batch is split again. */
static void explicit_calls_are_not_intercepted(void **state)
{
    ucudnn_plan_file *file = NULL;
    const ucudnn_operation *o = NULL;
    float one = 1, zero = 0;
    uint64_t before;

    (void)state;
    assert_int_equal(
        ucudnn_open_plan_file(in_folder("plan"), NULL, &file, NULL, 0),
        UCUDNN_OK);
    assert_int_equal(api_find(file, &c, UCUDNN_FORWARD, &o, NULL, 0),
                     UCUDNN_OK);
    before = uc_double_count(UC_DOUBLE_CONVOLUTIONS);
    assert_int_equal(
        ucudnn_execute_operation(
            o, double_handle, &one, (void *)(uintptr_t)c.device[X],
            (void *)(uintptr_t)c.device[W], (void *)(uintptr_t)c.device[Y],
            &zero, (void *)(uintptr_t)c.workspace, c.workspace_bytes, NULL),
        UCUDNN_OK);
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), before + 3);
    ucudnn_close_plan_file(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_calls_follow_the_plan),
        cmocka_unit_test(calls_of_another_batch_pass_through),
        cmocka_unit_test(explicit_calls_are_not_intercepted),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
