#include "config.h"

/* Comparing: what counts as a change, what is paired, what a total is. */

#include "planner/report_compare.h"

#include "tests/plan_support.h"

static const struct uc_compare_options options = { 0.05, 0.01 };

/* -------------------------------------------------------------- helpers */

/** A side that another test fills: `count` items of 1 ms, layers a, b, .. */
static void make_side(struct uc_compare_side *side, size_t count)
{
    struct uc_compare_item *items = calloc(count, sizeof *items);

    assert_non_null(items);
    *side = (struct uc_compare_side){ .environment = sample_environment(),
                                      .limit_bytes = 1 << 20,
                                      .items = items,
                                      .count = count };
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct uc_compare_item){
            .layer = { (char)('a' + i) },
            .problem = sample_problem(UC_FORWARD, 192),
            .batch = 64,
            .repeat = 1,
            .time_ns = 1000000,
            .spread_ns = -1,
            .split = "64",
            .kernels = "gemm/tf32",
        };
    }
}

static struct uc_compare_item *item_of(struct uc_compare_side *side, size_t at)
{
    return (struct uc_compare_item *)side->items + at;
}

static void compare(const struct uc_compare_side *old,
                    const struct uc_compare_side *now,
                    struct uc_comparison *out)
{
    *out = (struct uc_comparison){ 0 };
    assert_done(uc_compare(old, now, &options, out, err));
}

/** The verdict on one operation of which `old` and `new` are the item. */
static enum uc_compare_verdict verdict_on(const struct uc_compare_item *old,
                                          const struct uc_compare_item *now,
                                          double *p)
{
    struct uc_compare_side sides[2];
    struct uc_comparison out;
    enum uc_compare_verdict verdict;

    make_side(&sides[0], 1);
    make_side(&sides[1], 1);
    *item_of(&sides[0], 0) = *old;
    *item_of(&sides[1], 0) = *now;
    compare(&sides[0], &sides[1], &out);
    verdict = out.rows[0].verdict;
    *p = out.rows[0].p;
    assert_int_equal(out.regression, verdict == UC_COMPARE_SLOWER);
    uc_comparison_free(&out);
    uc_compare_side_free(&sides[0]);
    uc_compare_side_free(&sides[1]);
    return verdict;
}

static struct uc_compare_item item_with(int64_t time_ns, int64_t spread_ns)
{
    struct uc_compare_side side;
    struct uc_compare_item item;

    make_side(&side, 1);
    item = *item_of(&side, 0);
    item.time_ns = time_ns;
    item.spread_ns = spread_ns;
    uc_compare_side_free(&side);
    return item;
}

/** `count` samples: first, first + 1, ... */
static struct uc_compare_item item_sampled(int64_t time_ns, int count,
                                           float first)
{
    struct uc_compare_item item = item_with(time_ns, 0);

    item.samples = count;
    for (int i = 0; i < count; i++)
        item.sample_ns[i] = first + (float)i;
    return item;
}

/* -------------------------------------------------------------- verdicts */

static void a_change_must_exceed_the_threshold(void **state)
{
    static const struct {
        int64_t old, now;
        enum uc_compare_verdict verdict;
    } cases[] = {
        { 1000000, 1000000, UC_COMPARE_SAME },
        { 1000000, 1049999, UC_COMPARE_SAME },
        { 1000000, 1050001, UC_COMPARE_SLOWER },
        { 1049999, 1000000, UC_COMPARE_SAME },
        { 1050001, 1000000, UC_COMPARE_FASTER },
        { 1, 2, UC_COMPARE_SLOWER },
    };
    double p;

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        struct uc_compare_item old = item_with(cases[i].old, -1);
        struct uc_compare_item now = item_with(cases[i].now, -1);

        assert_int_equal(verdict_on(&old, &now, &p), cases[i].verdict);
        assert_true(p < 0);
    }
}

