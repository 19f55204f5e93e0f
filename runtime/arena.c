#include "config.h"

#include "runtime/arena.h"

#include "common/log.h"
#include "runtime/capture.h"

#include <pthread.h>
#include <stdlib.h>

enum { SEGMENT_ALIGNMENT = 256 };

struct uc_segment {
    pthread_mutex_t lock;
    CUdeviceptr address;
    CUevent event; /**< behind the last work that used it */
    CUstream last; /**< that work's stream */
    bool used;
    bool capturing; /**< that work is captured */
    bool captured;  /**< some was, on `last`, whose it is for good */
    struct {
        CUstream last;
        bool used, capturing;
    } before; /**< what to go back to when it is not used after all */
};

/** A plan's memory on one device. */
struct arena {
    const struct uc_plan *plan;
    CUdeviceptr base;
    struct uc_segment *segments; /**< by the plan's operations */
    bool usable;
    struct arena *next;
};

/** Grows at the front, under the lock; readers follow it without. */
static _Atomic(struct arena *) arenas[UC_DEVICES];
static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;

static struct arena *find(const struct uc_plan *plan, CUdevice device)
{
    struct arena *arena;

    if (device < 0 || device >= UC_DEVICES)
        return NULL;
    arena = atomic_load_explicit(&arenas[device], memory_order_acquire);
    while (arena != NULL && arena->plan != plan)
        arena = arena->next;
    return arena;
}

/** A segment's room; false on overflow. */
static bool rounded(int64_t bytes, int64_t *room)
{
    if (__builtin_add_overflow(bytes, SEGMENT_ALIGNMENT - 1, room))
        return false;
    *room -= *room % SEGMENT_ALIGNMENT;
    return true;
}

/** The sum over the plan's entries; false on overflow. */
static bool total_bytes(const struct uc_table *table,
                        const struct uc_plan *plan, int64_t *total)
{
    size_t count;
    const struct uc_entry *entries = uc_table_entries(table, &count);
    int64_t room;

    *total = 0;
    for (size_t i = 0; i < count; i++)
        if (entries[i].plan == plan &&
            (!rounded(entries[i].operation->workspace_bytes, &room) ||
             __builtin_add_overflow(*total, room, total)))
            return false;
    return true;
}

/** One allocation, cut up. */
static bool fill(const struct uc_cuda *cuda, const struct uc_table *table,
                 struct arena *arena)
{
    const struct uc_plan *plan = arena->plan;
    size_t count;
    const struct uc_entry *entries = uc_table_entries(table, &count);
    int64_t total, room;

    arena->segments =
        calloc(plan->operation_count + 1, sizeof *arena->segments);
    if (arena->segments == NULL || !total_bytes(table, plan, &total) ||
        (total > 0 &&
         cuda->MemAlloc(&arena->base, (size_t)total) != CUDA_SUCCESS))
        return false;
    total = 0;
    for (size_t i = 0; i < count; i++) {
        struct uc_segment *s;

        if (entries[i].plan != plan)
            continue;
        s = &arena->segments[entries[i].operation - plan->operations];
        pthread_mutex_init(&s->lock, NULL);
        s->address = arena->base + (CUdeviceptr)total;
        rounded(entries[i].operation->workspace_bytes, &room);
        total += room;
        if (cuda->EventCreate(&s->event, CU_EVENT_DISABLE_TIMING))
            return false;
    }
    return true;
}

/** What could not be had once is not asked for again. */
static struct arena *create(const struct uc_cuda *cuda,
                            const struct uc_table *table,
                            const struct uc_plan *plan)
{
    struct arena *arena = calloc(1, sizeof *arena);
    CUstreamCaptureMode mode;

    if (arena == NULL)
        return NULL;
    arena->plan = plan;
    mode = uc_capture_relax(cuda);
    arena->usable = fill(cuda, table, arena);
    if (!arena->usable && arena->base != 0)
        cuda->MemFree(arena->base);
    uc_capture_restore(cuda, mode);
    if (!arena->usable)
        uc_log(UC_LOG_WARNING,
               "no device memory for the workspaces of the plan of %s: it is "
               "not followed",
               plan->network);
    return arena;
}

bool uc_arena_reserve(const struct uc_cuda *cuda, const struct uc_table *table,
                      struct uc_entry *entry, CUdevice device)
{
    struct arena *arena;

    if (entry->plan->mode != UC_PLAN_WD)
        return true;
    if (device < 0 || device >= UC_DEVICES)
        return false;
    arena = find(entry->plan, device);
    if (arena != NULL)
        return arena->usable;
    pthread_mutex_lock(&arena_lock);
    arena = find(entry->plan, device);
    if (arena == NULL && (arena = create(cuda, table, entry->plan)) != NULL) {
        arena->next = atomic_load(&arenas[device]);
        atomic_store_explicit(&arenas[device], arena, memory_order_release);
    }
    pthread_mutex_unlock(&arena_lock);
    return arena != NULL && arena->usable;
}

/** Whether all work that used a segment is done; asked under capture. */
static bool is_done(const struct uc_cuda *cuda, const struct uc_segment *s)
{
    CUstreamCaptureMode mode;
    CUresult result;

    if (cuda->ThreadExchangeStreamCaptureMode == NULL)
        return false; /* to ask would spoil the capture */
    mode = uc_capture_relax(cuda);
    result = cuda->EventQuery(s->event);
    uc_capture_restore(cuda, mode);
    return result == CUDA_SUCCESS;
}

/** Whether a stream may go on behind the segment's last work. A handle alone
    does not tell streams apart: it may be one a thread, or a new stream in a
    dead one's place. So every use waits for the last. */
static bool follows(const struct uc_cuda *cuda, const struct uc_segment *s,
                    CUstream stream, bool capturing, enum uc_segment_lack *lack)
{
    *lack = UC_SEGMENT_BUSY;
    if (!s->used)
        return true;
    if (s->captured && s->last != stream) {
        *lack = UC_SEGMENT_GRAPH;
        return false;
    }
    if (capturing) /* no event can be had */
        return s->last == stream || is_done(cuda, s);
    return cuda->StreamWaitEvent(stream, s->event, 0) == CUDA_SUCCESS;
}

struct uc_segment *uc_arena_acquire(const struct uc_cuda *cuda,
                                    const struct uc_entry *entry,
                                    CUdevice device, CUstream stream,
                                    bool capturing, enum uc_segment_lack *lack)
{
    struct arena *arena = find(entry->plan, device);
    struct uc_segment *s;

    *lack = UC_SEGMENT_NONE;
    if (arena == NULL || !arena->usable)
        return NULL;
    s = &arena->segments[entry->operation - entry->plan->operations];
    pthread_mutex_lock(&s->lock);
    if (!follows(cuda, s, stream, capturing, lack)) {
        pthread_mutex_unlock(&s->lock);
        return NULL;
    }
    s->before.used = s->used;
    s->before.last = s->last;
    s->before.capturing = s->capturing;
    s->used = true;
    s->last = stream;
    s->capturing = capturing;
    return s;
}

void *uc_segment_address(const struct uc_segment *segment)
{
    return (void *)segment->address;
}

void uc_arena_release(const struct uc_cuda *cuda, struct uc_segment *segment,
                      bool used)
{
    if (!used) {
        segment->used = segment->before.used;
        segment->last = segment->before.last;
        segment->capturing = segment->before.capturing;
    } else if (segment->capturing) {
        /* An event recorded under capture would belong to the graph. */
        segment->captured = true;
    } else {
        cuda->EventRecord(segment->event, segment->last);
    }
    pthread_mutex_unlock(&segment->lock);
}
