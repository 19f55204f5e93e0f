#include "config.h"

#include "planner/verify_impl.h"

#include "common/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROUNDS = 5, MOST_ROUNDS = 16, MOST_SETS = 4096 };

static const double most_pieces = 1e6;   /* of one pass */
static const double most_pass_ns = 60e9; /* predicted for one pass */
static const double sampling_s = 4;
static const double steady = 0.005;
static const double memory_share = 0.9; /* of what is free */

/** Tensors of one run of an operation. */
struct set {
    struct uc_buffer tensors[3]; /**< by enum uc_tensor */
};

/** An operation that takes part. */
struct part {
    const struct uc_plan_operation *operation;
    const struct uc_ready *ready[2]; /**< planned, undivided */
};

struct sequence {
    struct uc_verify_side *side;
    struct part *parts;
    size_t count;
    struct set *sets; /**< one a run in order, or one that all share */
    size_t set_count;
};

/* What takes part ---------------------------------------------------------*/

static bool runs(const struct uc_verify_run *run)
{
    return run->settled && run->reason[0] == '\0';
}

/** What makes a pass too long to be timed; NULL: nothing. */
static const char *too_much(const struct uc_plan *plan)
{
    double pieces = 0, ns = 0;

    for (size_t i = 0; i < plan->operation_count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];

        for (size_t p = 0; p < op->piece_count; p++)
            pieces += (double)op->repeat * (double)op->pieces[p].count;
        ns += (double)op->repeat * (double)op->time_ns;
    }
    if (pieces > most_pieces)
        return "one pass would be over 1000000 micro-batches";
    return ns > most_pass_ns ? "one pass would take over a minute" : NULL;
}

static enum uc_status choose_parts(struct sequence *q,
                                   struct uc_verify_sequence *result,
                                   struct uc_error *err)
{
    struct uc_verify_side *side = q->side;
    const struct uc_verification *v = side->verification;
    char reason[UC_REASON_TEXT];

    q->parts = calloc(v->plan->operation_count, sizeof *q->parts);
    if (q->parts == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < v->plan->operation_count; i++) {
        const struct uc_plan_operation *op = &v->plan->operations[i];
        const struct uc_verify_operation *found = &v->operations[i];
        struct part *part = &q->parts[q->count];

        part->operation = op;
        if (!side->planned[i].set)
            uc_way_set_planned(&side->planned[i], v->plan, i);
        if (runs(&found->planned))
            part->ready[0] = uc_way_ready(side, &side->planned[i], reason);
        if (part->ready[0] == NULL) {
            result->left_out++;
            continue;
        }
        if (found->choice.source != UC_UNDIVIDED_NONE &&
            !side->undivided[i].set)
            uc_way_set_undivided(&side->undivided[i], v->plan, i,
                                 &found->choice);
        if (found->choice.source != UC_UNDIVIDED_NONE &&
            runs(&found->undivided))
            part->ready[1] = uc_way_ready(side, &side->undivided[i], reason);
        if (part->ready[1] == NULL) {
            part->ready[1] = part->ready[0];
            result->without++;
        }
        result->predicted_ns += op->repeat * op->time_ns;
        q->count++;
        uc_verify_say_at(side, i, UC_VERIFY_SEQUENCE);
    }
    return UC_OK;
}

static enum uc_status reserve_workspace(struct sequence *q,
                                        struct uc_error *err)
{
    int64_t most = 0;

    for (size_t i = 0; i < q->count; i++)
        for (int w = 0; w < 2; w++)
            if (q->parts[i].ready[w]->workspace_bytes > most)
                most = q->parts[i].ready[w]->workspace_bytes;
    return uc_gpu_reserve(&q->side->session.gpu, &q->side->session.workspace,
                          most, err);
}

/* Tensors -----------------------------------------------------------------*/

static enum uc_status tensor_bytes(const struct uc_plan_operation *op,
                                   int64_t bytes[3], struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (int t = UC_X; t <= UC_Y && status == UC_OK; t++)
        status = uc_problem_tensor_bytes(&op->problem, (enum uc_tensor)t,
                                         op->batch, &bytes[t], err);
    return status;
}

