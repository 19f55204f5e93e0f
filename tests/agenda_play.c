/* The play of agenda_play.h. */
#include "config.h"

#include "tests/agenda_play.h"

struct uc_profile *play_profile;
int64_t play_env;

int play_set_up(void **state)
{
    struct uc_environment environment = sample_environment();
    struct uc_error err;

    if (folder_setup(state) != 0)
        return -1;
    if (uc_profile_open(in_folder("a.profile"), UC_PROFILE_WRITE, &play_profile,
                        &err) != UC_OK)
        return -1;
    return uc_profile_add_environment(play_profile, &environment, &play_env,
                                      &err) == UC_OK
               ? 0
               : -1;
}

int play_tear_down(void **state)
{
    uc_profile_close(play_profile);
    return folder_teardown(state);
}

struct uc_work_kernel play_engine(int number, unsigned notes)
{
    return (struct uc_work_kernel){
        .kernel = { .api = UC_API_GRAPH, .engine = number },
        .notes = notes,
        .workspace_bytes =
            number == 90 || number == 94 ? PLAY_LARGE : PLAY_WORKSPACE
    };
}

struct play play_new(unsigned apis, enum uc_operation operation,
                     const struct uc_work_kernel *engines, size_t count)
{
    static int64_t filters = 16;

    return (struct play){ .problem = sample_problem(operation, filters += 16),
                          .engines = engines,
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

static struct uc_measurement measure(const struct play *play,
                                     const struct uc_work *work,
                                     const struct uc_work_kernel *kernel)
{
    int number = kernel->kernel.engine, value = value_of(&kernel->kernel);
    bool graph = kernel->kernel.api == UC_API_GRAPH;
    bool missing = number == 91 || number == play->gone;
    struct uc_measurement m = {
        .micro_batch = work->micro_batch,
        .accumulate = kernel->accumulate,
        .kernel = kernel->kernel,
        .notes = graph ? kernel->notes : 0,
        .outcome = UC_MEASURED,
        .workspace_bytes = graph ? kernel->workspace_bytes : PLAY_WORKSPACE,
        .error = -1,
        .time_ns = work->micro_batch *
                   (number == 90 ? 800 : 900 + 100 * number) *
                   (10 - value % play->values) / 10,
        .calls = 1,
        .measured_at = PLAY_MEASURED_AT
    };

    if (graph && (missing || number == 92 ||
                  m.workspace_bytes > play->options.max_workspace_bytes))
        m.outcome = missing ? UC_UNSUPPORTED : UC_TOO_LARGE;
    if (graph && number == play->hanging && work->micro_batch < 4)
        m.outcome = UC_TIMED_OUT;
    if (m.outcome == UC_MEASURED && graph && number == play->cut_off &&
        work->micro_batch < 4)
        m.outcome = UC_CUT_OFF;
    if (m.outcome != UC_MEASURED) {
        if (m.outcome != UC_CUT_OFF)
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

void play_work(struct play *play, struct uc_agenda *agenda,
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

size_t play_run(struct play *play, int64_t batch, const char *policy_text)
{
    static struct uc_work work;
    struct uc_network_operation operation = { NULL, play->problem };
    struct uc_work_problem *list = NULL;
    struct uc_policy policy;
    struct uc_agenda agenda;
    size_t count = 0, sizes;
    bool more = true;

    play->searches = play->kernels = play->works = play->likes = 0;
    play->measured[0] = '\0';
    play->counts = (struct uc_agenda_counts){ 0 };
    assert_done(uc_policy_parse(policy_text, &policy, err));
    assert_done(uc_work_list(play_profile, play_env, &operation, &batch, 1,
                             &policy, &play->options, &list, &count, err));
    if (count == 0)
        return 0;
    sizes = list->size_count;
    assert_done(uc_agenda_open(&agenda, play_profile, play_env, list,
                               &play->options, err));
    while (more) {
        assert_done(uc_agenda_next(&agenda, false, &work, &more, err));
        if (!more)
            break;
        assert_true(uc_problem_equal(&work.problem, &play->problem));
        assert_int_equal(work.batch, batch);
        play_work(play, &agenda, &work);
        more = play->works != play->most_works;
    }
    play->counts = agenda.counts;
    uc_agenda_close(&agenda);
    uc_work_list_free(list, count);
    return sizes;
}

struct uc_search play_record(const struct play *play, enum uc_api api,
                             int64_t micro_batch, bool accumulate)
{
    struct uc_search *list = NULL, none = { .found = -1 }, result;
    const struct uc_search *found;
    size_t count = 0;

    assert_done(uc_profile_load_searches(play_profile, play_env, &play->problem,
                                         &list, &count, err));
    found = uc_search_find(list, count, api, micro_batch, accumulate);
    result = found != NULL ? *found : none;
    free(list);
    return result;
}

/* Step by step ------------------------------------------------------------*/

void stage_next(struct stage *stage, bool stop)
{
    bool more;

    assert_done(uc_agenda_next(&stage->agenda, stop, &stage->work, &more, err));
    assert_true(more);
}

void stage_begin(struct stage *stage, const struct play *play, size_t sizes)
{
    stage->sizes[0] = (struct uc_work_size){ .micro_batch = 4 };
    stage->sizes[1] = (struct uc_work_size){ .micro_batch = 2 };
    stage->of =
        (struct uc_work_problem){ play->problem, 4, stage->sizes, sizes };
    assert_done(uc_agenda_open(&stage->agenda, play_profile, play_env,
                               &stage->of, &play->options, err));
}

void stage_open(struct stage *stage, const struct play *play, size_t sizes)
{
    stage_begin(stage, play, sizes);
    stage_next(stage, false);
    assert_true(stage->work.search);
}

void stage_play(struct stage *stage, struct play *play, bool stop)
{
    play_work(play, &stage->agenda, &stage->work);
    stage_next(stage, stop);
}

void stage_close(struct stage *stage, bool stop)
{
    bool more;

    assert_done(uc_agenda_next(&stage->agenda, stop, &stage->work, &more, err));
    assert_false(more);
    uc_agenda_close(&stage->agenda);
}
