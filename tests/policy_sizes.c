#include "config.h"

#include "planner/policy.h"
#include "tests/unit.h"

#include <stdlib.h>

static struct uc_policy parse_good(const char *text)
{
    struct uc_policy policy = { .list_count = 0 };
    struct uc_error err = { .text = "" };

    if (uc_policy_parse(text, &policy, &err) != UC_OK)
        fail_msg("%s: %s", text, err.text);
    return policy;
}

static const struct {
    const char *policy;
    int64_t batch;
    int64_t sizes[16]; /* ends with 0 */
} rows[] = {
    { "undivided", 1, { 1 } },
    { "undivided", 100, { 100 } },
    { "power-of-two", 1, { 1 } },
    { "power-of-two", 2, { 1, 2 } },
    { "power-of-two", 3, { 1, 2, 3 } },
    { "power-of-two", 64, { 1, 2, 4, 8, 16, 32, 64 } },
    { "power-of-two", 100, { 1, 2, 4, 8, 16, 32, 64, 100 } },
    { "all", 1, { 1 } },
    { "all", 5, { 1, 2, 3, 4, 5 } },
    { "16", 100, { 16, 100 } },
    { "100", 100, { 100 } },
    { "64,16,32", 100, { 16, 32, 64, 100 } },
    { "64,16,32", 32, { 16, 32 } },
    { "64,16,32", 33, { 16, 32, 33 } },
    { "64", 8, { 8 } },
    { "2147483647", 8, { 8 } },
    { "007", 8, { 7, 8 } },
};

static void sizes_ascend_to_the_batch(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct uc_policy policy = parse_good(rows[i].policy);
        struct uc_error err;
        int64_t *sizes;
        size_t count, expected = 0;

        while (rows[i].sizes[expected] != 0)
            expected++;
        assert_int_equal(
            uc_policy_sizes(&policy, rows[i].batch, &sizes, &count, &err),
            UC_OK);
        if (count != expected ||
            memcmp(sizes, rows[i].sizes, count * sizeof *sizes) != 0)
            fail_msg("%s at %d", rows[i].policy, (int)rows[i].batch);
        free(sizes);
    }
}

static void every_batch_can_be_composed(void **state)
{
    static const char *const policies[] = { "undivided", "power-of-two", "all",
                                            "3,50,7" };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(policies); i++)
        for (int64_t batch = 1; batch < 300; batch++) {
            struct uc_policy policy = parse_good(policies[i]);
            struct uc_error err;
            int64_t *sizes;
            size_t count;

            assert_int_equal(
                uc_policy_sizes(&policy, batch, &sizes, &count, &err), UC_OK);
            assert_int_equal(sizes[count - 1], batch);
            assert_true(sizes[0] >= 1);
            for (size_t j = 1; j < count; j++)
                assert_true(sizes[j - 1] < sizes[j]);
            free(sizes);
        }
}

static void batches_out_of_range_are_refused(void **state)
{
    static const struct {
        const char *policy;
        int64_t batch;
        const char *message;
    } refused[] = {
        { "all", 0, "batch must be 1 to 2147483647, is 0" },
        { "undivided", -1, "batch must be 1 to 2147483647, is -1" },
        { "power-of-two", INT64_MAX,
          "batch must be 1 to 2147483647, is 9223372036854775807" },
        { "all", 65537, "policy all goes up to batch 65536, not 65537" },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(refused); i++) {
        struct uc_policy policy = parse_good(refused[i].policy);
        struct uc_error err;
        int64_t *sizes = NULL;
        size_t count = 7;

        assert_int_equal(
            uc_policy_sizes(&policy, refused[i].batch, &sizes, &count, &err),
            UC_EINPUT);
        assert_string_equal(err.text, refused[i].message);
        assert_null(sizes);
        assert_int_equal(count, 7);
    }
}

static void the_largest_batches_work(void **state)
{
    struct uc_policy all = parse_good("all"), two = parse_good("power-of-two");
    struct uc_error err;
    int64_t *sizes;
    size_t count;

    (void)state;
    assert_int_equal(uc_policy_sizes(&all, 65536, &sizes, &count, &err), UC_OK);
    assert_int_equal(count, 65536);
    assert_int_equal(sizes[65535], 65536);
    free(sizes);
    assert_int_equal(uc_policy_sizes(&two, INT32_MAX, &sizes, &count, &err),
                     UC_OK);
    assert_int_equal(count, 32); /* 2^0 .. 2^30, and 2^31 - 1 */
    free(sizes);
}

static void printing_gives_what_parses(void **state)
{
    static const struct {
        const char *given, *printed;
    } texts[] = {
        { "undivided", "undivided" },
        { "power-of-two", "power-of-two" },
        { "all", "all" },
        { "16", "16" },
        { "64,16,32", "16,32,64" },
        { "2147483647,1", "1,2147483647" },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(texts); i++) {
        struct uc_policy policy = parse_good(texts[i].given);
        char text[UC_POLICY_TEXT];

        uc_policy_print(&policy, text);
        assert_string_equal(text, texts[i].printed);
    }
}

static void other_texts_are_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "power",
        "ALL",
        "0",
        "-1",
        "+1",
        "1,",
        ",1",
        "1,,2",
        "1, 2",
        " 1",
        "1.5",
        "2147483648",
        "0x10",
        "1e2",
        "1;2",
        "16,0",
        "1,1",
        "7,07",
        "99999999999999999999",
        "undivided,1",
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(texts); i++) {
        struct uc_policy policy = { .list_count = 77 };
        struct uc_error err;

        if (uc_policy_parse(texts[i], &policy, &err) != UC_EINPUT)
            fail_msg("accepted: \"%s\"", texts[i]);
        assert_int_equal(policy.list_count, 77);
        assert_null(strchr(err.text, '\n'));
    }
}

static void a_list_has_a_most(void **state)
{
    char text[1024] = "1000";
    size_t used = strlen(text);
    struct uc_policy policy;
    struct uc_error err;

    (void)state;
    for (int i = 1; i < UC_POLICY_SIZES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ",%d",
                                 2147483647 - i);
    assert_int_equal(uc_policy_parse(text, &policy, &err), UC_OK);
    assert_int_equal(policy.list_count, UC_POLICY_SIZES);
    uc_policy_print(&policy, text);
    assert_int_equal(uc_policy_parse(text, &policy, &err), UC_OK);
    memcpy(text + strlen(text), ",5", sizeof ",5");
    assert_int_equal(uc_policy_parse(text, &policy, &err), UC_EINPUT);
    assert_string_equal(err.text, "policy has more than 64 sizes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_ascend_to_the_batch),
        cmocka_unit_test(every_batch_can_be_composed),
        cmocka_unit_test(batches_out_of_range_are_refused),
        cmocka_unit_test(the_largest_batches_work),
        cmocka_unit_test(printing_gives_what_parses),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(a_list_has_a_most),
    };

    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
