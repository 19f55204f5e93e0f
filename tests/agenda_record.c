/*
 * The agenda's records of searches: what was found, what was left out, and
 * whether it was tuned, also when a run was killed.
 */
#include "config.h"

#include "tests/agenda_play.h"

#include "planner/tune.h"

/** Pruned by the search, and by each of two tunings, of which the second could
    find more. */
static void what_is_found_again_is_counted_once(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);
    struct uc_search first, second;

    (void)state;
    play.values = 2;
    play_run(&play, 8, "2,4");
    play.options.tune = true;
    play.options.no_runtime_compiled = true;
    play_run(&play, 8, "2,4");
    first = play_record(&play, UC_API_GRAPH, 2, false);
    assert_int_equal(first.pruned, 1);
    play.options.no_runtime_compiled = false;
    assert_int_equal(play_run(&play, 8, "2,4"), 3);
    assert_string_equal(play.measured, "");
    second = play_record(&play, UC_API_GRAPH, 2, false);
    assert_int_not_equal(second.tune_left_out, first.tune_left_out);
    assert_int_equal(second.found, first.found);
    assert_int_equal(second.pruned, first.pruned);
}

/** The second may tune engine 1, too, which is compiled when it is built. */
static void what_a_second_tuning_leaves_out_is_counted(void **state)
{
    struct uc_work_kernel engines[] = {
        play_engine(1, UC_NOTE_RUNTIME_COMPILED), play_engine(2, 0)
    };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);

    (void)state;
    play.values = 2;
    play_run(&play, 8, "2,4");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).pruned, 0);
    play.options.tune = true;
    play.options.no_runtime_compiled = true;
    play_run(&play, 8, "2,4");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).pruned, 1);
    play.options.no_runtime_compiled = false;
    play_run(&play, 8, "2,4");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).pruned, 2);
}

/** Of the search, which the tuning does not admit; killed after a round. */
static void what_an_earlier_search_admitted_is_counted(void **state)
{
    struct uc_work_kernel engines[] = {
        play_engine(1, 0), play_engine(3, UC_NOTE_RUNTIME_COMPILED)
    };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);

    (void)state;
    play_run(&play, 4, "undivided");
    play.options.tune = true;
    play.options.no_runtime_compiled = true;
    play.most_works = 3; /* asked, asked what is like it, and measured */
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1=1 ");
    play.most_works = 0;
    play_run(&play, 4, "undivided");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 3);
    assert_false(play_record(&play, UC_API_GRAPH, 4, false).left_out &
                 UC_NOTE_RUNTIME_COMPILED);
}

/** What tuning left out is no part of a search, also of a wider one. */
static void a_wider_search_knows_that_tuning_left_out(void **state)
{
    struct uc_work_kernel engines[] = {
        play_engine(2, 0), play_engine(1, UC_NOTE_RUNTIME_COMPILED)
    };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);
    struct uc_search record;

    (void)state;
    play.values = 2;
    play.options.tune = true;
    play.options.no_runtime_compiled = true;
    play_run(&play, 8, "2,4");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).pruned, 1);
    play.options.tune = play.options.no_runtime_compiled = false;
    play_run(&play, 8, "2,4");
    assert_string_equal(play.measured, "8:eng1 4:eng1 2:eng1 ");
    record = play_record(&play, UC_API_GRAPH, 2, false);
    assert_int_equal(record.pruned, 1);
    assert_int_equal(record.found, 4); /* and three rows */
    assert_true(record.tuned);
    play.options.tune = play.options.exhaustive = true;
    play.options.no_runtime_compiled = true;
    play_run(&play, 8, "2,4");
    assert_string_equal(play.measured, "2:eng2=2 ");
}

/** Engine 90 fits where the others were tuned before; its record says so. */
static struct play tune_before_it_fits(const struct uc_work_kernel two[2])
{
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, two, 2);

    play.options.tune = true;
    play_run(&play, 4, "undivided");
    assert_true(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    play.options.max_workspace_bytes = PLAY_LARGE;
    return play;
}

