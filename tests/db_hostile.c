#include "config.h"

/*
 * Damaged and hostile files: every one is read to its end or refused in one
 * line, never with a crash (this runs under sanitizers too).
 */

#include "tests/plan_support.h"

#include <sqlite3.h>

/* -------------------------------------------------------------- reading */

static const char *damaged; /**< the file under test */

static void check_refusal(const struct uc_error *error)
{
    assert_int_equal(error->status, UC_EFILE);
    assert_says(error, damaged);
}

static enum uc_status read_searches(struct uc_profile *profile, int64_t env,
                                    const struct uc_problem *problem,
                                    struct uc_error *error)
{
    struct uc_search *list = NULL;
    size_t count = 0;
    enum uc_status status =
        uc_profile_load_searches(profile, env, problem, &list, &count, error);

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        assert_true(list[i].micro_batch >= 1);
        assert_true(list[i].pruned >= 0 && list[i].pruned <= list[i].found);
        assert_true((int)list[i].api >= 0 && list[i].api < UC_APIS);
    }
    free(list);
    return status;
}

static enum uc_status read_rows(struct uc_profile *profile, int64_t env,
                                struct uc_error *error)
{
    struct uc_problem *problems = NULL;
    struct uc_measurement *rows = NULL;
    size_t count = 0, row_count = 0;
    struct uc_profile_kernels kernels;
    int64_t outcomes[UC_OUTCOMES];
    enum uc_status status, worst = UC_OK;

    status = uc_profile_problems(profile, env, &problems, &count, error);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        status = uc_profile_load(profile, env, &problems[i], &rows, &row_count,
                                 error);
        if (status != UC_OK) {
            check_refusal(error);
            worst = status;
            status = UC_OK;
            continue;
        }
        for (size_t r = 0; r < row_count; r++) {
            assert_true(rows[r].micro_batch >= 1);
            assert_true(rows[r].workspace_bytes >= 0);
            assert_true(rows[r].samples <= UC_MAX_SAMPLES);
            assert_true((int)rows[r].outcome >= 0 &&
                        rows[r].outcome < UC_OUTCOMES);
        }
        free(rows);
        rows = NULL;
        status = read_searches(profile, env, &problems[i], error);
    }
    free(problems);
    if (status == UC_OK)
        status = uc_profile_outcomes(profile, env, outcomes, error);
    if (status == UC_OK)
        status = uc_profile_kernels(profile, env, &kernels, error);
    return status == UC_OK ? worst : status;
}

/** The worst status met while reading everything. */
static enum uc_status read_profile(struct uc_error *error)
{
    struct uc_profile *profile = NULL;
    struct uc_profile_environment *list = NULL;
    size_t count = 0;
    enum uc_status status, worst = UC_OK;

    status = uc_profile_open(damaged, UC_PROFILE_READ, &profile, error);
    if (status == UC_OK)
        status = uc_profile_environments(profile, &list, &count, error);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        status = uc_profile_count(profile, &list[i], error);
        if (status == UC_OK)
            status = read_rows(profile, list[i].id, error);
        if (status != UC_OK)
            worst = status;
    }
    free(list);
    uc_profile_close(profile);
    status = status == UC_OK ? worst : status;
    if (status != UC_OK)
        check_refusal(error);
    return status;
}

static enum uc_status read_plans(struct uc_error *error)
{
    struct uc_plan *plans = NULL;
    size_t count = 0;
    enum uc_status status = uc_plans_read(damaged, &plans, &count, error);

