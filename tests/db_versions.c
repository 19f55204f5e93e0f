#include "config.h"

/*
 * Files written with an older schema: plan_1.sql, profile_1.sql and
 * profile_2.sql are the schemas of those versions as programs wrote them.
 */

#include "tests/plan_support.h"

#include "db/plan_impl.h"

static void execute(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    char *message = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", path, message);
    sqlite3_close(db);
}

/** A new file with an old schema and these rows. */
static const char *old_file(const char *name, const char *schema,
                            const char *rows)
{
    const char *path = in_folder(name);
    const char *source = getenv("abs_top_srcdir");
    char schema_path[4096];
    unsigned char *text;
    size_t size;

    assert_non_null(source);
    snprintf(schema_path, sizeof schema_path, "%s/tests/%s", source, schema);
    text = read_file(schema_path, &size);
    text[size] = '\0';
    unlink(path);
    execute(path, (const char *)text);
    execute(path, rows);
    free(text);
    return path;
}

/** The only value of a query. */
static int64_t number(const char *path, const char *query)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t value;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", query, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

/** Every table, view and column with all that SQLite knows of it. */
static char *description(const char *path)
{
    static const char query[] =
        "SELECT t.name, t.type, t.wr, t.strict, c.name, c.type, c.\"notnull\","
        " ifnull(c.dflt_value, ''), c.pk FROM pragma_table_list AS t,"
        " pragma_table_info(t.name) AS c WHERE t.schema = 'main'"
        " AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid";
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 0; i < 9; i++)
            fprintf(out, "%s ",
                    (const char *)sqlite3_column_text(statement, i));
        putc('\n', out);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    fclose(out);
    assert_true(size > 500);
    return text;
}

static void assert_same_schema(const char *path, const char *other)
{
    char *text = description(path), *other_text = description(other);

    assert_string_equal(text, other_text);
    assert_int_equal(number(path, "PRAGMA user_version"),
                     number(other, "PRAGMA user_version"));
    free(text);
    free(other_text);
}

/* ------------------------------------------------------------- profiles */

#define PROFILE_ROWS                                                           \
    "INSERT INTO environment VALUES (7, 'NVIDIA H200', 90, 132, 150109880320," \
    " 91900, 13000, '580.159.04');"                                            \
    "INSERT INTO problem VALUES (3,"                                           \
    " 'forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2');"                    \
    "INSERT INTO kernel VALUES (1, 'winograd/tf32'), (2, 'gemm/tf32');"        \
    "INSERT INTO outcome VALUES (1, 'measured'), (2, 'failed');"               \
    "INSERT INTO reason VALUES (1, 'CUDNN_STATUS_EXECUTION_FAILED');"          \
    "INSERT INTO measurement (environment, problem, micro_batch, accumulate,"  \
    " kernel, outcome, reason, notes, workspace_bytes, time_ns, spread_ns,"    \
    " host_ns, error, calls, samples, measured_at) VALUES (7, 3, 64, 0, 1, 1," \
    " NULL, 2, 1000, 2000, 3, 4, 0.5, 20, x'00008040', 1764460800),"           \
    " (7, 3, 64, 0, 2, 2, 1, 2, 0, 0, 0, 0, NULL, 0, NULL, 1764460800);"

static const struct old_profile {
    const char *schema, *rows;
    size_t searches;
} old_profiles[] = {
    { "profile_1.sql", PROFILE_ROWS, 0 },
    { "profile_2.sql",
      PROFILE_ROWS
      "INSERT INTO search VALUES (7, 3, 32, 0, 'graph', 9, 2, 4, 1764460801);",
      1 },
};

static void each_old_profile(void (*check)(const struct old_profile *old))
{
    for (size_t i = 0; i < UNIT_COUNT(old_profiles); i++)
        check(&old_profiles[i]);
}

static void assert_old_rows(struct uc_profile *profile)
{
    struct uc_environment env = sample_environment();
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_measurement *rows = NULL;
    size_t count = 0;
    int64_t id;

    assert_done(uc_profile_add_environment(profile, &env, &id, err));
    assert_int_equal(id, 7);
    assert_done(uc_profile_load(profile, id, &problem, &rows, &count, err));
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].kernel.algorithm, 2);
    assert_int_equal(rows[0].outcome, UC_FAILED);
    assert_string_equal(rows[0].reason, "CUDNN_STATUS_EXECUTION_FAILED");
    assert_int_equal(rows[1].kernel.algorithm, 6);
    assert_int_equal(rows[1].time_ns, 2000);
    assert_int_equal(rows[1].samples, 1);
    assert_true(rows[1].sample_ns[0] == 4.0f);
    assert_int_equal(rows[1].build_ns, 0);
    free(rows);
}

