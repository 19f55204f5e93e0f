#include "config.h"

#include "runtime/arena.h"

#include "common/log.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_DEVICES = 64, SEGMENT_ALIGNMENT = 256 };

struct uc_segment {
    pthread_mutex_t lock;
    CUdeviceptr address;
    CUevent event; /**< behind the last work that used it */
    CUstream last; /**< that work's stream */
    bool used, capturing;
};

/** A plan's memory on one device. */
struct arena {
    const struct uc_plan *plan;
    struct uc_segment *segments; /**< by the plan's operations */
    struct arena *next;
};

/** Grows at the front, under the lock; readers follow it without. */
static _Atomic(struct arena *) arenas[MAX_DEVICES];
static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;

static struct arena *find(const struct uc_plan *plan, CUdevice device)
{
    struct arena *arena;

    if (device < 0 || device >= MAX_DEVICES)
        return NULL;
    arena = atomic_load_explicit(&arenas[device], memory_order_acquire);
    while (arena != NULL && arena->plan != plan)
        arena = arena->next;
    return arena;
}

static int64_t rounded(int64_t bytes)
{
    return (bytes + SEGMENT_ALIGNMENT - 1) / SEGMENT_ALIGNMENT *
           SEGMENT_ALIGNMENT;
}

/** One allocation, cut up; on failure nothing is left behind. */
static bool fill(const struct uc_cuda *cuda, const struct uc_table *table,
                 struct arena *arena)
{
    size_t count, operations = arena->plan->operation_count;
    struct uc_entry *entries = uc_table_entries(table, &count);
    CUdeviceptr base = 0;
    int64_t total = 0;

    arena->segments = calloc(operations + 1, sizeof *arena->segments);
    if (arena->segments == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (entries[i].plan == arena->plan)
            total += rounded(entries[i].operation->workspace_bytes);
    if (total > 0 && cuda->MemAlloc(&base, (size_t)total) != CUDA_SUCCESS) {
        uc_log(UC_LOG_WARNING,
               "no memory for the plan of %s: %lld bytes of workspace",
               arena->plan->network, (long long)total);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct uc_segment *s;

        if (entries[i].plan != arena->plan)
            continue;
        s = &arena->segments[entries[i].operation - arena->plan->operations];
        pthread_mutex_init(&s->lock, NULL);
        s->address = base;
        base += (CUdeviceptr)rounded(entries[i].operation->workspace_bytes);
        if (cuda->EventCreate(&s->event, CU_EVENT_DISABLE_TIMING))
            return false;
    }
    return true;
}

bool uc_arena_reserve(const struct uc_cuda *cuda, const struct uc_table *table,
                      struct uc_entry *entry, CUdevice device)
{
    struct arena *arena;
    bool good = true;

    if (entry->plan->mode != UC_PLAN_WD || find(entry->plan, device) != NULL)
        return true;
    if (device < 0 || device >= MAX_DEVICES)
        return false;
    pthread_mutex_lock(&arena_lock);
    if (find(entry->plan, device) == NULL) {
        arena = calloc(1, sizeof *arena);
        good = arena != NULL;
        if (good) {
            arena->plan = entry->plan;
            good = fill(cuda, table, arena);
        }
        if (good) {
            arena->next = atomic_load(&arenas[device]);
            atomic_store_explicit(&arenas[device], arena, memory_order_release);
        } else if (arena != NULL) {
            free(arena->segments);
            free(arena);
        }
    }
    pthread_mutex_unlock(&arena_lock);
    return good;
}

struct uc_segment *uc_arena_acquire(const struct uc_cuda *cuda,
                                    const struct uc_entry *entry,
                                    CUdevice device, CUstream stream,
                                    bool capturing)
{
    struct arena *arena = find(entry->plan, device);
    struct uc_segment *s;
    bool other;

    if (arena == NULL)
        return NULL;
    s = &arena->segments[entry->operation - entry->plan->operations];
    pthread_mutex_lock(&s->lock);
    other = s->used && s->last != stream;
    if (other && (capturing || s->capturing ||
                  cuda->StreamWaitEvent(stream, s->event, 0))) {
        pthread_mutex_unlock(&s->lock);
        return NULL;
    }
    s->used = true;
    s->last = stream;
    s->capturing = capturing;
    return s;
}

void *uc_segment_address(const struct uc_segment *segment)
{
    return (void *)segment->address;
}

void uc_arena_release(const struct uc_cuda *cuda, struct uc_segment *segment)
{
    /* An event recorded under capture belongs to the graph. */
    if (!segment->capturing)
        cuda->EventRecord(segment->event, segment->last);
    pthread_mutex_unlock(&segment->lock);
}