/** Whether each run can have tensors of its own; *runs are how many. */
static enum uc_status may_separate(const struct sequence *q, bool *separate,
                                   size_t *runs_in_all, struct uc_error *err)
{
    double wanted = 0, runs = 0;

    for (size_t i = 0; i < q->count; i++) {
        const struct uc_plan_operation *op = q->parts[i].operation;
        int64_t bytes[3];
        enum uc_status status = tensor_bytes(op, bytes, err);

        if (status != UC_OK)
            return status;
        wanted +=
            (double)op->repeat *
            ((double)bytes[UC_X] + (double)bytes[UC_W] + (double)bytes[UC_Y]);
        runs += (double)op->repeat;
    }
    *separate = runs <= MOST_SETS &&
                wanted <= memory_share *
                              (double)uc_gpu_free_bytes(&q->side->session.gpu);
    *runs_in_all = *separate ? (size_t)runs : 1;
    return UC_OK;
}

/** Room for the operation, with random values in its types. */
static enum uc_status fill_set(struct sequence *q, struct set *set,
                               const struct uc_plan_operation *op,
                               struct uc_error *err)
{
    struct uc_gpu *gpu = &q->side->session.gpu;
    int64_t bytes[3];
    enum uc_status status = tensor_bytes(op, bytes, err);

    for (int t = UC_X; t <= UC_Y && status == UC_OK; t++) {
        struct uc_buffer *buffer = &set->tensors[t];
        enum uc_dtype type = uc_problem_type(&op->problem, (enum uc_tensor)t);

        status = uc_gpu_reserve(gpu, buffer, bytes[t], err);
        if (status == UC_OK)
            status = uc_gpu_fill(gpu, buffer, type, type,
                                 (uint64_t)UC_SEED_X + (uint64_t)t, err);
    }
    return status;
}

static void release_sets(struct sequence *q)
{
    for (size_t i = 0; i < q->set_count; i++)
        for (int t = UC_X; t <= UC_Y; t++)
            uc_gpu_release(&q->side->session.gpu, &q->sets[i].tensors[t]);
    free(q->sets);
    q->sets = NULL;
    q->set_count = 0;
}

static enum uc_status fill_sets(struct sequence *q, size_t count,
                                struct uc_error *err)
{
    enum uc_status status = UC_OK;
    size_t next = 0;

    q->sets = calloc(count, sizeof *q->sets);
    if (q->sets == NULL)
        return uc_no_memory(err);
    q->set_count = count;
    for (size_t i = 0; i < q->count && status == UC_OK; i++) {
        const struct uc_plan_operation *op = q->parts[i].operation;

        for (int64_t r = 0; r < (count == 1 ? 1 : op->repeat); r++) {
            if (status == UC_OK)
                status =
                    fill_set(q, &q->sets[count == 1 ? 0 : next++], op, err);
        }
    }
    return status != UC_OK ? status : uc_gpu_wait(&q->side->session.gpu, err);
}

static enum uc_status reserve_tensors(struct sequence *q, bool *shared,
                                      struct uc_error *err)
{
    size_t count;
    bool separate;
    enum uc_status status = may_separate(q, &separate, &count, err);

    if (status != UC_OK)
        return status;
    *shared = !separate;
    status = fill_sets(q, count, err);
    if (status == UC_ENOFIT && separate) {
        release_sets(q);
        *shared = true;
        status = fill_sets(q, 1, err);
    }
    return status;
}

/* Time --------------------------------------------------------------------*/

struct pass {
    struct sequence *sequence;
    int which; /**< 0: planned, 1: undivided */
};

static enum uc_status issue_part(struct pass *pass, size_t index,
                                 const struct set *set, struct uc_error *err)
{
    const struct uc_tensors tensors = { (void *)set->tensors[UC_X].data,
                                        (void *)set->tensors[UC_W].data,
                                        (void *)set->tensors[UC_Y].data };
    struct sequence *q = pass->sequence;

    return uc_way_issue(q->side, q->parts[index].ready[pass->which], &tensors,
                        err);
}

