#include "config.h"

#include "common/device.h"

#include <string.h>

const char *uc_device_difference(const struct uc_device *a,
                                 const struct uc_device *b)
{
    if (strcmp(a->name, b->name) != 0)
        return "device name";
    if (a->compute_capability != b->compute_capability)
        return "compute capability";
    if (a->multiprocessors != b->multiprocessors)
        return "multiprocessors";
    if (a->memory_bytes != b->memory_bytes)
        return "memory";
    return NULL;
}

const char *uc_environment_difference(const struct uc_environment *a,
                                      const struct uc_environment *b)
{
    const char *device = uc_device_difference(&a->device, &b->device);

    if (device != NULL)
        return device;
    if (a->versions.cudnn != b->versions.cudnn)
        return "cudnn version";
    if (a->versions.cuda != b->versions.cuda)
        return "cuda version";
    if (strcmp(a->versions.driver, b->versions.driver) != 0)
        return "driver version";
    return NULL;
}

const char *uc_followed_difference(const struct uc_environment *a,
                                   const struct uc_environment *b)
{
    const char *device = uc_device_difference(&a->device, &b->device);

    if (device != NULL)
        return device;
    return a->versions.cudnn != b->versions.cudnn ? "cudnn version" : NULL;
}
