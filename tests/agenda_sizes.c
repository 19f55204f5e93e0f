/* The agenda: sizes in their order, searches, what is measured, what is
   recorded, and how a next run goes on. The worker is played here. */
#include "config.h"

#include "tests/db_support.h"

#include "planner/agenda.h"
#include "planner/tune.h"

enum {
    BOTH = (1 << UC_APIS) - 1,
    GRAPH = 1 << UC_API_GRAPH,
    MEASURED_AT = 1700000000,
    WORKSPACE = 1 << 10
};

/** What cuDNN has in this play, and what happened. */
struct play {
    const struct uc_work_kernel *engines; /**< found by every search */
    size_t engine_count;
    struct uc_work_options options;
    int gone;       /**< engine that is supported no more; 0: none */
    int hanging;    /**< engine that hangs below 4 images; 0: none */
    int values;     /**< of the only knob of each engine, which is found by
                         tuning only: the time falls by 10 % from each to the
                         next but the last, which is as slow as none */
    int most_works; /**< stop, as if killed, after this many; 0: go on */
    /* What happened. */
    int searches, kernels, works;
    char measured[4096]; /**< "64:eng1 64:eng1=2 ", graph kernels only */
    int likes;           /**< kernels that what is like them was sought of */
    struct uc_agenda_counts counts;
};

static struct uc_profile *profile;
static int64_t env;

static int set_up(void **state)
{
    struct uc_environment environment = sample_environment();
    struct uc_error err;

    if (folder_setup(state) != 0)
        return -1;
    if (uc_profile_open(in_folder("a.profile"), UC_PROFILE_WRITE, &profile,
                        &err) != UC_OK)
        return -1;
    return uc_profile_add_environment(profile, &environment, &env, &err) ==
                   UC_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    uc_profile_close(profile);
    return folder_teardown(state);
}

/** A problem of its own for each test: one profile does for all. */
static struct uc_problem fresh_problem(enum uc_operation operation)
{
    static int64_t filters = 16;

    return sample_problem(operation, filters += 16);
}

static struct uc_work_kernel engine(int number, unsigned notes)
{
    return (struct uc_work_kernel){
        .kernel = { .api = UC_API_GRAPH, .engine = number }, .notes = notes
    };
}

static struct play new_play(unsigned apis, const struct uc_work_kernel *engines,
                            size_t count)
{
    return (struct play){ .engines = engines,
                          .engine_count = count,
                          .values = 1,
                          .options = { .apis = apis,
                                       .max_workspace_bytes = 1 << 20 } };
}

/** Of an engine's only knob; 0: not chosen. */
static int value_of(const struct uc_kernel *kernel)
{
    return kernel->knob_count > 0 ? kernel->knobs[0].value : 0;
}

/** Engine 1 takes 1 us an image, engine 2 a tenth more, and so on; all take
    the same workspace. Engine 90 is too large, 91 is not supported. Rows of the
    legacy API are as from before there were notes. */
static struct uc_measurement measure(const struct play *play,
                                     const struct uc_work *work,
                                     const struct uc_work_kernel *kernel)
{
    int number = kernel->kernel.engine, value = value_of(&kernel->kernel);
    struct uc_measurement m = {
        .micro_batch = work->micro_batch,
        .accumulate = kernel->accumulate,
        .kernel = kernel->kernel,
        .notes = kernel->kernel.api == UC_API_GRAPH ? kernel->notes : 0,
        .outcome = UC_MEASURED,
        .workspace_bytes = WORKSPACE,
        .error = -1,
        .time_ns = work->micro_batch * (900 + 100 * number) *
                   (10 - value % play->values) / 10,
        .calls = 1,
        .measured_at = MEASURED_AT
    };

    if (kernel->kernel.api == UC_API_GRAPH &&
        (number == 90 || number == 91 || number == play->gone)) {
        m.outcome = number == 90 ? UC_TOO_LARGE : UC_UNSUPPORTED;
        m.workspace_bytes = number == 90 ? 1 << 21 : 0;
        m.time_ns = 0;
        strcpy(m.reason, "as played");
    }
    if (kernel->kernel.api == UC_API_GRAPH && number == play->hanging &&
        work->micro_batch < 4) {
        m.outcome = UC_TIMED_OUT;
        m.time_ns = 0;
        strcpy(m.reason, "as played");
    }
    return m;
}

