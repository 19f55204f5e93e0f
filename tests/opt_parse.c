#include "config.h"

#include "common/kernel.h"
#include "planner/opt.h"
#include "planner/policy.h"
#include "tests/unit.h"

struct args {
    bool quiet;
    const char *output;
    int64_t limit_bytes;
    int64_t batch;
    double budget_s;
    double gain;
    int math, dtype, layout;
    unsigned allow, apis;
    struct uc_policy policy;
};

static const struct opt_spec opts[] = {
    { "quiet", 'q', OPT_FLAG, offsetof(struct args, quiet), NULL, "less" },
    { "output", 'o', OPT_STRING, offsetof(struct args, output), "FILE", "to" },
    { "limit", 0, OPT_BYTES, offsetof(struct args, limit_bytes), "BYTES", "l" },
    { "batch", 'b', OPT_COUNT, offsetof(struct args, batch), "N", "images" },
    { "budget", 0, OPT_SECONDS, offsetof(struct args, budget_s), "TIME", "t" },
    { "gain", 0, OPT_SHARE, offsetof(struct args, gain), "SHARE", "g" },
    { "math", 0, OPT_MATH, offsetof(struct args, math), "MATH", "m" },
    { "dtype", 0, OPT_DTYPE, offsetof(struct args, dtype), "TYPE", "d" },
    { "layout", 0, OPT_LAYOUT, offsetof(struct args, layout), "LAYOUT", "l" },
    { "allow", 0, OPT_ALLOW, offsetof(struct args, allow), "WHAT", "a" },
    { "api", 0, OPT_API, offsetof(struct args, apis), "API", "a" },
    { "policy", 0, OPT_POLICY, offsetof(struct args, policy), "POLICY", "p" },
    { .type = OPT_END },
};

static const struct cmd cmd = {
    .name = "test",
    .operands = "FILE [FILE]",
    .summary = "be tested",
    .opts = opts,
    .args_size = sizeof(struct args),
    .max_operands = 2,
};

enum { MAX_WORDS = 12 };

/** A command line, taken apart at blanks. */
struct line {
    char text[256];
    char *words[MAX_WORDS];
    int count;
    struct args args;
    size_t operands;
    int help;
    struct uc_error err;
};

static enum uc_status parse_as(const struct cmd *as, struct line *line,
                               const char *text)
{
    char *at;

    *line = (struct line){ .args = { .math = -1, .dtype = -1, .layout = -1 },
                           .operands = 99,
                           .help = 99 };
    snprintf(line->text, sizeof line->text, "%s", text);
    at = line->text;
    while (*at != '\0' && line->count < MAX_WORDS) {
        line->words[line->count++] = at;
        at += strcspn(at, " ");
        if (*at != '\0')
            *at++ = '\0';
    }
    return opt_parse(as, line->count, line->words, &line->args, &line->operands,
                     &line->help, &line->err);
}

static enum uc_status parse(struct line *line, const char *text)
{
    return parse_as(&cmd, line, text);
}

static void options_and_operands_mix(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, "one --quiet --output=x two --batch 5"),
                     UC_OK);
    assert_int_equal(line.operands, 2);
    assert_string_equal(line.words[0], "one");
    assert_string_equal(line.words[1], "two");
    assert_int_equal(line.help, 0);
    assert_true(line.args.quiet);
    assert_string_equal(line.args.output, "x");
    assert_int_equal(line.args.batch, 5);
    assert_int_equal(line.args.math, -1);
}

static void nothing_given_keeps_the_defaults(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, ""), UC_OK);
    assert_int_equal(line.operands, 0);
    assert_int_equal(line.help, 0);
    assert_false(line.args.quiet);
    assert_null(line.args.output);
    assert_int_equal(line.args.dtype, -1);
}

static void letters_are_short_names(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, "-q -o out -b7"), UC_OK);
    assert_true(line.args.quiet);
    assert_string_equal(line.args.output, "out");
    assert_int_equal(line.args.batch, 7);
}

