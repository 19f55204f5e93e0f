#include "config.h"

#include "db/sql_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Writers wait this long for each other, and readers for a writer. */
enum { WRITE_BUSY_MS = 60000, READ_BUSY_MS = 5000 };

/** A new file needs a folder that takes it; SQLite reports the wrong errno. */
static enum uc_status check_folder(const char *path, struct uc_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    enum uc_status status = UC_OK;

    if (folder == NULL)
        return uc_no_memory(err);
    if (access(folder, W_OK | X_OK) != 0)
        status =
            uc_fail(err, UC_EFILE, UC_SQL_PATH ": %s", path, strerror(errno));
    free(folder);
    return status;
}

/** It must be there and have content. */
static bool reads(enum uc_sql_mode mode)
{
    return mode == UC_SQL_READ || mode == UC_SQL_READ_OLD ||
           mode == UC_SQL_HOLD;
}

/**
 * SQLite's own words for these are about URIs and files in general. The file
 * is not opened here: closing it would drop the process's locks on it.
 */
static enum uc_status check_file(const char *path, enum uc_sql_mode mode,
                                 struct uc_error *err)
{
    struct stat st;

    if (path[0] == '\0')
        return uc_fail(err, UC_EFILE, "the file name is empty");
    if (stat(path, &st) != 0) {
        if (errno == ENOENT && !reads(mode))
            return check_folder(path, err);
        return uc_fail(err, UC_EFILE, UC_SQL_PATH ": %s", path,
                       strerror(errno));
    }
    if (S_ISDIR(st.st_mode))
        return uc_fail(err, UC_EFILE, UC_SQL_PATH ": is a directory", path);
    if (!S_ISREG(st.st_mode))
        return uc_fail(err, UC_EFILE, UC_SQL_PATH ": is not a regular file",
                       path);
    if (reads(mode) && st.st_size == 0)
        return uc_fail(err, UC_EFILE, UC_SQL_PATH ": is empty", path);
    return UC_OK;
}

/** What keeps a hostile file from doing more than hold wrong values. */
static const char guards[] = "PRAGMA trusted_schema = OFF;"
                             "PRAGMA cell_size_check = ON;";
/**
 * A rollback journal, since that is safe on network file systems; emptied
 * and not deleted, and synchronised less, since every measurement is a
 * transaction: a third of the time.
 */
static const char shared_file[] = "PRAGMA journal_mode = TRUNCATE;"
                                  "PRAGMA synchronous = NORMAL;";
/** Exclusive owner: a rollback journal in memory and no fsync. */
static const char private_file[] = "PRAGMA journal_mode = MEMORY;"
                                   "PRAGMA synchronous = OFF;";

static enum uc_status guard(struct uc_sql *sql, struct uc_error *err)
{
    sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    return uc_sql_execute(sql, guards, "opening", err);
}

static enum uc_status connect(struct uc_sql *sql, int flags, int busy_ms,
                              struct uc_error *err)
{
    char *name;
    int rc;

    /* Without a leading "/" a name could be ":memory:" or "file:...". */
    name = sqlite3_mprintf("%s%s", sql->path[0] == '/' ? "" : "./", sql->path);
    if (name == NULL)
        return uc_no_memory(err);
    rc = sqlite3_open_v2(name, &sql->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_free(name);
    if (sql->db == NULL)
        return uc_no_memory(err);
    sqlite3_extended_result_codes(sql->db, 1);
    if (rc != SQLITE_OK)
        return uc_sql_fail(sql, "opening", err);
    sqlite3_busy_timeout(sql->db, busy_ms);
    return guard(sql, err);
}

/**
 * Connect for reading. A journal that a killed writer left must be played
 * back before anything can be read, which takes write access.
 */
static enum uc_status connect_read(struct uc_sql *sql, int64_t *application_id,
                                   struct uc_error *err)
{
    static const char read_id[] = "PRAGMA application_id";
    enum uc_status status;