/** The kernel and those whose knob is one lower or higher. */
static void play_likes(struct play *play, struct uc_agenda *agenda,
                       const struct uc_work_kernel *like)
{
    int value = value_of(&like->kernel);

    play->likes++;
    for (int i = value > 0 ? value - 1 : 0; i <= value + 1; i++) {
        struct uc_work_kernel found = *like;

        if (i > play->values)
            break;
        found.kernel.knob_count = i > 0;
        found.kernel.knobs[0] = (struct uc_knob){ i > 0 ? 5 : 0, i };
        assert_done(uc_agenda_candidate(agenda, &found, err));
    }
}

static void play_search(struct play *play, struct uc_agenda *agenda,
                        const struct uc_work *work)
{
    play->searches++;
    for (size_t i = 0; i < work->kernel_count; i++) {
        assert_int_equal(work->kernels[i].accumulate, work->accumulate);
        play_likes(play, agenda, &work->kernels[i]);
    }
    for (size_t i = 0; work->kernel_count == 0 && i < play->engine_count; i++) {
        struct uc_work_kernel found = play->engines[i];

        found.accumulate = work->accumulate;
        assert_done(uc_agenda_candidate(agenda, &found, err));
    }
}

static void play_work(struct play *play, struct uc_agenda *agenda,
                      const struct uc_work *work)
{
    play->works++;
    if (work->search)
        play_search(play, agenda, work);
    for (size_t i = 0; !work->search && i < work->kernel_count; i++) {
        const struct uc_work_kernel *kernel = &work->kernels[i];
        struct uc_measurement m = measure(play, work, kernel);
        size_t used = strlen(play->measured);

        if (kernel->kernel.api == UC_API_LEGACY)
            assert_int_equal(
                kernel->notes,
                uc_legacy_notes(&kernel->kernel, work->problem.operation));

        assert_done(uc_agenda_settle(agenda, &m, err));
        play->kernels++;
        if (m.kernel.api == UC_API_GRAPH)
            snprintf(play->measured + used, sizeof play->measured - used,
                     m.kernel.knob_count > 0 ? "%d:eng%d%s=%d " : "%d:eng%d%s ",
                     (int)work->micro_batch, m.kernel.engine,
                     m.accumulate ? "+" : "", value_of(&m.kernel));
    }
}

/** List and go through one problem as a run does; returns how many sizes were
    listed. */
static size_t run(struct play *play, const struct uc_problem *problem,
                  int64_t batch, const char *policy_text)
{
    static struct uc_work work;
    struct uc_network_operation operation = { NULL, *problem };
    struct uc_work_problem *list = NULL;
    struct uc_policy policy;
    struct uc_agenda agenda;
    size_t count = 0, sizes;
    bool more = true;

    play->searches = play->kernels = play->works = play->likes = 0;
    play->measured[0] = '\0';
    play->counts = (struct uc_agenda_counts){ 0 };
    assert_done(uc_policy_parse(policy_text, &policy, err));
    assert_done(uc_work_list(profile, env, &operation, &batch, 1, &policy,
                             &play->options, &list, &count, err));
    if (count == 0)
        return 0;
    sizes = list->size_count;
    assert_done(
        uc_agenda_open(&agenda, profile, env, list, &play->options, err));
    while (more) {
        assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
        if (!more)
            break;
        assert_true(uc_problem_equal(&work.problem, problem));
        assert_int_equal(work.batch, batch);
        play_work(play, &agenda, &work);
        more = play->works != play->most_works;
    }
    play->counts = agenda.counts;
    uc_agenda_close(&agenda);
    uc_work_list_free(list, count);
    return sizes;
}