static void a_double_dash_ends_options(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, "-q -- --batch -"), UC_OK);
    assert_int_equal(line.operands, 2);
    assert_string_equal(line.words[0], "--batch");
    assert_string_equal(line.words[1], "-");
    assert_int_equal(line.args.batch, 0);
}

static void a_value_may_begin_with_a_dash(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, "--output --quiet"), UC_OK);
    assert_string_equal(line.args.output, "--quiet");
    assert_false(line.args.quiet);
    assert_int_equal(parse(&line, "--output=a=b"), UC_OK);
    assert_string_equal(line.args.output, "a=b");
}

static void the_last_value_counts(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, "-b 1 --batch=2 -b 3"), UC_OK);
    assert_int_equal(line.args.batch, 3);
}

static void help_stops_parsing(void **state)
{
    struct line line;
    struct cmd needy = cmd;

    (void)state;
    needy.min_operands = 1;
    assert_int_equal(parse_as(&needy, &line, "--help --nonsense"), UC_OK);
    assert_int_equal(line.help, 1);
    assert_int_equal(parse_as(&needy, &line, "-h"), UC_OK);
    assert_int_equal(line.help, 1);
}

static void operands_are_counted(void **state)
{
    struct line line;
    struct cmd needy = cmd;

    (void)state;
    needy.min_operands = 1;
    assert_int_equal(parse_as(&needy, &line, "-q"), UC_EINPUT);
    assert_string_equal(line.err.text, "operand missing: FILE [FILE]");
    assert_int_equal(line.operands, 99);
    assert_int_equal(parse(&line, "a b c"), UC_EINPUT);
    assert_string_equal(line.err.text, "unexpected operand \"c\"");
}

static const struct {
    const char *line, *error;
} wrong[] = {
    { "--nope", "unknown option --nope (see ucudnn-plan test --help)" },
    { "--nope=1", "unknown option --nope (see ucudnn-plan test --help)" },
    { "--quie", "unknown option --quie (see ucudnn-plan test --help)" },
    { "--quiett", "unknown option --quiett (see ucudnn-plan test --help)" },
    { "--=", "unknown option -- (see ucudnn-plan test --help)" },
    { "-x", "unknown option -x (see ucudnn-plan test --help)" },
    { "-1", "unknown option -1 (see ucudnn-plan test --help)" },
    { "--quiet=yes", "--quiet takes no value" },
    { "-qv", "-q takes no value" },
    { "--help=me", "--help takes no value" },
    { "--batch", "--batch needs a value: N" },
    { "-o", "-o needs a value: FILE" },
    { "--output=", "--output: must not be empty" },
    { "--batch=", "--batch: \"\" is not a whole number from 1 to 2147483647" },
    { "-b0", "-b: \"0\" is not a whole number from 1 to 2147483647" },
    { "--math half", "--math: \"half\" is none of fma, tf32, fp16, bf16" },
    { "--dtype int8", "--dtype: \"int8\" is none of fp32, fp16, bf16, fp64" },
    { "--layout strided", "--layout: \"strided\" is none of nchw, nhwc" },
    { "--allow all", "--allow: \"all\" is none of down-convert, "
                     "reduced-precision" },
    { "--api all", "--api: \"all\" is none of legacy, graph, both" },
    { "--api=legacy,graph", "--api: \"legacy,graph\" is none of legacy, "
                            "graph, both" },
};

static void mistakes_are_named(void **state)
{
    struct line line;

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
        assert_int_equal(parse(&line, wrong[i].line), UC_EINPUT);
        assert_string_equal(line.err.text, wrong[i].error);
        assert_int_equal(line.err.status, UC_EINPUT);
        assert_int_equal(line.operands, 99);
        assert_int_equal(line.help, 99);
    }
}

/** The option given each text: status UC_EINPUT and nothing stored. */
static void expect_refused(const char *option, const char *const *texts)
{
    struct line line;
    char text[200];

    for (; *texts != NULL; texts++) {
        struct args before = { .math = -1, .dtype = -1, .layout = -1 };

        snprintf(text, sizeof text, "%s=%s", option, *texts);
        if (parse(&line, text) != UC_EINPUT)
            fail_msg("%s was taken", text);
        assert_memory_equal(&line.args.limit_bytes, &before.limit_bytes,
                            sizeof before.limit_bytes);
        assert_int_equal(line.args.batch, before.batch);
        assert_true(line.args.budget_s == 0 && line.args.gain == 0);
        assert_memory_equal(line.err.text, option, strlen(option));
    }
}

