#include "config.h"

#include "db/profile_impl.h"

#include "common/array.h"
#include "common/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------- validating */

/** NULL, or what is wrong with a row; for what we store and what we read. */
static const char *row_fault(const struct uc_measurement *m)
{
    bool timed = m->outcome == UC_MEASURED || m->outcome == UC_CUT_OFF;

    if (m->micro_batch < 1 || m->micro_batch > UC_PROFILE_MOST_MICRO_BATCH)
        return "micro-batch out of range";
    if (m->workspace_bytes < 0)
        return "negative workspace";
    if (m->time_ns < (timed ? 1 : 0) || m->time_ns > UC_SQL_MOST_NS)
        return "time out of range";
    if (m->spread_ns < 0 || m->spread_ns > UC_SQL_MOST_NS)
        return "spread out of range";
    if (m->host_ns < 0 || m->host_ns > UC_SQL_MOST_NS)
        return "host time out of range";
    if (m->build_ns < 0 || m->build_ns > UC_SQL_MOST_NS)
        return "build time out of range";
    if (m->notes > INT_MAX)
        return "notes out of range";
    if (m->outcome == UC_MEASURED && !isfinite(m->error))
        return "error out of range";
    if (m->calls < 0)
        return "negative number of calls";
    if (m->samples < 0 || m->samples > UC_MAX_SAMPLES)
        return "number of samples out of range";
    for (int i = 0; i < m->samples; i++) {
        if (!isfinite(m->sample_ns[i]) || m->sample_ns[i] < 0)
            return "a sample is no time";
    }
    if (m->measured_at < 0 || m->measured_at > UC_SQL_LAST_SECOND)
        return "date out of range";
    return NULL;
}

/* -------------------------------------------------------------- samples */

/** Little-endian 32-bit floats, whatever the machine. */
static void samples_encode(const struct uc_measurement *m,
                           unsigned char bytes[4 * UC_MAX_SAMPLES])
{
    for (int i = 0; i < m->samples; i++) {
        uint32_t bits;

        memcpy(&bits, &m->sample_ns[i], sizeof bits);
        for (int b = 0; b < 4; b++)
            bytes[4 * i + b] = (unsigned char)(bits >> (8 * b));
    }
}

static bool samples_decode(const unsigned char *bytes, size_t size,
                           struct uc_measurement *m)
{
    if (size % 4 != 0 || size > 4 * UC_MAX_SAMPLES)
        return false;
    m->samples = (int)(size / 4);
    for (int i = 0; i < m->samples; i++) {
        uint32_t bits = 0;

        for (int b = 0; b < 4; b++)
            bits |= (uint32_t)bytes[4 * i + b] << (8 * b);
        memcpy(&m->sample_ns[i], &bits, sizeof bits);
    }
    return true;
}

/* -------------------------------------------------------------- storing */

struct row_ids {
    int64_t environment, problem, kernel, outcome;
    int64_t reason; /**< -1: none */
};

static enum uc_status insert(struct uc_profile *profile,
                             const struct row_ids *ids,
                             const struct uc_measurement *m,
                             struct uc_error *err)
{
    unsigned char bytes[4 * UC_MAX_SAMPLES];
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(profile->sql, UC_PROFILE_STORE,
                          "storing a measurement", &query, err);
    if (status != UC_OK)
        return status;
    uc_sql_bind_int(&query, 1, ids->environment);
    uc_sql_bind_int(&query, 2, ids->problem);
    uc_sql_bind_int(&query, 3, m->micro_batch);
    uc_sql_bind_int(&query, 4, m->accumulate);
    uc_sql_bind_int(&query, 5, ids->kernel);
    uc_sql_bind_int(&query, 6, ids->outcome);
    if (ids->reason >= 0)
        uc_sql_bind_int(&query, 7, ids->reason);
    uc_sql_bind_int(&query, 8, m->notes);
    uc_sql_bind_int(&query, 9, m->workspace_bytes);
    uc_sql_bind_int(&query, 10, m->time_ns);
    uc_sql_bind_int(&query, 11, m->spread_ns);
    uc_sql_bind_int(&query, 12, m->host_ns);
    if (m->error >= 0)
        uc_sql_bind_real(&query, 13, m->error);
    uc_sql_bind_int(&query, 14, m->calls);
    if (m->samples > 0) {
        samples_encode(m, bytes);
        uc_sql_bind_blob(&query, 15, bytes, 4 * (size_t)m->samples);
    }
    uc_sql_bind_int(&query, 16, m->measured_at);
    uc_sql_bind_int(&query, 17, m->build_ns);
    return uc_sql_finish(&query, err);
}

/** In a transaction. */
static enum uc_status store_row(struct uc_profile *profile, struct row_ids *ids,
                                const struct uc_problem *problem,
                                const struct uc_measurement *m,
                                struct uc_error *err)
{
    char kernel[UC_KERNEL_TEXT];
    enum uc_status status;