static struct uc_search find_search(const struct uc_problem *problem,
                                    enum uc_api api, int64_t micro_batch,
                                    bool accumulate)
{
    struct uc_search *list = NULL, found = { .found = -1 };
    size_t count = 0;

    assert_done(
        uc_profile_load_searches(profile, env, problem, &list, &count, err));
    for (size_t i = 0; i < count; i++)
        if (list[i].api == api && list[i].micro_batch == micro_batch &&
            list[i].accumulate == accumulate)
            found = list[i];
    free(list);
    return found;
}

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
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    assert_int_equal(run(&play, &problem, 12, "all"), 12);
    assert_string_equal(play.measured,
                        "12:eng1 8:eng1 4:eng1 2:eng1 1:eng1 11:eng1 10:eng1 "
                        "9:eng1 7:eng1 6:eng1 5:eng1 3:eng1 ");
    assert_int_equal(play.searches, 12);
    assert_int_equal(play.counts.sizes, 12);
}

static void a_finished_problem_is_not_listed_again(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(91, 0) };
    struct play play = new_play(BOTH, engines, 2);
    struct uc_problem problem = fresh_problem(UC_FORWARD);
    struct uc_search search;

    (void)state;
    play.options.exhaustive = true;
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 3);
    assert_int_equal(play.kernels, 3 * (8 + 2));
    search = find_search(&problem, UC_API_GRAPH, 4, false);
    assert_int_equal(search.found, 2);
    assert_int_equal(search.pruned, 0);
    assert_int_equal(search.left_out,
                     UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION);
    /* Rows of the legacy API speak for themselves. */
    assert_int_equal(find_search(&problem, UC_API_LEGACY, 4, false).found, -1);
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 0);
    play.options.remeasure = true;
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 3);
    assert_int_equal(play.kernels, 3 * (8 + 2));
}

static void a_refresh_measures_what_is_old_and_searches_nothing(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(2, 0) };
    struct play play = new_play(GRAPH, engines, 1);
    struct uc_problem problem = fresh_problem(UC_BACKWARD_FILTER);

    (void)state;
    play.options.refresh_before = MEASURED_AT + 1;
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 0);
    play.options.refresh_before = 0;
    assert_int_equal(run(&play, &problem, 4, "2"), 2);
    play.engine_count = 2; /* a search would find one more */
    play.options.refresh_before = MEASURED_AT;
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 0);
    play.options.refresh_before = MEASURED_AT + 1;
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 2);
    assert_string_equal(play.measured, "4:eng1 2:eng1 2:eng1+ ");
    run(&play, &problem, 2, "undivided");
    assert_string_equal(play.measured, "2:eng1 ");
    play.options.apis = 1u << UC_API_LEGACY;
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 0);
    play.options.apis = BOTH;
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, 1);
}

static void a_refresh_takes_what_may_be_measured(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(3, 0),
                                        engine(2, UC_NOTE_DOWN_CONVERT) };
    struct play play = new_play(BOTH, engines, 3);
    struct uc_problem problem = fresh_problem(UC_FORWARD);
    struct uc_known_bad *list =
        read_known_bad("forward 2d eng3 9.8.0 9.15.0 played\n");

    (void)state;
    play.options.allow = UC_NOTE_DOWN_CONVERT;
    play.options.exhaustive = true; /* else the third would be left out */
    run(&play, &problem, 4, "power-of-two");
    assert_int_equal(play.kernels, 3 * (8 + 3));
    play.options.exhaustive = false;
    play.options.refresh_before = MEASURED_AT + 1;
    run(&play, &problem, 4, "power-of-two");
    assert_int_equal(play.kernels, 3 * (8 + 3));
    play.options.allow = 0;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 4:eng3 ");
    play.options.known_bad = list;
    play.options.cudnn = 91400;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 ");
    play.options.max_workspace_bytes = WORKSPACE - 1;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 0);
    uc_known_bad_free(list);
}

static void what_is_gone_is_not_left_as_it_was(void **state)
{
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_FORWARD);
    struct uc_measurement *rows = NULL;
    size_t count = 0;

    (void)state;
    run(&play, &problem, 4, "undivided");
    play.options.refresh_before = MEASURED_AT + 1;
    play.gone = 1;
    run(&play, &problem, 4, "undivided");
    assert_done(uc_profile_load(profile, env, &problem, &rows, &count, err));
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].outcome, UC_UNSUPPORTED);
    free(rows);
}

