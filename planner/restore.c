#include "config.h"

#include "planner/dump.h"

#include "common/array.h"
#include "db/profile_replace.h"
#include "planner/dump_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- reading */

enum { MOST_LINE = 1 << 16 };

struct reader {
    FILE *in;
    const char *name;
    char text[MOST_LINE + 1];    /**< the line, without its end */
    size_t line;                 /**< its number */
    enum uc_operation operation; /**< of the kernels in it */
};

/** "NAME:LINE: " before the text, as bad input whatever it was. */
static enum uc_status at_line(const struct reader *reader, size_t line,
                              struct uc_error *err)
{
    char prefix[300];

    if (err->status == UC_EFILE)
        return err->status;
    snprintf(prefix, sizeof prefix, "%.256s:%zu", reader->name, line);
    err->status = UC_EINPUT;
    return uc_wrap(err, UC_EINPUT, prefix);
}

static enum uc_status malformed(const struct reader *reader, const char *what,
                                struct uc_error *err)
{
    uc_fail(err, UC_EINPUT, "%s", what);
    return at_line(reader, reader->line, err);
}

static enum uc_status next_line(struct reader *reader, struct uc_error *err)
{
    size_t length = 0;
    int c;

    while ((c = getc_unlocked(reader->in)) != EOF && c != '\n' && c != '\0' &&
           length < MOST_LINE)
        reader->text[length++] = (char)c;
    reader->text[length] = '\0';
    if (c == EOF && ferror(reader->in))
        return uc_fail(err, UC_EFILE, "%.256s: %s", reader->name,
                       strerror(errno));
    reader->line++;
    if (c == EOF && length == 0)
        return malformed(reader, "the text ends before its line \"end\"", err);
    if (c == '\0')
        return malformed(reader, "a NUL byte", err);
    if (c != EOF && c != '\n')
        return malformed(reader, "a line of more than 64 KiB", err);
    return UC_OK;
}

static bool is(struct reader *reader, const struct uc_record *record)
{
    char *fields;

    return uc_record_is(record, reader->text, &fields);
}

/** The fields of the line, which is the record's. */
static enum uc_status fields(struct reader *reader,
                             const struct uc_record *record, void *value,
                             struct uc_error *err)
{
    char *text;

    if (!uc_record_is(record, reader->text, &text))
        return uc_fail(err, UC_EINTERNAL, "another record");
    if (uc_record_parse(record, text, value, &reader->operation, err) != UC_OK)
        return at_line(reader, reader->line, err);
    return UC_OK;
}

static enum uc_status unexpected(const struct reader *reader,
                                 struct uc_error *err)
{
    uc_fail(err, UC_EINPUT, "\"%.*s\" is not expected here",
            (int)strcspn(reader->text, "\t") > 64
                ? 64
                : (int)strcspn(reader->text, "\t"),
            reader->text);
    return at_line(reader, reader->line, err);
}

/** Nothing may follow. */
static enum uc_status read_end(struct reader *reader, struct uc_error *err)
{
    enum uc_status status = fields(reader, &uc_dump_end, NULL, err);

    if (status == UC_OK && getc(reader->in) != EOF) {
        reader->line++;
        status = malformed(reader, "text behind the line \"end\"", err);
    }
    return status;
}

/* ------------------------------------------------------------- profiles */

/** Rows of one problem, stored together. */
struct batch {
    struct uc_profile *profile;
    int64_t environment; /**< -1: none yet */
    struct uc_problem problem;
    struct uc_measurement *rows;
    size_t *lines; /**< of each row */
    size_t count, room;
};

/** The row that has the key of row `at`, or NULL. */
static const struct uc_measurement *same_key(const struct batch *batch,
                                             size_t at,
                                             const struct uc_measurement *rows,
                                             size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (uc_measurement_order(&rows[i], &batch->rows[at]) == 0)
            return &rows[i];
    return NULL;
}

/** No key twice, in the batch or with what the file has of the problem. */
static enum uc_status check_keys(const struct reader *reader,
                                 const struct batch *batch,
                                 struct uc_error *err)
{
    struct uc_measurement *stored = NULL;
    size_t count = 0, ascending = 1;
    enum uc_status status =
        uc_profile_load(batch->profile, batch->environment, &batch->problem,
                        &stored, &count, err);

    /* As they come from a dump, and nothing is left to be compared. */
    while (ascending < batch->count &&
           uc_measurement_order(&batch->rows[ascending - 1],
                                &batch->rows[ascending]) < 0)
        ascending++;
    for (size_t i = 0; i < batch->count && status == UC_OK; i++)
        if (same_key(batch, i, stored, count) != NULL ||
            (i >= ascending && same_key(batch, i, batch->rows, i) != NULL)) {
            uc_fail(err, UC_EINPUT, "an earlier line measures the same");
            status = at_line(reader, batch->lines[i], err);
        }
    free(stored);
    return status;
}

/** Store what is gathered. */
static enum uc_status flush(const struct reader *reader, struct batch *batch,
                            struct uc_error *err)
{
    enum uc_status status;

