#include "config.h"

#include "runtime/engines.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RESULTS = 256, MOST_CHOICES = UC_MAX_KNOBS + 1 };

/** The graph at one micro-batch, and the candidates so far. */
struct search {
    const struct uc_cudnn *cudnn;
    bool runtime_compiled; /**< wanted */
    struct uc_graph graph;
    int engine_count; /**< the graph's */
    struct engine {
        cudnnBackendDescriptor_t descriptor; /**< NULL: not there */
        unsigned notes;
        bool tried;
    } engines[UC_ENGINES];
    void *list; /**< struct uc_engine_candidate */
    size_t count;
};

/** What cuDNN does not have is no error. */
static cudnnStatus_t or_none(cudnnStatus_t status)
{
    return uc_cudnn_is_unsupported(status) ? CUDNN_STATUS_SUCCESS : status;
}

/** The engine at the micro-batch into *out; NULL when cuDNN has none. */
static cudnnStatus_t find_engine(struct search *s, int index,
                                 const struct engine **out)
{
    struct engine *engine = &s->engines[index];
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    if (!engine->tried)
        status = uc_graph_engine(&s->graph, index, &engine->descriptor,
                                 &engine->notes);
    engine->tried = true;
    *out = engine->descriptor != NULL &&
                   (s->runtime_compiled ||
                    !(engine->notes & UC_NOTE_RUNTIME_COMPILED))
               ? engine
               : NULL;
    return or_none(status);
}

static bool is_listed(const struct search *s, const struct uc_kernel *kernel)
{
    const struct uc_engine_candidate *list = s->list;

    for (size_t i = 0; i < s->count; i++)
        if (uc_kernel_equal(&list[i].kernel, kernel))
            return true;
    return false;
}

/** Take the kernel if it is new and cuDNN has it at the micro-batch. */
static cudnnStatus_t take(struct search *s, const struct uc_kernel *kernel)
{
    const struct engine *engine;
    cudnnBackendDescriptor_t config;
    struct uc_engine_candidate *candidate;
    int64_t workspace_bytes;
    cudnnStatus_t status;

    if (kernel->engine >= s->engine_count || is_listed(s, kernel))
        return CUDNN_STATUS_SUCCESS;
    status = find_engine(s, kernel->engine, &engine);
    if (status != CUDNN_STATUS_SUCCESS || engine == NULL)
        return status;
    status = uc_graph_config(&s->graph, engine->descriptor, kernel, &config,
                             &workspace_bytes);
    if (status != CUDNN_STATUS_SUCCESS)
        return or_none(status);
    uc_descriptor_free(s->cudnn, config);
    candidate = uc_array_append(&s->list, &s->count, sizeof *candidate);
    if (candidate == NULL)
        return CUDNN_STATUS_ALLOC_FAILED;
    candidate->kernel = *kernel;
    candidate->notes = engine->notes;
    candidate->workspace_bytes = workspace_bytes;
    return CUDNN_STATUS_SUCCESS;
}

/* What a heuristic says --------------------------------------------------*/

static int by_type(const void *a, const void *b)
{
    const struct uc_knob *left = a, *right = b;

    return (left->type > right->type) - (left->type < right->type);
}

static cudnnStatus_t read_knobs(const struct uc_cudnn *cudnn,
                                cudnnBackendDescriptor_t config,
                                struct uc_kernel *kernel)
{
    struct uc_builder b = { cudnn, CUDNN_STATUS_SUCCESS };
    cudnnBackendDescriptor_t choices[MOST_CHOICES];
    int64_t count = 0;

