#include "config.h"

/*
 * Many processes on one file, and processes killed in the middle: nothing is
 * corrupt, and nothing is lost but what was not finished.
 */

#include "db/profile_replace.h"
#include "tests/plan_support.h"
#include "tests/random.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <time.h>

enum { PROCESSES = 16 };

/* ------------------------------------------------------------ processes */

/** Children fail by their exit status: cmocka lives in the parent. */
#define CHECK(call)                                             \
    do {                                                        \
        struct uc_error check_err = { 0 };                      \
        struct uc_error *err = &check_err;                      \
        if ((call) != UC_OK) {                                  \
            fprintf(stderr, "%s: %s\n", #call, check_err.text); \
            _exit(1);                                           \
        }                                                       \
    } while (0)

/** Run body(0..count-1) in processes that start at the same moment. */
static void together(int count, void (*body)(int))
{
    pid_t children[PROCESSES];
    int gate[2], status;
    char byte;

    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0)
                _exit(2);
            body(i);
            _exit(0);
        }
    }
    close(gate[0]);
    close(gate[1]); /* opens the gate */
    for (int i = 0; i < count; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

/** Run body() until it has been alive for some time, then kill it; what it
 * last reported through report(). */
static int reports[2];

enum { KILLS = 200 };

/** When kill number `i` comes: of five, one counts from the process's start,
 * so that it meets the opening of the file as well. */
static struct test_random random_moments = { 20251130 };

static void report(int64_t number)
{
    if (write(reports[1], &number, sizeof number) != sizeof number)
        _exit(3);
}

static int64_t killed_after(long microseconds, bool at_start,
                            void (*body)(int64_t), int64_t from)
{
    struct timespec pause = { 0, microseconds * 1000 };
    int64_t number, last = from - 1;
    pid_t child;
    int status;

    assert_int_equal(pipe(reports), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(reports[0]);
        body(from);
        _exit(4); /* never done */
    }
    close(reports[1]);
    /* Else the time counts from its first success. */
    if (!at_start && read(reports[0], &number, sizeof number) == sizeof number)
        last = number;
    nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    while (read(reports[0], &number, sizeof number) == sizeof number)
        last = number;
    close(reports[0]);
    return last;
}

static int64_t killed_at_random(int i, void (*body)(int64_t), int64_t from)
{
    return killed_after((long)test_random_range(&random_moments, 0, 6000),
                        i % 5 == 0, body, from);
}

/* ------------------------------------------------------------- profiles */

static const char *shared;

static struct uc_profile *open_writer(int64_t *env)
{
    struct uc_environment environment = sample_environment();
    struct uc_profile *profile = NULL;

    CHECK(uc_profile_open(shared, UC_PROFILE_WRITE, &profile, err));
    CHECK(uc_profile_add_environment(profile, &environment, env, err));
    return profile;
}

static void only_create(int index)
{
    int64_t env = -1;

    (void)index;
    uc_profile_close(open_writer(&env));
    if (env != 1)
        _exit(1);
}

enum { ROWS = 12 };

static void store_rows(int index)
{
    int64_t env = -1;
    struct uc_profile *profile = open_writer(&env);
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);

    for (int i = 0; i < ROWS; i++) {
        struct uc_measurement m = sample_measurement(1 + index * ROWS + i, 1);

        m.workspace_bytes = index;
        CHECK(uc_profile_store(profile, env, &problem, &m, err));
    }
    uc_profile_close(profile);
}

static void assert_no_journal(void)
{
    char journal[600];

    snprintf(journal, sizeof journal, "%s-journal", shared);
    assert_int_equal(access(journal, F_OK), -1);
}

/** Rows 1 .. the result are there; fails on a gap. */
static int64_t rows_in_order(void)
{
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_profile_environment *list = NULL;
    struct uc_measurement *rows = NULL;
    struct uc_profile *profile = NULL;
    size_t count = 0;

    assert_done(uc_profile_open(shared, UC_PROFILE_READ, &profile, err));
    assert_done(uc_profile_environments(profile, &list, &count, err));
    if (count == 0) /* killed between creating and adding */
        goto out;
    assert_int_equal(count, 1);
    assert_done(
        uc_profile_load(profile, list[0].id, &problem, &rows, &count, err));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i].micro_batch, i + 1);
out:
    free(rows);
    free(list);
    uc_profile_close(profile);
    return (int64_t)count;
}

static void assert_sound(const char *path)
{
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), "ok");
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void concurrent_creators_make_one_profile(void **state)
{
    (void)state;
    shared = in_folder("create.profile");
    for (int i = 0; i < 5; i++) {
        unlink(shared);
        together(PROCESSES, only_create);
        assert_no_journal();
        assert_sound(shared);
    }
}

