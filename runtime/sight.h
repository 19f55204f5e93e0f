/**
 * @file sight.h
 * What of a command's convolutions can be seen: counters that all its
 * processes share with `ucudnn-plan doctor`, which started it.
 *
 * They lie in a file that is mapped by every process, so that what a process
 * counted is there whatever ends it. The doctor makes the file and names it in
 * the environment; without that, nothing of this is done.
 *
 * Owner:   the mapping lives as long as the process; the doctor's file is its
 *          own.
 * Errors:  none; a file that is not the doctor's is told once and not used.
 * Threads: any, without a lock. Counting allocates nothing. At exit the
 *          process's list of mapped files is read; no function of CUDA or
 *          cuDNN is called.
 */
#ifndef UC_RUNTIME_SIGHT_H
#define UC_RUNTIME_SIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define UC_SIGHT_VARIABLE "UCUDNN_DOCTOR"
#define UC_SIGHT_MAGIC "ucudnn doctor 1"

enum {
    UC_SIGHT_PROCESSES = 256,
    UC_SIGHT_REASONS = 64,
    UC_SIGHT_NAME = 16,
    UC_SIGHT_TEXT = 160,
    UC_SIGHT_PATH = 1024
};

/** Bits: what was mapped in some process when one looked. */
enum uc_sight_loaded {
    UC_SIGHT_CUDA = 1,
    UC_SIGHT_CUDNN = 2,      /**< libcudnn.so itself */
    UC_SIGHT_CUDNN_PART = 4, /**< libcudnn_graph.so or the like */
    UC_SIGHT_AT_START = 8    /**< either, before main(): linked */
};

struct uc_sight_process {
    _Atomic int32_t pid;    /**< 0: not yet */
    _Atomic int32_t looked; /**< its libraries are known: it ended by exit() */
    char name[UC_SIGHT_NAME]; /**< of the program; may be cut */
};

/** Calls that passed through; a text may come twice. */
struct uc_sight_reason {
    _Atomic int32_t state; /**< enum uc_sight_state */
    _Atomic int64_t calls;
    char text[UC_SIGHT_TEXT];
};
enum uc_sight_state { UC_SIGHT_EMPTY, UC_SIGHT_FILLING, UC_SIGHT_READY };

/** The whole file. */
struct uc_sight {
    char magic[sizeof UC_SIGHT_MAGIC];
    _Atomic int32_t process_count; /**< may exceed the list */
    _Atomic int32_t loaded;        /**< enum uc_sight_loaded bits */
    _Atomic int64_t convolutions;  /**< legacy calls that were seen */
    _Atomic int64_t planned;       /**< of them: ran as planned */
    _Atomic int64_t graphs;        /**< executions of the graph API */
    _Atomic int64_t explicit_runs; /**< executions through ucudnn.h */
    _Atomic int64_t other_misses;  /**< that found no room among reasons */
    _Atomic int32_t path_state;    /**< enum uc_sight_state */
    char cudnn_path[UC_SIGHT_PATH];
    struct uc_sight_process processes[UC_SIGHT_PROCESSES];
    struct uc_sight_reason reasons[UC_SIGHT_REASONS];
};

/** NULL: no doctor looks. */
extern struct uc_sight *uc_sight;

static inline void uc_sight_count(_Atomic int64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/** The counter of a reason, new or not; NULL: there is no room. */
_Atomic int64_t *uc_sight_reason(const char *text);

/**
 * Look at the files that a process has mapped, "/proc/self/maps" or another's;
 * `start` are bits to add when there is a cuDNN. *own, unless NULL, says
 * whether a file named `name` is among them. False: cannot be read.
 */
bool uc_sight_look(struct uc_sight *sight, const char *maps, int start,
                   const char *name, bool *own);

#endif
