#include "config.h"

#include "tests/plan_support.h"

#include "planner/report.h"
#include "planner/table.h"

static const char *time_text(int64_t ns)
{
    static char text[UC_REPORT_TEXT];

    uc_report_time(ns, text);
    return text;
}

static void times_have_three_digits_and_a_unit(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        { -1, "-" },
        { 0, "0 ns" },
        { 1, "1 ns" },
        { 999, "999 ns" },
        { 1000, "1.00 us" },
        { 1004, "1.00 us" },
        { 1005, "1.01 us" },
        { 9994, "9.99 us" },
        { 9995, "10.0 us" },
        { 12345, "12.3 us" },
        { 99949, "99.9 us" },
        { 99950, "100 us" },
        { 999499, "999 us" },
        { 999500, "1.00 ms" },
        { 1570000, "1.57 ms" },
        { 999499999, "999 ms" },
        { 999500000, "1.00 s" },
        { INT64_C(83210000000), "83.2 s" },
        { INT64_C(999500000000), "1000 s" },
        { INT64_C(123456000000000), "123456 s" },
        { INT64_MAX, "9223372037 s" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(time_text(cases[i].ns), cases[i].text);
}

static void shares_have_the_decimals_they_need(void **state)
{
    static const struct {
        double share;
        const char *text;
    } cases[] = {
        { 0, "0%" },          { 0.95, "95%" },      { 1, "100%" },
        { 0.995, "99.5%" },   { 0.9999, "99.99%" }, { 0.0001, "0.01%" },
        { 0.1005, "10.05%" }, { 0.99999, "100%" },
    };
    char text[UC_REPORT_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uc_report_share(cases[i].share, text);
        assert_string_equal(text, cases[i].text);
    }
}

/** Read back, a printed time is within half of its last digit. */
static void printed_times_are_the_nearest(void **state)
{
    int64_t ns = 1;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const char *text;
        double value, unit, step = 1;
        char *end;

        ns = ns * 21 / 20 + 1 + i % 7;
        if (ns > INT64_C(900000000000))
            ns = 1 + i;
        text = time_text(ns);
        value = strtod(text, &end);
        unit = strcmp(end, " ns") == 0   ? 1
               : strcmp(end, " us") == 0 ? 1e3
               : strcmp(end, " ms") == 0 ? 1e6
                                         : 1e9;
        if (strchr(text, '.') != NULL)
            step = end - strchr(text, '.') == 3 ? 0.01 : 0.1;
        if (value * unit - (double)ns > step * unit / 2 * 1.000001 ||
            (double)ns - value * unit > step * unit / 2 * 1.000001)
            fail_msg("%lld ns printed as %s", (long long)ns, text);
        /* three digits, unless whole nanoseconds */
        if (unit > 1)
            assert_int_equal(end - text, strchr(text, '.') != NULL ? 4 : 3);
    }
}

static void gains_and_versions_and_dates(void **state)
{
    struct uc_environment env = sample_environment();
    char text[UC_REPORT_TEXT], line[UC_REPORT_LINE];

    (void)state;
    uc_report_gain(231, 100, text);
    assert_string_equal(text, "2.31x");
    uc_report_gain(100, 100, text);
    assert_string_equal(text, "1.00x");
    uc_report_gain(99, 100, text);
    assert_string_equal(text, "0.99x");
    uc_report_gain(123456, 100, text);
    assert_string_equal(text, "1234.56x");
    uc_report_gain(-1, 100, text);
    assert_string_equal(text, "");
    uc_report_gain(1, 0, text);
    assert_string_equal(text, "");
    uc_report_gain(INT64_MAX, 1, text);
    assert_string_equal(text, "");
    uc_report_cudnn(91900, text);
    assert_string_equal(text, "9.19.0");
    uc_report_cudnn(8907, text);
    assert_string_equal(text, "8.9.7");
    uc_report_cuda(13000, text);
    assert_string_equal(text, "13.0");
    uc_report_cuda(12080, text);
    assert_string_equal(text, "12.8");
    uc_report_date(1764460801, text);
    assert_string_equal(text, "2025-11-30 00:00:01");
    uc_report_date(INT64_C(253402300799), text);
    assert_string_equal(text, "9999-12-31 23:59:59");
    uc_report_device(&env.device, line);
    assert_string_equal(line, "NVIDIA H200 (compute capability 9.0, 132 "
                              "multiprocessors, 139.7 GiB)");
    uc_report_versions(&env.versions, line);
    assert_string_equal(line, "cuDNN 9.19.0, CUDA 13.0, driver 580.159.04");
    env.versions.driver[0] = '\0';
    uc_report_versions(&env.versions, line);
    assert_string_equal(line, "cuDNN 9.19.0, CUDA 13.0");
}