static void filters_gradients_are_searched_for_both_betas(void **state)
{
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_BACKWARD_FILTER);

    (void)state;
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 3);
    assert_string_equal(play.measured, "4:eng1 2:eng1 2:eng1+ 1:eng1 1:eng1+ ");
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 2, true).found, 1);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, true).found, -1);
}

static void a_killed_run_goes_on_at_the_size_it_was_at(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(2, 0) };
    struct play play = new_play(BOTH, engines, 1);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    play.options.exhaustive = true;
    play.most_works = 2; /* size 4: searched, measured, not recorded */
    run(&play, &problem, 4, "power-of-two");
    assert_string_equal(play.measured, "4:eng1 ");
    play.most_works = 0;
    play.engine_count = 2;
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 3);
    assert_string_equal(play.measured, "4:eng2 2:eng1 2:eng2 1:eng1 1:eng2 ");
    assert_int_equal(play.kernels, 1 + 2 * (8 + 2));
    assert_int_equal(run(&play, &problem, 4, "power-of-two"), 0);
}

static void what_an_option_left_out_is_searched_when_it_is_wanted(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, UC_NOTE_TENSOR_CORE),
                                        engine(2, UC_NOTE_DOWN_CONVERT),
                                        engine(3, UC_NOTE_RUNTIME_COMPILED),
                                        engine(4, 0) };
    struct play play = new_play(GRAPH, engines, 4);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    problem.math = UC_MATH_FMA;
    play.options.no_runtime_compiled = true;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng4 ");
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, 1);
    assert_int_equal(run(&play, &problem, 4, "undivided"), 0);
    play.options.no_runtime_compiled = false;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng3 ");
    play.options.allow = UC_NOTE_DOWN_CONVERT;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng2 ");
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, 3);
    /* What is there counts for those that want less. */
    play.options.allow = 0;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 0);
    problem.math = UC_MATH_TF32; /* tensor cores, and FMA is good enough */
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 4:eng3 4:eng4 ");
}

static void hopeless_engines_are_left_out_and_counted(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(2, 0),
                                        engine(3, UC_NOTE_NONDETERMINISTIC) };
    struct play play = new_play(BOTH, engines, 3);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    assert_int_equal(run(&play, &problem, 16, "2,4,8"), 4);
    assert_string_equal(play.measured, "16:eng1 16:eng2 16:eng3 "
                                       "8:eng1 8:eng2 8:eng3 4:eng1 2:eng1 ");
    assert_int_equal(play.counts.pruned, 4);
    assert_int_equal(play.kernels, 8 + 4 * 8); /* every legacy kernel */
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, 3);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).pruned, 2);
    assert_int_equal(run(&play, &problem, 16, "2,4,8"), 0);
    /* New sizes use what is known, in between as well. */
    run(&play, &problem, 16, "2,3,4,8,12");
    assert_string_equal(play.measured, "12:eng1 3:eng1 ");
    play.options.exhaustive = true;
    assert_int_equal(run(&play, &problem, 16, "2,4,8"), 2);
    assert_string_equal(play.measured, "4:eng2 4:eng3 2:eng2 2:eng3 ");
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).pruned, 0);
    assert_int_equal(run(&play, &problem, 16, "2,4,8"), 0);
}

static void what_was_too_large_is_tried_when_the_cap_is_raised(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(90, 0) };
    struct play play = new_play(GRAPH, engines, 2);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    run(&play, &problem, 4, "undivided");
    assert_int_equal(run(&play, &problem, 4, "undivided"), 0);
    play.options.max_workspace_bytes = 1 << 21;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 1);
    assert_int_equal(play.searches, 0);
    assert_string_equal(play.measured, "4:eng90 ");
}