static void what_fits_later_is_tuned_then(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(90, 0) };
    struct play play = tune_before_it_fits(engines);

    (void)state;
    play.options.tune = false;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng90 ");
    assert_false(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    play.options.tune = true;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng90=1 ");
    assert_true(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
}

static void what_fits_while_tuning_is_tuned_at_once(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(90, 0) };
    struct play play = tune_before_it_fits(engines);

    (void)state;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng90 4:eng90=1 ");
    assert_true(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
}

static void what_fits_later_is_tuned_though_that_run_was_killed(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(90, 0) };
    struct play play = tune_before_it_fits(engines);

    (void)state;
    play.most_works = 1;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng90 ");
    assert_false(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    play.most_works = 0;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng90=1 ");
}

/** It is tried in every run, and nothing else is done again. */
static void what_never_fits_leaves_the_rest_tuned(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(92, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);
    struct uc_search first, again;

    (void)state;
    play.options.tune = true;
    play_run(&play, 4, "undivided");
    first = play_record(&play, UC_API_GRAPH, 4, false);
    assert_true(first.tuned);
    for (int how = 0; how < 3; how++) {
        play.options.tune = how == 1;
        play.options.exhaustive = how == 2; /* nothing is left out */
        assert_int_equal(play_run(&play, 4, "undivided"), 1);
        assert_string_equal(play.measured, "4:eng92 ");
        assert_int_equal(play.searches, 0);
        again = play_record(&play, UC_API_GRAPH, 4, false);
        assert_true(again.tuned);
        assert_int_equal(again.found, first.found);
        assert_int_equal(again.pruned, first.pruned);
    }
}

static void what_fits_at_one_size_leaves_the_others_tuned(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(90, 0),
                                        play_engine(92, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_BACKWARD_FILTER, engines, 3);
    struct uc_measurement large = { .micro_batch = 4,
                                    .accumulate = true,
                                    .kernel = engines[1].kernel,
                                    .outcome = UC_TOO_LARGE,
                                    .reason = "as played",
                                    .workspace_bytes = PLAY_LARGE,
                                    .error = -1 };

    (void)state;
    play.options.tune = true;
    play.options.max_workspace_bytes = PLAY_LARGE;
    play_run(&play, 8, "2,4");
    assert_done(
        uc_profile_store(play_profile, play_env, &play.problem, &large, err));
    play.options.tune = false;
    play_run(&play, 8, "2,4"); /* engine 92 does not fit at any */
    assert_string_equal(play.measured, "8:eng92 4:eng92 4:eng90+ 4:eng92+ "
                                       "2:eng92 2:eng92+ ");
    assert_true(play_record(&play, UC_API_GRAPH, 8, false).tuned);
    assert_true(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    assert_false(play_record(&play, UC_API_GRAPH, 4, true).tuned);
    assert_true(play_record(&play, UC_API_GRAPH, 2, false).tuned);
    assert_true(play_record(&play, UC_API_GRAPH, 2, true).tuned);
}

/** Not made again by this run, though tuning waits for it. */
static void a_search_for_what_fits_is_given_up(void **state)
{
    static struct stage stage;
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(90, 0) };
    struct play play = tune_before_it_fits(engines);

    (void)state;
    stage_begin(&stage, &play, 1);
    stage_next(&stage, false);
    assert_int_equal(stage.work.kernel_count, 1); /* engine 90 */
    stage_play(&stage, &play, false);
    assert_true(stage.work.search);
    uc_agenda_search_failed(&stage.agenda, true);
    stage_close(&stage, false);
    assert_false(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng90=1 ");
}

/** Engine 94 is hopeless at 16 and 8, where it was measured later. */
static void what_is_tried_again_is_not_left_out(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(94, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);

    (void)state;
    play_run(&play, 2, "undivided");
    assert_string_equal(play.measured, "2:eng1 2:eng94 ");
    play.options.max_workspace_bytes = PLAY_LARGE;
    play_run(&play, 16, "8");
    assert_int_equal(play_run(&play, 16, "2,8"), 1);
    assert_string_equal(play.measured, "2:eng94 ");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).found, 2);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).pruned, 0);
    assert_int_equal(play_run(&play, 16, "2,8"), 0);
}

static void what_works_in_a_refresh_is_tuned_anew(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    play.hanging = 1;
    play.options.tune = true;
    play_run(&play, 4, "2");
    assert_true(play_record(&play, UC_API_GRAPH, 2, false).tuned);
    play.hanging = 0;
    play.options.tune = false;
    play.options.refresh_before = PLAY_MEASURED_AT + 1;
    play_run(&play, 4, "2");
    assert_true(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    assert_false(play_record(&play, UC_API_GRAPH, 2, false).tuned);
}

static void what_was_too_large_and_is_gone_is_tried_once(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(90, 0) };
    struct play play = tune_before_it_fits(engines);

    (void)state;
    play.gone = 90;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng90 ");
    assert_true(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
}

/** Tuned, with engine 2 left out at 2 images. */
static struct play tune_less_than_all(const struct uc_work_kernel two[2])
{
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, two, 2);

    play.options.tune = true;
    play_run(&play, 8, "2,4");
    assert_true(play_record(&play, UC_API_GRAPH, 2, false).tuned);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).pruned, 1);
    return play;
}

/** A search of everything brings what was pruned before, which is tuned. */
static void an_exhaustive_search_is_tuned_anew(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = tune_less_than_all(engines);

    (void)state;
    play.options.tune = false;
    play.options.exhaustive = true;
    play_run(&play, 8, "2,4");
    assert_string_equal(play.measured, "2:eng2 ");
    assert_false(play_record(&play, UC_API_GRAPH, 2, false).tuned);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).found, 3);
    play.options.tune = true;
    assert_int_equal(play_run(&play, 8, "2,4"), 1);
    assert_true(play_record(&play, UC_API_GRAPH, 2, false).tuned);
    assert_int_equal(play_run(&play, 8, "2,4"), 0);
}

