#include "config.h"

#include "runtime/graph.h"

#include "runtime/geometry.h"

/* Descriptors ------------------------------------------------------------*/

cudnnBackendDescriptor_t uc_build(struct uc_builder *b,
                                  cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t descriptor = NULL;

    if (b->status == CUDNN_STATUS_SUCCESS)
        b->status = b->cudnn->BackendCreateDescriptor(type, &descriptor);
    return b->status == CUDNN_STATUS_SUCCESS ? descriptor : NULL;
}

void uc_build_set(struct uc_builder *b, cudnnBackendDescriptor_t descriptor,
                  cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t count,
                  const void *values)
{
    if (b->status == CUDNN_STATUS_SUCCESS)
        b->status = b->cudnn->BackendSetAttribute(descriptor, name, type, count,
                                                  values);
}

void uc_build_finalize(struct uc_builder *b,
                       cudnnBackendDescriptor_t descriptor)
{
    if (b->status == CUDNN_STATUS_SUCCESS)
        b->status = b->cudnn->BackendFinalize(descriptor);
}

void uc_build_place(struct uc_builder *b, const struct uc_graph_place *place,
                    cudnnBackendDescriptor_t descriptor, enum uc_placed what)
{
#if CUDNN_VERSION >= 90800
    static const cudnnBackendAttributeName_t names[] = {
        [UC_PLACED_HEURISTIC] = CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
        [UC_PLACED_ENGINE] = CUDNN_ATTR_ENGINE_DEVICEPROP,
        [UC_PLACED_PLAN] = CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
    };

    if (place->device != NULL)
        uc_build_set(b, descriptor, names[what], CUDNN_TYPE_BACKEND_DESCRIPTOR,
                     1, &place->device);
#else
    (void)descriptor;
    (void)what;
    if (place->device != NULL && b->status == CUDNN_STATUS_SUCCESS)
        b->status = CUDNN_STATUS_NOT_SUPPORTED;
#endif
}

void uc_descriptor_free(const struct uc_cudnn *cudnn,
                        cudnnBackendDescriptor_t descriptor)
{
    if (descriptor != NULL)
        cudnn->BackendDestroyDescriptor(descriptor);
}

cudnnStatus_t uc_descriptor_get(const struct uc_cudnn *cudnn,
                                cudnnBackendDescriptor_t descriptor,
                                cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type, void *value)
{
    int64_t count = 0;
    cudnnStatus_t status =
        cudnn->BackendGetAttribute(descriptor, name, type, 1, &count, value);

    return status == CUDNN_STATUS_SUCCESS && count != 1
               ? CUDNN_STATUS_INTERNAL_ERROR
               : status;
}

/* The operation graph ----------------------------------------------------*/

/** The names of one operation's parts: alpha, beta, convolution, tensors. */
struct operation_names {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t alpha, beta, convolution, tensors[3];
};

static const struct operation_names operations[UC_OPERATIONS] = {
    [UC_FORWARD] = { CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                     { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y } },
    [UC_BACKWARD_DATA] = { CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                           { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY } },
    [UC_BACKWARD_FILTER] = { CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                             { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY } },
};

static cudnnBackendDescriptor_t tensor(struct uc_builder *b,
                                       const struct uc_geometry *geometry,
                                       enum uc_tensor which)
{
    const struct uc_geometry_tensor *t = &geometry->tensors[which];
    const int64_t uid = UC_GRAPH_X + (int64_t)which;
    const int64_t alignment = UC_ALIGNMENT;
    cudnnBackendDescriptor_t d = uc_build(b, CUDNN_BACKEND_TENSOR_DESCRIPTOR);

