/**
 * @file state.h
 * What the files of libcuda.so.1 know of each other.
 *
 * Threads: functions named *_locked are called under uc_double_lock().
 */
#ifndef UC_TESTS_DOUBLE_STATE_H
#define UC_TESTS_DOUBLE_STATE_H

#include "tests/double/double.h"

void uc_double_lock(void);
void uc_double_unlock(void);

/** A word of the environment that means nothing: say so and abort. */
void uc_double_bad_environment(const char *name, const char *value)
    __attribute__((noreturn));
/** Parse UC_DOUBLE_FAULT; NULL for none. */
void uc_double_faults_load(const char *text);

/** The status with which every call of the driver API must begin. */
CUresult uc_double_enter(void);
/** The same, and a current context: its device in *device. */
CUresult uc_double_enter_context(int *device);

/** Streams; NULL, legacy and per-thread all mean the default stream. */
struct CUstream_st {
    struct CUstream_st *next;
    int device;
    bool blocking;   /**< waits for the default stream and it for us */
    bool stuck;      /**< never gets done */
    int64_t time_ns; /**< when everything submitted so far is done */
    uint64_t submitted, completed; /**< pieces of work */
    CUstreamCaptureStatus capture;
    CUstreamCaptureMode capture_mode; /**< while it captures, as the next */
    const void *capturer;             /**< stands for the thread that began */
};
/** The first of those created. */
CUstream uc_double_streams_locked(void);
/** NULL and a misuse when there is no such stream on the device. */
CUstream uc_double_stream_locked(CUstream stream, int device);
/** What a synchronous copy waits for. Waits forever for a stuck stream. */
void uc_double_wait_blocking(int device);
void uc_double_submit_locked(CUstream stream, int64_t duration_ns,
                             const void *output);

/** Work on `start` is `stream`'s from now on. */
void uc_double_written_locked(const void *start, CUstream stream);
/** No allocation remembers this stream any longer. */
void uc_double_stream_gone_locked(CUstream stream);

/** A misuse, and the end of its capture, when this stream captures, or with
    NULL any of the device: whatever the thread's mode. */
bool uc_double_capture_conflicts(CUstream stream, int device, const char *what);
void uc_double_capture_reset(void);

void uc_double_context_reset(void);
void uc_double_memory_reset(void);
void uc_double_streams_reset(void);
/** Free what is left on a device; returns how many allocations. */
int uc_double_memory_drop(int device);

#endif
