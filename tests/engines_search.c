/*
 * The search for graph kernels, by the real cuDNN, for a described H200: no
 * GPU is needed. Exits with 77, which means skipped, without cuDNN.
 */
#include "config.h"

#include "tests/db_support.h"
#include "tests/unit.h"

#include "db/profile.h"
#include "runtime/engines.h"

#include <stdio.h>
#include <string.h>

/** Not the leak sanitizer's business: cuDNN keeps memory of libraries that it
    has loaded and unloaded, which then cannot even be named. */
int __lsan_is_turned_off(void); /* NOLINT(bugprone-reserved-identifier) */
int __lsan_is_turned_off(void)  /* NOLINT(bugprone-reserved-identifier) */
{
    return 1;
}

static struct uc_cudnn cudnn;
static struct uc_graph_place place;

static struct uc_engine_candidate *search(const char *text, int64_t size,
                                          int64_t batch, bool accumulate,
                                          size_t *count)
{
    struct uc_engine_candidate *list = NULL;
    struct uc_engines *engines = NULL;
    struct uc_problem problem;
    struct uc_error err;

    assert_int_equal(uc_problem_parse(text, &problem, &err), UC_OK);
    assert_int_equal(uc_engines_open(&cudnn, &place, &problem, batch,
                                     accumulate, true, &engines),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(uc_engines_at(engines, size, &list, count),
                     CUDNN_STATUS_SUCCESS);
    uc_engines_close(engines);
    return list;
}

static bool holds(const struct uc_engine_candidate *list, size_t count,
                  const struct uc_kernel *kernel)
{
    for (size_t i = 0; i < count; i++)
        if (uc_kernel_equal(&list[i].kernel, kernel))
            return true;
    return false;
}

static const char *const problems[] = {
    "forward:fp32:tf32:nchw:c96:k256:i27x27:f5x5:p2x2",
    "backward-data:fp32:fma:nchw:c64:k64:i56x56:f3x3:p1x1",
    "backward-filter:fp16:fp16:nhwc:c64:k128:i28x28:f3x3:p1x1:s2x2",
    "forward:fp32:tf32:nchw:c32:k64:i24x24x24:f3x3x3:p1x1x1",
};

static void every_candidate_is_listed_once_and_read_back(void **state)
{
    (void)state;
    for (size_t p = 0; p < UNIT_COUNT(problems); p++) {
        struct uc_problem problem;
        struct uc_error err;
        size_t count = 0;
        struct uc_engine_candidate *list =
            search(problems[p], 32, 64, false, &count);

        assert_int_equal(uc_problem_parse(problems[p], &problem, &err), UC_OK);
        assert_true(count >= 10);
        for (size_t i = 0; i < count; i++) {
            char text[UC_KERNEL_TEXT];
            struct uc_kernel back;

            assert_null(uc_kernel_fault(&list[i].kernel, problem.operation));
            assert_false(holds(list, i, &list[i].kernel));
            uc_kernel_print(&list[i].kernel, problem.operation, text);
            assert_int_equal(
                uc_kernel_parse(text, problem.operation, &back, &err), UC_OK);
            assert_true(uc_kernel_equal(&back, &list[i].kernel));
        }
        free(list);
    }
}

/** What is searched is stored, and planned from, by its text. */
static void candidates_survive_a_profile_and_keep_the_arithmetic(void **state)
{
    const struct uc_environment env = { .device = { .name = "NVIDIA H200" } };
    const char *path = in_folder("engines.profile");

    (void)state;
    for (size_t p = 0; p < UNIT_COUNT(problems); p++) {
        struct uc_profile *profile = NULL;
        struct uc_measurement *rows = NULL;
        struct uc_problem problem;
        struct uc_error err;
        size_t found = 0, count = 0, strict = 0;
        int64_t id;
        struct uc_engine_candidate *list =
            search(problems[p], 32, 64, false, &found);

        assert_int_equal(uc_problem_parse(problems[p], &problem, &err), UC_OK);
        assert_int_equal(
            uc_profile_open(path, UC_PROFILE_WRITE, &profile, &err), UC_OK);
        assert_int_equal(uc_profile_add_environment(profile, &env, &id, &err),
                         UC_OK);
        for (size_t i = 0; i < found; i++) {
            const struct uc_measurement row = {
                .micro_batch = 32,
                .kernel = list[i].kernel,
                .outcome = UC_MEASURED,
                .notes = list[i].notes,
                .workspace_bytes = list[i].workspace_bytes,
                .time_ns = 1,
                .error = -1,
            };

            strict += uc_notes_keep_math(list[i].notes, &problem);
            assert_int_equal(
                uc_profile_store(profile, id, &problem, &row, &err), UC_OK);
        }
        assert_int_equal(
            uc_profile_load(profile, id, &problem, &rows, &count, &err), UC_OK);
        assert_int_equal(count, found);
        for (size_t i = 0; i < count; i++)
            assert_true(holds(list, found, &rows[i].kernel));
        /* Under fma some engines are too weak, under tf32 and fp16 none. */
        if (problem.math == UC_MATH_FMA)
            assert_true(strict > 0 && strict < found);
        else
            assert_int_equal(strict, found);
        uc_profile_close(profile);
        free(rows);
        free(list);
    }
}

/** A configuration of the same identity asks for the same workspace, and its
    plan keeps to it; plans of engines that compile are left out. */
static void a_plan_keeps_to_the_workspace_it_was_found_with(void **state)
{
    const struct uc_scaling scaling = { 1, 0 };
    struct uc_problem problem;
    struct uc_graph graph;
    struct uc_error err;
    size_t count = 0;
    struct uc_engine_candidate *list =
        search(problems[0], 32, 256, false, &count);

    (void)state;
    assert_int_equal(uc_problem_parse(problems[0], &problem, &err), UC_OK);
    assert_int_equal(
        uc_graph_open(&cudnn, &place, &problem, 32, &scaling, &graph),
        CUDNN_STATUS_SUCCESS);
    for (size_t i = 0; i < count; i++) {
        cudnnBackendDescriptor_t engine, config, plan;
        int64_t asked = -1, planned = -1;
        unsigned notes = 0;

        assert_int_equal(
            uc_graph_engine(&graph, list[i].kernel.engine, &engine, &notes),
            CUDNN_STATUS_SUCCESS);
        assert_int_equal(notes, list[i].notes);
        assert_int_equal(
            uc_graph_config(&graph, engine, &list[i].kernel, &config, &asked),
            CUDNN_STATUS_SUCCESS);
        assert_int_equal(asked, list[i].workspace_bytes);
        if (!(notes & UC_NOTE_RUNTIME_COMPILED)) {
            assert_int_equal(uc_graph_plan(&graph, config, &plan, &planned),
                             CUDNN_STATUS_SUCCESS);
            assert_true(planned <= asked);
            uc_descriptor_free(&cudnn, plan);
        }
        uc_descriptor_free(&cudnn, config);
        uc_descriptor_free(&cudnn, engine);
    }
    uc_graph_close(&graph);
    free(list);
}

static void the_whole_batch_adds_its_own_choices(void **state)
{
    size_t alone = 0, both = 0;
    struct uc_engine_candidate *few = search(problems[2], 2, 2, false, &alone);
    struct uc_engine_candidate *more =
        search(problems[2], 2, 256, false, &both);

    (void)state;
    assert_true(both > alone);
    for (size_t i = 0; i < alone; i++)
        assert_true(holds(more, both, &few[i].kernel));
    free(few);
    free(more);
}

/** How many knobs are apart; a knob that one of them leaves to cuDNN is. */
static int distance(const struct uc_kernel *a, const struct uc_kernel *b)
{
    int apart = 0, i = 0, k = 0;

    if (a->engine != b->engine)
        return UC_MAX_KNOBS;
    while (i < a->knob_count || k < b->knob_count) {
        int left = i < a->knob_count ? a->knobs[i].type : UC_KNOB_TYPES;
        int right = k < b->knob_count ? b->knobs[k].type : UC_KNOB_TYPES;

        apart += left != right || a->knobs[i].value != b->knobs[k].value;
        i += left <= right;
        k += right <= left;
    }
    return apart;
}

static bool is_wide(const struct uc_graph_knob *knobs, int count, int type)
{
    for (int i = 0; i < count; i++)
        if (knobs[i].type == type)
            return knobs[i].highest - knobs[i].lowest >= UC_ENGINES_KNOB_VALUES;
    fail_msg("no knob %d", type);
    return false;
}

/** What is like a kernel, by trying every value of each knob that it names, is
    in the list; how many there were. (Value -1 leaves a knob to cuDNN.) */
static size_t count_alike(const struct uc_graph *graph,
                          const struct uc_kernel *kernel,
                          const struct uc_engine_candidate *list, size_t count)
{
    struct uc_graph_knob knobs[UC_MAX_KNOBS];
    cudnnBackendDescriptor_t engine, config;
    int64_t bytes;
    unsigned notes;
    size_t found = 0;
    int knob_count = 0;

    assert_int_equal(uc_graph_engine(graph, kernel->engine, &engine, &notes),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(uc_graph_knobs(graph, engine, knobs, &knob_count),
                     CUDNN_STATUS_SUCCESS);
    for (int i = 0; i < kernel->knob_count; i++)
        for (int value = 0; value <= UC_ENGINES_KNOB_VALUES; value++) {
            struct uc_kernel other = *kernel;

            if (is_wide(knobs, knob_count, kernel->knobs[i].type))
                break;
            other.knobs[i].value = value;
            if (uc_graph_config(graph, engine, &other, &config, &bytes) !=
                CUDNN_STATUS_SUCCESS)
                continue;
            uc_descriptor_free(&cudnn, config);
            assert_true(holds(list, count, &other));
            found++;
        }
    uc_descriptor_free(&cudnn, engine);
    return found;
}

static void what_is_like_a_kernel_differs_in_one_knob(void **state)
{
    const struct uc_scaling scaling = { 1, 0 };
    size_t alike = 0;

    (void)state;
    for (size_t p = 0; p < UNIT_COUNT(problems); p++) {
        struct uc_engine_candidate *list, *near = NULL;
        struct uc_engines *engines = NULL;
        struct uc_problem problem;
        struct uc_graph graph;
        struct uc_error err;
        size_t count = 0;

        list = search(problems[p], 32, 64, false, &count);
        assert_int_equal(uc_problem_parse(problems[p], &problem, &err), UC_OK);
        assert_int_equal(uc_engines_open(&cudnn, &place, &problem, 64, false,
                                         true, &engines),
                         CUDNN_STATUS_SUCCESS);
        assert_int_equal(
            uc_graph_open(&cudnn, &place, &problem, 32, &scaling, &graph),
            CUDNN_STATUS_SUCCESS);
        for (size_t i = 0; i < count && i < 8; i++) {
            const struct uc_kernel *kernel = &list[i].kernel;
            size_t found = 0;

            if (list[i].notes & UC_NOTE_RUNTIME_COMPILED)
                continue;
            assert_int_equal(
                uc_engines_near(engines, 32, kernel, 1, &near, &found),
                CUDNN_STATUS_SUCCESS);
            assert_true(holds(near, found, kernel));
            for (size_t k = 0; k < found; k++) {
                assert_false(holds(near, k, &near[k].kernel));
                assert_true(distance(&near[k].kernel, kernel) <= 1);
                assert_int_equal(near[k].notes, list[i].notes);
            }
            alike += count_alike(&graph, kernel, near, found);
            free(near);
        }
        uc_graph_close(&graph);
        uc_engines_close(engines);
        free(list);
    }
    assert_true(alike > 100);
}

/** Split-K has 2048 values: those near the chosen one are tried. */
static void a_wide_knob_is_turned_by_steps(void **state)
{
    static const char text[] =
        "backward-filter:fp32:tf32:nchw:c64:k64:i56x56:f3x3:p1x1";
    struct uc_kernel kernel = { .api = UC_API_GRAPH }, twice, much, legacy;
    struct uc_engine_candidate *near = NULL;
    struct uc_engines *engines = NULL;
    struct uc_problem problem;
    struct uc_error err;
    size_t count = 0;

    (void)state;
    assert_int_equal(uc_problem_parse(text, &problem, &err), UC_OK);
    assert_int_equal(uc_kernel_parse("eng34 k0=120 k2=7 k5=2 k14=5",
                                     problem.operation, &kernel, &err),
                     UC_OK);
    assert_int_equal(
        uc_engines_open(&cudnn, &place, &problem, 32, false, false, &engines),
        CUDNN_STATUS_SUCCESS);
    assert_int_equal(uc_engines_near(engines, 32, &kernel, 1, &near, &count),
                     CUDNN_STATUS_SUCCESS);
    twice = much = kernel;
    twice.knobs[0].value = 240;
    much.knobs[0].value = 121;
    if (count == 0) {
        uc_engines_close(engines);
        skip_because("this cuDNN has other engines");
    }
    assert_true(holds(near, count, &kernel));
    assert_true(holds(near, count, &twice));
    assert_false(holds(near, count, &much));
    free(near);
    /* Nothing is like a legacy kernel, nor like one that is not there. */
    assert_int_equal(
        uc_kernel_parse("algo1/tf32", problem.operation, &legacy, &err), UC_OK);
    assert_int_equal(uc_engines_near(engines, 32, &legacy, 1, &near, &count),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 0);
    free(near);
    kernel.engine = UC_ENGINES - 1;
    assert_int_equal(uc_engines_near(engines, 32, &kernel, 1, &near, &count),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 0);
    free(near);
    uc_engines_close(engines);
}

static void fp32_has_engines_with_and_without_tensor_cores(void **state)
{
    size_t count = 0, with = 0, without = 0, rounding = 0;
    struct uc_engine_candidate *list =
        search(problems[0], 32, 32, false, &count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        with += (list[i].notes & UC_NOTE_TENSOR_CORE) != 0;
        without += (list[i].notes & UC_NOTE_TENSOR_CORE) == 0;
        rounding += (list[i].notes & UC_NOTE_DOWN_CONVERT) != 0;
    }
    assert_true(with > 0 && without > 0 && rounding > 0);
    free(list);
}

static void fp64_has_engines_without_tensor_cores_only(void **state)
{
    size_t count = 0;
    struct uc_engine_candidate *list = search(
        "forward:fp64:fma:nchw:c4:k4:i8x8:f3x3:p1x1", 3, 3, false, &count);

    (void)state;
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(list[i].notes & UC_NOTE_TENSOR_CORE, 0);
    free(list);
}

/** The described device; false when cuDNN is missing or too old. */
static bool open_place(void)
{
    struct uc_builder b = { &cudnn, CUDNN_STATUS_SUCCESS };
    struct uc_error err;
    char path[512], json[4096];
    size_t length;
    FILE *file;

    if (uc_cudnn_open(&cudnn, &err) != UC_OK) {
        printf("# %s\n", err.text);
        return false;
    }
    snprintf(path, sizeof path, "%s/tests/h200-deviceprop.json",
             getenv("abs_top_srcdir"));
    file = fopen(path, "r");
    if (file == NULL) {
        printf("# no %s\n", path);
        return false;
    }
    length = fread(json, 1, sizeof json - 1, file);
    fclose(file);
    json[length] = '\0';
    place.device = uc_build(&b, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    uc_build_set(&b, place.device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                 CUDNN_TYPE_CHAR, (int64_t)length + 1, json);
    uc_build_finalize(&b, place.device);
    if (b.status != CUDNN_STATUS_SUCCESS)
        puts("# this cuDNN takes no description of a device");
    return b.status == CUDNN_STATUS_SUCCESS;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_candidate_is_listed_once_and_read_back),
        cmocka_unit_test(candidates_survive_a_profile_and_keep_the_arithmetic),
        cmocka_unit_test(a_plan_keeps_to_the_workspace_it_was_found_with),
        cmocka_unit_test(the_whole_batch_adds_its_own_choices),
        cmocka_unit_test(what_is_like_a_kernel_differs_in_one_knob),
        cmocka_unit_test(a_wide_knob_is_turned_by_steps),
        cmocka_unit_test(fp32_has_engines_with_and_without_tensor_cores),
        cmocka_unit_test(fp64_has_engines_without_tensor_cores_only),
    };

    if (!open_place())
        return 77;
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
