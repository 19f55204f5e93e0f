#include "config.h"

#include "db/plan.h"

#include "common/sum.h"
#include "common/text.h"
#include "db/plan_impl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- memory */

void uc_plan_free(struct uc_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->operation_count; i++)
        free(plan->operations[i].pieces);
    free(plan->operations);
    plan->operations = NULL;
    plan->operation_count = 0;
}

void uc_plans_free(struct uc_plan *plans, size_t count)
{
    if (plans == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        uc_plan_free(&plans[i]);
    free(plans);
}

/* -------------------------------------------------------------- totals */

/** Where -1 on either side means that there is no sum. */
static int64_t add_known(int64_t sum, int64_t a, int64_t b)
{
    return sum < 0 || a < 0 ? -1 : uc_sum(sum, a, b);
}

void uc_plan_totals(const struct uc_plan *plan, struct uc_plan_totals *totals)
{
    struct uc_plan_totals sums = { 0 };

    for (size_t i = 0; i < plan->operation_count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];

        sums.predicted_ns = uc_sum(sums.predicted_ns, op->time_ns, op->repeat);
        sums.undivided_ns =
            add_known(sums.undivided_ns, op->undivided_ns, op->repeat);
        sums.unlimited_ns =
            add_known(sums.unlimited_ns, op->unlimited_ns, op->repeat);
        if (plan->mode == UC_PLAN_WD)
            sums.workspace_bytes =
                uc_sum(sums.workspace_bytes, op->workspace_bytes, op->repeat);
        else if (op->workspace_bytes > sums.workspace_bytes)
            sums.workspace_bytes = op->workspace_bytes;
    }
    *totals = sums;
}

/* ------------------------------------------------------------- choices */

bool uc_plan_choices_equal(const struct uc_plan_choices *a,
                           const struct uc_plan_choices *b)
{
    return a->deterministic == b->deterministic &&
           a->no_runtime_compiled == b->no_runtime_compiled &&
           a->allow == b->allow && a->apis == b->apis &&
           a->max_pieces == b->max_pieces && a->min_gain == b->min_gain;
}

bool uc_plan_choices_use(const struct uc_plan_choices *choices, enum uc_api api)
{
    return choices->apis == 0 || (choices->apis & 1u << api) != 0;
}

/** Only in a plan that allows them. */
static const unsigned weak_notes =
    UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION;

const char *uc_plan_choices_refuse(const struct uc_plan_choices *choices,
                                   unsigned notes)
{
    if ((notes & weak_notes & ~choices->allow) != 0)
        return "a kernel computes in a way that was not allowed";
    if (choices->deterministic && (notes & UC_NOTE_NONDETERMINISTIC) != 0)
        return "a kernel is nondeterministic, and was not to be";
    if (choices->no_runtime_compiled && (notes & UC_NOTE_RUNTIME_COMPILED) != 0)
        return "a kernel is compiled at run time, and was not to be";
    return NULL;
}

/* ------------------------------------------------------------ checking */

static bool is_line(const char *text, size_t size)
{
    const char *end = memchr(text, '\0', size);

    return end != NULL && uc_text_is_line(text, (size_t)(end - text));
}

static bool is_time(int64_t ns)
{
    return ns >= 1 && ns <= UC_SQL_MOST_NS;
}

/** NULL, or what is wrong with one piece. */
static const char *piece_fault(const struct uc_plan_operation *op, size_t at)
{
    const struct uc_plan_piece *piece = &op->pieces[at];
    bool filter = op->problem.operation == UC_BACKWARD_FILTER;
    const char *fault;
    unsigned notes;

    if (piece->size < 1 || piece->count < 1)
        return "an empty micro-batch";
    if (piece->workspace_bytes < 0)
        return "a negative workspace";
    if (!is_time(piece->time_ns))
        return "a micro-batch's time is out of range";
    if (piece->build_ns < 0 || piece->build_ns > UC_SQL_MOST_NS)
        return "a kernel's build time is out of range";
    if (piece->notes > INT_MAX)
        return "notes out of range";
    fault = uc_kernel_fault(&piece->kernel, op->problem.operation);
    if (fault != NULL)
        return fault;
    notes = uc_legacy_notes(&piece->kernel, op->problem.operation);
    if (!uc_notes_keep_math(notes | piece->notes, &op->problem))
        return "a kernel computes in weaker math than the problem's";
    if (piece->accumulate != (filter && at > 0))
        return filter ? "every micro-batch but the first must accumulate, and "
                        "the first must not"
                      : "only backward-filter accumulates";
    if (filter && at == 0 && piece->count != 1)
        return "the first micro-batch is to stand alone";
    /* The slices behind this piece start where it ends. */
    if ((piece->count > 1 || at + 1 < op->piece_count) &&
        !uc_problem_splits_at(&op->problem, piece->size))
        return "a micro-batch is not aligned to 16 bytes";
    return NULL;
}

/** NULL, or how the operation is against what the plan was chosen from. */
static const char *choice_fault(const struct uc_plan_choices *choices,
                                const struct uc_plan_operation *op)
{
    const char *fault = NULL;
    int64_t pieces = 0;

    for (size_t i = 0; i < op->piece_count && fault == NULL; i++) {
        const struct uc_kernel *kernel = &op->pieces[i].kernel;

        fault = uc_plan_choices_refuse(
            choices, op->pieces[i].notes |
                         uc_legacy_notes(kernel, op->problem.operation));
        if (!uc_plan_choices_use(choices, kernel->api))
            fault = "a kernel is of an API that was not to be used";
        pieces = uc_sum(pieces, 1, op->pieces[i].count);
    }
    if (fault == NULL && choices->max_pieces > 0 &&
        pieces > choices->max_pieces)
        fault = "more micro-batches than there were to be";
    return fault;
}

