/* What options and gaps in a profile do to plans, by hand-made rows. */
#include "config.h"

#include "tests/planning_support.h"

static void what_does_not_fit_is_named(void **state)
{
    struct uc_planning_proof proof;
    struct uc_planning *planning;
    struct fixture f = shared;
    struct uc_plan plan, before;
    struct uc_error error;

    (void)state;
    f.options.filter.deterministic = true; /* backward needs workspace then */
    assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                  &f.options, &planning, err));
    memset(&plan, 0x5a, sizeof plan);
    before = plan;
    assert_int_equal(uc_planning_reuse(planning, 255, &plan, &error),
                     UC_ENOFIT);
    assert_says(&error, "layer \"a\": backward-filter: no configuration fits "
                        "the limit of 255 bytes (255 B): the least workspace "
                        "that would do is ");
    assert_int_equal(
        uc_planning_divide(planning, 255, 0, 0, &plan, &proof, &error),
        UC_ENOFIT);
    assert_says(&error, "the least total that would do is ");
    assert_memory_equal(&plan, &before, sizeof plan);
    uc_planning_free(planning);
}

/** Every kernel of backward-data fails. */
static bool fail_backward_data(const struct uc_problem *problem,
                               struct uc_measurement *row, void *context)
{
    (void)context;
    if (problem->operation != UC_BACKWARD_DATA)
        return true;
    row->outcome = row->kernel.algorithm == 0 ? UC_CRASHED : UC_UNSUPPORTED;
    row->time_ns = 0;
    return true;
}

/** Only algorithms that give different results each time work. */
static bool fail_deterministic(const struct uc_problem *problem,
                               struct uc_measurement *row, void *context)
{
    (void)context;
    if (problem->operation == UC_BACKWARD_FILTER &&
        !(row->notes & UC_NOTE_NONDETERMINISTIC)) {
        row->outcome = UC_FAILED;
        row->time_ns = 0;
    }
    return true;
}

static bool note_down_convert(const struct uc_problem *problem,
                              struct uc_measurement *row, void *context)
{
    (void)problem;
    row->notes |= *(unsigned *)context;
    return true;
}

static void operations_without_a_kernel_say_why(void **state)
{
    struct uc_planning *planning;
    struct fixture f;
    struct uc_error error;
    unsigned note = UC_NOTE_DOWN_CONVERT;

    (void)state;
    start(&f, "undivided", fail_backward_data, NULL);
    assert_int_equal(uc_planning_start(&f.network, f.profile, &f.environment,
                                       &f.options, &planning, &error),
                     UC_ENOFIT);
    /* Six kernels at one size. */
    assert_string_equal(error.text, "layer \"b\": backward-data: no kernel "
                                    "works: 5 unsupported, 1 crashed");
    stop(&f);

    start(&f, "undivided", fail_deterministic, NULL);
    f.options.filter.deterministic = true;
    assert_int_equal(uc_planning_start(&f.network, f.profile, &f.environment,
                                       &f.options, &planning, &error),
                     UC_ENOFIT);
    assert_says(&error, "layer \"a\": backward-filter: no kernel that works is "
                        "deterministic: ");
    f.options.filter.deterministic = false;
    assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                  &f.options, &planning, err));
    uc_planning_free(planning);
    stop(&f);

    start(&f, "undivided", note_down_convert, &note);
    assert_int_equal(uc_planning_start(&f.network, f.profile, &f.environment,
                                       &f.options, &planning, &error),
                     UC_ENOFIT);
    assert_says(&error, "no kernel that works is allowed: ");
    f.options.filter.allow = UC_NOTE_REDUCED_PRECISION;
    assert_int_equal(uc_planning_start(&f.network, f.profile, &f.environment,
                                       &f.options, &planning, &error),
                     UC_ENOFIT);
    f.options.filter.allow = UC_NOTE_DOWN_CONVERT;
    assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                  &f.options, &planning, err));
    uc_planning_free(planning);
    stop(&f);

    f = shared;
    f.environment.id = 77;
    assert_int_equal(uc_planning_start(&f.network, f.profile, &f.environment,
                                       &f.options, &planning, &error),
                     UC_ENOFIT);
    assert_string_equal(error.text,
                        "layer \"a\": forward: nothing was measured");
}