    for (int i = 0; i < MOST_CHOICES; i++)
        choices[i] = uc_build(&b, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    if (b.status == CUDNN_STATUS_SUCCESS)
        b.status = cudnn->BackendGetAttribute(
            config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
            CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST_CHOICES, &count, choices);
    if (b.status == CUDNN_STATUS_SUCCESS && count > UC_MAX_KNOBS)
        b.status = CUDNN_STATUS_NOT_SUPPORTED;
    for (int i = 0; i < count && b.status == CUDNN_STATUS_SUCCESS; i++) {
        cudnnBackendKnobType_t type;
        int64_t value = 0;

        b.status = uc_descriptor_get(cudnn, choices[i],
                                     CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                                     CUDNN_TYPE_KNOB_TYPE, &type);
        if (b.status == CUDNN_STATUS_SUCCESS)
            b.status = uc_descriptor_get(cudnn, choices[i],
                                         CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
                                         CUDNN_TYPE_INT64, &value);
        if (b.status == CUDNN_STATUS_SUCCESS &&
            (value <= -UC_KNOB_VALUES || value >= UC_KNOB_VALUES))
            b.status = CUDNN_STATUS_NOT_SUPPORTED;
        if (b.status == CUDNN_STATUS_SUCCESS)
            kernel->knobs[kernel->knob_count++] =
                (struct uc_knob){ (int)type, (int)value };
    }
    for (int i = 0; i < MOST_CHOICES; i++)
        uc_descriptor_free(cudnn, choices[i]);
    qsort(kernel->knobs, (size_t)kernel->knob_count, sizeof *kernel->knobs,
          by_type);
    return b.status;
}

/** The identity of an engine configuration. */
static cudnnStatus_t read_kernel(const struct uc_cudnn *cudnn,
                                 cudnnBackendDescriptor_t config,
                                 struct uc_kernel *kernel)
{
    struct uc_builder b = { cudnn, CUDNN_STATUS_SUCCESS };
    cudnnBackendDescriptor_t engine =
        uc_build(&b, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    struct uc_kernel k = { .api = UC_API_GRAPH };
    int64_t index = 0;

    if (b.status == CUDNN_STATUS_SUCCESS)
        b.status = uc_descriptor_get(cudnn, config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, &engine);
    if (b.status == CUDNN_STATUS_SUCCESS)
        b.status =
            uc_descriptor_get(cudnn, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                              CUDNN_TYPE_INT64, &index);
    uc_descriptor_free(cudnn, engine);
    if (b.status == CUDNN_STATUS_SUCCESS && (index < 0 || index >= UC_ENGINES))
        b.status = CUDNN_STATUS_NOT_SUPPORTED;
    k.engine = (int)index;
    if (b.status == CUDNN_STATUS_SUCCESS)
        b.status = read_knobs(cudnn, config, &k);
    if (b.status == CUDNN_STATUS_SUCCESS)
        *kernel = k;
    return b.status;
}

/**
 * A heuristic's results, which are the caller's to destroy. The first call
 * counts more than the second fills.
 */
static cudnnStatus_t ask(const struct uc_graph *graph,
                         cudnnBackendHeurMode_t mode,
                         cudnnBackendDescriptor_t results[MOST_RESULTS],
                         int64_t *count)
{
    const struct uc_cudnn *cudnn = graph->cudnn;
    struct uc_builder b = { cudnn, CUDNN_STATUS_SUCCESS };
    cudnnBackendDescriptor_t heuristic =
        uc_build(&b, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);

    uc_build_set(&b, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph->graph);
    uc_build_set(&b, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE,
                 CUDNN_TYPE_HEUR_MODE, 1, &mode);
    uc_build_place(&b, &graph->place, heuristic, UC_PLACED_HEURISTIC);
    uc_build_finalize(&b, heuristic);
    for (int i = 0; i < MOST_RESULTS; i++)
        results[i] = uc_build(&b, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    *count = 0;
    if (b.status == CUDNN_STATUS_SUCCESS)
        b.status = cudnn->BackendGetAttribute(
            heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
            CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST_RESULTS, count, results);
    if (*count > MOST_RESULTS)
        *count = MOST_RESULTS;
    uc_descriptor_free(cudnn, heuristic);
    return b.status;
}

/** Take the first `most` that a heuristic names. One that has nothing to say
    is no error. */
static cudnnStatus_t take_named(struct search *s, cudnnBackendHeurMode_t mode,
                                int64_t most)
{
    cudnnBackendDescriptor_t results[MOST_RESULTS];
    struct uc_kernel kernel;
    int64_t count;
    cudnnStatus_t status = or_none(ask(&s->graph, mode, results, &count));

    for (int64_t i = 0; i < count && i < most && status == CUDNN_STATUS_SUCCESS;
         i++) {
        status = read_kernel(s->cudnn, results[i], &kernel);
        status =
            status == CUDNN_STATUS_SUCCESS ? take(s, &kernel) : or_none(status);
    }
    for (int i = 0; i < MOST_RESULTS; i++)
        uc_descriptor_free(s->cudnn, results[i]);
    return status;
}

static cudnnStatus_t take_defaults(struct search *s)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    for (int i = 0; i < s->engine_count && status == CUDNN_STATUS_SUCCESS;
         i++) {
        struct uc_kernel kernel = { .api = UC_API_GRAPH, .engine = i };

        status = take(s, &kernel);
    }
    return status;
}

/* What is like a kernel ---------------------------------------------------*/

/** The kernel with the knob at the value; false when it has too many. */
static bool set_knob(struct uc_kernel *kernel, int type, int value)
{
    int at = 0;

    while (at < kernel->knob_count && kernel->knobs[at].type < type)
        at++;
    if (at == kernel->knob_count || kernel->knobs[at].type != type) {
        if (kernel->knob_count == UC_MAX_KNOBS)
            return false;
        memmove(&kernel->knobs[at + 1], &kernel->knobs[at],
                (size_t)(kernel->knob_count - at) * sizeof *kernel->knobs);
        kernel->knob_count++;
    }
    kernel->knobs[at] = (struct uc_knob){ type, value };
    return true;
}

static cudnnStatus_t take_with(struct search *s, const struct uc_kernel *like,
                               const struct uc_graph_knob *knob, int64_t value)
{
    struct uc_kernel kernel = *like;

    value -= (value - knob->lowest) % knob->stride;
    if (value < knob->lowest || value > knob->highest ||
        value <= -UC_KNOB_VALUES || value >= UC_KNOB_VALUES ||
        !set_knob(&kernel, knob->type, (int)value))
        return CUDNN_STATUS_SUCCESS;
    return take(s, &kernel);
}

/** Its chosen value; 0: cuDNN chooses, or that is what was chosen. */
static int64_t chosen(const struct uc_kernel *kernel, int type)
{
    for (int i = 0; i < kernel->knob_count; i++)
        if (kernel->knobs[i].type == type)
            return kernel->knobs[i].value;
    return 0;
}

/** The knob has too many values to take each. */
static cudnnStatus_t take_some_of(struct search *s,
                                  const struct uc_kernel *like,
                                  const struct uc_graph_knob *knob)
{
    static const int percent[] = {
        25, 50, 66, 75, 90, 110, 125, 150, 200, 400
    };
    enum { PERCENTS = sizeof percent / sizeof *percent };
    int64_t value = chosen(like, knob->type);
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    if (value > 0) {
        for (int i = 0; i < PERCENTS && status == CUDNN_STATUS_SUCCESS; i++)
            status = take_with(s, like, knob, value * percent[i] / 100);
        return status;
    }
    for (int64_t power = 1;
         power <= knob->highest && status == CUDNN_STATUS_SUCCESS; power *= 2)
        status = take_with(s, like, knob, power);
    return status;
}

static cudnnStatus_t take_turned(struct search *s, const struct uc_kernel *like,
                                 const struct uc_graph_knob *knob)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    if (knob->stride < 1 || knob->highest > UC_KNOB_VALUES ||
        knob->lowest < -UC_KNOB_VALUES)
        return CUDNN_STATUS_SUCCESS;
    if ((knob->highest - knob->lowest) / knob->stride >= UC_ENGINES_KNOB_VALUES)
        return take_some_of(s, like, knob);
    for (int64_t value = knob->lowest;
         value <= knob->highest && status == CUDNN_STATUS_SUCCESS;
         value += knob->stride)
        status = take_with(s, like, knob, value);
    return status;
}

static cudnnStatus_t take_like(struct search *s, const struct uc_kernel *kernel)
{
    struct uc_graph_knob knobs[UC_MAX_KNOBS];
    const struct engine *engine = NULL;
    int count = 0;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    if (kernel->api != UC_API_GRAPH || kernel->engine >= s->engine_count)
        return CUDNN_STATUS_SUCCESS;
    status = take(s, kernel);
    if (status == CUDNN_STATUS_SUCCESS)
        status = find_engine(s, kernel->engine, &engine);
    if (status == CUDNN_STATUS_SUCCESS && engine != NULL)
        status = or_none(
            uc_graph_knobs(&s->graph, engine->descriptor, knobs, &count));
    for (int i = 0; i < count && status == CUDNN_STATUS_SUCCESS; i++)
        status = take_turned(s, kernel, &knobs[i]);
    return status;
}

/* The search -------------------------------------------------------------*/

struct uc_engines {
    const struct uc_cudnn *cudnn; /**< borrowed */
    struct uc_graph_place place;
    struct uc_problem problem;
    struct uc_scaling scaling;
    bool runtime_compiled;
    struct uc_engine_candidate *whole; /**< owned: those at the full batch */
    size_t whole_count;
};

static void close_search(struct search *s)
{
    for (int i = 0; i < s->engine_count; i++)
        uc_descriptor_free(s->cudnn, s->engines[i].descriptor);
    uc_graph_close(&s->graph);
    free(s->list);
    free(s);
}

static cudnnStatus_t open_search(const struct uc_engines *e,
                                 int64_t micro_batch, struct search **out)
{
    struct search *s = calloc(1, sizeof *s);
    int64_t engines = 0;
    cudnnStatus_t status;

    if (s == NULL)
        return CUDNN_STATUS_ALLOC_FAILED;
    s->cudnn = e->cudnn;
    s->runtime_compiled = e->runtime_compiled;
    status = uc_graph_open(e->cudnn, &e->place, &e->problem, micro_batch,
                           &e->scaling, &s->graph);
    if (status == CUDNN_STATUS_SUCCESS)
        status =
            uc_descriptor_get(e->cudnn, s->graph.graph,
                              CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
                              CUDNN_TYPE_INT64, &engines);
    if (status != CUDNN_STATUS_SUCCESS) {
        close_search(s);
        return status;
    }
    s->engine_count = engines < UC_ENGINES ? (int)engines : UC_ENGINES;
    *out = s;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t take_whole(struct search *s)
{
    cudnnStatus_t status =
        take_named(s, CUDNN_HEUR_MODE_A, UC_ENGINES_FIRST_CHOICES);

    if (status == CUDNN_STATUS_SUCCESS)
        status = take_named(s, CUDNN_HEUR_MODE_FALLBACK, MOST_RESULTS);
    return status == CUDNN_STATUS_SUCCESS ? take_defaults(s) : status;
}

static cudnnStatus_t take_micro(struct search *s, const struct uc_engines *e)
{
    cudnnStatus_t status =
        take_named(s, CUDNN_HEUR_MODE_A, UC_ENGINES_FIRST_CHOICES);

    for (size_t i = 0; i < e->whole_count && status == CUDNN_STATUS_SUCCESS;
         i++)
        status = take(s, &e->whole[i].kernel);
    return status;
}

/** The search's list, if all went well. */
static cudnnStatus_t end_search(struct search *s, cudnnStatus_t status,
                                struct uc_engine_candidate **list,
                                size_t *count)
{
    status = or_none(status);
    if (status == CUDNN_STATUS_SUCCESS) {
        *list = s != NULL ? s->list : NULL;
        *count = s != NULL ? s->count : 0;
    }
    if (s != NULL) {
        if (status == CUDNN_STATUS_SUCCESS)
            s->list = NULL;
        close_search(s);
    }
    return status;
}

cudnnStatus_t uc_engines_open(const struct uc_cudnn *cudnn,
                              const struct uc_graph_place *place,
                              const struct uc_problem *problem, int64_t batch,
                              bool accumulate, bool runtime_compiled,
                              struct uc_engines **out)
{
    struct uc_engines *e = calloc(1, sizeof *e);
    struct search *s = NULL;
    cudnnStatus_t status;

    if (e == NULL)
        return CUDNN_STATUS_ALLOC_FAILED;
    e->cudnn = cudnn;
    e->place = *place;
    e->problem = *problem;
    e->scaling = (struct uc_scaling){ 1, accumulate ? 1 : 0 };
    e->runtime_compiled = runtime_compiled;
    status = open_search(e, batch, &s);
    if (status == CUDNN_STATUS_SUCCESS)
        status = take_whole(s);
    status = end_search(s, status, &e->whole, &e->whole_count);
    if (status != CUDNN_STATUS_SUCCESS) {
        uc_engines_close(e);
        return status;
    }
    *out = e;
    return CUDNN_STATUS_SUCCESS;
}

void uc_engines_close(struct uc_engines *engines)
{
    if (engines == NULL)
        return;
    free(engines->whole);
    free(engines);
}

cudnnStatus_t uc_engines_at(const struct uc_engines *engines,
                            int64_t micro_batch,
                            struct uc_engine_candidate **list, size_t *count)
{
    struct search *s = NULL;
    cudnnStatus_t status = open_search(engines, micro_batch, &s);

    if (status == CUDNN_STATUS_SUCCESS)
        status = take_micro(s, engines);
    return end_search(s, status, list, count);
}

cudnnStatus_t uc_engines_near(const struct uc_engines *engines,
                              int64_t micro_batch,
                              const struct uc_kernel *kernels,
                              size_t kernel_count,
                              struct uc_engine_candidate **list, size_t *count)
{
    struct search *s = NULL;
    cudnnStatus_t status = open_search(engines, micro_batch, &s);

    for (size_t i = 0; i < kernel_count && status == CUDNN_STATUS_SUCCESS; i++)
        status = take_like(s, &kernels[i]);
    return end_search(s, status, list, count);
}
