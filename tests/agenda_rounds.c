/* The agenda's rounds of tuning, and what is recorded of them. */
#include "config.h"

#include "tests/agenda_play.h"

#include "planner/tune.h"

static void tuning_goes_on_from_what_it_finds_until_nothing_is_better(
    void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(4, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);
    struct uc_search search;

    (void)state;
    play.options.tune = true;
    play.values = 4; /* 1000, 900, 800, 700, and 1000 again */
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured,
                        "4:eng1 4:eng4 4:eng1=1 4:eng1=2 4:eng1=3 4:eng1=4 ");
    assert_int_equal(play.likes, 4); /* not of 4, which is slow */
    search = play_record(&play, UC_API_GRAPH, 4, false);
    assert_true(search.tuned);
    assert_int_equal(search.found, 6);
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
    play.options.tune = false;
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
}

static void tuning_ends_after_some_rounds(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    play.options.tune = true;
    play.values = 9;
    play_run(&play, 4, "undivided");
    assert_int_equal(play.likes, UC_TUNE_ROUNDS);
    assert_int_equal(play.kernels, 1 + UC_TUNE_ROUNDS);
    assert_true(play_record(&play, UC_API_GRAPH, 4, false).tuned);
}

/** More of them are equally good than a work can name. */
static void what_has_no_room_in_a_round_is_tuned_in_the_next(void **state)
{
    enum { MANY = UC_WORK_KERNELS + 88 };
    static struct uc_work_kernel engines[MANY];
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, MANY);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        struct uc_measurement row = { .micro_batch = 4,
                                      .outcome = UC_MEASURED,
                                      .time_ns = 1000,
                                      .workspace_bytes = PLAY_WORKSPACE,
                                      .error = -1,
                                      .calls = 1 };

        engines[i] = play_engine(100 + i, 0);
        row.kernel = engines[i].kernel;
        assert_done(
            uc_profile_store(play_profile, play_env, &play.problem, &row, err));
    }
    play.options.tune = true;
    play.values = 0; /* nothing is like them */
    play_run(&play, 4, "undivided");
    assert_int_equal(play.kernels, 0);
    assert_int_equal(play.likes, MANY);
    assert_int_equal(play.searches, 3); /* what there is, and two rounds */
}

/** What was searched before is not searched again, but with a new record. */
static void what_is_there_can_be_tuned_later(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_BOTH, UC_BACKWARD_FILTER, &one, 1);

    (void)state;
    play.values = 2;
    assert_int_equal(play_run(&play, 4, "2"), 2);
    assert_false(play_record(&play, UC_API_GRAPH, 2, true).tuned);
    play.options.tune = true;
    assert_int_equal(play_run(&play, 4, "2"), 2);
    assert_string_equal(play.measured, "4:eng1=1 4:eng1=2 2:eng1=1 "
                                       "2:eng1=2 2:eng1+=1 2:eng1+=2 ");
    for (int beta = 0; beta < 2; beta++) {
        struct uc_search search =
            play_record(&play, UC_API_GRAPH, 2, beta == 1);

        assert_true(search.tuned);
        assert_int_equal(search.found, 3);
    }
    assert_int_equal(play_run(&play, 4, "2"), 0);
}

/** A search that looks at more has found what was not tuned. */
static void what_is_found_later_is_tuned_later(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(2, 0),
                                        play_engine(1, UC_NOTE_DOWN_CONVERT) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);

    (void)state;
    play.options.tune = true;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng2 4:eng2=1 ");
    play.options.allow = UC_NOTE_DOWN_CONVERT;
    play.options.tune = false;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 ");
    play.options.tune = true;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng1=1 ");
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
}

/** What was tuned with less admitted is not all that can be, and nothing is
    searched again that was. */
static void a_narrow_tuning_does_not_stand_for_a_wide_one(void **state)
{
    struct uc_work_kernel engines[] = {
        play_engine(2, 0), play_engine(1, UC_NOTE_RUNTIME_COMPILED)
    };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);
    struct uc_search search;

    (void)state;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng2 4:eng1 ");
    play.options.tune = true;
    play.options.no_runtime_compiled = true;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng2=1 ");
    search = play_record(&play, UC_API_GRAPH, 4, false);
    assert_false(search.left_out & UC_NOTE_RUNTIME_COMPILED);
    assert_true(search.tuned &&
                search.tune_left_out & UC_NOTE_RUNTIME_COMPILED);
    play.options.tune = play.options.no_runtime_compiled = false;
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
    play.options.tune = true;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng1=1 ");
    play.options.no_runtime_compiled = true;
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
}

/** The best of the size above is tried, though no heuristic names it. */
static void tuning_begins_with_the_best_of_the_size_above(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    play.values = 4;
    play.options.tune = true;
    play_run(&play, 4, "undivided");
    assert_int_equal(play_run(&play, 4, "2"), 1);
    assert_string_equal(play.measured,
                        "2:eng1 2:eng1=1 2:eng1=2 2:eng1=3 2:eng1=4 ");
    assert_int_equal(play.likes, 2); /* of none and of 3, at once */
}

