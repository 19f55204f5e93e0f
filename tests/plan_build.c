/* Plans from a profile, against dynamic programmes over its raw rows. */
#include "config.h"

#include "planner/plan_build.h"

#include "tests/db_support.h"
#include "tests/synthetic.h"

#include <inttypes.h>

#define NETWORK                                                              \
    "{\"name\":\"tiny\",\"batch\":12,\"dtype\":\"fp32\",\"math\":\"fma\","   \
    "\"layout\":\"nchw\",\"defaults\":{\"filter\":3,\"pad\":1},\"layers\":{" \
    "\"a\":{\"in\":[9,9],\"c\":3,\"k\":16,"                                  \
    "\"operations\":[\"forward\",\"backward-filter\"]},"                     \
    "\"b\":{\"in\":[8,8],\"c\":16,\"k\":16,\"repeat\":3},"                   \
    "\"c\":{\"in\":[8,8],\"c\":16,\"k\":16}}}"

struct fixture {
    struct uc_network network;
    struct uc_profile *profile;
    struct uc_profile_environment environment;
    struct uc_planning_options options;
};

static struct uc_policy policy_of(const char *text)
{
    struct uc_policy policy;

    assert_done(uc_policy_parse(text, &policy, err));
    return policy;
}

typedef bool edit_row(const struct uc_problem *, struct uc_measurement *,
                      void *);

/** A profile with the rows of a policy; each is a commit, so few is fast. */
static void start(struct fixture *f, const char *policy, edit_row *edit,
                  void *context)
{
    static int number;
    char name[32];

    memset(f, 0, sizeof *f);
    assert_done(uc_network_parse(NETWORK, strlen(NETWORK), "tiny.json",
                                 &UC_NETWORK_AS_IS, &f->network, err));
    snprintf(name, sizeof name, "profile%d", number++);
    assert_done(
        uc_profile_open(in_folder(name), UC_PROFILE_WRITE, &f->profile, err));
    f->environment.environment = synthetic_environment;
    assert_done(uc_profile_add_environment(f->profile, &synthetic_environment,
                                           &f->environment.id, err));
    f->options.policy = policy_of(policy);
    assert_done(synthetic_store(f->profile, f->environment.id, &f->network,
                                &f->options.policy, edit, context, err));
}

static void stop(struct fixture *f)
{
    uc_profile_close(f->profile);
    uc_network_free(&f->network);
}

/** Every test that changes no rows reads the same profile. */
static struct fixture shared;

static int setup(void **state)
{
    if (folder_setup(state) != 0)
        return -1;
    start(&shared, "1,2,3,4,6", NULL, NULL);
    return 0;
}

static int teardown(void **state)
{
    stop(&shared);
    return folder_teardown(state);
}

/* ---------------------------------------------------------- the oracle */

struct operation {
    const struct uc_layer *layer;
    struct uc_problem problem;
    struct uc_measurement *rows;
    size_t count;
};

/** The operations of the network with all their rows. */
static struct operation *load(const struct fixture *f, size_t *count)
{
    struct uc_network_operation *list;
    struct operation *operations;

    assert_done(uc_network_operations(&f->network, &list, count, err));
    operations = calloc(*count, sizeof *operations);
    assert_non_null(operations);
    for (size_t i = 0; i < *count; i++) {
        operations[i].layer = list[i].layer;
        operations[i].problem = list[i].problem;
        assert_done(uc_profile_load(f->profile, f->environment.id,
                                    &list[i].problem, &operations[i].rows,
                                    &operations[i].count, err));
    }
    free(list);
    return operations;
}

static void unload(struct operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(operations[i].rows);
    free(operations);
}

/** 16 bytes divide what lies before the second slice of x and of y; here
 * extents of input and output are the same. */
static bool aligned(const struct uc_problem *p, int64_t size)
{
    return p->c * p->in[0] * p->in[1] * size * 4 % 16 == 0 &&
           p->k * p->in[0] * p->in[1] * size * 4 % 16 == 0;
}

static const int64_t never = INT64_MAX / 4;

static bool may_use(const struct operation *op, size_t row, int64_t batch,
                    bool accumulate, int64_t limit)
{
    const struct uc_measurement *m = &op->rows[row];

    return m->outcome == UC_MEASURED && m->accumulate == accumulate &&
           m->workspace_bytes <= limit &&
           (m->micro_batch == batch || aligned(&op->problem, m->micro_batch));
}

