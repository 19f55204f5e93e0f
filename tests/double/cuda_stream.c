/* Streams and events on a simulated clock. */
#include "config.h"

#include "tests/double/state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct CUevent_st {
    struct CUevent_st *next;
    int device;
    bool timing;
    CUstream stream; /* NULL: not recorded */
    uint64_t work;   /* done when the stream has completed so much */
    int64_t time_ns;
};

static struct CUstream_st defaults[UC_DOUBLE_DEVICES];
static CUstream streams; /* those created */
static CUevent events;

void uc_double_streams_reset(void)
{
    while (streams) {
        CUstream next = streams->next;

        free(streams);
        streams = next;
    }
    while (events) {
        CUevent next = events->next;

        free(events);
        events = next;
    }
    memset(defaults, 0, sizeof defaults);
    uc_double_capture_reset();
}

CUstream uc_double_streams_locked(void)
{
    return streams;
}

static CUstream find(CUstream stream, int device)
{
    CUstream known = streams;

    if (!stream || stream == CU_STREAM_LEGACY ||
        stream == CU_STREAM_PER_THREAD) {
        defaults[device].device = device;
        defaults[device].blocking = true;
        return &defaults[device];
    }
    while (known && known != stream) {
        known = known->next;
    }
    return known && known->device == device ? known : NULL;
}

CUstream uc_double_stream_locked(CUstream stream, int device)
{
    CUstream known = find(stream, device);

    if (!known) {
        uc_double_misuse("%p is no stream of device %d", (void *)stream,
                         device);
    }
    return known;
}

bool uc_double_stream_valid(CUstream stream, int device)
{
    bool valid;

    uc_double_lock();
    valid = uc_double_stream_locked(stream, device) != NULL;
    uc_double_unlock();
    return valid;
}

void uc_double_submit_locked(CUstream stream, int64_t duration_ns,
                             const void *output)
{
    stream->submitted++;
    stream->time_ns += duration_ns;
    if (output) {
        uc_double_changed();
        uc_double_written_locked(output, stream);
    }
}

void uc_double_submit(CUstream stream, int device, int64_t duration_ns,
                      const void *output)
{
    CUstream known;

    uc_double_lock();
    known = uc_double_stream_locked(stream, device);
    if (known) {
        uc_double_submit_locked(known, duration_ns, output);
    }
    uc_double_unlock();
}

void uc_double_stream_hang(CUstream stream, int device)
{
    CUstream known;

    uc_double_lock();
    known = uc_double_stream_locked(stream, device);
    if (known) {
        known->stuck = true;
    }
    uc_double_unlock();
}

/* The lock is held by no one while we hang. */
static void hang(void)
{
    uc_double_unlock();
    for (;;) {
        pause();
    }
}

static void complete_locked(CUstream stream, uint64_t work)
{
    if (stream->stuck && stream->completed < work) {
        hang();
    }
    if (stream->completed < work) {
        stream->completed = work;
    }
}

static void complete_all(int device, bool blocking_only)
{
    uc_double_lock();
    complete_locked(&defaults[device], defaults[device].submitted);
    for (CUstream s = streams; s; s = s->next) {
        if (s->device == device && (s->blocking || !blocking_only)) {
            complete_locked(s, s->submitted);
        }
    }
    uc_double_unlock();
}

void uc_double_wait_blocking(int device)
{
    complete_all(device, true);
}

