#include "config.h"

#include "tests/plan_support.h"

#include "planner/verify.h"

#include <math.h>

/** The sample plan, all of it as predicted. */
static void start(struct uc_plan *plan, struct uc_verification *v)
{
    sample_plan(plan);
    assert_done(uc_verification_init(plan, v, err));
    for (size_t i = 0; i < plan->operation_count; i++)
        v->operations[i].planned = (struct uc_verify_run){
            .settled = true,
            .workspace_bytes = plan->operations[i].workspace_bytes,
            .error = 1e-3,
            .allowed = 1e-2,
            .time_ns = plan->operations[i].time_ns,
        };
    v->sequence = (struct uc_verify_sequence){ .settled = true,
                                               .predicted_ns = 2200000,
                                               .planned_ns = 2200000,
                                               .undivided_ns = 5000000,
                                               .samples = 5 };
}

static void stop(struct uc_plan *plan, struct uc_verification *v)
{
    uc_verification_free(v);
    uc_plan_free(plan);
}

static void what_is_as_predicted_is_verified(void **state)
{
    struct uc_plan plan;
    struct uc_verification v;
    char text[UC_VERIFY_TEXT];

    (void)state;
    start(&plan, &v);
    assert_int_equal(uc_verify_judge(&v, 0), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(v.operations[i].verdict, UC_VERIFIED);
        uc_verify_fault(&v, i, text);
        assert_string_equal(text, "");
    }
    uc_verify_sequence_fault(&v, text);
    assert_string_equal(text, "");
    stop(&plan, &v);
}

/** conv2 forward is predicted at 400 us. */
static void time_is_held_against_tolerance_and_spread(void **state)
{
    static const struct {
        int64_t time_ns, spread_ns;
        double tolerance;
        enum uc_verdict verdict;
    } cases[] = {
        { 400000, 0, 0, UC_VERIFIED },    { 400001, 0, 0, UC_SLOWER },
        { 400001, 1, 0, UC_VERIFIED },    { 440000, 0, 0.1, UC_VERIFIED },
        { 440100, 0, 0.1, UC_SLOWER },    { 440100, 100, 0.1, UC_VERIFIED },
        { 450000, 9000, 0.1, UC_SLOWER }, { 800000, 0, 1, UC_VERIFIED },
        { 800001, 0, 1, UC_SLOWER },      { 1, 0, 0, UC_VERIFIED },
    };
    struct uc_plan plan;
    struct uc_verification v;

    (void)state;
    start(&plan, &v);
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        v.operations[0].planned.time_ns = cases[i].time_ns;
        v.operations[0].planned.spread_ns = cases[i].spread_ns;
        assert_int_equal(uc_verify_judge(&v, cases[i].tolerance),
                         cases[i].verdict != UC_VERIFIED);
        assert_int_equal(v.operations[0].verdict, cases[i].verdict);
    }
    stop(&plan, &v);
}

static void the_worst_is_told(void **state)
{
    struct uc_plan plan;
    struct uc_verification v;
    struct uc_verify_run *run;
    char text[UC_VERIFY_TEXT];

    (void)state;
    start(&plan, &v);
    run = &v.operations[0].planned;
    run->time_ns = 800000;
    assert_int_equal(uc_verify_judge(&v, 0.1), 1);
    uc_verify_fault(&v, 0, text);
    assert_string_equal(text, "slow: takes 800 us, predicted were 400 us");
    run->workspace_bytes = 60000001;
    assert_int_equal(uc_verify_judge(&v, 0.1), 1);
    uc_verify_fault(&v, 0, text);
    assert_string_equal(text,
                        "over-workspace: cuDNN asks for 60000001 bytes (57.2 "
                        "MiB), planned were 60000000 (57.2 MiB)");
    run->error = 0.011;
    assert_int_equal(uc_verify_judge(&v, 0.1), 1);
    uc_verify_fault(&v, 0, text);
    assert_string_equal(text,
                        "wrong: relative L2 error 0.011, allowed is 0.01");
    run->error = HUGE_VAL; /* a NaN in the result */
    assert_int_equal(uc_verify_judge(&v, 0.1), 1);
    assert_int_equal(v.operations[0].verdict, UC_WRONG_RESULT);
    strcpy(run->reason, "wrote outside its output");
    assert_int_equal(uc_verify_judge(&v, 0.1), 1);
    uc_verify_fault(&v, 0, text);
    assert_string_equal(text, "failed: wrote outside its output");
    stop(&plan, &v);
}

static void what_was_not_run_has_failed(void **state)
{
    struct uc_plan plan;
    struct uc_verification v;
    char text[UC_VERIFY_TEXT];

    (void)state;
    sample_plan(&plan);
    assert_done(uc_verification_init(&plan, &v, err));
    assert_int_equal(uc_verify_judge(&v, 1), 4);
    uc_verify_fault(&v, 2, text);
    assert_string_equal(text, "failed: it was not run");
    uc_verify_sequence_fault(&v, text);
    assert_string_equal(text, "failed: it was not run");
    stop(&plan, &v);
}

