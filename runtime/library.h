/**
 * @file library.h
 * The CUDA driver API and cuDNN 9, opened at run time.
 *
 * Members carry the functions' own names less the prefix and their own
 * types, taken from the headers' declarations, so drift fails to compile.
 * Nothing of either library is linked: a program that never calls the two
 * open functions starts and runs without them.
 *
 * Owner:   the libraries stay open for the life of the process, since
 *          neither may be unloaded safely.
 * Errors:  UC_EDEVICE: not found, a function missing, wrong major version.
 * Threads: fill each table once, then read from any thread.
 */
#ifndef UC_RUNTIME_LIBRARY_H
#define UC_RUNTIME_LIBRARY_H

#include "common/error.h"

#include <cuda.h>
#include <cudnn.h>
#include <stdbool.h>

/** What is kept by device is kept for ordinals below this. */
enum { UC_DEVICES = 64 };

#define UC_CUDA_FUNCTIONS(X)  \
    X(Init)                   \
    X(DriverGetVersion)       \
    X(DeviceGetCount)         \
    X(DeviceGet)              \
    X(DeviceGetName)          \
    X(DeviceGetAttribute)     \
    X(DeviceTotalMem)         \
    X(DevicePrimaryCtxRetain) \
    X(CtxSetCurrent)          \
    X(MemAlloc)               \
    X(MemFree)                \
    X(MemGetInfo)             \
    X(MemcpyDtoH)             \
    X(MemsetD8Async)          \
    X(StreamCreate)           \
    X(StreamSynchronize)      \
    X(EventCreate)            \
    X(EventQuery)             \
    X(EventRecord)            \
    X(EventSynchronize)       \
    X(EventElapsedTime)       \
    X(ModuleLoadData)         \
    X(ModuleGetFunction)      \
    X(LaunchKernel)           \
    X(GetErrorString)         \
    X(CtxGetDevice)           \
    X(StreamIsCapturing)      \
    X(StreamWaitEvent)

/** NULL where the driver does not have them. */
#define UC_CUDA_OPTIONAL(X) X(ThreadExchangeStreamCaptureMode)

/** That libucudnn stands in front of, and passes calls on to. */
#define UC_CUDNN_PASSED(X)                       \
    X(ConvolutionForward)                        \
    X(ConvolutionBackwardData)                   \
    X(ConvolutionBackwardFilter)                 \
    X(ConvolutionBiasActivationForward)          \
    X(GetConvolutionForwardWorkspaceSize)        \
    X(GetConvolutionBackwardDataWorkspaceSize)   \
    X(GetConvolutionBackwardFilterWorkspaceSize) \
    X(GetConvolutionForwardAlgorithm_v7)         \
    X(GetConvolutionBackwardDataAlgorithm_v7)    \
    X(GetConvolutionBackwardFilterAlgorithm_v7)  \
    X(FindConvolutionForwardAlgorithm)           \
    X(FindConvolutionBackwardDataAlgorithm)      \
    X(FindConvolutionBackwardFilterAlgorithm)    \
    X(FindConvolutionForwardAlgorithmEx)         \
    X(FindConvolutionBackwardDataAlgorithmEx)    \
    X(FindConvolutionBackwardFilterAlgorithmEx)  \
    X(BackendExecute)

/** What it calls besides. */
#define UC_CUDNN_FUNCTIONS(X)       \
    X(GetVersion)                   \
    X(GetErrorString)               \
    X(Create)                       \
    X(SetStream)                    \
    X(CreateTensorDescriptor)       \
    X(SetTensorNdDescriptor)        \
    X(DestroyTensorDescriptor)      \
    X(CreateFilterDescriptor)       \
    X(SetFilterNdDescriptor)        \
    X(DestroyFilterDescriptor)      \
    X(CreateConvolutionDescriptor)  \
    X(SetConvolutionNdDescriptor)   \
    X(SetConvolutionGroupCount)     \
    X(SetConvolutionMathType)       \
    X(DestroyConvolutionDescriptor) \
    X(GetStream)                    \
    X(GetTensorNdDescriptor)        \
    X(GetFilterNdDescriptor)        \
    X(GetConvolutionNdDescriptor)   \
    X(GetConvolutionGroupCount)     \
    X(GetConvolutionMathType)       \
    X(BackendCreateDescriptor)      \
    X(BackendDestroyDescriptor)     \
    X(BackendSetAttribute)          \
    X(BackendGetAttribute)          \
    X(BackendFinalize)

struct uc_cuda {
#define UC_MEMBER(name) __typeof__(cu##name) *name;
    UC_CUDA_FUNCTIONS(UC_MEMBER)
    UC_CUDA_OPTIONAL(UC_MEMBER)
#undef UC_MEMBER
};

struct uc_cudnn {
#define UC_MEMBER(name) __typeof__(cudnn##name) *name;
    UC_CUDNN_FUNCTIONS(UC_MEMBER)
    UC_CUDNN_PASSED(UC_MEMBER)
#undef UC_MEMBER
};

/** cuDNN's status categories are its thousands; 3 is "not supported". */
static inline bool uc_cudnn_is_unsupported(cudnnStatus_t status)
{
    return (int)status / 1000 == (int)CUDNN_STATUS_NOT_SUPPORTED / 1000;
}

/**
 * Whether a call that was answered so has enqueued nothing: it was not
 * initialised, had a bad parameter or is not supported. An internal error or a
 * failed execution may come behind some kernels of an algorithm.
 */
static inline bool uc_cudnn_is_refusal(cudnnStatus_t status)
{
    return status != CUDNN_STATUS_SUCCESS &&
           (int)status < (int)CUDNN_STATUS_INTERNAL_ERROR;
}

/** libcuda.so.1, the driver's library. */
enum uc_status uc_cuda_open(struct uc_cuda *cuda, struct uc_error *err);

/**
 * libcudnn.so.9 by the loader's own search, then from the folder configure
 * found cuDNN in.
 */
enum uc_status uc_cudnn_open(struct uc_cudnn *cudnn, struct uc_error *err);

/**
 * For dlsym(): the first that has the function of the cuDNN libraries that this
 * process has loaded, however it did and by whatever name, the caller's own
 * library left out. NULL (which is RTLD_DEFAULT): there is none.
 */
void *uc_cudnn_loaded(const char *function);

/**
 * The cuDNN that is loaded; for a library that stands in front of it. Never
 * loads one. When one is there that cannot be used, being of another major
 * version or without one of the functions, those that it has are in the table
 * all the same, the others NULL: what a program asks for is passed on to it.
 */
enum uc_status uc_cudnn_attach(struct uc_cudnn *cudnn, struct uc_error *err);

#endif
