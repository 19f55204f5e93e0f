/*
 * Compacting: for whatever options of a plan, the best of every workspace
 * limit stays, by brute force over random rows.
 */
#include "config.h"

#include "tests/random.h"
#include "tests/unit.h"

#include "planner/compact.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 400, MOST_ROWS = 40, LIMITS = 6 };

static struct uc_problem problem;
static struct test_random numbers = { 20261130 };

static int64_t random_below(int64_t bound)
{
    return test_random_range(&numbers, 0, bound - 1);
}

/** What a plan may refuse. */
struct options {
    bool legacy, graph;
    unsigned refused; /**< notes */
};

/** What no plan of the problem, which is in fma, may use. */
static bool is_weaker(const struct uc_measurement *row)
{
    return row->kernel.math != UC_MATH_FMA ||
           (row->notes & UC_NOTE_TENSOR_CORE) != 0;
}

/** The least time of one group under a limit; 0: nothing. */
static int64_t best(const struct uc_measurement *rows, size_t count,
                    const struct options *options, int64_t limit, int64_t size,
                    bool accumulate)
{
    int64_t least = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].outcome == UC_MEASURED && rows[i].micro_batch == size &&
            rows[i].accumulate == accumulate &&
            rows[i].workspace_bytes <= limit &&
            (rows[i].kernel.api == UC_API_LEGACY ? options->legacy
                                                 : options->graph) &&
            !is_weaker(&rows[i]) &&
            !((rows[i].notes |
               uc_legacy_notes(&rows[i].kernel, problem.operation)) &
              options->refused) &&
            (least == 0 || rows[i].time_ns < least))
            least = rows[i].time_ns;
    return least;
}

static const enum uc_outcome outcomes[] = { UC_MEASURED,    UC_MEASURED,
                                            UC_MEASURED,    UC_CUT_OFF,
                                            UC_UNSUPPORTED, UC_WRONG };

static struct uc_measurement random_row(struct uc_kernel kernel, int64_t size,
                                        bool accumulate)
{
    static const unsigned notes[] = { 0,
                                      UC_NOTE_NONDETERMINISTIC,
                                      UC_NOTE_DOWN_CONVERT,
                                      UC_NOTE_REDUCED_PRECISION,
                                      UC_NOTE_RUNTIME_COMPILED,
                                      UC_NOTE_TENSOR_CORE,
                                      UC_NOTE_WINOGRAD };
    unsigned first = notes[random_below((int64_t)UNIT_COUNT(notes))];
    unsigned second = notes[random_below((int64_t)UNIT_COUNT(notes))];

    return (struct uc_measurement){
        .micro_batch = size,
        .accumulate = accumulate,
        .kernel = kernel,
        .outcome = outcomes[random_below((int64_t)UNIT_COUNT(outcomes))],
        .notes = first | second,
        .workspace_bytes = random_below(LIMITS),
        .time_ns = 1 + random_below(8),
    };
}

/** Legacy kernels and engines of two sizes and both beta cases; searches of
    the engines. */
static size_t random_profile(struct uc_measurement *rows,
                             struct uc_search *searches, size_t *search_count)
{
    struct uc_kernel legacy[UC_LEGACY_KERNELS];
    size_t legacy_count = uc_legacy_kernels(&problem, legacy), count = 0;

    *search_count = 0;
    for (int g = 0; g < 4; g++) {
        int64_t size = g < 2 ? 8 : 16;
        int engines = (int)random_below(4);
        bool accumulate = g % 2 == 1;

        for (size_t i = 0; i < legacy_count; i++)
            rows[count++] = random_row(legacy[i], size, accumulate);
        for (int i = 0; i < engines; i++)
            rows[count++] = random_row(
                (struct uc_kernel){ .api = UC_API_GRAPH, .engine = i }, size,
                accumulate);
        searches[(*search_count)++] = (struct uc_search){
            .api = UC_API_GRAPH,
            .micro_batch = size,
            .accumulate = accumulate,
            .found = engines,
        };
    }
    return count;
}

static void check_bests(const struct uc_measurement *before, size_t count,
                        const struct uc_measurement *after, size_t kept)
{
    static const unsigned refusable[] = { UC_NOTE_NONDETERMINISTIC,
                                          UC_NOTE_DOWN_CONVERT,
                                          UC_NOTE_REDUCED_PRECISION,
                                          UC_NOTE_RUNTIME_COMPILED };

    for (unsigned o = 1; o < 64; o++) {
        struct options options = { o & 1, o & 2, 0 };

        for (size_t i = 0; i < UNIT_COUNT(refusable); i++)
            if (o >> (2 + i) & 1)
                options.refused |= refusable[i];
        for (int64_t limit = 0; limit < LIMITS; limit++)
            for (int g = 0; g < 4; g++)
                assert_int_equal(best(before, count, &options, limit,
                                      g < 2 ? 8 : 16, g % 2 == 1),
                                 best(after, kept, &options, limit,
                                      g < 2 ? 8 : 16, g % 2 == 1));
    }
}