static void concurrent_writers_all_succeed(void **state)
{
    (void)state;
    shared = in_folder("write.profile");
    together(PROCESSES, store_rows);
    assert_no_journal();
    assert_int_equal(rows_in_order(), PROCESSES * ROWS);
    assert_sound(shared);
}

static void store_for_ever(int64_t from)
{
    int64_t env = -1;
    struct uc_profile *profile = open_writer(&env);
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);

    for (int64_t i = from;; i++) {
        struct uc_measurement m = sample_measurement(i, 1);

        CHECK(uc_profile_store(profile, env, &problem, &m, err));
        report(i);
    }
}

static void a_killed_writer_loses_only_what_it_had_not_stored(void **state)
{
    int64_t there = 0;

    (void)state;
    shared = in_folder("kill.profile");
    for (int i = 1; i <= KILLS; i++) {
        int64_t last = killed_at_random(i, store_for_ever, there + 1);

        there = rows_in_order();
        /* One may have been committed and not reported. */
        assert_in_range(there, last, last + 1);
    }
    assert_true(there >= KILLS / 5 * 4);
    assert_sound(shared);
}

/** Leaves a journal that must be played back. */
static void die_in_a_transaction(int64_t from)
{
    sqlite3 *db = NULL;

    (void)from;
    if (sqlite3_open(shared, &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA cache_size = 2; BEGIN IMMEDIATE;"
                     "UPDATE measurement SET micro_batch = micro_batch + 5000",
                     NULL, NULL, NULL) != SQLITE_OK)
        _exit(1);
    report(1);
    for (;;)
        pause();
}

static void a_reader_plays_back_a_dead_writers_journal(void **state)
{
    static struct uc_measurement rows[3000];
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_profile *profile;
    char journal[600];
    struct stat st;
    int64_t env = -1;

    (void)state;
    shared = in_folder("journal.profile");
    for (int i = 0; i < 3000; i++)
        rows[i] = sample_measurement(1 + i, 1);
    profile = open_writer(&env);
    assert_done(uc_profile_store_all(profile, env, &problem, rows, 3000, err));
    uc_profile_close(profile);
    assert_int_equal(killed_after(100, false, die_in_a_transaction, 1), 1);
    snprintf(journal, sizeof journal, "%s-journal", shared);
    assert_int_equal(stat(journal, &st), 0);
    assert_true(st.st_size > 4096);
    assert_int_equal(rows_in_order(), 3000);
    assert_no_journal();
    assert_sound(shared);
}

/** Reports each row that is stored, until it is told to stop. */
static void store_until_replaced(int64_t from)
{
    int64_t env = -1;
    struct uc_profile *profile = open_writer(&env);
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    const struct timespec measuring = { 0, 1000 * 1000 };
    struct uc_error error = { 0 };

    for (int64_t i = from;; i++) {
        struct uc_measurement m = sample_measurement(i, 1);

        nanosleep(&measuring, NULL);
        if (uc_profile_store(profile, env, &problem, &m, &error) != UC_OK)
            break;
        report(i);
    }
    uc_profile_close(profile);
    if (strstr(error.text, "another program has replaced") == NULL)
        fprintf(stderr, "%s\n", error.text);
    else
        _exit(0);
}

static void copy_rows(struct uc_profile *to)
{
    struct uc_environment environment = sample_environment();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    const struct timespec pause = { 0, 20 * 1000 * 1000 };
    struct uc_profile *from = NULL;
    struct uc_measurement *rows = NULL;
    size_t count = 0;
    int64_t env;

    assert_done(uc_profile_open(shared, UC_PROFILE_READ, &from, err));
    assert_done(uc_profile_load(from, 1, &problem, &rows, &count, err));
    uc_profile_close(from);
    nanosleep(&pause, NULL); /* for what comes too late */
    assert_done(uc_profile_add_environment(to, &environment, &env, err));
    assert_done(uc_profile_store_all(to, env, &problem, rows, count, err));
    free(rows);
}

