#include "config.h"

#include "tests/db_support.h"

#include <limits.h>
#include <math.h>

static const char *fresh(void)
{
    const char *path = in_folder("store.profile");

    unlink(path);
    return path;
}

static struct uc_profile *open_profile(const char *path,
                                       enum uc_profile_mode mode, int64_t *env)
{
    struct uc_environment environment = sample_environment();
    struct uc_profile *profile = NULL;

    assert_done(uc_profile_open(path, mode, &profile, err));
    assert_done(uc_profile_add_environment(profile, &environment, env, err));
    return profile;
}

static void rows_come_back_as_stored(void **state)
{
    const char *path = fresh();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement in[3] = { sample_measurement(1, 1),
                                    sample_measurement(64, 6),
                                    sample_measurement(2147483647, 7) };
    struct uc_measurement *rows = NULL;
    struct uc_profile *profile;
    size_t count = 0;
    int64_t env = -1;

    (void)state;
    in[1].outcome = UC_UNSUPPORTED;
    strcpy(in[1].reason, "CUDNN_STATUS_NOT_SUPPORTED \xc2\xb5 'quoted'");
    in[1].workspace_bytes = in[1].time_ns = in[1].spread_ns = 0;
    in[1].host_ns = in[1].calls = in[1].samples = 0;
    memset(in[1].sample_ns, 0, sizeof in[1].sample_ns);
    in[1].error = -1;
    in[2].workspace_bytes = INT64_MAX;
    in[2].error = 0;
    in[2].notes = 15;
    in[2].samples = UC_MAX_SAMPLES;
    for (int i = 0; i < UC_MAX_SAMPLES; i++)
        in[2].sample_ns[i] = 1.0f / (float)(i + 1);
    profile = open_profile(path, UC_PROFILE_WRITE, &env);
    for (int i = 0; i < 3; i++)
        assert_done(uc_profile_store(profile, env, &problem, &in[i], err));
    uc_profile_close(profile);

    profile = open_profile(path, UC_PROFILE_READ, &env);
    assert_done(uc_profile_load(profile, env, &problem, &rows, &count, err));
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++)
        assert_measurement_equal(&rows[i], &in[i]);
    free(rows);
    uc_profile_close(profile);
}

static void every_outcome_survives(void **state)
{
    const char *path = fresh();
    struct uc_problem problem = sample_problem(UC_BACKWARD_FILTER, 8);
    struct uc_measurement m = sample_measurement(4, 0), *rows = NULL;
    static const char *const names[] = {
        "measured", "cut-off",       "unsupported", "too-large", "failed",
        "wrong",    "out-of-bounds", "crashed",     "timed-out"
    };
    int64_t counts[UC_OUTCOMES];
    struct uc_profile *profile;
    enum uc_outcome parsed;
    size_t count;
    int64_t env;

    (void)state;
    assert_int_equal(UC_OUTCOMES, 9);
    profile = open_profile(path, UC_PROFILE_WRITE, &env);
    for (int i = UC_OUTCOMES - 1; i >= 0; i--) {
        assert_string_equal(uc_outcome_name((enum uc_outcome)i), names[i]);
        assert_true(uc_outcome_parse(names[i], &parsed));
        assert_int_equal(parsed, i);
        m.micro_batch = 1 + i;
        m.outcome = (enum uc_outcome)i;
        assert_done(uc_profile_store(profile, env, &problem, &m, err));
    }
    assert_false(uc_outcome_parse("Measured", &parsed));
    assert_done(uc_profile_load(profile, env, &problem, &rows, &count, err));
    assert_int_equal(count, UC_OUTCOMES);
    for (int i = 0; i < UC_OUTCOMES; i++)
        assert_int_equal(rows[i].outcome, i);
    free(rows);
    assert_done(uc_profile_outcomes(profile, env, counts, err));
    for (int i = 0; i < UC_OUTCOMES; i++)
        assert_int_equal(counts[i], 1);
    uc_profile_close(profile);
}

