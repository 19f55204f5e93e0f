/**
 * @file arena.h
 * Workspaces of the library's own, for plans that divide one total among all
 * operations (WD): one allocation a device, a segment an operation.
 *
 * Copies of one operation (identical layers) share its segment, since they
 * look the same to us. Two streams never use a segment at once: the later
 * one waits, on the device, for what the earlier one enqueued. Of a captured
 * graph's replays nothing is known: a graph whose segments are in use
 * elsewhere must be ordered by the program, as any that share memory.
 *
 * Units:   *_bytes are bytes.
 * Owner:   an arena lives as long as the process: nothing is freed at exit.
 * Errors:  false, and the caller passes through.
 * Threads: any; from acquire to release a segment belongs to one thread.
 */
#ifndef UC_RUNTIME_ARENA_H
#define UC_RUNTIME_ARENA_H

#include "runtime/library.h"
#include "runtime/table.h"

struct uc_segment;

/**
 * Make sure the device has memory for the entry's plan; not under capture.
 * An entry of another mode needs none.
 */
bool uc_arena_reserve(const struct uc_cuda *cuda, const struct uc_table *table,
                      struct uc_entry *entry, CUdevice device);

/**
 * The entry's segment, ready for work on `stream`. NULL: there is none, or
 * under capture another stream had it last.
 */
struct uc_segment *uc_arena_acquire(const struct uc_cuda *cuda,
                                    const struct uc_entry *entry,
                                    CUdevice device, CUstream stream,
                                    bool capturing);
void *uc_segment_address(const struct uc_segment *segment);

/** All work is enqueued on the stream that acquired it. */
void uc_arena_release(const struct uc_cuda *cuda, struct uc_segment *segment);

#endif
