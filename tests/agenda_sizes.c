/* The agenda: sizes in their order, searches, what is measured, what is
   recorded, and how a next run goes on. */
#include "config.h"

#include "tests/agenda_play.h"

static struct uc_known_bad *read_known_bad(const char *line)
{
    struct uc_known_bad *list = NULL;
    const char *path = in_folder("bad");
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(line, file);
    assert_int_equal(fclose(file), 0);
    assert_done(uc_known_bad_read(path, &list, err));
    return list;
}

static void sizes_far_apart_come_first(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    assert_int_equal(play_run(&play, 12, "all"), 12);
    assert_string_equal(play.measured,
                        "12:eng1 8:eng1 4:eng1 2:eng1 1:eng1 11:eng1 10:eng1 "
                        "9:eng1 7:eng1 6:eng1 5:eng1 3:eng1 ");
    assert_int_equal(play.searches, 12);
    assert_int_equal(play.counts.sizes, 12);
}

static void a_finished_problem_is_not_listed_again(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(91, 0) };
    struct play play = play_new(PLAY_BOTH, UC_FORWARD, engines, 2);
    struct uc_search search;

    (void)state;
    play.options.exhaustive = true;
    assert_int_equal(play_run(&play, 4, "power-of-two"), 3);
    assert_int_equal(play.kernels, 3 * (8 + 2));
    search = play_record(&play, UC_API_GRAPH, 4, false);
    assert_int_equal(search.found, 1); /* the other is unsupported */
    assert_int_equal(search.pruned, 0);
    assert_int_equal(search.left_out,
                     UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION);
    /* Rows of the legacy API speak for themselves. */
    assert_int_equal(play_record(&play, UC_API_LEGACY, 4, false).found, -1);
    assert_int_equal(play_run(&play, 4, "power-of-two"), 0);
    play.options.remeasure = true;
    assert_int_equal(play_run(&play, 4, "power-of-two"), 3);
    assert_int_equal(play.kernels, 3 * (8 + 2));
}

static void a_refresh_measures_what_is_old_and_searches_nothing(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_BACKWARD_FILTER, engines, 1);

    (void)state;
    play.options.refresh_before = PLAY_MEASURED_AT + 1;
    assert_int_equal(play_run(&play, 4, "power-of-two"), 0);
    play.options.refresh_before = 0;
    assert_int_equal(play_run(&play, 4, "2"), 2);
    play.engine_count = 2; /* a search would find one more */
    play.options.refresh_before = PLAY_MEASURED_AT;
    assert_int_equal(play_run(&play, 4, "power-of-two"), 0);
    play.options.refresh_before = PLAY_MEASURED_AT + 1;
    assert_int_equal(play_run(&play, 4, "power-of-two"), 2);
    assert_string_equal(play.measured, "4:eng1 2:eng1 2:eng1+ ");
    play_run(&play, 2, "undivided");
    assert_string_equal(play.measured, "2:eng1 ");
    play.options.apis = 1u << UC_API_LEGACY;
    assert_int_equal(play_run(&play, 4, "power-of-two"), 0);
    play.options.apis = PLAY_BOTH;
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 1);
}

static void a_refresh_takes_what_may_be_measured(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(3, 0),
                                        play_engine(2, UC_NOTE_DOWN_CONVERT) };
    struct play play = play_new(PLAY_BOTH, UC_FORWARD, engines, 3);
    struct uc_known_bad *list =
        read_known_bad("forward 2d eng3 9.8.0 9.15.0 played\n");

    (void)state;
    play.options.allow = UC_NOTE_DOWN_CONVERT;
    play.options.exhaustive = true; /* else the third would be left out */
    play_run(&play, 4, "power-of-two");
    assert_int_equal(play.kernels, 3 * (8 + 3));
    play.options.exhaustive = false;
    play.options.refresh_before = PLAY_MEASURED_AT + 1;
    play_run(&play, 4, "power-of-two");
    assert_int_equal(play.kernels, 3 * (8 + 3));
    play.options.allow = 0;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 4:eng3 ");
    play.options.known_bad = list;
    play.options.cudnn = 91400;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 ");
    play.options.max_workspace_bytes = PLAY_WORKSPACE - 1;
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
    uc_known_bad_free(list);
}

static void what_is_gone_is_not_left_as_it_was(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);
    struct uc_measurement *rows = NULL;
    size_t count = 0;

    (void)state;
    play_run(&play, 4, "undivided");
    play.options.refresh_before = PLAY_MEASURED_AT + 1;
    play.gone = 1;
    play_run(&play, 4, "undivided");
    assert_done(uc_profile_load(play_profile, play_env, &play.problem, &rows,
                                &count, err));
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].outcome, UC_UNSUPPORTED);
    free(rows);
}