static void known_bad_engines_are_not_measured(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(23, 0) };
    struct play play = new_play(GRAPH, engines, 2);
    struct uc_problem problem = fresh_problem(UC_FORWARD);
    struct uc_known_bad *list =
        read_known_bad("forward 2d eng23 9.8.0 9.15.0 played\n");

    (void)state;
    play.options.known_bad = list;
    play.options.cudnn = 91400;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 ");
    assert_int_equal(play.counts.known_bad, 1);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, 1);
    play.options.cudnn = 91500;
    play.options.remeasure = true;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 4:eng23 ");
    uc_known_bad_free(list);
}

static void tuning_goes_on_from_what_it_finds_until_nothing_is_better(
    void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(4, 0) };
    struct play play = new_play(GRAPH, engines, 2);
    struct uc_problem problem = fresh_problem(UC_FORWARD);
    struct uc_search search;

    (void)state;
    play.options.tune = true;
    play.values = 4; /* 1000, 900, 800, 700, and 1000 again */
    assert_int_equal(run(&play, &problem, 4, "undivided"), 1);
    assert_string_equal(play.measured,
                        "4:eng1 4:eng4 4:eng1=1 4:eng1=2 4:eng1=3 4:eng1=4 ");
    assert_int_equal(play.likes, 4); /* not of 4, which is slow */
    search = find_search(&problem, UC_API_GRAPH, 4, false);
    assert_true(search.tuned);
    assert_int_equal(search.found, 6);
    assert_int_equal(run(&play, &problem, 4, "undivided"), 0);
    play.options.tune = false;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 0);
}

static void tuning_ends_after_some_rounds(void **state)
{
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    play.options.tune = true;
    play.values = 9;
    run(&play, &problem, 4, "undivided");
    assert_int_equal(play.likes, UC_TUNE_ROUNDS);
    assert_int_equal(play.kernels, 1 + UC_TUNE_ROUNDS);
    assert_true(find_search(&problem, UC_API_GRAPH, 4, false).tuned);
}

/** What was searched before is not searched again, but with a new record. */
static void what_is_there_can_be_tuned_later(void **state)
{
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(BOTH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_BACKWARD_FILTER);

    (void)state;
    play.values = 2;
    assert_int_equal(run(&play, &problem, 4, "2"), 2);
    assert_false(find_search(&problem, UC_API_GRAPH, 2, true).tuned);
    play.options.tune = true;
    assert_int_equal(run(&play, &problem, 4, "2"), 2);
    assert_string_equal(play.measured, "4:eng1=1 4:eng1=2 2:eng1=1 "
                                       "2:eng1=2 2:eng1+=1 2:eng1+=2 ");
    for (int beta = 0; beta < 2; beta++) {
        struct uc_search search =
            find_search(&problem, UC_API_GRAPH, 2, beta == 1);

        assert_true(search.tuned);
        assert_int_equal(search.found, 3);
    }
    assert_int_equal(run(&play, &problem, 4, "2"), 0);
}

/** A search that looks at more has found what was not tuned. */
static void what_is_found_later_is_tuned_later(void **state)
{
    struct uc_work_kernel engines[] = { engine(2, 0),
                                        engine(1, UC_NOTE_DOWN_CONVERT) };
    struct play play = new_play(GRAPH, engines, 2);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    play.options.tune = true;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng2 4:eng2=1 ");
    play.options.allow = UC_NOTE_DOWN_CONVERT;
    play.options.tune = false;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 ");
    play.options.tune = true;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng1=1 ");
    assert_int_equal(run(&play, &problem, 4, "undivided"), 0);
}

/** What was tuned with less admitted is not all that can be, and nothing is
    searched again that was. */
static void a_narrow_tuning_does_not_stand_for_a_wide_one(void **state)
{
    struct uc_work_kernel engines[] = { engine(2, 0),
                                        engine(1, UC_NOTE_RUNTIME_COMPILED) };
    struct play play = new_play(GRAPH, engines, 2);
    struct uc_problem problem = fresh_problem(UC_FORWARD);
    struct uc_search search;

    (void)state;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng2 4:eng1 ");
    play.options.tune = true;
    play.options.no_runtime_compiled = true;
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng2=1 ");
    search = find_search(&problem, UC_API_GRAPH, 4, false);
    assert_false(search.left_out & UC_NOTE_RUNTIME_COMPILED);
    assert_true(search.tuned &&
                search.tune_left_out & UC_NOTE_RUNTIME_COMPILED);
    play.options.tune = play.options.no_runtime_compiled = false;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 0);
    play.options.tune = true;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng1=1 ");
    play.options.no_runtime_compiled = true;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 0);
}