static void splits_count_equal_neighbours_together(void **state)
{
    struct uc_plan plan;
    struct uc_plan_operation *op;
    char text[64];

    (void)state;
    sample_plan(&plan);
    op = &plan.operations[2];
    uc_report_split(&plan.operations[0], text, sizeof text);
    assert_string_equal(text, "4x64");
    uc_report_split(&plan.operations[1], text, sizeof text);
    assert_string_equal(text, "256");
    uc_report_split(op, text, sizeof text);
    assert_string_equal(text, "2x128");
    op->pieces[0].size = 32;
    op->pieces[0].count = 3;
    op->pieces[1].size = 4;
    uc_report_split(op, text, sizeof text);
    assert_string_equal(text, "3x32+4");
    uc_report_split(op, text, 7);
    assert_string_equal(text, "3x32+4");
    uc_report_split(op, text, 6);
    assert_string_equal(text, "3x...");
    uc_report_kernels(&plan.operations[0], text, sizeof text);
    assert_string_equal(text, "winograd/tf32");
    uc_report_kernels(op, text, sizeof text);
    assert_string_equal(text, "algo3/tf32 + algo1/tf32");
    uc_report_kernels(op, text, 23);
    assert_string_equal(text, "algo3/tf32 + ...");
    op->pieces[1].kernel = op->pieces[0].kernel;
    uc_report_kernels(op, text, sizeof text);
    assert_string_equal(text, "algo3/tf32");
    uc_plan_free(&plan);
}

static void widths_are_those_of_a_terminal(void **state)
{
    (void)state;
    assert_int_equal(uc_text_width(""), 0);
    assert_int_equal(uc_text_width("conv2"), 5);
    assert_int_equal(uc_text_width("caf\xc3\xa9"), 4);
    assert_int_equal(uc_text_width("cafe\xcc\x81"), 4); /* combining acute */
    assert_int_equal(uc_text_width("\xe5\xb1\xa4"
                                   "1"),
                     3);                                    /* one ideograph */
    assert_int_equal(uc_text_width("\xf0\x9f\x98\x80"), 2); /* a face */
    assert_int_equal(uc_text_width("\xe2\x82\x82"), 1);     /* subscript two */
}

static void tables_are_aligned_without_trailing_blanks(void **state)
{
    static const char *const cells[] = {
        "name", "n", "x", "\xe5\xb1\xa4", "10", "", "long name", "", "y",
    };
    struct uc_error error;
    struct uc_table table;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    uc_table_init(&table, "lrl");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        uc_table_add(&table, cells[i]);
    assert_int_equal(uc_table_print(&table, out, &error), UC_OK);
    fclose(out);
    assert_string_equal(text, "name        n  x\n"
                              "\xe5\xb1\xa4         10\n"
                              "long name      y\n");
    free(text);
    uc_table_free(&table);
}

static void choices_are_told_when_they_are_told_otherwise(void **state)
{
    static const struct {
        const char *policy;
        struct uc_plan_choices choices;
        const char *text;
    } cases[] = {
        { "power-of-two", { .min_gain = 0.01 }, "power-of-two" },
        { "16,32",
          { .min_gain = 0.01, .deterministic = true },
          "16,32, deterministic kernels only" },
        { "all",
          { .min_gain = 0.01, .apis = 1u << UC_API_LEGACY },
          "all, legacy kernels only" },
        { "all",
          { .min_gain = 0.01, .apis = 1u << UC_API_GRAPH },
          "all, graph kernels only" },
        { "all",
          { .min_gain = 0.01, .no_runtime_compiled = true },
          "all, no kernels compiled at run time" },
        { "all",
          { .min_gain = 0.01, .allow = UC_NOTE_DOWN_CONVERT },
          "all, down-convert allowed" },
        { "all",
          { .min_gain = 0.01,
            .allow = UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION },
          "all, down-convert and reduced-precision allowed" },
        { "all",
          { .min_gain = 0.01, .max_pieces = 1 },
          "all, at most 1 micro-batch" },
        { "all",
          { .min_gain = 0.01, .max_pieces = 4 },
          "all, at most 4 micro-batches" },
        { "all", { .min_gain = 0 }, "all, divided for any gain" },
        { "all", { .min_gain = 0.05 }, "all, divided only for more than 5%" },
        { "all",
          { .min_gain = 0.001 },
          "all, divided only for more than 0.1%" },
        { "undivided",
          { true, true, UC_NOTE_REDUCED_PRECISION, 1u << UC_API_GRAPH, 5,
            0.29 },
          "undivided, deterministic kernels only, graph kernels only, no "
          "kernels compiled at run time, reduced-precision allowed, at most 5 "
          "micro-batches, divided only for more than 29%" },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char text[UC_REPORT_CHOICES];

        uc_report_choices(cases[i].policy, &cases[i].choices, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void the_longest_choices_fit(void **state)
{
    const struct uc_plan_choices choices = { true,
                                             true,
                                             UC_NOTE_DOWN_CONVERT |
                                                 UC_NOTE_REDUCED_PRECISION,
                                             1u << UC_API_LEGACY,
                                             INT64_MAX,
                                             0.1234 };
    static const char end[] =
        ", at most 9223372036854775807 micro-batches, divided only for more "
        "than 12.34%";
    char policy[UC_POLICY_TEXT], text[UC_REPORT_CHOICES];

    (void)state;
    memset(policy, '1', sizeof policy);
    policy[sizeof policy - 1] = '\0';
    uc_report_choices(policy, &choices, text);
    assert_string_equal(text + strlen(text) - strlen(end), end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_have_the_decimals_they_need),
        cmocka_unit_test(times_have_three_digits_and_a_unit),
        cmocka_unit_test(printed_times_are_the_nearest),
        cmocka_unit_test(gains_and_versions_and_dates),
        cmocka_unit_test(splits_count_equal_neighbours_together),
        cmocka_unit_test(choices_are_told_when_they_are_told_otherwise),
        cmocka_unit_test(the_longest_choices_fit),
        cmocka_unit_test(widths_are_those_of_a_terminal),
        cmocka_unit_test(tables_are_aligned_without_trailing_blanks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
