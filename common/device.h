/**
 * @file device.h
 * What a measurement was made on: the device and the library versions.
 *
 * Units:   *_bytes are bytes.
 * Owner:   plain values; texts that are returned are constants.
 * Errors:  nothing fails.
 * Threads: no hidden state.
 */
#ifndef UC_COMMON_DEVICE_H
#define UC_COMMON_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

struct uc_device {
    char name[128];         /**< "NVIDIA H200" */
    int compute_capability; /**< major * 10 + minor: 90 */
    int multiprocessors;
    int64_t memory_bytes;
};

struct uc_versions {
    int cudnn;       /**< cudnnGetVersion(): 91900 */
    int cuda;        /**< cuDriverGetVersion(): 13000 */
    char driver[32]; /**< "580.159.04", "" when unknown */
};

struct uc_environment {
    struct uc_device device;
    struct uc_versions versions;
};

/**
 * NULL when equal, else the name of the first field that differs:
 * "device name", "compute capability", "multiprocessors", "memory",
 * "cudnn version", "cuda version", "driver version".
 */
const char *uc_environment_difference(const struct uc_environment *a,
                                      const struct uc_environment *b);
/** The same for what libucudnn heeds by itself before it follows a plan: the
    device and the version of cuDNN. */
const char *uc_followed_difference(const struct uc_environment *a,
                                   const struct uc_environment *b);
/** The same for the device alone. */
const char *uc_device_difference(const struct uc_device *a,
                                 const struct uc_device *b);

#endif
