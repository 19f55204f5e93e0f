#include "config.h"

#include "db/profile_impl.h"

#include "common/array.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- storing */

static enum uc_status check_search(const struct uc_search *search,
                                   struct uc_error *err)
{
    const char *fault = NULL;

    if ((int)search->api < 0 || search->api >= UC_APIS)
        fault = "no such API";
    else if (search->micro_batch < 1 ||
             search->micro_batch > UC_PROFILE_MOST_MICRO_BATCH)
        fault = "micro-batch out of range";
    else if (search->found < 0 || search->pruned < 0 ||
             search->pruned > search->found)
        fault = "number of kernels out of range";
    else if (search->left_out > INT_MAX || search->tune_left_out > INT_MAX)
        fault = "notes out of range";
    else if (search->searched_at < 0 ||
             search->searched_at > UC_SQL_LAST_SECOND)
        fault = "date out of range";
    if (fault != NULL)
        return uc_fail(err, UC_EINTERNAL, "cannot store a search: %s", fault);
    return UC_OK;
}

static enum uc_status insert(struct uc_profile *profile, int64_t env,
                             int64_t problem, const struct uc_search *search,
                             struct uc_error *err)
{
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(profile->sql, UC_PROFILE_STORE_SEARCH,
                          "storing a search", &query, err);
    if (status != UC_OK)
        return status;
    uc_sql_bind_int(&query, 1, env);
    uc_sql_bind_int(&query, 2, problem);
    uc_sql_bind_int(&query, 3, search->micro_batch);
    uc_sql_bind_int(&query, 4, search->accumulate);
    uc_sql_bind_text(&query, 5, uc_api_name(search->api));
    uc_sql_bind_int(&query, 6, search->found);
    uc_sql_bind_int(&query, 7, search->pruned);
    uc_sql_bind_int(&query, 8, search->searched_at);
    uc_sql_bind_int(&query, 9, search->left_out);
    uc_sql_bind_int(&query, 10, search->tuned);
    uc_sql_bind_int(&query, 11, search->tune_left_out);
    return uc_sql_finish(&query, err);
}

enum uc_status uc_profile_store_search(struct uc_profile *profile, int64_t env,
                                       const struct uc_problem *problem,
                                       const struct uc_search *search,
                                       struct uc_error *err)
{
    char text[UC_PROBLEM_TEXT];
    int64_t id = -1;
    enum uc_status status = uc_profile_check_writable(profile, err);

    if (status == UC_OK)
        status = uc_problem_check(problem, err);
    if (status == UC_OK)
        status = check_search(search, err);
    if (status != UC_OK)
        return status;
    uc_problem_print(problem, text);
    status = uc_sql_begin(profile->sql, err);
    if (status == UC_OK)
        status = uc_profile_text_id(profile, UC_PROFILE_FIND_PROBLEM,
                                    UC_PROFILE_ADD_PROBLEM, text, &id, err);
    if (status == UC_OK)
        status = insert(profile, env, id, search, err);
    if (status == UC_OK)
        status = uc_sql_commit(profile->sql, err);
    if (status != UC_OK)
        uc_sql_rollback(profile->sql);
    return status;
}

/* -------------------------------------------------------------- loading */

static enum uc_status read_search(struct uc_sql_query *query,
                                  struct uc_search *search,
                                  struct uc_error *err)
{
    char api[16];
    enum uc_status status;

    uc_sql_text(query, 0, api, sizeof api);
    search->micro_batch = uc_sql_int(query, 1, 1, UC_PROFILE_MOST_MICRO_BATCH);
    search->accumulate = uc_sql_int(query, 2, 0, 1) == 1;
    search->found = uc_sql_int(query, 3, 0, INT64_MAX);
    search->pruned = uc_sql_int(query, 4, 0, search->found);
    search->searched_at = uc_sql_int(query, 5, 0, UC_SQL_LAST_SECOND);
    search->left_out = (unsigned)uc_sql_int(query, 6, 0, INT_MAX);
    search->tuned = uc_sql_int(query, 7, 0, 1) == 1;
    search->tune_left_out = (unsigned)uc_sql_int(query, 8, 0, INT_MAX);
    status = uc_sql_row_check(query, err);
    if (status != UC_OK)
        return status;
    if (strcmp(api, uc_api_name(UC_API_LEGACY)) == 0)
        search->api = UC_API_LEGACY;
    else if (strcmp(api, uc_api_name(UC_API_GRAPH)) == 0)
        search->api = UC_API_GRAPH;
    else
        return uc_sql_malformed(query->sql, err, "unknown API \"%s\"", api);
    return UC_OK;
}

static enum uc_status load(struct uc_profile *profile, int64_t env,
                           int64_t problem, struct uc_search **searches,
                           size_t *count, struct uc_error *err)
{
    void *list = NULL;
    size_t used = 0;
    struct uc_sql_query query = { 0 };
    enum uc_status status;
    bool row;

    status = uc_sql_query(profile->sql,
                          profile->sql->version < UC_PROFILE_TUNED_SINCE
                              ? UC_PROFILE_LOAD_SEARCHES_2
                              : UC_PROFILE_LOAD_SEARCHES,
                          "reading searches", &query, err);
    if (status == UC_OK) {
        uc_sql_bind_int(&query, 1, env);
        uc_sql_bind_int(&query, 2, problem);
    }
    while (status == UC_OK &&
           (status = uc_sql_step(&query, &row, err)) == UC_OK && row) {
        struct uc_search *search =
            uc_array_append(&list, &used, sizeof *search);

        status = search == NULL ? uc_no_memory(err)
                                : read_search(&query, search, err);
    }
    uc_sql_end(&query);
    if (status != UC_OK) {
        free(list);
        return status;
    }
    *searches = list;
    *count = used;
    return UC_OK;
}

enum uc_status uc_profile_load_searches(struct uc_profile *profile, int64_t env,
                                        const struct uc_problem *problem,
                                        struct uc_search **list, size_t *count,
                                        struct uc_error *err)
{
    char text[UC_PROBLEM_TEXT];
    int64_t id = -1;
    enum uc_status status = UC_OK;

    if (profile->sql->version >= UC_PROFILE_GRAPH_SINCE) {
        uc_problem_print(problem, text);
        status = uc_profile_find_text(profile, UC_PROFILE_FIND_PROBLEM, text,
                                      &id, err);
    }
    if (status != UC_OK)
        return status;
    if (id < 0) {
        *list = NULL;
        *count = 0;
        return UC_OK;
    }
    return load(profile, env, id, list, count, err);
}

struct uc_search *uc_search_find(const struct uc_search *list, size_t count,
                                 enum uc_api api, int64_t micro_batch,
                                 bool accumulate)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].api == api && list[i].micro_batch == micro_batch &&
            list[i].accumulate == accumulate)
            return (struct uc_search *)&list[i];
    return NULL;
}