static void filters_gradients_are_searched_for_both_betas(void **state)
{
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_BACKWARD_FILTER, &one, 1);

    (void)state;
    assert_int_equal(play_run(&play, 4, "power-of-two"), 3);
    assert_string_equal(play.measured, "4:eng1 2:eng1 2:eng1+ 1:eng1 1:eng1+ ");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, true).found, 1);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, true).found, -1);
}

static void a_killed_run_goes_on_at_the_size_it_was_at(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = play_new(PLAY_BOTH, UC_FORWARD, engines, 1);

    (void)state;
    play.options.exhaustive = true;
    play.most_works = 2; /* size 4: searched, measured, not recorded */
    play_run(&play, 4, "power-of-two");
    assert_string_equal(play.measured, "4:eng1 ");
    play.most_works = 0;
    play.engine_count = 2;
    assert_int_equal(play_run(&play, 4, "power-of-two"), 3);
    assert_string_equal(play.measured, "4:eng2 2:eng1 2:eng2 1:eng1 1:eng2 ");
    assert_int_equal(play.kernels, 1 + 2 * (8 + 2));
    assert_int_equal(play_run(&play, 4, "power-of-two"), 0);
}

static void what_an_option_left_out_is_searched_when_it_is_wanted(void **state)
{
    struct uc_work_kernel engines[] = {
        play_engine(1, UC_NOTE_TENSOR_CORE),
        play_engine(2, UC_NOTE_DOWN_CONVERT),
        play_engine(3, UC_NOTE_RUNTIME_COMPILED), play_engine(4, 0)
    };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 4);

    (void)state;
    play.problem.math = UC_MATH_FMA;
    play.options.no_runtime_compiled = true;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng4 ");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 1);
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
    play.options.no_runtime_compiled = false;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng3 ");
    play.options.allow = UC_NOTE_DOWN_CONVERT;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng2 ");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 3);
    /* What is there counts for those that want less. */
    play.options.allow = 0;
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
    play.problem.math = UC_MATH_TF32; /* tensor cores, and FMA is good enough */
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 4:eng3 4:eng4 ");
}

static void hopeless_engines_are_left_out_and_counted(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0),
                                        play_engine(3,
                                                    UC_NOTE_NONDETERMINISTIC) };
    struct play play = play_new(PLAY_BOTH, UC_FORWARD, engines, 3);

    (void)state;
    assert_int_equal(play_run(&play, 16, "2,4,8"), 4);
    assert_string_equal(play.measured, "16:eng1 16:eng2 16:eng3 "
                                       "8:eng1 8:eng2 8:eng3 4:eng1 2:eng1 ");
    assert_int_equal(play.counts.pruned, 4);
    assert_int_equal(play.kernels, 8 + 4 * 8); /* every legacy kernel */
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 3);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).pruned, 2);
    assert_int_equal(play_run(&play, 16, "2,4,8"), 0);
    /* New sizes use what is known, in between as well. */
    play_run(&play, 16, "2,3,4,8,12");
    assert_string_equal(play.measured, "12:eng1 3:eng1 ");
    play.options.exhaustive = true;
    assert_int_equal(play_run(&play, 16, "2,4,8"), 2);
    assert_string_equal(play.measured, "4:eng2 4:eng3 2:eng2 2:eng3 ");
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).pruned, 0);
    assert_int_equal(play_run(&play, 16, "2,4,8"), 0);
}

/** Engine 1 beats the others at 16 and 8, and hangs at 2. */
static void what_was_left_out_for_one_that_failed_is_measured(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0),
                                        play_engine(3, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 3);
    struct uc_search record;

    (void)state;
    play.hanging = 1;
    play_run(&play, 16, "2,4,8");
    assert_string_equal(play.measured,
                        "16:eng1 16:eng2 16:eng3 "
                        "8:eng1 8:eng2 8:eng3 4:eng1 "
                        "2:eng1 2:eng2 "); /* it beats engine 3 */
    record = play_record(&play, UC_API_GRAPH, 2, false);
    assert_int_equal(record.found, 3);
    assert_int_equal(record.pruned, 1);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).pruned, 2);
    assert_int_equal(play.counts.pruned, 3);
    assert_int_equal(play_run(&play, 16, "2,4,8"), 0);
}

/** It was cut off for the sake of a faster one. */
static void what_was_left_out_for_one_that_is_cut_off_stays_out(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);

    (void)state;
    play.cut_off = 1;
    play_run(&play, 8, "2,4");
    assert_string_equal(play.measured, "8:eng1 8:eng2 4:eng1 4:eng2 2:eng1 ");
}

/** It would fail for the same reason. */
static void what_was_left_out_of_a_work_that_is_held_stays_out(void **state)
{
    static struct stage stage;
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(2, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);

    (void)state;
    play_run(&play, 16, "8");
    stage_open(&stage, &play, 1);
    stage_play(&stage, &play, false);
    assert_int_equal(stage.work.kernel_count, 1); /* engine 1 */
    uc_agenda_leave_unrecorded(&stage.agenda);
    stage_close(&stage, false);
}

