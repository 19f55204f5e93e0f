#include "config.h"

#include "planner/gpu.h"

#include "common/bytes.h"
#include "common/clock.h"
#include "runtime/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const unsigned char gpu_kernels[] = {
#include "planner/gpu_kernels.inc"
};

enum {
    GUARD_BYTES = 4096,
    GUARD_BYTE = 0x5a,
    ALIGN_BYTES = 256,
    BLOCK_THREADS = 256,
    MAX_BLOCKS = 4096
};

enum uc_status uc_gpu_fail(struct uc_gpu *gpu, const char *what,
                           CUresult result, struct uc_error *err)
{
    const char *words = NULL;

    if (gpu->cuda.GetErrorString(result, &words) != CUDA_SUCCESS ||
        words == NULL)
        words = "unknown error";
    return uc_fail(err, UC_EDEVICE, "%s: CUDA error %d: %s", what, (int)result,
                   words);
}

static enum uc_status open_device(struct uc_gpu *gpu, int index,
                                  struct uc_error *err)
{
    CUdevice device;
    int cache_bytes = 0;
    CUresult result = gpu->cuda.Init(0);

    if (result != CUDA_SUCCESS)
        return uc_gpu_fail(gpu, "no usable GPU", result, err);
    result = gpu->cuda.DeviceGetCount(&gpu->device_count);
    if (result != CUDA_SUCCESS)
        return uc_gpu_fail(gpu, "no usable GPU", result, err);
    if (index >= gpu->device_count)
        return uc_fail(err, UC_EDEVICE, "no GPU %d: there are %d", index,
                       gpu->device_count);
    if ((result = gpu->cuda.DeviceGet(&device, index)) ||
        (result = uc_describe_device(&gpu->cuda, device,
                                     &gpu->environment.device)) ||
        (result = gpu->cuda.DeviceGetAttribute(
             &cache_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device)) ||
        (result = gpu->cuda.DevicePrimaryCtxRetain(&gpu->context, device)) ||
        (result = gpu->cuda.CtxSetCurrent(gpu->context)) ||
        (result =
             gpu->cuda.StreamCreate(&gpu->stream, CU_STREAM_NON_BLOCKING)) ||
        (result = gpu->cuda.MemAlloc(&gpu->sums, 2 * sizeof(double))))
        return uc_gpu_fail(gpu, "cannot use the GPU", result, err);
    gpu->cache_bytes = cache_bytes;
    for (int i = 0; i < UC_GPU_MARKS; i++)
        if ((result = gpu->cuda.EventCreate(&gpu->marks[i], CU_EVENT_DEFAULT)))
            return uc_gpu_fail(gpu, "cannot create events", result, err);
    return UC_OK;
}

static enum uc_status load_kernels(struct uc_gpu *gpu, struct uc_error *err)
{
    CUmodule module;
    CUresult result;

    if ((result = gpu->cuda.ModuleLoadData(&module, gpu_kernels)) ||
        (result = gpu->cuda.ModuleGetFunction(&gpu->fill, module, "uc_fill")) ||
        (result = gpu->cuda.ModuleGetFunction(&gpu->compare, module,
                                              "uc_compare")) ||
        (result = gpu->cuda.ModuleGetFunction(&gpu->hold, module, "uc_hold")))
        return uc_gpu_fail(gpu, "cannot load the benchmark's kernels", result,
                           err);
    return UC_OK;
}

enum uc_status uc_gpu_open(struct uc_gpu *gpu, int index, struct uc_error *err)
{
    enum uc_status status;
    cudnnStatus_t result;

    memset(gpu, 0, sizeof *gpu);
    if ((status = uc_cuda_open(&gpu->cuda, err)) != UC_OK ||
        (status = open_device(gpu, index, err)) != UC_OK ||
        (status = uc_cudnn_open(&gpu->cudnn, err)) != UC_OK ||
        (status = load_kernels(gpu, err)) != UC_OK)
        return status;
    uc_describe_versions(&gpu->cuda, &gpu->cudnn, &gpu->environment.versions);
    if ((result = gpu->cudnn.Create(&gpu->handle)) ||
        (result = gpu->cudnn.SetStream(gpu->handle, gpu->stream)))
        return uc_fail(err, UC_EDEVICE, "cuDNN does not start: %s",
                       gpu->cudnn.GetErrorString(result));
    return UC_OK;
}

