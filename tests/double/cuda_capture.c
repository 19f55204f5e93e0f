/*
 * Stream capture: which streams are capturing, and what is forbidden then.
 * Captured work is done at once, and a graph holds nothing.
 */
#include "config.h"

#include "tests/double/state.h"

#include <stdlib.h>

struct CUgraph_st {
    int device;
};

static int capturing; /* streams; atomic */

bool uc_double_capturing(void)
{
    return __atomic_load_n(&capturing, __ATOMIC_RELAXED) > 0;
}

bool uc_double_capture_forbids(const char *what)
{
    if (!uc_double_capturing()) {
        return false;
    }
    uc_double_misuse("%s while a stream is capturing", what);
    uc_double_lock();
    uc_double_invalidate_captures_locked();
    uc_double_unlock();
    return true;
}

void uc_double_capture_reset(void)
{
    __atomic_store_n(&capturing, 0, __ATOMIC_RELAXED);
}

/** Enter, lock and find the stream; unlocked again unless successful. */
static CUresult lock_stream(CUstream *stream)
{
    int device;
    CUresult result = uc_double_enter_context(&device);

    if (result != CUDA_SUCCESS) {
        return result;
    }
    uc_double_lock();
    *stream = uc_double_stream_locked(*stream, device);
    if (!*stream) {
        uc_double_unlock();
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    CUresult result;

    if (!stream || stream == CU_STREAM_LEGACY ||
        mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    result = lock_stream(&stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (stream->capture != CU_STREAM_CAPTURE_STATUS_NONE) {
        result = CUDA_ERROR_ILLEGAL_STATE;
    } else {
        stream->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
        __atomic_add_fetch(&capturing, 1, __ATOMIC_RELAXED);
    }
    uc_double_unlock();
    uc_double_log("capture begin status=%d", (int)result);
    return result;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    CUresult result = lock_stream(&stream);
    CUstreamCaptureStatus status;
    CUgraph made = NULL;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    status = stream->capture;
    stream->capture = CU_STREAM_CAPTURE_STATUS_NONE;
    if (status != CU_STREAM_CAPTURE_STATUS_NONE) {
        __atomic_sub_fetch(&capturing, 1, __ATOMIC_RELAXED);
    }
    uc_double_unlock();
    if (status == CU_STREAM_CAPTURE_STATUS_NONE) {
        result = CUDA_ERROR_ILLEGAL_STATE;
    } else if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED) {
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    } else if (!(made = calloc(1, sizeof *made))) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        uc_double_add(UC_DOUBLE_LIVE, 1);
    }
    *graph = made;
    uc_double_log("capture end status=%d", (int)result);
    return result;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    CUresult result = lock_stream(&stream);

    if (result == CUDA_SUCCESS) {
        *status = stream->capture;
        uc_double_unlock();
    }
    return result;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    if (!graph) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    free(graph);
    uc_double_add(UC_DOUBLE_LIVE, -1);
    return CUDA_SUCCESS;
}
