#include "config.h"

#include "tests/graph_support.h"

#include <math.h>

descriptor graph_create(cudnnBackendDescriptorType_t type)
{
    descriptor d = NULL;

    assert_int_equal(cudnnBackendCreateDescriptor(type, &d), 0);
    return d;
}

void graph_destroy(descriptor d)
{
    if (d) {
        assert_int_equal(cudnnBackendDestroyDescriptor(d), 0);
    }
}

void graph_set(descriptor d, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t count,
               const void *values)
{
    assert_int_equal(cudnnBackendSetAttribute(d, name, type, count, values), 0);
}

int64_t graph_number(descriptor d, cudnnBackendAttributeName_t name)
{
    int64_t value = -1;
    int64_t count = -1;

    assert_int_equal(
        cudnnBackendGetAttribute(d, name, CUDNN_TYPE_INT64, 1, &count, &value),
        0);
    assert_int_equal(count, 1);
    return value;
}

static void finish(descriptor d)
{
    assert_int_equal(cudnnBackendFinalize(d), 0);
}

static descriptor tensor(const struct uc_case *c, int which, int64_t alignment)
{
    static const cudnnDataType_t types[UC_NUMBERS] = {
        [UC_NUMBER_FP32] = CUDNN_DATA_FLOAT,
        [UC_NUMBER_FP16] = CUDNN_DATA_HALF,
        [UC_NUMBER_BF16] = CUDNN_DATA_BFLOAT16,
        [UC_NUMBER_FP64] = CUDNN_DATA_DOUBLE,
    };
    int64_t uid = 10 + which;
    int64_t extent[5];
    int64_t stride[5];
    int dims = c->shape.spatial + 2;
    descriptor d = graph_create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);

    for (int i = 0; i < dims; i++) {
        extent[i] = c->extent[which][i];
        stride[i] = c->step[which][i];
    }
    graph_set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    graph_set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
              &types[c->type]);
    graph_set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims, extent);
    graph_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, dims, stride);
    graph_set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
              &alignment);
    finish(d);
    return d;
}

static void set_integers(descriptor d, cudnnBackendAttributeName_t name,
                         int count, const int *values)
{
    int64_t wide[3];

    for (int i = 0; i < count; i++) {
        wide[i] = values[i];
    }
    graph_set(d, name, CUDNN_TYPE_INT64, count, wide);
}

static descriptor convolution(const struct uc_case *c)
{
    const struct shape *s = &c->shape;
    descriptor d = graph_create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    cudnnDataType_t type =
        c->type == UC_NUMBER_FP64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode =
        s->flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;

    set_integers(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 1, &s->spatial);
    graph_set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
              &type);
    graph_set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
              1, &mode);
    set_integers(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, s->spatial, s->pad);
    set_integers(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, s->spatial, s->pad);
    set_integers(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, s->spatial,
                 s->stride);
    set_integers(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, s->spatial, s->dilation);
    finish(d);
    return d;
}

void graph_open_aligned(struct graph *g, const struct uc_case *c,
                        enum uc_double_operation op, double alpha, double beta,
                        int64_t alignment)
{
    static const cudnnBackendDescriptorType_t types[] = {
        CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
        CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
        CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
    };
    /* alpha, beta, convolution, x, w, y */
    static const cudnnBackendAttributeName_t names[][6] = {
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY },
    };
    float scales[2] = { (float)alpha, (float)beta };
    double wide[2] = { alpha, beta };
    bool is_wide = c->type == UC_NUMBER_FP64;

    g->convolution = convolution(c);
    g->operation = graph_create(types[op]);
    for (int i = 0; i < 2; i++) {
        graph_set(g->operation, names[op][i],
                  is_wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT, 1,
                  is_wide ? (void *)&wide[i] : (void *)&scales[i]);
    }
    graph_set(g->operation, names[op][2], CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
              &g->convolution);
    for (int t = X; t <= Y; t++) {
        g->tensors[t] = tensor(c, t, alignment);
        graph_set(g->operation, names[op][3 + t], CUDNN_TYPE_BACKEND_DESCRIPTOR,
                  1, &g->tensors[t]);
    }
    finish(g->operation);
    g->graph = graph_create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph_set(g->graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &g->operation);
    graph_set(g->graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1,
              &double_handle);
    finish(g->graph);
}

void graph_open(struct graph *g, const struct uc_case *c,
                enum uc_double_operation op, double alpha, double beta)
{
    graph_open_aligned(g, c, op, alpha, beta, 16);
}

void graph_close(struct graph *g)
{
    for (int t = X; t <= Y; t++) {
        graph_destroy(g->tensors[t]);
    }
    graph_destroy(g->convolution);
    graph_destroy(g->operation);
    graph_destroy(g->graph);
}

/** Keeps it only if it can be finalized. */
static cudnnStatus_t keep(descriptor d, descriptor *to)
{
    cudnnStatus_t status = cudnnBackendFinalize(d);

    *to = d;
    if (status != CUDNN_STATUS_SUCCESS) {
        graph_destroy(d);
        *to = NULL;
    }
    return status;
}