    if (status != UC_OK) {
        check_refusal(error);
        assert_null(plans);
        return status;
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(uc_plan_check(&plans[i], error), UC_OK);
    uc_plans_free(plans, count);
    return UC_OK;
}

static void store_something(void)
{
    struct uc_environment env = sample_environment();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement m = sample_measurement(2, 1);
    struct uc_profile *profile = NULL;
    struct uc_error error = { 0 };
    int64_t id = -1;
    enum uc_status status;

    status = uc_profile_open(damaged, UC_PROFILE_WRITE, &profile, &error);
    if (status == UC_OK)
        status = uc_profile_add_environment(profile, &env, &id, &error);
    if (status == UC_OK)
        status = uc_profile_store(profile, id, &problem, &m, &error);
    if (status != UC_OK)
        check_refusal(&error);
    uc_profile_close(profile);
}

/* -------------------------------------------------------------- samples */

static void make_profile(const char *path)
{
    struct uc_environment env = sample_environment();
    struct uc_profile *profile = NULL;
    int64_t id;

    unlink(path);
    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    assert_done(uc_profile_add_environment(profile, &env, &id, err));
    for (int p = 0; p < 6; p++) {
        struct uc_problem problem =
            sample_problem((enum uc_operation)(p % 3), 100 + p);
        struct uc_search search = { .api = UC_API_GRAPH,
                                    .micro_batch = 1,
                                    .found = 9,
                                    .pruned = 3,
                                    .searched_at = 77 };
        struct uc_measurement rows[24];

        for (int i = 0; i < 24; i++) {
            rows[i] = sample_measurement(INT64_C(1) << i / 4, i % 4);
            if (i % 4 == 3) {
                rows[i].outcome = UC_FAILED;
                strcpy(rows[i].reason, "CUDNN_STATUS_EXECUTION_FAILED");
            }
        }
        rows[0].kernel = (struct uc_kernel){ .api = UC_API_GRAPH,
                                             .engine = 67,
                                             .knob_count = 1,
                                             .knobs = { { 2, 4 } } };
        assert_done(uc_profile_store_all(profile, id, &problem, rows, 24, err));
        assert_done(
            uc_profile_store_search(profile, id, &problem, &search, err));
    }
    uc_profile_close(profile);
}

static void make_plan(const char *path)
{
    struct uc_plan plan;

    unlink(path);
    sample_plan(&plan);
    assert_done(uc_plans_write(path, &plan, 1, err));
    plan.limit_bytes++;
    assert_done(uc_plans_write(path, &plan, 1, err));
    uc_plan_free(&plan);
}

/* --------------------------------------------------------------- damage */

static uint64_t random_state = 88172645463325252u;

static size_t next_random(size_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % below);
}

static void remove_litter(void)
{
    static const char *const suffixes[] = { "-journal", "-wal", "-shm" };
    char path[600];

    for (size_t i = 0; i < UNIT_COUNT(suffixes); i++) {
        snprintf(path, sizeof path, "%s%s", damaged, suffixes[i]);
        unlink(path);
    }
}

/** Flip the byte at each of the header's places and some of every page. */
static int flip_bytes(const char *path,
                      enum uc_status (*read)(struct uc_error *), bool store)
{
    enum { PAGE = 4096, FLIPS = 24 };
    struct uc_error error = { 0 };
    unsigned char *bytes;
    size_t size;
    int refused = 0;

    bytes = read_file(path, &size);
    assert_true(size > PAGE && size % PAGE == 0);
    damaged = path;
    assert_int_equal(read(&error), UC_OK);
    for (size_t page = 0; page < size / PAGE; page++) {
        for (size_t i = 0; i < (page == 0 ? 100 + FLIPS : FLIPS); i++) {
            size_t at = page * PAGE + next_random(PAGE);
            unsigned char mask = (unsigned char)(1 + next_random(255));

            if (page == 0 && i < 100)
                at = i;
            else if (i % 3 == 0)
                at = page * PAGE + next_random(64); /* its header */
            bytes[at] ^= mask;
            write_file(path, bytes, size);
            refused += read(&error) != UC_OK;
            if (store && i % 4 == 0)
                store_something();
            bytes[at] ^= mask;
            remove_litter();
        }
    }
    free(bytes);
    return refused;
}

static void flipped_bytes_are_read_or_refused(void **state)
{
    const char *profile = in_folder("flip.profile");
    const char *plan = in_folder("flip.plan");

    (void)state;
    make_profile(profile);
    /* Much of both files is free space, where a flip changes nothing. */
    assert_true(flip_bytes(profile, read_profile, true) > 50);
    make_plan(plan);
    assert_true(flip_bytes(plan, read_plans, false) > 50);
}

static void truncate_and_read(const char *path,
                              enum uc_status (*read)(struct uc_error *))
{
    struct uc_error error = { 0 };
    unsigned char *bytes;
    size_t size;

    bytes = read_file(path, &size);
    damaged = path;
    for (int i = 0; i < 60; i++) {
        size_t left = i < 20 ? (size_t)i * size / 20 : next_random(size);

        write_file(path, bytes, left);
        assert_int_equal(read(&error), UC_EFILE);
        remove_litter();
    }
    free(bytes);
}

static void truncated_files_are_refused(void **state)
{
    const char *profile = in_folder("short.profile");
    const char *plan = in_folder("short.plan");

    (void)state;
    make_profile(profile);
    truncate_and_read(profile, read_profile);
    make_plan(plan);
    truncate_and_read(plan, read_plans);
}