static void same_key_replaces_its_row(void **state)
{
    const char *path = fresh();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement m = sample_measurement(64, 1), *rows = NULL;
    struct uc_profile *profile;
    size_t count;
    int64_t env;

    (void)state;
    profile = open_profile(path, UC_PROFILE_WRITE, &env);
    assert_done(uc_profile_store(profile, env, &problem, &m, err));
    m.time_ns = 99;
    m.outcome = UC_CUT_OFF;
    strcpy(m.reason, "hopeless");
    assert_done(uc_profile_store(profile, env, &problem, &m, err));
    assert_done(uc_profile_load(profile, env, &problem, &rows, &count, err));
    assert_int_equal(count, 1);
    assert_measurement_equal(&rows[0], &m);
    free(rows);
    uc_profile_close(profile);
}

static void rows_are_ordered_whatever_the_order_of_storing(void **state)
{
    const char *path = fresh();
    struct uc_problem problem = sample_problem(UC_BACKWARD_FILTER, 8);
    struct uc_measurement *rows = NULL;
    struct uc_profile *profile;
    size_t count;
    int64_t env;

    (void)state;
    profile = open_profile(path, UC_PROFILE_WRITE, &env);
    for (int i = 0; i < 24; i++) {
        int at = i * 7 % 24; /* every number below 24 once, shuffled */
        struct uc_measurement m = sample_measurement(1 + at / 8, at % 4);

        m.accumulate = at / 4 % 2 == 1;
        assert_done(uc_profile_store(profile, env, &problem, &m, err));
    }
    assert_done(uc_profile_load(profile, env, &problem, &rows, &count, err));
    assert_int_equal(count, 24);
    for (int i = 0; i < 24; i++) {
        assert_int_equal(rows[i].micro_batch, 1 + i / 8);
        assert_int_equal(rows[i].accumulate, i / 4 % 2);
        assert_int_equal(rows[i].kernel.algorithm, i % 4);
    }
    free(rows);
    uc_profile_close(profile);
}

static void environments_and_problems_are_apart(void **state)
{
    const char *path = fresh();
    struct uc_environment env2 = sample_environment();
    struct uc_problem a = sample_problem(UC_FORWARD, 192);
    struct uc_problem b = sample_problem(UC_BACKWARD_DATA, 64), *problems;
    struct uc_measurement m = sample_measurement(64, 1), *rows;
    struct uc_profile_environment *list;
    struct uc_profile *profile;
    size_t count;
    int64_t one, two, again;

    (void)state;
    profile = open_profile(path, UC_PROFILE_WRITE, &one);
    strcpy(env2.versions.driver, "580.159.05");
    assert_done(uc_profile_add_environment(profile, &env2, &two, err));
    assert_int_not_equal(one, two);
    assert_done(uc_profile_store(profile, one, &a, &m, err));
    m.measured_at += 5;
    assert_done(uc_profile_store(profile, one, &b, &m, err));
    m.micro_batch = 32;
    m.outcome = UC_WRONG;
    m.measured_at += 5;
    assert_done(uc_profile_store(profile, one, &b, &m, err));
    assert_done(uc_profile_add_environment(profile, &env2, &again, err));
    assert_int_equal(again, two);
    uc_profile_close(profile);

    profile = open_profile(path, UC_PROFILE_READ, &again);
    assert_int_equal(again, one);
    env2.device.multiprocessors = 1;
    assert_done(uc_profile_add_environment(profile, &env2, &again, err));
    assert_int_equal(again, -1);
    assert_done(uc_profile_environments(profile, &list, &count, err));
    assert_int_equal(count, 2);
    assert_int_equal(list[0].id, one);
    assert_int_equal(list[1].id, two);
    env2 = sample_environment();
    assert_null(uc_environment_difference(&list[0].environment, &env2));
    assert_string_equal(
        uc_environment_difference(&list[0].environment, &list[1].environment),
        "driver version");
    assert_done(uc_profile_count(profile, &list[0], err));
    assert_int_equal(list[0].problems, 2);
    assert_int_equal(list[0].measurements, 3);
    assert_int_equal(list[0].usable, 2);
    assert_int_equal(list[0].first_at, 1764460800);
    assert_int_equal(list[0].last_at, 1764460810);
    assert_done(uc_profile_count(profile, &list[1], err));
    assert_int_equal(list[1].measurements, 0);
    free(list);

    assert_done(uc_profile_problems(profile, one, &problems, &count, err));
    assert_int_equal(count, 2);
    assert_true(uc_problem_equal(&problems[0], &b)); /* text order */
    assert_true(uc_problem_equal(&problems[1], &a));
    free(problems);
    assert_done(uc_profile_problems(profile, two, &problems, &count, err));
    assert_int_equal(count, 0);
    free(problems);
    assert_done(uc_profile_load(profile, two, &a, &rows, &count, err));
    assert_int_equal(count, 0);
    free(rows);
    rows = &m;
    a.k++;
    assert_done(uc_profile_load(profile, one, &a, &rows, &count, err));
    assert_int_equal(count, 0);
    assert_null(rows);
    uc_profile_close(profile);
}

