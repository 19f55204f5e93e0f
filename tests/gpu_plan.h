/**
 * @file gpu_plan.h
 * Plans for the GPU tests: every operation of some problems, 5 = 3 + 2, by
 * an algorithm and, where there is one, by an engine.
 *
 * Units:   bytes.
 * Errors:  cmocka assertions.
 */
#ifndef UC_TESTS_GPU_PLAN_H
#define UC_TESTS_GPU_PLAN_H

#include "tests/gpu_fixture.h"

#include "db/plan.h"

/** A new empty file, removed at exit; once a program. */
const char *gpu_plan_path(void);

/** Add a plan for the current device to the file, in place of the same mode's
    for the same kind of device. A WD plan's operations all have a workspace.
    Returns the sum of the workspaces. */
int64_t gpu_plan_add(const char *path, enum uc_plan_mode mode,
                     const char *const *problems, size_t count);

#endif
