/* Plans from a profile, against dynamic programmes over its raw rows. */
#include "config.h"

#include "tests/planning_support.h"

/* ---------------------------------------------------------- the oracle */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reuse_is_the_fastest_within_every_limit),
        cmocka_unit_test(division_is_the_fastest_within_every_total),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
