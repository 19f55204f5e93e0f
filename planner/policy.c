#include "config.h"

#include "planner/policy.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t max_size = INT32_MAX; /* cuDNN's extents */
static const int64_t max_all = 65536;      /* more sizes serve nobody */

static const char *const names[] = {
    [UC_POLICY_UNDIVIDED] = "undivided",
    [UC_POLICY_POWER_OF_TWO] = "power-of-two",
    [UC_POLICY_ALL] = "all",
};

/** Digits up to `end`; 0 when there are none or others, at most one over the
 * largest size. */
static int64_t parse_size(const char *text, const char *end)
{
    int64_t size = 0;

    if (text == end)
        return 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return 0;
        size = size * 10 + (*text - '0');
        if (size > max_size)
            size = max_size + 1;
    }
    return size;
}

/** Keeps the list ascending; false when the size is there already. */
static bool insert_size(struct uc_policy *policy, int64_t size)
{
    size_t at = policy->list_count;

    while (at > 0 && policy->list[at - 1] > size)
        at--;
    if (at > 0 && policy->list[at - 1] == size)
        return false;
    memmove(policy->list + at + 1, policy->list + at,
            (policy->list_count - at) * sizeof *policy->list);
    policy->list[at] = size;
    policy->list_count++;
    return true;
}

static enum uc_status parse_list(const char *text, struct uc_policy *policy,
                                 struct uc_error *err)
{
    struct uc_policy parsed = { .kind = UC_POLICY_LIST };

    for (const char *at = text;; at++) {
        const char *end = at + strcspn(at, ",");
        int64_t size = parse_size(at, end);

        if (size < 1)
            return uc_fail(err, UC_EINPUT,
                           "policy \"%.64s\" is none of undivided, "
                           "power-of-two, all, or sizes such as 16,32,64",
                           text);
        if (size > max_size)
            return uc_fail(err, UC_EINPUT,
                           "policy size %.*s is too large (at most %" PRId64
                           ")",
                           end - at < 64 ? (int)(end - at) : 64, at, max_size);
        if (parsed.list_count == UC_POLICY_SIZES)
            return uc_fail(err, UC_EINPUT, "policy has more than %d sizes",
                           (int)UC_POLICY_SIZES);
        if (!insert_size(&parsed, size))
            return uc_fail(err, UC_EINPUT,
                           "policy names size %" PRId64 " twice", size);
        at = end;
        if (*at == '\0')
            break;
    }
    *policy = parsed;
    return UC_OK;
}

enum uc_status uc_policy_parse(const char *text, struct uc_policy *policy,
                               struct uc_error *err)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *policy = (struct uc_policy){ .kind = (enum uc_policy_kind)i };
            return UC_OK;
        }
    return parse_list(text, policy, err);
}

void uc_policy_print(const struct uc_policy *policy, char text[UC_POLICY_TEXT])
{
    size_t used = 0;

    if (policy->kind != UC_POLICY_LIST) {
        snprintf(text, UC_POLICY_TEXT, "%s", names[policy->kind]);
        return;
    }
    text[0] = '\0';
    for (size_t i = 0; i < policy->list_count; i++)
        used +=
            (size_t)snprintf(text + used, UC_POLICY_TEXT - used, "%s%" PRId64,
                             i > 0 ? "," : "", policy->list[i]);
}

/** Candidates below the batch, ascending; `sizes` has room for them. */
static size_t sizes_below(const struct uc_policy *policy, int64_t batch,
                          int64_t *sizes)
{
    size_t count = 0;

    switch (policy->kind) {
    case UC_POLICY_UNDIVIDED:
        break;
    case UC_POLICY_POWER_OF_TWO:
        for (int64_t size = 1; size < batch; size *= 2)
            sizes[count++] = size;
        break;
    case UC_POLICY_ALL:
        for (int64_t size = 1; size < batch; size++)
            sizes[count++] = size;
        break;
    case UC_POLICY_LIST:
        for (size_t i = 0; i < policy->list_count; i++)
            if (policy->list[i] < batch)
                sizes[count++] = policy->list[i];
        break;
    }
    return count;
}

enum uc_status uc_policy_sizes(const struct uc_policy *policy, int64_t batch,
                               int64_t **sizes, size_t *count,
                               struct uc_error *err)
{
    size_t room = UC_POLICY_SIZES + 1, used;
    int64_t *made;

    if (batch < 1 || batch > max_size)
        return uc_fail(err, UC_EINPUT,
                       "batch must be 1 to %" PRId64 ", is %" PRId64, max_size,
                       batch);
    if (policy->kind == UC_POLICY_ALL) {
        if (batch > max_all)
            return uc_fail(err, UC_EINPUT,
                           "policy all goes up to batch %" PRId64
                           ", not %" PRId64,
                           max_all, batch);
        room = (size_t)batch;
    }
    made = malloc(room * sizeof *made);
    if (made == NULL)
        return uc_no_memory(err);
    used = sizes_below(policy, batch, made);
    made[used++] = batch;
    *sizes = made;
    *count = used;
    return UC_OK;
}

static bool is_listed(const int64_t *sizes, size_t count, int64_t size)
{
    for (size_t i = 0; i < count; i++)
        if (sizes[i] == size)
            return true;
    return false;
}

enum uc_status uc_policy_check_plan(const struct uc_plan *plan,
                                    struct uc_error *err)
{
    struct uc_policy policy;
    enum uc_status status = uc_policy_parse(plan->policy, &policy, err);

    for (size_t i = 0; i < plan->operation_count && status == UC_OK; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];
        int64_t *sizes = NULL;
        size_t count;

        status = uc_policy_sizes(&policy, op->batch, &sizes, &count, err);
        for (size_t k = 0; k < op->piece_count && status == UC_OK; k++)
            if (!is_listed(sizes, count, op->pieces[k].size))
                status =
                    uc_fail(err, UC_EFILE,
                            "%.64s %s: a micro-batch of %" PRId64
                            " is none of the policy's, \"%.64s\"",
                            op->layer, uc_operation_name(op->problem.operation),
                            op->pieces[k].size, plan->policy);
        free(sizes);
    }
    if (status == UC_EINPUT)
        err->status = status = UC_EFILE;
    return status;
}
