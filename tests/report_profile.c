#include "config.h"

#include "tests/db_support.h"

#include "planner/report.h"

#include <jansson.h>
#include <sqlite3.h>

typedef enum uc_status profile_report(FILE *out, struct uc_profile *profile,
                                      struct uc_error *err);

static char *printed(profile_report *report, struct uc_profile *profile)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_done(report(out, profile, err));
    assert_int_equal(fclose(out), 0);
    return text;
}

/** Two problems, three rows in the first environment, none in the second. */
static struct uc_profile *sample_profile(void)
{
    struct uc_environment env = sample_environment();
    struct uc_measurement m = sample_measurement(64, 1);
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_profile *profile = NULL;
    const char *path = in_folder("report.profile");
    int64_t id;

    unlink(path);
    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    assert_done(uc_profile_add_environment(profile, &env, &id, err));
    assert_done(uc_profile_store(profile, id, &problem, &m, err));
    m.kernel.algorithm = 2;
    m.measured_at += 3600;
    assert_done(uc_profile_store(profile, id, &problem, &m, err));
    problem = sample_problem(UC_BACKWARD_FILTER, 192);
    m.outcome = UC_CRASHED;
    assert_done(uc_profile_store(profile, id, &problem, &m, err));
    env.versions.driver[0] = '\0';
    assert_done(uc_profile_add_environment(profile, &env, &id, err));
    return profile;
}

static void a_table_sums_up_each_environment(void **state)
{
    struct uc_profile *profile = sample_profile();
    char *text = printed(uc_report_profile_table, profile);

    (void)state;
    assert_string_equal(
        text, "environment   1\n"
              "device        NVIDIA H200 (compute capability 9.0, 132 "
              "multiprocessors, 139.7 GiB)\n"
              "versions      cuDNN 9.19.0, CUDA 13.0, driver 580.159.04\n"
              "dates         2025-11-30 00:00:00 to 2025-11-30 01:00:00 UTC\n"
              "problems      2: 1 forward, 0 backward-data, 1 backward-filter; "
              "2 tf32\n"
              "measurements  3: 3 legacy, 0 graph\n"
              "  measured  2\n"
              "  crashed   1\n"
              "networks      none that ships can be planned without "
              "measuring\n"
              "\n"
              "environment   2\n"
              "device        NVIDIA H200 (compute capability 9.0, 132 "
              "multiprocessors, 139.7 GiB)\n"
              "versions      cuDNN 9.19.0, CUDA 13.0\n"
              "problems      0: 0 forward, 0 backward-data, 0 backward-filter\n"
              "measurements  0: 0 legacy, 0 graph\n"
              "networks      none that ships can be planned without "
              "measuring\n");
    free(text);
    uc_profile_close(profile);
}

/** Two graph kernels, built in 100 and 400 ms, and one that was not built. */
static struct uc_profile *graph_profile(void)
{
    static const int64_t build_ns[] = { 100000000, 400000000, 0 };
    struct uc_profile *profile = sample_profile();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement m = sample_measurement(64, 0);

    for (int i = 0; i < 3; i++) {
        m.kernel = (struct uc_kernel){ .api = UC_API_GRAPH, .engine = i };
        m.notes = UC_NOTE_RUNTIME_COMPILED;
        m.build_ns = build_ns[i];
        assert_done(uc_profile_store(profile, 1, &problem, &m, err));
    }
    m.kernel.engine = 3;
    m.notes = UC_NOTE_TENSOR_CORE;
    m.build_ns = 1000;
    assert_done(uc_profile_store(profile, 1, &problem, &m, err));
    return profile;
}

static void kernels_are_counted_by_their_api(void **state)
{
    struct uc_profile *profile = graph_profile();
    char *text = printed(uc_report_profile_table, profile);
    json_t *root, *one;

    (void)state;
    assert_non_null(strstr(
        text, "measurements  7: 3 legacy, 4 graph\n"
              "compiled      2 at run time, in 250 ms on average, 400 ms at "
              "most\n"));
    free(text);
    text = printed(uc_report_profile_json, profile);
    root = json_loads(text, 0, NULL);
    one = json_array_get(json_object_get(root, "environments"), 0);
    one = json_object_get(one, "kernels");
    assert_int_equal(json_integer_value(json_object_get(one, "legacy")), 3);
    assert_int_equal(json_integer_value(json_object_get(one, "graph")), 4);
    assert_int_equal(json_integer_value(json_object_get(one, "compiled")), 2);
    assert_int_equal(
        json_integer_value(json_object_get(one, "compiled_mean_ns")),
        250000000);
    assert_int_equal(
        json_integer_value(json_object_get(one, "compiled_most_ns")),
        400000000);
    json_decref(root);
    free(text);
    uc_profile_close(profile);
}

static void json_has_outcomes_and_problems(void **state)
{
    struct uc_profile *profile = sample_profile();
    char *text = printed(uc_report_profile_json, profile);
    json_t *root = json_loads(text, 0, NULL);
    json_t *list = json_object_get(root, "environments"), *one;

    (void)state;
    assert_int_equal(json_array_size(list), 2);
    one = json_array_get(list, 0);
    assert_int_equal(json_integer_value(json_object_get(one, "measurements")),
                     3);
    assert_int_equal(json_integer_value(json_object_get(
                         json_object_get(one, "outcomes"), "measured")),
                     2);
    assert_int_equal(json_object_size(json_object_get(one, "outcomes")),
                     UC_OUTCOMES);
    assert_string_equal(json_string_value(json_object_get(one, "last_at")),
                        "2025-11-30T01:00:00Z");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(one, "problems"), 0)),
        "backward-filter:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2");
    assert_int_equal(json_integer_value(json_object_get(one, "id")), 1);
    one = json_array_get(list, 1);
    assert_int_equal(json_integer_value(json_object_get(one, "id")), 2);
    assert_true(json_is_null(json_object_get(one, "first_at")));
    assert_int_equal(json_array_size(json_object_get(one, "problems")), 0);
    json_decref(root);
    free(text);
    uc_profile_close(profile);
}

/** The second problem of the first environment is no problem. */
static void a_damaged_profile_prints_nothing(void **state)
{
    static profile_report *const reports[] = { uc_report_profile_table,
                                               uc_report_profile_json };
    struct uc_profile *profile = sample_profile();
    struct uc_error error = { 0 };
    sqlite3 *db = NULL;

    (void)state;
    uc_profile_close(profile);
    assert_int_equal(sqlite3_open(in_folder("report.profile"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE problem SET text = 'x' WHERE text "
                                  "LIKE 'forward%'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    assert_done(uc_profile_open(in_folder("report.profile"), UC_PROFILE_READ,
                                &profile, err));
    for (size_t i = 0; i < UNIT_COUNT(reports); i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        assert_non_null(out);
        assert_int_equal(reports[i](out, profile, &error), UC_EFILE);
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, "");
        free(text);
    }
    uc_profile_close(profile);
}

static void a_new_profile_says_so(void **state)
{
    struct uc_profile *profile = NULL;
    char *text;

    (void)state;
    assert_done(uc_profile_open(in_folder("new.profile"), UC_PROFILE_WRITE,
                                &profile, err));
    text = printed(uc_report_profile_table, profile);
    assert_string_equal(text, "no measurements yet\n");
    free(text);
    uc_profile_close(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_sums_up_each_environment),
        cmocka_unit_test(kernels_are_counted_by_their_api),
        cmocka_unit_test(json_has_outcomes_and_problems),
        cmocka_unit_test(a_damaged_profile_prints_nothing),
        cmocka_unit_test(a_new_profile_says_so),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