cudnnStatus_t graph_engine(const struct graph *g, int64_t index,
                           descriptor *engine)
{
    descriptor d = graph_create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);

    graph_set(d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &g->graph);
    graph_set(d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
    return keep(d, engine);
}

cudnnStatus_t graph_config(const struct graph *g, int64_t index,
                           const struct choices *choices, descriptor *config)
{
    descriptor knobs[2] = { NULL, NULL };
    descriptor engine;
    descriptor d;
    cudnnStatus_t status = graph_engine(g, index, &engine);

    *config = NULL;
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    d = graph_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    graph_set(d, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
              &engine);
    for (int i = 0; choices && i < choices->count; i++) {
        knobs[i] = graph_create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        graph_set(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                  CUDNN_TYPE_KNOB_TYPE, 1, &choices->type[i]);
        graph_set(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64,
                  1, &choices->value[i]);
        finish(knobs[i]);
    }
    if (choices) {
        graph_set(d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                  CUDNN_TYPE_BACKEND_DESCRIPTOR, choices->count, knobs);
    }
    status = keep(d, config);
    graph_destroy(knobs[0]);
    graph_destroy(knobs[1]);
    graph_destroy(engine);
    return status;
}

cudnnStatus_t graph_plan(descriptor config, descriptor *plan)
{
    descriptor d = graph_create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);

    graph_set(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
    return keep(d, plan);
}

descriptor graph_plan_at(const struct uc_case *c, enum uc_double_operation op,
                         int64_t index, double beta, int64_t alignment)
{
    struct graph g;
    descriptor config;
    descriptor plan;

    graph_open_aligned(&g, c, op, 1, beta, alignment);
    assert_int_equal(graph_config(&g, index, NULL, &config), 0);
    graph_close(&g);
    assert_int_equal(graph_plan(config, &plan), 0);
    graph_destroy(config);
    return plan;
}

descriptor graph_pack(const struct uc_case *c)
{
    int64_t uids[3] = { 10 + Y, 10 + X, 10 + W };
    void *data[3] = { (void *)(uintptr_t)c->device[Y],
                      (void *)(uintptr_t)c->device[X],
                      (void *)(uintptr_t)c->device[W] };
    void *workspace = (void *)(uintptr_t)c->workspace;
    descriptor d = graph_create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);

    graph_set(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, uids);
    graph_set(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3,
              data);
    graph_set(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
              &workspace);
    finish(d);
    return d;
}

cudnnStatus_t graph_execute(const struct uc_case *c, descriptor plan)
{
    descriptor pack = graph_pack(c);
    cudnnStatus_t status = cudnnBackendExecute(double_handle, plan, pack);

    graph_destroy(pack);
    return status;
}

/** A plan, and the workspace that it asks for. */
static cudnnStatus_t prepare(struct uc_case *c, enum uc_double_operation op,
                             int64_t index, const struct choices *choices,
                             double alpha, double beta, descriptor *plan)
{
    struct graph g;
    descriptor config;
    cudnnStatus_t status;

    *plan = NULL;
    graph_open(&g, c, op, alpha, beta);
    status = graph_config(&g, index, choices, &config);
    graph_close(&g); /* the configuration holds it */
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    c->workspace_bytes =
        (size_t)graph_number(config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
    status = graph_plan(config, plan);
    graph_destroy(config);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    assert_int_equal(
        graph_number(*plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE),
        c->workspace_bytes);
    assert_int_equal(cuMemFree(c->workspace), 0);
    c->workspace = 0;
    if (c->workspace_bytes > 0) {
        assert_int_equal(cuMemAlloc(&c->workspace, c->workspace_bytes), 0);
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t graph_run(struct uc_case *c, enum uc_double_operation op,
                        int64_t index, const struct choices *choices,
                        double alpha, double beta)
{
    descriptor plan;
    cudnnStatus_t status = prepare(c, op, index, choices, alpha, beta, &plan);

    if (status == CUDNN_STATUS_SUCCESS) {
        status = graph_execute(c, plan);
    }
    graph_destroy(plan);
    return status;
}

double graph_time(struct uc_case *c, enum uc_double_operation op, int64_t index,
                  const struct choices *choices, double beta)
{
    CUevent begin;
    CUevent end;
    descriptor plan;
    float milliseconds;

    assert_int_equal(prepare(c, op, index, choices, 1, beta, &plan), 0);
    assert_int_equal(cuEventCreate(&begin, CU_EVENT_DEFAULT), 0);
    assert_int_equal(cuEventCreate(&end, CU_EVENT_DEFAULT), 0);
    assert_int_equal(cuEventRecord(begin, NULL), 0);
    assert_int_equal(graph_execute(c, plan), 0);
    assert_int_equal(cuEventRecord(end, NULL), 0);
    assert_int_equal(cuEventSynchronize(end), 0);
    assert_int_equal(cuEventElapsedTime(&milliseconds, begin, end), 0);
    assert_int_equal(cuEventDestroy(begin), 0);
    assert_int_equal(cuEventDestroy(end), 0);
    graph_destroy(plan);
    return round(milliseconds * 1e6);
}