    uc_build_set(b, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    uc_build_set(b, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
                 &t->type);
    uc_build_set(b, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                 geometry->dims, t->extents);
    uc_build_set(b, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
                 geometry->dims, t->strides);
    uc_build_set(b, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
                 &alignment);
    uc_build_finalize(b, d);
    return d;
}

static cudnnBackendDescriptor_t convolution(struct uc_builder *b,
                                            const struct uc_geometry *g)
{
    const int64_t spatial = g->spatial;
    cudnnBackendDescriptor_t d =
        uc_build(b, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);

    uc_build_set(b, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1,
                 &spatial);
    uc_build_set(b, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
                 1, &g->compute);
    uc_build_set(b, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                 CUDNN_TYPE_CONVOLUTION_MODE, 1, &g->mode);
    uc_build_set(b, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64,
                 spatial, g->pad);
    uc_build_set(b, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64,
                 spatial, g->pad);
    uc_build_set(b, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64,
                 spatial, g->stride);
    uc_build_set(b, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64,
                 spatial, g->dilation);
    uc_build_finalize(b, d);
    return d;
}

static cudnnBackendDescriptor_t operation(struct uc_builder *b,
                                          const struct uc_graph *graph,
                                          enum uc_operation which,
                                          cudnnDataType_t compute,
                                          const struct uc_scaling *scaling)
{
    const struct operation_names *names = &operations[which];
    const bool wide = compute == CUDNN_DATA_DOUBLE;
    const cudnnBackendAttributeType_t type =
        wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
    const float alpha = (float)scaling->alpha, beta = (float)scaling->beta;
    cudnnBackendDescriptor_t d = uc_build(b, names->type);

    uc_build_set(b, d, names->alpha, type, 1,
                 wide ? (const void *)&scaling->alpha : &alpha);
    uc_build_set(b, d, names->beta, type, 1,
                 wide ? (const void *)&scaling->beta : &beta);
    uc_build_set(b, d, names->convolution, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                 &graph->convolution);
    for (int t = UC_X; t <= UC_Y; t++)
        uc_build_set(b, d, names->tensors[t], CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                     &graph->tensors[t]);
    uc_build_finalize(b, d);
    return d;
}

cudnnStatus_t uc_graph_open(const struct uc_cudnn *cudnn,
                            const struct uc_graph_place *place,
                            const struct uc_problem *problem,
                            int64_t micro_batch,
                            const struct uc_scaling *scaling,
                            struct uc_graph *graph)
{
    struct uc_builder b = { cudnn, CUDNN_STATUS_SUCCESS };
    struct uc_graph g = { .cudnn = cudnn, .place = *place };
    struct uc_geometry geometry;