enum uc_status uc_gpu_wait(struct uc_gpu *gpu, struct uc_error *err)
{
    CUresult result = gpu->cuda.StreamSynchronize(gpu->stream);

    return result == CUDA_SUCCESS ? UC_OK
                                  : uc_gpu_fail(gpu, "kernel", result, err);
}

int64_t uc_gpu_free_bytes(struct uc_gpu *gpu)
{
    size_t available = 0, total = 0;

    if (gpu->cuda.MemGetInfo(&available, &total) != CUDA_SUCCESS)
        return 0;
    return (int64_t)available;
}

static CUresult set_guards(struct uc_gpu *gpu, const struct uc_buffer *buffer)
{
    CUresult result = gpu->cuda.MemsetD8Async(
        buffer->data - GUARD_BYTES, GUARD_BYTE, GUARD_BYTES, gpu->stream);

    if (result != CUDA_SUCCESS)
        return result;
    return gpu->cuda.MemsetD8Async(buffer->data + (CUdeviceptr)buffer->bytes,
                                   GUARD_BYTE, GUARD_BYTES, gpu->stream);
}

void uc_gpu_release(struct uc_gpu *gpu, struct uc_buffer *buffer)
{
    if (buffer->base != 0)
        gpu->cuda.MemFree(buffer->base);
    *buffer = (struct uc_buffer){ 0 };
}

enum uc_status uc_gpu_reserve(struct uc_gpu *gpu, struct uc_buffer *buffer,
                              int64_t bytes, struct uc_error *err)
{
    CUresult result;

    if (buffer->base == 0 || buffer->capacity_bytes < bytes) {
        size_t room = (size_t)bytes + 2 * GUARD_BYTES + ALIGN_BYTES;
        char asked[UC_BYTES_TEXT], available[UC_BYTES_TEXT];

        uc_gpu_release(gpu, buffer);
        result = gpu->cuda.MemAlloc(&buffer->base, room);
        if (result == CUDA_ERROR_OUT_OF_MEMORY) {
            buffer->base = 0;
            uc_bytes_print(bytes, asked);
            uc_bytes_print(uc_gpu_free_bytes(gpu), available);
            return uc_fail(err, UC_ENOFIT,
                           "out of device memory: %s asked for, %s free", asked,
                           available);
        }
        if (result != CUDA_SUCCESS) {
            buffer->base = 0;
            return uc_gpu_fail(gpu, "allocation", result, err);
        }
        buffer->capacity_bytes = bytes;
        buffer->data = (buffer->base + GUARD_BYTES + ALIGN_BYTES - 1) &
                       ~(CUdeviceptr)(ALIGN_BYTES - 1);
    }
    buffer->bytes = bytes;
    result = set_guards(gpu, buffer);
    return result == CUDA_SUCCESS ? UC_OK
                                  : uc_gpu_fail(gpu, "memset", result, err);
}

static bool is_guard(const unsigned char *bytes)
{
    for (int i = 0; i < GUARD_BYTES; i++)
        if (bytes[i] != GUARD_BYTE)
            return false;
    return true;
}

enum uc_status uc_gpu_check_guards(struct uc_gpu *gpu,
                                   const struct uc_buffer *buffer, bool *intact,
                                   struct uc_error *err)
{
    unsigned char front[GUARD_BYTES], rear[GUARD_BYTES];
    CUresult result;

    if ((result = gpu->cuda.MemcpyDtoH(front, buffer->data - GUARD_BYTES,
                                       GUARD_BYTES)) ||
        (result = gpu->cuda.MemcpyDtoH(
             rear, buffer->data + (CUdeviceptr)buffer->bytes, GUARD_BYTES)))
        return uc_gpu_fail(gpu, "reading guard zones", result, err);
    *intact = is_guard(front) && is_guard(rear);
    if (!*intact && (result = set_guards(gpu, buffer)))
        return uc_gpu_fail(gpu, "memset", result, err);
    return UC_OK;
}

enum uc_status uc_gpu_poison(struct uc_gpu *gpu, const struct uc_buffer *buffer,
                             struct uc_error *err)
{
    CUresult result = CUDA_SUCCESS;

    if (buffer->bytes > 0)
        result = gpu->cuda.MemsetD8Async(buffer->data, 0xff,
                                         (size_t)buffer->bytes, gpu->stream);
    return result == CUDA_SUCCESS ? UC_OK
                                  : uc_gpu_fail(gpu, "memset", result, err);
}

