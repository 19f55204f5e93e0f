/* Workspace sizes and the answers to which algorithm is best. */
#include "config.h"

#include "tests/double/cudnn_state.h"

#include <string.h>

enum { MOST_ALGORITHMS = 8 };

static cudnnStatus_t workspace_size(cudnnHandle_t handle,
                                    enum uc_double_operation operation,
                                    cudnnTensorDescriptor_t x,
                                    cudnnFilterDescriptor_t w,
                                    cudnnConvolutionDescriptor_t convolution,
                                    cudnnTensorDescriptor_t y, int algorithm,
                                    size_t *bytes)
{
    struct uc_geometry geometry;
    struct uc_cost cost;
    cudnnStatus_t status;

    if (!uc_cudnn_alive(handle, UC_HANDLE, "handle") || !bytes) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    uc_double_add(UC_DOUBLE_QUERIES, 1);
    status = uc_geometry_build(x, w, convolution, y, &geometry);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    uc_cost(operation, algorithm, &geometry, false, &cost);
    if (!cost.supported) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED,
                             "algorithm %d does not do this", algorithm);
    }
    *bytes = cost.workspace_bytes;
    uc_double_log("query op=%s algorithm=%d n=%lld workspace=%zu",
                  uc_double_operation_name(operation), algorithm,
                  (long long)geometry.n, *bytes);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t y, cudnnConvolutionFwdAlgo_t algorithm,
    size_t *bytes)
{
    return workspace_size(handle, UC_DOUBLE_FORWARD, x, w, convolution, y,
                          (int)algorithm, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
    const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t dx, cudnnConvolutionBwdDataAlgo_t algorithm,
    size_t *bytes)
{
    return workspace_size(handle, UC_DOUBLE_BACKWARD_DATA, dx, w, convolution,
                          dy, (int)algorithm, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
    const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnFilterDescriptor_t dw, cudnnConvolutionBwdFilterAlgo_t algorithm,
    size_t *bytes)
{
    return workspace_size(handle, UC_DOUBLE_BACKWARD_FILTER, x, dw, convolution,
                          dy, (int)algorithm, bytes);
}

static cudnnStatus_t most(cudnnHandle_t handle,
                          enum uc_double_operation operation, int *count)
{
    if (!uc_cudnn_alive(handle, UC_HANDLE, "handle") || !count) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *count = uc_cost_algorithms(operation);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(cudnnHandle_t handle,
                                                          int *count)
{
    return most(handle, UC_DOUBLE_FORWARD, count);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(
    cudnnHandle_t handle, int *count)
{
    return most(handle, UC_DOUBLE_BACKWARD_DATA, count);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(
    cudnnHandle_t handle, int *count)
{
    return most(handle, UC_DOUBLE_BACKWARD_FILTER, count);
}

/* One result whatever the operation: the public structs differ in `algo`. */
struct result {
    int algorithm;
    cudnnStatus_t status;
    float time;
    size_t memory;
    cudnnDeterminism_t determinism;
    cudnnMathType_t math;
};

/** Those that succeed first, by time. */
static bool precedes(const struct result *a, const struct result *b)
{
    if ((a->status == CUDNN_STATUS_SUCCESS) !=
        (b->status == CUDNN_STATUS_SUCCESS)) {
        return a->status == CUDNN_STATUS_SUCCESS;
    }
    return a->status == CUDNN_STATUS_SUCCESS && a->time < b->time;
}

static struct result judge(enum uc_double_operation operation, int algorithm,
                           const struct uc_geometry *geometry, size_t limit)
{
    struct uc_cost cost;
    struct result result = { .algorithm = algorithm,
                             .status = CUDNN_STATUS_NOT_SUPPORTED,
                             .time = -1,
                             .math = geometry->math };

    uc_cost(operation, algorithm, geometry, false, &cost);
    if (cost.supported) {
        result.memory = cost.workspace_bytes;
        result.determinism =
            cost.deterministic ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
        if (cost.workspace_bytes > limit) {
            result.status = CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
        } else {
            result.status = CUDNN_STATUS_SUCCESS;
            result.time = (float)((double)cost.time_ns / 1e6);
        }
    }
    return result;
}

/** All algorithms, the best first; how many in *count, at most `wanted`. */
static cudnnStatus_t search(cudnnHandle_t handle,
                            enum uc_double_operation operation,
                            const struct uc_geometry *geometry, size_t limit,
                            int wanted, int *count,
                            struct result results[MOST_ALGORITHMS])
{
    int algorithms = uc_cost_algorithms(operation);

    if (!uc_cudnn_alive(handle, UC_HANDLE, "handle") || wanted < 1 || !count) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    uc_double_add(UC_DOUBLE_SEARCHES, 1);
    uc_double_log("search op=%s n=%lld", uc_double_operation_name(operation),
                  (long long)geometry->n);
    for (int a = 0; a < algorithms; a++) {
        struct result result = judge(operation, a, geometry, limit);
        int at = a;

        while (at > 0 && precedes(&result, &results[at - 1])) {
            results[at] = results[at - 1];
            at--;
        }
        results[at] = result;
    }
    *count = wanted < algorithms ? wanted : algorithms;
    return CUDNN_STATUS_SUCCESS;
}

/** ...Ex runs on the caller's tensors: the output is lost. */
static cudnnStatus_t overwrite(cudnnHandle_t handle,
                               enum uc_double_operation operation,
                               const struct uc_geometry *geometry, void *output)
{
    enum uc_role role = uc_geometry_output(operation);
    size_t bytes = uc_number_bytes(geometry->type);
    struct uc_walk walk;

    if (!uc_double_range(output,
                         (size_t)uc_geometry_span(geometry, role) * bytes,
                         handle->device, "output")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    uc_walk_start(&walk, geometry, role);
    do {
        memset((char *)output + walk.offset * (int64_t)bytes, 0xFF, bytes);
    } while (uc_walk_next(&walk));
    uc_double_changed();
    return CUDNN_STATUS_SUCCESS;
}

/**
 * The three operations differ in their structs only, so that one function
 * serves all once the results are copied by the type's own function.
 */
static cudnnStatus_t answer(cudnnHandle_t handle,
                            enum uc_double_operation operation,
                            cudnnTensorDescriptor_t x,
                            cudnnFilterDescriptor_t w,
                            cudnnConvolutionDescriptor_t convolution,
                            cudnnTensorDescriptor_t y, void *output,
                            size_t limit, int wanted, int *count,
                            struct result results[MOST_ALGORITHMS])
{
    struct uc_geometry geometry;
    cudnnStatus_t status = uc_geometry_build(x, w, convolution, y, &geometry);

    if (status == CUDNN_STATUS_SUCCESS) {
        status =
            search(handle, operation, &geometry, limit, wanted, count, results);
    }
    if (status == CUDNN_STATUS_SUCCESS && output) {
        status = overwrite(handle, operation, &geometry, output);
    }
    return status;
}

static cudnnStatus_t forward(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                             cudnnFilterDescriptor_t w,
                             cudnnConvolutionDescriptor_t convolution,
                             cudnnTensorDescriptor_t y, void *output,
                             size_t limit, int wanted, int *count,
                             cudnnConvolutionFwdAlgoPerf_t *perf)
{
    struct result r[MOST_ALGORITHMS];
    cudnnStatus_t status = answer(handle, UC_DOUBLE_FORWARD, x, w, convolution,
                                  y, output, limit, wanted, count, r);

    for (int i = 0; status == CUDNN_STATUS_SUCCESS && i < *count; i++) {
        perf[i] = (cudnnConvolutionFwdAlgoPerf_t){
            .algo = (cudnnConvolutionFwdAlgo_t)r[i].algorithm,
            .status = r[i].status,
            .time = r[i].time,
            .memory = r[i].memory,
            .determinism = r[i].determinism,
            .mathType = r[i].math,
        };
    }
    return status;
}

static cudnnStatus_t backward_data(cudnnHandle_t handle,
                                   cudnnTensorDescriptor_t x,
                                   cudnnFilterDescriptor_t w,
                                   cudnnConvolutionDescriptor_t convolution,
                                   cudnnTensorDescriptor_t y, void *output,
                                   size_t limit, int wanted, int *count,
                                   cudnnConvolutionBwdDataAlgoPerf_t *perf)
{
    struct result r[MOST_ALGORITHMS];
    cudnnStatus_t status =
        answer(handle, UC_DOUBLE_BACKWARD_DATA, x, w, convolution, y, output,
               limit, wanted, count, r);

    for (int i = 0; status == CUDNN_STATUS_SUCCESS && i < *count; i++) {
        perf[i] = (cudnnConvolutionBwdDataAlgoPerf_t){
            .algo = (cudnnConvolutionBwdDataAlgo_t)r[i].algorithm,
            .status = r[i].status,
            .time = r[i].time,
            .memory = r[i].memory,
            .determinism = r[i].determinism,
            .mathType = r[i].math,
        };
    }
    return status;
}

static cudnnStatus_t backward_filter(cudnnHandle_t handle,
                                     cudnnTensorDescriptor_t x,
                                     cudnnFilterDescriptor_t w,
                                     cudnnConvolutionDescriptor_t convolution,
                                     cudnnTensorDescriptor_t y, void *output,
                                     size_t limit, int wanted, int *count,
                                     cudnnConvolutionBwdFilterAlgoPerf_t *perf)
{
    struct result r[MOST_ALGORITHMS];
    cudnnStatus_t status =
        answer(handle, UC_DOUBLE_BACKWARD_FILTER, x, w, convolution, y, output,
               limit, wanted, count, r);

    for (int i = 0; status == CUDNN_STATUS_SUCCESS && i < *count; i++) {
        perf[i] = (cudnnConvolutionBwdFilterAlgoPerf_t){
            .algo = (cudnnConvolutionBwdFilterAlgo_t)r[i].algorithm,
            .status = r[i].status,
            .time = r[i].time,
            .memory = r[i].memory,
            .determinism = r[i].determinism,
            .mathType = r[i].math,
        };
    }
    return status;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t y, const int wanted, int *count,
    cudnnConvolutionFwdAlgoPerf_t *perf)
{
    return forward(handle, x, w, convolution, y, NULL, SIZE_MAX, wanted, count,
                   perf);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithm(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t y, const int wanted, int *count,
    cudnnConvolutionFwdAlgoPerf_t *perf)
{
    return forward(handle, x, w, convolution, y, NULL, SIZE_MAX, wanted, count,
                   perf);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const void *x_data,
    const cudnnFilterDescriptor_t w, const void *w_data,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t y, void *y_data, const int wanted, int *count,
    cudnnConvolutionFwdAlgoPerf_t *perf, void *workspace,
    size_t workspace_bytes)
{
    if (!x_data || !w_data || !y_data || (!workspace && workspace_bytes)) {
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    }
    return forward(handle, x, w, convolution, y, y_data, workspace_bytes,
                   wanted, count, perf);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
    const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t dx, const int wanted, int *count,
    cudnnConvolutionBwdDataAlgoPerf_t *perf)
{
    return backward_data(handle, dx, w, convolution, dy, NULL, SIZE_MAX, wanted,
                         count, perf);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithm(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
    const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t dx, const int wanted, int *count,
    cudnnConvolutionBwdDataAlgoPerf_t *perf)
{
    return backward_data(handle, dx, w, convolution, dy, NULL, SIZE_MAX, wanted,
                         count, perf);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const void *w_data,
    const cudnnTensorDescriptor_t dy, const void *dy_data,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnTensorDescriptor_t dx, void *dx_data, const int wanted,
    int *count, cudnnConvolutionBwdDataAlgoPerf_t *perf, void *workspace,
    size_t workspace_bytes)
{
    if (!w_data || !dy_data || !dx_data || (!workspace && workspace_bytes)) {
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    }
    return backward_data(handle, dx, w, convolution, dy, dx_data,
                         workspace_bytes, wanted, count, perf);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
    const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnFilterDescriptor_t dw, const int wanted, int *count,
    cudnnConvolutionBwdFilterAlgoPerf_t *perf)
{
    return backward_filter(handle, x, dw, convolution, dy, NULL, SIZE_MAX,
                           wanted, count, perf);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithm(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
    const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnFilterDescriptor_t dw, const int wanted, int *count,
    cudnnConvolutionBwdFilterAlgoPerf_t *perf)
{
    return backward_filter(handle, x, dw, convolution, dy, NULL, SIZE_MAX,
                           wanted, count, perf);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const void *x_data,
    const cudnnTensorDescriptor_t dy, const void *dy_data,
    const cudnnConvolutionDescriptor_t convolution,
    const cudnnFilterDescriptor_t dw, void *dw_data, const int wanted,
    int *count, cudnnConvolutionBwdFilterAlgoPerf_t *perf, void *workspace,
    size_t workspace_bytes)
{
    if (!x_data || !dy_data || !dw_data || (!workspace && workspace_bytes)) {
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    }
    return backward_filter(handle, x, dw, convolution, dy, dw_data,
                           workspace_bytes, wanted, count, perf);
}