static void junk_numbers_are_refused(void **state)
{
    static const char *const bytes[] = {
        "", "-1", "x", "1e3", "8388608T", NULL
    };
    static const char *const counts[] = { "-1",         "+1",
                                          "1.0",        "0x1",
                                          "1e3",        "2147483648",
                                          "4294967297", "99999999999999999999",
                                          NULL };
    static const char *const seconds[] = { "",
                                           "0",
                                           "0h",
                                           "-1",
                                           "+1",
                                           "1,5",
                                           "inf",
                                           "nan",
                                           "0x10",
                                           "1e",
                                           "1e+",
                                           "1d",
                                           "ms",
                                           ".",
                                           "1.2.3",
                                           "1e10",
                                           "1e400",
                                           "1mm",
                                           "9999999999999999",
                                           "1e-400",
                                           NULL };
    static const char *const shares[] = { "",    "-0.1", "1.1", "101%",
                                          "%",   "1%%",  "0,1", "nan",
                                          "inf", "0x1",  "1e1", "1e99999999999",
                                          NULL };

    (void)state;
    expect_refused("--limit", bytes);
    expect_refused("--batch", counts);
    expect_refused("--budget", seconds);
    expect_refused("--gain", shares);
}

static void numbers_are_read_as_written(void **state)
{
    static const struct {
        const char *text;
        double value;
    } seconds[] = { { "90", 90 },    { "1.5", 1.5 },
                    { "0.1", 0.1 },  { ".25s", 0.25 },
                    { "10m", 600 },  { "2h", 7200 },
                    { "1e3", 1000 }, { "1.5E-3", 1.5e-3 },
                    { "007.", 7 },   { "000000000000000000001", 1 },
                    { "0.5m", 30 },  { "1e9", 1e9 } },
      shares[] = { { "0", 0 },
                   { "1", 1 },
                   { "0.01", 0.01 },
                   { "1%", 0.01 },
                   { "100%", 1 },
                   { "0%", 0 },
                   { "1e-4", 1e-4 },
                   { "2.5%", 0.025 },
                   { "0.123456789012345", 0.123456789012345 } };
    struct line line;
    char text[64];

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(seconds); i++) {
        snprintf(text, sizeof text, "--budget %s", seconds[i].text);
        assert_int_equal(parse(&line, text), UC_OK);
        assert_true(line.args.budget_s == seconds[i].value);
    }
    for (size_t i = 0; i < UNIT_COUNT(shares); i++) {
        snprintf(text, sizeof text, "--gain=%s", shares[i].text);
        assert_int_equal(parse(&line, text), UC_OK);
        assert_true(line.args.gain == shares[i].value);
    }
    assert_int_equal(parse(&line, "--limit 64M --batch 2147483647"), UC_OK);
    assert_int_equal(line.args.limit_bytes, 67108864);
    assert_int_equal(line.args.batch, INT32_MAX);
    assert_int_equal(parse(&line, "--limit 0"), UC_OK);
    assert_int_equal(line.args.limit_bytes, 0);
}

static void names_give_their_enumerators(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, "--math tf32 --dtype fp16 --layout nhwc"),
                     UC_OK);
    assert_int_equal(line.args.math, UC_MATH_TF32);
    assert_int_equal(line.args.dtype, UC_FP16);
    assert_int_equal(line.args.layout, UC_NHWC);
}

static void allowances_add_up(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, "--allow down-convert"), UC_OK);
    assert_int_equal(line.args.allow, UC_NOTE_DOWN_CONVERT);
    assert_int_equal(
        parse(&line, "--allow=reduced-precision --allow down-convert"), UC_OK);
    assert_int_equal(line.args.allow,
                     UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION);
}

