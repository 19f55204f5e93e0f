/**
 * @file probe.h
 * What of CUDA, cuDNN and libucudnn this machine has.
 *
 * Each is looked at in a process of its own: one that crashes or hangs is a
 * finding, and this process never touches CUDA.
 *
 * Owner:   a plain value.
 * Errors:  what is not there is a finding, in words; UC_EINTERNAL: no process
 *          to be had.
 * Threads: the process must be single-threaded (it forks).
 */
#ifndef UC_PLANNER_PROBE_H
#define UC_PLANNER_PROBE_H

#include "common/device.h"
#include "common/error.h"

enum { UC_PROBE_GPUS = 16, UC_PROBE_TEXT = 512, UC_PROBE_PATH = 4096 };

struct uc_probe {
    char no_gpu[UC_PROBE_TEXT]; /**< why none can be used; "": one can */
    bool
        none; /**< since there is none, no driver, or none this was built for */
    int gpu_count; /**< may exceed the list */
    struct uc_device gpus[UC_PROBE_GPUS];
    int cuda;                     /**< the driver's; 0: there is no driver */
    char driver[32];              /**< "" when unknown */
    char no_cudnn[UC_PROBE_TEXT]; /**< why there is none; "": there is */
    int cudnn;
    char cudnn_path[UC_PROBE_PATH];
    char no_library[UC_PROBE_TEXT]; /**< why libucudnn cannot be used */
    int library;                    /**< its version: 100 from "0.1.0" */
    char library_path[UC_PROBE_PATH];
};

enum uc_status uc_probe(struct uc_probe *probe, struct uc_error *err);

/** This program's version as uc_probe.library has it. */
int uc_probe_own_version(void);

#endif