    status = connect(sql, SQLITE_OPEN_READONLY, READ_BUSY_MS, err);
    if (status == UC_OK)
        status = uc_sql_single_int(sql, read_id, application_id, err);
    if (status == UC_OK ||
        sqlite3_extended_errcode(sql->db) != SQLITE_READONLY_ROLLBACK)
        return status;
    sqlite3_close(sql->db);
    sql->db = NULL;
    status = connect(sql, SQLITE_OPEN_READWRITE, READ_BUSY_MS, err);
    if (status == UC_OK)
        status = uc_sql_execute(sql, "PRAGMA query_only = ON", "opening", err);
    if (status == UC_OK)
        status = uc_sql_single_int(sql, read_id, application_id, err);
    return status;
}

static const char *kind_name(int64_t application_id)
{
    switch (application_id) {
    case UC_SQL_PROFILE_ID:
        return "a ucudnn profile";
    case UC_SQL_PLAN_ID:
        return "a ucudnn plan";
    default:
        return "another program's database";
    }
}

/**
 * Refuse a file that would compute what is read from it. SQLite goes by the
 * text of a definition, so what it has made of that is asked.
 */
static enum uc_status check_schema(struct uc_sql *sql, struct uc_error *err)
{
    static const char computed[] =
        "SELECT count(*) FROM pragma_table_list"
        " WHERE schema = 'main' AND type <> 'table'"
        " AND NOT (type = 'view' AND name = 'readable')";
    static const char triggers[] =
        "SELECT count(*) FROM sqlite_schema"
        " WHERE type = 'trigger' OR sql LIKE 'create%trigger%'";
    static const char columns[] =
        "SELECT count(*) FROM pragma_table_list AS t"
        " JOIN pragma_table_xinfo(t.name) AS c"
        " WHERE t.schema = 'main' AND t.type = 'table' AND c.hidden > 1";
    int64_t found = 0;
    enum uc_status status = uc_sql_single_int(sql, computed, &found, err);

    if (status == UC_OK && found > 0)
        return uc_sql_malformed(sql, err, "it has views of its own");
    if (status == UC_OK)
        status = uc_sql_single_int(sql, triggers, &found, err);
    if (status == UC_OK && found > 0)
        return uc_sql_malformed(sql, err, "it has triggers");
    if (status == UC_OK)
        status = uc_sql_single_int(sql, columns, &found, err);
    if (status == UC_OK && found > 0)
        return uc_sql_malformed(sql, err, "it has computed columns");
    return status;
}

enum uc_status uc_sql_check_references(struct uc_sql *sql, struct uc_error *err)
{
    int64_t found = 0;
    enum uc_status status = uc_sql_single_int(
        sql, "SELECT count(*) FROM pragma_foreign_key_check", &found, err);

    if (status == UC_OK && found > 0)
        status = uc_sql_malformed(sql, err, "%lld rows name what is not there",
                                  (long long)found);
    return status;
}

/** Refuse what is not ours; *version is 0 for a file without any content. */
static enum uc_status check_header(struct uc_sql *sql, int64_t *version,
                                   struct uc_error *err)
{
    const struct uc_sql_format *format = sql->format;
    int64_t id = 0, user_version = 0, objects = 0;
    enum uc_status status;

    status = uc_sql_single_int(sql, "PRAGMA application_id", &id, err);
    if (status == UC_OK)
        status =
            uc_sql_single_int(sql, "PRAGMA user_version", &user_version, err);
    if (status == UC_OK)
        status = uc_sql_single_int(sql, "SELECT count(*) FROM sqlite_schema",
                                   &objects, err);
    if (status != UC_OK)
        return status;
    if (id == 0 && user_version == 0 && objects == 0) {
        *version = 0;
        return UC_OK;
    }
    if (id != format->application_id)
        return uc_fail(err, UC_EFILE,
                       UC_SQL_PATH
                       ": is %s, not a ucudnn %s (application id %lld)",
                       sql->path, kind_name(id), format->name, (long long)id);
    if (user_version > format->version)
        return uc_fail(err, UC_EFILE,
                       UC_SQL_PATH
                       ": schema version %lld is newer than %d, the "
                       "newest this program knows",
                       sql->path, (long long)user_version, format->version);
    if (user_version < 1)
        return uc_sql_malformed(sql, err, "schema version %lld",
                                (long long)user_version);
    *version = user_version;
    return check_schema(sql, err);
}

/** SQLite reads what is missing of a cut-off last page as zeros. */
static enum uc_status check_size(struct uc_sql *sql, struct uc_error *err)
{
    int64_t pages = 0, page_bytes = 0;
    struct stat st;
    enum uc_status status;

