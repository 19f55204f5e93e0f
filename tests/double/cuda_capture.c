/*
 * Stream capture: which streams are capturing, what is forbidden then, and to
 * whom. Captured work is done at once, and a graph holds nothing.
 */
#include "config.h"

#include "tests/double/state.h"

#include <stdlib.h>

struct CUgraph_st {
    int device;
};

static int capturing; /* streams; atomic */

/** What this thread has to heed; its address stands for the thread. */
static _Thread_local CUstreamCaptureMode mode_here;

static bool any_captures(void)
{
    return __atomic_load_n(&capturing, __ATOMIC_RELAXED) > 0;
}

bool uc_double_relaxed(void)
{
    return mode_here == CU_STREAM_CAPTURE_MODE_RELAXED;
}

/** Whether this thread may not make unsafe calls while the stream captures. */
static bool prohibits(const struct CUstream_st *s)
{
    if (s->capture == CU_STREAM_CAPTURE_STATUS_NONE || uc_double_relaxed()) {
        return false;
    }
    if (s->capturer == &mode_here) {
        return s->capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    }
    return s->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           mode_here == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

bool uc_double_capture_forbids(const char *what)
{
    bool forbidden = false;

    if (!any_captures()) {
        return false;
    }
    uc_double_lock();
    for (CUstream s = uc_double_streams_locked(); s; s = s->next) {
        if (prohibits(s)) {
            s->capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
            forbidden = true;
        }
    }
    uc_double_unlock();
    if (forbidden) {
        uc_double_misuse("%s while a stream is capturing", what);
    }
    return forbidden;
}

bool uc_double_capture_conflicts(CUstream stream, int device, const char *what)
{
    bool conflict = false;

    if (!any_captures()) {
        return false;
    }
    uc_double_lock();
    for (CUstream s = uc_double_streams_locked(); s; s = s->next) {
        if (s->capture != CU_STREAM_CAPTURE_STATUS_NONE &&
            (stream ? s == stream : s->device == device)) {
            s->capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
            conflict = true;
        }
    }
    uc_double_unlock();
    if (conflict) {
        uc_double_misuse("%s for a stream that is capturing", what);
    }
    return conflict;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUresult result = uc_double_enter();
    CUstreamCaptureMode former = mode_here;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    uc_double_add(UC_DOUBLE_EXCHANGES, 1);
    mode_here = *mode;
    *mode = former;
    return CUDA_SUCCESS;
}

void uc_double_capture_reset(void)
{
    mode_here = CU_STREAM_CAPTURE_MODE_GLOBAL;
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
        stream->capture_mode = mode;
        stream->capturer = &mode_here;
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
    if (status != CU_STREAM_CAPTURE_STATUS_NONE &&
        stream->capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        stream->capturer != &mode_here) {
        uc_double_unlock();
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
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
