#include "config.h"

#include "planner/dump.h"

#include "planner/dump_records.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- records */

#define AT(type, member) offsetof(struct type, member)
#define TEXT(name, type, member)                        \
    {                                                   \
        name, UC_RECORD_TEXT, AT(type, member),         \
            sizeof((struct type *)0)->member, UC_NEEDED \
    }
/* clang-format off: a field a line */
#define ENVIRONMENT(type, at)                                                  \
    TEXT("device", type, at device.name),                                      \
        { "compute_capability", UC_RECORD_INT,                                 \
          AT(type, at device.compute_capability), 0, UC_NEEDED },              \
        { "multiprocessors", UC_RECORD_INT,                                    \
          AT(type, at device.multiprocessors), 0, UC_NEEDED },                 \
        { "memory_bytes", UC_RECORD_NUMBER, AT(type, at device.memory_bytes),  \
          0, UC_NEEDED },                                                      \
        { "cudnn", UC_RECORD_INT, AT(type, at versions.cudnn), 0, UC_NEEDED }, \
        { "cuda", UC_RECORD_INT, AT(type, at versions.cuda), 0, UC_NEEDED },   \
        TEXT("driver", type, at versions.driver)

static const struct uc_record_field head_fields[] = {
    TEXT("kind", uc_dump_head, kind),
    { "version", UC_RECORD_INT, AT(uc_dump_head, version), 0, UC_NEEDED },
    { 0 },
};

static const struct uc_record_field environment_fields[] = {
    ENVIRONMENT(uc_environment, ),
    { 0 },
};

#define ROW(member) AT(uc_dump_row, measurement.member)
static const struct uc_record_field measurement_fields[] = {
    { "problem", UC_RECORD_PROBLEM, AT(uc_dump_row, problem), 0, UC_NEEDED },
    { "micro_batch", UC_RECORD_NUMBER, ROW(micro_batch), 0, UC_NEEDED },
    { "accumulate", UC_RECORD_FLAG, ROW(accumulate), 0, UC_NEEDED },
    { "kernel", UC_RECORD_KERNEL, ROW(kernel), 0, UC_NEEDED },
    { "outcome", UC_RECORD_OUTCOME, ROW(outcome), 0, UC_NEEDED },
    { "reason", UC_RECORD_TEXT, ROW(reason), UC_REASON_TEXT, UC_OPTIONAL },
    { "notes", UC_RECORD_INT, ROW(notes), 0, UC_NEEDED },
    { "workspace_bytes", UC_RECORD_NUMBER, ROW(workspace_bytes), 0, UC_NEEDED },
    { "time_ns", UC_RECORD_NUMBER, ROW(time_ns), 0, UC_NEEDED },
    { "spread_ns", UC_RECORD_NUMBER, ROW(spread_ns), 0, UC_NEEDED },
    { "host_ns", UC_RECORD_NUMBER, ROW(host_ns), 0, UC_NEEDED },
    { "error", UC_RECORD_REAL, ROW(error), 0, UC_OPTIONAL },
    { "calls", UC_RECORD_INT, ROW(calls), 0, UC_NEEDED },
    { "samples_ns", UC_RECORD_SAMPLES, AT(uc_dump_row, measurement), 0,
      UC_OPTIONAL },
    { "measured_at", UC_RECORD_DATE, ROW(measured_at), 0, UC_NEEDED },
    { "build_ns", UC_RECORD_NUMBER, ROW(build_ns), 0, UC_NEEDED },
    { 0 },
};

#define LOOK(member) AT(uc_dump_look, search.member)
static const struct uc_record_field search_fields[] = {
    { "problem", UC_RECORD_PROBLEM, AT(uc_dump_look, problem), 0, UC_NEEDED },
    { "api", UC_RECORD_API, LOOK(api), 0, UC_NEEDED },
    { "micro_batch", UC_RECORD_NUMBER, LOOK(micro_batch), 0, UC_NEEDED },
    { "accumulate", UC_RECORD_FLAG, LOOK(accumulate), 0, UC_NEEDED },
    { "found", UC_RECORD_NUMBER, LOOK(found), 0, UC_NEEDED },
    { "pruned", UC_RECORD_NUMBER, LOOK(pruned), 0, UC_NEEDED },
    { "left_out", UC_RECORD_INT, LOOK(left_out), 0, UC_NEEDED },
    { "searched_at", UC_RECORD_DATE, LOOK(searched_at), 0, UC_NEEDED },
    { "tuned", UC_RECORD_FLAG, LOOK(tuned), 0, UC_ADDED },
    { "tune_left_out", UC_RECORD_INT, LOOK(tune_left_out), 0, UC_ADDED },
    { 0 },
};