    uc_kernel_print(&m->kernel, problem->operation, kernel);
    status =
        uc_profile_text_id(profile, UC_PROFILE_FIND_KERNEL,
                           UC_PROFILE_ADD_KERNEL, kernel, &ids->kernel, err);
    if (status == UC_OK)
        status = uc_profile_text_id(
            profile, UC_PROFILE_FIND_OUTCOME, UC_PROFILE_ADD_OUTCOME,
            uc_outcome_name(m->outcome), &ids->outcome, err);
    ids->reason = -1;
    if (status == UC_OK && m->reason[0] != '\0')
        status = uc_profile_text_id(profile, UC_PROFILE_FIND_REASON,
                                    UC_PROFILE_ADD_REASON, m->reason,
                                    &ids->reason, err);
    if (status == UC_OK)
        status = insert(profile, ids, m, err);
    return status;
}

enum uc_status uc_measurement_check(const struct uc_problem *problem,
                                    const struct uc_measurement *m,
                                    struct uc_error *err)
{
    const char *fault = row_fault(m);

    if (fault == NULL && (memchr(m->reason, '\0', sizeof m->reason) == NULL ||
                          !uc_text_is_line(m->reason, strlen(m->reason))))
        fault = "the reason is no line of UTF-8";
    if (fault == NULL && ((int)m->outcome < 0 || m->outcome >= UC_OUTCOMES))
        fault = "no such outcome";
    if (fault == NULL)
        fault = uc_kernel_fault(&m->kernel, problem->operation);
    if (fault != NULL)
        return uc_fail(err, UC_EINTERNAL, "cannot store a measurement: %s",
                       fault);
    return UC_OK;
}

enum uc_status uc_profile_store_all(struct uc_profile *profile, int64_t env,
                                    const struct uc_problem *problem,
                                    const struct uc_measurement *rows,
                                    size_t count, struct uc_error *err)
{
    struct row_ids ids = { .environment = env };
    char text[UC_PROBLEM_TEXT];
    enum uc_status status = uc_profile_check_writable(profile, err);

    if (status == UC_OK)
        status = uc_problem_check(problem, err);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = uc_measurement_check(problem, &rows[i], err);
    if (status != UC_OK || count == 0)
        return status;
    uc_problem_print(problem, text);
    status = uc_sql_begin(profile->sql, err);
    if (status == UC_OK)
        status =
            uc_profile_text_id(profile, UC_PROFILE_FIND_PROBLEM,
                               UC_PROFILE_ADD_PROBLEM, text, &ids.problem, err);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = store_row(profile, &ids, problem, &rows[i], err);
    if (status == UC_OK)
        status = uc_sql_commit(profile->sql, err);
    if (status != UC_OK)
        uc_sql_rollback(profile->sql);
    return status;
}

enum uc_status uc_profile_store(struct uc_profile *profile, int64_t env,
                                const struct uc_problem *problem,
                                const struct uc_measurement *measurement,
                                struct uc_error *err)
{
    return uc_profile_store_all(profile, env, problem, measurement, 1, err);
}

/* -------------------------------------------------------------- loading */

/** Columns of UC_PROFILE_LOAD. */
enum {
    COL_MICRO_BATCH,
    COL_ACCUMULATE,
    COL_KERNEL,
    COL_OUTCOME,
    COL_HAS_REASON,
    COL_REASON,
    COL_NOTES,
    COL_WORKSPACE,
    COL_TIME,
    COL_SPREAD,
    COL_HOST,
    COL_ERROR,
    COL_CALLS,
    COL_SAMPLES,
    COL_MEASURED_AT,
    COL_BUILD
};

/** The columns that are names and bytes. */
static enum uc_status read_encoded(struct uc_sql_query *query,
                                   enum uc_operation operation,
                                   struct uc_measurement *m,
                                   struct uc_error *err)
{
    char kernel[UC_KERNEL_TEXT], outcome[32];
    struct uc_error cause;
    const void *bytes = NULL;
    size_t size = 0;
    enum uc_status status;

    uc_sql_text(query, COL_KERNEL, kernel, sizeof kernel);
    uc_sql_text(query, COL_OUTCOME, outcome, sizeof outcome);
    if (uc_sql_int(query, COL_HAS_REASON, 0, 1) == 1)
        uc_sql_text(query, COL_REASON, m->reason, sizeof m->reason);
    m->error = -1;
    if (!uc_sql_is_null(query, COL_ERROR))
        m->error = uc_sql_real(query, COL_ERROR);
    if (!uc_sql_is_null(query, COL_SAMPLES))
        bytes = uc_sql_blob(query, COL_SAMPLES, &size);
    status = uc_sql_row_check(query, err);
    if (status != UC_OK)
        return status;
    if (uc_kernel_parse(kernel, operation, &m->kernel, &cause) != UC_OK)
        return uc_sql_malformed(query->sql, err, "%.224s", cause.text);
    if (!uc_outcome_parse(outcome, &m->outcome))
        return uc_sql_malformed(query->sql, err, "unknown outcome \"%s\"",
                                outcome);
    if (!samples_decode(bytes, size, m))
        return uc_sql_malformed(query->sql, err, "%zu bytes of samples", size);
    return UC_OK;
}

