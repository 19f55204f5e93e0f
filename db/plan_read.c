#include "config.h"

#include "db/plan_impl.h"

#include "common/array.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] =
#include "db/plan.inc"
    ;
/** A kernel of version 1 is a legacy one, and its notes are known; what else a
 * plan was chosen from is not, and taken to be what nobody told otherwise. */
static const char from_1[] =
    "PRAGMA user_version = 2;"
    "ALTER TABLE micro_batch ADD COLUMN"
    " notes INTEGER NOT NULL DEFAULT 0 CHECK (notes >= 0);"
    "ALTER TABLE micro_batch ADD COLUMN"
    " build_ns INTEGER NOT NULL DEFAULT 0 CHECK (build_ns >= 0);"
    "ALTER TABLE plan ADD COLUMN"
    " apis INTEGER NOT NULL DEFAULT 0 CHECK (apis IN (0, 1, 2));"
    "ALTER TABLE plan ADD COLUMN"
    " allow INTEGER NOT NULL DEFAULT 0 CHECK (allow IN (0, 4, 8, 12));"
    "ALTER TABLE plan ADD COLUMN"
    " no_runtime_compiled INTEGER NOT NULL DEFAULT 0"
    " CHECK (no_runtime_compiled IN (0, 1));"
    "ALTER TABLE plan ADD COLUMN"
    " min_gain REAL NOT NULL DEFAULT 0.01 CHECK (min_gain BETWEEN 0 AND 1);"
    "ALTER TABLE plan ADD COLUMN"
    " max_pieces INTEGER NOT NULL DEFAULT 0 CHECK (max_pieces >= 0);";

static const char *const migrations[] = { schema, from_1 };

#define PLAN_COLUMNS                                                \
    "network, " UC_SQL_ENVIRONMENT                                  \
    ", mode, limit_bytes, policy, deterministic,"                   \
    " created_at, tool, predicted_ns, undivided_ns, unlimited_ns,"  \
    " workspace_bytes, apis, allow, no_runtime_compiled, min_gain," \
    " max_pieces"
#define OPERATION_COLUMNS                                                \
    "position, layer, repeat, batch, problem, workspace_bytes, time_ns," \
    " undivided_ns, unlimited_ns"
#define MICRO_BATCH_COLUMNS                                                \
    "position, size, count, accumulate, kernel, workspace_bytes, time_ns," \
    " notes, build_ns"

static const char *const statements[] = {
    [UC_PLAN_ADD] = "INSERT INTO plan (" PLAN_COLUMNS ", id)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
                    " ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,"
                    " ?22, ?23, ?24)",
    [UC_PLAN_ADD_OPERATION] =
        "INSERT INTO operation (" OPERATION_COLUMNS ", plan)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [UC_PLAN_ADD_MICRO_BATCH] =
        "INSERT INTO micro_batch (" MICRO_BATCH_COLUMNS ", plan, operation)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
        " ?11)",
    [UC_PLAN_ALL] = "SELECT " PLAN_COLUMNS ", id FROM plan ORDER BY id",
    [UC_PLAN_OPERATIONS] = "SELECT " OPERATION_COLUMNS " FROM operation"
                           " WHERE plan = ?1 ORDER BY position",
    [UC_PLAN_MICRO_BATCHES] =
        "SELECT " MICRO_BATCH_COLUMNS " FROM micro_batch"
        " WHERE plan = ?1 AND operation = ?2 ORDER BY position",
};

const struct uc_sql_format uc_plan_format = {
    .application_id = UC_SQL_PLAN_ID,
    .name = "plan",
    .migrations = migrations,
    .version = sizeof migrations / sizeof *migrations,
    .least_read = sizeof migrations / sizeof *migrations,
    .statements = statements,
    .statement_count = UC_PLAN_STATEMENTS,
};

/** A time that may be NULL, which is -1 in the structures. */
static int64_t read_optional_ns(struct uc_sql_query *query, int column)
{
    if (uc_sql_is_null(query, column))
        return -1;
    return uc_sql_int(query, column, 1, INT64_MAX);
}

/* -------------------------------------------------------- micro-batches */

static enum uc_status read_piece(struct uc_sql_query *query,
                                 const struct uc_plan_operation *op,
                                 struct uc_plan_piece *piece, size_t position,
                                 struct uc_error *err)
{
    char kernel[UC_KERNEL_TEXT];
    struct uc_error cause;
    enum uc_status status;