#define CHOICE(member) AT(uc_plan, choices.member)
static const struct uc_record_field plan_fields[] = {
    TEXT("network", uc_plan, network),
    ENVIRONMENT(uc_plan, environment.),
    { "mode", UC_RECORD_MODE, AT(uc_plan, mode), 0, UC_NEEDED },
    { "limit_bytes", UC_RECORD_NUMBER, AT(uc_plan, limit_bytes), 0, UC_NEEDED },
    TEXT("policy", uc_plan, policy),
    { "deterministic", UC_RECORD_FLAG, CHOICE(deterministic), 0, UC_NEEDED },
    { "created_at", UC_RECORD_DATE, AT(uc_plan, created_at), 0, UC_NEEDED },
    TEXT("tool", uc_plan, tool),
    { "apis", UC_RECORD_INT, CHOICE(apis), 0, UC_ADDED },
    { "allow", UC_RECORD_INT, CHOICE(allow), 0, UC_ADDED },
    { "no_runtime_compiled", UC_RECORD_FLAG, CHOICE(no_runtime_compiled), 0,
      UC_ADDED },
    { "min_gain", UC_RECORD_REAL, CHOICE(min_gain), 0, UC_ADDED },
    { "max_pieces", UC_RECORD_NUMBER, CHOICE(max_pieces), 0, UC_ADDED },
    { 0 },
};

#define OPERATION(member) AT(uc_plan_operation, member)
static const struct uc_record_field operation_fields[] = {
    TEXT("layer", uc_plan_operation, layer),
    { "batch", UC_RECORD_NUMBER, OPERATION(batch), 0, UC_NEEDED },
    { "repeat", UC_RECORD_NUMBER, OPERATION(repeat), 0, UC_NEEDED },
    { "problem", UC_RECORD_PROBLEM, OPERATION(problem), 0, UC_NEEDED },
    { "workspace_bytes", UC_RECORD_NUMBER, OPERATION(workspace_bytes), 0,
      UC_NEEDED },
    { "time_ns", UC_RECORD_NUMBER, OPERATION(time_ns), 0, UC_NEEDED },
    { "undivided_ns", UC_RECORD_NUMBER, OPERATION(undivided_ns), 0,
      UC_OPTIONAL },
    { "unlimited_ns", UC_RECORD_NUMBER, OPERATION(unlimited_ns), 0,
      UC_OPTIONAL },
    { 0 },
};

#define PIECE(member) AT(uc_plan_piece, member)
static const struct uc_record_field micro_batch_fields[] = {
    { "size", UC_RECORD_NUMBER, PIECE(size), 0, UC_NEEDED },
    { "count", UC_RECORD_NUMBER, PIECE(count), 0, UC_NEEDED },
    { "accumulate", UC_RECORD_FLAG, PIECE(accumulate), 0, UC_NEEDED },
    { "kernel", UC_RECORD_KERNEL, PIECE(kernel), 0, UC_NEEDED },
    { "workspace_bytes", UC_RECORD_NUMBER, PIECE(workspace_bytes), 0,
      UC_NEEDED },
    { "time_ns", UC_RECORD_NUMBER, PIECE(time_ns), 0, UC_NEEDED },
    { "notes", UC_RECORD_INT, PIECE(notes), 0, UC_NEEDED },
    { "build_ns", UC_RECORD_NUMBER, PIECE(build_ns), 0, UC_NEEDED },
    { 0 },
};
/* clang-format on */

static const struct uc_record_field no_fields[] = { { 0 } };

const struct uc_record uc_dump_head = { "ucudnn-dump", head_fields };
const struct uc_record uc_dump_environment = { "environment",
                                               environment_fields };
const struct uc_record uc_dump_measurement = { "measurement",
                                               measurement_fields };
const struct uc_record uc_dump_search = { "search", search_fields };
const struct uc_record uc_dump_plan = { "plan", plan_fields };
const struct uc_record uc_dump_operation = { "operation", operation_fields };
const struct uc_record uc_dump_micro_batch = { "micro-batch",
                                               micro_batch_fields };