static void an_exhaustive_search_that_was_killed_is_tuned_anew(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = tune_less_than_all(engines);

    (void)state;
    play.options.tune = false;
    play.options.exhaustive = true;
    play.most_works = 2;
    play_run(&play, 8, "2,4");
    assert_string_equal(play.measured, "2:eng2 ");
    play.options.exhaustive = false;
    play.options.tune = true;
    play.most_works = 0;
    assert_int_equal(play_run(&play, 8, "2,4"), 1);
}

/** What tuning left out, no search names: it is left to the next tuning. */
static void an_exhaustive_search_that_finds_nothing_is_made_once(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);
    struct uc_search before, after;

    (void)state;
    play.values = 2;
    play.options.tune = true;
    play_run(&play, 8, "2,4");
    before = play_record(&play, UC_API_GRAPH, 2, false);
    assert_true(before.tuned && before.pruned == 1);
    play.options.tune = false;
    play.options.exhaustive = true;
    play_run(&play, 8, "2,4");
    assert_int_equal(play.kernels, 0);
    after = play_record(&play, UC_API_GRAPH, 2, false);
    assert_false(after.tuned);
    assert_int_equal(after.found, before.found - before.pruned);
    assert_int_equal(after.pruned, 0);
    assert_int_equal(play_run(&play, 8, "2,4"), 0);
    play.options.tune = true;
    assert_int_equal(play_run(&play, 8, "2,4"), 1);
    assert_string_equal(play.measured, "2:eng1=2 ");
    assert_true(play_record(&play, UC_API_GRAPH, 2, false).tuned);
}

/** All was looked at, though nothing came of it. */
static void an_exhaustive_search_that_is_tuned_leaves_nothing_out(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = tune_less_than_all(engines);

    (void)state;
    play.options.exhaustive = true;
    play.gone = 2;
    assert_int_equal(play_run(&play, 8, "2,4"), 1);
    assert_true(play_record(&play, UC_API_GRAPH, 2, false).tuned);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).pruned, 0);
    assert_int_equal(play_run(&play, 8, "2,4"), 0);
}

/** Engine 2 at 2 images has a row, though it is hopeless there. */
static void a_remeasuring_leaves_out_nothing_that_has_a_row(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);

    (void)state;
    play.options.exhaustive = true;
    play_run(&play, 8, "2,4");
    play.options.exhaustive = false;
    play.options.remeasure = true;
    play_run(&play, 8, "2,4");
    assert_string_equal(play.measured, "8:eng1 8:eng2 4:eng1 4:eng2 "
                                       "2:eng1 2:eng2 ");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).found, 2);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).pruned, 0);
}

/** The rows that only tuning finds stay. */
static void a_remeasuring_counts_what_it_does_not_find(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    play.options.tune = true;
    play_run(&play, 4, "undivided");
    play.options.tune = false;
    play.options.remeasure = true;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 ");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 2);
    assert_false(play_record(&play, UC_API_GRAPH, 4, false).tuned);
}

/** Engine 90 is there since, as after an update. */
static void a_remeasuring_that_was_killed_is_tuned_anew(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(90, 0) };
    struct play play = tune_before_it_fits(engines);

    (void)state;
    play.options.tune = false;
    play.options.remeasure = true;
    play.most_works = 2;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 4:eng90 ");
    play.options.remeasure = false;
    play.options.tune = true;
    play.most_works = 0;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_again_is_counted_once),
        cmocka_unit_test(what_a_second_tuning_leaves_out_is_counted),
        cmocka_unit_test(what_an_earlier_search_admitted_is_counted),
        cmocka_unit_test(a_wider_search_knows_that_tuning_left_out),
        cmocka_unit_test(what_fits_later_is_tuned_then),
        cmocka_unit_test(what_fits_while_tuning_is_tuned_at_once),
        cmocka_unit_test(what_fits_later_is_tuned_though_that_run_was_killed),
        cmocka_unit_test(what_never_fits_leaves_the_rest_tuned),
        cmocka_unit_test(what_fits_at_one_size_leaves_the_others_tuned),
        cmocka_unit_test(a_search_for_what_fits_is_given_up),
        cmocka_unit_test(what_is_tried_again_is_not_left_out),
        cmocka_unit_test(what_works_in_a_refresh_is_tuned_anew),
        cmocka_unit_test(what_was_too_large_and_is_gone_is_tried_once),
        cmocka_unit_test(an_exhaustive_search_that_finds_nothing_is_made_once),
        cmocka_unit_test(an_exhaustive_search_that_is_tuned_leaves_nothing_out),
        cmocka_unit_test(a_remeasuring_leaves_out_nothing_that_has_a_row),
        cmocka_unit_test(a_remeasuring_counts_what_it_does_not_find),
        cmocka_unit_test(an_exhaustive_search_is_tuned_anew),
        cmocka_unit_test(an_exhaustive_search_that_was_killed_is_tuned_anew),
        cmocka_unit_test(a_remeasuring_that_was_killed_is_tuned_anew),
    };

    return cmocka_run_group_tests_name("records", tests, play_set_up,
                                       play_tear_down);
}