    uc_sql_int(query, 0, (int64_t)position, (int64_t)position);
    piece->size = uc_sql_int(query, 1, 1, INT32_MAX);
    piece->count = uc_sql_int(query, 2, 1, INT32_MAX);
    piece->accumulate = uc_sql_int(query, 3, 0, 1) == 1;
    uc_sql_text(query, 4, kernel, sizeof kernel);
    piece->workspace_bytes = uc_sql_int(query, 5, 0, INT64_MAX);
    piece->time_ns = uc_sql_int(query, 6, 1, UC_SQL_MOST_NS);
    piece->notes = (unsigned)uc_sql_int(query, 7, 0, INT_MAX);
    piece->build_ns = uc_sql_int(query, 8, 0, UC_SQL_MOST_NS);
    status = uc_sql_row_check(query, err);
    if (status != UC_OK)
        return status;
    if (uc_kernel_parse(kernel, op->problem.operation, &piece->kernel,
                        &cause) != UC_OK)
        return uc_sql_malformed(query->sql, err, "%.224s", cause.text);
    piece->notes |= uc_legacy_notes(&piece->kernel, op->problem.operation);
    return UC_OK;
}

static enum uc_status read_pieces(struct uc_sql *sql, int64_t plan,
                                  int64_t position,
                                  struct uc_plan_operation *op,
                                  struct uc_error *err)
{
    struct uc_sql_query query = { 0 };
    void *list = NULL;
    size_t count = 0;
    enum uc_status status;
    bool row;

    status = uc_sql_query(sql, UC_PLAN_MICRO_BATCHES, "reading micro-batches",
                          &query, err);
    if (status == UC_OK) {
        uc_sql_bind_int(&query, 1, plan);
        uc_sql_bind_int(&query, 2, position);
    }
    while (status == UC_OK &&
           (status = uc_sql_step(&query, &row, err)) == UC_OK && row) {
        struct uc_plan_piece *piece =
            uc_array_append(&list, &count, sizeof *op->pieces);

        status = piece == NULL ? uc_no_memory(err)
                               : read_piece(&query, op, piece, count - 1, err);
    }
    uc_sql_end(&query);
    op->pieces = list;
    op->piece_count = count;
    return status;
}

/* ----------------------------------------------------------- operations */

static enum uc_status read_operation(struct uc_sql_query *query,
                                     struct uc_plan_operation *op,
                                     size_t position, struct uc_error *err)
{
    char problem[UC_PROBLEM_TEXT];
    struct uc_error cause;
    enum uc_status status;

    uc_sql_int(query, 0, (int64_t)position, (int64_t)position);
    uc_sql_text(query, 1, op->layer, sizeof op->layer);
    op->repeat = uc_sql_int(query, 2, 1, INT32_MAX);
    op->batch = uc_sql_int(query, 3, 1, INT32_MAX);
    uc_sql_text(query, 4, problem, sizeof problem);
    op->workspace_bytes = uc_sql_int(query, 5, 0, INT64_MAX);
    op->time_ns = uc_sql_int(query, 6, 1, INT64_MAX);
    op->undivided_ns = read_optional_ns(query, 7);
    op->unlimited_ns = read_optional_ns(query, 8);
    status = uc_sql_row_check(query, err);
    if (status == UC_OK &&
        uc_problem_parse(problem, &op->problem, &cause) != UC_OK)
        status = uc_sql_malformed(query->sql, err, "%.224s", cause.text);
    return status;
}

static enum uc_status read_operations(struct uc_sql *sql, int64_t id,
                                      struct uc_plan *plan,
                                      struct uc_error *err)
{
    struct uc_sql_query query = { 0 };
    void *list = NULL;
    enum uc_status status;
    bool row;

    status = uc_sql_query(sql, UC_PLAN_OPERATIONS, "reading operations", &query,
                          err);
    if (status == UC_OK)
        uc_sql_bind_int(&query, 1, id);
    while (status == UC_OK &&
           (status = uc_sql_step(&query, &row, err)) == UC_OK && row) {
        size_t at = plan->operation_count;
        struct uc_plan_operation *op =
            uc_array_append(&list, &plan->operation_count, sizeof *op);

        plan->operations = list;
        status = op == NULL ? uc_no_memory(err)
                            : read_operation(&query, op, at, err);
    }
    uc_sql_end(&query);
    for (size_t i = 0; i < plan->operation_count && status == UC_OK; i++)
        status = read_pieces(sql, id, (int64_t)i, &plan->operations[i], err);
    return status;
}

/* ---------------------------------------------------------------- plans */