const struct uc_record uc_dump_end = { "end", no_fields };

static void print_head(FILE *out, const char *kind)
{
    struct uc_dump_head head = { .version = UC_DUMP_VERSION };

    strcpy(head.kind, kind);
    uc_record_print(out, &uc_dump_head, &head, UC_FORWARD);
}

static void print_end(FILE *out)
{
    uc_record_print(out, &uc_dump_end, NULL, UC_FORWARD);
}

/* ------------------------------------------------------------- profiles */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int uc_environment_order(const struct uc_environment *a,
                         const struct uc_environment *b)
{
    const struct uc_device *d = &a->device, *e = &b->device;
    const struct uc_versions *v = &a->versions, *w = &b->versions;
    int order = strcmp(d->name, e->name);

    if (order == 0)
        order = compare(d->compute_capability, e->compute_capability);
    if (order == 0)
        order = compare(d->multiprocessors, e->multiprocessors);
    if (order == 0)
        order = compare(d->memory_bytes, e->memory_bytes);
    if (order == 0)
        order = compare(v->cudnn, w->cudnn);
    if (order == 0)
        order = compare(v->cuda, w->cuda);
    return order != 0 ? order : strcmp(v->driver, w->driver);
}

static int by_environment(const void *left, const void *right)
{
    const struct uc_profile_environment *a = left, *b = right;

    return uc_environment_order(&a->environment, &b->environment);
}

static enum uc_status dump_searches(FILE *out, struct uc_profile *profile,
                                    int64_t env,
                                    const struct uc_problem *problem,
                                    struct uc_error *err)
{
    struct uc_dump_look look = { .problem = *problem };
    struct uc_search *list = NULL;
    size_t count;
    enum uc_status status =
        uc_profile_load_searches(profile, env, problem, &list, &count, err);

    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        look.search = list[i];
        uc_record_print(out, &uc_dump_search, &look, problem->operation);
    }
    free(list);
    return UC_OK;
}

static enum uc_status dump_problem(FILE *out, struct uc_profile *profile,
                                   int64_t env,
                                   const struct uc_problem *problem,
                                   struct uc_error *err)
{
    struct uc_dump_row row = { .problem = *problem };
    struct uc_measurement *rows = NULL;
    size_t count;
    enum uc_status status =
        uc_profile_load(profile, env, problem, &rows, &count, err);

    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        row.measurement = rows[i];
        uc_record_print(out, &uc_dump_measurement, &row, problem->operation);
    }
    free(rows);
    return dump_searches(out, profile, env, problem, err);
}

static enum uc_status dump_environment(
    FILE *out, struct uc_profile *profile,
    const struct uc_profile_environment *environment, struct uc_error *err)
{
    struct uc_problem *problems = NULL;
    size_t count;
    enum uc_status status =
        uc_profile_problems(profile, environment->id, &problems, &count, err);

    if (status != UC_OK)
        return status;
    uc_record_print(out, &uc_dump_environment, &environment->environment,
                    UC_FORWARD);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = dump_problem(out, profile, environment->id, &problems[i], err);
    free(problems);
    return status;
}

enum uc_status uc_dump_profile(FILE *out, struct uc_profile *profile,
                               struct uc_error *err)
{
    struct uc_profile_environment *list = NULL;
    size_t count;
    enum uc_status status =
        uc_profile_environments(profile, &list, &count, err);

    if (status != UC_OK)
        return status;
    if (count > 0)
        qsort(list, count, sizeof *list, by_environment);
    print_head(out, "profile");
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = dump_environment(out, profile, &list[i], err);
    if (status == UC_OK)
        print_end(out);
    free(list);
    return status;
}

/* ---------------------------------------------------------------- plans */

void uc_dump_plans(FILE *out, const struct uc_plan *plans, size_t count)
{
    print_head(out, "plan");
    for (size_t i = 0; i < count; i++) {
        uc_record_print(out, &uc_dump_plan, &plans[i], UC_FORWARD);
        for (size_t j = 0; j < plans[i].operation_count; j++) {
            const struct uc_plan_operation *op = &plans[i].operations[j];

            uc_record_print(out, &uc_dump_operation, op, op->problem.operation);
            for (size_t k = 0; k < op->piece_count; k++)
                uc_record_print(out, &uc_dump_micro_batch, &op->pieces[k],
                                op->problem.operation);
        }
    }
    print_end(out);
}
