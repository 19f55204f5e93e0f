/*
 * ucudnn_find_operation() on the double: what is found, and why something is
 * not.
 */
#include "config.h"

#include "tests/api_support.h"

static struct uc_case c;

static int open_case(void **state)
{
    double_fresh(state);
    double_open();
    uc_case_open(&c, &seven, UC_NUMBER_FP32, NCHW);
    return 0;
}

static int close_case(void **state)
{
    (void)state;
    uc_case_free(&c);
    double_expect_misuses(0);
    double_close();
    return 0;
}

/** Not found, for this reason; the output stays. */
static void assert_not_found(ucudnn_plan_file *file, int kind,
                             ucudnn_status status, const char *words)
{
    ucudnn_counters before = { .struct_size = sizeof before }, after = before;
    const ucudnn_operation *const kept = (const void *)&before;
    const ucudnn_operation *out = kept;
    char reason[256] = "";

    ucudnn_get_counters(file, &before);
    assert_int_equal(api_find(file, &c, kind, &out, reason, sizeof reason),
                     status);
    assert_ptr_equal(out, kept);
    if (strstr(reason, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", reason, words);
    ucudnn_get_counters(file, &after);
    assert_int_equal(after.not_found, before.not_found + 1);
}

static void each_operation_is_found_by_its_kind(void **state)
{
    static const size_t pieces[] = { 2, 2, 3 };
    ucudnn_plan_file *file = api_seven("fp32", "nchw");
    ucudnn_operation_info info = { .struct_size = sizeof info };
    ucudnn_counters counters = { .struct_size = sizeof counters };

    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        const ucudnn_operation *o = NULL, *again = NULL;

        assert_int_equal(api_find(file, &c, kind, &o, NULL, 0), UCUDNN_OK);
        assert_int_equal(api_find(file, &c, kind, &again, NULL, 0), UCUDNN_OK);
        assert_ptr_equal(o, again);
        assert_ptr_equal(o, ucudnn_get_operation(file, 0, (size_t)kind));
        assert_int_equal(ucudnn_describe_operation(o, &info), UCUDNN_OK);
        assert_int_equal(info.kind, kind);
        assert_int_equal(info.batch, 7);
        assert_int_equal(info.workspace_bytes, FIRST_WORKSPACE);
        assert_int_equal(info.predicted_ns, 7000);
        assert_int_equal(info.micro_batches, 3);
        assert_int_equal(info.piece_count, pieces[kind]);
    }
    ucudnn_get_counters(file, &counters);
    assert_int_equal(counters.not_found, 0);
    ucudnn_close_plan_file(file);
}

static void finding_enqueues_and_allocates_nothing_on_the_device(void **state)
{
    ucudnn_plan_file *file = api_seven("fp32", "nchw");
    const ucudnn_operation *o = NULL;
    uint64_t allocations = uc_double_count(UC_DOUBLE_ALLOCATIONS);

    (void)state;
    assert_int_equal(api_find(file, &c, UCUDNN_FORWARD, &o, NULL, 0),
                     UCUDNN_OK);
    assert_int_equal(uc_double_count(UC_DOUBLE_CONVOLUTIONS), 0);
    assert_int_equal(uc_double_count(UC_DOUBLE_SYNCHRONISATIONS), 0);
    assert_int_equal(uc_double_count(UC_DOUBLE_ALLOCATIONS), allocations);
    ucudnn_close_plan_file(file);
}

static void closing_frees_what_finding_made(void **state)
{
    ucudnn_plan_file *file = api_seven("fp32", "nchw");
    const ucudnn_operation *o = NULL;
    uint64_t live = uc_double_count(UC_DOUBLE_LIVE);

    (void)state;
    assert_int_equal(api_find(file, &c, UCUDNN_FORWARD, &o, NULL, 0),
                     UCUDNN_OK);
    assert_true(uc_double_count(UC_DOUBLE_LIVE) > live);
    ucudnn_close_plan_file(file);
    assert_int_equal(uc_double_count(UC_DOUBLE_LIVE), live);
}

static void what_is_not_planned_names_the_field(void **state)
{
    ucudnn_plan_file *file = api_seven("fp32", "nchw");
    const int pad[] = { 0, 0 }, ones[] = { 1, 1 };
    const int smaller[] = { 6, 2, 8, 8 }, images[] = { 6, 3, 8, 8 };
    const int inner[] = { 6, 3, 6, 6 }, steps[] = { 108, 36, 6, 1 };

    (void)state;
    assert_int_equal(
        cudnnSetConvolutionMathType(c.convolution, CUDNN_DEFAULT_MATH), 0);
    assert_not_found(file, UCUDNN_FORWARD, UCUDNN_NOT_PLANNED, "math");
    assert_int_equal(cudnnSetConvolutionMathType(c.convolution, CUDNN_FMA_MATH),
                     0);
    assert_int_equal(cudnnSetTensorNdDescriptor(c.x, CUDNN_DATA_FLOAT, 4,
                                                smaller, c.step[X]),
                     0);
    assert_int_equal(
        cudnnSetTensorNdDescriptor(c.y, CUDNN_DATA_FLOAT, 4, images, c.step[Y]),
        0);
    assert_not_found(file, UCUDNN_BACKWARD_DATA, UCUDNN_NOT_PLANNED, "batch");
    assert_int_equal(cudnnSetConvolutionNdDescriptor(
                         c.convolution, 2, pad, ones, ones,
                         CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                     0);
    /* Without padding the output is no longer 8x8. */
    assert_not_found(file, UCUDNN_BACKWARD_FILTER, UCUDNN_UNSUPPORTED,
                     "output extents");
    assert_int_equal(
        cudnnSetTensorNdDescriptor(c.y, CUDNN_DATA_FLOAT, 4, inner, steps), 0);
    assert_not_found(file, UCUDNN_BACKWARD_FILTER, UCUDNN_NOT_PLANNED,
                     "padding");
    ucudnn_close_plan_file(file);
}

static void descriptors_no_plan_knows_are_unsupported(void **state)
{
    ucudnn_plan_file *file = api_seven("fp32", "nchw");

    (void)state;
    /* A descriptor that was never set. */
    assert_int_equal(cudnnDestroyTensorDescriptor(c.x), 0);
    assert_int_equal(cudnnCreateTensorDescriptor(&c.x), 0);
    assert_not_found(file, UCUDNN_FORWARD, UCUDNN_UNSUPPORTED,
                     "number of dimensions");
    ucudnn_close_plan_file(file);
}

static void bad_arguments_are_refused(void **state)
{
    ucudnn_plan_file *file = api_seven("fp32", "nchw");
    const ucudnn_operation *o = NULL;
    char reason[64] = "";

    (void)state;
    assert_int_equal(api_find(NULL, &c, 0, &o, reason, sizeof reason),
                     UCUDNN_BAD_ARGUMENT);
    assert_string_equal(reason, "bad argument");
    assert_int_equal(api_find(file, &c, 3, &o, NULL, 0), UCUDNN_BAD_ARGUMENT);
    assert_int_equal(api_find(file, &c, -1, &o, NULL, 0), UCUDNN_BAD_ARGUMENT);
    assert_int_equal(api_find(file, &c, 0, NULL, NULL, 0), UCUDNN_BAD_ARGUMENT);
    assert_int_equal(ucudnn_find_operation(file, NULL, UCUDNN_FORWARD, c.x, c.w,
                                           c.convolution, c.y, &o, NULL, 0),
                     UCUDNN_BAD_ARGUMENT);
    assert_int_equal(ucudnn_find_operation(file, double_handle, UCUDNN_FORWARD,
                                           c.x, NULL, c.convolution, c.y, &o,
                                           NULL, 0),
                     UCUDNN_BAD_ARGUMENT);
    assert_null(o);
    ucudnn_close_plan_file(file);
}

/** What each way of matching answers for a plan. */
static void assert_matches(const struct uc_plan *plan, ucudnn_status exact,
                           ucudnn_status device, const char *words)
{
    const ucudnn_status expected[] = { exact, device, UCUDNN_OK };

    for (int match = 0; match < 3; match++) {
        ucudnn_open_options options = { sizeof options, (ucudnn_match)match,
                                        0 };
        ucudnn_plan_file *file = api_open(plan, &options);
        const ucudnn_operation *o = NULL;

        if (expected[match] == UCUDNN_OK)
            assert_int_equal(api_find(file, &c, 0, &o, NULL, 0), UCUDNN_OK);
        else
            assert_not_found(file, 0, expected[match], words);
        ucudnn_close_plan_file(file);
    }
}

static void a_plan_of_another_device_is_used_only_when_asked(void **state)
{
    struct uc_plan plan;

    (void)state;
    api_plan(&plan, "fp32", "nchw");
    assert_matches(&plan, UCUDNN_OK, UCUDNN_OK, "");
    plan.environment.versions.driver[0] = 'x';
    assert_matches(&plan, UCUDNN_OK, UCUDNN_OK, "");
    plan.environment.versions.cudnn--;
    assert_matches(&plan, UCUDNN_OTHER_DEVICE, UCUDNN_OK, "cudnn version");
    plan.environment.device.multiprocessors++;
    assert_matches(&plan, UCUDNN_OTHER_DEVICE, UCUDNN_OTHER_DEVICE,
                   "multiprocessors");
    strcpy(plan.environment.device.name, "Another");
    assert_matches(&plan, UCUDNN_OTHER_DEVICE, UCUDNN_OTHER_DEVICE,
                   "device name");
    uc_plan_free(&plan);
}

static void without_a_current_device_nothing_is_found(void **state)
{
    ucudnn_plan_file *file = api_seven("fp32", "nchw");
    CUcontext context;

    (void)state;
    assert_int_equal(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    assert_int_equal(cuCtxSetCurrent(NULL), CUDA_SUCCESS);
    assert_not_found(file, 0, UCUDNN_OTHER_DEVICE, "no device is current");
    assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ucudnn_close_plan_file(file);
}

/** Two plans have it: the later one, unless it is another device's. */
static void the_newest_usable_plan_is_taken(void **state)
{
    ucudnn_plan_file *file = NULL;
    const ucudnn_operation *o = NULL;
    struct uc_plan plan;

    (void)state;
    api_plan(&plan, "fp32", "nchw");
    assert_done(uc_plans_write(in_folder("two"), &plan, 1, err));
    plan.limit_bytes = 2048;
    assert_done(uc_plans_write(in_folder("two"), &plan, 1, err));
    plan.limit_bytes = 4096;
    strcpy(plan.environment.device.name, "Another");
    assert_done(uc_plans_write(in_folder("two"), &plan, 1, err));
    uc_plan_free(&plan);
    assert_int_equal(
        ucudnn_open_plan_file(in_folder("two"), NULL, &file, NULL, 0),
        UCUDNN_OK);
    assert_int_equal(api_find(file, &c, 0, &o, NULL, 0), UCUDNN_OK);
    assert_ptr_equal(o, ucudnn_get_operation(file, 1, 0));
    ucudnn_close_plan_file(file);
}

static void what_cudnn_refuses_is_not_found(void **state)
{
    ucudnn_plan_file *file;
    struct uc_plan plan;

    (void)state;
    api_plan(&plan, "fp32", "nchw");
    plan.operations[0].pieces[0].kernel.algorithm = 3; /* never supported */
    file = api_open(&plan, NULL);
    uc_plan_free(&plan);
    for (int i = 0; i < 2; i++)
        assert_not_found(
            file, 0, UCUDNN_REFUSED,
            "not made ready: direct/fma: cuDNN: CUDNN_STATUS_NOT_SUPPORTED");
    ucudnn_close_plan_file(file);
}

static ucudnn_plan_file *open_engine(int engine)
{
    struct uc_plan plan;
    ucudnn_plan_file *file;

    api_plan(&plan, "fp32", "nchw");
    for (size_t i = 0; i < plan.operations[0].piece_count; i++)
        plan.operations[0].pieces[i].kernel =
            (struct uc_kernel){ .api = UC_API_GRAPH, .engine = engine };
    file = api_open(&plan, NULL);
    uc_plan_free(&plan);
    return file;
}

/** Engine 7 uses tensor cores, which the plan does not say. */
static void what_is_weaker_than_planned_is_not_found(void **state)
{
    ucudnn_plan_file *file = open_engine(7);

    (void)state;
    assert_not_found(file, 0, UCUDNN_REFUSED,
                     "eng7 computes in weaker arithmetic than planned");
    ucudnn_close_plan_file(file);
}

static void an_engine_is_not_found_under_capture_the_first_time(void **state)
{
    ucudnn_plan_file *file = open_engine(0);
    const ucudnn_operation *o = NULL;
    CUgraph graph;
    CUstream stream;

    (void)state;
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    assert_int_equal(cudnnSetStream(double_handle, (cudaStream_t)stream), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), 0);
        if (i == 0)
            assert_not_found(file, 0, UCUDNN_CAPTURE, "being captured");
        else
            assert_int_equal(api_find(file, &c, 0, &o, NULL, 0), UCUDNN_OK);
        assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
        assert_int_equal(cuGraphDestroy(graph), 0);
        assert_int_equal(api_find(file, &c, 0, &o, NULL, 0), UCUDNN_OK);
    }
    assert_int_equal(cudnnSetStream(double_handle, NULL), 0);
    assert_int_equal(cuStreamDestroy(stream), 0);
    ucudnn_close_plan_file(file);
}

/** cuDNN asks for twice the planned workspace: its word counts. */
static void the_workspace_is_what_cudnn_asks_for_now(void **state)
{
    ucudnn_plan_file *file = api_seven("fp32", "nchw");
    ucudnn_operation_info info = { .struct_size = sizeof info };
    const ucudnn_operation *o = ucudnn_get_operation(file, 0, 0);

    (void)state;
    ucudnn_describe_operation(o, &info);
    assert_int_equal(info.workspace_bytes, FIRST_WORKSPACE);
    uc_case_free(&c);
    double_close();
    double_with("UC_DOUBLE_FAULT", "workspace:factor=2");
    double_open();
    uc_case_open(&c, &seven, UC_NUMBER_FP32, NCHW);
    assert_int_equal(api_find(file, &c, 0, &o, NULL, 0), UCUDNN_OK);
    ucudnn_describe_operation(o, &info);
    assert_int_equal(info.workspace_bytes, 2 * FIRST_WORKSPACE);
    ucudnn_close_plan_file(file);
}

static void another_major_version_is_no_cudnn(void **state)
{
    const ucudnn_open_options options = { sizeof options, UCUDNN_MATCH_DEVICE,
                                          0 };
    ucudnn_plan_file *file;
    struct uc_plan plan;

    (void)state;
    api_plan(&plan, "fp32", "nchw");
    file = api_open(&plan, &options);
    uc_plan_free(&plan);
    uc_case_free(&c);
    double_close();
    double_with("UC_DOUBLE_CUDNN_VERSION", "8902");
    double_open();
    uc_case_open(&c, &seven, UC_NUMBER_FP32, NCHW);
    assert_not_found(file, 0, UCUDNN_NO_CUDNN, "major version 9");
    ucudnn_close_plan_file(file);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_case, close_case)
    const struct CMUnitTest tests[] = {
        CASE(each_operation_is_found_by_its_kind),
        CASE(finding_enqueues_and_allocates_nothing_on_the_device),
        CASE(closing_frees_what_finding_made),
        CASE(what_is_not_planned_names_the_field),
        CASE(descriptors_no_plan_knows_are_unsupported),
        CASE(bad_arguments_are_refused),
        CASE(a_plan_of_another_device_is_used_only_when_asked),
        CASE(without_a_current_device_nothing_is_found),
        CASE(the_newest_usable_plan_is_taken),
        CASE(what_cudnn_refuses_is_not_found),
        CASE(what_is_weaker_than_planned_is_not_found),
        CASE(an_engine_is_not_found_under_capture_the_first_time),
        CASE(the_workspace_is_what_cudnn_asks_for_now),
        CASE(another_major_version_is_no_cudnn),
    };
#undef CASE

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
