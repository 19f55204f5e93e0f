#include "config.h"

#include "db/sql.h"

#include "common/text.h"

#include <limits.h>
#include <string.h>

/* --------------------------------------------------------------- binds */

enum uc_status uc_sql_query(struct uc_sql *sql, int statement,
                            const char *action, struct uc_sql_query *query,
                            struct uc_error *err)
{
    sqlite3_stmt **prepared = &sql->statements[statement];

    if (*prepared == NULL &&
        sqlite3_prepare_v3(sql->db, sql->format->statements[statement], -1,
                           SQLITE_PREPARE_PERSISTENT, prepared,
                           NULL) != SQLITE_OK)
        return uc_sql_fail(sql, action, err);
    query->sql = sql;
    query->statement = *prepared;
    query->action = action;
    query->bind_rc = SQLITE_OK;
    query->bad_column = -1;
    return UC_OK;
}

void uc_sql_end(struct uc_sql_query *query)
{
    if (query->statement == NULL)
        return;
    /* A failure was reported by the step that met it. */
    sqlite3_reset(query->statement);
    sqlite3_clear_bindings(query->statement);
    query->statement = NULL;
}

static void bound(struct uc_sql_query *query, int rc)
{
    if (query->bind_rc == SQLITE_OK)
        query->bind_rc = rc;
}

void uc_sql_bind_int(struct uc_sql_query *query, int at, int64_t value)
{
    bound(query, sqlite3_bind_int64(query->statement, at, value));
}

void uc_sql_bind_real(struct uc_sql_query *query, int at, double value)
{
    bound(query, sqlite3_bind_double(query->statement, at, value));
}

void uc_sql_bind_text(struct uc_sql_query *query, int at, const char *value)
{
    bound(query,
          sqlite3_bind_text(query->statement, at, value, -1, SQLITE_STATIC));
}

void uc_sql_bind_blob(struct uc_sql_query *query, int at, const void *value,
                      size_t size)
{
    bound(query, sqlite3_bind_blob64(query->statement, at, value, size,
                                     SQLITE_STATIC));
}

void uc_sql_bind_null(struct uc_sql_query *query, int at)
{
    bound(query, sqlite3_bind_null(query->statement, at));
}

/* --------------------------------------------------------------- steps */

enum uc_status uc_sql_step(struct uc_sql_query *query, bool *row,
                           struct uc_error *err)
{
    int rc;

    if (query->bind_rc != SQLITE_OK)
        return uc_fail(err, UC_EINTERNAL, "%.256s: %s: binding: %s",
                       query->sql->path, query->action,
                       sqlite3_errstr(query->bind_rc));
    rc = sqlite3_step(query->statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return uc_sql_fail(query->sql, query->action, err);
    *row = rc == SQLITE_ROW;
    return UC_OK;
}

enum uc_status uc_sql_finish(struct uc_sql_query *query, struct uc_error *err)
{
    enum uc_status status;
    bool row = true;

    do
        status = uc_sql_step(query, &row, err);
    while (status == UC_OK && row);
    uc_sql_end(query);
    return status;
}

/* ------------------------------------------------------------- columns */

static void bad(struct uc_sql_query *query, int column)
{
    if (query->bad_column < 0)
        query->bad_column = column;
}

int64_t uc_sql_int(struct uc_sql_query *query, int column, int64_t lowest,
                   int64_t highest)
{
    int64_t value;

    if (sqlite3_column_type(query->statement, column) != SQLITE_INTEGER) {
        bad(query, column);
        return lowest;
    }
    value = sqlite3_column_int64(query->statement, column);
    if (value < lowest || value > highest) {
        bad(query, column);
        return lowest;
    }
    return value;
}

double uc_sql_real(struct uc_sql_query *query, int column)
{
    if (sqlite3_column_type(query->statement, column) != SQLITE_FLOAT) {
        bad(query, column);
        return 0;
    }
    return sqlite3_column_double(query->statement, column);
}

void uc_sql_text(struct uc_sql_query *query, int column, char *text,
                 size_t size)
{
    const char *value;
    size_t length;

    text[0] = '\0';
    if (sqlite3_column_type(query->statement, column) != SQLITE_TEXT) {
        bad(query, column);
        return;
    }
    value = (const char *)sqlite3_column_text(query->statement, column);
    length = (size_t)sqlite3_column_bytes(query->statement, column);
    if (value == NULL || length >= size || !uc_text_is_line(value, length)) {
        bad(query, column);
        return;
    }
    memcpy(text, value, length);
    text[length] = '\0';
}

const void *uc_sql_blob(struct uc_sql_query *query, int column, size_t *size)
{
    *size = 0;
    if (sqlite3_column_type(query->statement, column) != SQLITE_BLOB) {
        bad(query, column);
        return NULL;
    }
    *size = (size_t)sqlite3_column_bytes(query->statement, column);
    return sqlite3_column_blob(query->statement, column);
}

bool uc_sql_is_null(struct uc_sql_query *query, int column)
{
    return sqlite3_column_type(query->statement, column) == SQLITE_NULL;
}

void uc_sql_bind_environment(struct uc_sql_query *query, int at,
                             const struct uc_environment *env)
{
    uc_sql_bind_text(query, at, env->device.name);
    uc_sql_bind_int(query, at + 1, env->device.compute_capability);
    uc_sql_bind_int(query, at + 2, env->device.multiprocessors);
    uc_sql_bind_int(query, at + 3, env->device.memory_bytes);
    uc_sql_bind_int(query, at + 4, env->versions.cudnn);
    uc_sql_bind_int(query, at + 5, env->versions.cuda);
    uc_sql_bind_text(query, at + 6, env->versions.driver);
}

void uc_sql_environment(struct uc_sql_query *query, int column,
                        struct uc_environment *env)
{
    struct uc_device *device = &env->device;
    struct uc_versions *versions = &env->versions;

    uc_sql_text(query, column, device->name, sizeof device->name);
    device->compute_capability = (int)uc_sql_int(query, column + 1, 0, INT_MAX);
    device->multiprocessors = (int)uc_sql_int(query, column + 2, 0, INT_MAX);
    device->memory_bytes = uc_sql_int(query, column + 3, 0, INT64_MAX);
    versions->cudnn = (int)uc_sql_int(query, column + 4, 0, INT_MAX);
    versions->cuda = (int)uc_sql_int(query, column + 5, 0, INT_MAX);
    uc_sql_text(query, column + 6, versions->driver, sizeof versions->driver);
}

enum uc_status uc_sql_row_check(struct uc_sql_query *query,
                                struct uc_error *err)
{
    const char *name;

    if (query->bad_column < 0)
        return UC_OK;
    name = sqlite3_column_name(query->statement, query->bad_column);
    return uc_sql_malformed(query->sql, err,
                            "%s: no valid value in column \"%s\"",
                            query->action, name != NULL ? name : "?");
}
