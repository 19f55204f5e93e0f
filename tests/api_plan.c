/*
 * ucudnn.h: plan files, and what is in them. This program has the double
 * linked, but none of it is called.
 */
#include "config.h"

#include "tests/plan_support.h"

#include "runtime/ucudnn.h"

#define STRING_(text) #text
#define STRING(text) STRING_(text)

/** The sample plan of plan_support.h, opened. */
static ucudnn_plan_file *open_sample(void)
{
    ucudnn_plan_file *file = NULL;
    struct uc_plan plan;

    sample_plan(&plan);
    assert_done(uc_plans_write(in_folder("sample"), &plan, 1, err));
    uc_plan_free(&plan);
    assert_int_equal(
        ucudnn_open_plan_file(in_folder("sample"), NULL, &file, NULL, 0),
        UCUDNN_OK);
    assert_non_null(file);
    return file;
}

static void versions_agree(void **state)
{
    (void)state;
    assert_int_equal(ucudnn_get_version(), UCUDNN_VERSION);
    assert_string_equal(
        PACKAGE_VERSION,
        STRING(UCUDNN_VERSION_MAJOR) "." STRING(
            UCUDNN_VERSION_MINOR) "." STRING(UCUDNN_VERSION_PATCH));
}

static void every_status_has_words_of_its_own(void **state)
{
    const char *unknown = ucudnn_describe_status((ucudnn_status)-1);

    (void)state;
    assert_string_equal(unknown, "unknown status");
    assert_string_equal(
        ucudnn_describe_status((ucudnn_status)(UCUDNN_INCOMPLETE + 1)),
        unknown);
    for (int i = UCUDNN_OK; i <= UCUDNN_INCOMPLETE; i++)
        for (int j = i; j <= UCUDNN_INCOMPLETE; j++) {
            const char *a = ucudnn_describe_status((ucudnn_status)i);
            const char *b = ucudnn_describe_status((ucudnn_status)j);

            assert_string_not_equal(a, unknown);
            assert_true(i == j || strcmp(a, b) != 0);
        }
}