/* ---------------------------------------------------------- wrong values */

static void change(const char *path, const char *text)
{
    char *message = NULL;
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA ignore_check_constraints = ON", NULL, NULL, NULL);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
    sqlite3_close(db);
}

/* A view could compute anything; ours are never read. */
static const char hidden_table[] =
    "ALTER TABLE problem RENAME TO p;"
    "CREATE VIEW problem AS SELECT 1 AS id, 'forward' AS text";

static void profiles_with_wrong_values_are_refused(void **state)
{
    static const char *const changes[] = {
        "UPDATE measurement SET micro_batch = 0 WHERE micro_batch = 1",
        "UPDATE measurement SET micro_batch = 1 << 40 WHERE micro_batch = 1",
        "UPDATE measurement SET accumulate = 2",
        "UPDATE measurement SET workspace_bytes = -1",
        "UPDATE measurement SET time_ns = 0",
        "UPDATE measurement SET time_ns = 9223372036854775807",
        "UPDATE measurement SET spread_ns = -1",
        "UPDATE measurement SET host_ns = -1",
        "UPDATE measurement SET calls = 1 << 40",
        "UPDATE measurement SET notes = -1",
        "UPDATE measurement SET error = -0.5",
        "UPDATE measurement SET samples = zeroblob(132)",
        "UPDATE measurement SET samples = x'000000'",
        "UPDATE measurement SET samples = x'0000c07f'", /* not a number */
        "UPDATE measurement SET samples = x'000080bf'", /* -1 */
        "UPDATE measurement SET measured_at = -1",
        "UPDATE measurement SET measured_at = 1 << 50",
        "UPDATE measurement SET kernel = 99 WHERE kernel = 1",
        "UPDATE measurement SET outcome = 99",
        "UPDATE measurement SET reason = 99",
        "UPDATE measurement SET build_ns = -1",
        "UPDATE kernel SET text = 'algo9/tf32' WHERE id = 1",
        "UPDATE kernel SET text = 'eng67 k27=8 k2=4' WHERE id = 1",
        "UPDATE search SET api = 'other'",
        "UPDATE search SET micro_batch = 0",
        "UPDATE search SET accumulate = 2",
        "UPDATE search SET found = -1",
        "UPDATE search SET pruned = found + 1",
        "UPDATE search SET left_out = 1 << 40",
        "UPDATE search SET searched_at = -1",
        "DROP TABLE search",
        "UPDATE kernel SET text = '' WHERE id = 1",
        "UPDATE outcome SET text = 'fine' WHERE id = 1",
        "UPDATE problem SET text = 'forward' WHERE id = 1",
        "UPDATE problem SET text = text || ':z9' WHERE id = 1",
        "UPDATE problem SET text = printf('%.*c', 600, 'x') WHERE id = 1",
        "UPDATE reason SET text = 'a' || char(10) || 'b'",
        "UPDATE reason SET text = printf('%.*c', 192, 'x')",
        "UPDATE reason SET text = CAST(x'ff' AS TEXT)",
        "UPDATE environment SET device = printf('%.*c', 128, 'x')",
        "UPDATE environment SET device = 'a' || char(27) || '[2J'",
        "UPDATE environment SET compute_capability = 1 << 40",
        "UPDATE environment SET memory_bytes = -1",
        "DROP TABLE reason",
        "DROP TABLE measurement; CREATE TABLE measurement (x)",
        hidden_table,
    };
    const char *path = in_folder("wrong.profile");
    struct uc_error error = { 0 };

    (void)state;
    damaged = path;
    for (size_t i = 0; i < UNIT_COUNT(changes); i++) {
        make_profile(path);
        assert_int_equal(read_profile(&error), UC_OK);
        change(path, changes[i]);
        if (read_profile(&error) != UC_EFILE)
            fail_msg("read in spite of: %s", changes[i]);
    }
}

