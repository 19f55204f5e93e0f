#include "config.h"

#include "db/profile_impl.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- counts */

enum uc_status uc_profile_count(struct uc_profile *profile,
                                struct uc_profile_environment *environment,
                                struct uc_error *err)
{
    struct uc_profile_environment counted = *environment;
    struct uc_sql_query query = { 0 };
    enum uc_status status;
    bool row = false;

    status = uc_sql_query(profile->sql, UC_PROFILE_COUNT, "counting rows",
                          &query, err);
    if (status != UC_OK)
        return status;
    uc_sql_bind_int(&query, 1, environment->id);
    status = uc_sql_step(&query, &row, err);
    if (status == UC_OK && row) {
        counted.problems = uc_sql_int(&query, 0, 0, INT64_MAX);
        counted.measurements = uc_sql_int(&query, 1, 0, INT64_MAX);
        counted.usable = uc_sql_int(&query, 2, 0, INT64_MAX);
        counted.first_at = uc_sql_int(&query, 3, 0, INT64_MAX);
        counted.last_at = uc_sql_int(&query, 4, 0, INT64_MAX);
        status = uc_sql_row_check(&query, err);
    }
    uc_sql_end(&query);
    if (status == UC_OK)
        *environment = counted;
    return status;
}

/* ------------------------------------------------------------- problems */

static enum uc_status read_problem(struct uc_sql_query *query,
                                   struct uc_problem *problem,
                                   struct uc_error *err)
{
    char text[UC_PROBLEM_TEXT];
    struct uc_error cause;
    enum uc_status status;

    uc_sql_text(query, 0, text, sizeof text);
    status = uc_sql_row_check(query, err);
    if (status == UC_OK && uc_problem_parse(text, problem, &cause) != UC_OK)
        status = uc_sql_malformed(query->sql, err, "%.224s", cause.text);
    return status;
}

enum uc_status uc_profile_problems(struct uc_profile *profile, int64_t env,
                                   struct uc_problem **problems, size_t *count,
                                   struct uc_error *err)
{
    void *list = NULL;
    size_t used = 0;
    struct uc_sql_query query = { 0 };
    enum uc_status status;
    bool row;

    status = uc_sql_query(profile->sql,
                          profile->sql->version < UC_PROFILE_GRAPH_SINCE
                              ? UC_PROFILE_PROBLEMS_1
                              : UC_PROFILE_PROBLEMS,
                          "reading problems", &query, err);
    if (status == UC_OK)
        uc_sql_bind_int(&query, 1, env);
    while (status == UC_OK &&
           (status = uc_sql_step(&query, &row, err)) == UC_OK && row) {
        struct uc_problem *problem =
            uc_array_append(&list, &used, sizeof *problem);

        status = problem == NULL ? uc_no_memory(err)
                                 : read_problem(&query, problem, err);
    }
    uc_sql_end(&query);
    if (status != UC_OK) {
        free(list);
        return status;
    }
    *problems = list;
    *count = used;
    return UC_OK;
}

/* ------------------------------------------------ outcomes and kernels */

enum uc_status uc_profile_outcomes(struct uc_profile *profile, int64_t env,
                                   int64_t counts[UC_OUTCOMES],
                                   struct uc_error *err)
{
    int64_t sums[UC_OUTCOMES] = { 0 };
    struct uc_sql_query query = { 0 };
    enum uc_status status;
    bool row;

    status = uc_sql_query(profile->sql, UC_PROFILE_OUTCOMES,
                          "counting outcomes", &query, err);
    if (status == UC_OK)
        uc_sql_bind_int(&query, 1, env);
    while (status == UC_OK &&
           (status = uc_sql_step(&query, &row, err)) == UC_OK && row) {
        char name[32];
        enum uc_outcome outcome = UC_OUTCOMES;
        int64_t rows;

        uc_sql_text(&query, 0, name, sizeof name);
        rows = uc_sql_int(&query, 1, 0, INT64_MAX);
        status = uc_sql_row_check(&query, err);
        if (status == UC_OK && !uc_outcome_parse(name, &outcome))
            status = uc_sql_malformed(profile->sql, err,
                                      "unknown outcome \"%s\"", name);
        if (status == UC_OK)
            sums[outcome] += rows;
    }
    uc_sql_end(&query);
    if (status == UC_OK)
        memcpy(counts, sums, sizeof sums);
    return status;
}

static enum uc_status read_compiled(struct uc_profile *profile, int64_t env,
                                    struct uc_profile_kernels *kernels,
                                    struct uc_error *err)
{
    struct uc_sql_query query = { 0 };
    enum uc_status status;
    bool row = false;

    status = uc_sql_query(profile->sql, UC_PROFILE_COMPILED,
                          "reading build times", &query, err);
    if (status != UC_OK)
        return status;
    uc_sql_bind_int(&query, 1, env);
    uc_sql_bind_int(&query, 2, UC_NOTE_RUNTIME_COMPILED);
    status = uc_sql_step(&query, &row, err);
    if (status == UC_OK && row) {
        kernels->compiled = uc_sql_int(&query, 0, 0, INT64_MAX);
        kernels->compiled_mean_ns = uc_sql_int(&query, 1, 0, INT64_MAX);
        kernels->compiled_most_ns = uc_sql_int(&query, 2, 0, INT64_MAX);
        status = uc_sql_row_check(&query, err);
    }
    uc_sql_end(&query);
    return status;
}

enum uc_status uc_profile_kernels(struct uc_profile *profile, int64_t env,
                                  struct uc_profile_kernels *kernels,
                                  struct uc_error *err)
{
    struct uc_profile_kernels found = { .rows = { 0 } };
    struct uc_sql_query query = { 0 };
    enum uc_status status;
    bool row;

    status = uc_sql_query(profile->sql, UC_PROFILE_APIS, "counting kernels",
                          &query, err);
    if (status == UC_OK)
        uc_sql_bind_int(&query, 1, env);
    while (status == UC_OK &&
           (status = uc_sql_step(&query, &row, err)) == UC_OK && row) {
        bool graph = uc_sql_int(&query, 0, 0, 1) == 1;

        found.rows[graph ? UC_API_GRAPH : UC_API_LEGACY] +=
            uc_sql_int(&query, 1, 0, INT64_MAX);
        status = uc_sql_row_check(&query, err);
    }
    uc_sql_end(&query);
    if (status == UC_OK && profile->sql->version >= UC_PROFILE_GRAPH_SINCE)
        status = read_compiled(profile, env, &found, err);
    if (status == UC_OK)
        *kernels = found;
    return status;
}
