#include "config.h"

#include "db/profile.h"

#include "common/array.h"
#include "common/text.h"
#include "db/profile_impl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] =
#include "db/profile.inc"
    ;
static const char from_1[] =
    "PRAGMA user_version = 2;"
    "CREATE TABLE search ("
    " environment INTEGER NOT NULL REFERENCES environment,"
    " problem INTEGER NOT NULL REFERENCES problem,"
    " micro_batch INTEGER NOT NULL CHECK (micro_batch >= 1),"
    " accumulate INTEGER NOT NULL CHECK (accumulate IN (0, 1)),"
    " api TEXT NOT NULL CHECK (api IN ('legacy', 'graph')),"
    " found INTEGER NOT NULL CHECK (found >= 0),"
    " pruned INTEGER NOT NULL CHECK (pruned BETWEEN 0 AND found),"
    " left_out INTEGER NOT NULL CHECK (left_out >= 0),"
    " searched_at INTEGER NOT NULL,"
    " PRIMARY KEY (environment, problem, micro_batch, accumulate, api)"
    ") STRICT, WITHOUT ROWID;"
    "ALTER TABLE measurement ADD COLUMN"
    " build_ns INTEGER NOT NULL DEFAULT 0 CHECK (build_ns >= 0);"
    "DROP VIEW readable;"
    "CREATE VIEW readable AS\n"
    "SELECT environment.device AS device, environment.cudnn AS cudnn,\n"
    "    problem.text AS problem, micro_batch, accumulate,\n"
    "    kernel.text AS kernel, outcome.text AS outcome, reason.text AS "
    "reason,\n"
    "    notes, workspace_bytes, time_ns, spread_ns, host_ns, error, calls,\n"
    "    datetime(measured_at, 'unixepoch') AS measured_at, build_ns\n"
    "FROM measurement\n"
    "JOIN environment ON environment.id = measurement.environment\n"
    "JOIN problem ON problem.id = measurement.problem\n"
    "JOIN kernel ON kernel.id = measurement.kernel\n"
    "JOIN outcome ON outcome.id = measurement.outcome\n"
    "LEFT JOIN reason ON reason.id = measurement.reason;";

static const char from_2[] =
    "PRAGMA user_version = 3;"
    "ALTER TABLE search ADD COLUMN"
    " tuned INTEGER NOT NULL DEFAULT 0 CHECK (tuned IN (0, 1));"
    "ALTER TABLE search ADD COLUMN"
    " tune_left_out INTEGER NOT NULL DEFAULT 0 CHECK (tune_left_out >= 0);";

static const char *const migrations[] = { schema, from_1, from_2 };

#define SAME_ENVIRONMENT                                               \
    "device = ?1 AND compute_capability = ?2 AND multiprocessors = ?3" \
    " AND memory_bytes = ?4 AND cudnn = ?5 AND cuda = ?6 AND driver = ?7"

/** Rows of one problem; `build` is where their build time stands. */
#define LOAD(build)                                                            \
    "SELECT micro_batch, accumulate, kernel.text AS kernel,"                   \
    " outcome.text AS outcome, measurement.reason IS NOT NULL,"                \
    " reason.text AS reason, notes, workspace_bytes, time_ns, spread_ns,"      \
    " host_ns, error, calls, samples, measured_at, " build " FROM measurement" \
    " LEFT JOIN kernel ON kernel.id = measurement.kernel"                      \
    " LEFT JOIN outcome ON outcome.id = measurement.outcome"                   \
    " LEFT JOIN reason ON reason.id = measurement.reason"                      \
    " WHERE environment = ?1 AND problem = ?2"

/** Searches of one problem; `tuned` is where what tuning did stands. */
#define LOAD_SEARCHES(tuned)                               \
    "SELECT api, micro_batch, accumulate, found, pruned,"  \
    " searched_at, left_out, " tuned                       \
    " FROM search WHERE environment = ?1 AND problem = ?2" \
    " ORDER BY api DESC, micro_batch, accumulate"