    if (batch->count == 0)
        return UC_OK;
    status = check_keys(reader, batch, err);
    if (status == UC_OK)
        status = uc_profile_store_all(batch->profile, batch->environment,
                                      &batch->problem, batch->rows,
                                      batch->count, err);
    batch->count = 0;
    return status;
}

static enum uc_status gather(const struct reader *reader, struct batch *batch,
                             const struct uc_measurement *row,
                             struct uc_error *err)
{
    if (batch->count == batch->room) {
        size_t room = batch->room == 0 ? 64 : 2 * batch->room;
        void *grown = realloc(batch->rows, room * sizeof *batch->rows);

        if (grown == NULL)
            return uc_no_memory(err);
        batch->rows = grown;
        grown = realloc(batch->lines, room * sizeof *batch->lines);
        if (grown == NULL)
            return uc_no_memory(err);
        batch->lines = grown;
        batch->room = room;
    }
    batch->rows[batch->count] = *row;
    batch->lines[batch->count++] = reader->line;
    return UC_OK;
}

static enum uc_status read_measurement(struct reader *reader,
                                       struct batch *batch,
                                       struct uc_error *err)
{
    struct uc_dump_row row = { .measurement.error = -1 };
    enum uc_status status;

    if (batch->environment < 0)
        return malformed(reader, "a measurement before any environment", err);
    status = fields(reader, &uc_dump_measurement, &row, err);
    if (status == UC_OK &&
        uc_measurement_check(&row.problem, &row.measurement, err) != UC_OK)
        status = at_line(reader, reader->line, err);
    if (status == UC_OK && !uc_problem_equal(&row.problem, &batch->problem)) {
        status = flush(reader, batch, err);
        batch->problem = row.problem;
    }
    return status == UC_OK ? gather(reader, batch, &row.measurement, err)
                           : status;
}

/** Searches are few: each is stored as it comes. */
static enum uc_status read_search(struct reader *reader, struct batch *batch,
                                  struct uc_error *err)
{
    struct uc_dump_look look = { 0 };
    struct uc_search *stored = NULL;
    size_t count = 0;
    enum uc_status status;

    if (batch->environment < 0)
        return malformed(reader, "a search before any environment", err);
    status = fields(reader, &uc_dump_search, &look, err);
    if (status == UC_OK)
        status = uc_profile_load_searches(batch->profile, batch->environment,
                                          &look.problem, &stored, &count, err);
    if (status == UC_OK &&
        uc_search_find(stored, count, look.search.api, look.search.micro_batch,
                       look.search.accumulate) != NULL)
        status = malformed(reader, "an earlier line is the same search", err);
    free(stored);
    if (status == UC_OK &&
        uc_profile_store_search(batch->profile, batch->environment,
                                &look.problem, &look.search, err) != UC_OK)
        status = at_line(reader, reader->line, err);
    return status;
}

static enum uc_status read_environment(struct reader *reader,
                                       struct batch *batch,
                                       struct uc_error *err)
{
    struct uc_environment environment = { 0 };
    enum uc_status status = flush(reader, batch, err);
    int64_t id = 0;

    if (status == UC_OK)
        status = fields(reader, &uc_dump_environment, &environment, err);
    if (status == UC_OK)
        status =
            uc_profile_add_environment(batch->profile, &environment, &id, err);
    if (status != UC_OK)
        return status;
    if (id <= batch->environment)
        return malformed(reader, "an earlier line is the same environment",
                         err);
    batch->environment = id;
    return UC_OK;
}

static enum uc_status read_profile(struct reader *reader,
                                   struct uc_profile *profile,
                                   struct uc_error *err)
{
    struct batch batch = { .profile = profile, .environment = -1 };
    enum uc_status status;

    while ((status = next_line(reader, err)) == UC_OK) {
        if (is(reader, &uc_dump_measurement))
            status = read_measurement(reader, &batch, err);
        else if (is(reader, &uc_dump_search))
            status = read_search(reader, &batch, err);
        else if (is(reader, &uc_dump_environment))
            status = read_environment(reader, &batch, err);
        else
            break;
        if (status != UC_OK)
            break;
    }
    if (status == UC_OK)
        status = flush(reader, &batch, err);
    if (status == UC_OK)
        status = is(reader, &uc_dump_end) ? read_end(reader, err)
                                          : unexpected(reader, err);
    free(batch.rows);
    free(batch.lines);
    return status;
}

static enum uc_status restore_profile(struct reader *reader, const char *path,
                                      struct uc_error *err)
{
    struct uc_profile_replace replace = { .file = { .folder_fd = -1 } };
    enum uc_status status = uc_profile_replace_begin(path, &replace, err);

    if (status == UC_OK)
        status = read_profile(reader, replace.profile, err);
    return uc_profile_replace_end(&replace, status, err);
}

/* ---------------------------------------------------------------- plans */

struct plans {
    struct uc_plan *list; /**< grows by uc_array_append() */
    size_t *lines;        /**< likewise */
    size_t count, line_count;
};

static struct uc_plan *add_plan(struct plans *plans, size_t line)
{
    void *list = plans->list, *lines = plans->lines;
    struct uc_plan *plan = uc_array_append(&list, &plans->count, sizeof *plan);
    size_t *number = plan == NULL ? NULL
                                  : uc_array_append(&lines, &plans->line_count,
                                                    sizeof *number);