static void the_best_under_every_limit_stays(void **state)
{
    size_t dropped = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct uc_measurement before[MOST_ROWS], after[MOST_ROWS];
        struct uc_search *searches = malloc(4 * sizeof *searches);
        size_t search_count, count, kept;
        struct uc_error err;

        assert_non_null(searches);
        count = kept = random_profile(before, searches, &search_count);
        memcpy(after, before, sizeof after);
        assert_int_equal(
            uc_compact(&problem, after, &kept, &searches, &search_count, &err),
            UC_OK);
        check_bests(before, count, after, kept);
        dropped += count - kept;
        assert_int_equal(search_count, 8); /* now of both APIs */
        free(searches);
    }
    assert_true(dropped > 0);
}

static void marks_stay_and_what_is_dropped_is_counted(void **state)
{
    struct uc_kernel legacy[UC_LEGACY_KERNELS];
    size_t count = uc_legacy_kernels(&problem, legacy), search_count = 0;
    struct uc_measurement rows[UC_LEGACY_KERNELS];
    struct uc_search *searches = NULL;
    struct uc_error err;

    (void)state;
    assert_true(count >= 6);
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct uc_measurement){ .micro_batch = 4,
                                           .kernel = legacy[i],
                                           .outcome = UC_MEASURED,
                                           .workspace_bytes = 10,
                                           .time_ns = 100 + (int64_t)i,
                                           .spread_ns = 3,
                                           .samples = 1,
                                           .sample_ns = { 100 },
                                           .measured_at = 7 };
    }
    rows[1].outcome = UC_WRONG;
    rows[2].outcome = UC_UNSUPPORTED;
    rows[3].outcome = UC_CUT_OFF;
    rows[4].outcome = UC_CRASHED;
    rows[5].workspace_bytes = 9;
    assert_int_equal(
        uc_compact(&problem, rows, &count, &searches, &search_count, &err),
        UC_OK);
    assert_int_equal(count, 4); /* 0, 1, 4 and 5 */
    assert_int_equal(rows[0].kernel.algorithm, 0);
    assert_int_equal(rows[0].spread_ns, 3);
    assert_int_equal(rows[0].samples, 0);
    assert_int_equal(rows[1].outcome, UC_WRONG);
    assert_int_equal(rows[2].outcome, UC_CRASHED);
    assert_int_equal(rows[3].kernel.algorithm, 5);
    assert_int_equal(search_count, 1);
    assert_int_equal(searches[0].api, UC_API_LEGACY);
    assert_int_equal(searches[0].found,
                     (int)uc_legacy_kernels(&problem, legacy) - 1);
    assert_int_equal(searches[0].pruned,
                     (int)uc_legacy_kernels(&problem, legacy) - 5);
    assert_int_equal(searches[0].searched_at, 7);
    free(searches);
}

/** Rows may be of more searches than the one on record, as after a merge. */
static void what_is_dropped_is_counted_whoever_found_it(void **state)
{
    struct uc_measurement rows[3];
    struct uc_search *searches = malloc(2 * sizeof *searches);
    size_t count = 3, search_count = 1;
    struct uc_error err;

    (void)state;
    assert_non_null(searches);
    searches[0] =
        (struct uc_search){ .api = UC_API_GRAPH, .micro_batch = 4, .found = 1 };
    for (int i = 0; i < 3; i++)
        rows[i] = (struct uc_measurement){ .micro_batch = 4,
                                           .kernel = { .api = UC_API_GRAPH,
                                                       .engine = i },
                                           .outcome = UC_MEASURED,
                                           .workspace_bytes = 10,
                                           .time_ns = 100 + i };
    assert_int_equal(
        uc_compact(&problem, rows, &count, &searches, &search_count, &err),
        UC_OK);
    assert_int_equal(count, 1);
    assert_int_equal(search_count, 1);
    assert_int_equal(searches[0].found, 3);
    assert_int_equal(searches[0].pruned, 2);
    free(searches);
}

/** A record must not say that there is nothing else. */
static void where_a_kernel_has_no_row_all_stay(void **state)
{
    struct uc_kernel legacy[UC_LEGACY_KERNELS];
    size_t count = uc_legacy_kernels(&problem, legacy) - 1, search_count = 0;
    size_t kept = count;
    struct uc_measurement rows[UC_LEGACY_KERNELS];
    struct uc_search *searches = NULL;
    struct uc_error err;

    (void)state;
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct uc_measurement){ .micro_batch = 4,
                                           .kernel = legacy[i],
                                           .outcome = UC_UNSUPPORTED };
    assert_int_equal(
        uc_compact(&problem, rows, &kept, &searches, &search_count, &err),
        UC_OK);
    assert_int_equal(kept, count);
    assert_int_equal(search_count, 0);
    free(searches);
}

static int open_problem(void **state)
{
    struct uc_error err;

    (void)state;
    return uc_problem_parse("backward-filter:fp32:fma:nchw:c8:k8:i8x8:f3x3",
                            &problem, &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_under_every_limit_stays),
        cmocka_unit_test(marks_stay_and_what_is_dropped_is_counted),
        cmocka_unit_test(what_is_dropped_is_counted_whoever_found_it),
        cmocka_unit_test(where_a_kernel_has_no_row_all_stay),
    };

    return cmocka_run_group_tests(tests, open_problem, NULL);
}