static void a_change_must_exceed_both_spreads(void **state)
{
    static const struct {
        int64_t now, old_spread, new_spread;
        enum uc_compare_verdict verdict;
    } cases[] = {
        { 1200000, 100000, 99999, UC_COMPARE_SLOWER },
        { 1200000, 100000, 100000, UC_COMPARE_SAME },
        { 1200000, 300000, -1, UC_COMPARE_SLOWER }, /* not known */
        { 800000, 100000, 99999, UC_COMPARE_FASTER },
        { 800000, 100000, 100000, UC_COMPARE_SAME },
        { 1040000, 0, 0, UC_COMPARE_SAME },
    };
    double p;

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        struct uc_compare_item old = item_with(1000000, cases[i].old_spread);
        struct uc_compare_item now =
            item_with(cases[i].now, cases[i].new_spread);

        assert_int_equal(verdict_on(&old, &now, &p), cases[i].verdict);
    }
}

/** Five and five samples apart: p = 2/252, below 1 %. */
static void samples_are_tested_by_their_ranks(void **state)
{
    struct uc_compare_item old = item_sampled(1000000, 5, 100), now;
    double p;

    (void)state;
    now = item_sampled(1200000, 5, 200);
    assert_int_equal(verdict_on(&old, &now, &p), UC_COMPARE_SLOWER);
    assert_true(p > 2.0 / 252 - 1e-9 && p < 2.0 / 252 + 1e-9);
    /* Apart, and yet within the threshold. */
    now = item_sampled(1040000, 5, 200);
    assert_int_equal(verdict_on(&old, &now, &p), UC_COMPARE_SAME);
    /* One sample within the others. */
    now = item_sampled(1200000, 5, 104);
    now.sample_ns[0] = 103.5f;
    assert_int_equal(verdict_on(&old, &now, &p), UC_COMPARE_SAME);
    assert_true(p > 0.01);
    /* Too few to tell: then the spreads do. */
    old = item_sampled(1000000, 3, 100);
    now = item_sampled(1200000, 3, 101);
    assert_int_equal(verdict_on(&old, &now, &p), UC_COMPARE_SLOWER);
    assert_true(p < 0);
    now.spread_ns = 200000;
    assert_int_equal(verdict_on(&old, &now, &p), UC_COMPARE_SAME);
}

static void operations_are_matched_by_layer_problem_and_batch(void **state)
{
    struct uc_compare_side old, now;
    struct uc_comparison out;

    (void)state;
    make_side(&old, 5);
    make_side(&now, 6);
    item_of(&now, 0)->batch = 32;
    item_of(&now, 1)->problem.k++;
    strcpy(item_of(&now, 2)->split, "2x32");
    strcpy(item_of(&now, 3)->kernels, "fft/tf32");
    compare(&old, &now, &out);
    assert_int_equal(out.count, 8);
    assert_int_equal(out.verdicts[UC_COMPARE_REMOVED], 2);
    assert_int_equal(out.verdicts[UC_COMPARE_ADDED], 3);
    assert_int_equal(out.verdicts[UC_COMPARE_SAME], 3);
    assert_int_equal(out.splits, 2);
    assert_int_equal(out.old_total.time_ns, 3000000);
    assert_int_equal(out.new_total.time_ns, 3000000);
    assert_int_equal(out.common, 3);
    assert_true(out.others);
    assert_int_equal(out.old_all.time_ns, 5000000);
    assert_int_equal(out.new_all.time_ns, 6000000);
    assert_false(out.regression);
    assert_null(out.rows[0].now);
    assert_null(out.rows[7].old);
    uc_comparison_free(&out);
    /* Where it means that nothing works any more, it is one. */
    out = (struct uc_comparison){ .strict = true };
    assert_done(uc_compare(&old, &now, &options, &out, err));
    assert_true(out.regression);
    uc_comparison_free(&out);
    uc_compare_side_free(&old);
    uc_compare_side_free(&now);
}