/** What was too large when the others were tuned. */
static void what_fits_later_is_tuned_then(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(90, 0) };
    struct play play = new_play(GRAPH, engines, 2);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    play.options.tune = true;
    run(&play, &problem, 4, "undivided");
    assert_true(find_search(&problem, UC_API_GRAPH, 4, false).tuned);
    play.options.tune = false;
    play.options.max_workspace_bytes = 1 << 21;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng90 ");
    assert_false(find_search(&problem, UC_API_GRAPH, 4, false).tuned);
}

/** A search of everything brings what was pruned before, which is tuned. */
static void an_exhaustive_search_is_tuned_anew(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(2, 0) };
    struct play play = new_play(GRAPH, engines, 2);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    play.options.tune = true;
    run(&play, &problem, 8, "2,4");
    assert_true(find_search(&problem, UC_API_GRAPH, 2, false).tuned);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 2, false).pruned, 1);
    play.options.tune = false;
    play.options.exhaustive = true;
    run(&play, &problem, 8, "2,4");
    assert_string_equal(play.measured, "2:eng2 ");
    assert_false(find_search(&problem, UC_API_GRAPH, 2, false).tuned);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 2, false).found, 3);
    play.options.tune = true;
    assert_int_equal(run(&play, &problem, 8, "2,4"), 1);
    assert_true(find_search(&problem, UC_API_GRAPH, 2, false).tuned);
    assert_int_equal(run(&play, &problem, 8, "2,4"), 0);
}

/** The best of the size above is tried, though no heuristic names it. */
static void tuning_begins_with_the_best_of_the_size_above(void **state)
{
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    play.values = 4;
    play.options.tune = true;
    run(&play, &problem, 4, "undivided");
    assert_int_equal(run(&play, &problem, 4, "2"), 1);
    assert_string_equal(play.measured,
                        "2:eng1 2:eng1=1 2:eng1=2 2:eng1=3 2:eng1=4 ");
    assert_int_equal(play.likes, 2); /* of none and of 3, at once */
}

/** Each of its configurations would hang for a minute. */
static void an_engine_that_hangs_is_not_tuned(void **state)
{
    struct uc_work_kernel engines[] = { engine(1, 0), engine(2, 0) };
    struct play play = new_play(GRAPH, engines, 2);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    play.options.tune = true;
    play.hanging = 1;
    run(&play, &problem, 4, "2");
    assert_string_equal(play.measured, "4:eng1 4:eng2 4:eng1=1 "
                                       "2:eng1 2:eng2 2:eng2=1 ");
}

static void a_killed_tuning_is_made_again(void **state)
{
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    play.values = 4;
    play.options.tune = true;
    play.most_works = 4; /* search, measure, and a round of tuning */
    run(&play, &problem, 4, "undivided");
    assert_string_equal(play.measured, "4:eng1 4:eng1=1 ");
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, -1);
    play.most_works = 0;
    assert_int_equal(run(&play, &problem, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng1=2 4:eng1=3 4:eng1=4 ");
    assert_int_equal(play.likes, 4); /* from the start, as if not killed */
    assert_true(find_search(&problem, UC_API_GRAPH, 4, false).tuned);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, 5);
}

/** Size 4 of a problem up to the first round of its tuning. */
static void begin_tuning(struct play *play, struct uc_work_problem *of,
                         struct uc_work_size *size, struct uc_agenda *agenda,
                         struct uc_work *work)
{
    bool more;

