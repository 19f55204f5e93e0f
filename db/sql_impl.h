/**
 * @file sql_impl.h
 * What the files of sql.h share; nobody else includes it.
 *
 * Owner:   as sql.h says.
 * Errors:  as sql.h says.
 * Threads: as sql.h says.
 */
#ifndef UC_DB_SQL_IMPL_H
#define UC_DB_SQL_IMPL_H

#include "db/sql.h"

/** Most of a path that a message shows: the cause must fit behind it. */
#define UC_SQL_PATH "%.256s"

/** Another file, or none, has its name. */
enum uc_status uc_sql_fail_moved(const struct uc_sql *sql,
                                 struct uc_error *err);

/** Statements that are not in the format's table, and give no rows. */
enum uc_status uc_sql_execute(struct uc_sql *sql, const char *text,
                              const char *action, struct uc_error *err);

/** The first column of one that gives a row. */
enum uc_status uc_sql_single_int(struct uc_sql *sql, const char *text,
                                 int64_t *value, struct uc_error *err);

#endif
