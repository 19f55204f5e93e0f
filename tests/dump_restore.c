#include "config.h"

/*
 * Dumps: what is restored is what was dumped, to the last bit, and the text
 * does not depend on the order of measuring.
 */

#include "tests/dump_support.h"

static void a_profile_comes_back_to_the_last_bit(void **state)
{
    const char *first = in_folder("a.profile"), *again = in_folder("b.profile");
    struct uc_profile *profile = NULL;
    char *text, *second;

    (void)state;
    make_profile(first, false);
    text = dump_of_profile(first);
    assert_done(restore(text, strlen(text), again, err));
    second = dump_of_profile(again);
    assert_string_equal(text, second);
    assert_done(uc_profile_open(again, UC_PROFILE_READ, &profile, err));
    for (int e = 0; e < ENVIRONMENTS; e++)
        for (int p = 0; p < PROBLEMS; p++) {
            struct uc_environment env = environment_of(e);
            struct uc_problem problem = problem_of(p);
            struct uc_measurement *rows;
            bool seen[ROWS] = { false };
            size_t count;
            int64_t id;

            assert_done(uc_profile_add_environment(profile, &env, &id, err));
            assert_true(id >= 0);
            assert_done(
                uc_profile_load(profile, id, &problem, &rows, &count, err));
            assert_int_equal(count, ROWS);
            for (int r = 0; r < ROWS; r++) {
                struct uc_measurement m = row_of(e, p, r);

                for (size_t i = 0; i < count; i++)
                    if (uc_measurement_order(&m, &rows[i]) == 0) {
                        assert_measurement_equal(&m, &rows[i]);
                        seen[r] = true;
                    }
                assert_true(seen[r]);
            }
            free(rows);
        }
    uc_profile_close(profile);
    free(second);
    free(text);
}

static void the_order_of_measuring_does_not_show(void **state)
{
    char *text, *other;

    (void)state;
    make_profile(in_folder("a.profile"), false);
    make_profile(in_folder("b.profile"), true);
    text = dump_of_profile(in_folder("a.profile"));
    other = dump_of_profile(in_folder("b.profile"));
    assert_string_equal(text, other);
    free(other);
    free(text);
}

/** What stands there is known from ucudnn-profile(5), not from the code. */
static void a_line_is_as_documented(void **state)
{
    static const char expected[] =
        "ucudnn-dump\tkind=profile\tversion=1\n"
        "environment\tdevice=NVIDIA H200\tcompute_capability=90\t"
        "multiprocessors=132\tmemory_bytes=150109880320\tcudnn=91900\t"
        "cuda=13000\tdriver=580.159.04\n"
        "measurement\tproblem=forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2"
        "\tmicro_batch=2\taccumulate=0\tkernel=implicit-precomp-gemm/tf32\t"
        "outcome=measured\tnotes=2\tworkspace_bytes=2097153\ttime_ns=5018\t"
        "spread_ns=31\thost_ns=70123\terror=0.00025\tcalls=20\t"
        "samples_ns=2500.5,2501.25,2617\tmeasured_at=2025-11-30T00:00:00Z\t"
        "build_ns=7\n"
        "search\tproblem=forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2\t"
        "api=graph\tmicro_batch=2\taccumulate=0\tfound=9\tpruned=4\t"
        "left_out=64\tsearched_at=2025-11-30T00:00:01Z\ttuned=1\t"
        "tune_left_out=64\n"
        "end\n";
    const char *path = in_folder("line.profile");
    struct uc_environment env = sample_environment();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement m = sample_measurement(2, 1);
    struct uc_search look = { .api = UC_API_GRAPH,
                              .micro_batch = 2,
                              .found = 9,
                              .pruned = 4,
                              .left_out = UC_NOTE_RUNTIME_COMPILED,
                              .searched_at = 1764460801,
                              .tuned = true,
                              .tune_left_out = UC_NOTE_RUNTIME_COMPILED };
    struct uc_profile *profile = NULL;
    char *text;
    int64_t id;

    (void)state;
    m.build_ns = 7;
    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    assert_done(uc_profile_add_environment(profile, &env, &id, err));
    assert_done(uc_profile_store(profile, id, &problem, &m, err));
    assert_done(uc_profile_store_search(profile, id, &problem, &look, err));
    uc_profile_close(profile);
    text = dump_of_profile(path);
    assert_string_equal(text, expected);
    free(text);
}

/* ---------------------------------------------------------------- plans */