    status = uc_sql_single_int(sql, "PRAGMA page_count", &pages, err);
    if (status == UC_OK)
        status = uc_sql_single_int(sql, "PRAGMA page_size", &page_bytes, err);
    if (status == UC_OK && stat(sql->path, &st) != 0)
        status = uc_fail(err, UC_EFILE, UC_SQL_PATH ": %s", sql->path,
                         strerror(errno));
    if (status == UC_OK && (page_bytes < 1 || st.st_size / page_bytes < pages))
        status = uc_sql_malformed(sql, err, "the file is cut off");
    return status;
}

/** In one transaction: another process may be creating the file. */
static enum uc_status check_content(struct uc_sql *sql, int64_t *version,
                                    struct uc_error *err)
{
    enum uc_status status = uc_sql_execute(sql, "BEGIN", "reading", err);

    if (status == UC_OK)
        status = check_header(sql, version, err);
    if (status == UC_OK)
        status = check_size(sql, err);
    if (status == UC_OK)
        status = uc_sql_commit(sql, err);
    return status;
}

/** Bring the file to the newest schema, all or nothing. */
static enum uc_status migrate(struct uc_sql *sql, struct uc_error *err)
{
    const struct uc_sql_format *format = sql->format;
    int64_t version = 0;
    enum uc_status status;

    status = uc_sql_begin(sql, err);
    if (status != UC_OK)
        return status;
    /* Another process may have done it while this one waited. */
    status = check_header(sql, &version, err);
    while (status == UC_OK && version < format->version) {
        int64_t now = 0, next = version == 0 ? format->version : version + 1;

        status = uc_sql_execute(sql, format->migrations[version],
                                "updating the schema", err);
        if (status == UC_OK)
            status = uc_sql_single_int(sql, "PRAGMA user_version", &now, err);
        if (status == UC_OK && now != next)
            status = uc_fail(err, UC_EINTERNAL,
                             "schema migration to %lld sets version %lld",
                             (long long)next, (long long)now);
        version = next;
    }
    if (status == UC_OK)
        status = uc_sql_commit(sql, err);
    if (status != UC_OK)
        uc_sql_rollback(sql);
    return status;
}

/** Go on with a copy of the database in memory. */
static enum uc_status copy_to_memory(struct uc_sql *sql, struct uc_error *err)
{
    sqlite3 *file = sql->db;
    sqlite3_backup *backup = NULL;
    int rc;

    sql->db = NULL;
    rc = sqlite3_open_v2(":memory:", &sql->db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        backup = sqlite3_backup_init(sql->db, "main", file, "main");
    if (backup != NULL) {
        sqlite3_backup_step(backup, -1);
        rc = sqlite3_backup_finish(backup);
    }
    sqlite3_close(file);
    if (rc != SQLITE_OK || backup == NULL)
        return sql->db == NULL ? uc_no_memory(err)
                               : uc_sql_fail(sql, "copying", err);
    sqlite3_extended_result_codes(sql->db, 1);
    return guard(sql, err);
}

static enum uc_status open_read(struct uc_sql *sql, enum uc_sql_mode mode,
                                struct uc_error *err)
{
    int64_t version = 0, application_id;
    enum uc_status status;

    status = connect_read(sql, &application_id, err);
    if (status == UC_OK)
        status = check_content(sql, &version, err);
    if (status != UC_OK)
        return status;
    if (version == 0)
        return uc_fail(err, UC_EFILE, UC_SQL_PATH ": is an empty database",
                       sql->path);
    if (version < sql->format->version && mode == UC_SQL_READ_OLD) {
        status = copy_to_memory(sql, err);
        return status == UC_OK ? migrate(sql, err) : status;
    }
    sql->version = (int)version;
    if (version < sql->format->least_read)
        return uc_fail(err, UC_EFILE,
                       UC_SQL_PATH
                       ": schema version %lld is older than %d; opening "
                       "it once for writing updates it",
                       sql->path, (long long)version, sql->format->least_read);
    return UC_OK;
}

/** Whether the name is another file's by now, or nobody's. */
static bool is_moved(const struct uc_sql *sql)
{
    int moved = 0;

    return sqlite3_file_control(sql->db, "main", SQLITE_FCNTL_HAS_MOVED,
                                &moved) == SQLITE_OK &&
           moved != 0;
}

/** In a transaction that is never committed. */
static enum uc_status open_hold(struct uc_sql *sql, struct uc_error *err)
{
    int64_t version = 0;
    enum uc_status status;