/** Each of its configurations would hang for a minute. */
static void an_engine_that_hangs_is_not_tuned(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);

    (void)state;
    play.options.tune = true;
    play.hanging = 1;
    play_run(&play, 4, "2");
    assert_string_equal(play.measured, "4:eng1 4:eng2 4:eng1=1 "
                                       "2:eng1 2:eng2 2:eng2=1 ");
}

static void a_killed_tuning_is_made_again(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    play.values = 4;
    play.options.tune = true;
    play.most_works = 4; /* search, measure, and a round of tuning */
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 4:eng1=1 ");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, -1);
    play.most_works = 0;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng1=2 4:eng1=3 4:eng1=4 ");
    assert_int_equal(play.likes, 4); /* from the start, as if not killed */
    assert_true(play_record(&play, UC_API_GRAPH, 4, false).tuned);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 5);
}

/** Size 4 up to the first round of its tuning, whose search is in hand. */
static void begin_tuning(struct stage *stage, struct play *play)
{
    play->options.tune = true;
    stage_open(stage, play, 1);
    stage_play(stage, play, false);
    stage_play(stage, play, false);
    assert_true(stage->work.search && stage->work.kernel_count == 1);
}

static void a_round_that_fails_keeps_what_the_search_found(void **state)
{
    static struct stage stage;
    struct uc_work_kernel one = play_engine(1, 0), two = play_engine(2, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    begin_tuning(&stage, &play);
    assert_done(uc_agenda_candidate(&stage.agenda, &two, err));
    uc_agenda_search_failed(&stage.agenda, false); /* it is made again */
    assert_done(uc_agenda_candidate(&stage.agenda, &two, err));
    stage_next(&stage, false);
    assert_true(!stage.work.search && stage.work.kernel_count == 1);
    play_work(&play, &stage.agenda, &stage.work);
    stage_close(&stage, false);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 2);
}

/** The next run does the rest of the round, as the killed one would have. */
static void a_round_that_crashed_and_was_killed_is_made_again(void **state)
{
    static struct stage stage;
    struct uc_work_kernel one = play_engine(1, 0), turned = one;
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);
    struct uc_measurement crashed = { .micro_batch = 4,
                                      .outcome = UC_CRASHED,
                                      .reason = "as played",
                                      .error = -1 };

    (void)state;
    turned.kernel.knob_count = 1;
    turned.kernel.knobs[0] = (struct uc_knob){ 5, 1 };
    crashed.kernel = turned.kernel;
    begin_tuning(&stage, &play);
    assert_done(uc_agenda_candidate(&stage.agenda, &turned, err));
    stage_next(&stage, false);
    assert_done(uc_agenda_settle(&stage.agenda, &crashed, err));
    uc_agenda_close(&stage.agenda);
    play_run(&play, 4, "undivided");
    assert_int_equal(play.likes, 1);
    assert_int_equal(play.kernels, 0);
    assert_true(play_record(&play, UC_API_GRAPH, 4, false).tuned);
}

static void a_round_given_up_leaves_the_size_for_the_next_run(void **state)
{
    static struct stage stage;
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    begin_tuning(&stage, &play);
    uc_agenda_search_failed(&stage.agenda, true);
    stage_close(&stage, false);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, -1);
}

static void what_could_not_be_settled_stays_open_through_the_tuning(
    void **state)
{
    static struct stage stage;
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    begin_tuning(&stage, &play);
    uc_agenda_leave_unrecorded(&stage.agenda);
    uc_agenda_search_failed(&stage.agenda, false);
    stage_close(&stage, false);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, -1);
}

/** As when the references of a work all take down the worker. */
static void what_is_held_before_the_tuning_is_not_tuned(void **state)
{
    static struct stage stage;
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    play.options.tune = true;
    play_run(&play, 8, "undivided"); /* what the next size would begin with */
    stage_open(&stage, &play, 1);
    play_work(&play, &stage.agenda, &stage.work);
    stage_next(&stage, false);
    assert_int_equal(stage.work.kernel_count, 1);
    uc_agenda_leave_unrecorded(&stage.agenda);
    stage_close(&stage, false);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            tuning_goes_on_from_what_it_finds_until_nothing_is_better),
        cmocka_unit_test(tuning_ends_after_some_rounds),
        cmocka_unit_test(what_has_no_room_in_a_round_is_tuned_in_the_next),
        cmocka_unit_test(what_is_there_can_be_tuned_later),
        cmocka_unit_test(what_is_found_later_is_tuned_later),
        cmocka_unit_test(a_narrow_tuning_does_not_stand_for_a_wide_one),
        cmocka_unit_test(tuning_begins_with_the_best_of_the_size_above),
        cmocka_unit_test(an_engine_that_hangs_is_not_tuned),
        cmocka_unit_test(a_killed_tuning_is_made_again),
        cmocka_unit_test(a_round_that_fails_keeps_what_the_search_found),
        cmocka_unit_test(a_round_that_crashed_and_was_killed_is_made_again),
        cmocka_unit_test(a_round_given_up_leaves_the_size_for_the_next_run),
        cmocka_unit_test(
            what_could_not_be_settled_stays_open_through_the_tuning),
        cmocka_unit_test(what_is_held_before_the_tuning_is_not_tuned),
    };

    return cmocka_run_group_tests_name("rounds", tests, play_set_up,
                                       play_tear_down);
}