static void plans_with_wrong_values_are_refused(void **state)
{
    static const char *const changes[] = {
        "UPDATE plan SET mode = 'xx'",
        "UPDATE plan SET network = ''",
        "UPDATE plan SET network = printf('%.*c', 64, 'x')",
        "UPDATE plan SET limit_bytes = 1",
        "UPDATE plan SET limit_bytes = -1",
        "UPDATE plan SET deterministic = 2",
        "UPDATE plan SET apis = 3",
        "UPDATE plan SET apis = -1",
        "UPDATE plan SET allow = 1",
        "UPDATE plan SET allow = 1 << 40",
        "UPDATE plan SET no_runtime_compiled = 2",
        "UPDATE plan SET min_gain = 1.5",
        "UPDATE plan SET min_gain = -0.5",
        "UPDATE plan SET max_pieces = -1",
        "UPDATE plan SET created_at = -1",
        "UPDATE plan SET tool = 'a' || char(7)",
        "UPDATE plan SET predicted_ns = predicted_ns + 1",
        "UPDATE plan SET undivided_ns = 5",
        "UPDATE plan SET unlimited_ns = NULL",
        "UPDATE plan SET workspace_bytes = 0",
        "UPDATE plan SET cudnn = -1",
        "UPDATE operation SET position = 7 WHERE position = 2",
        "DELETE FROM operation",
        "DELETE FROM operation WHERE position = 0",
        "UPDATE operation SET layer = ''",
        "UPDATE operation SET repeat = 0 WHERE position = 0",
        "UPDATE operation SET batch = batch + 1",
        "UPDATE operation SET problem = 'forward:fp32'",
        "UPDATE operation SET workspace_bytes = workspace_bytes + 1",
        "UPDATE operation SET time_ns = time_ns + 1",
        "UPDATE operation SET undivided_ns = 0",
        "UPDATE micro_batch SET position = 7 WHERE position = 1",
        "DELETE FROM micro_batch WHERE operation = 0",
        "UPDATE micro_batch SET size = 0",
        "UPDATE micro_batch SET size = 4611686018427387904",
        "UPDATE micro_batch SET count = 5 WHERE count = 4",
        "UPDATE micro_batch SET accumulate = 1 - accumulate",
        "UPDATE micro_batch SET accumulate = 0",
        "UPDATE micro_batch SET kernel = 'x/tf32'",
        "UPDATE micro_batch SET workspace_bytes = -1",
        "UPDATE micro_batch SET kernel = 'eng67 k2=4 k2=4'",
        "UPDATE micro_batch SET kernel = 'eng' || printf('%.*c', 260, '1')",
        "UPDATE micro_batch SET notes = -1",
        "UPDATE micro_batch SET notes = 1 << 40",
        "UPDATE micro_batch SET build_ns = -1",
        "UPDATE micro_batch SET time_ns = 0",
        "DROP TABLE micro_batch",
    };
    const char *path = in_folder("wrong.plan");
    struct uc_error error = { 0 };

    (void)state;
    damaged = path;
    for (size_t i = 0; i < UNIT_COUNT(changes); i++) {
        make_plan(path);
        assert_int_equal(read_plans(&error), UC_OK);
        change(path, changes[i]);
        if (read_plans(&error) != UC_EFILE)
            fail_msg("read in spite of: %s", changes[i]);
    }
}

/* ------------------------------------------------------- computed tables */

/** Reading this ends never. */
#define ENDLESS                                                       \
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)" \
    " SELECT x AS position FROM c WHERE x < 0"

static void computing_files_are_refused_at_once(void **state)
{
    static const char *const changes[] = {
        "ALTER TABLE operation RENAME TO o;"
        "CREATE VIEW operation AS " ENDLESS,
        "CREATE VIEW other AS " ENDLESS,
        "PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET rootpage = 0, sql = 'create/**/view"
        " operation as " ENDLESS "' WHERE name = 'operation'",
        "CREATE TRIGGER t AFTER INSERT ON plan BEGIN DELETE FROM plan; END",
        "CREATE VIRTUAL TABLE v USING fts5(x)",
        ("ALTER TABLE micro_batch DROP COLUMN build_ns;"
         "ALTER TABLE micro_batch ADD COLUMN build_ns INTEGER AS (0)"),
    };
    const char *path = in_folder("computing.plan");
    struct uc_error error = { 0 };

    (void)state;
    damaged = path;
    for (size_t i = 0; i < UNIT_COUNT(changes); i++) {
        if (strstr(changes[i], "fts5") != NULL &&
            !sqlite3_compileoption_used("ENABLE_FTS5"))
            continue;
        make_plan(path);
        change(path, changes[i]);
        if (read_plans(&error) != UC_EFILE)
            fail_msg("read in spite of: %s", changes[i]);
        assert_says(&error, "malformed");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flipped_bytes_are_read_or_refused),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(profiles_with_wrong_values_are_refused),
        cmocka_unit_test(plans_with_wrong_values_are_refused),
        cmocka_unit_test(computing_files_are_refused_at_once),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
