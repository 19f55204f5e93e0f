#include "config.h"

#include "runtime/runner.h"

#include "runtime/runner_impl.h"

#include <stdlib.h>

struct uc_scaling uc_scaling_read(const struct uc_problem *problem,
                                  const void *alpha, const void *beta)
{
    if (problem->x_type == UC_FP64)
        return (struct uc_scaling){ *(const double *)alpha,
                                    *(const double *)beta };
    return (struct uc_scaling){ *(const float *)alpha, *(const float *)beta };
}

/* Graph kernels ----------------------------------------------------------*/

static cudnnStatus_t graph_create(struct uc_runner *r, cudnnHandle_t handle,
                                  const struct uc_problem *problem,
                                  int64_t micro_batch,
                                  const struct uc_kernel *kernel,
                                  const struct uc_scaling *scaling)
{
    const struct uc_graph_place place = { .handle = handle };
    cudnnStatus_t status = uc_graph_open(r->cudnn, &place, problem, micro_batch,
                                         scaling, &r->graph);

    if (status == CUDNN_STATUS_SUCCESS)
        status =
            uc_graph_engine(&r->graph, kernel->engine, &r->engine, &r->notes);
    if (status == CUDNN_STATUS_SUCCESS)
        status = uc_graph_config(&r->graph, r->engine, kernel, &r->config,
                                 &r->workspace_bytes);
    return status;
}

static void graph_free(struct uc_runner *r)
{
    uc_descriptor_free(r->cudnn, r->plan);
    uc_descriptor_free(r->cudnn, r->config);
    uc_descriptor_free(r->cudnn, r->engine);
    uc_graph_close(&r->graph);
    pthread_mutex_destroy(&r->lock);
}

static cudnnStatus_t graph_build(struct uc_runner *r)
{
    int64_t bytes = 0;
    cudnnStatus_t status =
        uc_graph_plan(&r->graph, r->config, &r->plan, &bytes);

    /* What was told before the plan was built is what callers have. */
    if (status == CUDNN_STATUS_SUCCESS && bytes > r->workspace_bytes)
        status = CUDNN_STATUS_INTERNAL_ERROR;
    return status;
}

static cudnnStatus_t graph_run(struct uc_runner *r, cudnnHandle_t handle,
                               const struct uc_tensors *tensors,
                               void *workspace)
{
    static const int64_t uids[] = { UC_GRAPH_X, UC_GRAPH_W, UC_GRAPH_Y };
    struct uc_builder b = { r->cudnn, CUDNN_STATUS_SUCCESS };
    void *const addresses[] = { tensors->x, tensors->w, tensors->y };
    cudnnBackendDescriptor_t pack =
        uc_build(&b, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);

    uc_build_set(&b, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                 3, uids);
    uc_build_set(&b, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                 CUDNN_TYPE_VOID_PTR, 3, addresses);
    uc_build_set(&b, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                 CUDNN_TYPE_VOID_PTR, 1, &workspace);
    uc_build_finalize(&b, pack);
    if (b.status == CUDNN_STATUS_SUCCESS) {
        pthread_mutex_lock(&r->lock);
        b.status = r->cudnn->BackendExecute(handle, r->plan, pack);
        pthread_mutex_unlock(&r->lock);
    }
    uc_descriptor_free(r->cudnn, pack);
    return b.status;
}

/* Either kind ------------------------------------------------------------*/

cudnnStatus_t uc_runner_create(const struct uc_cudnn *cudnn,
                               cudnnHandle_t handle,
                               const struct uc_problem *problem,
                               int64_t micro_batch,
                               const struct uc_kernel *kernel,
                               const struct uc_scaling *scaling,
                               struct uc_runner **out)
{
    struct uc_runner *r = calloc(1, sizeof *r);
    cudnnStatus_t status;

    if (r == NULL)
        return CUDNN_STATUS_ALLOC_FAILED;
    r->cudnn = cudnn;
    r->api = kernel->api;
    if (r->api == UC_API_GRAPH) {
        pthread_mutex_init(&r->lock, NULL);
        status = graph_create(r, handle, problem, micro_batch, kernel, scaling);
    } else {
        status =
            uc_legacy_create(cudnn, problem, micro_batch, kernel, &r->legacy);
        r->notes = r->legacy.notes;
    }
    if (status != CUDNN_STATUS_SUCCESS) {
        uc_runner_free(r);
        return status;
    }
    *out = r;
    return CUDNN_STATUS_SUCCESS;
}

void uc_runner_free(struct uc_runner *runner)
{
    if (runner == NULL)
        return;
    if (runner->api == UC_API_GRAPH)
        graph_free(runner);
    else
        uc_legacy_free(runner->cudnn, &runner->legacy);
    free(runner);
}

cudnnStatus_t uc_runner_workspace(const struct uc_runner *runner,
                                  cudnnHandle_t handle, size_t *bytes)
{
    if (runner->api == UC_API_LEGACY)
        return uc_legacy_workspace(runner->cudnn, &runner->legacy, handle,
                                   bytes);
    *bytes = (size_t)runner->workspace_bytes;
    return CUDNN_STATUS_SUCCESS;
}

unsigned uc_runner_notes(const struct uc_runner *runner)
{
    return runner->notes;
}

cudnnStatus_t uc_runner_build(struct uc_runner *runner)
{
    return runner->api == UC_API_GRAPH && runner->plan == NULL
               ? graph_build(runner)
               : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t uc_runner_run(struct uc_runner *runner, cudnnHandle_t handle,
                            const void *alpha, const struct uc_tensors *tensors,
                            const void *beta, void *workspace,
                            size_t workspace_bytes)
{
    if (runner->api == UC_API_GRAPH)
        return (int64_t)workspace_bytes < runner->workspace_bytes
                   ? CUDNN_STATUS_BAD_PARAM
                   : graph_run(runner, handle, tensors, workspace);
    return uc_legacy_run(runner->cudnn, &runner->legacy, handle, alpha, tensors,
                         beta, workspace, workspace_bytes);
}

cudnnStatus_t uc_runner_run_fused(struct uc_runner *runner,
                                  cudnnHandle_t handle, const void *alpha,
                                  const struct uc_tensors *tensors,
                                  const struct uc_epilogue *epilogue,
                                  void *workspace, size_t workspace_bytes)
{
    if (runner->api == UC_API_GRAPH)
        return CUDNN_STATUS_NOT_SUPPORTED;
    return uc_legacy_run_fused(runner->cudnn, &runner->legacy, handle, alpha,
                               tensors, epilogue, workspace, workspace_bytes);
}
