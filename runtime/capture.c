#include "config.h"

#include "runtime/capture.h"

CUstreamCaptureMode uc_capture_relax(const struct uc_cuda *cuda)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    if (cuda->ThreadExchangeStreamCaptureMode == NULL ||
        cuda->ThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS)
        return UC_CAPTURE_RELAXED;
    return mode;
}

void uc_capture_restore(const struct uc_cuda *cuda, CUstreamCaptureMode former)
{
    if (former != UC_CAPTURE_RELAXED)
        cuda->ThreadExchangeStreamCaptureMode(&former);
}

bool uc_is_capturing(const struct uc_cuda *cuda, const struct uc_cudnn *cudnn,
                     cudnnHandle_t handle, CUstream *stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

    return cudnn->GetStream(handle, (cudaStream_t *)stream) ==
               CUDNN_STATUS_SUCCESS &&
           cuda->StreamIsCapturing(*stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}
