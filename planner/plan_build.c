#include "config.h"

#include "planner/plan_build.h"

#include "common/bytes.h"
#include "planner/planning.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void uc_planning_free(struct uc_planning *planning)
{
    if (planning == NULL)
        return;
    for (size_t i = 0; i < planning->problem_count; i++) {
        free(planning->problems[i].rows);
        uc_desirable_free(&planning->problems[i].set);
        uc_desirable_free(&planning->problems[i].undivided);
    }
    free(planning->problems);
    free(planning->operations);
    free(planning);
}

/** `layer "conv2": backward-filter: ` before the text. */
static enum uc_status wrap_operation(struct uc_error *err,
                                     enum uc_status status,
                                     const struct uc_layer *layer,
                                     enum uc_operation operation)
{
    char prefix[UC_LAYER_NAME + 64];

    snprintf(prefix, sizeof prefix, "layer \"%s\": %s", layer->name,
             uc_operation_name(operation));
    return uc_wrap(err, status, prefix);
}

static enum uc_status build_sets(const struct uc_planning *planning,
                                 const struct uc_candidate_rows *rows,
                                 struct uc_planning_problem *problem,
                                 struct uc_error *err)
{
    struct uc_desirable_options divided = { planning->options.max_pieces,
                                            planning->options.min_gain };
    struct uc_desirable_options undivided = { .max_pieces = 1 };
    enum uc_status status =
        uc_desirable_build(&rows->candidates, &divided, &problem->set, err);
    char reason[UC_CANDIDATE_REASON];

    if (status != UC_OK)
        return status;
    if (problem->set.count == 0) {
        uc_candidate_reason(&rows->counts, reason);
        return uc_fail(err, UC_ENOFIT, "%s", reason);
    }
    return uc_desirable_build(&rows->candidates, &undivided,
                              &problem->undivided, err);
}

/** Whether graph kernels were looked for. */
static enum uc_status load_searches(const struct uc_planning *planning,
                                    struct uc_profile *profile, int64_t env,
                                    struct uc_planning_problem *problem,
                                    struct uc_error *err)
{
    struct uc_search *searches = NULL;
    size_t count = 0;
    enum uc_status status = uc_profile_load_searches(
        profile, env, &problem->problem, &searches, &count, err);

    for (size_t i = 0; i < count && status == UC_OK; i++)
        if (searches[i].api == UC_API_GRAPH)
            problem->graph_searched = true;
    free(searches);
    if (status == UC_OK && !problem->graph_searched &&
        planning->options.filter.apis == 1u << UC_API_GRAPH)
        status = uc_fail(err, UC_EMISSING,
                         "no graph engines measured; bench --api graph adds "
                         "them");
    return status;
}

static enum uc_status load_problem(const struct uc_planning *planning,
                                   struct uc_profile *profile, int64_t env,
                                   struct uc_planning_problem *problem,
                                   struct uc_error *err)
{
    struct uc_candidate_rows candidates = { 0 };
    size_t count;
    enum uc_status status = uc_profile_load(profile, env, &problem->problem,
                                            &problem->rows, &count, err);

    if (status == UC_OK)
        status = load_searches(planning, profile, env, problem, err);
    if (status == UC_OK)
        status = uc_candidate_rows_build(
            &problem->problem, planning->network->batch,
            &planning->options.policy, &planning->options.filter, problem->rows,
            count, &candidates, err);
    if (status == UC_OK)
        status = build_sets(planning, &candidates, problem, err);
    uc_candidate_rows_free(&candidates);
    return status;
}

/** The problem if an earlier operation has it, else NULL. */
static struct uc_planning_problem *find_problem(
    const struct uc_planning *planning, const struct uc_problem *problem)
{
    for (size_t i = 0; i < planning->problem_count; i++)
        if (uc_problem_equal(&planning->problems[i].problem, problem))
            return &planning->problems[i];
    return NULL;
}