/** Least time within the limit; `whole`: undivided. */
static int64_t fastest(const struct operation *op, int64_t batch, int64_t limit,
                       bool whole)
{
    bool accumulates = op->problem.operation == UC_BACKWARD_FILTER;
    int64_t rest[64], best = never;

    rest[0] = 0;
    for (int64_t n = 1; n <= batch; n++) {
        rest[n] = never;
        for (size_t i = 0; i < op->count && !whole; i++)
            if (may_use(op, i, batch, accumulates, limit) &&
                op->rows[i].micro_batch <= n &&
                op->rows[i].time_ns + rest[n - op->rows[i].micro_batch] <
                    rest[n])
                rest[n] =
                    op->rows[i].time_ns + rest[n - op->rows[i].micro_batch];
    }
    for (size_t i = 0; i < op->count; i++)
        if (may_use(op, i, batch, false, limit) &&
            op->rows[i].micro_batch <= batch &&
            op->rows[i].time_ns + rest[batch - op->rows[i].micro_batch] < best)
            best = op->rows[i].time_ns + rest[batch - op->rows[i].micro_batch];
    return best;
}

/** Least total time of all copies in `total`: every sum that no other beats,
 * copy by copy. */
static int64_t divide(const struct operation *operations, size_t count,
                      int64_t batch, int64_t total, bool whole)
{
    enum { ROOM = 400000 };
    static struct {
        int64_t bytes, ns;
    } sums[ROOM], next[ROOM];
    size_t sum_count = 1;

    sums[0].bytes = sums[0].ns = 0;
    for (size_t i = 0; i < count; i++)
        for (int64_t copy = 0; copy < operations[i].layer->repeat; copy++) {
            const struct operation *op = &operations[i];
            size_t next_count = 0, kept = 0;

            for (size_t r = 0; r <= op->count; r++) {
                int64_t bytes = r ? op->rows[r - 1].workspace_bytes : 0;
                int64_t ns = fastest(op, batch, bytes, whole);
                bool seen = false;

                for (size_t q = 0; q < r; q++)
                    seen = seen ||
                           (q ? op->rows[q - 1].workspace_bytes : 0) == bytes;
                if (seen || ns == never)
                    continue;
                for (size_t s = 0; s < sum_count; s++) {
                    assert_true(next_count < ROOM);
                    next[next_count].bytes = sums[s].bytes + bytes;
                    next[next_count++].ns = sums[s].ns + ns;
                }
            }
            /* Keep what nothing beats: selection by growing bytes. */
            for (int64_t last = never;;) {
                size_t best = next_count;

                for (size_t s = 0; s < next_count; s++)
                    if (next[s].bytes <= total && next[s].ns < last &&
                        (best == next_count ||
                         next[s].bytes < next[best].bytes ||
                         (next[s].bytes == next[best].bytes &&
                          next[s].ns < next[best].ns)))
                        best = s;
                if (best == next_count)
                    break;
                last = next[best].ns;
                sums[kept].bytes = next[best].bytes;
                sums[kept++].ns = last;
            }
            sum_count = kept;
        }
    return sum_count ? sums[sum_count - 1].ns : never;
}

/* ------------------------------------------------------------ the tests */

static void check_pieces(const struct fixture *f, const struct uc_plan *plan)
{
    assert_done(uc_plan_check(plan, err));
    assert_string_equal(plan->network, "tiny");
    assert_string_equal(plan->policy, "1,2,3,4,6");
    assert_null(
        uc_environment_difference(&plan->environment, &synthetic_environment));
    for (size_t i = 0; i < plan->operation_count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];
        struct uc_measurement *rows;
        size_t count;

        assert_int_equal(op->batch, 12);
        assert_done(uc_profile_load(f->profile, f->environment.id, &op->problem,
                                    &rows, &count, err));
        for (size_t j = 0; j < op->piece_count; j++) {
            const struct uc_plan_piece *piece = &op->pieces[j];
            bool found = false;

            assert_int_equal(piece->accumulate,
                             op->problem.operation == UC_BACKWARD_FILTER &&
                                 j > 0);
            for (size_t r = 0; r < count; r++)
                found = found ||
                        (rows[r].micro_batch == piece->size &&
                         rows[r].accumulate == piece->accumulate &&
                         uc_kernel_equal(&rows[r].kernel, &piece->kernel) &&
                         rows[r].outcome == UC_MEASURED &&
                         rows[r].workspace_bytes == piece->workspace_bytes &&
                         rows[r].time_ns == piece->time_ns);
            assert_true(found);
        }
        free(rows);
    }
}