/** Opening fails with words, and the output stays. */
static void assert_open_fails(const char *path,
                              const ucudnn_open_options *options,
                              ucudnn_status status, const char *words)
{
    ucudnn_plan_file *const before = (ucudnn_plan_file *)&status;
    ucudnn_plan_file *file = before;
    char error[256] = "";

    assert_int_equal(
        ucudnn_open_plan_file(path, options, &file, error, sizeof error),
        status);
    assert_ptr_equal(file, before);
    if (strstr(error, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error, words);
    assert_null(strchr(error, '\n'));
    assert_int_equal(ucudnn_open_plan_file(path, options, &file, NULL, 0),
                     status);
}

static void a_file_that_is_no_plan_is_refused_in_words(void **state)
{
    char small[8];
    ucudnn_plan_file *file = NULL;

    (void)state;
    assert_open_fails(in_folder("none"), NULL, UCUDNN_BAD_FILE,
                      in_folder("none"));
    write_file(in_folder("text"), "no plan", 7);
    assert_open_fails(in_folder("text"), NULL, UCUDNN_BAD_FILE,
                      in_folder("text"));
    memset(small, 'x', sizeof small);
    assert_int_equal(ucudnn_open_plan_file(in_folder("none"), NULL, &file,
                                           small, sizeof small - 1),
                     UCUDNN_BAD_FILE);
    assert_int_equal(strlen(small), sizeof small - 2);
    assert_int_equal(small[sizeof small - 1], 'x');
}

static void bad_arguments_are_refused(void **state)
{
    struct {
        ucudnn_open_options known;
        uint64_t unknown;
    } newer = { { sizeof newer, UCUDNN_MATCH_ANY, 0 }, 0 };
    ucudnn_open_options options = { sizeof options, UCUDNN_MATCH_ANY, 0 };
    ucudnn_plan_file *file = open_sample();
    const char *path = in_folder("sample");

    (void)state;
    ucudnn_close_plan_file(file);
    ucudnn_close_plan_file(NULL);
    assert_open_fails(NULL, NULL, UCUDNN_BAD_ARGUMENT, "argument");
    assert_int_equal(ucudnn_open_plan_file(path, NULL, NULL, NULL, 0),
                     UCUDNN_BAD_ARGUMENT);
    options.struct_size = 0;
    assert_open_fails(path, &options, UCUDNN_BAD_ARGUMENT, "argument");
    options.struct_size = sizeof options;
    options.match = (ucudnn_match)3;
    assert_open_fails(path, &options, UCUDNN_BAD_ARGUMENT, "argument");
    options.match = (ucudnn_match)-1;
    assert_open_fails(path, &options, UCUDNN_BAD_ARGUMENT, "argument");
    options.match = UCUDNN_MATCH_ANY;
    options.reserved = 1;
    assert_open_fails(path, &options, UCUDNN_BAD_ARGUMENT, "argument");

    /* A newer program's options: fine unless they ask for something. */
    assert_int_equal(ucudnn_open_plan_file(path, &newer.known, &file, NULL, 0),
                     UCUDNN_OK);
    ucudnn_close_plan_file(file);
    newer.unknown = 1;
    assert_open_fails(path, &newer.known, UCUDNN_BAD_ARGUMENT, "argument");
}

static void a_plan_is_described(void **state)
{
    ucudnn_plan_file *file = open_sample();
    ucudnn_plan_info info = { .struct_size = sizeof info };

    (void)state;
    assert_int_equal(ucudnn_count_plans(NULL), 0);
    assert_int_equal(ucudnn_count_plans(file), 1);
    assert_int_equal(ucudnn_describe_plan(file, 0, &info), UCUDNN_OK);
    assert_string_equal(info.network, "alexnet");
    assert_string_equal(info.device, "NVIDIA H200");
    assert_int_equal(info.cudnn_version, 91900);
    assert_int_equal(info.mode, UCUDNN_WORKSPACE_REUSE);
    assert_int_equal(info.limit_bytes, 67108864);
    assert_int_equal(info.operation_count, 3);
    assert_int_equal(info.predicted_ns, 2200000);
    assert_int_equal(info.struct_size, sizeof info);

    info.network = NULL;
    assert_int_equal(ucudnn_describe_plan(file, 1, &info), UCUDNN_BAD_ARGUMENT);
    info.struct_size--;
    assert_int_equal(ucudnn_describe_plan(file, 0, &info), UCUDNN_BAD_ARGUMENT);
    assert_null(info.network);
    assert_int_equal(ucudnn_describe_plan(file, 0, NULL), UCUDNN_BAD_ARGUMENT);
    assert_int_equal(ucudnn_describe_plan(NULL, 0, &info), UCUDNN_BAD_ARGUMENT);
    ucudnn_close_plan_file(file);
}

static void a_field_behind_what_the_library_knows_is_left_alone(void **state)
{
    struct {
        ucudnn_counters known;
        int unknown;
    } newer = { { .struct_size = sizeof newer, .executed = 7 }, 5 };
    ucudnn_plan_file *file = open_sample();

    (void)state;
    assert_int_equal(ucudnn_get_counters(file, &newer.known), UCUDNN_OK);
    assert_int_equal(newer.known.executed, 0);
    assert_int_equal(newer.known.passed_through, 0);
    assert_int_equal(newer.known.not_found, 0);
    assert_int_equal(newer.known.struct_size, sizeof newer);
    assert_int_equal(newer.unknown, 5);
    assert_int_equal(ucudnn_get_counters(NULL, &newer.known),
                     UCUDNN_BAD_ARGUMENT);
    assert_int_equal(ucudnn_get_counters(file, NULL), UCUDNN_BAD_ARGUMENT);
    ucudnn_close_plan_file(file);
}

static void operations_are_described(void **state)
{
    static const struct {
        const char *layer, *problem;
        int64_t bytes, ns, micro_batches;
        size_t pieces;
    } expected[] = {
        { "conv2", "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2", 60000000,
          400000, 4, 1 },
        { "conv2", "backward-data:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2", 0,
          500000, 1, 1 },
        { "conv3", "backward-filter:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2",
          2048, 650000, 2, 2 },
    };
    ucudnn_plan_file *file = open_sample();
    ucudnn_operation_info info = { .struct_size = sizeof info };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(expected); i++) {
        const ucudnn_operation *o = ucudnn_get_operation(file, 0, i);

        assert_int_equal(ucudnn_describe_operation(o, &info), UCUDNN_OK);
        assert_string_equal(info.layer, expected[i].layer);
        assert_int_equal(info.kind, i);
        assert_string_equal(info.problem, expected[i].problem);
        assert_int_equal(info.batch, 256);
        assert_int_equal(info.workspace_bytes, expected[i].bytes);
        assert_int_equal(info.predicted_ns, expected[i].ns);
        assert_int_equal(info.piece_count, expected[i].pieces);
        assert_int_equal(info.micro_batches, expected[i].micro_batches);
    }
    assert_null(ucudnn_get_operation(file, 0, 3));
    assert_null(ucudnn_get_operation(file, 1, 0));
    assert_null(ucudnn_get_operation(NULL, 0, 0));
    assert_int_equal(ucudnn_describe_operation(NULL, &info),
                     UCUDNN_BAD_ARGUMENT);
    info.struct_size = 0;
    assert_int_equal(
        ucudnn_describe_operation(ucudnn_get_operation(file, 0, 0), &info),
        UCUDNN_BAD_ARGUMENT);
    ucudnn_close_plan_file(file);
}

