#include "config.h"

#include "tests/plan_support.h"

#include "db/sql.h"

#include <time.h>

/* ---------------------------------------------------------- migrations */

#define ID "PRAGMA application_id = 4711;"
#define FIRST \
    "CREATE TABLE a (x INTEGER NOT NULL) STRICT; INSERT INTO a VALUES (1);"
#define SECOND "ALTER TABLE a ADD COLUMN y INTEGER;"
#define THIRD "UPDATE a SET y = x + 41;"
static const char second[] = "PRAGMA user_version = 2;" SECOND;
/* Each begins with the newest schema, of which new files are made. */
static const char *const one[] = { ID "PRAGMA user_version = 1;" FIRST };
static const char *const two[] = { ID "PRAGMA user_version = 2;" FIRST SECOND,
                                   second };
static const char *const three[] = {
    ID "PRAGMA user_version = 3;" FIRST SECOND THIRD,
    second,
    "PRAGMA user_version = 3;" THIRD,
};
/* The third step changes the table before it fails. */
static const char fails[] = "PRAGMA user_version = 3; UPDATE a SET x = 99;"
                            "INSERT INTO nowhere VALUES (1);";
static const char *const failing[] = { "", second, fails };
static const char *const forgetful[] = { "", "", "UPDATE a SET x = 99;" };
static const char *const queries[] = { "SELECT x FROM a", "SELECT y FROM a" };

static struct uc_sql_format format(const char *const *migrations, int version)
{
    return (struct uc_sql_format){ .application_id = 4711,
                                   .name = "test",
                                   .migrations = migrations,
                                   .version = version,
                                   .least_read = version,
                                   .statements = queries,
                                   .statement_count = 2 };
}

static int64_t value(struct uc_sql *sql, int statement)
{
    struct uc_sql_query query;
    int64_t result;
    bool row = false;

    assert_done(uc_sql_query(sql, statement, "asking", &query, err));
    assert_done(uc_sql_step(&query, &row, err));
    assert_true(row);
    result = uc_sql_int(&query, 0, 0, 1000);
    assert_done(uc_sql_row_check(&query, err));
    uc_sql_end(&query);
    return result;
}

static void old_schemas_are_migrated_unless_only_read(void **state)
{
    struct uc_sql_format old = format(one, 1), all = format(three, 3);
    struct uc_sql_format bad = format(failing, 3), lenient = format(three, 3);
    const char *path = in_folder("migrate");
    struct uc_error error = { 0 };
    struct uc_sql *sql = NULL;
    unsigned char *bytes;
    size_t size;

    (void)state;
    assert_done(uc_sql_open(&old, path, UC_SQL_WRITE, &sql, err));
    assert_int_equal(value(sql, 0), 1);
    uc_sql_close(sql);
    assert_int_equal(uc_sql_open(&all, path, UC_SQL_READ, &sql, &error),
                     UC_EFILE);
    assert_says(&error, "schema version 1 is older than 3");
    bytes = read_file(path, &size);
    lenient.least_read = 1;
    assert_done(uc_sql_open(&lenient, path, UC_SQL_READ, &sql, err));
    assert_int_equal(sql->version, 1);
    assert_int_equal(value(sql, 0), 1);
    uc_sql_close(sql);
    assert_done(uc_sql_open(&all, path, UC_SQL_READ_OLD, &sql, err));
    assert_int_equal(sql->version, 3);
    assert_int_equal(value(sql, 1), 42);
    uc_sql_close(sql);
    assert_int_equal(uc_sql_open(&bad, path, UC_SQL_READ_OLD, &sql, &error),
                     UC_EFILE);
    assert_says(&error, "migrate: updating the schema: no such table: nowhere");
    assert_file_equals(path, bytes, size);
    free(bytes);
    assert_done(uc_sql_open(&all, path, UC_SQL_WRITE, &sql, err));
    assert_int_equal(value(sql, 1), 42);
    uc_sql_close(sql);
    assert_done(uc_sql_open(&all, path, UC_SQL_READ, &sql, err));
    assert_int_equal(value(sql, 1), 42);
    uc_sql_close(sql);
    for (int mode = UC_SQL_READ; mode <= UC_SQL_PRIVATE; mode++) {
        assert_int_equal(
            uc_sql_open(&old, path, (enum uc_sql_mode)mode, &sql, &error),
            UC_EFILE);
        assert_says(&error, "schema version 3 is newer than 1");
    }
    unlink(path);
    assert_done(uc_sql_open(&all, path, UC_SQL_WRITE, &sql, err));
    assert_int_equal(value(sql, 1), 42);
    uc_sql_close(sql);
    unlink(path);
}

