#include "config.h"

/*
 * No room, no permission: a writer says so in one line, and what was there
 * before is there after, for profiles, plans and dumps alike.
 */

#include "planner/dump.h"

#include "tests/plan_support.h"

#include <grp.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>

/** What a test needs and this machine does not let it have. */
enum { NOT_HERE = 77 };

/** The status of body(argument) in a process of its own. */
static int in_child(int (*body)(const char *), const char *argument)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0)
        _exit(body(argument));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
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

/* --------------------------------------------------------------- writers */

/** Children fail by their exit status; 0: refused in one clear line. */
static int refused(const struct uc_error *error, enum uc_status status)
{
    if (status != UC_EFILE || strchr(error->text, '\n') != NULL ||
        error->text[0] == '\0') {
        fprintf(stderr, "status %d: %s\n", (int)status, error->text);
        return 1;
    }
    return 0;
}

static enum uc_status open_writer(const char *path, struct uc_profile **profile,
                                  int64_t *id, struct uc_error *error)
{
    struct uc_environment env = sample_environment();
    enum uc_status status =
        uc_profile_open(path, UC_PROFILE_WRITE, profile, error);

    return status != UC_OK
               ? status
               : uc_profile_add_environment(*profile, &env, id, error);
}

enum { MANY = 100000 };

/**
 * Store rows 1, 2, ... until one is refused; as many as were stored must be
 * there afterwards, in order.
 */
static int store_until_refused(const char *path)
{
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_profile *profile = NULL;
    struct uc_measurement *rows = NULL;
    struct uc_error error = { 0 };
    int64_t id, stored = 0;
    size_t count = 0;
    enum uc_status status = open_writer(path, &profile, &id, &error);
    int result;

    while (status == UC_OK && stored < MANY) {
        struct uc_measurement m = sample_measurement(stored + 1, 1);

        status = uc_profile_store(profile, id, &problem, &m, &error);
        stored += status == UC_OK;
    }
    result = refused(&error, status);
    uc_profile_close(profile);
    profile = NULL;
    if (result != 0 || stored < 10)
        return 2;
    if (uc_profile_open(path, UC_PROFILE_READ, &profile, &error) != UC_OK ||
        uc_profile_load(profile, id, &problem, &rows, &count, &error) !=
            UC_OK ||
        count != (size_t)stored) {
        fprintf(stderr, "%zu of %lld rows: %s\n", count, (long long)stored,
                error.text);
        return 3;
    }
    for (size_t i = 0; i < count; i++)
        if (rows[i].micro_batch != (int64_t)i + 1)
            return 4;
    free(rows);
    uc_profile_close(profile);
    return 0;
}

static int plan_until_refused(const char *path)
{
    struct uc_error error = { 0 };
    enum uc_status status = UC_OK;
    struct uc_plan plan, *plans = NULL;
    size_t count = 0, written = 0;

    sample_plan(&plan);
    while (status == UC_OK && written < 2000) {
        plan.limit_bytes++;
        status = uc_plans_write(path, &plan, 1, &error);
        written += status == UC_OK;
    }
    uc_plan_free(&plan);
    if (refused(&error, status) != 0 || written < 1)
        return 2;
    if (uc_plans_read(path, &plans, &count, &error) != UC_OK ||
        count != written)
        return 3;
    uc_plans_free(plans, count);
    return 0;
}

/** Of the profile at `path`.txt's dump: refused, and `path` as it was. */
static int restore_refused(const char *path)
{
    struct uc_error error = { 0 };
    FILE *in = fopen(in_folder("large.txt"), "re");
    enum uc_status status;

    if (in == NULL)
        return 9;
    status = uc_restore(in, "large.txt", path, &error);
    fclose(in);
    return refused(&error, status);
}

static void make_large_dump(void)
{
    static struct uc_measurement rows[20000];
    const char *path = in_folder("large.profile");
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);
    struct uc_environment env = sample_environment();
    struct uc_profile *profile = NULL;
    FILE *out = fopen(in_folder("large.txt"), "we");
    int64_t id;

    assert_non_null(out);
    for (int i = 0; i < 20000; i++)
        rows[i] = sample_measurement(1 + i, 1);
    assert_done(uc_profile_open(path, UC_PROFILE_PRIVATE, &profile, err));
    assert_done(uc_profile_add_environment(profile, &env, &id, err));
    assert_done(uc_profile_store_all(profile, id, &problem, rows, 20000, err));
    assert_done(uc_dump_profile(out, profile, err));
    assert_int_equal(fclose(out), 0);
    uc_profile_close(profile);
}

static void assert_no_temporaries(const char *folder)
{
    char command[600];

    snprintf(command, sizeof command, "! ls -A '%s' | grep -q '^\\.ucudnn-'",
             folder);
    assert_int_equal(system(command), 0);
}

/* ------------------------------------------------------------- full disks */

