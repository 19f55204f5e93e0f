/* Executing convolutions: checks, faults, the simulated clock. */
#include "config.h"

#include "tests/double/cudnn_state.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double scalar(const void *value, bool is_double)
{
    double wide;
    float narrow;

    if (is_double) {
        memcpy(&wide, value, sizeof wide);
        return wide;
    }
    memcpy(&narrow, value, sizeof narrow);
    return narrow;
}

static bool aligned(const void *pointer, size_t alignment, const char *what)
{
    if ((uintptr_t)pointer % alignment == 0) {
        return true;
    }
    uc_double_misuse("%s: %p is not aligned to %zu bytes", what, pointer,
                     alignment);
    return false;
}

static cudnnStatus_t check_data(const struct uc_call *call)
{
    static const char *const names[3] = { "x", "w", "y" };
    size_t bytes = uc_number_bytes(call->geometry.type);

    for (int role = 0; role < 3; role++) {
        size_t span =
            (size_t)uc_geometry_span(&call->geometry, (enum uc_role)role);

        if (!call->data[role]) {
            return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s",
                                 names[role]);
        }
        if (!aligned(call->data[role], call->alignment[role], names[role])) {
            return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                                 "%s", names[role]);
        }
        if (!uc_double_range(call->data[role], span * bytes,
                             call->handle->device, names[role])) {
            return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "%s", names[role]);
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_workspace(const struct uc_call *call)
{
    if (call->workspace_bytes < call->cost.workspace_bytes) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM,
                             "workspace of %zu bytes, %zu needed",
                             call->workspace_bytes, call->cost.workspace_bytes);
    }
    if (!call->workspace) {
        return call->cost.workspace_bytes == 0
                   ? CUDNN_STATUS_SUCCESS
                   : uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                                   "workspace");
    }
    if (call->workspace_bytes > 0 &&
        !uc_double_range(call->workspace, call->workspace_bytes,
                         call->handle->device, "workspace")) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "workspace");
    }
    if (call->cost.workspace_bytes > 0 &&
        !aligned(call->workspace, uc_double_settings()->alignment,
                 "workspace")) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                             "workspace");
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t uc_call_fail(const struct uc_double_effects *effects)
{
    if (effects->abort) {
        abort();
    }
    if (effects->crash) {
        signal(SIGSEGV, SIG_DFL); /* no sanitizer's report: die of it */
        raise(SIGSEGV);
    }
    while (effects->hang) {
        pause();
    }
    if (effects->status) {
        return uc_cudnn_fail((cudnnStatus_t)effects->status,
                             "failure asked for");
    }
    return CUDNN_STATUS_SUCCESS;
}

/** Faults that happen to the finished work; true: memory was changed. */
static bool fail_after(const struct uc_call *call)
{
    const struct uc_double_effects *effects = &call->effects;
    enum uc_role role = uc_geometry_output(call->operation);
    void *output = call->data[role];
    enum uc_number type = call->geometry.type;
    int64_t span = uc_geometry_span(&call->geometry, role);

    for (int64_t i = 0; effects->wrong && i < span; i += 8) {
        uc_number_store(output, type, i, uc_number_load(output, type, i) + 1);
    }
    for (int64_t i = 0; effects->inexact && i < span; i++) {
        uc_number_store(output, type, i,
                        uc_number_load(output, type, i) * (1 + 0x1p-10));
    }
    if (effects->nan) {
        uc_number_store(output, type, span - 1, NAN);
    }
    if (effects->write_output) {
        memset((char *)output + span * (int64_t)uc_number_bytes(type), 0x3C, 8);
    }
    if (effects->write_workspace && call->workspace) {
        memset((char *)call->workspace + call->workspace_bytes, 0x3C, 8);
    }
    if (effects->hang_later) {
        uc_double_stream_hang(call->handle->stream, call->handle->device);
    }
    if (effects->poison) {
        uc_double_poison(call->handle->device);
    }
    return effects->wrong || effects->inexact || effects->nan ||
           effects->write_output || effects->write_workspace;
}

/** What a call with descriptors that fit must satisfy. */
static cudnnStatus_t check(const struct uc_call *call)
{
    cudnnStatus_t status;

    if (!call->cost.supported) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED,
                             "algorithm %d does not do this", call->algorithm);
    }
    if (uc_double_poisoned(call->handle->device)) {
        return uc_cudnn_fail(CUDNN_STATUS_EXECUTION_FAILED, "broken device");
    }
    status = check_data(call);
    if (status == CUDNN_STATUS_SUCCESS) {
        status = check_workspace(call);
    }
    if (status == CUDNN_STATUS_SUCCESS) {
        status = uc_call_fail(&call->effects);
    }
    return status;
}

/**
 * Benchmarks repeat calls many times: whether the output already holds what
 * this call would write, as the same call was the last to change any memory.
 */
static bool done_already(const struct uc_call *call)
{
    const struct uc_call *last = call->handle->last;

    return last && call->beta == 0 &&
           call->handle->generation == uc_double_generation() &&
           last->operation == call->operation && last->beta == 0 &&
           last->alpha == call->alpha &&
           last->cost.rounding == call->cost.rounding &&
           memcmp(last->data, call->data, sizeof last->data) == 0 &&
           memcmp(&last->geometry, &call->geometry, sizeof last->geometry) == 0;
}