/** A graph kernel of no workspace, twice as fast as any other. */
static void add_engine(struct fixture *f, const struct uc_problem *problem,
                       bool searched)
{
    const struct uc_search search = {
        .api = UC_API_GRAPH, .micro_batch = 12, .found = 1, .searched_at = 77
    };
    struct uc_measurement row = {
        .micro_batch = 12,
        .kernel = { .api = UC_API_GRAPH, .engine = 67 },
        .outcome = UC_MEASURED,
        .notes = UC_NOTE_RUNTIME_COMPILED,
        .time_ns = 700,
        .error = -1,
        .calls = 1,
        .build_ns = 350000000,
    };

    assert_done(
        uc_profile_store(f->profile, f->environment.id, problem, &row, err));
    if (searched)
        assert_done(uc_profile_store_search(f->profile, f->environment.id,
                                            problem, &search, err));
}

static void engines_are_planned_with_what_is_known_of_them(void **state)
{
    struct uc_planning_coverage coverage;
    struct uc_planning *planning;
    struct operation *operations;
    struct uc_error error;
    struct uc_plan plan;
    struct fixture f;
    size_t count;

    (void)state;
    start(&f, "undivided", NULL, NULL);
    f.options.filter.apis = 1u << UC_API_GRAPH;
    assert_int_equal(uc_planning_start(&f.network, f.profile, &f.environment,
                                       &f.options, &planning, &error),
                     UC_EMISSING);
    assert_string_equal(error.text,
                        "layer \"a\": forward: no graph engines measured; "
                        "bench --api graph adds them");
    operations = load(&f, &count);
    for (size_t i = 0; i < count; i++)
        add_engine(&f, &operations[i].problem, i > 0);

    /* All but one problem were searched, which is no error with both. */
    f.options.filter.apis = 0;
    assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                  &f.options, &planning, err));
    coverage = uc_planning_coverage(planning);
    assert_int_equal(coverage.unsearched, 1);
    assert_true(coverage.problems > 1 && coverage.problems <= count);
    assert_done(uc_planning_reuse(planning, 0, &plan, err));
    for (size_t i = 0; i < plan.operation_count; i++) {
        const struct uc_plan_piece *piece = plan.operations[i].pieces;

        assert_int_equal(piece->kernel.api, UC_API_GRAPH);
        assert_int_equal(piece->kernel.engine, 67);
        assert_int_equal(piece->notes, UC_NOTE_RUNTIME_COMPILED);
        assert_int_equal(piece->build_ns, 350000000);
    }
    uc_plan_free(&plan);
    uc_planning_free(planning);

    f.options.filter.no_runtime_compiled = true;
    assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                  &f.options, &planning, err));
    assert_done(uc_planning_reuse(planning, 0, &plan, err));
    for (size_t i = 0; i < plan.operation_count; i++) {
        const struct uc_plan_piece *piece = plan.operations[i].pieces;

        assert_int_equal(piece->kernel.api, UC_API_LEGACY);
        assert_int_equal(piece->notes,
                         uc_legacy_notes(&piece->kernel,
                                         plan.operations[i].problem.operation));
    }
    uc_plan_free(&plan);
    uc_planning_free(planning);
    unload(operations, count);
    stop(&f);
}

/** Algorithm 0, whole: 1000 ns in 900 bytes; in halves: what is asked. */
static bool two_ways(const struct uc_problem *problem,
                     struct uc_measurement *row, void *context)
{
    int64_t half_ns = *(int64_t *)context;

    (void)problem;
    if (row->kernel.algorithm != 0 ||
        (row->micro_batch != 12 && row->micro_batch != 4))
        return false;
    row->time_ns = row->micro_batch == 12 ? 1000 : half_ns;
    row->workspace_bytes = row->micro_batch == 12 ? 900 : 100;
    row->spread_ns = 1;
    return true;
}