static size_t searches(struct uc_profile *profile)
{
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_search *list = NULL;
    size_t count = 77;

    assert_done(
        uc_profile_load_searches(profile, 7, &problem, &list, &count, err));
    assert_true((list == NULL) == (count == 0));
    for (size_t i = 0; i < count; i++)
        assert_false(list[i].tuned);
    free(list);
    return count;
}

static void check_is_read_as_it_is(const struct old_profile *old)
{
    const char *path = old_file("old.profile", old->schema, old->rows);
    struct uc_profile_environment *list = NULL;
    struct uc_problem *problems = NULL;
    struct uc_profile *profile = NULL;
    int64_t outcomes[UC_OUTCOMES];
    unsigned char *bytes;
    size_t size, count = 0;

    bytes = read_file(path, &size);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(support_folder, 0555), 0);
    assert_done(uc_profile_open(path, UC_PROFILE_READ, &profile, err));
    assert_old_rows(profile);
    assert_int_equal(searches(profile), old->searches);
    assert_done(uc_profile_environments(profile, &list, &count, err));
    assert_int_equal(count, 1);
    assert_done(uc_profile_count(profile, list, err));
    assert_int_equal(list->measurements, 2);
    assert_int_equal(list->usable, 1);
    assert_done(uc_profile_outcomes(profile, 7, outcomes, err));
    assert_int_equal(outcomes[UC_FAILED], 1);
    assert_done(uc_profile_problems(profile, 7, &problems, &count, err));
    assert_int_equal(count, 1);
    uc_profile_close(profile);
    assert_int_equal(chmod(support_folder, 0755), 0);
    assert_file_equals(path, bytes, size);
    free(problems);
    free(list);
    free(bytes);
    unlink(path);
}

static void an_old_profile_is_read_as_it_is(void **state)
{
    (void)state;
    each_old_profile(check_is_read_as_it_is);
}

static void check_is_updated_when_written(const struct old_profile *old)
{
    const char *path = old_file("old.profile", old->schema, old->rows);
    const char *fresh = in_folder("new.profile");
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_search search = { .api = UC_API_GRAPH, .micro_batch = 64 };
    struct uc_profile *profile = NULL;

    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    assert_old_rows(profile);
    assert_int_equal(searches(profile), old->searches);
    assert_done(uc_profile_store_search(profile, 7, &problem, &search, err));
    uc_profile_close(profile);
    assert_done(uc_profile_open(path, UC_PROFILE_READ, &profile, err));
    assert_old_rows(profile);
    assert_int_equal(searches(profile), old->searches + 1);
    uc_profile_close(profile);
    assert_int_equal(number(path, "SELECT count(*) FROM readable"
                                  " WHERE build_ns = 0"),
                     2);

    assert_done(uc_profile_open(fresh, UC_PROFILE_WRITE, &profile, err));
    uc_profile_close(profile);
    assert_same_schema(path, fresh);
    unlink(path);
    unlink(fresh);
}

static void an_old_profile_is_updated_when_written(void **state)
{
    (void)state;
    each_old_profile(check_is_updated_when_written);
}

/** A reader that opened the file before sees its rows. */
static void check_reader_outlives_the_update(const struct old_profile *old)
{
    const char *path = old_file("old.profile", old->schema, old->rows);
    struct uc_profile *reader = NULL, *writer = NULL;

    assert_done(uc_profile_open(path, UC_PROFILE_READ, &reader, err));
    assert_old_rows(reader);
    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &writer, err));
    uc_profile_close(writer);
    assert_old_rows(reader);
    assert_int_equal(searches(reader), old->searches);
    uc_profile_close(reader);
    unlink(path);
}

static void a_reader_outlives_the_update(void **state)
{
    (void)state;
    each_old_profile(check_reader_outlives_the_update);
}

/* ---------------------------------------------------------------- plans */