static void a_total_counts_repeats_and_sums_samples(void **state)
{
    struct uc_compare_side old, now;
    struct uc_comparison out;

    (void)state;
    make_side(&old, 2);
    make_side(&now, 2);
    *item_of(&old, 0) = item_sampled(1000, 6, 10);
    *item_of(&now, 0) = item_sampled(1000, 7, 10);
    *item_of(&old, 1) = item_sampled(500, 5, 20);
    *item_of(&now, 1) = item_sampled(500, 5, 20);
    item_of(&old, 1)->layer[0] = item_of(&now, 1)->layer[0] = 'b';
    item_of(&old, 1)->repeat = item_of(&now, 1)->repeat = 3;
    item_of(&now, 0)->spread_ns = 7;
    item_of(&now, 1)->spread_ns = 2;
    compare(&old, &now, &out);
    assert_int_equal(out.old_total.time_ns, 2500);
    assert_int_equal(out.new_total.spread_ns, 7 + 3 * 2);
    assert_int_equal(out.new_total.samples, 5);
    for (int i = 0; i < 5; i++)
        assert_true(out.new_total.sample_ns[i] == (float)(70 + 4 * i));
    assert_true(out.total.p >= 1);
    uc_comparison_free(&out);
    uc_compare_side_free(&old);
    uc_compare_side_free(&now);
}

/** One operation three times as often: its time is the same, and yet the total
 * is twice as long. */
static void another_repeat_is_told(void **state)
{
    struct uc_compare_side old, now;
    char verdict[UC_REPORT_VERDICT], verdicts[UC_REPORT_VERDICTS];
    struct uc_comparison out;

    (void)state;
    make_side(&old, 2);
    make_side(&now, 2);
    item_of(&now, 1)->repeat = 3;
    compare(&old, &now, &out);
    assert_int_equal(out.verdicts[UC_COMPARE_SAME], 2);
    assert_int_equal(out.repeats, 1);
    assert_false(out.others);
    assert_false(out.rows[1].regression);
    assert_true(out.total.regression);
    assert_false(uc_report_changed(&out.rows[0]));
    assert_true(uc_report_changed(&out.rows[1]));
    uc_report_verdict(&out.rows[1], verdict);
    assert_string_equal(verdict, "repeat 1 -> 3");
    uc_report_verdicts(&out, verdicts);
    assert_string_equal(verdicts, "total slower, 2 of the same speed, "
                                  "1 repeated more or less often");
    uc_comparison_free(&out);
    uc_compare_side_free(&old);
    uc_compare_side_free(&now);
}

/** Operations of a division trade workspace: only its total counts. */
static void in_a_division_the_total_counts(void **state)
{
    struct uc_compare_side old, now;
    struct uc_comparison out;

    (void)state;
    make_side(&old, 2);
    make_side(&now, 2);
    old.mode = now.mode = UC_PLAN_WD;
    item_of(&now, 0)->time_ns = 1200000;
    item_of(&now, 1)->time_ns = 750000;
    compare(&old, &now, &out);
    assert_int_equal(out.verdicts[UC_COMPARE_SLOWER], 1);
    assert_false(out.regression);
    uc_comparison_free(&out);
    item_of(&now, 1)->time_ns = 1000000;
    compare(&old, &now, &out);
    assert_true(out.total.regression);
    assert_true(out.regression);
    uc_comparison_free(&out);
    uc_compare_side_free(&old);
    uc_compare_side_free(&now);
}

/** Many small losses, none above the threshold, are none in the total. */
static void a_total_can_be_a_regression_by_itself(void **state)
{
    struct uc_compare_side old, now;
    struct uc_comparison out;

    (void)state;
    make_side(&old, 2);
    make_side(&now, 2);
    /* Spreads hide each change, but not their sum. */
    for (size_t i = 0; i < 2; i++) {
        item_of(&old, i)->time_ns = 1000;
        item_of(&now, i)->time_ns = 1100;
        *item_of(&old, i) = item_sampled(1000, 5, 100);
        *item_of(&now, i) = item_sampled(1100, 5, 104);
        item_of(&old, i)->layer[0] = item_of(&now, i)->layer[0] =
            (char)('a' + i);
    }
    /* a: 100..104 and 104..108: a tie; the sums do not touch by reversal */
    for (int k = 0; k < 5; k++)
        item_of(&old, 1)->sample_ns[k] = (float)(104 - k);
    compare(&old, &now, &out);
    assert_int_equal(out.verdicts[UC_COMPARE_SLOWER], 0);
    assert_int_equal(out.total.verdict, UC_COMPARE_SLOWER);
    assert_true(out.regression);
    uc_comparison_free(&out);
    uc_compare_side_free(&old);
    uc_compare_side_free(&now);
}

