#include "config.h"

#include "db/sql_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------- failing */

enum uc_status uc_sql_fail_moved(const struct uc_sql *sql, struct uc_error *err)
{
    return uc_fail(err, UC_EFILE,
                   UC_SQL_PATH ": another program has replaced or removed it "
                               "since it was opened",
                   sql->path);
}

enum uc_status uc_sql_fail(const struct uc_sql *sql, const char *action,
                           struct uc_error *err)
{
    int code = sqlite3_extended_errcode(sql->db);
    int system_errno = sqlite3_system_errno(sql->db);

    if (code == SQLITE_NOMEM)
        return uc_no_memory(err);
    if (code == SQLITE_READONLY_DBMOVED)
        return uc_sql_fail_moved(sql, err);
    if ((code & 0xff) == SQLITE_NOTADB)
        return uc_fail(err, UC_EFILE, UC_SQL_PATH ": is no %s file", sql->path,
                       sql->format != NULL ? sql->format->name
                                           : "plan or profile");
    if ((code & 0xff) == SQLITE_CANTOPEN && system_errno != 0)
        return uc_fail(err, UC_EFILE, UC_SQL_PATH ": %s: %s (SQLite code %d)",
                       sql->path, action, strerror(system_errno), code);
    return uc_fail(err, UC_EFILE, UC_SQL_PATH ": %s: %s (SQLite code %d)",
                   sql->path, action, sqlite3_errmsg(sql->db), code);
}

enum uc_status uc_sql_malformed(const struct uc_sql *sql, struct uc_error *err,
                                const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return uc_fail(err, UC_EFILE, UC_SQL_PATH ": malformed: %s", sql->path,
                   text);
}

/* ---------------------------------------------------------- statements */

enum uc_status uc_sql_execute(struct uc_sql *sql, const char *text,
                              const char *action, struct uc_error *err)
{
    if (sqlite3_exec(sql->db, text, NULL, NULL, NULL) != SQLITE_OK)
        return uc_sql_fail(sql, action, err);
    return UC_OK;
}

enum uc_status uc_sql_single_int(struct uc_sql *sql, const char *text,
                                 int64_t *value, struct uc_error *err)
{
    struct uc_sql_query query = { sql, NULL, "reading", SQLITE_OK, -1 };
    enum uc_status status;
    bool row;

    if (sqlite3_prepare_v2(sql->db, text, -1, &query.statement, NULL) !=
        SQLITE_OK)
        return uc_sql_fail(sql, query.action, err);
    status = uc_sql_step(&query, &row, err);
    if (status == UC_OK && !row)
        status = uc_sql_malformed(sql, err, "no header");
    if (status == UC_OK)
        *value = sqlite3_column_int64(query.statement, 0);
    sqlite3_finalize(query.statement);
    return status;
}

enum uc_status uc_sql_begin(struct uc_sql *sql, struct uc_error *err)
{
    return uc_sql_execute(sql, "BEGIN IMMEDIATE", "taking the write lock", err);
}

enum uc_status uc_sql_commit(struct uc_sql *sql, struct uc_error *err)
{
    return uc_sql_execute(sql, "COMMIT", "committing", err);
}

void uc_sql_rollback(struct uc_sql *sql)
{
    /* After some failures SQLite has rolled back by itself. */
    if (!sqlite3_get_autocommit(sql->db))
        sqlite3_exec(sql->db, "ROLLBACK", NULL, NULL, NULL);
}

enum uc_status uc_sql_vacuum(struct uc_sql *sql, struct uc_error *err)
{
    /* The copy that it makes would need a folder for temporary files. */
    return uc_sql_execute(sql, "PRAGMA temp_store = MEMORY; VACUUM",
                          "vacuuming", err);
}

enum uc_status uc_sql_quick_check(struct uc_sql *sql, struct uc_error *err)
{
    struct uc_sql_query query = { sql, NULL, "checking", SQLITE_OK, -1 };
    enum uc_status status;
    const char *answer;
    bool row;

    if (sqlite3_prepare_v2(sql->db, "PRAGMA quick_check(1)", -1,
                           &query.statement, NULL) != SQLITE_OK)
        return uc_sql_fail(sql, query.action, err);
    status = uc_sql_step(&query, &row, err);
    if (status == UC_OK) {
        answer =
            row ? (const char *)sqlite3_column_text(query.statement, 0) : NULL;
        if (answer == NULL)
            status = uc_sql_malformed(sql, err, "SQLite's check says nothing");
        else if (strcmp(answer, "ok") != 0)
            status = uc_sql_malformed(sql, err, "%.*s",
                                      (int)strcspn(answer, "\n"), answer);
    }
    sqlite3_finalize(query.statement);
    return status;
}