static void pieces_are_described(void **state)
{
    ucudnn_plan_file *file = open_sample();
    const ucudnn_operation *forward = ucudnn_get_operation(file, 0, 0);
    const ucudnn_operation *filter = ucudnn_get_operation(file, 0, 2);
    ucudnn_piece_info info = { .struct_size = sizeof info };

    (void)state;
    assert_int_equal(ucudnn_describe_piece(forward, 0, &info), UCUDNN_OK);
    assert_int_equal(info.size, 64);
    assert_int_equal(info.count, 4);
    assert_string_equal(info.kernel, "winograd/tf32");
    assert_int_equal(info.workspace_bytes, 60000000);
    assert_int_equal(info.predicted_ns, 100000);
    assert_int_equal(ucudnn_describe_piece(filter, 1, &info), UCUDNN_OK);
    assert_int_equal(info.size, 128);
    assert_int_equal(info.count, 1);
    assert_string_equal(info.kernel, "algo1/tf32");
    assert_int_equal(info.predicted_ns, 350000);
    assert_int_equal(ucudnn_describe_piece(forward, 1, &info),
                     UCUDNN_BAD_ARGUMENT);
    assert_int_equal(ucudnn_describe_piece(NULL, 0, &info),
                     UCUDNN_BAD_ARGUMENT);
    assert_int_equal(ucudnn_describe_piece(filter, 0, NULL),
                     UCUDNN_BAD_ARGUMENT);
    ucudnn_close_plan_file(file);
}

/** Two layers alike are two operations by index, and two plans two. */
static void plans_of_one_file_keep_their_order(void **state)
{
    ucudnn_plan_info info = { .struct_size = sizeof info };
    ucudnn_operation_info op = { .struct_size = sizeof op };
    ucudnn_plan_file *file = NULL;
    struct uc_plan plan;

    (void)state;
    sample_plan(&plan);
    assert_done(uc_plans_write(in_folder("two"), &plan, 1, err));
    plan.limit_bytes = 128 << 20;
    strcpy(plan.operations[1].layer, "other");
    assert_done(uc_plans_write(in_folder("two"), &plan, 1, err));
    uc_plan_free(&plan);
    assert_int_equal(
        ucudnn_open_plan_file(in_folder("two"), NULL, &file, NULL, 0),
        UCUDNN_OK);
    assert_int_equal(ucudnn_count_plans(file), 2);
    assert_int_equal(ucudnn_describe_plan(file, 0, &info), UCUDNN_OK);
    assert_int_equal(info.limit_bytes, 64 << 20);
    assert_int_equal(ucudnn_describe_plan(file, 1, &info), UCUDNN_OK);
    assert_int_equal(info.limit_bytes, 128 << 20);
    ucudnn_describe_operation(ucudnn_get_operation(file, 0, 1), &op);
    assert_string_equal(op.layer, "conv2");
    ucudnn_describe_operation(ucudnn_get_operation(file, 1, 1), &op);
    assert_string_equal(op.layer, "other");
    ucudnn_close_plan_file(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_agree),
        cmocka_unit_test(every_status_has_words_of_its_own),
        cmocka_unit_test(a_file_that_is_no_plan_is_refused_in_words),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(a_plan_is_described),
        cmocka_unit_test(a_field_behind_what_the_library_knows_is_left_alone),
        cmocka_unit_test(operations_are_described),
        cmocka_unit_test(pieces_are_described),
        cmocka_unit_test(plans_of_one_file_keep_their_order),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