static void the_sequence_is_judged_too(void **state)
{
    struct uc_plan plan;
    struct uc_verification v;
    char text[UC_VERIFY_TEXT];

    (void)state;
    start(&plan, &v);
    v.sequence.planned_ns = 2500000;
    assert_int_equal(uc_verify_judge(&v, 0.1), 1);
    assert_int_equal(v.sequence.verdict, UC_SLOWER);
    uc_verify_sequence_fault(&v, text);
    assert_string_equal(text, "slow: takes 2.50 ms, predicted were 2.20 ms");
    v.sequence.planned_spread_ns = 80000;
    assert_int_equal(uc_verify_judge(&v, 0.1), 0);
    strcpy(v.sequence.reason, "no operation runs");
    assert_int_equal(uc_verify_judge(&v, 0.1), 1);
    uc_verify_sequence_fault(&v, text);
    assert_string_equal(text, "failed: no operation runs");
    stop(&plan, &v);
}

/* The undivided counterpart ------------------------------------------------*/

/** Batch 256 rows of conv2 forward: algorithm, workspace, time, outcome. */
static struct uc_profile *profile_with_rows(const struct uc_plan *plan)
{
    static const struct {
        int algorithm;
        int64_t workspace_bytes, time_ns;
        enum uc_outcome outcome;
    } rows[] = {
        { 0, 0, 1500000, UC_MEASURED },
        { 1, 60 << 20, 1100000, UC_MEASURED },
        { 4, 65 << 20, 500000, UC_MEASURED }, /* over 64 MiB */
        { 5, 1 << 20, 300000, UC_WRONG },
        { 6, 64 << 20, 1000000, UC_MEASURED },
    };
    struct uc_profile *profile;
    int64_t env;

    assert_done(
        uc_profile_open(in_folder("p"), UC_PROFILE_WRITE, &profile, err));
    assert_done(
        uc_profile_add_environment(profile, &plan->environment, &env, err));
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct uc_measurement m = sample_measurement(256, rows[i].algorithm);

        m.workspace_bytes = rows[i].workspace_bytes;
        m.time_ns = rows[i].outcome == UC_MEASURED ? rows[i].time_ns : 0;
        m.outcome = rows[i].outcome;
        if (m.outcome != UC_MEASURED) {
            strcpy(m.reason, "relative L2 error 0.3");
            m.spread_ns = m.host_ns = m.calls = m.samples = 0;
            memset(m.sample_ns, 0, sizeof m.sample_ns);
        }
        assert_done(uc_profile_store(profile, env, &plan->operations[0].problem,
                                     &m, err));
    }
    return profile;
}

/** The kernel chosen for conv2 forward; -1: none. */
static int chosen(struct uc_plan *plan, struct uc_profile *profile)
{
    struct uc_verification v;
    int algorithm = -1;

    assert_done(uc_verification_init(plan, &v, err));
    assert_done(uc_verify_choose(&v, profile, err));
    if (v.operations[0].choice.source == UC_UNDIVIDED_PROFILE)
        algorithm = v.operations[0].choice.kernel.algorithm;
    assert_int_equal(v.operations[1].choice.source, UC_UNDIVIDED_NONE);
    uc_verification_free(&v);
    return algorithm;
}

static void the_undivided_kernel_is_the_one_of_the_plans_time(void **state)
{
    struct uc_plan plan;
    struct uc_profile *profile;

    (void)state;
    sample_plan(&plan);
    profile = profile_with_rows(&plan);
    assert_int_equal(chosen(&plan, profile), 6); /* 1 ms */
    plan.operations[0].undivided_ns = 1500000;
    assert_int_equal(chosen(&plan, profile), 0);
    plan.operations[0].undivided_ns = 1234567; /* measured again since */
    assert_int_equal(chosen(&plan, profile), 6);
    plan.limit_bytes = (64 << 20) - 1;
    assert_int_equal(chosen(&plan, profile), 1);
    plan.limit_bytes = 65 << 20;
    assert_int_equal(chosen(&plan, profile), 4);
    /* Of a total, an operation's own part: 60000000 bytes are less than
     * any but algorithm 0 needs. */
    plan.mode = UC_PLAN_WD;
    assert_int_equal(chosen(&plan, profile), 0);
    plan.operations[0].undivided_ns = 1000000;
    assert_int_equal(chosen(&plan, profile), 6);
    /* All rows are of the legacy API. */
    plan.choices.apis = 1u << UC_API_GRAPH;
    assert_int_equal(chosen(&plan, profile), -1);
    plan.choices.apis = 1u << UC_API_LEGACY;
    assert_int_equal(chosen(&plan, profile), 6);
    uc_profile_close(profile);
    uc_plan_free(&plan);
}

static void a_profile_of_another_device_is_refused(void **state)
{
    struct uc_plan plan;
    struct uc_verification v;
    struct uc_profile *profile;
    struct uc_error failure;

    (void)state;
    sample_plan(&plan);
    profile = profile_with_rows(&plan);
    plan.environment.versions.cuda++;
    assert_done(uc_verification_init(&plan, &v, err));
    assert_int_equal(uc_verify_choose(&v, profile, &failure), UC_EINPUT);
    assert_says(&failure, "no measurements of the device and versions");
    uc_verification_free(&v);
    uc_profile_close(profile);
    uc_plan_free(&plan);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_as_predicted_is_verified),
        cmocka_unit_test(time_is_held_against_tolerance_and_spread),
        cmocka_unit_test(the_worst_is_told),
        cmocka_unit_test(what_was_not_run_has_failed),
        cmocka_unit_test(the_sequence_is_judged_too),
        cmocka_unit_test_setup_teardown(
            the_undivided_kernel_is_the_one_of_the_plans_time, folder_setup,
            folder_teardown),
        cmocka_unit_test_setup_teardown(a_profile_of_another_device_is_refused,
                                        folder_setup, folder_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
