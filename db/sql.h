/**
 * @file sql.h
 * SQLite with every step checked: what profiles and plans share.
 *
 * A format says what a file must be (application id, schema versions) and
 * lists its statements; a statement is prepared on first use and lives as
 * long as the handle. Binds and columns are checked as they go and reported
 * together: binds by uc_sql_step(), columns by uc_sql_row_check().
 *
 * Owner:   close a handle with uc_sql_close(), which takes NULL; a query is
 *          a plain value that borrows the handle.
 * Errors:  UC_EFILE with the path, the action, SQLite's words and extended
 *          code; outputs are untouched on failure.
 * Threads: a handle is used by one thread at a time. Any number of handles,
 *          in any number of processes, may use one file.
 */
#ifndef UC_DB_SQL_H
#define UC_DB_SQL_H

#include "common/device.h"
#include "common/error.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UC_SQL_STATEMENTS = 32 }; /**< most statements of a format */

/** The applications ids of our files: "ucPr" and "ucPl". */
enum { UC_SQL_PROFILE_ID = 0x75635072, UC_SQL_PLAN_ID = 0x7563506c };

/** The longest time in a file: far beyond any real value, far below what sums
 * could overflow. */
#define UC_SQL_MOST_NS (INT64_C(1) << 53)
/** The last second of the year 9999. */
#define UC_SQL_LAST_SECOND INT64_C(253402300799)

struct uc_sql_format {
    int application_id;
    const char *name; /**< "profile", "plan" */
    /** The first makes a new file: the newest schema, with application_id
     * and user_version. Number i turns schema version i into i + 1 and sets
     * user_version. */
    const char *const *migrations;
    int version;    /**< number of migrations: the newest schema */
    int least_read; /**< oldest schema that UC_SQL_READ takes as it is */
    const char *const *statements; /**< indexed by the format's own enum */
    size_t statement_count;        /**< <= UC_SQL_STATEMENTS */
};

enum uc_sql_mode {
    /** Must exist; also from a read-only folder. An older schema is left as
     * it is: see the handle's version. */
    UC_SQL_READ,
    /** UC_SQL_READ, and a file of an older schema is updated in a copy in
     * memory: the file stays as it is. For small files. */
    UC_SQL_READ_OLD,
    UC_SQL_WRITE, /**< created when missing, migrated when old */
    /** UC_SQL_WRITE for a file nobody else knows yet: no journal file and no
     * fsync; the caller syncs. */
    UC_SQL_PRIVATE,
    /** UC_SQL_READ for a file that is to be replaced: it must be writable, and
     * until the handle is closed nobody writes to it. Whoever has it open for
     * writing is told at the next write that it was replaced. */
    UC_SQL_HOLD
};

struct uc_sql {
    sqlite3 *db;
    char *path; /**< as the user wrote it, for messages */
    const struct uc_sql_format *format;
    int version; /**< of the schema; the newest unless UC_SQL_READ */
    bool shared; /**< leaves an empty journal to be deleted */
    sqlite3_stmt *statements[UC_SQL_STATEMENTS];
};

enum uc_status uc_sql_open(const struct uc_sql_format *format, const char *path,
                           enum uc_sql_mode mode, struct uc_sql **out,
                           struct uc_error *err);
void uc_sql_close(struct uc_sql *sql);

/** The application id of an SQLite file, whatever it is. */
enum uc_status uc_sql_identify(const char *path, int *application_id,
                               struct uc_error *err);

/** Take the write lock (waits for other writers), keep or undo. */
enum uc_status uc_sql_begin(struct uc_sql *sql, struct uc_error *err);
enum uc_status uc_sql_commit(struct uc_sql *sql, struct uc_error *err);
void uc_sql_rollback(struct uc_sql *sql);

/** UC_EFILE when a row refers to one that is not there. */
enum uc_status uc_sql_check_references(struct uc_sql *sql,
                                       struct uc_error *err);
/** Rewrite the file without the room that insertions left between rows. */
enum uc_status uc_sql_vacuum(struct uc_sql *sql, struct uc_error *err);

/** SQLite's whole-file check; for small files. */
enum uc_status uc_sql_quick_check(struct uc_sql *sql, struct uc_error *err);

/** Fill *err from the handle's last failure. */
enum uc_status uc_sql_fail(const struct uc_sql *sql, const char *action,
                           struct uc_error *err);
/** "PATH: malformed: ...". */
enum uc_status uc_sql_malformed(const struct uc_sql *sql, struct uc_error *err,
                                const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** One run of a statement. */
struct uc_sql_query {
    struct uc_sql *sql;
    sqlite3_stmt *statement;
    const char *action; /**< borrowed: "storing a measurement" */
    int bind_rc;        /**< of the first bind that failed */
    int bad_column;     /**< first column that failed, or -1 */
};

enum uc_status uc_sql_query(struct uc_sql *sql, int statement,
                            const char *action, struct uc_sql_query *query,
                            struct uc_error *err);
/** Reset for the next run; takes a query that never started (zeros). */
void uc_sql_end(struct uc_sql_query *query);

/** Parameters count from 1. Texts and blobs must outlive the step. */
void uc_sql_bind_int(struct uc_sql_query *query, int at, int64_t value);
void uc_sql_bind_real(struct uc_sql_query *query, int at, double value);
void uc_sql_bind_text(struct uc_sql_query *query, int at, const char *value);
void uc_sql_bind_blob(struct uc_sql_query *query, int at, const void *value,
                      size_t size);
void uc_sql_bind_null(struct uc_sql_query *query, int at);

/** Next row; *row is false at the end. */
enum uc_status uc_sql_step(struct uc_sql_query *query, bool *row,
                           struct uc_error *err);
/** A statement without rows: step to its end and reset it. */
enum uc_status uc_sql_finish(struct uc_sql_query *query, struct uc_error *err);

/**
 * Columns count from 0. A column of another type or outside its range is
 * remembered and reads as the lowest value, "" or 0.
 */
int64_t uc_sql_int(struct uc_sql_query *query, int column, int64_t lowest,
                   int64_t highest);
double uc_sql_real(struct uc_sql_query *query, int column);
/** One line of printable UTF-8 that fits: uc_text_is_line(). */
void uc_sql_text(struct uc_sql_query *query, int column, char *text,
                 size_t size);
/** Borrowed until the next step. */
const void *uc_sql_blob(struct uc_sql_query *query, int column, size_t *size);
bool uc_sql_is_null(struct uc_sql_query *query, int column);

/** The columns of an environment, in the order of the two functions below,
 * which take the first one's number. */
#define UC_SQL_ENVIRONMENT                                       \
    "device, compute_capability, multiprocessors, memory_bytes," \
    " cudnn, cuda, driver"
void uc_sql_bind_environment(struct uc_sql_query *query, int at,
                             const struct uc_environment *env);
void uc_sql_environment(struct uc_sql_query *query, int column,
                        struct uc_environment *env);

/** Every column read so far was fine. */
enum uc_status uc_sql_row_check(struct uc_sql_query *query,
                                struct uc_error *err);

#endif