static void what_was_too_large_is_tried_when_the_cap_is_raised(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(90, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);

    (void)state;
    play_run(&play, 4, "undivided");
    assert_int_equal(play_run(&play, 4, "undivided"), 0);
    play.options.max_workspace_bytes = PLAY_LARGE;
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_int_equal(play.searches, 0);
    assert_string_equal(play.measured, "4:eng90 ");
}

static void known_bad_engines_are_not_measured(void **state)
{
    struct uc_work_kernel engines[] = { play_engine(1, 0), play_engine(23, 0) };
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, 2);
    struct uc_known_bad *list =
        read_known_bad("forward 2d eng23 9.8.0 9.15.0 played\n");

    (void)state;
    play.options.known_bad = list;
    play.options.cudnn = 91400;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 ");
    assert_int_equal(play.counts.known_bad, 1);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 1);
    play.options.cudnn = 91500;
    play.options.remeasure = true;
    play_run(&play, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 4:eng23 ");
    uc_known_bad_free(list);
}

static void a_failed_search_forgets_what_it_found(void **state)
{
    static struct stage stage;
    struct uc_work_kernel one = play_engine(1, 0), two = play_engine(2, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    stage_open(&stage, &play, 1);
    assert_done(uc_agenda_candidate(&stage.agenda, &two, err));
    uc_agenda_search_failed(&stage.agenda, false); /* it is made again */
    stage_play(&stage, &play, false);
    assert_int_equal(stage.work.kernel_count, 1);
    assert_int_equal(stage.work.kernels[0].kernel.engine, 1);
    play_work(&play, &stage.agenda, &stage.work);
    stage_close(&stage, false);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 1);
}

static void a_search_given_up_is_left_for_the_next_run(void **state)
{
    static struct stage stage;
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_BOTH, UC_FORWARD, &one, 1);

    (void)state;
    stage_open(&stage, &play, 1);
    assert_done(uc_agenda_candidate(&stage.agenda, &one, err));
    uc_agenda_search_failed(&stage.agenda, true);
    stage_next(&stage, false);
    assert_int_equal(stage.work.kernel_count, 8); /* the legacy kernels stay */
    play_work(&play, &stage.agenda, &stage.work);
    stage_close(&stage, false);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, -1);
    assert_int_equal(play_run(&play, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng1 ");
    assert_int_equal(play.kernels, 1);
}

static void a_stop_ends_behind_the_size_in_work(void **state)
{
    static struct stage stage;
    struct uc_work_kernel one = play_engine(1, 0);
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, &one, 1);

    (void)state;
    stage_open(&stage, &play, 2);
    stage_play(&stage, &play, true);
    assert_false(stage.work.search);
    play_work(&play, &stage.agenda, &stage.work);
    stage_close(&stage, true);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, 1);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 2, false).found, -1);
}

static void many_kernels_are_handed_out_in_parts(void **state)
{
    enum { MANY = UC_WORK_KERNELS + 10 };
    static struct uc_work_kernel engines[MANY];
    struct play play = play_new(PLAY_GRAPH, UC_FORWARD, engines, MANY);

    (void)state;
    for (int i = 0; i < MANY; i++)
        engines[i] = play_engine(100 + i, 0);
    play_run(&play, 4, "undivided");
    assert_int_equal(play.works, 3);
    assert_int_equal(play.kernels, MANY);
    assert_int_equal(play_record(&play, UC_API_GRAPH, 4, false).found, MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_far_apart_come_first),
        cmocka_unit_test(a_finished_problem_is_not_listed_again),
        cmocka_unit_test(a_refresh_measures_what_is_old_and_searches_nothing),
        cmocka_unit_test(a_refresh_takes_what_may_be_measured),
        cmocka_unit_test(what_is_gone_is_not_left_as_it_was),
        cmocka_unit_test(filters_gradients_are_searched_for_both_betas),
        cmocka_unit_test(a_killed_run_goes_on_at_the_size_it_was_at),
        cmocka_unit_test(what_an_option_left_out_is_searched_when_it_is_wanted),
        cmocka_unit_test(hopeless_engines_are_left_out_and_counted),
        cmocka_unit_test(what_was_left_out_for_one_that_failed_is_measured),
        cmocka_unit_test(what_was_left_out_for_one_that_is_cut_off_stays_out),
        cmocka_unit_test(what_was_left_out_of_a_work_that_is_held_stays_out),
        cmocka_unit_test(what_was_too_large_is_tried_when_the_cap_is_raised),
        cmocka_unit_test(known_bad_engines_are_not_measured),
        cmocka_unit_test(a_failed_search_forgets_what_it_found),
        cmocka_unit_test(a_search_given_up_is_left_for_the_next_run),
        cmocka_unit_test(a_stop_ends_behind_the_size_in_work),
        cmocka_unit_test(many_kernels_are_handed_out_in_parts),
    };

    return cmocka_run_group_tests_name("sizes", tests, play_set_up,
                                       play_tear_down);
}
