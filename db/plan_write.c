#include "config.h"

#include "db/plan_impl.h"
#include "db/replace.h"

#include <string.h>

static void bind_optional_ns(struct uc_sql_query *query, int at, int64_t ns)
{
    if (ns < 0)
        uc_sql_bind_null(query, at);
    else
        uc_sql_bind_int(query, at, ns);
}

/* ----------------------------------------------------------------- rows */

static enum uc_status add_piece(struct uc_sql *sql, int64_t plan,
                                const struct uc_plan_operation *op,
                                size_t position, size_t at,
                                struct uc_error *err)
{
    const struct uc_plan_piece *piece = &op->pieces[at];
    char kernel[UC_KERNEL_TEXT];
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(sql, UC_PLAN_ADD_MICRO_BATCH, "storing a micro-batch",
                          &query, err);
    if (status != UC_OK)
        return status;
    uc_kernel_print(&piece->kernel, op->problem.operation, kernel);
    uc_sql_bind_int(&query, 1, (int64_t)at);
    uc_sql_bind_int(&query, 2, piece->size);
    uc_sql_bind_int(&query, 3, piece->count);
    uc_sql_bind_int(&query, 4, piece->accumulate);
    uc_sql_bind_text(&query, 5, kernel);
    uc_sql_bind_int(&query, 6, piece->workspace_bytes);
    uc_sql_bind_int(&query, 7, piece->time_ns);
    uc_sql_bind_int(&query, 8, piece->notes);
    uc_sql_bind_int(&query, 9, piece->build_ns);
    uc_sql_bind_int(&query, 10, plan);
    uc_sql_bind_int(&query, 11, (int64_t)position);
    return uc_sql_finish(&query, err);
}

static enum uc_status add_operation(struct uc_sql *sql, int64_t plan,
                                    const struct uc_plan_operation *op,
                                    size_t position, struct uc_error *err)
{
    char problem[UC_PROBLEM_TEXT];
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(sql, UC_PLAN_ADD_OPERATION, "storing an operation",
                          &query, err);
    if (status != UC_OK)
        return status;
    uc_problem_print(&op->problem, problem);
    uc_sql_bind_int(&query, 1, (int64_t)position);
    uc_sql_bind_text(&query, 2, op->layer);
    uc_sql_bind_int(&query, 3, op->repeat);
    uc_sql_bind_int(&query, 4, op->batch);
    uc_sql_bind_text(&query, 5, problem);
    uc_sql_bind_int(&query, 6, op->workspace_bytes);
    uc_sql_bind_int(&query, 7, op->time_ns);
    bind_optional_ns(&query, 8, op->undivided_ns);
    bind_optional_ns(&query, 9, op->unlimited_ns);
    uc_sql_bind_int(&query, 10, plan);
    status = uc_sql_finish(&query, err);
    for (size_t i = 0; i < op->piece_count && status == UC_OK; i++)
        status = add_piece(sql, plan, op, position, i, err);
    return status;
}

static enum uc_status add_header(struct uc_sql *sql, int64_t id,
                                 const struct uc_plan *plan,
                                 struct uc_error *err)
{
    const struct uc_plan_choices *choices = &plan->choices;
    struct uc_plan_totals totals;
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(sql, UC_PLAN_ADD, "storing a plan", &query, err);
    if (status != UC_OK)
        return status;
    uc_plan_totals(plan, &totals);
    uc_sql_bind_text(&query, 1, plan->network);
    uc_sql_bind_environment(&query, 2, &plan->environment);
    uc_sql_bind_text(&query, 9, plan->mode == UC_PLAN_WR ? "wr" : "wd");
    uc_sql_bind_int(&query, 10, plan->limit_bytes);
    uc_sql_bind_text(&query, 11, plan->policy);
    uc_sql_bind_int(&query, 12, choices->deterministic);
    uc_sql_bind_int(&query, 13, plan->created_at);
    uc_sql_bind_text(&query, 14, plan->tool);
    uc_sql_bind_int(&query, 15, totals.predicted_ns);
    bind_optional_ns(&query, 16, totals.undivided_ns);
    bind_optional_ns(&query, 17, totals.unlimited_ns);
    uc_sql_bind_int(&query, 18, totals.workspace_bytes);
    uc_sql_bind_int(&query, 19, choices->apis);
    uc_sql_bind_int(&query, 20, choices->allow);
    uc_sql_bind_int(&query, 21, choices->no_runtime_compiled);
    uc_sql_bind_real(&query, 22, choices->min_gain);
    uc_sql_bind_int(&query, 23, choices->max_pieces);
    uc_sql_bind_int(&query, 24, id);
    return uc_sql_finish(&query, err);
}