static void refuses_values_out_of_range(void **state)
{
    const char *path = fresh();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement bad[14], *rows = NULL;
    struct uc_error error = { 0 };
    struct uc_profile *profile;
    size_t count;
    int64_t env;

    (void)state;
    for (int i = 0; i < 14; i++)
        bad[i] = sample_measurement(1, 1);
    bad[0].micro_batch = 0;
    bad[1].workspace_bytes = -1;
    bad[2].time_ns = 0;
    bad[3].spread_ns = -1;
    bad[4].host_ns = -1;
    bad[5].calls = -1;
    bad[6].samples = UC_MAX_SAMPLES + 1;
    bad[7].sample_ns[1] = NAN;
    bad[8].measured_at = -1;
    bad[9].outcome = UC_OUTCOMES;
    bad[10].kernel.algorithm = 8;
    strcpy(bad[11].reason, "two\nlines");
    strcpy(bad[12].reason, "\xff");
    bad[13].time_ns = INT64_MAX;
    profile = open_profile(path, UC_PROFILE_WRITE, &env);
    for (int i = 0; i < 14; i++) {
        assert_int_equal(
            uc_profile_store(profile, env, &problem, &bad[i], &error),
            UC_EINTERNAL);
        assert_says(&error, "cannot store a measurement");
    }
    /* No such environment. */
    bad[0] = sample_measurement(1, 1);
    assert_int_equal(uc_profile_store(profile, 77, &problem, &bad[0], &error),
                     UC_EFILE);
    assert_says(&error, "FOREIGN KEY");
    /* All or none. */
    bad[1] = sample_measurement(2, 1);
    bad[2] = sample_measurement(0, 1);
    assert_int_equal(
        uc_profile_store_all(profile, env, &problem, bad, 3, &error),
        UC_EINTERNAL);
    assert_done(uc_profile_load(profile, env, &problem, &rows, &count, err));
    assert_int_equal(count, 0);
    assert_done(uc_profile_store_all(profile, env, &problem, bad, 2, err));
    assert_done(uc_profile_load(profile, env, &problem, &rows, &count, err));
    assert_int_equal(count, 2);
    free(rows);
    uc_profile_close(profile);
    profile = open_profile(path, UC_PROFILE_READ, &env);
    assert_int_equal(uc_profile_store(profile, env, &problem, &bad[0], &error),
                     UC_EINTERNAL);
    assert_says(&error, "opened for reading");
    uc_profile_close(profile);
}