/** Three writers on a disk of a quarter of a megabyte. */
static int on_a_full_disk(const char *folder)
{
    char profile[600], plan[600];
    int result;

    if (mount("none", folder, "tmpfs", 0, "size=256k") != 0)
        return NOT_HERE;
    snprintf(profile, sizeof profile, "%s/a b#c?d%%20e.profile", folder);
    snprintf(plan, sizeof plan, "%s/a.plan", folder);
    result = plan_until_refused(plan);
    unlink(plan);
    if (result == 0)
        result = 10 * store_until_refused(profile);
    if (result == 0 && restore_refused(profile) != 0)
        result = 100;
    if (result == 0) {
        assert_sound(profile);
        assert_no_temporaries(folder);
    }
    if (umount(folder) != 0)
        result = 110;
    return result;
}

static void a_full_disk_is_one_line_and_loses_nothing(void **state)
{
    const char *folder = in_folder("disk");
    int result;

    (void)state;
    make_large_dump();
    assert_int_equal(mkdir(folder, 0755), 0);
    result = in_child(on_a_full_disk, folder);
    if (result == NOT_HERE)
        skip_because("no tmpfs can be mounted here");
    assert_int_equal(result, 0);
}

/* --------------------------------------------------------- limited sizes */

static int limit_size(void)
{
    const struct rlimit limit = { 64 << 10, 64 << 10 };

    return signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
           setrlimit(RLIMIT_FSIZE, &limit) != 0;
}

static int store_limited(const char *path)
{
    return limit_size() ? 9 : store_until_refused(path);
}

static int plan_limited(const char *path)
{
    return limit_size() ? 9 : plan_until_refused(path);
}

static int restore_limited(const char *path)
{
    return limit_size() ? 9 : restore_refused(path);
}

static void a_limit_on_sizes_is_one_line_and_loses_nothing(void **state)
{
    unsigned char *bytes;
    char profile[512];
    size_t size;

    (void)state;
    make_large_dump();
    strcpy(profile, in_folder("limited.profile"));
    assert_int_equal(in_child(store_limited, profile), 0);
    assert_sound(profile);
    bytes = read_file(profile, &size);
    assert_int_equal(in_child(restore_limited, profile), 0);
    assert_file_equals(profile, bytes, size);
    free(bytes);
    assert_int_equal(in_child(plan_limited, in_folder("limited.plan")), 0);
    assert_sound(in_folder("limited.plan"));
    assert_no_temporaries(support_folder);
}

/* ------------------------------------------------------ read-only folders */

static int give_up_root(void)
{
    if (geteuid() == 0 &&
        (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
        return NOT_HERE;
    return 0;
}

static int write_to_all(const char *folder)
{
    static const char *const names[] = { "new.profile", "there.profile" };
    struct uc_error error = { 0 };
    struct uc_profile *profile = NULL;
    struct uc_plan plan;
    char path[600];
    int64_t id;

    if (give_up_root() != 0)
        return NOT_HERE;
    sample_plan(&plan);
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (refused(&error, open_writer(path, &profile, &id, &error)) != 0)
            return 1;
        uc_profile_close(profile);
        profile = NULL;
        if (refused(&error, uc_plans_write(path, &plan, 1, &error)) != 0 ||
            restore_refused(path) != 0)
            return 2;
    }
    uc_plan_free(&plan);
    return 0;
}

static void a_read_only_folder_is_one_line(void **state)
{
    const char *folder = in_folder("closed");
    struct uc_profile *profile = NULL;
    int64_t id;
    int result;

    (void)state;
    make_large_dump();
    assert_int_equal(chmod(support_folder, 0755), 0);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_done(
        open_writer(in_folder("closed/there.profile"), &profile, &id, err));
    uc_profile_close(profile);
    assert_int_equal(chmod(folder, 0555), 0);
    result = in_child(write_to_all, folder);
    assert_int_equal(access(in_folder("closed/new.profile"), F_OK), -1);
    assert_int_equal(chmod(folder, 0755), 0);
    if (result == NOT_HERE)
        skip_because("root cannot be given up here");
    assert_int_equal(result, 0);
}

/* ------------------------------------------------------------- the journal */

/**
 * Bytes 18 and 19 of a file say how it is written and read: 1 is a rollback
 * journal, which works on network file systems, and 2 a write-ahead log,
 * which needs memory that machines share (sqlite.org/fileformat.html).
 */
static void files_do_not_need_shared_memory(void **state)
{
    const char *paths[] = { in_folder("j.profile"), in_folder("j.plan") };
    struct uc_profile *profile = NULL;
    struct uc_plan plan;
    int64_t id;

    (void)state;
    sample_plan(&plan);
    assert_done(uc_plans_write(paths[1], &plan, 1, err));
    uc_plan_free(&plan);
    assert_done(open_writer(paths[0], &profile, &id, err));
    for (size_t i = 0; i < UNIT_COUNT(paths); i++) {
        unsigned char *bytes;
        size_t size;

        /* Also while a writer has it open. */
        bytes = read_file(paths[i], &size);
        assert_true(size > 20);
        assert_int_equal(bytes[18], 1);
        assert_int_equal(bytes[19], 1);
        free(bytes);
    }
    uc_profile_close(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_is_one_line_and_loses_nothing),
        cmocka_unit_test(a_limit_on_sizes_is_one_line_and_loses_nothing),
        cmocka_unit_test(a_read_only_folder_is_one_line),
        cmocka_unit_test(files_do_not_need_shared_memory),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