static const char *const statements[] = {
    [UC_PROFILE_FIND_ENVIRONMENT] =
        "SELECT id FROM environment WHERE " SAME_ENVIRONMENT,
    [UC_PROFILE_ADD_ENVIRONMENT] =
        "INSERT INTO environment (" UC_SQL_ENVIRONMENT ")"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [UC_PROFILE_ENVIRONMENTS] =
        "SELECT id, " UC_SQL_ENVIRONMENT " FROM environment ORDER BY id",
    [UC_PROFILE_COUNT] =
        "SELECT count(DISTINCT problem), count(*),"
        " count(*) FILTER (WHERE outcome ="
        " (SELECT id FROM outcome WHERE text = 'measured')),"
        " coalesce(min(measured_at), 0), coalesce(max(measured_at), 0)"
        " FROM measurement WHERE environment = ?1",
    [UC_PROFILE_FIND_PROBLEM] = "SELECT id FROM problem WHERE text = ?1",
    [UC_PROFILE_ADD_PROBLEM] = "INSERT INTO problem (text) VALUES (?1)",
    [UC_PROFILE_FIND_KERNEL] = "SELECT id FROM kernel WHERE text = ?1",
    [UC_PROFILE_ADD_KERNEL] = "INSERT INTO kernel (text) VALUES (?1)",
    [UC_PROFILE_FIND_OUTCOME] = "SELECT id FROM outcome WHERE text = ?1",
    [UC_PROFILE_ADD_OUTCOME] = "INSERT INTO outcome (text) VALUES (?1)",
    [UC_PROFILE_FIND_REASON] = "SELECT id FROM reason WHERE text = ?1",
    [UC_PROFILE_ADD_REASON] = "INSERT INTO reason (text) VALUES (?1)",
    [UC_PROFILE_STORE] =
        "INSERT OR REPLACE INTO measurement (environment, problem,"
        " micro_batch, accumulate, kernel, outcome, reason, notes,"
        " workspace_bytes, time_ns, spread_ns, host_ns, error, calls,"
        " samples, measured_at, build_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6,"
        " ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    [UC_PROFILE_LOAD] = LOAD("build_ns"),
    [UC_PROFILE_LOAD_1] = LOAD("0"),
    [UC_PROFILE_STORE_SEARCH] =
        "INSERT OR REPLACE INTO search (environment, problem, micro_batch,"
        " accumulate, api, found, pruned, searched_at, left_out, tuned,"
        " tune_left_out)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [UC_PROFILE_LOAD_SEARCHES] = LOAD_SEARCHES("tuned, tune_left_out"),
    [UC_PROFILE_LOAD_SEARCHES_2] = LOAD_SEARCHES("0, 0"),
    [UC_PROFILE_PROBLEMS] =
        "SELECT text FROM problem WHERE EXISTS (SELECT 1 FROM measurement"
        " WHERE environment = ?1 AND problem = problem.id)"
        " OR EXISTS (SELECT 1 FROM search"
        " WHERE environment = ?1 AND problem = problem.id) ORDER BY text",
    [UC_PROFILE_PROBLEMS_1] =
        "SELECT text FROM problem WHERE EXISTS (SELECT 1 FROM measurement"
        " WHERE environment = ?1 AND problem = problem.id) ORDER BY text",
    [UC_PROFILE_OUTCOMES] =
        "SELECT outcome.text AS outcome, count(*) FROM measurement"
        " LEFT JOIN outcome ON outcome.id = measurement.outcome"
        " WHERE environment = ?1 GROUP BY measurement.outcome",
    [UC_PROFILE_APIS] =
        "SELECT kernel.text GLOB 'eng*' AS graph, count(*) FROM measurement"
        " LEFT JOIN kernel ON kernel.id = measurement.kernel"
        " WHERE environment = ?1 GROUP BY graph",
    [UC_PROFILE_COMPILED] =
        "SELECT count(*), coalesce(CAST(avg(build_ns) AS INTEGER), 0),"
        " coalesce(max(build_ns), 0) FROM measurement WHERE environment = ?1"
        " AND notes & ?2 AND build_ns > 0",
};