    play->options.tune = true;
    *size = (struct uc_work_size){ .micro_batch = 4 };
    *of = (struct uc_work_problem){ fresh_problem(UC_FORWARD), 4, size, 1 };
    assert_done(uc_agenda_open(agenda, profile, env, of, &play->options, err));
    for (int i = 0; i < 2; i++) {
        assert_done(uc_agenda_next(agenda, false, work, &more, err));
        assert_true(more);
        play_work(play, agenda, work);
    }
    assert_done(uc_agenda_next(agenda, false, work, &more, err));
    assert_true(more && work->search && work->kernel_count == 1);
}

static void a_round_that_fails_keeps_what_the_search_found(void **state)
{
    static struct uc_work work;
    struct uc_work_kernel one = engine(1, 0), two = engine(2, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_work_problem of;
    struct uc_work_size size;
    struct uc_agenda agenda;
    bool more;

    (void)state;
    begin_tuning(&play, &of, &size, &agenda, &work);
    assert_done(uc_agenda_candidate(&agenda, &two, err));
    uc_agenda_search_failed(&agenda, false); /* it is made again */
    assert_done(uc_agenda_candidate(&agenda, &two, err));
    assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
    assert_true(more && !work.search && work.kernel_count == 1);
    play_work(&play, &agenda, &work);
    assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
    assert_false(more);
    uc_agenda_close(&agenda);
    assert_int_equal(find_search(&of.problem, UC_API_GRAPH, 4, false).found, 2);
}

/** Neither does what comes behind it make the size complete. */
static void a_round_given_up_leaves_the_size_for_the_next_run(void **state)
{
    static struct uc_work work;
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_work_problem of;
    struct uc_work_size size;
    struct uc_agenda agenda;
    bool more;

    (void)state;
    begin_tuning(&play, &of, &size, &agenda, &work);
    uc_agenda_search_failed(&agenda, true);
    assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
    assert_false(more);
    uc_agenda_close(&agenda);
    assert_int_equal(find_search(&of.problem, UC_API_GRAPH, 4, false).found,
                     -1);
}

static void what_could_not_be_settled_stays_open_through_the_tuning(
    void **state)
{
    static struct uc_work work;
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_work_problem of;
    struct uc_work_size size;
    struct uc_agenda agenda;
    bool more;

    (void)state;
    begin_tuning(&play, &of, &size, &agenda, &work);
    uc_agenda_leave_unrecorded(&agenda);
    uc_agenda_search_failed(&agenda, false);
    assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
    assert_false(more);
    uc_agenda_close(&agenda);
    assert_int_equal(find_search(&of.problem, UC_API_GRAPH, 4, false).found,
                     -1);
}

/** One problem at size 4 up to its search, which is in work. */
static void begin_search(struct play *play, const struct uc_problem *problem,
                         struct uc_work_problem *of, struct uc_work_size *size,
                         struct uc_agenda *agenda, struct uc_work *work)
{
    bool more;

    *size = (struct uc_work_size){ .micro_batch = 4 };
    *of = (struct uc_work_problem){ *problem, 4, size, 1 };
    assert_done(uc_agenda_open(agenda, profile, env, of, &play->options, err));
    assert_done(uc_agenda_next(agenda, false, work, &more, err));
    assert_true(more && work->search);
}

static void a_failed_search_forgets_what_it_found(void **state)
{
    static struct uc_work work;
    struct uc_work_kernel one = engine(1, 0), two = engine(2, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_FORWARD);
    struct uc_work_problem of;
    struct uc_work_size size;
    struct uc_agenda agenda;
    bool more;

    (void)state;
    begin_search(&play, &problem, &of, &size, &agenda, &work);
    assert_done(uc_agenda_candidate(&agenda, &two, err));
    uc_agenda_search_failed(&agenda, false); /* it is made again */
    assert_done(uc_agenda_candidate(&agenda, &one, err));
    assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
    assert_int_equal(work.kernel_count, 1);
    assert_int_equal(work.kernels[0].kernel.engine, 1);
    play_work(&play, &agenda, &work);
    assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
    assert_false(more);
    uc_agenda_close(&agenda);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, 1);
}

