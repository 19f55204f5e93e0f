/* Engines, configurations, heuristics and execution plans are finalized. */
#include "config.h"

#include "tests/double/cudnn_graph.h"

#include <time.h>

/** On a device that is described, that of the graph's handle, or any. */
static cudnnStatus_t check_place(const struct uc_node *node,
                                 cudnnBackendAttributeName_t name,
                                 const struct uc_node *graph)
{
    const struct uc_node *device = uc_node_part(node, name);
    int64_t count;

    if (device) {
        return uc_node_is(device, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) &&
                       device->finalized
                   ? CUDNN_STATUS_SUCCESS
                   : uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "no device");
    }
    if (uc_node_values(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, &count) ||
        uc_double_device() >= 0) {
        return CUDNN_STATUS_SUCCESS;
    }
    return uc_cudnn_fail(CUDNN_STATUS_NOT_INITIALIZED, "no device");
}

static cudnnStatus_t check_graph(const struct uc_node *graph,
                                 cudnnStatus_t missing)
{
    if (!graph) {
        return uc_cudnn_fail(missing, "no graph");
    }
    if (!uc_node_is(graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) ||
        !graph->finalized) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                             "the graph is not finalized");
    }
    return CUDNN_STATUS_SUCCESS;
}

/** A node of ours with two attributes that everyone may read. */
static struct uc_node *make(cudnnBackendDescriptorType_t type)
{
    struct uc_node *node = uc_node_create(type);

    if (node) {
        node->finalized = true;
    }
    return node;
}

static cudnnStatus_t store_knobs(struct uc_node *node,
                                 const struct uc_engine *engine)
{
    static const int64_t stride = 1;
    struct uc_node *infos[UC_MOST_KNOBS] = { NULL };
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    for (int i = 0; i < engine->knob_count; i++) {
        const struct uc_knob_kind *knob = &engine->knobs[i];
        struct uc_node *info = make(CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR);

        if (!info) {
            status = CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
            goto out;
        }
        infos[i] = info;
        uc_node_store(info, CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE, 1,
                      &knob->type);
        uc_node_store(info, CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE,
                      CUDNN_TYPE_INT64, 1, &knob->least);
        uc_node_store(info, CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE,
                      CUDNN_TYPE_INT64, 1, &knob->most);
        uc_node_store(info, CUDNN_ATTR_KNOB_INFO_STRIDE, CUDNN_TYPE_INT64, 1,
                      &stride);
    }
    status =
        uc_node_store(node, CUDNN_ATTR_ENGINE_KNOB_INFO,
                      CUDNN_TYPE_BACKEND_DESCRIPTOR, engine->knob_count, infos);
out:
    for (int i = 0; i < UC_MOST_KNOBS; i++) {
        uc_node_release(infos[i]);
    }
    return status;
}

cudnnStatus_t uc_finalize_engine(struct uc_node *node)
{
    static const int compiled = CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
    const struct uc_node *graph =
        uc_node_part(node, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    const struct uc_engine *engine;
    cudnnStatus_t status =
        check_graph(graph, CUDNN_STATUS_BAD_PARAM_NULL_POINTER);

    if (status == CUDNN_STATUS_SUCCESS) {
        status = check_place(node, CUDNN_ATTR_ENGINE_DEVICEPROP, graph);
    }
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    engine =
        uc_engine_find(uc_node_number(node, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1),
                       uc_graph_work(graph));
    if (!engine) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "no such engine");
    }
    status = uc_node_store(node, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                           CUDNN_TYPE_NUMERICAL_NOTE, engine->note_count,
                           engine->notes);
    if (status == CUDNN_STATUS_SUCCESS) {
        status = uc_node_store(node, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                               CUDNN_TYPE_BEHAVIOR_NOTE,
                               engine->compiled ? 1 : 0, &compiled);
    }
    return status == CUDNN_STATUS_SUCCESS ? store_knobs(node, engine) : status;
}

/* Configurations ---------------------------------------------------------*/