static const struct uc_sql_format format = {
    .application_id = UC_SQL_PROFILE_ID,
    .name = "profile",
    .migrations = migrations,
    .version = sizeof migrations / sizeof *migrations,
    .least_read = 1, /* searches and build times are missing */
    .statements = statements,
    .statement_count = UC_PROFILE_STATEMENTS,
};

/* ------------------------------------------------------------ outcomes */

static const char *const outcome_names[] = {
    [UC_MEASURED] = "measured",
    [UC_CUT_OFF] = "cut-off",
    [UC_UNSUPPORTED] = "unsupported",
    [UC_TOO_LARGE] = "too-large",
    [UC_FAILED] = "failed",
    [UC_WRONG] = "wrong",
    [UC_OUT_OF_BOUNDS] = "out-of-bounds",
    [UC_CRASHED] = "crashed",
    [UC_TIMED_OUT] = "timed-out",
};

const char *uc_outcome_name(enum uc_outcome outcome)
{
    return outcome_names[outcome];
}

bool uc_outcome_parse(const char *name, enum uc_outcome *outcome)
{
    for (int i = 0; i < UC_OUTCOMES; i++) {
        if (strcmp(name, outcome_names[i]) == 0) {
            *outcome = (enum uc_outcome)i;
            return true;
        }
    }
    return false;
}

/* -------------------------------------------------------------- handle */

static const enum uc_sql_mode sql_modes[] = {
    [UC_PROFILE_READ] = UC_SQL_READ,
    [UC_PROFILE_WRITE] = UC_SQL_WRITE,
    [UC_PROFILE_PRIVATE] = UC_SQL_PRIVATE,
    [UC_PROFILE_HOLD] = UC_SQL_HOLD,
};

enum uc_status uc_profile_open(const char *path, enum uc_profile_mode mode,
                               struct uc_profile **out, struct uc_error *err)
{
    struct uc_profile *profile = calloc(1, sizeof *profile);
    enum uc_status status;

    if (profile == NULL)
        return uc_no_memory(err);
    profile->mode = mode;
    status = uc_sql_open(&format, path, sql_modes[mode], &profile->sql, err);
    /* A row of what is not there would be of whatever is added next. */
    if (status == UC_OK && mode == UC_PROFILE_WRITE)
        status = uc_profile_check_references(profile, err);
    if (status != UC_OK) {
        uc_profile_close(profile);
        return status;
    }
    *out = profile;
    return UC_OK;
}

void uc_profile_close(struct uc_profile *profile)
{
    if (profile == NULL)
        return;
    uc_sql_close(profile->sql);
    free(profile);
}

enum uc_status uc_profile_check_references(struct uc_profile *profile,
                                           struct uc_error *err)
{
    return uc_sql_check_references(profile->sql, err);
}

enum uc_status uc_profile_vacuum(struct uc_profile *profile,
                                 struct uc_error *err)
{
    return uc_sql_vacuum(profile->sql, err);
}

enum uc_status uc_profile_check_writable(const struct uc_profile *profile,
                                         struct uc_error *err)
{
    if (profile->mode == UC_PROFILE_WRITE ||
        profile->mode == UC_PROFILE_PRIVATE)
        return UC_OK;
    return uc_fail(err, UC_EINTERNAL, "%.256s: was opened for reading",
                   profile->sql->path);
}

/* -------------------------------------------------------- environments */

/** Run a lookup whose parameters are bound: *id is -1 without a row. */
static enum uc_status found_id(struct uc_sql_query *query, int64_t *id,
                               struct uc_error *err)
{
    enum uc_status status;
    int64_t value = -1;
    bool row;

    status = uc_sql_step(query, &row, err);
    if (status == UC_OK && row) {
        value = uc_sql_int(query, 0, 0, INT64_MAX);
        status = uc_sql_row_check(query, err);
    }
    if (status == UC_OK)
        *id = value;
    uc_sql_end(query);
    return status;
}

enum uc_status uc_profile_find_text(struct uc_profile *profile,
                                    enum uc_profile_statement find,
                                    const char *text, int64_t *id,
                                    struct uc_error *err)
{
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(profile->sql, find, "looking up a name", &query, err);
    if (status != UC_OK)
        return status;
    uc_sql_bind_text(&query, 1, text);
    return found_id(&query, id, err);
}