    status = connect(sql, SQLITE_OPEN_READWRITE, WRITE_BUSY_MS, err);
    /* What it is comes before what cannot be done with it. */
    if (status == UC_OK)
        status = check_content(sql, &version, err);
    if (status == UC_OK && version == 0)
        status = uc_fail(err, UC_EFILE, UC_SQL_PATH ": is an empty database",
                         sql->path);
    if (status == UC_OK)
        status = uc_sql_begin(sql, err);
    /* Another one may have replaced it while this one waited. */
    if (status == UC_OK && is_moved(sql))
        status = uc_sql_fail_moved(sql, err);
    sql->version = (int)version;
    return status;
}

static enum uc_status open_write(struct uc_sql *sql, enum uc_sql_mode mode,
                                 struct uc_error *err)
{
    int64_t version = 0;
    enum uc_status status;

    status = connect(sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                     WRITE_BUSY_MS, err);
    if (status == UC_OK && mode == UC_SQL_PRIVATE)
        status = uc_sql_execute(sql, private_file, "opening", err);
    if (status == UC_OK)
        status = check_content(sql, &version, err);
    if (status == UC_OK && sqlite3_db_readonly(sql->db, "main") != 0)
        status =
            uc_fail(err, UC_EFILE, UC_SQL_PATH ": is not writable", sql->path);
    if (status == UC_OK && version < sql->format->version)
        status = migrate(sql, err);
    /* Not earlier: a migration may rebuild a table that others refer to. */
    if (status == UC_OK)
        status =
            uc_sql_execute(sql, "PRAGMA foreign_keys = ON", "opening", err);
    if (status == UC_OK && mode == UC_SQL_WRITE) {
        status = uc_sql_execute(sql, shared_file, "opening", err);
        sql->shared = status == UC_OK;
    }
    return status;
}

enum uc_status uc_sql_open(const struct uc_sql_format *format, const char *path,
                           enum uc_sql_mode mode, struct uc_sql **out,
                           struct uc_error *err)
{
    struct uc_sql *sql;
    enum uc_status status;

    status = check_file(path, mode, err);
    if (status != UC_OK)
        return status;
    sql = calloc(1, sizeof *sql);
    if (sql == NULL || (sql->path = strdup(path)) == NULL) {
        free(sql);
        return uc_no_memory(err);
    }
    sql->format = format;
    sql->version = format->version;
    if (mode == UC_SQL_HOLD)
        status = open_hold(sql, err);
    else
        status = reads(mode) ? open_read(sql, mode, err)
                             : open_write(sql, mode, err);
    if (status != UC_OK) {
        uc_sql_close(sql);
        return status;
    }
    *out = sql;
    return UC_OK;
}

void uc_sql_close(struct uc_sql *sql)
{
    if (sql == NULL)
        return;
    for (size_t i = 0; i < UC_SQL_STATEMENTS; i++)
        sqlite3_finalize(sql->statements[i]);
    if (sql->shared && !is_moved(sql)) {
        /* Deletes the journal, unless another writer needs it; behind a file
           that was replaced, the name is that of the new one's. */
        sqlite3_busy_timeout(sql->db, 0);
        sqlite3_exec(sql->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    }
    sqlite3_close(sql->db);
    free(sql->path);
    free(sql);
}

enum uc_status uc_sql_identify(const char *path, int *application_id,
                               struct uc_error *err)
{
    struct uc_sql sql = { .path = (char *)path };
    enum uc_status status;
    int64_t id = 0;

    status = check_file(path, UC_SQL_READ, err);
    if (status == UC_OK)
        status = connect_read(&sql, &id, err);
    if (status == UC_OK)
        *application_id = (int)id;
    sqlite3_close(sql.db);
    return status;
}
