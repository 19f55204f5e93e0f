/* Curves, against every composition of every operation tried out. */
#include "config.h"

#include "planner/curve.h"

#include "tests/db_support.h"
#include "tests/synthetic.h"

#define NETWORK                                                              \
    "{\"name\":\"tiny\",\"batch\":6,\"dtype\":\"fp32\",\"math\":\"fma\","    \
    "\"layout\":\"nchw\",\"defaults\":{\"filter\":3,\"pad\":1},\"layers\":{" \
    "\"a\":{\"in\":[8,8],\"c\":4,\"k\":16,\"operations\":[\"forward\"]},"    \
    "\"b\":{\"in\":[8,8],\"c\":16,\"k\":16,\"repeat\":2,"                    \
    "\"operations\":[\"backward-filter\"]}}}"

static const int64_t never = INT64_MAX / 8;

struct fixture {
    struct uc_network network;
    struct uc_profile *profile;
    struct uc_profile_environment environment;
    struct uc_planning_options options;
    struct uc_planning *planning;
    /* of the two layers' operations */
    struct uc_network_operation *operations;
    struct uc_measurement *rows[2];
    size_t counts[2];
};

static struct fixture f;

static int setup(void **state)
{
    size_t count;

    if (folder_setup(state) != 0)
        return -1;
    assert_done(uc_network_parse(NETWORK, strlen(NETWORK), "tiny.json",
                                 &UC_NETWORK_AS_IS, &f.network, err));
    assert_done(
        uc_profile_open(in_folder("p"), UC_PROFILE_WRITE, &f.profile, err));
    f.environment.environment = synthetic_environment;
    assert_done(uc_profile_add_environment(f.profile, &synthetic_environment,
                                           &f.environment.id, err));
    assert_done(uc_policy_parse("1,2,3", &f.options.policy, err));
    assert_done(synthetic_store(f.profile, f.environment.id, &f.network,
                                &f.options.policy, NULL, NULL, err));
    assert_done(uc_network_operations(&f.network, &f.operations, &count, err));
    assert_int_equal(count, 2);
    for (int i = 0; i < 2; i++)
        assert_done(uc_profile_load(f.profile, f.environment.id,
                                    &f.operations[i].problem, &f.rows[i],
                                    &f.counts[i], err));
    assert_done(uc_planning_start(&f.network, f.profile, &f.environment,
                                  &f.options, &f.planning, err));
    return 0;
}

static int teardown(void **state)
{
    uc_planning_free(f.planning);
    for (int i = 0; i < 2; i++)
        free(f.rows[i]);
    free(f.operations);
    uc_profile_close(f.profile);
    uc_network_free(&f.network);
    return folder_teardown(state);
}

/** The fastest kernel for one micro-batch. */
static int64_t fastest(int i, int64_t size, bool accumulate, int64_t limit)
{
    int64_t best = never;

    for (size_t r = 0; r < f.counts[i]; r++) {
        const struct uc_measurement *row = &f.rows[i][r];

        if (row->outcome == UC_MEASURED && row->micro_batch == size &&
            row->accumulate == accumulate && row->workspace_bytes <= limit &&
            row->time_ns < best)
            best = row->time_ns;
    }
    return best;
}

/** Every way to make up `left` images, the first of all or the rest. */
static int64_t try_all(int i, int64_t left, bool first, int64_t limit)
{
    static const int64_t sizes[] = { 1, 2, 3, 6 };
    bool accumulates =
        f.operations[i].problem.operation == UC_BACKWARD_FILTER && !first;
    int64_t best = left == 0 ? 0 : never;

    for (size_t s = 0; s < UNIT_COUNT(sizes); s++)
        if (sizes[s] <= left) {
            int64_t ns = fastest(i, sizes[s], accumulates, limit) +
                         try_all(i, left - sizes[s], false, limit);

            best = ns < best ? ns : best;
        }
    return best;
}

