/* Versions, errors and handles. */
#include "config.h"

#include "tests/double/cudnn_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char last_error[512];

cudnnStatus_t uc_cudnn_fail(cudnnStatus_t status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return status;
}

bool uc_cudnn_alive(const void *object, unsigned magic, const char *what)
{
    if (!object || *(const unsigned *)object != magic) {
        uc_double_misuse("%p is no %s", object, what);
        uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "no %s", what);
        return false;
    }
    return true;
}

size_t cudnnGetVersion(void)
{
    size_t version = uc_double_settings()->cudnn_version;

    return version ? version : CUDNN_VERSION;
}

size_t cudnnGetCudartVersion(void)
{
    return CUDART_VERSION;
}

size_t cudnnGetMaxDeviceVersion(void)
{
    return 900;
}

cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int *value)
{
    int version = (int)cudnnGetVersion();

    switch (type) {
    case MAJOR_VERSION:
        *value = version / 10000;
        return CUDNN_STATUS_SUCCESS;
    case MINOR_VERSION:
        *value = version / 100 % 100;
        return CUDNN_STATUS_SUCCESS;
    case PATCH_LEVEL:
        *value = version % 100;
        return CUDNN_STATUS_SUCCESS;
    default:
        return CUDNN_STATUS_BAD_PARAM;
    }
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    switch ((int)status) {
    case CUDNN_STATUS_SUCCESS:
        return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_NOT_INITIALIZED:
        return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_BAD_PARAM:
        return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_BAD_PARAM_NULL_POINTER:
        return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER:
        return "CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER";
    case CUDNN_STATUS_NOT_SUPPORTED:
        return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_INTERNAL_ERROR:
        return "CUDNN_STATUS_INTERNAL_ERROR";
    case CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED:
        return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
    case CUDNN_STATUS_EXECUTION_FAILED:
        return "CUDNN_STATUS_EXECUTION_FAILED";
    default:
        return "CUDNN_UNKNOWN_STATUS";
    }
}

void cudnnGetLastErrorString(char *message, size_t max_size)
{
    if (message && max_size > 0) {
        snprintf(message, max_size, "%s", last_error);
    }
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    cudnnHandle_t made;
    int device;

    if (!handle) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "handle");
    }
    device = uc_double_device();
    if (device < 0 || uc_double_poisoned(device)) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_INITIALIZED, "no device");
    }
    made = calloc(1, sizeof *made);
    if (!made) {
        return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    }
    made->magic = UC_HANDLE;
    made->device = device;
    uc_double_add(UC_DOUBLE_LIVE, 1);
    *handle = made;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    if (!handle) {
        return CUDNN_STATUS_SUCCESS;
    }
    if (!uc_cudnn_alive(handle, UC_HANDLE, "handle")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    handle->magic = UC_DEAD;
    free(handle->last);
    free(handle);
    uc_double_add(UC_DOUBLE_LIVE, -1);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    if (!uc_cudnn_alive(handle, UC_HANDLE, "handle") ||
        !uc_double_stream_valid(stream, handle->device)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *stream)
{
    if (!uc_cudnn_alive(handle, UC_HANDLE, "handle") || !stream) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    *stream = handle->stream;
    return CUDNN_STATUS_SUCCESS;
}
