#include "config.h"

#include "runtime/describe.h"

#include <stdio.h>
#include <string.h>

/** "NVRM version: ... Kernel Module  580.159.04 ..." gives the number. */
static void read_driver_version(char *version, size_t size)
{
    FILE *file = fopen("/sys/module/nvidia/version", "r");
    char line[256], *rest;

    version[0] = '\0';
    if (file != NULL) {
        if (fgets(line, sizeof line, file) != NULL)
            snprintf(version, size, "%.*s", (int)strcspn(line, " \n"), line);
        fclose(file);
        return;
    }
    file = fopen("/proc/driver/nvidia/version", "r");
    if (file == NULL)
        return;
    if (fgets(line, sizeof line, file) != NULL)
        for (char *word = strtok_r(line, " \n", &rest); word != NULL;
             word = strtok_r(NULL, " \n", &rest))
            if (word[0] >= '0' && word[0] <= '9' && strchr(word, '.')) {
                snprintf(version, size, "%s", word);
                break;
            }
    fclose(file);
}

CUresult uc_describe_device(const struct uc_cuda *cuda, CUdevice device,
                            struct uc_device *description)
{
    struct uc_device *d = description;
    int major = 0, minor = 0;
    size_t memory = 0;
    CUresult result;

    if ((result = cuda->DeviceGetName(d->name, sizeof d->name, device)) ||
        (result = cuda->DeviceGetAttribute(
             &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)) ||
        (result = cuda->DeviceGetAttribute(
             &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)) ||
        (result = cuda->DeviceGetAttribute(
             &d->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
             device)) ||
        (result = cuda->DeviceTotalMem(&memory, device)))
        return result;
    d->compute_capability = major * 10 + minor;
    d->memory_bytes = (int64_t)memory;
    return CUDA_SUCCESS;
}

CUresult uc_describe_driver(const struct uc_cuda *cuda,
                            struct uc_versions *versions)
{
    read_driver_version(versions->driver, sizeof versions->driver);
    return cuda->DriverGetVersion(&versions->cuda);
}

CUresult uc_describe_versions(const struct uc_cuda *cuda,
                              const struct uc_cudnn *cudnn,
                              struct uc_versions *versions)
{
    versions->cudnn = (int)cudnn->GetVersion();
    return uc_describe_driver(cuda, versions);
}