static void errors_that_are_no_number_read_as_unknown(void **state)
{
    const char *path = fresh();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement m = sample_measurement(1, 1), *rows = NULL;
    struct uc_profile *profile;
    size_t count;
    int64_t env;

    (void)state;
    m.outcome = UC_WRONG;
    profile = open_profile(path, UC_PROFILE_WRITE, &env);
    m.error = NAN;
    assert_done(uc_profile_store(profile, env, &problem, &m, err));
    m.micro_batch = 2;
    m.error = INFINITY;
    assert_done(uc_profile_store(profile, env, &problem, &m, err));
    assert_done(uc_profile_load(profile, env, &problem, &rows, &count, err));
    assert_int_equal(count, 2);
    assert_true(rows[0].error < 0);
    assert_true(isinf(rows[1].error) && rows[1].error > 0);
    free(rows);
    uc_profile_close(profile);
}

static struct uc_measurement graph_measurement(int64_t micro_batch, int engine,
                                               int knob)
{
    struct uc_measurement m = sample_measurement(micro_batch, 0);

    m.kernel = (struct uc_kernel){ .api = UC_API_GRAPH,
                                   .engine = engine,
                                   .knob_count = knob < 0 ? 0 : 1,
                                   .knobs = { { knob < 0 ? 0 : knob,
                                                knob < 0 ? 0 : -1 } } };
    m.notes = UC_NOTE_RUNTIME_COMPILED | UC_NOTE_TENSOR_CORE;
    m.build_ns = 310000000;
    return m;
}

/** Stored in this order, they come back as 3, 2, 1, 0. */
static void graph_rows_follow_the_legacy_ones(void **state)
{
    const char *path = fresh();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement stored[] = { graph_measurement(8, 100, -1),
                                       graph_measurement(8, 9, 12),
                                       graph_measurement(8, 9, 2),
                                       sample_measurement(8, 7) };
    struct uc_measurement *rows = NULL, bad = graph_measurement(8, 1, 1);
    struct uc_error error = { 0 };
    struct uc_profile *profile;
    size_t count;
    int64_t env;

    (void)state;
    profile = open_profile(path, UC_PROFILE_WRITE, &env);
    for (int i = 0; i < 4; i++)
        assert_done(uc_profile_store(profile, env, &problem, &stored[i], err));
    bad.kernel.math = UC_MATH_TF32;
    assert_int_equal(uc_profile_store(profile, env, &problem, &bad, &error),
                     UC_EINTERNAL);
    assert_says(&error, "a graph kernel has no algorithm");
    assert_done(uc_profile_load(profile, env, &problem, &rows, &count, err));
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; i++)
        assert_measurement_equal(&rows[i], &stored[3 - i]);
    free(rows);
    uc_profile_close(profile);
}

static void assert_search_equal(const struct uc_search *a,
                                const struct uc_search *b)
{
    assert_int_equal(a->api, b->api);
    assert_int_equal(a->micro_batch, b->micro_batch);
    assert_int_equal(a->accumulate, b->accumulate);
    assert_int_equal(a->found, b->found);
    assert_int_equal(a->pruned, b->pruned);
    assert_int_equal(a->left_out, b->left_out);
    assert_int_equal(a->searched_at, b->searched_at);
    assert_int_equal(a->tuned, b->tuned);
    assert_int_equal(a->tune_left_out, b->tune_left_out);
}

