#include "config.h"

#include "planner/verify.h"

#include "common/bytes.h"
#include "planner/report.h"

#include <stdio.h>
#include <stdlib.h>

const char *uc_verdict_name(enum uc_verdict verdict)
{
    static const char *const names[UC_VERDICTS] = {
        [UC_VERIFIED] = "ok",
        [UC_SLOWER] = "slow",
        [UC_OVER_WORKSPACE] = "over-workspace",
        [UC_WRONG_RESULT] = "wrong",
        [UC_VERIFY_FAILED] = "failed",
    };

    return names[verdict];
}

enum uc_status uc_verification_init(const struct uc_plan *plan,
                                    struct uc_verification *verification,
                                    struct uc_error *err)
{
    struct uc_verify_operation *operations =
        calloc(plan->operation_count, sizeof *operations);

    if (operations == NULL)
        return uc_no_memory(err);
    *verification =
        (struct uc_verification){ .plan = plan, .operations = operations };
    return UC_OK;
}

void uc_verification_free(struct uc_verification *verification)
{
    free(verification->operations);
    verification->operations = NULL;
}

/** Beyond the tolerance, and beyond what the measurement is unsure of. */
static bool is_slower(int64_t time_ns, int64_t spread_ns, int64_t predicted_ns,
                      double tolerance)
{
    return (double)time_ns - (double)spread_ns >
           (double)predicted_ns * (1 + tolerance);
}

static enum uc_verdict judge(const struct uc_verify_run *run,
                             const struct uc_plan_operation *op,
                             double tolerance)
{
    if (!run->settled || run->reason[0] != '\0')
        return UC_VERIFY_FAILED;
    if (run->error > run->allowed)
        return UC_WRONG_RESULT;
    if (run->workspace_bytes > op->workspace_bytes)
        return UC_OVER_WORKSPACE;
    if (is_slower(run->time_ns, run->spread_ns, op->time_ns, tolerance))
        return UC_SLOWER;
    return UC_VERIFIED;
}

size_t uc_verify_judge(struct uc_verification *v, double tolerance)
{
    struct uc_verify_sequence *s = &v->sequence;
    size_t faults = 0;

    for (size_t i = 0; i < v->plan->operation_count; i++) {
        struct uc_verify_operation *op = &v->operations[i];

        op->verdict = judge(&op->planned, &v->plan->operations[i], tolerance);
        faults += op->verdict != UC_VERIFIED;
    }
    if (!s->settled || s->reason[0] != '\0')
        s->verdict = UC_VERIFY_FAILED;
    else if (is_slower(s->planned_ns, s->planned_spread_ns, s->predicted_ns,
                       tolerance))
        s->verdict = UC_SLOWER;
    else
        s->verdict = UC_VERIFIED;
    return faults + (s->verdict != UC_VERIFIED);
}

static void print_slow(int64_t time_ns, int64_t predicted_ns,
                       char text[UC_VERIFY_TEXT])
{
    char time[UC_REPORT_TEXT], predicted[UC_REPORT_TEXT];

    uc_report_time(time_ns, time);
    uc_report_time(predicted_ns, predicted);
    snprintf(text, UC_VERIFY_TEXT, "slow: takes %s, predicted were %s", time,
             predicted);
}

void uc_verify_fault(const struct uc_verification *v, size_t index,
                     char text[UC_VERIFY_TEXT])
{
    const struct uc_plan_operation *op = &v->plan->operations[index];
    const struct uc_verify_run *run = &v->operations[index].planned;
    char now[UC_BYTES_TEXT], stored[UC_BYTES_TEXT];

    text[0] = '\0';
    switch (v->operations[index].verdict) {
    case UC_VERIFY_FAILED:
        snprintf(text, UC_VERIFY_TEXT, "failed: %s",
                 run->settled ? run->reason : "it was not run");
        break;
    case UC_WRONG_RESULT:
        snprintf(text, UC_VERIFY_TEXT,
                 "wrong: relative L2 error %.2g, allowed is %.2g", run->error,
                 run->allowed);
        break;
    case UC_OVER_WORKSPACE:
        uc_bytes_print(run->workspace_bytes, now);
        uc_bytes_print(op->workspace_bytes, stored);
        snprintf(text, UC_VERIFY_TEXT,
                 "over-workspace: cuDNN asks for %lld bytes (%s), planned "
                 "were %lld (%s)",
                 (long long)run->workspace_bytes, now,
                 (long long)op->workspace_bytes, stored);
        break;
    case UC_SLOWER:
        print_slow(run->time_ns, op->time_ns, text);
        break;
    default:
        break;
    }
}

void uc_verify_sequence_fault(const struct uc_verification *v,
                              char text[UC_VERIFY_TEXT])
{
    const struct uc_verify_sequence *s = &v->sequence;

    text[0] = '\0';
    if (s->verdict == UC_VERIFY_FAILED)
        snprintf(text, UC_VERIFY_TEXT, "failed: %s",
                 s->settled ? s->reason : "it was not run");
    else if (s->verdict == UC_SLOWER)
        print_slow(s->planned_ns, s->predicted_ns, text);
}
