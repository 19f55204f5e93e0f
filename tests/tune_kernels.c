/* Which engines are tuned, by hand-made rows. */
#include "config.h"

#include "tests/unit.h"

#include "planner/tune.h"

enum { MIB = 1 << 20 };

/** Engine `number` with its tile at `tile`. */
static struct uc_measurement row(int number, int tile, int64_t workspace,
                                 int64_t time_ns)
{
    return (struct uc_measurement){ .micro_batch = 64,
                                    .kernel = { .api = UC_API_GRAPH,
                                                .engine = number,
                                                .knob_count = 1,
                                                .knobs = { { 2, tile } } },
                                    .outcome = UC_MEASURED,
                                    .workspace_bytes = workspace,
                                    .time_ns = time_ns };
}

static void the_fastest_of_each_engine_near_the_best_is_tuned(void **state)
{
    const struct uc_measurement rows[] = {
        row(1, 0, MIB, 1000), row(1, 1, MIB, 999), row(2, 0, MIB, 1040),
        row(3, 0, MIB, 1060), /* 6 % */
    };

    (void)state;
    assert_false(uc_tune_wants(rows, 4, 0));
    assert_true(uc_tune_wants(rows, 4, 1));
    assert_true(uc_tune_wants(rows, 4, 2));
    assert_false(uc_tune_wants(rows, 4, 3));
}

static void of_equal_kernels_one_is_tuned(void **state)
{
    const struct uc_measurement rows[] = { row(1, 3, MIB, 1000),
                                           row(1, 2, MIB, 1000) };

    (void)state;
    assert_false(uc_tune_wants(rows, 2, 0));
    assert_true(uc_tune_wants(rows, 2, 1));
}

static void what_needs_less_workspace_may_be_slower(void **state)
{
    const struct uc_measurement rows[] = {
        row(1, 0, 8 * MIB, 1000), row(1, 1, 4 * MIB, 1500),
        row(2, 0, 4 * MIB, 1600),                     /* 7 % behind */
        row(2, 1, 2 * MIB, 1999), row(2, 2, 0, 2001), /* more than twice */
    };

    (void)state;
    assert_true(uc_tune_wants(rows, 5, 0));
    assert_true(uc_tune_wants(rows, 5, 1));
    assert_false(uc_tune_wants(rows, 5, 2));
    assert_true(uc_tune_wants(rows, 5, 3));
    assert_false(uc_tune_wants(rows, 5, 4));
}

static void sizes_and_beta_cases_are_apart(void **state)
{
    struct uc_measurement rows[] = { row(1, 0, MIB, 1000),
                                     row(1, 1, MIB, 900) };

    (void)state;
    rows[1].micro_batch = 32;
    assert_true(uc_tune_wants(rows, 2, 0));
    rows[1].micro_batch = 64;
    rows[1].accumulate = true;
    assert_true(uc_tune_wants(rows, 2, 0));
    rows[1].accumulate = false;
    assert_false(uc_tune_wants(rows, 2, 0));
}

/** A plan may refuse what is not deterministic, and the legacy API. */
static void what_a_plan_may_refuse_stands_for_nothing(void **state)
{
    struct uc_measurement rows[] = { row(1, 0, MIB, 1000),
                                     row(2, 0, MIB, 100) };

    (void)state;
    rows[1].notes = UC_NOTE_NONDETERMINISTIC;
    assert_true(uc_tune_wants(rows, 2, 0));
    assert_true(uc_tune_wants(rows, 2, 1));
    rows[0].notes = UC_NOTE_NONDETERMINISTIC;
    assert_false(uc_tune_wants(rows, 2, 0));
    rows[1].kernel = (struct uc_kernel){ .api = UC_API_LEGACY };
    assert_true(uc_tune_wants(rows, 2, 0));
}

static void only_measured_engines_are_tuned(void **state)
{
    struct uc_measurement rows[] = { row(1, 0, MIB, 1000),
                                     row(1, 1, MIB, 900) };

    (void)state;
    rows[1].outcome = UC_CUT_OFF;
    assert_true(uc_tune_wants(rows, 2, 0));
    assert_false(uc_tune_wants(rows, 2, 1));
    rows[1].outcome = UC_WRONG;
    assert_true(uc_tune_wants(rows, 2, 0));
    assert_false(uc_tune_wants(rows, 2, 1));
    rows[0].kernel = (struct uc_kernel){ .api = UC_API_LEGACY };
    assert_false(uc_tune_wants(rows, 2, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_of_each_engine_near_the_best_is_tuned),
        cmocka_unit_test(of_equal_kernels_one_is_tuned),
        cmocka_unit_test(what_needs_less_workspace_may_be_slower),
        cmocka_unit_test(sizes_and_beta_cases_are_apart),
        cmocka_unit_test(what_a_plan_may_refuse_stands_for_nothing),
        cmocka_unit_test(only_measured_engines_are_tuned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
