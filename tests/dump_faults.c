#include "config.h"

/* Dumps: every malformed text is refused by its line, with nothing written. */

#include "tests/dump_support.h"

/** An edit of a dump: the first `old` becomes `new`. */
struct edit {
    const char *old, *new;
    int line;
    const char *says;
};

#define FIRST_ROW "micro_batch=1\taccumulate=0\tkernel=algo0/tf32\t"

static const struct edit profile_edits[] = {
    { "ucudnn-dump", "ucudnn", 1, "is not the first line of a dump" },
    { "kind=profile", "kind=file", 1, "neither profile nor plan" },
    { "version=1", "version=2", 1, "version 2" },
    { "version=1", "version=1\tx=1", 1, "unknown \"x=1\"" },
    { "version=1", "version=1\t", 1, "unknown \"\"" },
    { "environment\t", "environs\t", 2, "\"environs\" is not expected here" },
    { "environment\t", "end\n", 3, "behind the line \"end\"" },
    { "cuda=13000", "cuda=-1", 2, "cuda: \"-1\" is no whole number" },
    { "cuda=13000", "cuda=2147483648", 2, "cuda: " },
    { "cuda=13000", "cudo=13000", 2, "\"cuda\" is expected" },
    { "memory_bytes=150109880320", "memory_bytes=99999999999999999999", 2,
      "memory_bytes: " },
    { "memory_bytes=150109880320", "memory_bytes=", 2, "memory_bytes: " },
    { "device=NVIDIA H200", "device=\x1b[0m", 2, "device: no line of UTF-8" },
    { "device=NVIDIA H200", "device=\xff", 2, "device: no line of UTF-8" },
    { "driver=580.159.04", "driver=580.159.04.580.159.04.580.159.04.580.159.04",
      2, "driver: longer than 31 bytes" },
    { "problem=backward-data:", "problem=sideways:", 3, "problem: " },
    { "\tmicro_batch=1\t", "\tmicro_batch=0\t", 3, "micro-batch" },
    { "\taccumulate=0\t", "\taccumulate=2\t", 3, "accumulate: \"2\"" },
    { "\taccumulate=0\t", "\t", 3, "\"accumulate\" is expected" },
    { "\taccumulate=0\t", "\taccumulate=0\taccumulate=0\t", 3, "\"kernel\"" },
    { "kernel=algo0/", "kernel=implicit-gemm/", 3, "kernel: " },
    { "outcome=measured", "outcome=fine", 3, "outcome: \"fine\"" },
    { "calls=20", "calls=0x14", 3, "calls: \"0x14\"" },
    { "calls=20", "calls= 20", 3, "calls: " },
    { "spread_ns=31", "spread_ns=9223372036854775807", 3, "spread" },
    { "measured_at=2025-11-30", "measured_at=2025-02-30", 3, "measured_at: " },
    { "measured_at=2025-11-30T00:00:00Z", "measured_at=2025-11-30", 3,
      "measured_at: " },
    { "measured_at=2025-11-30T00:00:00Z", "measured_at=1969-11-30T00:00:00Z", 3,
      "measured_at: " },
    { "samples_ns=", "samples_ns=,", 4, "samples_ns: " },
    { "samples_ns=", "samples_ns=nan,", 4, "samples_ns: " },
    { "samples_ns=", "samples_ns=inf,", 4, "sample is no time" },
    { "samples_ns=", "samples_ns=-1,", 4, "samples_ns: " },
    { "samples_ns=", "samples_ns=0x1p3,", 4, "samples_ns: " },
    { "\terror=", "\terror=-", 4, "error: " },
    { "\nend\n", "\n", 198, "ends before its line \"end\"" },
    { "\nend\n", "\nend\nend\n", 199, "behind the line \"end\"" },
    { "\nend\n", "\nend\tx=1\n", 198, "end: " },
    { "\nend\n", "\nbegin\nend\n", 198, "\"begin\" is not expected here" },
};

static const struct edit plan_edits[] = {
    { "\nplan\t", "\nplane\t", 2, "\"plane\" is not expected" },
    { "\nplan\t", "\noperation\t", 2, "an operation before any plan" },
    { "\nplan\t", "\nmicro-batch\t", 2, "a micro-batch before any operation" },
    { "mode=wr", "mode=ws", 2, "mode: \"ws\"" },
    { "network=alexnet", "network=", 2, "network's name" },
    { "size=64", "size=63", 2, "do not add up to the batch" },
    { "limit_bytes=67108864", "limit_bytes=1024", 2, "over its limit" },
    { "kernel=winograd/", "kernel=warp/", 4, "kernel: " },
    { "time_ns=", "time_ms=", 3, "\"time_ns\" is expected" },
    { "undivided_ns=1000000", "undivided_ns=-1", 3, "undivided_ns: " },
    { "apis=0", "apis=3", 2, "no such API" },
    { "allow=0", "allow=1", 2, "no plan allows" },
    { "no_runtime_compiled=0", "no_runtime_compiled=2", 2, "from 0 to 1" },
    { "min_gain=0.01", "min_gain=1.01", 2, "least gain is out of range" },
    { "max_pieces=0", "max_pieces=-1", 2, "max_pieces: " },
};

