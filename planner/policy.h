/**
 * @file policy.h
 * Batch-size policies: which micro-batch sizes are candidates.
 *
 * "undivided" (the full batch alone), "power-of-two" (powers of two up to
 * the batch, and the batch), "all" (1 .. batch), or an explicit list
 * "16,32,64" (sizes above the batch are left out; the batch is always in).
 *
 * Units:   sizes count images.
 * Owner:   plain values; size lists are the caller's to free().
 * Errors:  UC_EINPUT; UC_EINTERNAL (no memory).
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_POLICY_H
#define UC_PLANNER_POLICY_H

#include "common/error.h"
#include "db/plan.h"

#include <stddef.h>
#include <stdint.h>

enum uc_policy_kind {
    UC_POLICY_UNDIVIDED,
    UC_POLICY_POWER_OF_TWO,
    UC_POLICY_ALL,
    UC_POLICY_LIST
};

enum {
    UC_POLICY_SIZES = 64,
    UC_POLICY_TEXT = UC_PLAN_POLICY_TEXT /**< room for as many of the largest */
};

struct uc_policy {
    enum uc_policy_kind kind;
    int64_t list[UC_POLICY_SIZES]; /**< UC_POLICY_LIST: ascending, distinct */
    size_t list_count;
};

enum uc_status uc_policy_parse(const char *text, struct uc_policy *policy,
                               struct uc_error *err);
void uc_policy_print(const struct uc_policy *policy, char text[UC_POLICY_TEXT]);

/** Candidate sizes of a batch, ascending, the batch last. */
enum uc_status uc_policy_sizes(const struct uc_policy *policy, int64_t batch,
                               int64_t **sizes, size_t *count,
                               struct uc_error *err);

/** UC_EFILE when the plan's policy cannot be read, or one of its micro-batches
    is none of the policy's sizes. */
enum uc_status uc_policy_check_plan(const struct uc_plan *plan,
                                    struct uc_error *err);

#endif