static void a_writer_learns_that_its_profile_was_replaced(void **state)
{
    int64_t last = 0;

    (void)state;
    shared = in_folder("replaced.profile");
    for (int i = 0; i < 5; i++) {
        struct uc_profile_replace replace = { 0 };
        pid_t child;
        int status;

        assert_int_equal(pipe(reports), 0);
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            store_until_replaced(last + 1);
            _exit(1);
        }
        close(reports[1]);
        assert_int_equal(read(reports[0], &last, sizeof last), sizeof last);
        assert_done(uc_profile_replace_begin(shared, &replace, err));
        copy_rows(replace.profile);
        assert_done(uc_profile_replace_end(&replace, UC_OK, err));
        while (read(reports[0], &last, sizeof last) == sizeof last)
            ;
        close(reports[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(rows_in_order(), last);
        assert_sound(shared);
    }
}

/** Its journal is the one of the file that has the name now. */
static void a_replaced_file_is_closed_without_harm(void **state)
{
    struct uc_profile_replace replace = { 0 };
    struct uc_profile *profile;
    char journal[600];
    int64_t env;

    (void)state;
    shared = in_folder("closed.profile");
    profile = open_writer(&env);
    assert_done(uc_profile_replace_begin(shared, &replace, err));
    assert_done(uc_profile_replace_end(&replace, UC_OK, err));
    snprintf(journal, sizeof journal, "%s-journal", shared);
    write_file(journal, "", 0);
    uc_profile_close(profile);
    assert_int_equal(access(journal, F_OK), 0);
}

static void a_profile_that_appears_meanwhile_is_not_replaced(void **state)
{
    struct uc_profile_replace replace = { 0 };
    struct uc_error error;
    int64_t env;

    (void)state;
    shared = in_folder("appears.profile");
    assert_done(uc_profile_replace_begin(shared, &replace, err));
    uc_profile_close(open_writer(&env));
    assert_int_equal(uc_profile_replace_end(&replace, UC_OK, &error), UC_EFILE);
    assert_says(&error, "another program has made it meanwhile");
    uc_profile_close(open_writer(&env)); /* it is whole */
}

/* ---------------------------------------------------------------- plans */

static void write_a_plan(int index)
{
    struct uc_plan plan;

    sample_plan(&plan);
    plan.limit_bytes += index;
    for (int i = 0; i < 3; i++) {
        plan.created_at++;
        CHECK(uc_plans_write(shared, &plan, 1, err));
    }
    uc_plan_free(&plan);
}

static void concurrent_planners_lose_no_plan(void **state)
{
    struct uc_plan *plans = NULL;
    size_t count = 0;
    bool seen[PROCESSES] = { false };

    (void)state;
    shared = in_folder("write.plan");
    together(PROCESSES, write_a_plan);
    assert_done(uc_plans_read(shared, &plans, &count, err));
    assert_int_equal(count, PROCESSES);
    for (size_t i = 0; i < count; i++) {
        int64_t index = plans[i].limit_bytes - (64 << 20);

        assert_in_range(index, 0, PROCESSES - 1);
        assert_false(seen[index]);
        seen[index] = true;
        assert_int_equal(plans[i].created_at, 1764460803);
    }
    uc_plans_free(plans, count);
}

static void plan_for_ever(int64_t from)
{
    struct uc_plan plan;

    sample_plan(&plan);
    for (plan.created_at = from;; plan.created_at++) {
        CHECK(uc_plans_write(shared, &plan, 1, err));
        report(plan.created_at);
    }
}

static void a_killed_planner_leaves_the_old_plan_or_the_new(void **state)
{
    int64_t there = 0;

    (void)state;
    shared = in_folder("kill.plan");
    for (int i = 1; i <= KILLS; i++) {
        int64_t last = killed_at_random(i, plan_for_ever, there + 1);
        struct uc_plan *plans = NULL;
        size_t count = 0;

        assert_done(uc_plans_read(shared, &plans, &count, err));
        assert_int_equal(count, 1);
        there = plans[0].created_at;
        assert_in_range(there, last, last + 1);
        uc_plans_free(plans, count);
    }
}

/** One looks for the file; the other makes it and removes it. */
static void appear_and_go(int index)
{
    for (int i = 0; i < 20000; i++) {
        struct uc_replace replace = { 0 };

        if (index > 0) {
            int fd = open(shared, O_CREAT | O_WRONLY, 0600);

            if (fd < 0 || close(fd) != 0 || unlink(shared) != 0)
                _exit(1);
            continue;
        }
        CHECK(uc_replace_begin(shared, &replace, err));
        uc_replace_end(&replace);
    }
}

static void a_file_may_appear_while_it_is_looked_for(void **state)
{
    (void)state;
    shared = in_folder("appear.plan");
    together(2, appear_and_go);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrent_creators_make_one_profile),
        cmocka_unit_test(concurrent_writers_all_succeed),
        cmocka_unit_test(a_killed_writer_loses_only_what_it_had_not_stored),
        cmocka_unit_test(a_reader_plays_back_a_dead_writers_journal),
        cmocka_unit_test(a_writer_learns_that_its_profile_was_replaced),
        cmocka_unit_test(a_replaced_file_is_closed_without_harm),
        cmocka_unit_test(a_profile_that_appears_meanwhile_is_not_replaced),
        cmocka_unit_test(concurrent_planners_lose_no_plan),
        cmocka_unit_test(a_killed_planner_leaves_the_old_plan_or_the_new),
        cmocka_unit_test(a_file_may_appear_while_it_is_looked_for),
    };

    /* A test that fails in a child says why by its exit status. */
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
