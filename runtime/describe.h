/**
 * @file describe.h
 * What device and what versions this process has.
 *
 * Owner:   plain values.
 * Errors:  CUDA's result.
 * Threads: no hidden state.
 */
#ifndef UC_RUNTIME_DESCRIBE_H
#define UC_RUNTIME_DESCRIBE_H

#include "common/device.h"
#include "runtime/library.h"

CUresult uc_describe_device(const struct uc_cuda *cuda, CUdevice device,
                            struct uc_device *description);

/** All but cuDNN's. The driver's own is "" where the system does not tell it.
 */
CUresult uc_describe_driver(const struct uc_cuda *cuda,
                            struct uc_versions *versions);

CUresult uc_describe_versions(const struct uc_cuda *cuda,
                              const struct uc_cudnn *cudnn,
                              struct uc_versions *versions);

#endif
