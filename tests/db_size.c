#include "config.h"

/*
 * How large a profile gets and how fast it is read, on rows like those of
 * nine networks in three maths. `make check` runs a tenth of the rows and
 * checks the size; with an argument, the number of problems, it is a
 * benchmark whose times are printed.
 */

#include "tests/db_support.h"

#include <sqlite3.h>
#include <time.h>

enum { SIZES = 9, ROWS_PER_PROBLEM = SIZES * 8 };

static uint64_t random_state = 1;

/** xorshift64: the same rows in each run. */
static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/** Half of the kernels run, half are unsupported: as on an H200. */
static struct uc_measurement random_row(int64_t micro_batch, int algorithm)
{
    struct uc_measurement m = sample_measurement(micro_batch, algorithm);

    m.measured_at += (int64_t)next_random(20000);
    if (next_random(2) == 0) {
        m.outcome = UC_UNSUPPORTED;
        strcpy(m.reason, "CUDNN_STATUS_NOT_SUPPORTED");
        m.workspace_bytes = m.time_ns = m.spread_ns = m.host_ns = 0;
        m.calls = m.samples = 0;
        memset(m.sample_ns, 0, sizeof m.sample_ns);
        m.error = -1;
        return m;
    }
    m.workspace_bytes = (int64_t)next_random(1 << 30);
    m.time_ns = 10000 + (int64_t)next_random(5000000);
    m.spread_ns = (int64_t)next_random(20000);
    m.host_ns = 60000 + (int64_t)next_random(30000);
    m.error = (double)next_random(1000000) * 1e-9;
    m.calls = 1 + (int)next_random(50);
    m.samples = 7;
    for (int i = 0; i < m.samples; i++)
        m.sample_ns[i] = (float)m.time_ns + (float)next_random(1000);
    return m;
}

static void fill(const char *path, int problems)
{
    struct uc_environment environment = sample_environment();
    struct uc_profile *profile = NULL;
    int64_t env = -1;

    unlink(path);
    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    assert_done(uc_profile_add_environment(profile, &environment, &env, err));
    for (int p = 0; p < problems; p++) {
        struct uc_problem problem = sample_problem(UC_FORWARD, 1 + p);
        struct uc_measurement rows[ROWS_PER_PROBLEM];

        for (int i = 0; i < ROWS_PER_PROBLEM; i++)
            rows[i] = random_row(INT64_C(1) << (i / 8), i % 8);
        assert_done(uc_profile_store_all(profile, env, &problem, rows,
                                         ROWS_PER_PROBLEM, err));
    }
    uc_profile_close(profile);
}

static void compact(const char *path)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "VACUUM", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/** Open, find the environment and load 60 problems spread over the file. */
static double load_ms(const char *path, int problems)
{
    struct uc_profile_environment *list = NULL;
    struct uc_profile *profile = NULL;
    size_t count = 0, loaded = 0;
    double start = now_ms();

    assert_done(uc_profile_open(path, UC_PROFILE_READ, &profile, err));
    assert_done(uc_profile_environments(profile, &list, &count, err));
    for (int i = 0; i < 60; i++) {
        struct uc_problem problem =
            sample_problem(UC_FORWARD, 1 + i * problems / 60);
        struct uc_measurement *rows = NULL;

        assert_done(
            uc_profile_load(profile, list[0].id, &problem, &rows, &count, err));
        loaded += count;
        free(rows);
    }
    uc_profile_close(profile);
    free(list);
    assert_int_equal(loaded, 60 * ROWS_PER_PROBLEM);
    return now_ms() - start;
}

static int wanted_problems = 208;

static void shipped_profile_stays_small(void **state)
{
    const char *path = in_folder("size.profile");
    double rows = (double)wanted_problems * ROWS_PER_PROBLEM, start = now_ms();
    struct stat before, after;
    double filled, best = 1e9;

    (void)state;
    fill(path, wanted_problems);
    filled = now_ms() - start;
    assert_int_equal(stat(path, &before), 0);
    compact(path);
    assert_int_equal(stat(path, &after), 0);
    for (int i = 0; i < 5; i++) {
        double ms = load_ms(path, wanted_problems);

        best = ms < best ? ms : best;
    }
    print_message(
        "%.0f rows: %.1f bytes a row as written, %.1f compacted "
        "(%.2f MiB for 150000); filled in %.0f ms; opening and "
        "loading 60 problems takes %.2f ms\n",
        rows, (double)before.st_size / rows, (double)after.st_size / rows,
        (double)after.st_size / rows * 150000 / 1048576, filled, best);
    /* 150000 rows in 12 MiB are 83 bytes each. */
    assert_true((double)before.st_size / rows < 83);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_profile_stays_small),
    };

    if (argc > 1)
        wanted_problems = atoi(argv[1]);
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
