/**
 * @file known_bad.h
 * Engines of cuDNN's graph API that are known to be wrong or to crash, from a
 * small text file: they are never measured.
 *
 * A line is an operation, spatial dimensions, an engine, the first version of
 * cuDNN that has the fault, the first that has it no more ("-" while there is
 * none), and the reason in words:
 *
 *   forward 3d eng23 9.8.0 9.15.0 wrong sums in some shapes
 *
 * Empty lines and those that begin with "#" say nothing.
 *
 * Owner:   a list is the caller's: uc_known_bad_free(), which takes NULL.
 * Errors:  UC_EFILE (cannot be read), UC_EINPUT with file and line.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_KNOWN_BAD_H
#define UC_PLANNER_KNOWN_BAD_H

#include "common/error.h"
#include "common/kernel.h"

struct uc_known_bad;

enum uc_status uc_known_bad_read(const char *path, struct uc_known_bad **out,
                                 struct uc_error *err);
/** The list that ships (data.h); NULL where `apis` (1 << enum uc_api) has no
    graph API. */
enum uc_status uc_known_bad_shipped(unsigned apis, struct uc_known_bad **out,
                                    struct uc_error *err);
void uc_known_bad_free(struct uc_known_bad *list);

/** Why the kernel must not run under this version (cudnnGetVersion()), NULL
    when nothing is known against it. `list` may be NULL. */
const char *uc_known_bad_reason(const struct uc_known_bad *list, int cudnn,
                                const struct uc_problem *problem,
                                const struct uc_kernel *kernel);

#endif