/** The value of the knob that the choice names; false: there is none. */
static bool choose(const struct uc_engine *engine, const struct uc_node *choice,
                   int64_t knobs[UC_MOST_KNOBS])
{
    int type = uc_node_choice(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, -1);
    int64_t value =
        uc_node_number(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 0);

    for (int i = 0; i < engine->knob_count; i++) {
        const struct uc_knob_kind *knob = &engine->knobs[i];

        if ((int)knob->type == type) {
            knobs[i] = value == -1 ? knob->usual : value;
            return knobs[i] >= knob->least && knobs[i] <= knob->most;
        }
    }
    return false;
}

/** What a configuration costs; not supported with such choices. */
static cudnnStatus_t cost_of(struct uc_node *config,
                             const struct uc_node *engine_node)
{
    const struct uc_graph_operation *work = uc_graph_work(
        uc_node_part(engine_node, CUDNN_ATTR_ENGINE_OPERATION_GRAPH));
    const struct uc_engine *engine = uc_engine_find(
        uc_node_number(engine_node, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1), work);
    int64_t knobs[UC_MOST_KNOBS];
    int64_t count;
    struct uc_node *const *choices =
        uc_node_values(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, &count);

    for (int i = 0; i < UC_MOST_KNOBS; i++) {
        knobs[i] = engine->knobs[i].usual;
    }
    for (int64_t i = 0; i < count; i++) {
        if (!choose(engine, choices[i], knobs)) {
            return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED,
                                 "a choice that engine %d does not have",
                                 engine->index);
        }
    }
    uc_engine_cost(engine, work, knobs, &config->cost);
    uc_double_log("query op=%s algorithm=eng%d n=%lld workspace=%zu",
                  uc_double_operation_name(work->operation), engine->index,
                  (long long)work->geometry.n, config->cost.workspace_bytes);
    return config->cost.supported
               ? CUDNN_STATUS_SUCCESS
               : uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED,
                               "engine %d has not this beta", engine->index);
}

cudnnStatus_t uc_finalize_config(struct uc_node *node)
{
    const struct uc_node *engine =
        uc_node_part(node, CUDNN_ATTR_ENGINECFG_ENGINE);
    cudnnStatus_t status;
    int64_t bytes;

    if (!uc_node_is(engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR) ||
        !engine->finalized) { /* cuDNN crashes */
        uc_double_misuse("a configuration without a finalized engine");
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "no engine");
    }
    uc_double_add(UC_DOUBLE_QUERIES, 1);
    status = cost_of(node, engine);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    bytes = (int64_t)node->cost.workspace_bytes;
    return uc_node_store(node, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE,
                         CUDNN_TYPE_INT64, 1, &bytes);
}

/* Heuristics -------------------------------------------------------------*/

