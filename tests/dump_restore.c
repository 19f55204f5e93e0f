#include "config.h"

/*
 * Dumps: what is restored is what was dumped, to the last bit; the text does
 * not depend on the order of measuring; and every malformed text is refused
 * by its line, with nothing written.
 */

#include "planner/dump.h"

#include "tests/plan_support.h"
#include "tests/random.h"

#include <math.h>

/* -------------------------------------------------------------- helpers */

static char *dump_of_profile(const char *path)
{
    struct uc_profile *profile = NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_done(uc_profile_open(path, UC_PROFILE_READ, &profile, err));
    assert_done(uc_dump_profile(out, profile, err));
    uc_profile_close(profile);
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *dump_of_plans(const char *path)
{
    struct uc_plan *plans = NULL;
    size_t count, size;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_done(uc_plans_read(path, &plans, &count, err));
    uc_dump_plans(out, plans, count);
    uc_plans_free(plans, count);
    assert_int_equal(fclose(out), 0);
    return text;
}

static enum uc_status restore(const char *text, size_t size, const char *path,
                              struct uc_error *err)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, size, "r");
    enum uc_status status;

    assert_non_null(in);
    status = uc_restore(in, "a.txt", path, err);
    fclose(in);
    return status;
}

/* ------------------------------------------------------------- profiles */

enum { ENVIRONMENTS = 2, PROBLEMS = 3, SIZES = 7, ROWS = SIZES * 4 };

/** A finite float that is not negative, of any magnitude. */
static float any_float(struct test_random *random)
{
    float value = -1;

    while (!isfinite(value) || value < 0) {
        uint32_t bits = (uint32_t)test_random_next(random) & 0x7fffffff;

        memcpy(&value, &bits, sizeof value);
    }
    return value;
}

static double any_double(struct test_random *random)
{
    double value = -1;

    while (!(value >= 0)) {
        uint64_t bits = test_random_next(random) & INT64_MAX;

        memcpy(&value, &bits, sizeof value);
    }
    return value;
}

static struct uc_environment environment_of(int index)
{
    struct uc_environment env = sample_environment();

    env.versions.cudnn += index;
    return env;
}

static struct uc_problem problem_of(int index)
{
    return sample_problem((enum uc_operation)index, 190 + index);
}

/** Every row is another, from its number alone. */
static struct uc_measurement row_of(int env, int problem, int row)
{
    struct test_random random = { 1 + (uint64_t)(env * 1000 + problem * 100 +
                                                 row) };
    struct uc_measurement m = sample_measurement(1 << row / 4, row % 4);

    m.accumulate = problem == UC_BACKWARD_FILTER && row % 8 > 3;
    m.outcome = (enum uc_outcome)(row % UC_OUTCOMES);
    if (m.outcome != UC_MEASURED)
        strcpy(m.reason, row % 2 ? "\xc3\xa9 = \"x\", 'y' <&>" : "signal 11");
    m.samples = row % (UC_MAX_SAMPLES + 1);
    memset(m.sample_ns, 0, sizeof m.sample_ns);
    for (int i = 0; i < m.samples; i++)
        m.sample_ns[i] = any_float(&random);
    m.error = row % 5 == 0 ? -1 : any_double(&random);
    m.time_ns = (int64_t)(test_random_next(&random) >> 12) + 1;
    m.notes = (unsigned)row;
    m.build_ns = row * 1000;
    if (row % 7 == 6) { /* a key of its own: no other row has an engine */
        m.kernel = (struct uc_kernel){ .api = UC_API_GRAPH, .engine = row };
        m.kernel.knob_count = row % 3;
        for (int k = 0; k < m.kernel.knob_count; k++)
            m.kernel.knobs[k] = (struct uc_knob){ k + 2, row - 20 };
    }
    m.measured_at += row * 86399;
    return m;
}

static void store_search(struct uc_profile *profile, int64_t id, int problem,
                         int number)
{
    struct uc_problem p = problem < PROBLEMS ? problem_of(problem)
                                             : sample_problem(UC_FORWARD, 500);
    struct uc_search search = { .api =
                                    number % 2 ? UC_API_GRAPH : UC_API_LEGACY,
                                .micro_batch = 1 + number,
                                .accumulate = number % 3 == 0,
                                .found = 10 + number,
                                .pruned = number,
                                .left_out = (unsigned)number,
                                .searched_at = 1764460800 + number };

    assert_done(uc_profile_store_search(profile, id, &p, &search, err));
}

