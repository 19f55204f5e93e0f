/* Which kernels are left out, by hand-made rows. */
#include "config.h"

#include "tests/unit.h"

#include "planner/prune.h"

#include <stdlib.h>

enum { MIB = 1 << 20 };

static struct uc_kernel engine(int number)
{
    return (struct uc_kernel){ .api = UC_API_GRAPH, .engine = number };
}

static struct uc_measurement row(int number, int64_t size, int64_t workspace,
                                 int64_t time_ns)
{
    return (struct uc_measurement){ .micro_batch = size,
                                    .kernel = engine(number),
                                    .outcome = UC_MEASURED,
                                    .workspace_bytes = workspace,
                                    .time_ns = time_ns };
}

/** Of engines 1, 2 and 3, engine 1 needs `workspace` at the size in question,
    the others 1 MiB. */
static bool leaves_out_at(const struct uc_measurement *rows, size_t count,
                          int number, int64_t size, bool accumulate,
                          int64_t workspace)
{
    struct uc_work_kernel here[3];
    struct uc_prune prune;
    struct uc_error err;
    bool result;

    for (int i = 0; i < 3; i++)
        here[i] = (struct uc_work_kernel){
            .kernel = count > 0 && i == 0 ? rows[0].kernel : engine(i + 1),
            .accumulate = accumulate,
            .workspace_bytes = i == 0 ? workspace : MIB
        };
    assert_int_equal(uc_prune_start(rows, count, &prune, &err), UC_OK);
    result = uc_prune_leaves_out(&prune, here, 3, (size_t)number - 1, size);
    uc_prune_end(&prune);
    return result;
}

static bool leaves_out(const struct uc_measurement *rows, size_t count,
                       int number, int64_t size, bool accumulate)
{
    return leaves_out_at(rows, count, number, size, accumulate, MIB);
}

/** Engine 1 beats engine 2 at 64 and 32. */
static const struct uc_measurement *beaten_twice(void)
{
    static struct uc_measurement rows[4];

    rows[0] = row(1, 64, MIB, 1000);
    rows[1] = row(2, 64, MIB, 1100);
    rows[2] = row(2, 32, MIB, 600);
    rows[3] = row(1, 32, MIB / 2, 500);
    return rows;
}

static void one_beaten_at_two_sizes_in_a_row_is_left_out_below(void **state)
{
    const struct uc_measurement *rows = beaten_twice();

    (void)state;
    assert_true(leaves_out(rows, 4, 2, 16, false));
    assert_true(leaves_out(rows, 4, 2, 1, false));
    assert_true(leaves_out(rows, 4, 2, 48, false)); /* between them */
    assert_false(leaves_out(rows, 4, 2, 64, false));
    assert_false(leaves_out(rows, 4, 2, 128, false));
    assert_false(leaves_out(rows, 4, 1, 16, false)); /* the winner */
    assert_false(leaves_out(rows, 4, 3, 16, false)); /* a newcomer */
    assert_false(leaves_out(rows, 4, 2, 16, true));  /* other beta case */
    assert_false(leaves_out(rows, 2, 2, 16, false)); /* once is not enough */
}

static void time_and_workspace_and_margin_count(void **state)
{
    struct uc_measurement rows[4];

    (void)state;
    for (int i = 0; i < 5; i++) {
        memcpy(rows, beaten_twice(), sizeof rows);
        switch (i) {
        case 0:
            rows[3].workspace_bytes = MIB + 1;
            break;
        case 1:
            rows[2].time_ns = 525; /* 5 % and no more */
            break;
        case 2:
            rows[2].spread_ns = rows[3].spread_ns = 50;
            break;
        case 3:
            rows[3].outcome = UC_CUT_OFF; /* no plan can use it */
            break;
        default:
            rows[3].outcome = UC_WRONG;
        }
        assert_false(leaves_out(rows, 4, 2, 16, false));
    }
    memcpy(rows, beaten_twice(), sizeof rows);
    rows[2].time_ns = 526;
    assert_true(leaves_out(rows, 4, 2, 16, false));
    rows[2].outcome = UC_CUT_OFF; /* cut off is timed */
    assert_true(leaves_out(rows, 4, 2, 16, false));
}