static void plans_come_back_in_their_order(void **state)
{
    const char *first = in_folder("a.plan"), *again = in_folder("b.plan");
    struct uc_plan plan, *plans = NULL;
    char *text, *second;
    size_t count;

    (void)state;
    sample_plan_chosen(&plan);
    plan.choices = (struct uc_plan_choices)UC_PLAN_CHOICES;
    assert_done(uc_plans_write(first, &plan, 1, err));
    plan.limit_bytes /= 2; /* sorts before, but was written later */
    plan.limit_bytes += 30 << 20;
    plan.choices = sample_choices;
    assert_done(uc_plans_write(first, &plan, 1, err));
    text = dump_of_plans(first);
    assert_done(restore(text, strlen(text), again, err));
    second = dump_of_plans(again);
    assert_string_equal(text, second);
    assert_done(uc_plans_read(again, &plans, &count, err));
    assert_int_equal(count, 2);
    assert_plan_equal(&plans[1], &plan);
    plan.limit_bytes = 64 << 20;
    plan.choices = (struct uc_plan_choices)UC_PLAN_CHOICES;
    assert_plan_equal(&plans[0], &plan);
    uc_plans_free(plans, count);
    uc_plan_free(&plan);
    free(second);
    free(text);
}

/** As dumps were before plans told what they were chosen from. */
static void a_plan_without_choices_has_those_of_old_plans(void **state)
{
    static const char added[] = "\tapis=1\tallow=8\tno_runtime_compiled=1"
                                "\tmin_gain=0.29\tmax_pieces=5";
    const char *path = in_folder("old.plan");
    struct uc_plan plan, *plans;
    size_t count;
    char *text, *at;

    (void)state;
    sample_plan_chosen(&plan);
    assert_done(uc_plans_write(path, &plan, 1, err));
    text = dump_of_plans(path);
    at = strstr(text, added);
    assert_non_null(at);
    memmove(at, at + strlen(added), strlen(at + strlen(added)) + 1);
    assert_done(restore(text, strlen(text), path, err));
    assert_done(uc_plans_read(path, &plans, &count, err));
    assert_int_equal(count, 1);
    plan.choices =
        (struct uc_plan_choices){ .deterministic = true, .min_gain = 0.01 };
    assert_plan_equal(&plans[0], &plan);
    uc_plans_free(plans, count);
    uc_plan_free(&plan);
    free(text);
}

/** One of them alone is missing, or there. */
static void a_plan_with_some_of_its_choices_is_refused(void **state)
{
    static const char *const added[] = { "\tapis=1", "\tallow=8",
                                         "\tno_runtime_compiled=1",
                                         "\tmin_gain=0.29", "\tmax_pieces=5" };
    const char *path = in_folder("some.plan");
    struct uc_plan plan;
    char *text;

    (void)state;
    sample_plan_chosen(&plan);
    assert_done(uc_plans_write(path, &plan, 1, err));
    text = dump_of_plans(path);
    for (size_t i = 0; i < 2 * UNIT_COUNT(added); i++) {
        char *some = strdup(text), name[64];
        struct uc_error error;

        assert_non_null(some);
        for (size_t k = 0; k < UNIT_COUNT(added); k++) {
            char *at = strstr(some, added[k]);

            assert_non_null(at);
            if ((k == i / 2) == (i % 2 == 0))
                memmove(at, at + strlen(added[k]),
                        strlen(at + strlen(added[k])) + 1);
        }
        assert_int_equal(
            restore(some, strlen(some), in_folder("none.plan"), &error),
            UC_EINPUT);
        /* Behind the first alone, the second is expected. */
        snprintf(name, sizeof name, "\"%.*s\"",
                 (int)strcspn(added[i == 1 ? 1 : i / 2] + 1, "="),
                 added[i == 1 ? 1 : i / 2] + 1);
        assert_says(&error, name);
        free(some);
    }
    uc_plan_free(&plan);
    free(text);
}

static void what_was_there_is_replaced(void **state)
{
    const char *path = in_folder("old.plan");
    struct uc_plan plan, *plans = NULL;
    struct uc_error error;
    char *text, *profile;
    size_t count;

    (void)state;
    sample_plan(&plan);
    assert_done(uc_plans_write(in_folder("new.plan"), &plan, 1, err));
    text = dump_of_plans(in_folder("new.plan"));
    plan.limit_bytes++;
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_done(restore(text, strlen(text), path, err));
    assert_done(uc_plans_read(path, &plans, &count, err));
    assert_int_equal(count, 1);
    assert_int_equal(plans[0].limit_bytes, 64 << 20);
    /* But not by the other kind. */
    make_profile(in_folder("a.profile"), false);
    profile = dump_of_profile(in_folder("a.profile"));
    assert_int_equal(restore(profile, strlen(profile), path, &error), UC_EFILE);
    assert_says(&error, "is a ucudnn plan, not a ucudnn profile");
    assert_int_equal(
        restore(text, strlen(text), in_folder("a.profile"), &error), UC_EFILE);
    assert_says(&error, "is a ucudnn profile, not a ucudnn plan");
    uc_plans_free(plans, count);
    uc_plan_free(&plan);
    free(profile);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_comes_back_to_the_last_bit),
        cmocka_unit_test(the_order_of_measuring_does_not_show),
        cmocka_unit_test(a_line_is_as_documented),
        cmocka_unit_test(plans_come_back_in_their_order),
        cmocka_unit_test(a_plan_without_choices_has_those_of_old_plans),
        cmocka_unit_test(a_plan_with_some_of_its_choices_is_refused),
        cmocka_unit_test(what_was_there_is_replaced),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