static int64_t time_within(int i, int64_t limit, bool undivided)
{
    return undivided ? fastest(i, 6, false, limit) : try_all(i, 6, true, limit);
}

static int64_t reuse_time(int64_t limit, bool undivided)
{
    int64_t ns =
        time_within(0, limit, undivided) + 2 * time_within(1, limit, undivided);

    return ns >= never ? -1 : ns;
}

/** All workspaces of both operations, times at them known: for divisions. */
enum { MOST = 64 };
static size_t workspaces(int i, bool undivided, int64_t bytes[MOST],
                         int64_t ns[MOST])
{
    size_t count = 0;

    for (size_t r = 0; r < f.counts[i]; r++) {
        const struct uc_measurement *row = &f.rows[i][r];

        if (row->outcome != UC_MEASURED)
            continue;
        assert_true(count < MOST);
        bytes[count] = row->workspace_bytes;
        ns[count++] = time_within(i, row->workspace_bytes, undivided);
    }
    return count;
}

static int64_t divided_time(int64_t total, bool undivided)
{
    static int64_t a[2][MOST], a_ns[2][MOST], b[2][MOST], b_ns[2][MOST];
    static size_t a_count[2], b_count[2];
    int64_t best = never;

    if (a_count[undivided] == 0) {
        a_count[undivided] =
            workspaces(0, undivided, a[undivided], a_ns[undivided]);
        b_count[undivided] =
            workspaces(1, undivided, b[undivided], b_ns[undivided]);
    }
    for (size_t i = 0; i < a_count[undivided]; i++)
        for (size_t j = 0; j < b_count[undivided]; j++)
            for (size_t k = 0; k <= j; k++) {
                int64_t ns = a_ns[undivided][i] + b_ns[undivided][j] +
                             b_ns[undivided][k];

                if (a[undivided][i] + b[undivided][j] + b[undivided][k] <=
                        total &&
                    ns < best)
                    best = ns;
            }
    return best >= never ? -1 : best;
}

static void reuse_is_the_best_of_all_at_every_limit(void **state)
{
    struct uc_curve curve;

    (void)state;
    assert_done(uc_curve_reuse(f.planning, UC_CURVE_EVERY, &curve, err));
    assert_int_equal(curve.mode, UC_PLAN_WR);
    assert_true(curve.count > 10);
    assert_null(uc_curve_at(&curve, curve.points[0].limit_bytes - 1));
    for (size_t i = 0; i < curve.count; i++) {
        const struct uc_curve_point *point = &curve.points[i];

        assert_int_equal(point->time_ns, reuse_time(point->limit_bytes, false));
        assert_int_equal(point->undivided_ns,
                         reuse_time(point->limit_bytes, true));
        assert_ptr_equal(uc_curve_at(&curve, point->limit_bytes), point);
        if (i == 0)
            continue;
        /* Not a byte earlier, and for a reason. */
        assert_int_equal(reuse_time(point->limit_bytes - 1, false),
                         point[-1].time_ns);
        assert_int_equal(reuse_time(point->limit_bytes - 1, true),
                         point[-1].undivided_ns);
        assert_true(point->time_ns < point[-1].time_ns ||
                    point->undivided_ns != point[-1].undivided_ns);
    }
    assert_int_equal(curve.best_ns, reuse_time(INT64_MAX, false));
    assert_int_equal(curve.points[curve.count - 1].undivided_ns,
                     reuse_time(INT64_MAX, true));
    /* Wherever one looks between. */
    for (int64_t limit = 0; limit < 400000; limit += 977) {
        const struct uc_curve_point *at = uc_curve_at(&curve, limit);

        assert_int_equal(at != NULL ? at->time_ns : -1,
                         reuse_time(limit, false));
    }
    uc_curve_free(&curve);
}