static enum uc_status add_plan(struct uc_sql *sql, int64_t id,
                               const struct uc_plan *plan, struct uc_error *err)
{
    enum uc_status status = add_header(sql, id, plan, err);

    for (size_t i = 0; i < plan->operation_count && status == UC_OK; i++)
        status = add_operation(sql, id, &plan->operations[i], i, err);
    return status;
}

/* ------------------------------------------------------------- identity */

/** The same batch in the same arithmetic. */
static bool same_variant(const struct uc_plan_operation *a,
                         const struct uc_plan_operation *b)
{
    const struct uc_problem *p = &a->problem, *q = &b->problem;

    return a->batch == b->batch && p->x_type == q->x_type &&
           p->w_type == q->w_type && p->y_type == q->y_type &&
           p->math == q->math && p->x.kind == q->x.kind;
}

/** Every variant of `a` is in `b`. */
static bool variants_within(const struct uc_plan *a, const struct uc_plan *b)
{
    for (size_t i = 0; i < a->operation_count; i++) {
        size_t j = 0;

        while (j < b->operation_count &&
               !same_variant(&a->operations[i], &b->operations[j]))
            j++;
        if (j == b->operation_count)
            return false;
    }
    return true;
}

bool uc_plan_same(const struct uc_plan *a, const struct uc_plan *b)
{
    return strcmp(a->network, b->network) == 0 &&
           uc_environment_difference(&a->environment, &b->environment) ==
               NULL &&
           a->mode == b->mode && a->limit_bytes == b->limit_bytes &&
           variants_within(a, b) && variants_within(b, a);
}

struct list {
    const struct uc_plan *plans;
    size_t count;
};

static bool replaced(const struct uc_plan *old, const struct list *added)
{
    for (size_t i = 0; i < added->count; i++)
        if (uc_plan_same(old, &added->plans[i]))
            return true;
    return false;
}

/** `kept` but those that others replace, then those. */
static enum uc_status temporary_fill(const char *temporary,
                                     const struct list *kept,
                                     const struct list *added,
                                     struct uc_error *err)
{
    struct uc_sql *sql = NULL;
    int64_t id = 1;
    enum uc_status status;

    status = uc_sql_open(&uc_plan_format, temporary, UC_SQL_PRIVATE, &sql, err);
    if (status == UC_OK)
        status = uc_sql_begin(sql, err);
    for (size_t i = 0; i < kept->count && status == UC_OK; i++)
        if (!replaced(&kept->plans[i], added))
            status = add_plan(sql, id++, &kept->plans[i], err);
    for (size_t i = 0; i < added->count && status == UC_OK; i++)
        status = add_plan(sql, id++, &added->plans[i], err);
    if (status == UC_OK)
        status = uc_sql_commit(sql, err);
    uc_sql_close(sql);
    return status;
}

/** `whole`: nothing of what is there is kept. */
static enum uc_status write_plans(const char *path, const struct list *added,
                                  bool whole, struct uc_error *err)
{
    struct uc_replace replace = { .folder_fd = -1 };
    struct uc_plan *old = NULL;
    size_t old_count = 0;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < added->count && status == UC_OK; i++)
        status = uc_plan_check(&added->plans[i], err);
    if (status != UC_OK)
        return status;
    status = uc_replace_begin(path, &replace, err);
    if (status == UC_OK && replace.exists)
        status = uc_plans_read(path, &old, &old_count, err);
    if (status == UC_OK)
        status = uc_replace_create(&replace, err);
    if (status == UC_OK) {
        const struct list kept = { old, whole ? 0 : old_count };

        status = temporary_fill(replace.temporary, &kept, added, err);
        if (status != UC_OK)
            uc_wrap(err, status, path);
    }
    if (status == UC_OK)
        status = uc_replace_commit(&replace, err);
    uc_replace_end(&replace);
    uc_plans_free(old, old_count);
    return status;
}

enum uc_status uc_plans_write(const char *path, const struct uc_plan *plans,
                              size_t count, struct uc_error *err)
{
    const struct list added = { plans, count };

    return write_plans(path, &added, false, err);
}

enum uc_status uc_plans_replace(const char *path, const struct uc_plan *plans,
                                size_t count, struct uc_error *err)
{
    const struct list added = { plans, count };

    return write_plans(path, &added, true, err);
}