static void a_search_given_up_is_left_for_the_next_run(void **state)
{
    static struct uc_work work;
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(BOTH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_FORWARD);
    struct uc_work_problem of;
    struct uc_work_size size;
    struct uc_agenda agenda;
    bool more;

    (void)state;
    begin_search(&play, &problem, &of, &size, &agenda, &work);
    assert_done(uc_agenda_candidate(&agenda, &one, err));
    uc_agenda_search_failed(&agenda, true);
    assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
    assert_true(more);
    assert_int_equal(work.kernel_count, 8); /* the legacy kernels stay */
    play_work(&play, &agenda, &work);
    assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
    assert_false(more);
    assert_int_equal(agenda.counts.given_up, 1);
    uc_agenda_close(&agenda);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, -1);
    assert_int_equal(run(&play, &problem, 4, "undivided"), 1);
    assert_string_equal(play.measured, "4:eng1 ");
    assert_int_equal(play.kernels, 1);
}

static void a_stop_ends_behind_the_size_in_work(void **state)
{
    static struct uc_work work;
    struct uc_work_kernel one = engine(1, 0);
    struct play play = new_play(GRAPH, &one, 1);
    struct uc_problem problem = fresh_problem(UC_FORWARD);
    struct uc_work_size sizes[] = { { .micro_batch = 4 },
                                    { .micro_batch = 2 } };
    struct uc_work_problem of = { problem, 4, sizes, 2 };
    struct uc_agenda agenda;
    bool more;

    (void)state;
    assert_done(uc_agenda_open(&agenda, profile, env, &of, &play.options, err));
    assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
    play_work(&play, &agenda, &work);
    assert_done(uc_agenda_next(&agenda, true, &work, &more, err));
    assert_true(more && !work.search);
    play_work(&play, &agenda, &work);
    assert_done(uc_agenda_next(&agenda, true, &work, &more, err));
    assert_false(more);
    uc_agenda_close(&agenda);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, 1);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 2, false).found, -1);
}

static void many_kernels_are_handed_out_in_parts(void **state)
{
    enum { MANY = UC_WORK_KERNELS + 10 };
    static struct uc_work_kernel engines[MANY];
    struct play play = new_play(GRAPH, engines, MANY);
    struct uc_problem problem = fresh_problem(UC_FORWARD);

    (void)state;
    for (int i = 0; i < MANY; i++)
        engines[i] = engine(100 + i, 0);
    run(&play, &problem, 4, "undivided");
    assert_int_equal(play.works, 3);
    assert_int_equal(play.kernels, MANY);
    assert_int_equal(find_search(&problem, UC_API_GRAPH, 4, false).found, MANY);
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
        cmocka_unit_test(what_was_too_large_is_tried_when_the_cap_is_raised),
        cmocka_unit_test(known_bad_engines_are_not_measured),
        cmocka_unit_test(a_failed_search_forgets_what_it_found),
        cmocka_unit_test(a_search_given_up_is_left_for_the_next_run),
        cmocka_unit_test(
            tuning_goes_on_from_what_it_finds_until_nothing_is_better),
        cmocka_unit_test(tuning_ends_after_some_rounds),
        cmocka_unit_test(what_is_there_can_be_tuned_later),
        cmocka_unit_test(what_is_found_later_is_tuned_later),
        cmocka_unit_test(a_narrow_tuning_does_not_stand_for_a_wide_one),
        cmocka_unit_test(what_fits_later_is_tuned_then),
        cmocka_unit_test(an_exhaustive_search_is_tuned_anew),
        cmocka_unit_test(tuning_begins_with_the_best_of_the_size_above),
        cmocka_unit_test(an_engine_that_hangs_is_not_tuned),
        cmocka_unit_test(a_killed_tuning_is_made_again),
        cmocka_unit_test(a_round_that_fails_keeps_what_the_search_found),
        cmocka_unit_test(a_round_given_up_leaves_the_size_for_the_next_run),
        cmocka_unit_test(
            what_could_not_be_settled_stays_open_through_the_tuning),
        cmocka_unit_test(a_stop_ends_behind_the_size_in_work),
        cmocka_unit_test(many_kernels_are_handed_out_in_parts),
    };

    return cmocka_run_group_tests_name("agenda", tests, set_up, tear_down);
}