static void a_grid_is_of_equal_steps_between_powers_of_two(void **state)
{
    struct uc_curve every, curve;
    int64_t last;

    (void)state;
    assert_done(uc_curve_reuse(f.planning, UC_CURVE_EVERY, &every, err));
    assert_done(uc_curve_reuse(f.planning, 4, &curve, err));
    assert_int_equal(curve.points[0].limit_bytes, every.points[0].limit_bytes);
    for (size_t i = 1; i < curve.count; i++) {
        int64_t limit = curve.points[i].limit_bytes, power = 1;

        while (power * 2 <= limit)
            power *= 2;
        assert_int_equal((limit - power) * 4 % power, 0);
        assert_int_equal(curve.points[i].time_ns, reuse_time(limit, false));
        if (i > 1)
            assert_true(limit - curve.points[i - 1].limit_bytes <= power / 4);
    }
    last = every.points[every.count - 1].limit_bytes;
    assert_true(curve.points[1].limit_bytes <= every.points[1].limit_bytes);
    assert_true(curve.points[curve.count - 2].limit_bytes < last);
    assert_true(curve.points[curve.count - 1].limit_bytes >= last);
    uc_curve_free(&every);
    uc_curve_free(&curve);
}

static void a_division_is_the_best_of_all_at_its_totals(void **state)
{
    struct uc_curve_division options = { .steps = 3,
                                         .target = 0.9,
                                         .total_bytes = 54321 };
    const struct uc_curve_point *knee, *asked;
    struct uc_curve curve;

    (void)state;
    assert_done(uc_curve_divide(f.planning, &options, &curve, err));
    assert_int_equal(curve.mode, UC_PLAN_WD);
    assert_true(curve.count > 10);
    for (size_t i = 0; i < curve.count; i++) {
        const struct uc_curve_point *point = &curve.points[i];

        assert_int_equal(point->time_ns,
                         divided_time(point->limit_bytes, false));
        assert_int_equal(point->undivided_ns,
                         divided_time(point->limit_bytes, true));
        if (i > 0)
            assert_true(point->limit_bytes > point[-1].limit_bytes);
    }
    asked = uc_curve_at(&curve, options.total_bytes);
    assert_int_equal(asked->limit_bytes, options.total_bytes);
    assert_int_equal(curve.best_ns, divided_time(INT64_MAX, false));
    knee = uc_curve_knee(&curve, options.target);
    assert_true((double)knee->time_ns * 0.9 <= (double)curve.best_ns);
    assert_true((double)divided_time(knee->limit_bytes - 1, false) * 0.9 >
                (double)curve.best_ns);
    uc_curve_free(&curve);
}

static void the_knee_is_the_first_that_reaches_the_target(void **state)
{
    struct uc_curve_point points[] = {
        { 0, 200, 200 }, { 10, 125, 200 }, { 20, 100, 150 }, { 30, 101, 101 }
    };
    struct uc_curve curve = { UC_PLAN_WR, points, 4, 100, 0, false };
    static const struct {
        double target;
        size_t at;
    } cases[] = { { 0, 0 },    { 0.5, 0 },   { 0.501, 1 }, { 0.8, 1 },
                  { 0.81, 2 }, { 0.995, 2 }, { 1, 2 } };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++)
        assert_ptr_equal(uc_curve_knee(&curve, cases[i].target),
                         &points[cases[i].at]);
    assert_null(uc_curve_at(&curve, -1));
    assert_ptr_equal(uc_curve_at(&curve, 0), &points[0]);
    assert_ptr_equal(uc_curve_at(&curve, 29), &points[2]);
    assert_ptr_equal(uc_curve_at(&curve, INT64_MAX), &points[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reuse_is_the_best_of_all_at_every_limit),
        cmocka_unit_test(a_grid_is_of_equal_steps_between_powers_of_two),
        cmocka_unit_test(a_division_is_the_best_of_all_at_its_totals),
        cmocka_unit_test(the_knee_is_the_first_that_reaches_the_target),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
