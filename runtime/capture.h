/**
 * @file capture.h
 * Stream capture: whether a stream is captured, and leaving alone the captures
 * that are under way elsewhere.
 *
 * While a thread captures in the mode GLOBAL, which is the default, calls that
 * capture cannot see (allocating, loading modules, ...) fail in every thread
 * and spoil its capture. What the library does on its own account, which
 * nothing captured depends on, it does in the mode RELAXED: making operations
 * ready, their first run on a device, which loads modules, its own memory, and
 * questions that the program did not ask. Memory had so is as good as any:
 * PyTorch's allocator is relaxed, too, where it allocates under capture.
 *
 * Errors:  without cuThreadExchangeStreamCaptureMode() (before CUDA 10.1), or
 *          where it fails, the mode stays as it is.
 * Threads: any; a mode is the calling thread's own.
 * Source:  CUDA driver API, cuThreadExchangeStreamCaptureMode(); PyTorch,
 *          c10/cuda/CUDACachingAllocator.cpp, cudaMallocMaybeCapturing().
 */
#ifndef UC_RUNTIME_CAPTURE_H
#define UC_RUNTIME_CAPTURE_H

#include "runtime/library.h"

#include <stdbool.h>

/** A former mode that needs no restoring. */
#define UC_CAPTURE_RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

/** Relax the calling thread. Returns its former mode, to be restored, or
    UC_CAPTURE_RELAXED when nothing was changed. */
CUstreamCaptureMode uc_capture_relax(const struct uc_cuda *cuda);
void uc_capture_restore(const struct uc_cuda *cuda, CUstreamCaptureMode former);

/** Whether the handle's stream, which goes to *stream, is being captured: a
    first run could load modules, which would spoil that capture. */
bool uc_is_capturing(const struct uc_cuda *cuda, const struct uc_cudnn *cudnn,
                     cudnnHandle_t handle, CUstream *stream);

#endif