    plans->list = list;
    plans->lines = lines;
    if (number == NULL)
        return NULL;
    *number = line;
    return plan;
}

static enum uc_status read_plan(struct reader *reader, struct plans *plans,
                                struct uc_error *err)
{
    struct uc_plan *plan = add_plan(plans, reader->line);

    if (plan == NULL)
        return uc_no_memory(err);
    plan->choices = (struct uc_plan_choices)UC_PLAN_CHOICES;
    return fields(reader, &uc_dump_plan, plan, err);
}

static enum uc_status read_operation(struct reader *reader, struct plans *plans,
                                     struct uc_error *err)
{
    struct uc_plan *plan;
    struct uc_plan_operation *op;
    void *list;

    if (plans->count == 0)
        return malformed(reader, "an operation before any plan", err);
    plan = &plans->list[plans->count - 1];
    list = plan->operations;
    op = uc_array_append(&list, &plan->operation_count, sizeof *op);
    plan->operations = list;
    if (op == NULL)
        return uc_no_memory(err);
    op->undivided_ns = op->unlimited_ns = -1;
    return fields(reader, &uc_dump_operation, op, err);
}

static enum uc_status read_piece(struct reader *reader, struct plans *plans,
                                 struct uc_error *err)
{
    const struct uc_plan *plan;
    struct uc_plan_operation *op;
    struct uc_plan_piece *piece;
    void *list;

    if (plans->count == 0 || plans->list[plans->count - 1].operation_count == 0)
        return malformed(reader, "a micro-batch before any operation", err);
    plan = &plans->list[plans->count - 1];
    op = &plan->operations[plan->operation_count - 1];
    list = op->pieces;
    piece = uc_array_append(&list, &op->piece_count, sizeof *piece);
    op->pieces = list;
    return piece == NULL ? uc_no_memory(err)
                         : fields(reader, &uc_dump_micro_batch, piece, err);
}

/** Each can be followed, and none replaces an earlier one. */
static enum uc_status check_plans(const struct reader *reader,
                                  const struct plans *plans,
                                  struct uc_error *err)
{
    for (size_t i = 0; i < plans->count; i++) {
        if (uc_plan_check(&plans->list[i], err) != UC_OK)
            return at_line(reader, plans->lines[i], err);
        for (size_t j = 0; j < i; j++)
            if (uc_plan_same(&plans->list[i], &plans->list[j])) {
                uc_fail(err, UC_EINPUT, "an earlier plan is for the same");
                return at_line(reader, plans->lines[i], err);
            }
    }
    return UC_OK;
}

static enum uc_status read_plans(struct reader *reader, struct plans *plans,
                                 struct uc_error *err)
{
    enum uc_status status;

    while ((status = next_line(reader, err)) == UC_OK) {
        if (is(reader, &uc_dump_micro_batch))
            status = read_piece(reader, plans, err);
        else if (is(reader, &uc_dump_operation))
            status = read_operation(reader, plans, err);
        else if (is(reader, &uc_dump_plan))
            status = read_plan(reader, plans, err);
        else
            break;
        if (status != UC_OK)
            break;
    }
    if (status == UC_OK)
        status = is(reader, &uc_dump_end) ? read_end(reader, err)
                                          : unexpected(reader, err);
    return status == UC_OK ? check_plans(reader, plans, err) : status;
}

static enum uc_status restore_plans(struct reader *reader, const char *path,
                                    struct uc_error *err)
{
    struct plans plans = { 0 };
    enum uc_status status = read_plans(reader, &plans, err);

    if (status == UC_OK)
        status = uc_plans_replace(path, plans.list, plans.count, err);
    uc_plans_free(plans.list, plans.count);
    free(plans.lines);
    return status;
}

/* ---------------------------------------------------------------- either */

static enum uc_status read_head(struct reader *reader,
                                struct uc_dump_head *head, struct uc_error *err)
{
    enum uc_status status = next_line(reader, err);

    if (status != UC_OK)
        return status;
    if (!is(reader, &uc_dump_head))
        return malformed(reader, "is not the first line of a dump", err);
    status = fields(reader, &uc_dump_head, head, err);
    if (status == UC_OK && head->version != UC_DUMP_VERSION) {
        uc_fail(err, UC_EINPUT, "version %d, and this program knows only %d",
                head->version, UC_DUMP_VERSION);
        status = at_line(reader, reader->line, err);
    }
    return status;
}

enum uc_status uc_restore(FILE *in, const char *name, const char *path,
                          struct uc_error *err)
{
    struct reader reader = { .in = in, .name = name };
    struct uc_dump_head head;
    enum uc_status status = read_head(&reader, &head, err);

    if (status == UC_OK) {
        if (strcmp(head.kind, "profile") == 0)
            status = restore_profile(&reader, path, err);
        else if (strcmp(head.kind, "plan") == 0)
            status = restore_plans(&reader, path, err);
        else
            status = malformed(&reader, "is a dump of neither profile nor plan",
                               err);
    }
    return status;
}
