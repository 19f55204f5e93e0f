/* The double's execution plans: what they need, hold and refuse. */
#include "config.h"

#include "tests/graph_support.h"

static void a_run_needs_and_spoils_its_workspace(void **state)
{
    unsigned char bytes[257];
    struct uc_case c;
    descriptor plan;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    plan = graph_plan_at(&c, UC_DOUBLE_FORWARD, 12, 0, 16);
    assert_int_equal(graph_execute(&c, plan),
                     CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    assert_int_equal(cuMemAlloc(&c.workspace, 255), 0);
    assert_int_equal(graph_execute(&c, plan), CUDNN_STATUS_BAD_PARAM);
    double_expect_misuses(1);
    assert_int_equal(cuMemFree(c.workspace), 0);
    assert_int_equal(cuMemAlloc(&c.workspace, 257), 0);
    assert_int_equal(cuMemsetD8(c.workspace, 7, 257), 0);
    assert_int_equal(graph_execute(&c, plan), 0);
    assert_int_equal(cuMemcpyDtoH(bytes, c.workspace, 257), 0);
    assert_int_equal(bytes[0], 0xFF);
    assert_int_equal(bytes[255], 0xFF);
    assert_int_equal(bytes[256], 7);
    graph_destroy(plan);
    uc_case_free(&c);
    double_close();
}

static void a_run_demands_the_alignment_that_was_told(void **state)
{
    struct uc_case c;
    CUdeviceptr room;
    CUdeviceptr y;
    descriptor plan;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_int_equal(cuMemAlloc(&room, c.count[Y] * 4 + 8), 0);
    y = c.device[Y];
    plan = graph_plan_at(&c, UC_DOUBLE_FORWARD, 0, 0, 8);
    c.device[Y] = room + 8;
    assert_int_equal(graph_execute(&c, plan), 0);
    c.device[Y] = room + 4;
    assert_int_equal(graph_execute(&c, plan),
                     CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
    double_expect_misuses(1);
    c.device[Y] = y;
    graph_destroy(plan);
    assert_int_equal(cuMemFree(room), 0);
    uc_case_free(&c);
    double_close();
}

static void what_is_no_plan_does_not_run(void **state)
{
    static const int64_t uids[3] = { 10, 11, 99 };
    struct uc_case c;
    descriptor plan;
    descriptor pack;
    descriptor config = graph_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    void *data[3];

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    plan = graph_plan_at(&c, UC_DOUBLE_FORWARD, 0, 0, 16);
    pack = graph_pack(&c);
    assert_int_equal(cudnnBackendExecute(double_handle, pack, pack),
                     CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(cudnnBackendExecute(double_handle, plan, plan),
                     CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(cudnnBackendExecute(NULL, plan, pack),
                     CUDNN_STATUS_BAD_PARAM);
    double_expect_misuses(3);
    graph_destroy(pack);
    for (int t = X; t <= Y; t++) {
        data[t] = (void *)(uintptr_t)c.device[t];
    }
    pack = graph_create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    graph_set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3,
              uids);
    graph_set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
              3, data);
    assert_int_equal(cudnnBackendExecute(double_handle, plan, pack),
                     CUDNN_STATUS_BAD_PARAM); /* not finalized */
    assert_int_equal(cudnnBackendFinalize(pack), 0);
    assert_int_equal(cudnnBackendExecute(double_handle, plan, pack),
                     CUDNN_STATUS_BAD_PARAM); /* y is missing */
    double_expect_misuses(5);
    assert_int_equal(cudnnBackendFinalize(config), CUDNN_STATUS_BAD_PARAM);
    double_expect_misuses(6); /* cuDNN would crash */
    graph_destroy(config);
    graph_destroy(pack);
    graph_destroy(plan);
    uc_case_free(&c);
    assert_int_equal(uc_double_count(UC_DOUBLE_EXECUTIONS), 5);
    double_close();
}

static void parts_live_as_long_as_they_are_held(void **state)
{
    struct uc_case c;
    descriptor plan;
    uint64_t before;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    before = uc_double_count(UC_DOUBLE_LIVE);
    plan = graph_plan_at(&c, UC_DOUBLE_FORWARD, 0, 0,
                         16); /* nothing else is left */
    assert_int_equal(uc_double_count(UC_DOUBLE_LIVE), before + 1);
    assert_int_equal(graph_execute(&c, plan), 0);
    graph_destroy(plan);
    assert_int_equal(uc_double_count(UC_DOUBLE_LIVE), before);
    uc_case_free(&c);
    double_close();
}

static void what_was_destroyed_is_not_used(void **state)
{
    struct uc_case c;
    struct graph g;
    descriptor engine;
    descriptor config = NULL;
    int64_t count;
    int64_t index;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    graph_open(&g, &c, UC_DOUBLE_FORWARD, 1, 0);
    assert_int_equal(graph_engine(&g, 0, &engine), 0);
    config = graph_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    graph_set(config, CUDNN_ATTR_ENGINECFG_ENGINE,
              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    graph_destroy(engine); /* the configuration holds it */
    assert_int_equal(
        cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                                 CUDNN_TYPE_INT64, 1, &count, &index),
        CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(cudnnBackendDestroyDescriptor(engine),
                     CUDNN_STATUS_BAD_PARAM);
    double_expect_misuses(2);
    graph_destroy(config);
    graph_close(&g);
    uc_case_free(&c);
    double_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_run_needs_and_spoils_its_workspace,
                               double_fresh),
        cmocka_unit_test_setup(a_run_demands_the_alignment_that_was_told,
                               double_fresh),
        cmocka_unit_test_setup(what_is_no_plan_does_not_run, double_fresh),
        cmocka_unit_test_setup(parts_live_as_long_as_they_are_held,
                               double_fresh),
        cmocka_unit_test_setup(what_was_destroyed_is_not_used, double_fresh),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