/** What ucudnn-plan wrote of three micro-batches of 1 + 1 + 2 images. */
static const char plan_rows[] =
    "INSERT INTO plan VALUES (1, 'net', 'NVIDIA H200', 90, 132, 150109880320,"
    " 91900, 13000, '580.159.04', 'wr', 4096, 'power-of-two', 0, 1764460800,"
    " '0.1.0', 60, NULL, NULL, 4096);"
    "INSERT INTO operation VALUES (1, 0, 'conv2', 1, 4,"
    " 'backward-filter:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2',"
    " 4096, 60, NULL, NULL);"
    "INSERT INTO micro_batch VALUES"
    " (1, 0, 0, 1, 1, 0, 'algo3/tf32', 0, 10),"
    " (1, 0, 1, 1, 1, 1, 'winograd/tf32', 4096, 20),"
    " (1, 0, 2, 2, 1, 1, 'fft/fma', 0, 30);";

static const unsigned plan_notes[] = {
    UC_NOTE_NONDETERMINISTIC | UC_NOTE_TENSOR_CORE,
    UC_NOTE_TENSOR_CORE | UC_NOTE_WINOGRAD,
    UC_NOTE_FFT,
};

static void assert_old_plan(const struct uc_plan *plan)
{
    static const struct uc_plan_choices untold = { .min_gain = 0.01 };

    assert_string_equal(plan->network, "net");
    assert_choices_equal(&plan->choices, &untold);
    assert_int_equal(plan->operation_count, 1);
    assert_int_equal(plan->operations[0].piece_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(plan->operations[0].pieces[i].time_ns, 10 * (i + 1));
        assert_int_equal(plan->operations[0].pieces[i].notes, plan_notes[i]);
    }
}

static void an_old_plan_has_the_notes_of_its_kernels(void **state)
{
    const char *path = old_file("old.plan", "plan_1.sql", plan_rows);
    struct uc_plan *plans = NULL;
    unsigned char *bytes;
    size_t size, count = 0;

    (void)state;
    bytes = read_file(path, &size);
    assert_done(uc_plans_read(path, &plans, &count, err));
    assert_int_equal(count, 1);
    assert_old_plan(&plans[0]);
    uc_plans_free(plans, count);
    assert_file_equals(path, bytes, size);
    free(bytes);
    unlink(path);
}

static void an_old_plan_is_updated_when_one_is_added(void **state)
{
    const char *path = old_file("old.plan", "plan_1.sql", plan_rows);
    const char *fresh = in_folder("new.plan");
    struct uc_plan *plans = NULL, plan;
    struct uc_sql *sql = NULL;
    size_t count = 0;

    (void)state;
    sample_plan_chosen(&plan);
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_done(uc_plans_read(path, &plans, &count, err));
    assert_int_equal(count, 2);
    assert_old_plan(&plans[0]);
    assert_plan_equal(&plans[1], &plan);
    uc_plans_free(plans, count);
    for (int i = 0; i < 3; i++) {
        char query[128];

        snprintf(query, sizeof query,
                 "SELECT notes FROM micro_batch WHERE plan = 1"
                 " AND position = %d",
                 i);
        assert_int_equal(number(path, query), plan_notes[i]);
    }
    assert_int_equal(
        number(path, "SELECT id FROM plan WHERE apis = 0 AND allow = 0 AND"
                     " no_runtime_compiled = 0 AND min_gain = 0.01 AND"
                     " max_pieces = 0"),
        1);
    assert_int_equal(
        number(path, "SELECT id FROM plan WHERE apis = 1 AND allow = 8 AND"
                     " no_runtime_compiled = 1 AND min_gain = 0.29 AND"
                     " max_pieces = 5 AND deterministic = 1"),
        2);
    assert_done(uc_plans_write(fresh, &plan, 1, err));
    assert_same_schema(path, fresh);
    uc_plan_free(&plan);
    unlink(path);

    path = old_file("old.plan", "plan_1.sql", plan_rows);
    assert_done(uc_sql_open(&uc_plan_format, path, UC_SQL_WRITE, &sql, err));
    uc_sql_close(sql);
    assert_same_schema(path, fresh);
    unlink(path);
    unlink(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_profile_is_read_as_it_is),
        cmocka_unit_test(an_old_profile_is_updated_when_written),
        cmocka_unit_test(a_reader_outlives_the_update),
        cmocka_unit_test(an_old_plan_has_the_notes_of_its_kernels),
        cmocka_unit_test(an_old_plan_is_updated_when_one_is_added),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
