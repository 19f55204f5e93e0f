/* The list of engines that are not to be measured: its reader and ranges. */
#include "config.h"

#include "tests/unit.h"

#include "planner/known_bad.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = "known_bad.XXXXXX";

static int set_up(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const char *reason(const struct uc_known_bad *list, int cudnn,
                          enum uc_operation operation, int spatial, int number)
{
    struct uc_problem problem = { .operation = operation, .spatial = spatial };
    struct uc_kernel kernel = { .api = UC_API_GRAPH, .engine = number };

    return uc_known_bad_reason(list, cudnn, &problem, &kernel);
}

static void ranges_are_half_open(void **state)
{
    struct uc_kernel legacy = { .api = UC_API_LEGACY };
    struct uc_problem problem = { .operation = UC_FORWARD, .spatial = 2 };
    struct uc_known_bad *list = NULL;
    struct uc_error err;

    (void)state;
    write_file("# comment\n\n  \t\n"
               "forward 3d eng23 9.8.0 9.15.0 wrong sums, seen twice\n"
               "forward 2d eng0 9.1.2 - crashes");
    assert_int_equal(uc_known_bad_read(path, &list, &err), UC_OK);
    assert_string_equal(reason(list, 90800, UC_FORWARD, 3, 23),
                        "wrong sums, seen twice");
    assert_non_null(reason(list, 91402, UC_FORWARD, 3, 23));
    assert_null(reason(list, 90799, UC_FORWARD, 3, 23));
    assert_null(reason(list, 91500, UC_FORWARD, 3, 23));
    assert_null(reason(list, 91000, UC_BACKWARD_DATA, 3, 23));
    assert_null(reason(list, 91000, UC_FORWARD, 2, 23));
    assert_null(reason(list, 91000, UC_FORWARD, 3, 22));
    assert_null(reason(list, 90101, UC_FORWARD, 2, 0));
    assert_string_equal(reason(list, 90102, UC_FORWARD, 2, 0), "crashes");
    assert_non_null(reason(list, 150000, UC_FORWARD, 2, 0));
    assert_null(uc_known_bad_reason(list, 91000, &problem, &legacy));
    assert_null(reason(NULL, 91000, UC_FORWARD, 3, 23));
    uc_known_bad_free(list);
    uc_known_bad_free(NULL);
}

static void an_empty_list_knows_nothing(void **state)
{
    struct uc_known_bad *list = NULL;
    struct uc_error err;

    (void)state;
    write_file("");
    assert_int_equal(uc_known_bad_read(path, &list, &err), UC_OK);
    assert_null(reason(list, 91000, UC_FORWARD, 3, 23));
    uc_known_bad_free(list);
}

static void faults_are_told_with_their_line(void **state)
{
    static const struct {
        const char *line, *fault;
    } rows[] = {
        { "forwards 3d eng23 9.8.0 9.15.0 x", "no such operation" },
        { "forward 4d eng23 9.8.0 9.15.0 x", "dimensions are 1d, 2d or 3d" },
        { "forward 0d eng23 9.8.0 9.15.0 x", "dimensions are 1d, 2d or 3d" },
        { "forward 3 eng23 9.8.0 9.15.0 x", "dimensions are 1d, 2d or 3d" },
        { "forward 3d 23 9.8.0 9.15.0 x", "an engine is a number behind eng" },
        { "forward 3d eng 9.8.0 9.15.0 x", "an engine is a number behind eng" },
        { "forward 3d eng23x 9.8.0 9.15.0 x",
          "an engine is a number behind eng" },
        { "forward 3d eng23456 9.8.0 9.15.0 x",
          "an engine is a number behind eng" },
        { "forward 3d eng23 9.8 9.15.0 x",
          "the first version is not like 9.8.0" },
        { "forward 3d eng23 9.8.0.1 9.15.0 x",
          "the first version is not like 9.8.0" },
        { "forward 3d eng23 - 9.15.0 x",
          "the first version is not like 9.8.0" },
        { "forward 3d eng23 9.8.0 9.100.0 x",
          "the second version is neither like 9.15.0 nor -" },
        { "forward 3d eng23 9.8.0 later x",
          "the second version is neither like 9.15.0 nor -" },
        { "forward 3d eng23 9.8.0 9.8.0 x",
          "the second version does not follow the first" },
        { "forward 3d eng23 9.8.0 9.15.0",
          "operation, dimensions, engine, two versions and a reason are "
          "needed" },
        { "forward 3d eng23",
          "operation, dimensions, engine, two versions and a reason are "
          "needed" },
        { "forward 3d eng23 9.8.0 9.15.0 x\x01y",
          "the reason is no line of at most 159 bytes" },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct uc_known_bad *list = NULL;
        char text[256], expected[256];
        struct uc_error err;

        snprintf(text, sizeof text,
                 "forward 3d eng1 9.8.0 - x\n%s\nforward 3d eng2 9.8.0 - y\n",
                 rows[i].line);
        write_file(text);
        assert_int_equal(uc_known_bad_read(path, &list, &err), UC_EINPUT);
        snprintf(expected, sizeof expected, "%s:2: %s", path, rows[i].fault);
        assert_string_equal(err.text, expected);
        assert_null(list);
    }
}

static void long_lines_are_refused(void **state)
{
    struct uc_known_bad *list = NULL;
    char text[1024] = "forward 3d eng1 9.8.0 - ";
    size_t used = strlen(text);
    struct uc_error err;

    (void)state;
    memset(text + used, 'x', 160);
    assert_int_equal(text[used + 160], '\0');
    write_file(text);
    assert_int_equal(uc_known_bad_read(path, &list, &err), UC_EINPUT);
    text[used + 159] = '\0';
    write_file(text);
    assert_int_equal(uc_known_bad_read(path, &list, &err), UC_OK);
    uc_known_bad_free(list);
    list = NULL;
    memset(text + used, 'x', 900);
    write_file(text);
    assert_int_equal(uc_known_bad_read(path, &list, &err), UC_EINPUT);
    assert_non_null(strstr(err.text, ":1: too long"));
}

static void a_missing_file_is_named(void **state)
{
    struct uc_known_bad *list = NULL;
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_known_bad_read("nowhere/x", &list, &err), UC_EFILE);
    assert_string_equal(err.text, "nowhere/x: No such file or directory");
}

/** The list that ships, as the issue that asked for it says. */
static void the_shipped_list_is_read(void **state)
{
    struct uc_known_bad *list = NULL;
    struct uc_error err;

    (void)state;
    if (uc_known_bad_shipped(1u << UC_API_LEGACY, &list, &err) != UC_OK)
        fail_msg("%s", err.text);
    assert_null(list);
    if (uc_known_bad_shipped(1u << UC_API_GRAPH, &list, &err) != UC_OK)
        fail_msg("%s", err.text);
    assert_non_null(reason(list, 90800, UC_FORWARD, 3, 23));
    assert_non_null(reason(list, 91400, UC_BACKWARD_DATA, 3, 23));
    assert_null(reason(list, 91500, UC_FORWARD, 3, 23));
    assert_null(reason(list, 91400, UC_BACKWARD_FILTER, 3, 23));
    uc_known_bad_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_half_open),
        cmocka_unit_test(an_empty_list_knows_nothing),
        cmocka_unit_test(faults_are_told_with_their_line),
        cmocka_unit_test(long_lines_are_refused),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(the_shipped_list_is_read),
    };

    return cmocka_run_group_tests_name("known-bad", tests, set_up, tear_down);
}
