/* How often operations run in an iteration, from nothing but their order. */
#include "config.h"

#include "tests/unit.h"

#include "runtime/record_rounds.h"

/**
 * Operations a to z are called in the order of `sequence`, which is repeated;
 * then each of `letters` must have the repeat of `repeats`.
 */
static void check(const char *sequence, int times, const char *letters,
                  const int64_t *repeats)
{
    struct uc_rounds rounds = { 0 };
    struct uc_round_count counts[26];
    int64_t divisor = 0;

    memset(counts, 0, sizeof counts);
    for (int i = 0; i < times; i++)
        for (const char *at = sequence; *at != '\0'; at++)
            uc_rounds_count(&rounds, &counts[*at - 'a']);
    for (int i = 0; i < 26; i++)
        divisor = uc_rounds_divisor(divisor, &counts[i]);
    for (int i = 0; letters[i] != '\0'; i++)
        assert_int_equal(
            uc_rounds_repeat(&rounds, &counts[letters[i] - 'a'], divisor),
            repeats[i]);
}

#define CHECK(sequence, times, letters, ...) \
    check(sequence, times, letters, (const int64_t[]){ __VA_ARGS__ })

static void test_an_iteration_is_counted_once(void **state)
{
    (void)state;
    /* a: first layer, b: its gradient, c d e: a layer that comes three
       times. */
    for (int times = 1; times <= 5; times++)
        CHECK("acccdedededeb", times, "acdeb", 1, 3, 4, 4, 1);
    CHECK("acccdedededeb", 1000, "acdeb", 1, 3, 4, 4, 1);
}

static void test_what_never_ran_has_no_repeat(void **state)
{
    (void)state;
    CHECK("aab", 3, "z", 0);
}

static void test_a_checking_pass_does_not_dilute_the_gradients(void **state)
{
    (void)state;
    /* Ten steps with gradients b, then ninety without. */
    CHECK("accbbaccbbaccbbaccbbaccbb"
          "accaccaccaccaccaccaccaccaccaccaccacc",
          3, "acb", 1, 2, 2);
}

static void test_an_unfinished_iteration_changes_nothing(void **state)
{
    (void)state;
    CHECK("accccbaccccbac", 1, "acb", 1, 4, 1);
    CHECK("accccbacccc", 1, "acb", 1, 4, 1);
    CHECK("accccba", 1, "acb", 1, 4, 1);
}

static void test_a_first_layer_that_repeats_opens_one_round(void **state)
{
    (void)state;
    CHECK("aaabbb", 7, "ab", 3, 3);
    CHECK("aaac", 7, "ac", 3, 1);
}

static void test_one_operation_alone_runs_once(void **state)
{
    (void)state;
    CHECK("a", 100, "a", 1);
    CHECK("a", 1, "a", 1);
}

static void test_before_a_round_ends_the_common_divisor_counts(void **state)
{
    (void)state;
    CHECK("aaaabbbbbb", 1, "ab", 2, 3);
    CHECK("abbc", 1, "abc", 1, 2, 1);
}

static void test_irregular_order_is_averaged(void **state)
{
    (void)state;
    /* Two threads, each a then b b: the order between them is chance. */
    CHECK("ababbb"
          "abbabb"
          "aabbbb",
          50, "ab", 1, 2);
}

static void test_an_operation_of_the_last_round_alone(void **state)
{
    (void)state;
    CHECK("ababacc", 1, "abc", 1, 1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_iteration_is_counted_once),
        cmocka_unit_test(test_what_never_ran_has_no_repeat),
        cmocka_unit_test(test_a_checking_pass_does_not_dilute_the_gradients),
        cmocka_unit_test(test_an_unfinished_iteration_changes_nothing),
        cmocka_unit_test(test_a_first_layer_that_repeats_opens_one_round),
        cmocka_unit_test(test_one_operation_alone_runs_once),
        cmocka_unit_test(test_before_a_round_ends_the_common_divisor_counts),
        cmocka_unit_test(test_irregular_order_is_averaged),
        cmocka_unit_test(test_an_operation_of_the_last_round_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