CUresult cuCtxSynchronize(void)
{
    int device;
    CUresult result = uc_double_enter_context(&device);

    if (result == CUDA_SUCCESS &&
        (uc_double_capture_forbids("waiting") ||
         uc_double_capture_conflicts(NULL, device, "waiting"))) {
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (result == CUDA_SUCCESS) {
        uc_double_add(UC_DOUBLE_SYNCHRONISATIONS, 1);
        uc_double_log("synchronise context");
        complete_all(device, false);
    }
    return result;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    int device;
    CUresult result = uc_double_enter_context(&device);
    CUstream made;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!stream || flags > CU_STREAM_NON_BLOCKING) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    made = calloc(1, sizeof *made);
    if (!made) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->device = device;
    made->blocking = flags != CU_STREAM_NON_BLOCKING;
    uc_double_lock();
    made->next = streams;
    streams = made;
    uc_double_unlock();
    uc_double_add(UC_DOUBLE_LIVE, 1);
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
    int device;
    CUresult result = uc_double_enter_context(&device);
    CUstream *at = &streams;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    uc_double_lock();
    while (*at && *at != stream) {
        at = &(*at)->next;
    }
    if (!*at) {
        result = CUDA_ERROR_INVALID_HANDLE;
        uc_double_misuse("%p is no stream to destroy", (void *)stream);
    } else {
        uc_double_stream_gone_locked(stream);
        for (CUevent e = events; e; e = e->next) {
            if (e->stream == stream) {
                e->stream = &defaults[device];
                e->work = 0;
            }
        }
        *at = stream->next;
        free(stream);
        uc_double_add(UC_DOUBLE_LIVE, -1);
    }
    uc_double_unlock();
    return result;
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

/** Whether a capture, this stream's or another, forbids asking for it. */
static bool forbidden(CUstream stream, const char *what)
{
    return uc_double_capture_forbids(what) ||
           (stream && uc_double_capture_conflicts(stream, 0, what));
}

CUresult cuStreamSynchronize(CUstream stream)
{
    CUresult result = forbidden(stream, "waiting")
                          ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                          : lock_stream(&stream);

    if (result == CUDA_SUCCESS) {
        uc_double_add(UC_DOUBLE_SYNCHRONISATIONS, 1);
        uc_double_log("synchronise stream");
        complete_locked(stream, stream->submitted);
        uc_double_unlock();
    }
    return result;
}

CUresult cuStreamQuery(CUstream stream)
{
    CUresult result = forbidden(stream, "asking")
                          ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                          : lock_stream(&stream);

    if (result == CUDA_SUCCESS) {
        if (stream->stuck) {
            result = CUDA_ERROR_NOT_READY;
        } else {
            complete_locked(stream, stream->submitted);
        }
        uc_double_unlock();
    }
    return result;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    int device;
    CUresult result = uc_double_enter_context(&device);
    CUevent made;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    made = calloc(1, sizeof *made);
    if (!made) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->device = device;
    made->timing = !(flags & CU_EVENT_DISABLE_TIMING);
    uc_double_lock();
    made->next = events;
    events = made;
    uc_double_unlock();
    uc_double_add(UC_DOUBLE_LIVE, 1);
    *event = made;
    return CUDA_SUCCESS;
}

/** Where the event is linked, or NULL and a misuse. */
static CUevent *find_event_locked(CUevent event)
{
    CUevent *at = &events;

    while (*at && *at != event) {
        at = &(*at)->next;
    }
    if (!*at) {
        uc_double_misuse("%p is no event", (void *)event);
        return NULL;
    }
    return at;
}

/** Enter, lock and find the event; unlocked again unless successful. */
static CUresult lock_event(CUevent event)
{
    int device;
    CUresult result = uc_double_enter_context(&device);

    if (result != CUDA_SUCCESS) {
        return result;
    }
    uc_double_lock();
    if (!find_event_locked(event)) {
        uc_double_unlock();
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
    CUresult result = lock_event(event);

    if (result == CUDA_SUCCESS) {
        *find_event_locked(event) = event->next;
        uc_double_unlock();
        free(event);
        uc_double_add(UC_DOUBLE_LIVE, -1);
    }
    return result;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    CUresult result = lock_stream(&stream);

    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!find_event_locked(event) || event->device != stream->device) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else {
        uc_double_submit_locked(stream, 0, NULL);
        event->stream = stream;
        event->work = stream->submitted;
        event->time_ns = stream->time_ns;
    }
    uc_double_unlock();
    return result;
}

CUresult cuEventSynchronize(CUevent event)
{
    CUresult result = uc_double_capture_forbids("waiting")
                          ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                          : lock_event(event);

    if (result == CUDA_SUCCESS) {
        uc_double_add(UC_DOUBLE_SYNCHRONISATIONS, 1);
        uc_double_log("synchronise event");
        if (event->stream) {
            complete_locked(event->stream, event->work);
        }
        uc_double_unlock();
    }
    return result;
}

CUresult cuEventQuery(CUevent event)
{
    CUresult result = uc_double_capture_forbids("asking")
                          ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                          : lock_event(event);

    if (result == CUDA_SUCCESS) {
        if (event->stream && event->stream->stuck) {
            result = CUDA_ERROR_NOT_READY;
        } else if (event->stream) {
            complete_locked(event->stream, event->work);
        }
        uc_double_unlock();
    }
    return result;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    CUresult result = lock_stream(&stream);

    (void)flags;
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!find_event_locked(event)) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (event->stream && event->time_ns > stream->time_ns) {
        stream->time_ns = event->time_ns;
    }
    uc_double_unlock();
    return result;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    CUresult result = lock_event(start);

    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!find_event_locked(end) || !start->timing || !end->timing ||
        !start->stream || !end->stream) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (start->stream->completed < start->work ||
               end->stream->completed < end->work) {
        result = CUDA_ERROR_NOT_READY;
    } else {
        *milliseconds = (float)((double)(end->time_ns - start->time_ns) / 1e6);
    }
    uc_double_unlock();
    return result;
}

/* Headers of CUDA 13 rename the function; programs may ask for either. */
#ifdef cuEventElapsedTime
#undef cuEventElapsedTime
#pragma GCC visibility push(default)
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
#pragma GCC visibility pop

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}
#endif