static void make_profile(const char *path, bool backwards)
{
    struct uc_profile *profile = NULL;
    const int count = ENVIRONMENTS * PROBLEMS * ROWS;

    unlink(path);
    assert_done(uc_profile_open(path, UC_PROFILE_PRIVATE, &profile, err));
    for (int i = 0; i < count; i++) {
        int at = backwards ? count - 1 - i : i;
        int row = at % ROWS, p = at / ROWS % PROBLEMS, e = at / ROWS / PROBLEMS;
        struct uc_environment env = environment_of(e);
        struct uc_problem problem = problem_of(p);
        struct uc_measurement m = row_of(e, p, row);
        int64_t id;

        assert_done(uc_profile_add_environment(profile, &env, &id, err));
        assert_done(uc_profile_store(profile, id, &problem, &m, err));
        if (row % 9 == 0)
            store_search(profile, id, p, row);
        if (row == 0) /* of a problem that has no rows */
            store_search(profile, id, PROBLEMS, e);
    }
    uc_profile_close(profile);
}

static void a_profile_comes_back_to_the_last_bit(void **state)
{
    const char *first = in_folder("a.profile"), *again = in_folder("b.profile");
    struct uc_profile *profile = NULL;
    char *text, *second;

    (void)state;
    make_profile(first, false);
    text = dump_of_profile(first);
    assert_done(restore(text, strlen(text), again, err));
    second = dump_of_profile(again);
    assert_string_equal(text, second);
    assert_done(uc_profile_open(again, UC_PROFILE_READ, &profile, err));
    for (int e = 0; e < ENVIRONMENTS; e++)
        for (int p = 0; p < PROBLEMS; p++) {
            struct uc_environment env = environment_of(e);
            struct uc_problem problem = problem_of(p);
            struct uc_measurement *rows;
            bool seen[ROWS] = { false };
            size_t count;
            int64_t id;

            assert_done(uc_profile_add_environment(profile, &env, &id, err));
            assert_true(id >= 0);
            assert_done(
                uc_profile_load(profile, id, &problem, &rows, &count, err));
            assert_int_equal(count, ROWS);
            for (int r = 0; r < ROWS; r++) {
                struct uc_measurement m = row_of(e, p, r);

                for (size_t i = 0; i < count; i++)
                    if (uc_measurement_order(&m, &rows[i]) == 0) {
                        assert_measurement_equal(&m, &rows[i]);
                        seen[r] = true;
                    }
                assert_true(seen[r]);
            }
            free(rows);
        }
    uc_profile_close(profile);
    free(second);
    free(text);
}

static void the_order_of_measuring_does_not_show(void **state)
{
    char *text, *other;

    (void)state;
    make_profile(in_folder("a.profile"), false);
    make_profile(in_folder("b.profile"), true);
    text = dump_of_profile(in_folder("a.profile"));
    other = dump_of_profile(in_folder("b.profile"));
    assert_string_equal(text, other);
    free(other);
    free(text);
}

/** What stands there is known from ucudnn-profile(5), not from the code. */
static void a_line_is_as_documented(void **state)
{
    static const char expected[] =
        "ucudnn-dump\tkind=profile\tversion=1\n"
        "environment\tdevice=NVIDIA H200\tcompute_capability=90\t"
        "multiprocessors=132\tmemory_bytes=150109880320\tcudnn=91900\t"
        "cuda=13000\tdriver=580.159.04\n"
        "measurement\tproblem=forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2"
        "\tmicro_batch=2\taccumulate=0\tkernel=implicit-precomp-gemm/tf32\t"
        "outcome=measured\tnotes=2\tworkspace_bytes=2097153\ttime_ns=5018\t"
        "spread_ns=31\thost_ns=70123\terror=0.00025\tcalls=20\t"
        "samples_ns=2500.5,2501.25,2617\tmeasured_at=2025-11-30T00:00:00Z\t"
        "build_ns=7\n"
        "search\tproblem=forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2\t"
        "api=graph\tmicro_batch=2\taccumulate=0\tfound=9\tpruned=4\t"
        "left_out=64\tsearched_at=2025-11-30T00:00:01Z\n"
        "end\n";
    const char *path = in_folder("line.profile");
    struct uc_environment env = sample_environment();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement m = sample_measurement(2, 1);
    struct uc_search look = { .api = UC_API_GRAPH,
                              .micro_batch = 2,
                              .found = 9,
                              .pruned = 4,
                              .left_out = UC_NOTE_RUNTIME_COMPILED,
                              .searched_at = 1764460801 };
    struct uc_profile *profile = NULL;
    char *text;
    int64_t id;

    (void)state;
    m.build_ns = 7;
    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    assert_done(uc_profile_add_environment(profile, &env, &id, err));
    assert_done(uc_profile_store(profile, id, &problem, &m, err));
    assert_done(uc_profile_store_search(profile, id, &problem, &look, err));
    uc_profile_close(profile);
    text = dump_of_profile(path);
    assert_string_equal(text, expected);
    free(text);
}

