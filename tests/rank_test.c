#include "config.h"

/*
 * The exact rank test against going through all divisions of small pools,
 * ties included, and against scipy 1.17.1 (stats.mannwhitneyu, exact) for
 * larger ones.
 */

#include "planner/rank_test.h"

#include "tests/random.h"
#include "tests/unit.h"

#include <math.h>
#include <string.h>

static double rank_test(const float *a, size_t n, const float *b, size_t m)
{
    struct uc_error err;
    double p = -1;

    assert_int_equal(uc_rank_test(a, n, b, m, &p, &err), UC_OK);
    return p;
}

/** Twice Mann's and Whitney's U: pairs in which a is more, ties half. */
static int twice_u(const float *pool, size_t count, unsigned in_a)
{
    int u = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if ((in_a >> i & 1) && !(in_a >> j & 1))
                u += pool[i] > pool[j] ? 2 : pool[i] >= pool[j];
    return u;
}

/** By the definition: all divisions into sets of these sizes. */
static double brute_force(const float *a, size_t n, const float *b, size_t m)
{
    float pool[16];
    int seen, at_most = 0, at_least = 0, all = 0;

    memcpy(pool, a, n * sizeof *a);
    memcpy(pool + n, b, m * sizeof *b);
    seen = twice_u(pool, n + m, (1u << n) - 1);
    for (unsigned set = 0; set < 1u << (n + m); set++) {
        int u;

        if ((size_t)__builtin_popcount(set) != n)
            continue;
        u = twice_u(pool, n + m, set);
        at_most += u <= seen;
        at_least += u >= seen;
        all++;
    }
    return fmin(1, 2.0 * (at_most < at_least ? at_most : at_least) / all);
}

static void small_pools_are_as_counted(void **state)
{
    struct test_random random = { 11 };

    (void)state;
    for (int run = 0; run < 600; run++) {
        size_t n = (size_t)test_random_range(&random, 1, 6);
        size_t m = (size_t)test_random_range(&random, 1, 6);
        int64_t values = test_random_range(&random, 1, 12); /* ties */
        float a[6], b[6];

        for (size_t i = 0; i < n; i++)
            a[i] = (float)test_random_range(&random, 1, values);
        for (size_t i = 0; i < m; i++)
            b[i] = (float)test_random_range(&random, 1, values + 2);
        assert_true(fabs(rank_test(a, n, b, m) - brute_force(a, n, b, m)) <
                    1e-12);
    }
}