static void remember(const struct uc_call *call)
{
    struct uc_call *copy = malloc(sizeof *copy);

    if (copy) {
        *copy = *call;
    }
    free(call->handle->last);
    call->handle->last = copy;
    call->handle->generation = uc_double_generation();
}

cudnnStatus_t uc_call_run(struct uc_call *call)
{
    const struct uc_geometry *geometry = &call->geometry;
    bool engine = call->algorithm >= UC_DOUBLE_ENGINE;
    cudnnStatus_t status;
    int64_t time_ns;

    uc_double_effects(call->operation, call->algorithm, geometry->n, call->beta,
                      UC_DOUBLE_RUN, &call->effects);
    status = check(call);
    time_ns = (int64_t)((double)call->cost.time_ns * call->effects.time_factor);
    uc_double_log(
        "%s op=%s algorithm=%s%d n=%lld alpha=%g beta=%g "
        "workspace=%zu given=%zu time_ns=%lld x=%p y=%p stream=%p relaxed=%d "
        "status=%d",
        engine ? "execution" : "convolution",
        uc_double_operation_name(call->operation), engine ? "eng" : "",
        call->algorithm - (engine ? UC_DOUBLE_ENGINE : 0),
        (long long)geometry->n, call->alpha, call->beta,
        call->cost.workspace_bytes, call->workspace_bytes, (long long)time_ns,
        call->data[0], call->data[2], (void *)call->handle->stream,
        (int)uc_double_relaxed(), (int)status);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    if (call->cost.workspace_bytes > 0) {
        memset(call->workspace, 0xFF, call->cost.workspace_bytes);
    }
    if (!done_already(call) &&
        !uc_convolve(call->operation, geometry, call->cost.rounding,
                     call->alpha, call->beta, call->data)) {
        return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    }
    uc_double_submit(call->handle->stream, call->handle->device, time_ns,
                     call->data[uc_geometry_output(call->operation)]);
    if (fail_after(call)) {
        uc_double_changed();
    } else {
        remember(call);
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t start(struct uc_call *call, const void *alpha,
                           const void *beta, cudnnTensorDescriptor_t x,
                           cudnnFilterDescriptor_t w,
                           cudnnConvolutionDescriptor_t convolution,
                           cudnnTensorDescriptor_t y)
{
    cudnnStatus_t status;

    uc_double_add(UC_DOUBLE_CONVOLUTIONS, 1);
    if (uc_double_settings()->empty) {
        return CUDNN_STATUS_SUCCESS;
    }
    if (!uc_cudnn_alive(call->handle, UC_HANDLE, "handle")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    if (!alpha || !beta) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                             "alpha or beta");
    }
    status = uc_geometry_build(x, w, convolution, y, &call->geometry);
    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    call->alpha = scalar(alpha, call->geometry.double_scalars);
    call->beta = scalar(beta, call->geometry.double_scalars);
    for (int role = 0; role < 3; role++) {
        call->alignment[role] = uc_double_settings()->alignment;
    }
    uc_cost(call->operation, call->algorithm, &call->geometry, call->beta != 0,
            &call->cost);
    return uc_call_run(call);
}

/* Inputs are const in cuDNN's interface; only the output is written. */
static void *input(const void *pointer)
{
    return (void *)(uintptr_t)pointer;
}

cudnnStatus_t cudnnConvolutionForward(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x,
    const void *x_data, const cudnnFilterDescriptor_t w, const void *w_data,
    const cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionFwdAlgo_t algorithm, void *workspace,
    size_t workspace_bytes, const void *beta, const cudnnTensorDescriptor_t y,
    void *y_data)
{
    struct uc_call call = { .handle = handle,
                            .operation = UC_DOUBLE_FORWARD,
                            .algorithm = (int)algorithm,
                            .data = { input(x_data), input(w_data), y_data },
                            .workspace = workspace,
                            .workspace_bytes = workspace_bytes };

    return start(&call, alpha, beta, x, w, convolution, y);
}

cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t handle, const void *alpha, const cudnnFilterDescriptor_t w,
    const void *w_data, const cudnnTensorDescriptor_t dy, const void *dy_data,
    const cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace,
    size_t workspace_bytes, const void *beta, const cudnnTensorDescriptor_t dx,
    void *dx_data)
{
    struct uc_call call = { .handle = handle,
                            .operation = UC_DOUBLE_BACKWARD_DATA,
                            .algorithm = (int)algorithm,
                            .data = { dx_data, input(w_data), input(dy_data) },
                            .workspace = workspace,
                            .workspace_bytes = workspace_bytes };

    return start(&call, alpha, beta, dx, w, convolution, dy);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x,
    const void *x_data, const cudnnTensorDescriptor_t dy, const void *dy_data,
    const cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionBwdFilterAlgo_t algorithm, void *workspace,
    size_t workspace_bytes, const void *beta, const cudnnFilterDescriptor_t dw,
    void *dw_data)
{
    struct uc_call call = { .handle = handle,
                            .operation = UC_DOUBLE_BACKWARD_FILTER,
                            .algorithm = (int)algorithm,
                            .data = { input(x_data), dw_data, input(dy_data) },
                            .workspace = workspace,
                            .workspace_bytes = workspace_bytes };

    return start(&call, alpha, beta, x, dw, convolution, dy);
}
