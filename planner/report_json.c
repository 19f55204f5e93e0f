#include "config.h"

#include "planner/report_json.h"

#include "common/text.h"
#include "planner/coverage.h"
#include "planner/json_text.h"
#include "planner/report.h"

#include <stdlib.h>
#include <string.h>

/*
 * Every value is made by a function that returns NULL without memory, and
 * jansson's packing passes NULL on ("o" steals the reference it is given).
 */

json_t *uc_json_text(const char *text)
{
    json_t *value;
    char *copy;

    if (text == NULL || text[0] == '\0')
        return json_null();
    value = json_string(text);
    if (value != NULL)
        return value;
    copy = strdup(text);
    if (copy == NULL)
        return NULL;
    uc_text_make_line(copy);
    value = json_string(copy);
    free(copy);
    return value;
}

/** -1 is null. */
json_t *uc_json_optional(int64_t ns)
{
    return ns < 0 ? json_null() : json_integer(ns);
}

static json_t *date(int64_t seconds)
{
    char text[UC_REPORT_TEXT];

    uc_report_date(seconds, text);
    if (text[0] != '-')
        text[10] = 'T';
    return json_sprintf("%sZ", text);
}

/** Prints and drops it. Write errors are the FILE's owner's to find. */
enum uc_status uc_json_print(FILE *out, json_t *value, struct uc_error *err)
{
    char *text;

    if (value == NULL)
        return uc_no_memory(err);
    text = json_dumps(value, JSON_INDENT(2));
    json_decref(value);
    if (text == NULL)
        return uc_no_memory(err);
    uc_json_text_print(out, text, strlen(text));
    putc('\n', out);
    free(text);
    return UC_OK;
}