    uc_geometry_make(problem, micro_batch, &geometry);
    for (int t = UC_X; t <= UC_Y; t++)
        g.tensors[t] = tensor(&b, &geometry, (enum uc_tensor)t);
    g.convolution = convolution(&b, &geometry);
    g.operation =
        operation(&b, &g, problem->operation, geometry.compute, scaling);
    g.graph = uc_build(&b, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    uc_build_set(&b, g.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &g.operation);
    if (place->handle != NULL)
        uc_build_set(&b, g.graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
                     CUDNN_TYPE_HANDLE, 1, &place->handle);
    uc_build_finalize(&b, g.graph);
    if (b.status != CUDNN_STATUS_SUCCESS) {
        uc_graph_close(&g);
        return b.status;
    }
    *graph = g;
    return CUDNN_STATUS_SUCCESS;
}

void uc_graph_close(struct uc_graph *graph)
{
    uc_descriptor_free(graph->cudnn, graph->graph);
    uc_descriptor_free(graph->cudnn, graph->operation);
    uc_descriptor_free(graph->cudnn, graph->convolution);
    for (int t = UC_X; t <= UC_Y; t++)
        uc_descriptor_free(graph->cudnn, graph->tensors[t]);
    *graph = (struct uc_graph){ 0 };
}

/* Engines ----------------------------------------------------------------*/

static cudnnStatus_t read_notes(const struct uc_cudnn *cudnn,
                                cudnnBackendDescriptor_t engine,
                                unsigned *notes)
{
    static const unsigned numerical[CUDNN_NUMERICAL_NOTE_TYPE_COUNT] = {
        [CUDNN_NUMERICAL_NOTE_TENSOR_CORE] = UC_NOTE_TENSOR_CORE,
        [CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS] = UC_NOTE_DOWN_CONVERT,
        [CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION] =
            UC_NOTE_REDUCED_PRECISION,
        [CUDNN_NUMERICAL_NOTE_FFT] = UC_NOTE_FFT,
        [CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC] = UC_NOTE_NONDETERMINISTIC,
        [CUDNN_NUMERICAL_NOTE_WINOGRAD] = UC_NOTE_WINOGRAD,
        [CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4] = UC_NOTE_WINOGRAD,
        [CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6] = UC_NOTE_WINOGRAD,
        [CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13] = UC_NOTE_WINOGRAD,
    };
    enum { MOST = 64 };
    cudnnBackendNumericalNote_t numbers[MOST];
    cudnnBackendBehaviorNote_t behaviours[MOST];
    int64_t count = 0;
    unsigned bits = 0;
    cudnnStatus_t status = cudnn->BackendGetAttribute(
        engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
        MOST, &count, numbers);

    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    for (int64_t i = 0; i < count && i < MOST; i++)
        if ((unsigned)numbers[i] < CUDNN_NUMERICAL_NOTE_TYPE_COUNT)
            bits |= numerical[numbers[i]];
    status = cudnn->BackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                        CUDNN_TYPE_BEHAVIOR_NOTE, MOST, &count,
                                        behaviours);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    for (int64_t i = 0; i < count && i < MOST; i++)
        if (behaviours[i] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION)
            bits |= UC_NOTE_RUNTIME_COMPILED;
    *notes = bits;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t uc_graph_engine(const struct uc_graph *graph, int index,
                              cudnnBackendDescriptor_t *engine, unsigned *notes)
{
    struct uc_builder b = { graph->cudnn, CUDNN_STATUS_SUCCESS };
    cudnnBackendDescriptor_t d = uc_build(&b, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    const int64_t global_index = index;

    uc_build_set(&b, d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph->graph);
    uc_build_set(&b, d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
                 &global_index);
    uc_build_place(&b, &graph->place, d, UC_PLACED_ENGINE);
    uc_build_finalize(&b, d);
    if (b.status == CUDNN_STATUS_SUCCESS)
        b.status = read_notes(graph->cudnn, d, notes);
    if (b.status != CUDNN_STATUS_SUCCESS)
        uc_descriptor_free(graph->cudnn, d);
    else
        *engine = d;
    return b.status;
}

static cudnnStatus_t read_knob(const struct uc_cudnn *cudnn,
                               cudnnBackendDescriptor_t info,
                               struct uc_graph_knob *knob)
{
    const struct {
        cudnnBackendAttributeName_t name;
        int64_t *value;
    } numbers[] = {
        { CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, &knob->lowest },
        { CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, &knob->highest },
        { CUDNN_ATTR_KNOB_INFO_STRIDE, &knob->stride },
    };
    cudnnBackendKnobType_t type;
    cudnnStatus_t status = uc_descriptor_get(
        cudnn, info, CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE, &type);

    for (int i = 0; i < 3 && status == CUDNN_STATUS_SUCCESS; i++)
        status = uc_descriptor_get(cudnn, info, numbers[i].name,
                                   CUDNN_TYPE_INT64, numbers[i].value);
    if (status == CUDNN_STATUS_SUCCESS)
        knob->type = (int)type;
    return status;
}

cudnnStatus_t uc_graph_knobs(const struct uc_graph *graph,
                             cudnnBackendDescriptor_t engine,
                             struct uc_graph_knob knobs[UC_MAX_KNOBS],
                             int *count)
{
    struct uc_builder b = { graph->cudnn, CUDNN_STATUS_SUCCESS };
    cudnnBackendDescriptor_t infos[UC_MAX_KNOBS];
    int64_t there = 0;

    for (int i = 0; i < UC_MAX_KNOBS; i++)
        infos[i] = uc_build(&b, CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR);
    if (b.status == CUDNN_STATUS_SUCCESS)
        b.status = graph->cudnn->BackendGetAttribute(
            engine, CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            UC_MAX_KNOBS, &there, infos);
    if (there > UC_MAX_KNOBS)
        there = UC_MAX_KNOBS;
    for (int i = 0; i < there && b.status == CUDNN_STATUS_SUCCESS; i++)
        b.status = read_knob(graph->cudnn, infos[i], &knobs[i]);
    for (int i = 0; i < UC_MAX_KNOBS; i++)
        uc_descriptor_free(graph->cudnn, infos[i]);
    if (b.status == CUDNN_STATUS_SUCCESS)
        *count = (int)there;
    return b.status;
}

static cudnnBackendDescriptor_t knob_choice(struct uc_builder *b,
                                            const struct uc_knob *knob)
{
    const cudnnBackendKnobType_t type = (cudnnBackendKnobType_t)knob->type;
    const int64_t value = knob->value;
    cudnnBackendDescriptor_t d =
        uc_build(b, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);

    uc_build_set(b, d, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
                 1, &type);
    uc_build_set(b, d, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
                 &value);
    uc_build_finalize(b, d);
    return d;
}

cudnnStatus_t uc_graph_config(const struct uc_graph *graph,
                              cudnnBackendDescriptor_t engine,
                              const struct uc_kernel *kernel,
                              cudnnBackendDescriptor_t *config,
                              int64_t *workspace_bytes)
{
    const struct uc_cudnn *cudnn = graph->cudnn;
    struct uc_builder b = { cudnn, CUDNN_STATUS_SUCCESS };
    cudnnBackendDescriptor_t choices[UC_MAX_KNOBS], d;
    int64_t count, bytes = 0;

    for (int i = 0; i < kernel->knob_count; i++)
        choices[i] = knob_choice(&b, &kernel->knobs[i]);
    d = uc_build(&b, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    uc_build_set(&b, d, CUDNN_ATTR_ENGINECFG_ENGINE,
                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    if (kernel->knob_count > 0)
        uc_build_set(&b, d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                     CUDNN_TYPE_BACKEND_DESCRIPTOR, kernel->knob_count,
                     choices);
    uc_build_finalize(&b, d);
    if (b.status == CUDNN_STATUS_SUCCESS)
        b.status =
            cudnn->BackendGetAttribute(d, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE,
                                       CUDNN_TYPE_INT64, 1, &count, &bytes);
    for (int i = 0; i < kernel->knob_count; i++)
        uc_descriptor_free(cudnn, choices[i]);
    if (b.status != CUDNN_STATUS_SUCCESS) {
        uc_descriptor_free(cudnn, d);
        return b.status;
    }
    *config = d;
    *workspace_bytes = bytes;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t uc_graph_plan(const struct uc_graph *graph,
                            cudnnBackendDescriptor_t config,
                            cudnnBackendDescriptor_t *plan,
                            int64_t *workspace_bytes)
{
    const struct uc_cudnn *cudnn = graph->cudnn;
    struct uc_builder b = { cudnn, CUDNN_STATUS_SUCCESS };
    cudnnBackendDescriptor_t d =
        uc_build(&b, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t count, bytes = 0;

    uc_build_set(&b, d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
    uc_build_place(&b, &graph->place, d, UC_PLACED_PLAN);
    uc_build_finalize(&b, d);
    if (b.status == CUDNN_STATUS_SUCCESS)
        b.status = cudnn->BackendGetAttribute(
            d, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
            &count, &bytes);
    if (b.status != CUDNN_STATUS_SUCCESS) {
        uc_descriptor_free(cudnn, d);
        return b.status;
    }
    *plan = d;
    *workspace_bytes = bytes;
    return CUDNN_STATUS_SUCCESS;
}