static void searches_come_back_in_order(void **state)
{
    static const struct uc_search sorted[] = {
        { .api = UC_API_LEGACY,
          .micro_batch = 64,
          .found = 8,
          .searched_at = 1764460800 },
        { .api = UC_API_GRAPH,
          .micro_batch = 8,
          .found = 30,
          .pruned = 30,
          .left_out = UC_NOTE_DOWN_CONVERT,
          .searched_at = 1764460801,
          .tuned = true },
        { .api = UC_API_GRAPH, .micro_batch = 8, .accumulate = true },
        { .api = UC_API_GRAPH,
          .micro_batch = 64,
          .found = INT64_MAX,
          .pruned = 5,
          .left_out = INT_MAX,
          .searched_at = 253402300799,
          .tuned = true,
          .tune_left_out = INT_MAX },
    };
    const char *path = fresh();
    struct uc_problem problem = sample_problem(UC_BACKWARD_FILTER, 192);
    struct uc_problem other = sample_problem(UC_BACKWARD_FILTER, 193);
    struct uc_environment elsewhere = sample_environment();
    struct uc_search *list = NULL, again = sorted[3];
    struct uc_profile *profile;
    size_t count;
    int64_t env, env2;

    (void)state;
    profile = open_profile(path, UC_PROFILE_WRITE, &env);
    elsewhere.versions.cudnn++;
    assert_done(uc_profile_add_environment(profile, &elsewhere, &env2, err));
    again.found = 1;
    again.pruned = 1;
    assert_done(uc_profile_store_search(profile, env, &problem, &again, err));
    for (int i = 3; i >= 0; i--)
        assert_done(
            uc_profile_store_search(profile, env, &problem, &sorted[i], err));
    assert_done(uc_profile_store_search(profile, env2, &problem, &again, err));
    uc_profile_close(profile);

    profile = open_profile(path, UC_PROFILE_READ, &env);
    assert_done(
        uc_profile_load_searches(profile, env, &problem, &list, &count, err));
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; i++)
        assert_search_equal(&list[i], &sorted[i]);
    free(list);
    assert_done(
        uc_profile_load_searches(profile, env2, &problem, &list, &count, err));
    assert_int_equal(count, 1);
    assert_search_equal(&list[0], &again);
    free(list);
    assert_done(
        uc_profile_load_searches(profile, env, &other, &list, &count, err));
    assert_int_equal(count, 0);
    assert_null(list);
    uc_profile_close(profile);
}

static void searches_out_of_range_are_refused(void **state)
{
    const struct uc_search good = {
        .api = UC_API_GRAPH, .micro_batch = 8, .found = 2, .pruned = 1
    };
    const char *path = fresh();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_search bad[10], *list = NULL;
    struct uc_error error = { 0 };
    struct uc_profile *profile;
    size_t count;
    int64_t env;

    (void)state;
    for (int i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].api = UC_APIS;
    bad[1].micro_batch = 0;
    bad[2].micro_batch = INT64_C(1) << 31;
    bad[3].found = -1;
    bad[4].pruned = -1;
    bad[5].pruned = 3;
    bad[6].left_out = UINT_MAX;
    bad[7].searched_at = -1;
    bad[8].searched_at = 253402300800;
    bad[9].tune_left_out = UINT_MAX;
    profile = open_profile(path, UC_PROFILE_WRITE, &env);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(
            uc_profile_store_search(profile, env, &problem, &bad[i], &error),
            UC_EINTERNAL);
        assert_says(&error, "cannot store a search: ");
    }
    assert_int_equal(
        uc_profile_store_search(profile, 77, &problem, &good, &error),
        UC_EFILE);
    assert_says(&error, "FOREIGN KEY");
    assert_done(
        uc_profile_load_searches(profile, env, &problem, &list, &count, err));
    assert_int_equal(count, 0);
    uc_profile_close(profile);
    profile = open_profile(path, UC_PROFILE_READ, &env);
    assert_int_equal(
        uc_profile_store_search(profile, env, &problem, &good, &error),
        UC_EINTERNAL);
    assert_says(&error, "opened for reading");
    uc_profile_close(profile);
}

static void closing_nothing_is_fine(void **state)
{
    (void)state;
    uc_profile_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_as_stored),
        cmocka_unit_test(every_outcome_survives),
        cmocka_unit_test(same_key_replaces_its_row),
        cmocka_unit_test(rows_are_ordered_whatever_the_order_of_storing),
        cmocka_unit_test(environments_and_problems_are_apart),
        cmocka_unit_test(refuses_values_out_of_range),
        cmocka_unit_test(errors_that_are_no_number_read_as_unknown),
        cmocka_unit_test(graph_rows_follow_the_legacy_ones),
        cmocka_unit_test(searches_come_back_in_order),
        cmocka_unit_test(searches_out_of_range_are_refused),
        cmocka_unit_test(closing_nothing_is_fine),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
