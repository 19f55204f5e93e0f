/**
 * @file dump_support.h
 * Dumps and files to dump, for the tests of dumping and restoring.
 *
 * Included once per test program; everything is static.
 */
#ifndef UC_TESTS_DUMP_SUPPORT_H
#define UC_TESTS_DUMP_SUPPORT_H

#include "tests/dump_text.h"

#include "tests/plan_support.h"
#include "tests/random.h"

#include <math.h>

__attribute__((unused)) static char *dump_of_plans(const char *path)
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

__attribute__((unused)) static enum uc_status restore(const char *text,
                                                      size_t size,
                                                      const char *path,
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

__attribute__((unused)) static void make_profile(const char *path,
                                                 bool backwards)
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

#endif
