#include "config.h"

/* Reals in JSON: short, the same when they are read, and nothing else moves. */

#include "planner/json_text.h"

#include "tests/random.h"
#include "tests/unit.h"

#include <stdlib.h>

static void prints(const char *text, const char *expected)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    assert_non_null(out);
    uc_json_text_print(out, text, strlen(text));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(got, expected);
    free(got);
}

static void reals_are_as_people_write_them(void **state)
{
    (void)state;
    prints("0.94999999999999996", "0.95");
    prints("[0.10000000000000001, 0.30000000000000004]",
           "[0.1, 0.30000000000000004]");
    prints("{\"a\": 1.0,\n\"b\": -2.5e-300}",
           "{\"a\": 1.0,\n\"b\": -2.5e-300}");
    prints("100000000000000000000.0", "1e+20");
}

static void whatever_is_no_real_stays(void **state)
{
    (void)state;
    prints("[12345678901234567, -1, true, false, null]",
           "[12345678901234567, -1, true, false, null]");
    prints("{\"0.94999999999999996\": \"0.94999999999999996\\\"1.50\"}",
           "{\"0.94999999999999996\": \"0.94999999999999996\\\"1.50\"}");
    prints("\"1.50, 2.50\"\n", "\"1.50, 2.50\"\n");
    prints("", "");
}

static void what_is_read_back_is_the_same(void **state)
{
    struct test_random random = { 7 };

    (void)state;
    for (int i = 0; i < 2000; i++) {
        double value = (double)test_random_range(&random, 1, INT32_MAX) /
                       (double)test_random_range(&random, 1, INT32_MAX);
        char text[64], *got = NULL;
        size_t size;
        FILE *out = open_memstream(&got, &size);

        assert_non_null(out);
        snprintf(text, sizeof text, "%.17e", value);
        uc_json_text_print(out, text, strlen(text));
        assert_int_equal(fclose(out), 0);
        assert_true(strtod(got, NULL) == value);
        assert_true(size <= strlen(text));
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals_are_as_people_write_them),
        cmocka_unit_test(whatever_is_no_real_stays),
        cmocka_unit_test(what_is_read_back_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
