/**
 * @file arena.h
 * Workspaces of the library's own, for plans that divide one total among all
 * operations (WD): one allocation a device, a segment an operation.
 *
 * Copies of one operation (identical layers) share its segment, since they
 * look the same to us. Two streams never use a segment at once: the later
 * one waits, on the device, for what the earlier one enqueued.
 *
 * A graph may be replayed at any time, which nobody tells us. To us it is work
 * of the stream that it was captured on: a segment that a capture has used is
 * that stream's for good, and no other stream gets it again, captured or not.
 * A capture cannot wait for what is enqueued elsewhere, so it gets a segment
 * only when that is done. What is left to the program: to order the replays of
 * such graphs with each other, and with the work of the stream that they were
 * captured on.
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

/** Why a segment cannot be had. */
enum uc_segment_lack {
    UC_SEGMENT_NONE,  /**< there is no memory yet */
    UC_SEGMENT_BUSY,  /**< under capture: another stream's work may use it */
    UC_SEGMENT_GRAPH, /**< another stream has captured it */
};

/** The entry's segment, ready for work on `stream`; NULL and in *lack why
    not. */
struct uc_segment *uc_arena_acquire(const struct uc_cuda *cuda,
                                    const struct uc_entry *entry,
                                    CUdevice device, CUstream stream,
                                    bool capturing, enum uc_segment_lack *lack);
void *uc_segment_address(const struct uc_segment *segment);

/** All work is enqueued on the stream that acquired it, or, if not `used`,
    none was. */
void uc_arena_release(const struct uc_cuda *cuda, struct uc_segment *segment,
                      bool used);

#endif