static void the_last_api_counts(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, "--api legacy"), UC_OK);
    assert_int_equal(line.args.apis, 1u << UC_API_LEGACY);
    assert_int_equal(parse(&line, "--api legacy --api graph"), UC_OK);
    assert_int_equal(line.args.apis, 1u << UC_API_GRAPH);
    assert_int_equal(parse(&line, "--api both"), UC_OK);
    assert_int_equal(line.args.apis, 1u << UC_API_LEGACY | 1u << UC_API_GRAPH);
}

static void policies_are_read(void **state)
{
    struct line line;

    (void)state;
    assert_int_equal(parse(&line, "--policy all"), UC_OK);
    assert_int_equal(line.args.policy.kind, UC_POLICY_ALL);
    assert_int_equal(parse(&line, "--policy=16,64"), UC_OK);
    assert_int_equal(line.args.policy.kind, UC_POLICY_LIST);
    assert_int_equal(line.args.policy.list_count, 2);
    assert_int_equal(parse(&line, "--policy=halves"), UC_EINPUT);
    assert_memory_equal(line.err.text, "--policy: ", 10);
}

static void long_junk_stays_one_short_line(void **state)
{
    char option[2000] = "--", *words[1] = { option };
    struct args args;
    struct uc_error err;
    size_t operands;
    int help;

    (void)state;
    memset(option + 2, 'y', sizeof option - 3);
    assert_int_equal(opt_parse(&cmd, 1, words, &args, &operands, &help, &err),
                     UC_EINPUT);
    assert_true(strlen(err.text) < 200);
    option[1] = 'y';
    assert_int_equal(opt_parse(&cmd, 1, words, &args, &operands, &help, &err),
                     UC_EINPUT);
    assert_true(strlen(err.text) < 200);
}

/** Options of several commands, in a part of this command's struct. */
static void shared_options_reach_their_part(void **state)
{
    struct part {
        int64_t batch;
        bool quiet;
    };
    static const struct opt_spec shared[] = {
        { "batch", 'b', OPT_COUNT, offsetof(struct part, batch), "N", "n" },
        { "still", 's', OPT_FLAG, offsetof(struct part, quiet), NULL, "s" },
        { .type = OPT_END },
    };
    static const struct opt_spec own[] = {
        { "limit", 'l', OPT_BYTES, offsetof(struct args, limit_bytes), "BYTES",
          "l" },
        { .type = OPT_END },
    };
    /* The part is where `batch` and `budget_s` are. */
    const struct cmd both = { .name = "both",
                              .opts = own,
                              .shared = shared,
                              .shared_offset = offsetof(struct args, batch) };
    const struct cmd only = { .name = "only", .shared = shared };
    struct line line;
    struct part part;

    (void)state;
    assert_int_equal(parse_as(&both, &line, "-b 7 --limit 3 --still"), UC_OK);
    memcpy(&part, &line.args.batch, sizeof part);
    assert_int_equal(part.batch, 7);
    assert_true(part.quiet);
    assert_int_equal(line.args.limit_bytes, 3);
    assert_false(line.args.quiet);
    assert_int_equal(parse_as(&both, &line, "--help"), UC_OK);
    assert_int_equal(line.help, 1);
    assert_int_equal(parse_as(&both, &line, "--quiet"), UC_EINPUT);
    assert_int_equal(parse_as(&only, &line, "-s"), UC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_operands_mix),
        cmocka_unit_test(nothing_given_keeps_the_defaults),
        cmocka_unit_test(letters_are_short_names),
        cmocka_unit_test(a_double_dash_ends_options),
        cmocka_unit_test(a_value_may_begin_with_a_dash),
        cmocka_unit_test(the_last_value_counts),
        cmocka_unit_test(help_stops_parsing),
        cmocka_unit_test(operands_are_counted),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(junk_numbers_are_refused),
        cmocka_unit_test(numbers_are_read_as_written),
        cmocka_unit_test(names_give_their_enumerators),
        cmocka_unit_test(allowances_add_up),
        cmocka_unit_test(the_last_api_counts),
        cmocka_unit_test(policies_are_read),
        cmocka_unit_test(shared_options_reach_their_part),
        cmocka_unit_test(long_junk_stays_one_short_line),
    };

    return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