static cudnnStatus_t advise_knobs(struct uc_node *config,
                                  const struct uc_engine *engine,
                                  const struct uc_advice *advice)
{
    struct uc_node *choices[UC_MOST_KNOBS] = { NULL };
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    for (int i = 0; i < engine->knob_count; i++) {
        choices[i] = make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        if (!choices[i]) {
            status = CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
            goto out;
        }
        uc_node_store(choices[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                      CUDNN_TYPE_KNOB_TYPE, 1, &engine->knobs[i].type);
        uc_node_store(choices[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
                      CUDNN_TYPE_INT64, 1, &advice->knobs[i]);
    }
    status = uc_node_store(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, engine->knob_count,
                           choices);
out:
    for (int i = 0; i < UC_MOST_KNOBS; i++) {
        uc_node_release(choices[i]);
    }
    return status;
}

/** A finalized configuration, or NULL where the engine does not do it. */
static struct uc_node *advised(struct uc_node *heuristics,
                               struct uc_node *graph,
                               const struct uc_advice *advice)
{
    const int64_t index = advice->engine;
    struct uc_node *device =
        uc_node_part(heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
    struct uc_node *engine = uc_node_create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    struct uc_node *config = uc_node_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    cudnnStatus_t status = CUDNN_STATUS_INTERNAL_ERROR;

    if (!engine || !config) {
        goto out;
    }
    uc_node_store(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                  CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    uc_node_store(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
                  &index);
    if (device) {
        uc_node_store(engine, CUDNN_ATTR_ENGINE_DEVICEPROP,
                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &device);
    }
    status = uc_finalize_engine(engine);
    engine->finalized = true;
    if (status == CUDNN_STATUS_SUCCESS && advice->chooses) {
        status = advise_knobs(
            config, uc_engine_find(index, uc_graph_work(graph)), advice);
    }
    if (status == CUDNN_STATUS_SUCCESS) {
        uc_node_store(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
        status = uc_finalize_config(config);
        config->finalized = true;
    }
out:
    uc_node_release(engine);
    if (status != CUDNN_STATUS_SUCCESS) {
        uc_node_release(config);
        config = NULL;
    }
    return config;
}

cudnnStatus_t uc_finalize_heuristics(struct uc_node *node)
{
    struct uc_node *graph =
        uc_node_part(node, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    int mode = uc_node_choice(node, CUDNN_ATTR_ENGINEHEUR_MODE,
                              CUDNN_HEUR_MODE_INSTANT);
    cudnnStatus_t status = check_graph(graph, CUDNN_STATUS_BAD_PARAM);
    struct uc_advice advice[UC_MOST_ADVICE];
    struct uc_node *results[UC_MOST_ADVICE];
    const struct uc_graph_operation *work;
    struct uc_double_effects effects;
    int count = 0;
    int most;

    if (status == CUDNN_STATUS_SUCCESS) {
        status = check_place(node, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, graph);
    }
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    if (mode < 0 || mode >= CUDNN_HEUR_MODES_COUNT) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "heuristics %d", mode);
    }
    uc_double_add(UC_DOUBLE_HEURISTICS, 1);
    work = uc_graph_work(graph);
    uc_double_effects(work->operation, -1, work->geometry.n, work->beta,
                      UC_DOUBLE_ADVISE, &effects);
    status = uc_call_fail(&effects);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    most = uc_engine_advice(mode, work, advice);
    for (int i = 0; i < most; i++) {
        struct uc_node *config = advised(node, graph, &advice[i]);

        if (config) {
            results[count++] = config;
        }
    }
    status = uc_node_store(node, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, count, results);
    while (count > 0) {
        uc_node_release(results[--count]);
    }
    return status;
}

/* Execution plans --------------------------------------------------------*/

static void compile(void)
{
    struct timespec left = { 0, UC_COMPILE_MS * 1000000L };

    while (nanosleep(&left, &left) != 0) {
    }
}

cudnnStatus_t uc_finalize_plan(struct uc_node *node)
{
    const struct uc_node *config =
        uc_node_part(node, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    const struct uc_node *engine;
    const struct uc_node *graph;
    const struct uc_graph_operation *work;
    struct uc_double_effects effects;
    cudnnStatus_t status;
    int64_t bytes;
    int index;

    if (!uc_node_is(config, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) ||
        !config->finalized) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                             "plan: no finalized configuration");
    }
    engine = uc_node_part(config, CUDNN_ATTR_ENGINECFG_ENGINE);
    graph = uc_node_part(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    work = uc_graph_work(graph);
    status = check_place(node, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, graph);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    index = (int)uc_node_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1);
    uc_double_add(UC_DOUBLE_PLANS, 1);
    uc_double_log("plan op=%s algorithm=eng%d n=%lld beta=%g workspace=%zu",
                  uc_double_operation_name(work->operation), index,
                  (long long)work->geometry.n, work->beta,
                  config->cost.workspace_bytes);
    if (uc_double_capture_forbids("making an execution plan")) {
        uc_double_add(UC_DOUBLE_CAPTURED_PLANS, 1);
        return uc_cudnn_fail(CUDNN_STATUS_INTERNAL_ERROR,
                             "plan: not while a stream captures");
    }
    uc_double_effects(work->operation, UC_DOUBLE_ENGINE + index,
                      work->geometry.n, work->beta, UC_DOUBLE_BUILD, &effects);
    status = uc_call_fail(&effects);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    if (uc_engine_find(index, work)->compiled) {
        compile();
    }
    node->work = *work;
    node->cost = config->cost;
    bytes = (int64_t)node->cost.workspace_bytes;
    return uc_node_store(node, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                         CUDNN_TYPE_INT64, 1, &bytes);
}