static const struct {
    size_t n, m;
    float a[32], b[32];
    double p;
} known[] = {
    { 5,
      5,
      { 97.441f, 105.114f, 97.739f, 96.849f, 90.7f },
      { 97.867f, 111.119f, 104.241f, 110.369f, 102.489f },
      0.055555555555555552 },
    { 5,
      5,
      { 103.948f, 101.853f, 83.339f, 108.553f, 105.064f },
      { 134.988f, 113.086f, 112.561f, 121.104f, 125.318f },
      0.0079365079365079361 },
    { 5,
      5,
      { 103.054f, 99.541f, 105.21f, 93.578f, 103.087f },
      { 111.942f, 101.389f, 125.175f, 113.566f, 119.97f },
      0.055555555555555552 },
    { 8,
      10,
      { 93.797f, 92.605f, 96.56f, 98.936f, 106.321f, 102.484f, 95.526f,
        90.431f },
      { 100.794f, 118.209f, 97.921f, 108.448f, 110.265f, 91.103f, 106.485f,
        119.062f, 85.856f, 102.784f },
      0.10110151286621874 },
    { 30,
      5,
      { 106.19f,  105.186f, 105.477f, 84.317f,  112.817f, 109.551f,
        105.296f, 80.261f,  93.663f,  108.423f, 81.888f,  98.16f,
        110.195f, 86.888f,  116.101f, 105.52f,  98.499f,  103.249f,
        106.498f, 101.204f, 111.457f, 93.385f,  95.853f,  110.417f,
        100.268f, 91.195f,  109.465f, 114.655f, 95.552f,  86.2f },
      { 105.653f, 105.51f, 104.02f, 121.048f, 96.731f },
      0.44839079326745351 },
    { 32,
      32,
      { 112.606f, 87.317f,  92.13f,   106.315f, 111.287f, 108.59f,  103.452f,
        101.424f, 101.525f, 105.753f, 98.238f,  102.774f, 105.727f, 100.008f,
        107.64f,  105.659f, 120.106f, 103.249f, 95.724f,  96.274f,  99.869f,
        109.238f, 96.634f,  103.858f, 118.373f, 74.353f,  88.761f,  102.439f,
        103.983f, 102.386f, 95.688f,  106.551f },
      { 106.821f, 98.779f,  128.301f, 107.551f, 98.458f,  103.006f, 101.744f,
        103.373f, 76.719f,  99.131f,  114.086f, 92.314f,  103.333f, 113.535f,
        112.562f, 118.911f, 86.986f,  100.466f, 100.591f, 110.233f, 114.918f,
        77.172f,  114.887f, 89.525f,  110.831f, 89.079f,  105.759f, 115.947f,
        102.507f, 105.911f, 111.971f, 105.414f },
      0.34625726885526242 },
    { 1,
      9,
      { 99.115f },
      { 120.333f, 115.485f, 102.062f, 132.453f, 93.532f, 114.146f, 102.343f,
        106.324f, 112.05f },
      0.40000000000000002 },
    { 12,
      7,
      { 102.222f, 106.386f, 84.727f, 84.905f, 106.149f, 90.368f, 89.734f,
        85.299f, 112.664f, 107.466f, 114.731f, 90.623f },
      { 91.01f, 79.597f, 98.66f, 106.894f, 82.098f, 106.603f, 100.88f },
      0.6503532587123918 },
};

static void larger_pools_are_as_scipy_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(known); i++) {
        double p = rank_test(known[i].a, known[i].n, known[i].b, known[i].m);

        assert_true(fabs(p - known[i].p) < 1e-12);
        /* It does not matter which is which. */
        p = rank_test(known[i].b, known[i].m, known[i].a, known[i].n);
        assert_true(fabs(p - known[i].p) < 1e-12);
    }
}

/** All of one set below all of the other: 2 of the binomial coefficient. */
static void the_least_p_is_that_of_sets_apart(void **state)
{
    float a[32], b[32];

    (void)state;
    for (size_t i = 0; i < 32; i++) {
        a[i] = (float)i;
        b[i] = (float)(i + 100);
    }
    assert_true(fabs(uc_rank_test_least(5, 5) - 2.0 / 252) < 1e-15);
    assert_true(fabs(uc_rank_test_least(3, 3) - 2.0 / 20) < 1e-15);
    assert_true(uc_rank_test_least(0, 32) >= 1);
    assert_true(uc_rank_test_least(1, 1) >= 1);
    for (size_t n = 1; n <= 32; n++)
        for (size_t m = 1; m <= 32; m += 5) {
            double p = rank_test(a, n, b, m), least = uc_rank_test_least(n, m);

            assert_true(fabs(p / least - 1) < 1e-9);
        }
}

static void what_says_nothing_has_p_1(void **state)
{
    const float same[32] = { 0 }, one[] = { 5 };
    struct uc_error err;
    double p = -1;

    (void)state;
    assert_true(rank_test(same, 32, same, 32) >= 1);
    assert_true(rank_test(one, 1, same, 0) >= 1);
    assert_true(rank_test(same, 0, one, 1) >= 1);
    assert_int_equal(uc_rank_test(same, 33, one, 1, &p, &err), UC_EINTERNAL);
    assert_true(p < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pools_are_as_counted),
        cmocka_unit_test(larger_pools_are_as_scipy_says),
        cmocka_unit_test(the_least_p_is_that_of_sets_apart),
        cmocka_unit_test(what_says_nothing_has_p_1),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