/** An array; `item` makes entry i. */
static json_t *array(size_t count, json_t *(*item)(const void *, size_t),
                     const void *context)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count && list != NULL; i++) {
        if (json_array_append_new(list, item(context, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

json_t *uc_json_device(const struct uc_device *d)
{
    return json_pack("{s:s, s:i, s:i, s:I}", "name", d->name,
                     "compute_capability", d->compute_capability,
                     "multiprocessors", d->multiprocessors, "memory_bytes",
                     (json_int_t)d->memory_bytes);
}

json_t *uc_json_versions(const struct uc_versions *v)
{
    return json_pack("{s:i, s:i, s:s}", "cudnn", v->cudnn, "cuda", v->cuda,
                     "driver", v->driver);
}

/** The names of the bits that are set, of `count`. */
static json_t *names(unsigned bits, int count, const char *(*name)(int))
{
    json_t *list = json_array();

    for (int i = 0; i < count && list != NULL; i++) {
        if ((bits & 1u << i) != 0 &&
            json_array_append_new(list, json_string(name(i))) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *notes(unsigned bits)
{
    return names(bits, UC_NOTES, uc_note_name);
}

static const char *api_name(int api)
{
    return uc_api_name((enum uc_api)api);
}

json_t *uc_json_choices(const char *policy,
                        const struct uc_plan_choices *choices)
{
    const unsigned apis =
        choices->apis != 0 ? choices->apis : (1u << UC_APIS) - 1;

    return json_pack("{s:s, s:b, s:o, s:o, s:b, s:f, s:o}", "policy", policy,
                     "deterministic", choices->deterministic ? 1 : 0, "apis",
                     names(apis, UC_APIS, api_name), "allow",
                     notes(choices->allow), "no_runtime_compiled",
                     choices->no_runtime_compiled ? 1 : 0, "min_gain",
                     choices->min_gain, "max_pieces",
                     choices->max_pieces > 0 ? json_integer(choices->max_pieces)
                                             : json_null());
}

json_t *uc_json_joined(json_t *object, json_t *more)
{
    if (object != NULL &&
        (more == NULL || json_object_update(object, more) != 0)) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return object;
}

/* ---------------------------------------------------------------- plans */

static json_t *micro_batch(const void *context, size_t i)
{
    const struct uc_plan_operation *op = context;
    const struct uc_plan_piece *piece = &op->pieces[i];
    char kernel[UC_KERNEL_TEXT];

    uc_kernel_print(&piece->kernel, op->problem.operation, kernel);
    return json_pack("{s:I, s:I, s:b, s:s, s:o, s:I, s:I, s:I}", "size",
                     (json_int_t)piece->size, "count", (json_int_t)piece->count,
                     "accumulate", piece->accumulate ? 1 : 0, "kernel", kernel,
                     "notes", notes(piece->notes), "build_ns",
                     (json_int_t)piece->build_ns, "workspace_bytes",
                     (json_int_t)piece->workspace_bytes, "time_ns",
                     (json_int_t)piece->time_ns);
}

static json_t *operation(const void *context, size_t i)
{
    const struct uc_plan *plan = context;
    const struct uc_plan_operation *op = &plan->operations[i];
    char problem[UC_PROBLEM_TEXT];

    uc_problem_print(&op->problem, problem);
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:s, s:I, s:I, s:o, s:o, s:o}", "layer",
        op->layer, "operation", uc_operation_name(op->problem.operation),
        "repeat", (json_int_t)op->repeat, "batch", (json_int_t)op->batch,
        "problem", problem, "workspace_bytes", (json_int_t)op->workspace_bytes,
        "time_ns", (json_int_t)op->time_ns, "undivided_ns",
        uc_json_optional(op->undivided_ns), "unlimited_ns",
        uc_json_optional(op->unlimited_ns), "micro_batches",
        array(op->piece_count, micro_batch, op));
}

/** The batch of all operations, or null when they differ. */
static json_t *common_batch(const struct uc_plan *plan)
{
    for (size_t i = 1; i < plan->operation_count; i++)
        if (plan->operations[i].batch != plan->operations[0].batch)
            return json_null();
    return plan->operation_count == 0 ? json_null()
                                      : json_integer(plan->operations[0].batch);
}

static json_t *plan_object(const void *context, size_t i)
{
    const struct uc_plan *plan = (const struct uc_plan *)context + i;
    struct uc_plan_totals totals;
    json_t *asked, *made;

    uc_plan_totals(plan, &totals);
    asked = json_pack("{s:s, s:o, s:o, s:o, s:s, s:I}", "network",
                      plan->network, "batch", common_batch(plan), "device",
                      uc_json_device(&plan->environment.device), "versions",
                      uc_json_versions(&plan->environment.versions), "mode",
                      plan->mode == UC_PLAN_WR ? "wr" : "wd", "limit_bytes",
                      (json_int_t)plan->limit_bytes);
    made = json_pack("{s:o, s:s, s:I, s:o, s:o, s:I, s:o}", "created_at",
                     date(plan->created_at), "tool", plan->tool, "predicted_ns",
                     (json_int_t)totals.predicted_ns, "undivided_ns",
                     uc_json_optional(totals.undivided_ns), "unlimited_ns",
                     uc_json_optional(totals.unlimited_ns), "workspace_bytes",
                     (json_int_t)totals.workspace_bytes, "operations",
                     array(plan->operation_count, operation, plan));
    asked =
        uc_json_joined(asked, uc_json_choices(plan->policy, &plan->choices));
    return uc_json_joined(asked, made);
}

enum uc_status uc_report_plans_json(FILE *out, const struct uc_plan *plans,
                                    size_t count, struct uc_error *err)
{
    return uc_json_print(out,
                         count == 1 ? plan_object(plans, 0)
                                    : array(count, plan_object, plans),
                         err);
}

/* --------------------------------------------------------------- sweeps */

static json_t *curve_point(const void *context, size_t i)
{
    const struct uc_curve_point *point =
        (const struct uc_curve_point *)context + i;

    return json_pack("{s:I, s:I, s:o}", "limit_bytes",
                     (json_int_t)point->limit_bytes, "predicted_ns",
                     (json_int_t)point->time_ns, "undivided_ns",
                     uc_json_optional(point->undivided_ns));
}

/** What holds at the limit asked for, or null. */
static json_t *asked_point(const struct uc_curve *curve, int64_t limit_bytes)
{
    struct uc_curve_point point;

    if (limit_bytes < 0)
        return json_null();
    point = *uc_curve_at(curve, limit_bytes);
    point.limit_bytes = limit_bytes;
    return curve_point(&point, 0);
}

static json_t *curve_object(const struct uc_report_sweep *sweep, int mode)
{
    const struct uc_curve *curve = &sweep->curves[mode];

    return json_pack("{s:I, s:o, s:o, s:o}", "best_ns",
                     (json_int_t)curve->best_ns, "knee",
                     curve_point(uc_curve_knee(curve, sweep->target), 0),
                     "asked", asked_point(curve, sweep->asked_bytes[mode]),
                     "points", array(curve->count, curve_point, curve->points));
}

enum uc_status uc_report_sweep_json(FILE *out,
                                    const struct uc_report_sweep *sweep,
                                    struct uc_error *err)
{
    json_t *asked =
        json_pack("{s:s, s:I, s:o, s:o}", "network", sweep->network, "batch",
                  (json_int_t)sweep->batch, "device",
                  uc_json_device(&sweep->environment->device), "versions",
                  uc_json_versions(&sweep->environment->versions));
    json_t *curves = json_pack("{s:f, s:o, s:o}", "target", sweep->target, "wr",
                               curve_object(sweep, UC_PLAN_WR), "wd",
                               curve_object(sweep, UC_PLAN_WD));

    asked =
        uc_json_joined(asked, uc_json_choices(sweep->policy, &sweep->choices));
    return uc_json_print(out, uc_json_joined(asked, curves), err);
}

/* -------------------------------------------------------------- profiles */

static json_t *outcomes(const int64_t counts[UC_OUTCOMES])
{
    json_t *object = json_object();

    for (int i = 0; i < UC_OUTCOMES && object != NULL; i++) {
        if (json_object_set_new(object, uc_outcome_name((enum uc_outcome)i),
                                json_integer(counts[i])) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *problem_text(const void *context, size_t i)
{
    char text[UC_PROBLEM_TEXT];

    uc_problem_print((const struct uc_problem *)context + i, text);
    return json_string(text);
}

static json_t *kernels(const struct uc_profile_kernels *k)
{
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I}", uc_api_name(UC_API_LEGACY),
        (json_int_t)k->rows[UC_API_LEGACY], uc_api_name(UC_API_GRAPH),
        (json_int_t)k->rows[UC_API_GRAPH], "compiled", (json_int_t)k->compiled,
        "compiled_mean_ns", (json_int_t)k->compiled_mean_ns, "compiled_most_ns",
        (json_int_t)k->compiled_most_ns);
}

static json_t *network(const void *context, size_t i)
{
    const struct uc_coverage_row *row =
        (const struct uc_coverage_row *)context + i;

    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "network", row->network,
                     "math", uc_math_name(row->math), "layout",
                     uc_layout_name(row->layout), "largest_batch",
                     (json_int_t)row->largest_batch, "problems",
                     (json_int_t)row->problems, "problems_without_engines",
                     (json_int_t)row->unsearched);
}

static enum uc_status environment(struct uc_profile *profile,
                                  struct uc_profile_environment *entry,
                                  json_t *list, struct uc_error *err)
{
    int64_t counts[UC_OUTCOMES];
    struct uc_profile_kernels of_api;
    struct uc_problem *problems = NULL;
    struct uc_coverage_row *networks = NULL;
    size_t count, network_count;
    enum uc_status status;
    json_t *object;

    status = uc_profile_count(profile, entry, err);
    if (status == UC_OK)
        status = uc_profile_outcomes(profile, entry->id, counts, err);
    if (status == UC_OK)
        status = uc_profile_kernels(profile, entry->id, &of_api, err);
    if (status == UC_OK)
        status =
            uc_profile_problems(profile, entry->id, &problems, &count, err);
    if (status == UC_OK)
        status = uc_coverage_shipped(profile, entry->id, &networks,
                                     &network_count, err);
    if (status != UC_OK) {
        free(problems);
        return status;
    }
    object = json_pack(
        "{s:I, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
        (json_int_t)entry->id, "device",
        uc_json_device(&entry->environment.device), "versions",
        uc_json_versions(&entry->environment.versions), "measurements",
        (json_int_t)entry->measurements, "kernels", kernels(&of_api),
        "outcomes", outcomes(counts), "first_at",
        entry->measurements > 0 ? date(entry->first_at) : json_null(),
        "last_at", entry->measurements > 0 ? date(entry->last_at) : json_null(),
        "networks", array(network_count, network, networks), "problems",
        array(count, problem_text, problems));
    free(networks);
    free(problems);
    if (json_array_append_new(list, object) != 0)
        return uc_no_memory(err);
    return UC_OK;
}

enum uc_status uc_report_profile_json(FILE *out, struct uc_profile *profile,
                                      struct uc_error *err)
{
    struct uc_profile_environment *entries = NULL;
    size_t count = 0;
    json_t *list = json_array();
    enum uc_status status;

    if (list == NULL)
        return uc_no_memory(err);
    status = uc_profile_environments(profile, &entries, &count, err);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = environment(profile, &entries[i], list, err);
    free(entries);
    if (status != UC_OK) {
        json_decref(list);
        return status;
    }
    return uc_json_print(out, json_pack("{s:o}", "environments", list), err);
}
