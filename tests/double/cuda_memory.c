/* Device memory: host memory between guards, every piece registered. */
#include "config.h"

#include "tests/double/state.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 256, GUARD_BYTE = 0xA5, GARBAGE_BYTE = 0xFF };

struct allocation {
    struct allocation *next;
    unsigned char *block; /* GUARD bytes, then ours, then GUARD bytes */
    size_t bytes;
    int device;
    CUstream writer;  /* last stream to write here, or NULL */
    uint64_t written; /* done when the stream has completed so much */
};

static struct allocation *allocations;
static size_t used_bytes[UC_DOUBLE_DEVICES];

static uint64_t generation; /* atomic */

uint64_t uc_double_generation(void)
{
    return __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
}

void uc_double_changed(void)
{
    __atomic_add_fetch(&generation, 1, __ATOMIC_ACQ_REL);
}

static unsigned char *start_of(const struct allocation *a)
{
    return a->block + GUARD;
}

void uc_double_memory_reset(void)
{
    for (int device = 0; device < UC_DOUBLE_DEVICES; device++) {
        uc_double_memory_drop(device);
    }
}

int uc_double_memory_drop(int device)
{
    struct allocation **at = &allocations;
    int dropped = 0;

    uc_double_lock();
    while (*at) {
        struct allocation *a = *at;

        if (a->device == device) {
            *at = a->next;
            free(a->block);
            free(a);
            dropped++;
        } else {
            at = &a->next;
        }
    }
    used_bytes[device] = 0;
    uc_double_unlock();
    return dropped;
}

CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes)
{
    const struct uc_double_settings *settings = uc_double_settings();
    int device;
    CUresult result = uc_double_enter_context(&device);
    struct allocation *a = NULL;
    void *block = NULL;
    uint64_t number;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!pointer || bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (uc_double_capture_forbids("cuMemAlloc")) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    uc_double_add(UC_DOUBLE_ALLOCATIONS, 1);
    number = uc_double_count(UC_DOUBLE_ALLOCATIONS);
    uc_double_lock();
    if (uc_double_allocation_fails(number) ||
        bytes > settings->memory_bytes - used_bytes[device] ||
        !(a = calloc(1, sizeof *a)) ||
        posix_memalign(&block, 256, bytes + 2 * GUARD) != 0) {
        uc_double_unlock();
        free(a);
        uc_double_log("allocate bytes=%zu failed", bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    a->block = block;
    a->bytes = bytes;
    a->device = device;
    memset(a->block, GUARD_BYTE, GUARD);
    memset(start_of(a), GARBAGE_BYTE, bytes);
    memset(start_of(a) + bytes, GUARD_BYTE, GUARD);
    a->next = allocations;
    allocations = a;
    used_bytes[device] += bytes;
    *pointer = (CUdeviceptr)(uintptr_t)start_of(a);
    uc_double_changed();
    uc_double_unlock();
    uc_double_log("allocate bytes=%zu", bytes);
    return CUDA_SUCCESS;
}

static bool guards_hold(const struct allocation *a)
{
    const unsigned char *end = start_of(a) + a->bytes;

    for (int i = 0; i < GUARD; i++) {
        if (a->block[i] != GUARD_BYTE || end[i] != GUARD_BYTE) {
            uc_double_misuse("a guard of an allocation of %zu bytes was "
                             "overwritten %s it",
                             a->bytes,
                             end[i] != GUARD_BYTE ? "behind" : "before");
            return false;
        }
    }
    return true;
}

CUresult cuMemFree(CUdeviceptr pointer)
{
    int device;
    CUresult result = uc_double_enter_context(&device);
    struct allocation **at = &allocations;
    struct allocation *a;

    if (result != CUDA_SUCCESS || pointer == 0) {
        return result;
    }
    if (uc_double_capture_forbids("cuMemFree")) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    uc_double_wait_blocking(device);
    uc_double_lock();
    while (*at && (uintptr_t)start_of(*at) != pointer) {
        at = &(*at)->next;
    }
    a = *at;
    if (!a) {
        uc_double_unlock();
        uc_double_misuse("cuMemFree: %#llx is not allocated",
                         (unsigned long long)pointer);
        return CUDA_ERROR_INVALID_VALUE;
    }
    *at = a->next;
    used_bytes[a->device] -= a->bytes;
    uc_double_unlock();
    if (!guards_hold(a)) {
        result = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    uc_double_add(UC_DOUBLE_FREES, 1);
    uc_double_log("free bytes=%zu", a->bytes);
    free(a->block);
    free(a);
    return result;
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    int device;
    CUresult result = uc_double_enter_context(&device);

    if (result == CUDA_SUCCESS) {
        *total_bytes = uc_double_settings()->memory_bytes;
        uc_double_lock();
        *free_bytes = *total_bytes - used_bytes[device];
        uc_double_unlock();
    }
    return result;
}

/** The allocation that holds these bytes whole, or NULL. */
static struct allocation *find_locked(uintptr_t start, size_t bytes)
{
    struct allocation *a = allocations;

    while (a && !(start >= (uintptr_t)start_of(a) &&
                  start - (uintptr_t)start_of(a) <= a->bytes &&
                  bytes <= a->bytes - (start - (uintptr_t)start_of(a)))) {
        a = a->next;
    }
    return a;
}

bool uc_double_range(const void *start, size_t bytes, int device,
                     const char *what)
{
    struct allocation *a;
    int owner;

    uc_double_lock();
    a = find_locked((uintptr_t)start, bytes);
    owner = a ? a->device : -1;
    uc_double_unlock();
    if (owner < 0) {
        uc_double_misuse("%s: %zu bytes at %p lie in no allocation", what,
                         bytes, start);
    } else if (owner != device) {
        uc_double_misuse("%s: memory of device %d on device %d", what, owner,
                         device);
    }
    return owner == device;
}

void uc_double_written_locked(const void *start, CUstream stream)
{
    struct allocation *a = find_locked((uintptr_t)start, 0);

    if (a) {
        a->writer = stream;
        a->written = stream->submitted;
    }
}

void uc_double_stream_gone_locked(CUstream stream)
{
    for (struct allocation *a = allocations; a; a = a->next) {
        if (a->writer == stream) {
            a->writer = NULL;
        }
    }
}

/** Whether a stream has yet to write what a copy to the host would read. */
static bool pending(const void *start)
{
    struct allocation *a;
    bool is;

    uc_double_lock();
    a = find_locked((uintptr_t)start, 0);
    is = a && a->writer && a->writer->completed < a->written;
    uc_double_unlock();
    if (is) {
        uc_double_misuse("cuMemcpyDtoH: a stream that was not waited for "
                         "writes there");
    }
    return is;
}

enum side { HOST, DEVICE };

static CUresult copy(void *to, enum side to_side, const void *from,
                     enum side from_side, size_t bytes, const char *what)
{
    int device;
    CUresult result = uc_double_enter_context(&device);

    if (result != CUDA_SUCCESS || bytes == 0) {
        return result;
    }
    if (uc_double_capture_forbids(what)) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    uc_double_add(UC_DOUBLE_COPIES, 1);
    uc_double_log("copy function=%s bytes=%zu", what, bytes);
    uc_double_wait_blocking(device);
    if ((to_side == DEVICE && !uc_double_range(to, bytes, device, what)) ||
        (from_side == DEVICE && !uc_double_range(from, bytes, device, what))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (to_side == HOST && pending(from)) {
        return CUDA_ERROR_NOT_READY;
    }
    memmove(to, from, bytes);
    if (to_side == DEVICE) {
        uc_double_changed();
    }
    return CUDA_SUCCESS;
}

static void *host(CUdeviceptr pointer)
{
    return (void *)(uintptr_t)pointer;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return copy(host(to), DEVICE, from, HOST, bytes, "cuMemcpyHtoD");
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return copy(to, HOST, host(from), DEVICE, bytes, "cuMemcpyDtoH");
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy(host(to), DEVICE, host(from), DEVICE, bytes, "cuMemcpyDtoD");
}

/** Work on memory in a stream: 1 us and 1 ns per 1,000 bytes. */
static CUresult submit(CUdeviceptr to, size_t bytes, CUstream stream,
                       const char *what, enum uc_double_counter counter)
{
    int device;
    CUresult result = uc_double_enter_context(&device);

    if (result != CUDA_SUCCESS) {
        return result;
    }
    uc_double_add(counter, 1);
    uc_double_log("%s function=%s bytes=%zu",
                  counter == UC_DOUBLE_COPIES ? "copy" : "set", what, bytes);
    if (!uc_double_stream_valid(stream, device)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!uc_double_range(host(to), bytes, device, what)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    uc_double_submit(stream, device, 1000 + (int64_t)(bytes / 1000), host(to));
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream)
{
    int device;
    CUresult result =
        submit(to, bytes, stream, "cuMemcpyDtoDAsync", UC_DOUBLE_COPIES);

    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = uc_double_enter_context(&device);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!uc_double_range(host(from), bytes, device, "cuMemcpyDtoDAsync")) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memmove(host(to), host(from), bytes);
    return CUDA_SUCCESS;
}

static CUresult set(CUdeviceptr to, uint32_t value, size_t width, size_t count,
                    CUstream stream, const char *what)
{
    CUresult result;

    if (count > SIZE_MAX / width || to % width != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    result = submit(to, count * width, stream, what, UC_DOUBLE_SETS);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (width == 1) {
        memset(host(to), (int)value, count);
    } else {
        for (size_t i = 0; i < count; i++) {
            memcpy((char *)host(to) + i * sizeof value, &value, sizeof value);
        }
    }
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    return set(to, value, 1, count, NULL, "cuMemsetD8");
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                         CUstream stream)
{
    return set(to, value, 1, count, stream, "cuMemsetD8Async");
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned int value, size_t count)
{
    return set(to, value, 4, count, NULL, "cuMemsetD32");
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count,
                          CUstream stream)
{
    return set(to, value, 4, count, stream, "cuMemsetD32Async");
}