/* ---------------------------------------------------------------- plans */

static void plans_come_back_in_their_order(void **state)
{
    const char *first = in_folder("a.plan"), *again = in_folder("b.plan");
    struct uc_plan plan, *plans = NULL;
    char *text, *second;
    size_t count;

    (void)state;
    sample_plan(&plan);
    assert_done(uc_plans_write(first, &plan, 1, err));
    plan.limit_bytes /= 2; /* sorts before, but was written later */
    plan.limit_bytes += 30 << 20;
    plan.choices = sample_choices;
    assert_done(uc_plans_write(first, &plan, 1, err));
    text = dump_of_plans(first);
    assert_done(restore(text, strlen(text), again, err));
    second = dump_of_plans(again);
    assert_string_equal(text, second);
    assert_done(uc_plans_read(again, &plans, &count, err));
    assert_int_equal(count, 2);
    assert_plan_equal(&plans[1], &plan);
    plan.limit_bytes = 64 << 20;
    plan.choices = (struct uc_plan_choices){ .min_gain = 0.01 };
    assert_plan_equal(&plans[0], &plan);
    uc_plans_free(plans, count);
    uc_plan_free(&plan);
    free(second);
    free(text);
}

/** As dumps were before plans told what they were chosen from. */
static void a_plan_without_choices_has_those_of_old_plans(void **state)
{
    static const char added[] = "\tapis=2\tallow=8\tno_runtime_compiled=1"
                                "\tmin_gain=0.29\tmax_pieces=5";
    const char *path = in_folder("old.plan");
    struct uc_plan plan, *plans;
    size_t count;
    char *text, *at;

    (void)state;
    sample_plan(&plan);
    plan.choices = sample_choices;
    assert_done(uc_plans_write(path, &plan, 1, err));
    text = dump_of_plans(path);
    at = strstr(text, added);
    assert_non_null(at);
    memmove(at, at + strlen(added), strlen(at + strlen(added)) + 1);
    assert_done(restore(text, strlen(text), path, err));
    assert_done(uc_plans_read(path, &plans, &count, err));
    assert_int_equal(count, 1);
    plan.choices =
        (struct uc_plan_choices){ .deterministic = true, .min_gain = 0.01 };
    assert_plan_equal(&plans[0], &plan);
    uc_plans_free(plans, count);
    uc_plan_free(&plan);
    free(text);
}

static void what_was_there_is_replaced(void **state)
{
    const char *path = in_folder("old.plan");
    struct uc_plan plan, *plans = NULL;
    struct uc_error error;
    char *text, *profile;
    size_t count;

    (void)state;
    sample_plan(&plan);
    assert_done(uc_plans_write(in_folder("new.plan"), &plan, 1, err));
    text = dump_of_plans(in_folder("new.plan"));
    plan.limit_bytes++;
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_done(restore(text, strlen(text), path, err));
    assert_done(uc_plans_read(path, &plans, &count, err));
    assert_int_equal(count, 1);
    assert_int_equal(plans[0].limit_bytes, 64 << 20);
    /* But not by the other kind. */
    make_profile(in_folder("a.profile"), false);
    profile = dump_of_profile(in_folder("a.profile"));
    assert_int_equal(restore(profile, strlen(profile), path, &error), UC_EFILE);
    assert_says(&error, "is a ucudnn plan, not a ucudnn profile");
    assert_int_equal(
        restore(text, strlen(text), in_folder("a.profile"), &error), UC_EFILE);
    assert_says(&error, "is a ucudnn profile, not a ucudnn plan");
    uc_plans_free(plans, count);
    uc_plan_free(&plan);
    free(profile);
    free(text);
}

/* ------------------------------------------------------------ malformed */

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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_comes_back_to_the_last_bit),
        cmocka_unit_test(the_order_of_measuring_does_not_show),
        cmocka_unit_test(a_line_is_as_documented),
        cmocka_unit_test(plans_come_back_in_their_order),
        cmocka_unit_test(a_plan_without_choices_has_those_of_old_plans),
        cmocka_unit_test(what_was_there_is_replaced),
        cmocka_unit_test(malformed_profiles_are_refused_by_their_line),
        cmocka_unit_test(malformed_plans_are_refused_by_their_line),
        cmocka_unit_test(what_stands_twice_is_refused),
        cmocka_unit_test(every_truncation_is_refused),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
