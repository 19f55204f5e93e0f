#include "config.h"

#include "planner/report_verify.h"

#include "planner/report.h"
#include "planner/report_json.h"

#include <math.h>

/** Unknown, or NaN in the result: null. */
static json_t *error_value(double error)
{
    return error < 0 || !isfinite(error) ? json_null() : json_real(error);
}

static json_t *positive(int64_t value)
{
    return uc_json_optional(value > 0 ? value : -1);
}

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *run(const struct uc_verify_run *r)
{
    return json_pack("{s:o, s:o, s:f, s:I, s:o, s:o, s:o}", "failure",
                     text_or_null(r->reason), "error", error_value(r->error),
                     "allowed_error", r->allowed, "workspace_bytes",
                     (json_int_t)r->workspace_bytes, "time_ns",
                     positive(r->time_ns), "spread_ns",
                     uc_json_optional(r->time_ns > 0 ? r->spread_ns : -1),
                     "host_ns", positive(r->host_ns));
}

static json_t *undivided(const struct uc_verify_operation *found,
                         enum uc_operation operation)
{
    char kernel[UC_KERNEL_TEXT];
    json_t *object;

    if (found->choice.source == UC_UNDIVIDED_NONE)
        return json_null();
    uc_kernel_print(&found->choice.kernel, operation, kernel);
    object = run(&found->undivided);
    if (object != NULL &&
        (json_object_set_new(object, "kernel", json_string(kernel)) != 0 ||
         json_object_set_new(
             object, "source",
             json_string(found->choice.source == UC_UNDIVIDED_PROFILE
                             ? "profile"
                             : "found")) != 0)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *operation(const struct uc_verification *v, size_t i)
{
    const struct uc_plan_operation *op = &v->plan->operations[i];
    const struct uc_verify_operation *found = &v->operations[i];
    char problem[UC_PROBLEM_TEXT], split[256], kernels[256];
    char fault[UC_VERIFY_TEXT];

    uc_problem_print(&op->problem, problem);
    uc_report_split(op, split, sizeof split);
    uc_report_kernels(op, kernels, sizeof kernels);
    uc_verify_fault(v, i, fault);
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:I, s:I, s:s, s:o, s:o, s:o}",
        "layer", op->layer, "operation",
        uc_operation_name(op->problem.operation), "repeat",
        (json_int_t)op->repeat, "batch", (json_int_t)op->batch, "problem",
        problem, "split", split, "kernels", kernels, "stored_workspace_bytes",
        (json_int_t)op->workspace_bytes, "predicted_ns",
        (json_int_t)op->time_ns, "verdict", uc_verdict_name(found->verdict),
        "fault", text_or_null(fault), "planned", run(&found->planned),
        "undivided", undivided(found, op->problem.operation));
}

static json_t *sequence(const struct uc_verification *v)
{
    const struct uc_verify_sequence *s = &v->sequence;
    char fault[UC_VERIFY_TEXT];

    uc_verify_sequence_fault(v, fault);
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:I, s:I, s:b}", "verdict",
        uc_verdict_name(s->verdict), "fault", text_or_null(fault),
        "predicted_ns", positive(s->predicted_ns), "planned_ns",
        positive(s->planned_ns), "planned_spread_ns",
        uc_json_optional(s->samples > 0 ? s->planned_spread_ns : -1),
        "undivided_ns", positive(s->undivided_ns), "undivided_spread_ns",
        uc_json_optional(s->samples > 0 ? s->undivided_spread_ns : -1),
        "passes", s->samples, "left_out", (json_int_t)s->left_out,
        "without_undivided", (json_int_t)s->without, "shared_tensors",
        s->shared_tensors ? 1 : 0);
}

static json_t *operations(const struct uc_verification *v)
{
    json_t *list = json_array();

    for (size_t i = 0; i < v->plan->operation_count && list != NULL; i++)
        if (json_array_append_new(list, operation(v, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *verification(const struct uc_verification *v)
{
    bool ran = v->skipped[0] == '\0';

    return json_pack(
        "{s:s, s:s, s:I, s:b, s:n, s:o, s:o, s:o, s:o, s:o}", "network",
        v->plan->network, "mode", v->plan->mode == UC_PLAN_WR ? "wr" : "wd",
        "limit_bytes", (json_int_t)v->plan->limit_bytes, "consistent", 1,
        "fault", "not_run", text_or_null(v->skipped), "device",
        ran ? uc_json_device(&v->here.device) : json_null(), "versions",
        ran ? uc_json_versions(&v->here.versions) : json_null(), "operations",
        ran ? operations(v) : json_null(), "sequence",
        ran ? sequence(v) : json_null());
}

enum uc_status uc_report_inconsistent_json(FILE *out, const char *fault,
                                           struct uc_error *err)
{
    return uc_json_print(
        out,
        json_pack("{s:n, s:n, s:n, s:b, s:s, s:s, s:n, s:n, s:n, s:n}",
                  "network", "mode", "limit_bytes", "consistent", 0, "fault",
                  fault, "not_run", "the plan contradicts itself", "device",
                  "versions", "operations", "sequence"),
        err);
}

enum uc_status uc_report_verifications_json(FILE *out,
                                            const struct uc_verification *list,
                                            size_t count, struct uc_error *err)
{
    json_t *array;

    if (count == 1)
        return uc_json_print(out, verification(list), err);
    array = json_array();
    for (size_t i = 0; i < count && array != NULL; i++)
        if (json_array_append_new(array, verification(&list[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    return uc_json_print(out, array, err);
}
