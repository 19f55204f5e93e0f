#include "config.h"

#include "planner/verify.h"

#include "planner/plan_build.h"

#include <stdlib.h>

int64_t uc_verify_limit(const struct uc_plan *plan,
                        const struct uc_plan_operation *operation)
{
    return plan->mode == UC_PLAN_WR ? plan->limit_bytes
                                    : operation->workspace_bytes;
}

bool uc_verify_admits(const struct uc_plan *plan,
                      const struct uc_problem *problem, unsigned notes)
{
    return uc_notes_keep_math(notes, problem) &&
           uc_plan_choices_refuse(&plan->choices, notes) == NULL;
}

/** The one of the plan's own figure, whatever it was then chosen from; else
    the fastest within the limit. */
static const struct uc_micro *best(const struct uc_candidates *candidates,
                                   const struct uc_plan *plan,
                                   const struct uc_plan_operation *op)
{
    const struct uc_micro *fastest = NULL;

    for (size_t i = 0; i < candidates->first_count; i++) {
        const struct uc_micro *m = &candidates->first[i];

        if (m->workspace_bytes > plan->limit_bytes)
            continue;
        if (m->time_ns == op->undivided_ns)
            return m;
        if (m->workspace_bytes <= uc_verify_limit(plan, op) &&
            (fastest == NULL || m->time_ns < fastest->time_ns))
            fastest = m;
    }
    return fastest;
}

static enum uc_status choose(const struct uc_plan *plan,
                             const struct uc_plan_operation *op,
                             struct uc_profile *profile, int64_t env,
                             struct uc_undivided *choice, struct uc_error *err)
{
    const struct uc_policy policy = { .kind = UC_POLICY_UNDIVIDED };
    const struct uc_candidate_filter filter =
        uc_planning_as_chosen(&plan->choices).filter;
    struct uc_candidate_rows candidates = { 0 };
    struct uc_measurement *rows = NULL;
    const struct uc_micro *m;
    size_t count;
    enum uc_status status =
        uc_profile_load(profile, env, &op->problem, &rows, &count, err);

    if (status == UC_OK)
        status =
            uc_candidate_rows_build(&op->problem, op->batch, &policy, &filter,
                                    rows, count, &candidates, err);
    if (status == UC_OK && (m = best(&candidates.candidates, plan, op)) != NULL)
        *choice = (struct uc_undivided){
            .source = UC_UNDIVIDED_PROFILE,
            .kernel = rows[m->kernel].kernel,
            .notes =
                rows[m->kernel].notes |
                uc_legacy_notes(&rows[m->kernel].kernel, op->problem.operation),
        };
    uc_candidate_rows_free(&candidates);
    free(rows);
    return status;
}

enum uc_status uc_verify_choose(struct uc_verification *verification,
                                struct uc_profile *profile,
                                struct uc_error *err)
{
    const struct uc_plan *plan = verification->plan;
    struct uc_profile_environment *list = NULL;
    int64_t env = -1;
    size_t count;
    enum uc_status status =
        uc_profile_environments(profile, &list, &count, err);

    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (!uc_environment_difference(&list[i].environment,
                                       &plan->environment))
            env = list[i].id;
    free(list);
    if (env < 0)
        return uc_fail(err, UC_EINPUT,
                       "the profile has no measurements of the device and "
                       "versions that the plan of \"%.64s\" is for",
                       plan->network);
    for (size_t i = 0; i < plan->operation_count && status == UC_OK; i++)
        status = choose(plan, &plan->operations[i], profile, env,
                        &verification->operations[i].choice, err);
    return status;
}