/** *m is zero. */
static enum uc_status read_row(struct uc_sql_query *query,
                               enum uc_operation operation,
                               struct uc_measurement *m, struct uc_error *err)
{
    const char *fault;
    enum uc_status status;

    m->micro_batch =
        uc_sql_int(query, COL_MICRO_BATCH, 1, UC_PROFILE_MOST_MICRO_BATCH);
    m->accumulate = uc_sql_int(query, COL_ACCUMULATE, 0, 1) == 1;
    m->notes = (unsigned)uc_sql_int(query, COL_NOTES, 0, INT_MAX);
    m->workspace_bytes = uc_sql_int(query, COL_WORKSPACE, 0, INT64_MAX);
    m->time_ns = uc_sql_int(query, COL_TIME, 0, UC_SQL_MOST_NS);
    m->spread_ns = uc_sql_int(query, COL_SPREAD, 0, UC_SQL_MOST_NS);
    m->host_ns = uc_sql_int(query, COL_HOST, 0, UC_SQL_MOST_NS);
    m->calls = (int)uc_sql_int(query, COL_CALLS, 0, INT_MAX);
    m->measured_at = uc_sql_int(query, COL_MEASURED_AT, 0, UC_SQL_LAST_SECOND);
    m->build_ns = uc_sql_int(query, COL_BUILD, 0, UC_SQL_MOST_NS);
    status = read_encoded(query, operation, m, err);
    if (status != UC_OK)
        return status;
    fault = row_fault(m);
    if (fault == NULL && m->error != -1 && !(m->error >= 0))
        fault = "negative error";
    if (fault != NULL)
        return uc_sql_malformed(query->sql, err, "a measurement: %s", fault);
    return UC_OK;
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/** Ids of kernels depend on who was stored first; their numbers do not. */
int uc_measurement_order(const struct uc_measurement *a,
                         const struct uc_measurement *b)
{
    int order = compare(a->micro_batch, b->micro_batch);

    if (order == 0)
        order = compare(a->accumulate, b->accumulate);
    return order != 0 ? order : uc_kernel_compare(&a->kernel, &b->kernel);
}

const struct uc_measurement *uc_measurement_find(
    const struct uc_measurement *rows, size_t count, int64_t micro_batch,
    bool accumulate, const struct uc_kernel *kernel)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].micro_batch == micro_batch &&
            rows[i].accumulate == accumulate &&
            uc_kernel_equal(&rows[i].kernel, kernel))
            return &rows[i];
    return NULL;
}

static int row_order(const void *left, const void *right)
{
    return uc_measurement_order(left, right);
}

static enum uc_status load_rows(struct uc_profile *profile, int64_t env,
                                int64_t problem_id, enum uc_operation operation,
                                struct uc_measurement **rows, size_t *count,
                                struct uc_error *err)
{
    void *list = NULL;
    size_t used = 0;
    struct uc_sql_query query = { 0 };
    enum uc_status status;
    bool row;

    status = uc_sql_query(profile->sql,
                          profile->sql->version < UC_PROFILE_GRAPH_SINCE
                              ? UC_PROFILE_LOAD_1
                              : UC_PROFILE_LOAD,
                          "reading measurements", &query, err);
    if (status == UC_OK) {
        uc_sql_bind_int(&query, 1, env);
        uc_sql_bind_int(&query, 2, problem_id);
    }
    while (status == UC_OK &&
           (status = uc_sql_step(&query, &row, err)) == UC_OK && row) {
        struct uc_measurement *m = uc_array_append(&list, &used, sizeof *m);

        status =
            m == NULL ? uc_no_memory(err) : read_row(&query, operation, m, err);
    }
    uc_sql_end(&query);
    if (status != UC_OK) {
        free(list);
        return status;
    }
    if (used > 0)
        qsort(list, used, sizeof(struct uc_measurement), row_order);
    *rows = list;
    *count = used;
    return UC_OK;
}

enum uc_status uc_profile_load(struct uc_profile *profile, int64_t env,
                               const struct uc_problem *problem,
                               struct uc_measurement **rows, size_t *count,
                               struct uc_error *err)
{
    char text[UC_PROBLEM_TEXT];
    int64_t id;
    enum uc_status status;

    uc_problem_print(problem, text);
    status =
        uc_profile_find_text(profile, UC_PROFILE_FIND_PROBLEM, text, &id, err);
    if (status != UC_OK)
        return status;
    if (id < 0) {
        *rows = NULL;
        *count = 0;
        return UC_OK;
    }
    return load_rows(profile, env, id, problem->operation, rows, count, err);
}