static void a_migration_that_fails_changes_nothing(void **state)
{
    struct uc_sql_format old = format(two, 2), bad = format(failing, 3);
    struct uc_sql_format wrong = format(forgetful, 3);
    const char *path = in_folder("migrate");
    struct uc_error error = { 0 };
    struct uc_sql *sql = NULL;

    (void)state;
    assert_done(uc_sql_open(&old, path, UC_SQL_WRITE, &sql, err));
    uc_sql_close(sql);
    sql = NULL;
    assert_int_equal(uc_sql_open(&bad, path, UC_SQL_WRITE, &sql, &error),
                     UC_EFILE);
    assert_says(&error, "updating the schema: no such table: nowhere");
    assert_null(sql);
    assert_int_equal(uc_sql_open(&wrong, path, UC_SQL_WRITE, &sql, &error),
                     UC_EINTERNAL);
    assert_says(&error, "schema migration to 3 sets version 2");
    assert_done(uc_sql_open(&old, path, UC_SQL_READ, &sql, err));
    assert_int_equal(value(sql, 0), 1);
    uc_sql_close(sql);
    unlink(path);
}

/* ------------------------------------------------------------- queries */

static void wrong_binds_and_columns_are_reported(void **state)
{
    struct uc_sql_format all = format(three, 3);
    const char *path = in_folder("queries");
    struct uc_error error = { 0 };
    struct uc_sql_query query;
    struct uc_sql *sql = NULL;
    char text[8];
    size_t size;
    bool row = false;

    (void)state;
    assert_done(uc_sql_open(&all, path, UC_SQL_WRITE, &sql, err));
    assert_done(uc_sql_query(sql, 0, "asking", &query, err));
    uc_sql_bind_int(&query, 1, 5); /* there is no parameter */
    assert_int_equal(uc_sql_step(&query, &row, &error), UC_EINTERNAL);
    assert_says(&error, "queries: asking: binding");
    uc_sql_end(&query);
    uc_sql_end(&query);
    assert_done(uc_sql_query(sql, 0, "asking", &query, err));
    assert_done(uc_sql_step(&query, &row, err));
    assert_int_equal(uc_sql_int(&query, 0, 2, 5), 2);
    assert_int_equal(uc_sql_row_check(&query, &error), UC_EFILE);
    assert_says(&error, "malformed: asking: no valid value in column \"x\"");
    uc_sql_end(&query);
    for (int i = 0; i < 3; i++) {
        assert_done(uc_sql_query(sql, 0, "asking", &query, err));
        assert_done(uc_sql_step(&query, &row, err));
        if (i == 0)
            uc_sql_text(&query, 0, text, sizeof text);
        else if (i == 1)
            assert_null(uc_sql_blob(&query, 0, &size));
        else
            assert_true(uc_sql_real(&query, 0) == 0);
        assert_int_equal(uc_sql_row_check(&query, &error), UC_EFILE);
        uc_sql_end(&query);
    }
    uc_sql_close(sql);
    uc_sql_close(NULL);
    unlink(path);
}

/* --------------------------------------------------------------- files */