static void only_what_every_plan_admits_in_its_place_beats(void **state)
{
    static const struct {
        unsigned winner, loser;
        bool left_out;
    } cases[] = {
        { UC_NOTE_NONDETERMINISTIC, 0, false },
        { UC_NOTE_DOWN_CONVERT, 0, false },
        { UC_NOTE_REDUCED_PRECISION, 0, false },
        { UC_NOTE_RUNTIME_COMPILED, 0, false },
        { UC_NOTE_RUNTIME_COMPILED, UC_NOTE_DOWN_CONVERT, false },
        { UC_NOTE_NONDETERMINISTIC, UC_NOTE_NONDETERMINISTIC, true },
        { 0, UC_NOTE_NONDETERMINISTIC | UC_NOTE_TENSOR_CORE, true },
        /* No plan refuses these. */
        { UC_NOTE_TENSOR_CORE | UC_NOTE_WINOGRAD | UC_NOTE_FFT, 0, true },
    };
    struct uc_measurement rows[4];

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        memcpy(rows, beaten_twice(), sizeof rows);
        rows[0].notes = rows[3].notes = cases[i].winner;
        rows[1].notes = rows[2].notes = cases[i].loser;
        if (leaves_out(rows, 4, 2, 16, false) != cases[i].left_out)
            fail_msg("case %zu", i);
    }
    /* A plan may refuse an API as a whole. */
    memcpy(rows, beaten_twice(), sizeof rows);
    rows[0].kernel = rows[3].kernel = (struct uc_kernel){ .algorithm = 1 };
    assert_false(leaves_out(rows, 4, 2, 16, false));
}

static void the_conqueror_must_be_there_and_need_no_more(void **state)
{
    const struct uc_measurement *rows = beaten_twice();
    struct uc_work_kernel alone = { .kernel = engine(2) };
    struct uc_prune prune;
    struct uc_error err;

    (void)state;
    assert_true(leaves_out_at(rows, 4, 2, 16, false, MIB));
    assert_false(leaves_out_at(rows, 4, 2, 16, false, MIB + 1));
    assert_int_equal(uc_prune_start(rows, 4, &prune, &err), UC_OK);
    assert_false(uc_prune_leaves_out(&prune, &alone, 1, 0, 16));
    uc_prune_end(&prune);
}

static void two_conquerors_once_each_are_none(void **state)
{
    struct uc_measurement rows[4];

    (void)state;
    memcpy(rows, beaten_twice(), sizeof rows);
    rows[3].kernel = engine(3);
    assert_false(leaves_out(rows, 4, 2, 16, false));
}

static void sizes_close_together_prove_nothing(void **state)
{
    struct uc_measurement rows[6];

    (void)state;
    memcpy(rows, beaten_twice(), 4 * sizeof *rows);
    rows[2].micro_batch = rows[3].micro_batch = 60;
    assert_false(leaves_out(rows, 4, 2, 16, false));
    rows[4] = row(1, 42, MIB / 2, 500);
    rows[5] = row(2, 42, MIB, 600);
    assert_true(leaves_out(rows, 6, 2, 16, false));
    rows[5].time_ns = 400; /* not beaten in between */
    assert_false(leaves_out(rows, 6, 2, 16, false));
}

static void a_size_where_it_is_good_ends_the_row(void **state)
{
    struct uc_measurement rows[8];

    (void)state;
    memcpy(rows, beaten_twice(), 4 * sizeof *rows);
    rows[4] = row(1, 16, MIB / 2, 300);
    rows[5] = row(2, 16, MIB, 200);
    rows[6] = row(1, 8, MIB / 2, 100);
    rows[7] = row(2, 8, MIB, 200);
    assert_false(leaves_out(rows, 6, 2, 8, false));
    assert_false(leaves_out(rows, 8, 2, 4, false));
    rows[4].time_ns = 100;
    assert_true(leaves_out(rows, 8, 2, 4, false));
}

static void beta_cases_are_apart(void **state)
{
    struct uc_measurement rows[4];

    (void)state;
    memcpy(rows, beaten_twice(), sizeof rows);
    rows[2].accumulate = rows[3].accumulate = true;
    assert_false(leaves_out(rows, 4, 2, 16, false));
    rows[0].accumulate = rows[1].accumulate = true;
    assert_true(leaves_out(rows, 4, 2, 16, true));
    assert_false(leaves_out(rows, 4, 2, 16, false));
}

static void nothing_known_leaves_nothing_out(void **state)
{
    (void)state;
    assert_false(leaves_out(NULL, 0, 2, 16, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_beaten_at_two_sizes_in_a_row_is_left_out_below),
        cmocka_unit_test(time_and_workspace_and_margin_count),
        cmocka_unit_test(only_what_every_plan_admits_in_its_place_beats),
        cmocka_unit_test(the_conqueror_must_be_there_and_need_no_more),
        cmocka_unit_test(two_conquerors_once_each_are_none),
        cmocka_unit_test(sizes_close_together_prove_nothing),
        cmocka_unit_test(a_size_where_it_is_good_ends_the_row),
        cmocka_unit_test(beta_cases_are_apart),
        cmocka_unit_test(nothing_known_leaves_nothing_out),
    };

    return cmocka_run_group_tests_name("prune", tests, NULL, NULL);
}