enum uc_status uc_profile_text_id(struct uc_profile *profile,
                                  enum uc_profile_statement find,
                                  enum uc_profile_statement add,
                                  const char *text, int64_t *id,
                                  struct uc_error *err)
{
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_profile_find_text(profile, find, text, id, err);
    if (status != UC_OK || *id >= 0)
        return status;
    status = uc_sql_query(profile->sql, add, "adding a name", &query, err);
    if (status != UC_OK)
        return status;
    uc_sql_bind_text(&query, 1, text);
    status = uc_sql_finish(&query, err);
    if (status == UC_OK)
        *id = sqlite3_last_insert_rowid(profile->sql->db);
    return status;
}

static enum uc_status find_environment(struct uc_profile *profile,
                                       const struct uc_environment *env,
                                       int64_t *id, struct uc_error *err)
{
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(profile->sql, UC_PROFILE_FIND_ENVIRONMENT,
                          "looking up an environment", &query, err);
    if (status != UC_OK)
        return status;
    uc_sql_bind_environment(&query, 1, env);
    return found_id(&query, id, err);
}

/** In a transaction: another process may have added it since. */
static enum uc_status insert_environment(struct uc_profile *profile,
                                         const struct uc_environment *env,
                                         int64_t *id, struct uc_error *err)
{
    struct uc_sql_query query;
    enum uc_status status;

    status = find_environment(profile, env, id, err);
    if (status != UC_OK || *id >= 0)
        return status;
    status = uc_sql_query(profile->sql, UC_PROFILE_ADD_ENVIRONMENT,
                          "adding an environment", &query, err);
    if (status != UC_OK)
        return status;
    uc_sql_bind_environment(&query, 1, env);
    status = uc_sql_finish(&query, err);
    if (status == UC_OK)
        *id = sqlite3_last_insert_rowid(profile->sql->db);
    return status;
}

enum uc_status uc_profile_add_environment(struct uc_profile *profile,
                                          const struct uc_environment *env,
                                          int64_t *id, struct uc_error *err)
{
    int64_t found;
    enum uc_status status;

    if (!uc_text_is_line(env->device.name, strlen(env->device.name)) ||
        !uc_text_is_line(env->versions.driver, strlen(env->versions.driver)))
        return uc_fail(err, UC_EINTERNAL,
                       "the device's or driver's name is no line of UTF-8");
    status = find_environment(profile, env, &found, err);
    if (status == UC_OK && found < 0 && profile->mode != UC_PROFILE_READ) {
        status = uc_sql_begin(profile->sql, err);
        if (status == UC_OK)
            status = insert_environment(profile, env, &found, err);
        if (status == UC_OK)
            status = uc_sql_commit(profile->sql, err);
        if (status != UC_OK)
            uc_sql_rollback(profile->sql);
    }
    if (status == UC_OK)
        *id = found;
    return status;
}

enum uc_status uc_profile_environments(struct uc_profile *profile,
                                       struct uc_profile_environment **list,
                                       size_t *count, struct uc_error *err)
{
    void *entries = NULL;
    size_t used = 0;
    struct uc_sql_query query = { 0 };
    enum uc_status status;
    bool row;

    status = uc_sql_query(profile->sql, UC_PROFILE_ENVIRONMENTS,
                          "reading environments", &query, err);
    while (status == UC_OK &&
           (status = uc_sql_step(&query, &row, err)) == UC_OK && row) {
        struct uc_profile_environment *entry =
            uc_array_append(&entries, &used, sizeof *entry);

        if (entry == NULL) {
            status = uc_no_memory(err);
            break;
        }
        entry->id = uc_sql_int(&query, 0, 0, INT64_MAX);
        uc_sql_environment(&query, 1, &entry->environment);
        status = uc_sql_row_check(&query, err);
    }
    uc_sql_end(&query);
    if (status != UC_OK) {
        free(entries);
        return status;
    }
    *list = entries;
    *count = used;
    return UC_OK;
}