/** Runs as a user who may only read, in a child: 0 when the body passed. */
static int as_reader(int (*body)(void))
{
    pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(77);
        _exit(body());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int read_both(void)
{
    struct uc_profile *profile = NULL;
    struct uc_profile_environment *list = NULL;
    struct uc_plan *plans = NULL;
    struct uc_plan plan;
    struct uc_error error = { 0 };
    size_t count = 0;

    if (uc_plans_read(in_folder("ro/a.plan"), &plans, &count, &error) !=
            UC_OK ||
        count != 1)
        return 1;
    plan = plans[0];
    if (uc_plans_write(in_folder("ro/a.plan"), &plan, 1, &error) != UC_EFILE ||
        strstr(error.text, "Permission denied") == NULL)
        return 2;
    if (uc_plans_write(in_folder("ro/b.plan"), &plan, 1, &error) != UC_EFILE ||
        strstr(error.text, "Permission denied") == NULL)
        return 3;
    uc_plans_free(plans, count);
    if (uc_profile_open(in_folder("ro/a.profile"), UC_PROFILE_READ, &profile,
                        &error) != UC_OK ||
        uc_profile_environments(profile, &list, &count, &error) != UC_OK)
        return 4;
    free(list);
    uc_profile_close(profile);
    profile = NULL;
    if (uc_profile_open(in_folder("ro/a.profile"), UC_PROFILE_WRITE, &profile,
                        &error) != UC_EFILE ||
        strstr(error.text, "not writable") == NULL)
        return 5;
    if (uc_profile_open(in_folder("ro/b.profile"), UC_PROFILE_WRITE, &profile,
                        &error) != UC_EFILE ||
        strstr(error.text, "Permission denied") == NULL)
        return 6;
    return profile == NULL ? 0 : 7;
}

static void files_open_from_a_read_only_folder(void **state)
{
    const char *folder = in_folder("ro");
    struct uc_profile *profile = NULL;
    struct uc_plan plan;
    int result;

    (void)state;
    sample_plan(&plan);
    assert_int_equal(chmod(support_folder, 0755), 0);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_done(uc_plans_write(in_folder("ro/a.plan"), &plan, 1, err));
    assert_done(uc_profile_open(in_folder("ro/a.profile"), UC_PROFILE_WRITE,
                                &profile, err));
    uc_profile_close(profile);
    assert_int_equal(chmod(in_folder("ro/a.plan"), 0444), 0);
    assert_int_equal(chmod(in_folder("ro/a.profile"), 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    result = as_reader(read_both);
    assert_int_equal(chmod(folder, 0755), 0);
    uc_plan_free(&plan);
    if (result == 77)
        skip_because("root cannot be given up here");
    assert_int_equal(result, 0);
}

static void profiles_take_any_name_and_refuse_others_files(void **state)
{
    static const char *const names[] = { "a b#c?d%20e.profile",
                                         "file:x?mode=ro", ":memory:" };
    const char *path = in_folder("x.profile");
    struct uc_profile *profile = NULL;
    struct uc_error error = { 0 };
    struct uc_plan plan;
    unsigned char *bytes;
    size_t size;
    int here = open(".", O_RDONLY);

    (void)state;
    assert_int_equal(chdir(support_folder), 0);
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        assert_done(uc_profile_open(names[i], UC_PROFILE_WRITE, &profile, err));
        uc_profile_close(profile);
        assert_done(uc_profile_open(names[i], UC_PROFILE_READ, &profile, err));
        uc_profile_close(profile);
        assert_int_equal(unlink(in_folder(names[i])), 0);
    }
    assert_int_equal(fchdir(here), 0);
    close(here);

    profile = NULL;
    write_file(path, "some text\n", 10);
    for (int mode = UC_PROFILE_READ; mode <= UC_PROFILE_WRITE; mode++) {
        assert_int_equal(
            uc_profile_open(path, (enum uc_profile_mode)mode, &profile, &error),
            UC_EFILE);
        assert_says(&error, "is no profile file");
        assert_says(&error, path);
        assert_file_equals(path, "some text\n", 10);
        assert_int_equal(uc_profile_open(support_folder,
                                         (enum uc_profile_mode)mode, &profile,
                                         &error),
                         UC_EFILE);
        assert_says(&error, "is a directory");
        assert_int_equal(
            uc_profile_open("", (enum uc_profile_mode)mode, &profile, &error),
            UC_EFILE);
        assert_int_equal(uc_profile_open("/dev/zero",
                                         (enum uc_profile_mode)mode, &profile,
                                         &error),
                         UC_EFILE);
    }
    write_file(path, "", 0);
    assert_int_equal(uc_profile_open(path, UC_PROFILE_READ, &profile, &error),
                     UC_EFILE);
    assert_says(&error, "is empty");
    unlink(path);
    assert_int_equal(uc_profile_open(path, UC_PROFILE_READ, &profile, &error),
                     UC_EFILE);
    assert_says(&error, "No such file or directory");
    assert_int_equal(access(path, F_OK), -1);

    sample_plan(&plan);
    assert_done(uc_plans_write(path, &plan, 1, err));
    uc_plan_free(&plan);
    bytes = read_file(path, &size);
    assert_int_equal(uc_profile_open(path, UC_PROFILE_WRITE, &profile, &error),
                     UC_EFILE);
    assert_says(&error, "is a ucudnn plan, not a ucudnn profile");
    assert_file_equals(path, bytes, size);
    free(bytes);
    assert_null(profile);
    unlink(path);
}

/** Somebody else's database, by SQL. */
static void make_database(const char *path, const char *text)
{
    sqlite3 *db = NULL;

    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void other_databases_are_refused_by_their_header(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "CREATE TABLE t (x);", "another program's database" },
        { "PRAGMA application_id = 252006673; CREATE TABLE t (x);",
          "application id 252006673" },
        { "PRAGMA application_id = 0x75635072; PRAGMA user_version = 4;",
          "schema version 4 is newer" },
        { "PRAGMA application_id = 0x75635072; PRAGMA user_version = -1;",
          "malformed: schema version -1" },
        { "PRAGMA application_id = 0x75635072;",
          "malformed: schema version 0" },
        { "PRAGMA user_version = 1; CREATE TABLE t (x);", "another program" },
    };
    const char *path = in_folder("other.profile");
    struct uc_profile *profile = NULL;
    struct uc_error error = { 0 };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        unsigned char *bytes;
        size_t size;

        make_database(path, cases[i].text);
        bytes = read_file(path, &size);
        for (int mode = UC_PROFILE_READ; mode <= UC_PROFILE_WRITE; mode++) {
            assert_int_equal(uc_profile_open(path, (enum uc_profile_mode)mode,
                                             &profile, &error),
                             UC_EFILE);
            assert_says(&error, cases[i].says);
        }
        assert_file_equals(path, bytes, size);
        free(bytes);
    }
    /* SQLite's own idea of an empty database. */
    make_database(path, "CREATE TABLE t (x); DROP TABLE t;");
    assert_int_equal(uc_profile_open(path, UC_PROFILE_READ, &profile, &error),
                     UC_EFILE);
    assert_says(&error, "is an empty database");
    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    uc_profile_close(profile);
    unlink(path);
}