static enum uc_status issue_pass(void *context, int calls, struct uc_error *err)
{
    struct pass *pass = context;
    struct sequence *q = pass->sequence;
    enum uc_status status = UC_OK;
    size_t next = 0;

    (void)calls; /* one at a time */
    for (size_t i = 0; i < q->count; i++)
        for (int64_t r = 0; r < q->parts[i].operation->repeat; r++) {
            if (status == UC_OK)
                status = issue_part(pass, i, &q->sets[next], err);
            next = q->set_count == 1 ? 0 : next + 1;
        }
    return status;
}

/** One pass behind the last operation of the one before, which is not timed:
    the device is busy while the host prepares the first. */
static enum uc_status time_pass(struct sequence *q, int which, float *ns,
                                struct uc_error *err)
{
    struct pass pass = { q, which };
    float host_ns;
    enum uc_status status =
        issue_part(&pass, q->count - 1, &q->sets[q->set_count - 1], err);

    if (status == UC_OK)
        status = uc_gpu_sample(&q->side->session.gpu, issue_pass, &pass, false,
                               1, 1, ns, &host_ns, err);
    uc_verify_say_at(q->side, 0, UC_VERIFY_SEQUENCE);
    return status;
}

/** Planned and undivided in turn, until both are steady. */
static enum uc_status time_rounds(struct sequence *q,
                                  struct uc_verify_sequence *result,
                                  struct uc_error *err)
{
    float ns[2][MOST_ROUNDS], ignored;
    double median[2] = { 0 }, spread[2] = { 0 }, start = uc_clock_s();
    enum uc_status status = UC_OK;
    int rounds = 0;

    for (int which = 0; which < 2 && status == UC_OK; which++)
        status = time_pass(q, which, &ignored, err);
    while (status == UC_OK && rounds < MOST_ROUNDS &&
           (rounds < LEAST_ROUNDS || (uc_clock_s() - start < sampling_s &&
                                      (spread[0] > steady * median[0] ||
                                       spread[1] > steady * median[1])))) {
        for (int which = 0; which < 2 && status == UC_OK; which++)
            status = time_pass(q, which, &ns[which][rounds], err);
        rounds++;
        for (int which = 0; which < 2 && status == UC_OK; which++)
            uc_timing_summarize(ns[which], rounds, &median[which],
                                &spread[which]);
    }
    if (status != UC_OK)
        return status;
    result->planned_ns = (int64_t)(median[0] + 0.5);
    result->planned_spread_ns = (int64_t)(spread[0] + 0.5);
    result->undivided_ns = (int64_t)(median[1] + 0.5);
    result->undivided_spread_ns = (int64_t)(spread[1] + 0.5);
    result->samples = rounds;
    return UC_OK;
}

enum uc_status uc_verify_sequence_run(struct uc_verify_side *side,
                                      struct uc_verify_sequence *result,
                                      struct uc_error *err)
{
    struct sequence q = { .side = side };
    const char *reason = too_much(side->verification->plan);
    enum uc_status status = UC_OK;

    *result = (struct uc_verify_sequence){ .settled = true };
    uc_session_release(&side->session);
    if (reason == NULL)
        status = choose_parts(&q, result, err);
    if (reason == NULL && status == UC_OK && q.count == 0)
        reason = "no operation runs";
    if (reason == NULL && status == UC_OK)
        status = reserve_workspace(&q, err);
    if (reason == NULL && status == UC_OK)
        status = reserve_tensors(&q, &result->shared_tensors, err);
    if (reason == NULL && status == UC_OK)
        status = time_rounds(&q, result, err);
    if (status == UC_ENOFIT) {
        reason = err->text;
        status = UC_OK;
    }
    if (reason != NULL)
        snprintf(result->reason, sizeof result->reason, "%.*s",
                 UC_REASON_TEXT - 1, reason);
    release_sets(&q);
    free(q.parts);
    return status;
}