static enum uc_status load_all(struct uc_planning *planning,
                               struct uc_profile *profile, int64_t env,
                               const struct uc_network_operation *list,
                               size_t count, struct uc_error *err)
{
    planning->problems = calloc(count + 1, sizeof *planning->problems);
    planning->operations = calloc(count + 1, sizeof *planning->operations);
    if (planning->problems == NULL || planning->operations == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct uc_planning_problem *problem =
            find_problem(planning, &list[i].problem);
        enum uc_status status;

        if (problem == NULL) {
            problem = &planning->problems[planning->problem_count++];
            problem->problem = list[i].problem;
            status = load_problem(planning, profile, env, problem, err);
            if (status != UC_OK)
                return wrap_operation(err, status, list[i].layer,
                                      list[i].problem.operation);
        }
        planning->operations[planning->operation_count++] =
            (struct uc_planning_operation){ list[i].layer, problem };
    }
    return UC_OK;
}

enum uc_status uc_planning_of(const struct uc_network *network,
                              const struct uc_network_operation *operations,
                              size_t count, struct uc_profile *profile,
                              const struct uc_profile_environment *environment,
                              const struct uc_planning_options *options,
                              struct uc_planning **out, struct uc_error *err)
{
    struct uc_planning *planning = calloc(1, sizeof *planning);
    enum uc_status status;

    if (planning == NULL)
        return uc_no_memory(err);
    planning->network = network;
    planning->environment = environment->environment;
    planning->options = *options;
    status =
        load_all(planning, profile, environment->id, operations, count, err);
    if (status != UC_OK) {
        uc_planning_free(planning);
        return status;
    }
    *out = planning;
    return UC_OK;
}

enum uc_status uc_planning_start(
    const struct uc_network *network, struct uc_profile *profile,
    const struct uc_profile_environment *environment,
    const struct uc_planning_options *options, struct uc_planning **out,
    struct uc_error *err)
{
    struct uc_network_operation *list = NULL;
    size_t count;
    enum uc_status status = uc_network_operations(network, &list, &count, err);

    if (status == UC_OK)
        status = uc_planning_of(network, list, count, profile, environment,
                                options, out, err);
    free(list);
    return status;
}

struct uc_planning_coverage uc_planning_coverage(
    const struct uc_planning *planning)
{
    struct uc_planning_coverage coverage = { planning->problem_count, 0 };

    for (size_t i = 0; i < planning->problem_count; i++)
        coverage.unsearched += !planning->problems[i].graph_searched;
    return coverage;
}

struct uc_plan_choices uc_planning_choices(
    const struct uc_planning_options *options)
{
    const struct uc_candidate_filter *filter = &options->filter;
    const unsigned every = (1u << UC_APIS) - 1;

    return (struct uc_plan_choices){
        .deterministic = filter->deterministic,
        .no_runtime_compiled = filter->no_runtime_compiled,
        .allow = filter->allow,
        .apis = filter->apis == every ? 0 : filter->apis,
        .max_pieces = options->max_pieces,
        .min_gain = options->min_gain,
    };
}

struct uc_planning_options uc_planning_as_chosen(
    const struct uc_plan_choices *choices)
{
    return (struct uc_planning_options){
        .filter = { .deterministic = choices->deterministic,
                    .no_runtime_compiled = choices->no_runtime_compiled,
                    .allow = choices->allow,
                    .apis = choices->apis },
        .max_pieces = choices->max_pieces,
        .min_gain = choices->min_gain,
    };
}

enum uc_status uc_planning_begin(const struct uc_planning *planning,
                                 enum uc_plan_mode mode, int64_t limit_bytes,
                                 size_t room, struct uc_plan *plan,
                                 struct uc_error *err)
{
    memset(plan, 0, sizeof *plan);
    plan->operations = calloc(room + 1, sizeof *plan->operations);
    if (plan->operations == NULL)
        return uc_no_memory(err);
    snprintf(plan->network, sizeof plan->network, "%s",
             planning->network->name);
    plan->environment = planning->environment;
    plan->mode = mode;
    plan->limit_bytes = limit_bytes;
    uc_policy_print(&planning->options.policy, plan->policy);
    plan->choices = uc_planning_choices(&planning->options);
    plan->created_at = (int64_t)time(NULL);
    snprintf(plan->tool, sizeof plan->tool, "%s", PACKAGE_VERSION);
    return UC_OK;
}