static char *edited(const char *text, const struct edit *edit)
{
    const char *at = strstr(text, edit->old);
    size_t before;
    char *result;

    if (at == NULL)
        fail_msg("\"%s\" is not in the dump", edit->old);
    before = (size_t)(at - text);
    result = malloc(strlen(text) + strlen(edit->new) + 1);
    assert_non_null(result);
    memcpy(result, text, before);
    strcpy(result + before, edit->new);
    strcat(result, at + strlen(edit->old));
    return result;
}

static void check_edits(const char *text, const struct edit *edits,
                        size_t count)
{
    const char *fresh = in_folder("fresh"), *there = in_folder("there");
    char start[32];

    for (size_t i = 0; i < count; i++) {
        char *bad = edited(text, &edits[i]);
        struct uc_error error = { 0 };

        write_file(there, "", 0);
        if (restore(bad, strlen(bad), fresh, &error) != UC_EINPUT)
            fail_msg("\"%s\": %s", edits[i].new, error.text);
        assert_int_equal(error.status, UC_EINPUT);
        assert_says(&error, edits[i].says);
        snprintf(start, sizeof start, "a.txt:%d: ", edits[i].line);
        if (strncmp(error.text, start, strlen(start)) != 0)
            fail_msg("\"%s\" is not of line %d", error.text, edits[i].line);
        assert_int_equal(access(fresh, F_OK), -1);
        assert_int_equal(restore(bad, strlen(bad), there, &error), UC_EINPUT);
        assert_file_equals(there, "", 0);
        free(bad);
    }
}

static void malformed_profiles_are_refused_by_their_line(void **state)
{
    char *text;

    (void)state;
    make_profile(in_folder("a.profile"), false);
    text = dump_of_profile(in_folder("a.profile"));
    check_edits(text, profile_edits, UNIT_COUNT(profile_edits));
    free(text);
}

static void malformed_plans_are_refused_by_their_line(void **state)
{
    const char *path = in_folder("bad.plan");
    struct uc_plan plan;
    char *text;

    (void)state;
    sample_plan(&plan);
    assert_done(uc_plans_write(path, &plan, 1, err));
    uc_plan_free(&plan);
    text = dump_of_plans(path);
    check_edits(text, plan_edits, UNIT_COUNT(plan_edits));
    free(text);
}

/** A copy of line `from` at the end, before "end". */
static char *with_line_again(const char *text, int from)
{
    const char *line = text, *end = strstr(text, "\nend\n") + 1;
    size_t length;
    char *result = malloc(2 * strlen(text));

    assert_non_null(result);
    for (int i = 1; i < from; i++)
        line = strchr(line, '\n') + 1;
    length = (size_t)(strchr(line, '\n') - line) + 1;
    memcpy(result, text, (size_t)(end - text));
    memcpy(result + (end - text), line, length);
    strcpy(result + (end - text) + length, end);
    return result;
}

static void what_stands_twice_is_refused(void **state)
{
    /* A line of the same environment: the dump's last half, and the first
     * and last problem in it. */
    static const struct {
        int line;
        const char *says;
    } cases[] = { { 2, "the same environment" },
                  { 101, "measures the same" },
                  { 192, "measures the same" },
                  { 132, "the same search" },
                  { 197, "the same search" } };
    struct uc_error error;
    char *text;

    (void)state;
    make_profile(in_folder("a.profile"), false);
    text = dump_of_profile(in_folder("a.profile"));
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char *twice = with_line_again(text, cases[i].line);

        assert_int_equal(
            restore(twice, strlen(twice), in_folder("twice"), &error),
            UC_EINPUT);
        assert_says(&error, cases[i].says);
        assert_says(&error, "a.txt:198: ");
        free(twice);
    }
    free(text);
}

static void every_truncation_is_refused(void **state)
{
    const char *path = in_folder("cut");
    struct uc_plan plan;
    struct uc_error error;
    char *text;
    size_t length;

    (void)state;
    sample_plan(&plan);
    assert_done(uc_plans_write(in_folder("whole.plan"), &plan, 1, err));
    uc_plan_free(&plan);
    text = dump_of_plans(in_folder("whole.plan"));
    length = strlen(text);
    /* Only the last line's end may be missing. */
    for (size_t i = 1; i < length - 1; i++) {
        assert_int_equal(restore(text, i, path, &error), UC_EINPUT);
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_done(restore(text, length - 1, path, err));
    text[100] = '\0';
    assert_int_equal(restore(text, length, path, &error), UC_EINPUT);
    assert_says(&error, "a NUL byte");
    free(text);
    text = malloc(1 << 20);
    assert_non_null(text);
    memset(text, 'x', 1 << 20); /* as of a file that is no text */
    assert_int_equal(restore(text, 1 << 20, path, &error), UC_EINPUT);
    assert_says(&error, ":1: a line of more than 64 KiB");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_profiles_are_refused_by_their_line),
        cmocka_unit_test(malformed_plans_are_refused_by_their_line),
        cmocka_unit_test(what_stands_twice_is_refused),
        cmocka_unit_test(every_truncation_is_refused),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
