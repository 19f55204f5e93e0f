#include "config.h"

#include "planner/replan.h"

#include "planner/work.h"

#include <stdio.h>
#include <stdlib.h>

enum { DIVISION_STEPS = 8, DIVISION_SECONDS = 5 };

/** A plan's operations as a network's. */
struct operations {
    struct uc_network network; /**< its layers: a name and a repeat each */
    struct uc_network_operation *list;
    int64_t *batches;
};

static void operations_free(struct operations *operations)
{
    free(operations->network.layers);
    free(operations->list);
    free(operations->batches);
}

static enum uc_status read_operations(const struct uc_plan *plan,
                                      struct operations *out,
                                      struct uc_error *err)
{
    size_t count = plan->operation_count;
    struct uc_network *network = &out->network;

    network->layers = calloc(count + 1, sizeof *network->layers);
    out->list = calloc(count + 1, sizeof *out->list);
    out->batches = calloc(count + 1, sizeof *out->batches);
    if (network->layers == NULL || out->list == NULL || out->batches == NULL)
        return uc_no_memory(err);
    snprintf(network->name, sizeof network->name, "%s", plan->network);
    network->layer_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];

        if (op->batch != plan->operations[0].batch)
            return uc_fail(err, UC_EINPUT,
                           "the plan's operations differ in their batch");
        network->batch = op->batch;
        snprintf(network->layers[i].name, sizeof network->layers[i].name, "%s",
                 op->layer);
        network->layers[i].repeat = op->repeat;
        out->list[i].layer = &network->layers[i];
        out->list[i].problem = op->problem;
        out->batches[i] = op->batch;
    }
    return UC_OK;
}

static enum uc_status find_environment(
    const struct uc_plan *plan, struct uc_profile *profile,
    struct uc_profile_environment *environment, struct uc_error *err)
{
    struct uc_profile_environment *list = NULL;
    const char *difference = NULL;
    size_t count = 0;
    enum uc_status status =
        uc_profile_environments(profile, &list, &count, err);

    if (status != UC_OK)
        return status;
    status = uc_fail(err, UC_EINPUT, "the profile has no measurements");
    for (size_t i = 0; i < count && status != UC_OK; i++) {
        difference =
            uc_environment_difference(&plan->environment, &list[i].environment);
        if (difference == NULL) {
            *environment = list[i];
            status = UC_OK;
        }
    }
    free(list);
    if (difference != NULL)
        return uc_fail(err, UC_EINPUT,
                       "the profile differs from the plan in %s", difference);
    return status;
}

/** The profile has all that the options choose from. */
static enum uc_status check_complete(const struct operations *operations,
                                     struct uc_profile *profile, int64_t env,
                                     const struct uc_planning_options *options,
                                     struct uc_error *err)
{
    /* Of graph engines there may be any number, or none. */
    const struct uc_work_options work = { .apis = 1u << UC_API_LEGACY,
                                          .max_workspace_bytes = -1 };
    struct uc_work_problem *list = NULL;
    size_t count = 0;
    enum uc_status status;

    if (options->filter.apis == 1u << UC_API_GRAPH)
        return UC_OK;
    status = uc_work_list(profile, env, operations->list, operations->batches,
                          operations->network.layer_count, &options->policy,
                          &work, &list, &count, err);
    uc_work_list_free(list, count);
    if (status == UC_OK && count > 0)
        return uc_fail(err, UC_EMISSING,
                       "the profile lacks measurements of %.64s",
                       operations->network.name);
    return status;
}

static enum uc_status make_curve(const struct uc_plan *plan,
                                 const struct uc_planning *planning,
                                 double target, struct uc_curve *curve,
                                 struct uc_error *err)
{
    const struct uc_curve_division division = {
        .steps = DIVISION_STEPS,
        .target = target,
        .total_bytes = plan->limit_bytes,
        .mip_gap = 1e-4,
        .time_limit_s = DIVISION_SECONDS,
    };

    return plan->mode == UC_PLAN_WR
               ? uc_curve_reuse(planning, UC_CURVE_EVERY, curve, err)
               : uc_curve_divide(planning, &division, curve, err);
}

enum uc_status uc_replan_curve(const struct uc_plan *plan,
                               struct uc_profile *profile, double target,
                               struct uc_curve *curve, struct uc_error *err)
{
    struct uc_planning_options options = uc_planning_as_chosen(&plan->choices);
    struct operations operations = { .list = NULL };
    struct uc_profile_environment environment;
    struct uc_planning *planning = NULL;
    enum uc_status status = uc_policy_parse(plan->policy, &options.policy, err);

    if (status == UC_OK)
        status = read_operations(plan, &operations, err);
    if (status == UC_OK)
        status = find_environment(plan, profile, &environment, err);
    if (status == UC_OK)
        status =
            check_complete(&operations, profile, environment.id, &options, err);
    if (status == UC_OK)
        status = uc_planning_of(&operations.network, operations.list,
                                operations.network.layer_count, profile,
                                &environment, &options, &planning, err);
    if (status == UC_OK)
        status = make_curve(plan, planning, target, curve, err);
    uc_planning_free(planning);
    operations_free(&operations);
    return status;
}
