/* Initialisation, devices, contexts, error texts. */
#include "config.h"

#include "tests/double/state.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct CUctx_st { /* of the device with the same index */
    int retained;
    bool poisoned;
};

static struct CUctx_st contexts[UC_DOUBLE_DEVICES];
static bool initialised; /* atomic */
static bool forked;      /* CUDA was used before fork(): dead in the child */
static _Thread_local CUcontext current;

static void in_child(void)
{
    forked = __atomic_load_n(&initialised, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void watch_fork(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

void uc_double_context_reset(void)
{
    memset(contexts, 0, sizeof contexts);
    initialised = false;
    current = NULL;
}

CUresult uc_double_enter(void)
{
    if (!__atomic_load_n(&initialised, __ATOMIC_RELAXED)) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    if (forked) {
        uc_double_misuse("CUDA was initialised before fork()");
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    return CUDA_SUCCESS;
}

CUresult uc_double_enter_context(int *device)
{
    CUresult result = uc_double_enter();

    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!current) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (__atomic_load_n(&current->retained, __ATOMIC_RELAXED) == 0) {
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *device = (int)(current - contexts);
    return uc_double_poisoned(*device) ? CUDA_ERROR_ILLEGAL_ADDRESS
                                       : CUDA_SUCCESS;
}

int uc_double_device(void)
{
    CUcontext context;

    if (!current) {
        if (cuInit(0) != CUDA_SUCCESS ||
            cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) {
            return -1;
        }
        current = context;
    }
    return (int)(current - contexts);
}

void uc_double_poison(int device)
{
    __atomic_store_n(&contexts[device].poisoned, true, __ATOMIC_RELAXED);
}

bool uc_double_poisoned(int device)
{
    return __atomic_load_n(&contexts[device].poisoned, __ATOMIC_RELAXED);
}

CUresult cuInit(unsigned int flags)
{
    if (flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (forked) {
        return uc_double_enter();
    }
    if (uc_double_settings()->devices == 0) {
        return CUDA_ERROR_NO_DEVICE;
    }
    __atomic_store_n(&initialised, true, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    if (!version) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *version = uc_double_settings()->cuda_version;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult result = uc_double_enter();

    if (result == CUDA_SUCCESS) {
        *count = uc_double_settings()->devices;
    }
    return result;
}

static CUresult enter_device(CUdevice device)
{
    CUresult result = uc_double_enter();

    if (result == CUDA_SUCCESS &&
        (device < 0 || device >= uc_double_settings()->devices)) {
        result = CUDA_ERROR_INVALID_DEVICE;
    }
    return result;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = enter_device(ordinal);

    if (result == CUDA_SUCCESS) {
        *device = ordinal;
    }
    return result;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    CUresult result = enter_device(device);
    const char *from = uc_double_settings()->names;
    const char *comma;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!name || length <= 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (int i = 0; i < device && (comma = strchr(from, ',')); i++) {
        from = comma + 1;
    }
    snprintf(name, (size_t)length, "%.*s", (int)strcspn(from, ","), from);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    CUresult result = enter_device(device);

    if (result == CUDA_SUCCESS) {
        *bytes = uc_double_settings()->memory_bytes;
    }
    return result;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device)
{
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } known[] = {
        { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9 },
        { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0 },
        { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132 },
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
        { CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
        { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 14 },
        { CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
        { CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT },
    };
    CUresult result = enter_device(device);

    if (result != CUDA_SUCCESS) {
        return result;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return CUDA_SUCCESS;
        }
    }
    uc_double_misuse("cuDeviceGetAttribute: attribute %d is not simulated",
                     (int)attribute);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult result = enter_device(device);

    if (result == CUDA_SUCCESS) {
        __atomic_add_fetch(&contexts[device].retained, 1, __ATOMIC_RELAXED);
        *context = &contexts[device];
    }
    return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUresult result = enter_device(device);
    int left;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    left = __atomic_sub_fetch(&contexts[device].retained, 1, __ATOMIC_RELAXED);
    if (left < 0) {
        __atomic_store_n(&contexts[device].retained, 0, __ATOMIC_RELAXED);
        uc_double_misuse("primary context %d released too often", device);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (left == 0) {
        int dropped = uc_double_memory_drop(device);

        if (dropped > 0) {
            uc_double_log("leak allocations=%d", dropped);
        }
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult result = uc_double_enter();

    if (result == CUDA_SUCCESS) {
        current = context;
    }
    return result;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    CUresult result = uc_double_enter();

    if (result == CUDA_SUCCESS) {
        *context = current;
    }
    return result;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    int index;
    CUresult result = uc_double_enter_context(&index);

    uc_double_add(UC_DOUBLE_DEVICE_QUESTIONS, 1);
    if (result == CUDA_SUCCESS) {
        *device = index;
    }
    return result;
}

static const struct {
    CUresult result;
    const char *name, *text;
} errors[] = {
    { CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
    { CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE",
      "invalid argument" },
    { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED",
      "initialization error" },
    { CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
      "no CUDA-capable device is detected" },
    { CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
      "invalid device ordinal" },
    { CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
      "device kernel image is invalid" },
    { CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
      "invalid device context" },
    { CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
      "invalid resource handle" },
    { CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
    { CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready" },
    { CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
      "an illegal memory access was encountered" },
    { CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED",
      "context is destroyed" },
    { CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

static CUresult describe(CUresult error, const char **to, bool name)
{
    for (size_t i = 0; to && i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].result == error) {
            *to = name ? errors[i].name : errors[i].text;
            return CUDA_SUCCESS;
        }
    }
    if (to) {
        *to = NULL;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    return describe(error, text, false);
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
    return describe(error, text, true);
}
