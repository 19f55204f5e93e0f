#include "config.h"

#include "common/bytes.h"
#include "tests/unit.h"

static const struct {
    const char *text;
    int64_t bytes;
} good[] = {
    { "0", 0 },
    { "0B", 0 },
    { "0T", 0 },
    { "1", 1 },
    { "007", 7 },
    { "512b", 512 },
    { "1K", 1024 },
    { "1k", 1024 },
    { "1KB", 1024 },
    { "1KiB", 1024 },
    { "1kib", 1024 },
    { "64M", 67108864 },
    { "64MB", 67108864 },
    { "64MiB", 67108864 },
    { "1.5G", 1610612736 },
    { "2T", 2199023255552 },
    { "0.5K", 512 },
    { "0.0009K", 0 },
    { "1.9", 1 },
    { "0.3K", 307 },
    { "1.0009765625K", 1025 },
    /* One byte is 9.0949...e-13 T: digits behind the twelfth count. */
    { "0.0000000000009094T", 0 },
    { "0.0000000000018189T", 1 },
    { "0.0000000000018190T", 2 },
    { "9223372036854775807", INT64_MAX },
    { "8388607T", 8388607 * (INT64_C(1) << 40) },
    { "8388607.9999999999999T", INT64_MAX },
};

static const char *const bad[] = {
    "",
    " ",
    " 1",
    "1 ",
    "1 M",
    "-1",
    "+1",
    "-0",
    "M",
    ".5M",
    "1.M",
    "1.",
    "1..5M",
    "1,5M",
    "1e3",
    "0x10",
    "1Q",
    "1MM",
    "1MiBs",
    "1iB",
    "1Ki",
    "1BiB",
    "inf",
    "nan",
    "9223372036854775808",
    "8388608T",
    "18446744073709551616",
    "18446744073709551617",
    "99999999999999999999999999999999",
};

static void sizes_are_read_as_written(void **state)
{
    struct uc_error err;

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(good); i++) {
        int64_t bytes = -1;

        if (uc_bytes_parse(good[i].text, &bytes, &err) != UC_OK)
            fail_msg("%s: %s", good[i].text, err.text);
        if (bytes != good[i].bytes)
            fail_msg("%s: %lld instead of %lld", good[i].text, (long long)bytes,
                     (long long)good[i].bytes);
    }
}

static void junk_is_refused_and_leaves_the_output(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
        struct uc_error err = { .text = "" };
        int64_t bytes = 42;

        if (uc_bytes_parse(bad[i], &bytes, &err) != UC_EINPUT)
            fail_msg("\"%s\" was taken as %lld", bad[i], (long long)bytes);
        assert_int_equal(bytes, 42);
        assert_int_equal(err.status, UC_EINPUT);
        assert_true(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
    }
}

static void sizes_are_printed_short(void **state)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } cases[] = {
        { 0, "0 B" },
        { 1, "1 B" },
        { 1023, "1023 B" },
        { 1024, "1 KiB" },
        { 1536, "1.5 KiB" },
        { 67108864, "64 MiB" },
        { 1610612736, "1.5 GiB" },
        { 1048575, "1023 KiB" },
        { INT64_MAX, "7.9 EiB" },
    };
    char text[UC_BYTES_TEXT];

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        uc_bytes_print(cases[i].bytes, text);
        assert_string_equal(text, cases[i].text);
    }
}

/** What is printed is at most the size and within a tenth of its unit. */
static void printed_sizes_are_close(void **state)
{
    (void)state;
    for (int64_t bytes = 1; bytes < INT64_MAX / 7; bytes = bytes * 7 + 3) {
        char text[UC_BYTES_TEXT], *blank;
        struct uc_error err;
        int64_t back;

        uc_bytes_print(bytes, text);
        blank = strchr(text, ' ');
        assert_non_null(blank);
        if (blank[1] == 'P' || blank[1] == 'E')
            break; /* units that are printed but not read */
        memmove(blank, blank + 1, strlen(blank));
        assert_int_equal(uc_bytes_parse(text, &back, &err), UC_OK);
        assert_true(back <= bytes);
        assert_true((double)back > (double)bytes * 0.9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_read_as_written),
        cmocka_unit_test(junk_is_refused_and_leaves_the_output),
        cmocka_unit_test(sizes_are_printed_short),
        cmocka_unit_test(printed_sizes_are_close),
    };

    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