static const char *operation_fault(const struct uc_plan_operation *op)
{
    int64_t batch = 0, time_ns = 0, workspace_bytes = 0;

    if (!is_line(op->layer, sizeof op->layer) || op->layer[0] == '\0')
        return "the layer's name is no line of UTF-8";
    if (op->batch < 1 || op->batch > INT32_MAX)
        return "batch out of range";
    if (op->repeat < 1 || op->repeat > INT32_MAX)
        return "repeat out of range";
    if (op->piece_count < 1)
        return "no micro-batches";
    for (size_t i = 0; i < op->piece_count; i++) {
        const struct uc_plan_piece *piece = &op->pieces[i];
        const char *fault = piece_fault(op, i);

        if (fault != NULL)
            return fault;
        batch = uc_sum(batch, piece->size, piece->count);
        time_ns = uc_sum(time_ns, piece->time_ns, piece->count);
        if (piece->workspace_bytes > workspace_bytes)
            workspace_bytes = piece->workspace_bytes;
    }
    if (batch != op->batch)
        return "the micro-batches do not add up to the batch";
    if (time_ns != op->time_ns)
        return "the time is not the sum of the micro-batches'";
    if (workspace_bytes != op->workspace_bytes)
        return "the workspace is not the largest of the micro-batches'";
    if ((op->undivided_ns != -1 && !is_time(op->undivided_ns)) ||
        (op->unlimited_ns != -1 && !is_time(op->unlimited_ns)))
        return "an undivided time is out of range";
    return NULL;
}

static const char *choices_fault(const struct uc_plan_choices *choices)
{
    const unsigned every = (1u << UC_APIS) - 1;

    if (choices->apis >= every)
        return "no such API";
    if ((choices->allow & ~weak_notes) != 0)
        return "a note that no plan allows";
    if (!(choices->min_gain >= 0 && choices->min_gain <= 1))
        return "the least gain is out of range";
    if (choices->max_pieces < 0)
        return "the most micro-batches are negative";
    return NULL;
}

static const char *header_fault(const struct uc_plan *plan)
{
    const struct uc_device *device = &plan->environment.device;
    const struct uc_versions *versions = &plan->environment.versions;

    if (!is_line(plan->network, sizeof plan->network) ||
        plan->network[0] == '\0')
        return "the network's name is no line of UTF-8";
    if (!is_line(device->name, sizeof device->name) ||
        !is_line(versions->driver, sizeof versions->driver))
        return "the device's or driver's name is no line of UTF-8";
    if (device->compute_capability < 0 || device->multiprocessors < 0 ||
        device->memory_bytes < 0 || versions->cudnn < 0 || versions->cuda < 0)
        return "a device's number is negative";
    if (plan->mode != UC_PLAN_WR && plan->mode != UC_PLAN_WD)
        return "no such mode";
    if (plan->limit_bytes < 0)
        return "the limit is negative";
    if (!is_line(plan->policy, sizeof plan->policy) ||
        !is_line(plan->tool, sizeof plan->tool))
        return "the policy or tool is no line of UTF-8";
    if (plan->created_at < 0 || plan->created_at > UC_SQL_LAST_SECOND)
        return "date out of range";
    if (plan->operation_count < 1)
        return "no operations";
    return choices_fault(&plan->choices);
}

enum uc_status uc_plan_check(const struct uc_plan *plan, struct uc_error *err)
{
    const char *fault = header_fault(plan);
    struct uc_plan_totals totals;
    struct uc_error cause;

    if (fault != NULL)
        return uc_fail(err, UC_EINTERNAL, "plan: %s", fault);
    for (size_t i = 0; i < plan->operation_count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];

        if (uc_problem_check(&op->problem, &cause) != UC_OK)
            fault = cause.text;
        else
            fault = operation_fault(op);
        if (fault == NULL)
            fault = choice_fault(&plan->choices, op);
        if (fault != NULL)
            return uc_fail(err, UC_EINTERNAL, "layer \"%.64s\": %.192s",
                           op->layer, fault);
    }
    uc_plan_totals(plan, &totals);
    if (totals.workspace_bytes > plan->limit_bytes)
        return uc_fail(err, UC_EINTERNAL,
                       "plan: needs %lld bytes of workspace, over its limit "
                       "of %lld",
                       (long long)totals.workspace_bytes,
                       (long long)plan->limit_bytes);
    return UC_OK;
}

/* ------------------------------------------------------------ the kinds */

enum uc_status uc_file_identify(const char *path, enum uc_file_kind *kind,
                                struct uc_error *err)
{
    enum uc_status status;
    int id;

    status = uc_sql_identify(path, &id, err);
    if (status != UC_OK)
        return status;
    if (id == UC_SQL_PROFILE_ID)
        *kind = UC_FILE_PROFILE;
    else if (id == UC_SQL_PLAN_ID)
        *kind = UC_FILE_PLAN;
    else
        return uc_fail(err, UC_EFILE,
                       "%.256s: is neither a ucudnn plan nor a profile "
                       "(application id %d)",
                       path, id);
    return UC_OK;
}