/** What lies out of range is left to uc_plan_check(). */
static void read_choices(struct uc_sql_query *query,
                         struct uc_plan_choices *choices)
{
    choices->deterministic = uc_sql_int(query, 11, 0, 1) == 1;
    choices->apis = (unsigned)uc_sql_int(query, 18, 0, INT_MAX);
    choices->allow = (unsigned)uc_sql_int(query, 19, 0, INT_MAX);
    choices->no_runtime_compiled = uc_sql_int(query, 20, 0, 1) == 1;
    choices->min_gain = uc_sql_real(query, 21);
    choices->max_pieces = uc_sql_int(query, 22, 0, INT64_MAX);
}

static enum uc_status read_header(struct uc_sql_query *query,
                                  struct uc_plan *plan,
                                  struct uc_plan_totals *totals, int64_t *id,
                                  struct uc_error *err)
{
    char mode[8];
    enum uc_status status;

    uc_sql_text(query, 0, plan->network, sizeof plan->network);
    uc_sql_environment(query, 1, &plan->environment);
    uc_sql_text(query, 8, mode, sizeof mode);
    plan->limit_bytes = uc_sql_int(query, 9, 0, INT64_MAX);
    uc_sql_text(query, 10, plan->policy, sizeof plan->policy);
    plan->created_at = uc_sql_int(query, 12, 0, UC_SQL_LAST_SECOND);
    uc_sql_text(query, 13, plan->tool, sizeof plan->tool);
    totals->predicted_ns = uc_sql_int(query, 14, 1, INT64_MAX);
    totals->undivided_ns = read_optional_ns(query, 15);
    totals->unlimited_ns = read_optional_ns(query, 16);
    totals->workspace_bytes = uc_sql_int(query, 17, 0, INT64_MAX);
    read_choices(query, &plan->choices);
    *id = uc_sql_int(query, 23, 0, INT64_MAX);
    status = uc_sql_row_check(query, err);
    if (status != UC_OK)
        return status;
    if (strcmp(mode, "wr") == 0)
        plan->mode = UC_PLAN_WR;
    else if (strcmp(mode, "wd") == 0)
        plan->mode = UC_PLAN_WD;
    else
        return uc_sql_malformed(query->sql, err, "unknown mode \"%s\"", mode);
    return UC_OK;
}

static enum uc_status check_plan(struct uc_sql *sql, const struct uc_plan *plan,
                                 const struct uc_plan_totals *stored,
                                 struct uc_error *err)
{
    struct uc_plan_totals totals;
    struct uc_error cause;

    if (uc_plan_check(plan, &cause) != UC_OK)
        return uc_sql_malformed(sql, err, "%.240s", cause.text);
    uc_plan_totals(plan, &totals);
    if (memcmp(&totals, stored, sizeof totals) != 0)
        return uc_sql_malformed(sql, err,
                                "the totals are not those of the operations");
    return UC_OK;
}

/** Appends to what is there, so that the caller frees one list. */
static enum uc_status read_all(struct uc_sql *sql, struct uc_plan **plans,
                               size_t *count, struct uc_error *err)
{
    struct uc_sql_query query = { 0 };
    void *list = NULL;
    enum uc_status status;
    bool row;

    status = uc_sql_query(sql, UC_PLAN_ALL, "reading plans", &query, err);
    while (status == UC_OK &&
           (status = uc_sql_step(&query, &row, err)) == UC_OK && row) {
        struct uc_plan *plan = uc_array_append(&list, count, sizeof *plan);
        struct uc_plan_totals totals;
        int64_t id;

        *plans = list;
        if (plan == NULL) {
            status = uc_no_memory(err);
            break;
        }
        status = read_header(&query, plan, &totals, &id, err);
        if (status == UC_OK)
            status = read_operations(sql, id, plan, err);
        if (status == UC_OK)
            status = check_plan(sql, plan, &totals, err);
    }
    uc_sql_end(&query);
    return status;
}

enum uc_status uc_plans_read_told(const char *path, struct uc_plan **plans,
                                  size_t *count, bool *readable,
                                  struct uc_error *err)
{
    struct uc_sql *sql = NULL;
    struct uc_plan *list = NULL;
    size_t used = 0;
    enum uc_status status;

    *readable = false;
    status = uc_sql_open(&uc_plan_format, path, UC_SQL_READ_OLD, &sql, err);
    if (status == UC_OK)
        status = uc_sql_quick_check(sql, err);
    if (status == UC_OK) {
        *readable = true;
        status = read_all(sql, &list, &used, err);
    }
    uc_sql_close(sql);
    if (status != UC_OK) {
        uc_plans_free(list, used);
        return status;
    }
    *plans = list;
    *count = used;
    return UC_OK;
}

enum uc_status uc_plans_read(const char *path, struct uc_plan **plans,
                             size_t *count, struct uc_error *err)
{
    bool readable;

    return uc_plans_read_told(path, plans, count, &readable, err);
}