static struct uc_plan_piece piece_of(const struct uc_planning_problem *problem,
                                     const struct uc_piece *run)
{
    const struct uc_measurement *row = &problem->rows[run->micro.kernel];
    enum uc_operation operation = problem->problem.operation;

    return (struct uc_plan_piece){
        .size = run->micro.size,
        .count = run->count,
        .accumulate = row->accumulate,
        .kernel = row->kernel,
        .notes = row->notes | uc_legacy_notes(&row->kernel, operation),
        .workspace_bytes = run->micro.workspace_bytes,
        .time_ns = run->micro.time_ns,
        .build_ns = row->build_ns,
    };
}

enum uc_status uc_planning_append(const struct uc_planning_operation *operation,
                                  int64_t batch, int64_t copies,
                                  const struct uc_configuration *chosen,
                                  const struct uc_configuration *undivided,
                                  struct uc_plan *plan, struct uc_error *err)
{
    const struct uc_planning_problem *problem = operation->of;
    const struct uc_desirable *whole = &problem->undivided;
    struct uc_plan_operation *row = &plan->operations[plan->operation_count];

    row->pieces = calloc(chosen->run_count, sizeof *row->pieces);
    if (row->pieces == NULL)
        return uc_no_memory(err);
    plan->operation_count++;
    snprintf(row->layer, sizeof row->layer, "%s", operation->layer->name);
    row->batch = batch;
    row->repeat = copies;
    row->problem = problem->problem;
    row->workspace_bytes = chosen->workspace_bytes;
    row->time_ns = chosen->time_ns;
    row->undivided_ns = undivided != NULL ? undivided->time_ns : -1;
    row->unlimited_ns =
        whole->count > 0 ? whole->list[whole->count - 1].time_ns : -1;
    row->piece_count = chosen->run_count;
    for (size_t i = 0; i < chosen->run_count; i++)
        row->pieces[i] = piece_of(problem, &chosen->runs[i]);
    return UC_OK;
}

const struct uc_configuration *uc_planning_choose(
    const struct uc_planning *planning,
    const struct uc_planning_problem *problem, int64_t limit_bytes,
    const struct uc_configuration **undivided)
{
    const struct uc_configuration *chosen =
        uc_desirable_within(&problem->set, limit_bytes);
    double min_gain = planning->options.min_gain;

    *undivided = uc_desirable_within(&problem->undivided, limit_bytes);
    if (chosen != NULL && chosen->pieces > 1 && *undivided != NULL &&
        min_gain > 0 && !uc_configuration_gains(chosen, *undivided, min_gain))
        return *undivided;
    return chosen;
}

static enum uc_status does_not_fit(const struct uc_planning_operation *op,
                                   int64_t limit_bytes, struct uc_error *err)
{
    int64_t least = op->of->set.list[0].workspace_bytes;
    char limit_text[UC_BYTES_TEXT], least_text[UC_BYTES_TEXT];

    uc_bytes_print(limit_bytes, limit_text);
    uc_bytes_print(least, least_text);
    uc_fail(err, UC_ENOFIT,
            "no configuration fits the limit of %" PRId64
            " bytes (%s): the least workspace that would do is %" PRId64
            " bytes (%s)",
            limit_bytes, limit_text, least, least_text);
    return wrap_operation(err, UC_ENOFIT, op->layer, op->of->problem.operation);
}

enum uc_status uc_planning_reuse(const struct uc_planning *planning,
                                 int64_t limit_bytes, struct uc_plan *out,
                                 struct uc_error *err)
{
    struct uc_plan plan;
    enum uc_status status =
        uc_planning_begin(planning, UC_PLAN_WR, limit_bytes,
                          planning->operation_count, &plan, err);

    for (size_t i = 0; i < planning->operation_count && status == UC_OK; i++) {
        const struct uc_planning_operation *op = &planning->operations[i];
        const struct uc_configuration *undivided,
            *chosen =
                uc_planning_choose(planning, op->of, limit_bytes, &undivided);

        if (chosen != NULL)
            status = uc_planning_append(op, planning->network->batch,
                                        op->layer->repeat, chosen, undivided,
                                        &plan, err);
        else
            status = does_not_fit(op, limit_bytes, err);
    }
    if (status != UC_OK) {
        uc_plan_free(&plan);
        return status;
    }
    *out = plan;
    return UC_OK;
}