static void small_gains_leave_an_operation_undivided(void **state)
{
    /* Three pieces of 4: 990, 978 and 996 ns; the spread of both is 4. */
    static const struct {
        int64_t third_ns;
        double min_gain;
        bool divides;
    } cases[] = { { 330, 0.01, false }, { 326, 0.01, true },
                  { 326, 0.03, false }, { 332, 0.001, false },
                  { 332, 0, true },     { 331, 0.001, true } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t third_ns = cases[i].third_ns;
        struct uc_planning *planning;
        struct fixture f;
        struct uc_plan plan;

        start(&f, "4", two_ways, &third_ns);
        f.options.min_gain = cases[i].min_gain;
        assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                      &f.options, &planning, err));
        /* The whole fits: it must be beaten, though it needs more. */
        assert_done(uc_planning_reuse(planning, 900, &plan, err));
        for (size_t j = 0; j < plan.operation_count; j++)
            assert_int_equal(plan.operations[j].time_ns,
                             cases[i].divides ? 3 * third_ns : 1000);
        uc_plan_free(&plan);
        /* It does not fit. */
        assert_done(uc_planning_reuse(planning, 899, &plan, err));
        for (size_t j = 0; j < plan.operation_count; j++) {
            assert_int_equal(plan.operations[j].time_ns, 3 * third_ns);
            assert_int_equal(plan.operations[j].undivided_ns, -1);
            assert_int_equal(plan.operations[j].unlimited_ns, 1000);
        }
        uc_plan_free(&plan);
        uc_planning_free(planning);
        stop(&f);
    }
}

static void pieces_can_be_capped(void **state)
{
    struct uc_planning *planning;
    struct fixture f = shared;
    struct uc_plan plan;

    (void)state;
    f.options.max_pieces = 2;
    assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                  &f.options, &planning, err));
    assert_done(uc_planning_reuse(planning, 20000, &plan, err));
    for (size_t i = 0; i < plan.operation_count; i++) {
        int64_t pieces = 0;

        for (size_t j = 0; j < plan.operations[i].piece_count; j++)
            pieces += plan.operations[i].pieces[j].count;
        assert_true(pieces <= 2);
    }
    uc_plan_free(&plan);
    uc_planning_free(planning);
}

/** Both APIs by name are what nobody told. */
static void a_plan_keeps_what_it_was_chosen_from(void **state)
{
    static const unsigned apis[][2] = { { 0, 0 }, { 1, 1 }, { 3, 0 } };
    struct fixture f = shared;

    (void)state;
    f.options.filter = (struct uc_candidate_filter){
        .deterministic = true,
        .no_runtime_compiled = true,
        .allow = UC_NOTE_DOWN_CONVERT,
    };
    f.options.max_pieces = 3;
    f.options.min_gain = 0.02;
    for (size_t i = 0; i < UNIT_COUNT(apis); i++) {
        struct uc_planning_options options;
        struct uc_planning *planning;
        struct uc_plan plan;

        f.options.filter.apis = apis[i][0];
        assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                      &f.options, &planning, err));
        assert_done(uc_planning_reuse(planning, 1 << 30, &plan, err));
        assert_int_equal(plan.choices.deterministic, true);
        assert_int_equal(plan.choices.no_runtime_compiled, true);
        assert_int_equal(plan.choices.allow, UC_NOTE_DOWN_CONVERT);
        assert_int_equal(plan.choices.apis, apis[i][1]);
        assert_int_equal(plan.choices.max_pieces, 3);
        assert_true(plan.choices.min_gain == 0.02);
        options = uc_planning_as_chosen(&plan.choices);
        assert_int_equal(options.filter.deterministic, true);
        assert_int_equal(options.filter.no_runtime_compiled, true);
        assert_int_equal(options.filter.allow, UC_NOTE_DOWN_CONVERT);
        assert_int_equal(options.filter.apis, apis[i][1]);
        assert_int_equal(options.max_pieces, 3);
        assert_true(options.min_gain == 0.02);
        uc_plan_free(&plan);
        uc_planning_free(planning);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_named),
        cmocka_unit_test(operations_without_a_kernel_say_why),
        cmocka_unit_test(engines_are_planned_with_what_is_known_of_them),
        cmocka_unit_test(small_gains_leave_an_operation_undivided),
        cmocka_unit_test(pieces_can_be_capped),
        cmocka_unit_test(a_plan_keeps_what_it_was_chosen_from),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