/* ----------------------------------------------------------------- plans */

static void copies_of_one_operation_count_as_one(void **state)
{
    struct uc_compare_side side = { 0 };
    const struct uc_compare_item *items;
    struct uc_plan plan;

    (void)state;
    sample_plan(&plan);
    /* conv3, twice at 650 us, and once more otherwise */
    strcpy(plan.operations[1].layer, "conv3");
    plan.operations[1].problem = plan.operations[2].problem;
    plan.operations[1].repeat = 1;
    assert_done(uc_compare_side_plan(&plan, &side, err));
    assert_int_equal(side.count, 2);
    items = side.items;
    assert_int_equal(items[1].repeat, 3);
    assert_int_equal(items[1].time_ns, (500000 + 2 * 650000) / 3);
    assert_string_equal(items[1].split, "1 of 256, 2 of 2x128");
    assert_int_equal(items[0].time_ns, 400000);
    assert_string_equal(items[0].split, "4x64");
    assert_string_equal(items[0].kernels, "winograd/tf32");
    uc_compare_side_free(&side);
    uc_plan_free(&plan);
}

/** `out` becomes copies of `plan` that differ as the arguments say. */
static struct uc_plan variant(const struct uc_plan *plan, int64_t limit,
                              int cudnn, const char *device)
{
    struct uc_plan copy = *plan;

    copy.limit_bytes = limit;
    copy.environment.versions.cudnn = cudnn;
    strcpy(copy.environment.device.name, device);
    return copy;
}

static void plans_are_paired_by_what_they_are_for(void **state)
{
    struct uc_compare_pair *pairs;
    struct uc_plan plan, old[3], now[4];
    size_t count;

    (void)state;
    sample_plan(&plan);
    old[0] = variant(&plan, 100, 91900, "A");
    old[1] = variant(&plan, 200, 91900, "A");
    old[2] = variant(&plan, 300, 91900, "A");
    now[0] = variant(&plan, 200, 92000, "A");
    now[1] = variant(&plan, 100, 91900, "A"); /* the same environment */
    now[2] = variant(&plan, 100, 92000, "A"); /* later, but another */
    now[3] = variant(&plan, 400, 92000, "A");
    assert_done(uc_compare_pairs(old, 3, now, 4, &pairs, &count, err));
    assert_int_equal(count, 2);
    assert_int_equal(pairs[0].old, 0);
    assert_int_equal(pairs[0].now, 1);
    assert_int_equal(pairs[1].old, 1);
    assert_int_equal(pairs[1].now, 0);
    free(pairs);
    /* Without the same environment: the same device, the later one. */
    now[1] = variant(&plan, 100, 92000, "A");
    now[3] = variant(&plan, 100, 91900, "B");
    assert_done(uc_compare_pairs(old, 3, now, 4, &pairs, &count, err));
    assert_int_equal(count, 2);
    assert_int_equal(pairs[0].now, 2);
    free(pairs);
    /* One and one are a pair. */
    assert_done(uc_compare_pairs(old, 1, now, 1, &pairs, &count, err));
    assert_int_equal(count, 1);
    free(pairs);
    assert_done(uc_compare_pairs(&old[2], 1, now, 2, &pairs, &count, err));
    assert_int_equal(count, 0);
    free(pairs);
    uc_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_must_exceed_the_threshold),
        cmocka_unit_test(a_change_must_exceed_both_spreads),
        cmocka_unit_test(samples_are_tested_by_their_ranks),
        cmocka_unit_test(operations_are_matched_by_layer_problem_and_batch),
        cmocka_unit_test(a_total_counts_repeats_and_sums_samples),
        cmocka_unit_test(another_repeat_is_told),
        cmocka_unit_test(in_a_division_the_total_counts),
        cmocka_unit_test(a_total_can_be_a_regression_by_itself),
        cmocka_unit_test(copies_of_one_operation_count_as_one),
        cmocka_unit_test(plans_are_paired_by_what_they_are_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
