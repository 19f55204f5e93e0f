#include "config.h"

#include "planner/verify_impl.h"

#include "runtime/engines.h"

#include <stdlib.h>

enum { GRAPH_CHOICES = 3 };

/** What is tried, and the best of it so far. */
struct search {
    struct uc_verify_side *side;
    struct uc_trial *trial;
    size_t index;
    struct uc_undivided best;
    struct uc_verify_run run; /**< of the best */
};

/** Run one that the plan admits; keep it if it is right, within the limit and
    faster. */
static enum uc_status try_kernel(struct search *search,
                                 const struct uc_kernel *kernel, unsigned notes,
                                 struct uc_error *err)
{
    const struct uc_plan *plan = search->side->verification->plan;
    const struct uc_plan_operation *op = &plan->operations[search->index];
    struct uc_way *way = &search->side->undivided[search->index];
    const struct uc_undivided choice = { UC_UNDIVIDED_FOUND, *kernel, notes };
    struct uc_verify_run run = { .settled = true };
    const struct uc_ready *ready;
    enum uc_status status;

    uc_way_set_undivided(way, plan, search->index, &choice);
    ready = uc_way_ready(search->side, way, run.reason);
    if (ready == NULL || ready->workspace_bytes > uc_verify_limit(plan, op))
        return UC_OK;
    uc_verify_say_at(search->side, search->index, UC_VERIFY_UNDIVIDED);
    status = uc_way_run(search->side, search->trial, way,
                        2 * (double)search->run.time_ns, &run, err);
    if (status == UC_OK && run.time_ns > 0 &&
        (search->run.time_ns == 0 || run.time_ns < search->run.time_ns)) {
        search->best = choice;
        search->run = run;
    }
    return status;
}

static enum uc_status try_legacy(struct search *search,
                                 const struct uc_problem *problem,
                                 struct uc_error *err)
{
    const struct uc_plan *plan = search->side->verification->plan;
    struct uc_kernel kernels[UC_LEGACY_KERNELS];
    size_t count = uc_legacy_kernels(problem, kernels);
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        unsigned notes = uc_legacy_notes(&kernels[i], problem->operation);

        if (uc_verify_admits(plan, problem, notes))
            status = try_kernel(search, &kernels[i], notes, err);
    }
    return status;
}

/** The first choices of cuDNN's heuristics that fit. */
static enum uc_status try_graph(struct search *search,
                                const struct uc_problem *problem, int64_t batch,
                                struct uc_error *err)
{
    const struct uc_plan *plan = search->side->verification->plan;
    const struct uc_plan_operation *op = &plan->operations[search->index];
    struct uc_gpu *gpu = &search->side->session.gpu;
    const struct uc_graph_place place = { .handle = gpu->handle };
    struct uc_engine_candidate *list = NULL;
    struct uc_engines *engines = NULL;
    size_t count = 0, tried = 0;
    enum uc_status status = UC_OK;
    cudnnStatus_t result = uc_engines_open(&gpu->cudnn, &place, problem, batch,
                                           false, false, &engines);

    if (result == CUDNN_STATUS_SUCCESS)
        result = uc_engines_at(engines, batch, &list, &count);
    uc_engines_close(engines);
    if (result != CUDNN_STATUS_SUCCESS) /* its other kernels will do */
        return UC_OK;
    for (size_t i = 0; i < count && tried < GRAPH_CHOICES && status == UC_OK;
         i++)
        if (list[i].workspace_bytes <= uc_verify_limit(plan, op) &&
            uc_verify_admits(plan, problem, list[i].notes)) {
            status = try_kernel(search, &list[i].kernel, list[i].notes, err);
            tried++;
        }
    free(list);
    return status;
}

enum uc_status uc_way_find_undivided(struct uc_verify_side *side,
                                     struct uc_trial *trial, size_t index,
                                     struct uc_undivided *choice,
                                     struct uc_verify_run *run,
                                     struct uc_error *err)
{
    const struct uc_plan *plan = side->verification->plan;
    const struct uc_plan_operation *op = &plan->operations[index];
    struct search search = {
        .side = side, .trial = trial, .index = index, .run = { .settled = true }
    };
    enum uc_status status = UC_OK;

    if (uc_plan_choices_use(&plan->choices, UC_API_LEGACY))
        status = try_legacy(&search, &op->problem, err);
    if (status == UC_OK && uc_plan_choices_use(&plan->choices, UC_API_GRAPH))
        status = try_graph(&search, &op->problem, op->batch, err);
    if (status != UC_OK)
        return status;
    *choice = search.best;
    *run = search.run;
    if (choice->source != UC_UNDIVIDED_NONE)
        uc_way_set_undivided(&side->undivided[index], plan, index, choice);
    return UC_OK;
}