static void reuse_is_the_fastest_within_every_limit(void **state)
{
    struct uc_planning *planning;
    struct operation *operations;
    struct fixture f = shared;
    size_t count, divided = 0;

    (void)state;
    operations = load(&f, &count);
    assert_int_equal(count, 8);
    assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                  &f.options, &planning, err));
    for (int64_t limit = 0; limit < 500000; limit += 4999) {
        struct uc_plan plan;

        assert_done(uc_planning_reuse(planning, limit, &plan, err));
        check_pieces(&f, &plan);
        assert_int_equal(plan.limit_bytes, limit);
        assert_int_equal(plan.operation_count, count);
        for (size_t i = 0; i < count; i++) {
            const struct uc_plan_operation *op = &plan.operations[i];
            int64_t whole = fastest(&operations[i], 12, limit, true);

            assert_string_equal(op->layer, operations[i].layer->name);
            assert_int_equal(op->repeat, operations[i].layer->repeat);
            assert_true(uc_problem_equal(&op->problem, &operations[i].problem));
            assert_true(op->workspace_bytes <= limit);
            assert_int_equal(op->time_ns,
                             fastest(&operations[i], 12, limit, false));
            assert_int_equal(op->undivided_ns, whole == never ? -1 : whole);
            assert_int_equal(op->unlimited_ns,
                             fastest(&operations[i], 12, INT64_MAX, true));
            divided += op->piece_count > 1 || op->pieces[0].count > 1;
        }
        uc_plan_free(&plan);
    }
    assert_true(divided > 100);
    uc_planning_free(planning);
    unload(operations, count);
}

static void division_is_the_fastest_within_every_total(void **state)
{
    struct uc_planning *planning;
    struct operation *operations;
    struct fixture f = shared;
    size_t count, several = 0;

    (void)state;
    /* Fewer sizes, so that the oracle can try them all. */
    f.options.policy = policy_of("4");
    operations = load(&f, &count);
    for (size_t i = 0; i < count; i++) {
        size_t kept = 0;

        for (size_t j = 0; j < operations[i].count; j++)
            if (operations[i].rows[j].micro_batch == 4 ||
                operations[i].rows[j].micro_batch == 12)
                operations[i].rows[kept++] = operations[i].rows[j];
        operations[i].count = kept;
    }
    assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                  &f.options, &planning, err));
    for (int64_t total = 0; total < 3000000; total += 400000) {
        struct uc_planning_proof proof;
        struct uc_plan_totals totals;
        struct uc_plan plan;
        int64_t whole = divide(operations, count, 12, total, true);

        assert_done(
            uc_planning_divide(planning, total, 0, 0, &plan, &proof, err));
        assert_done(uc_plan_check(&plan, err));
        assert_true(proof.gap == 0 && !proof.time_ran_out);
        assert_int_equal(plan.mode, UC_PLAN_WD);
        uc_plan_totals(&plan, &totals);
        assert_int_equal(totals.predicted_ns,
                         divide(operations, count, 12, total, false));
        assert_int_equal(totals.undivided_ns, whole == never ? -1 : whole);
        assert_true(totals.workspace_bytes <= total);
        several += plan.operation_count > count;
        uc_plan_free(&plan);
        /* A wide gap is the plan's alone, not of what it is compared with. */
        assert_done(
            uc_planning_divide(planning, total, 1, 0, &plan, &proof, err));
        uc_plan_totals(&plan, &totals);
        assert_true(totals.undivided_ns <=
                    (whole == never ? -1 : whole) * 1.0001);
        uc_plan_free(&plan);
    }
    assert_true(several > 0); /* copies that were not all alike */
    uc_planning_free(planning);
    unload(operations, count);
}

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
    const struct uc_search search = { UC_API_GRAPH, 12, false, 1, 0, 0, 77 };
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reuse_is_the_fastest_within_every_limit),
        cmocka_unit_test(division_is_the_fastest_within_every_total),
        cmocka_unit_test(what_does_not_fit_is_named),
        cmocka_unit_test(operations_without_a_kernel_say_why),
        cmocka_unit_test(engines_are_planned_with_what_is_known_of_them),
        cmocka_unit_test(small_gains_leave_an_operation_undivided),
        cmocka_unit_test(pieces_can_be_capped),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