static void a_reader_waits_seconds_for_a_writer(void **state)
{
    struct uc_sql_format first = format(one, 1);
    const char *path = in_folder("locked");
    struct uc_error error = { 0 };
    struct uc_sql *sql = NULL;
    sqlite3 *writer = NULL;
    time_t begin;

    (void)state;
    assert_done(uc_sql_open(&first, path, UC_SQL_WRITE, &sql, err));
    uc_sql_close(sql);
    assert_int_equal(sqlite3_open(path, &writer), SQLITE_OK);
    assert_int_equal(sqlite3_exec(writer, "BEGIN EXCLUSIVE", NULL, NULL, NULL),
                     SQLITE_OK);
    begin = time(NULL);
    assert_int_equal(uc_sql_open(&first, path, UC_SQL_READ, &sql, &error),
                     UC_EFILE);
    assert_says(&error, "database is locked");
    assert_true(time(NULL) - begin < 30);
    sqlite3_close(writer);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_schemas_are_migrated_unless_only_read),
        cmocka_unit_test(a_migration_that_fails_changes_nothing),
        cmocka_unit_test(wrong_binds_and_columns_are_reported),
        cmocka_unit_test(files_open_from_a_read_only_folder),
        cmocka_unit_test(profiles_take_any_name_and_refuse_others_files),
        cmocka_unit_test(other_databases_are_refused_by_their_header),
        cmocka_unit_test(a_reader_waits_seconds_for_a_writer),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