static CUresult launch(struct uc_gpu *gpu, CUfunction function,
                       uint64_t elements, void **arguments)
{
    uint64_t blocks = (elements + BLOCK_THREADS - 1) / BLOCK_THREADS;

    if (blocks > MAX_BLOCKS)
        blocks = MAX_BLOCKS;
    if (blocks < 1)
        blocks = 1;
    return gpu->cuda.LaunchKernel(function, (unsigned)blocks, 1, 1,
                                  BLOCK_THREADS, 1, 1, 0, gpu->stream,
                                  arguments, NULL);
}

enum uc_status uc_gpu_fill(struct uc_gpu *gpu, const struct uc_buffer *buffer,
                           enum uc_dtype type, enum uc_dtype rounding,
                           uint64_t seed, struct uc_error *err)
{
    CUdeviceptr data = buffer->data;
    uint64_t elements = (uint64_t)buffer->bytes / uc_dtype_bytes(type);
    int storage = (int)type, rounded = (int)rounding;
    void *arguments[] = { &data, &elements, &storage, &rounded, &seed };
    CUresult result = launch(gpu, gpu->fill, elements, arguments);

    return result == CUDA_SUCCESS ? UC_OK
                                  : uc_gpu_fail(gpu, "uc_fill", result, err);
}

enum uc_status uc_gpu_compare(struct uc_gpu *gpu, const struct uc_buffer *out,
                              enum uc_dtype out_type,
                              const struct uc_buffer *ref,
                              enum uc_dtype ref_type, uint64_t prior_seed,
                              double *error, struct uc_error *err)
{
    CUdeviceptr out_data = out->data, ref_data = ref->data, sums = gpu->sums;
    uint64_t elements = (uint64_t)out->bytes / uc_dtype_bytes(out_type);
    int type = (int)out_type, ref_as = (int)ref_type;
    void *arguments[] = { &out_data, &type,       &ref_data, &ref_as,
                          &elements, &prior_seed, &type,     &sums };
    double host[2];
    CUresult result;

    if ((result = gpu->cuda.MemsetD8Async(sums, 0, sizeof host, gpu->stream)) ||
        (result = launch(gpu, gpu->compare, elements, arguments)) ||
        (result = gpu->cuda.StreamSynchronize(gpu->stream)) ||
        (result = gpu->cuda.MemcpyDtoH(host, sums, sizeof host)))
        return uc_gpu_fail(gpu, "comparison", result, err);
    *error = host[1] > 0 ? sqrt(host[0] / host[1]) : sqrt(host[0]);
    return UC_OK;
}

enum uc_status uc_gpu_sample(struct uc_gpu *gpu, uc_gpu_issue *issue,
                             void *context, bool lead, int samples, int calls,
                             float *device_ns, float *host_ns,
                             struct uc_error *err)
{
    enum uc_status status = lead ? issue(context, 1, err) : UC_OK;
    CUresult result = gpu->cuda.EventRecord(gpu->marks[0], gpu->stream);

    for (int i = 0; i < samples && status == UC_OK && !result; i++) {
        double start = uc_clock_s();

        status = issue(context, calls, err);
        host_ns[i] = (float)((uc_clock_s() - start) * 1e9 / calls);
        result = gpu->cuda.EventRecord(gpu->marks[i + 1], gpu->stream);
    }
    if (status != UC_OK)
        return status;
    if (!result)
        result = gpu->cuda.EventSynchronize(gpu->marks[samples]);
    for (int i = 0; i < samples && !result; i++) {
        float milliseconds = 0;

        result = gpu->cuda.EventElapsedTime(&milliseconds, gpu->marks[i],
                                            gpu->marks[i + 1]);
        device_ns[i] = milliseconds * 1e6f / (float)calls;
    }
    return result == CUDA_SUCCESS ? UC_OK
                                  : uc_gpu_fail(gpu, "timing", result, err);
}

enum uc_status uc_gpu_hold(struct uc_gpu *gpu, double ns, struct uc_error *err)
{
    uint64_t whole_ns = ns > 0 ? (uint64_t)ns : 0;
    void *arguments[] = { &whole_ns };
    CUresult result = gpu->cuda.LaunchKernel(gpu->hold, 1, 1, 1, 1, 1, 1, 0,
                                             gpu->stream, arguments, NULL);

    return result == CUDA_SUCCESS ? UC_OK
                                  : uc_gpu_fail(gpu, "uc_hold", result, err);
}
