/**
 * @file double.h
 * The part of the test double that both libraries share: libcuda.so.1
 * defines these functions, libcudnn.so.9 and tests call them. README says
 * what the double does, which environment variables steer it and which
 * formulas its times and workspaces follow.
 *
 * Units:   *_ns nanoseconds of the simulated clock, sizes in bytes.
 * Owner:   nothing passes to the caller.
 * Errors:  a misuse is told on stderr and answered with an error status.
 * Threads: any; one lock guards the state.
 */
#ifndef UC_TESTS_DOUBLE_H
#define UC_TESTS_DOUBLE_H

#pragma GCC visibility push(default)

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum uc_double_operation {
    UC_DOUBLE_FORWARD,
    UC_DOUBLE_BACKWARD_DATA,
    UC_DOUBLE_BACKWARD_FILTER,
    UC_DOUBLE_OPERATIONS
};

/** "forward", "backward-data", "backward-filter". */
const char *uc_double_operation_name(enum uc_double_operation operation);

/** What the environment asks for. */
struct uc_double_settings {
    int devices;          /**< 0 .. UC_DOUBLE_DEVICES */
    char names[256];      /**< a name or, between commas, one a device */
    size_t memory_bytes;  /**< of each device */
    int cuda_version;     /**< cuDriverGetVersion() */
    size_t cudnn_version; /**< cudnnGetVersion(), 0: the headers' */
    size_t alignment;     /**< of tensor bases and workspaces, >= 1 */
    int64_t max_elements; /**< larger tensors are not supported */
    bool empty;           /**< convolutions compute and check nothing */
    char log[512];        /**< file, "" for none */
};
enum { UC_DOUBLE_DEVICES = 16 };

/** Read at first use; the same until uc_double_reset(). */
const struct uc_double_settings *uc_double_settings(void);

/**
 * Forget everything and read the environment again at the next call. Only
 * while no other thread is inside and no object of the double is in use.
 */
void uc_double_reset(void);

/** What happens to one convolution call. Status 0: it does not fail. */
struct uc_double_effects {
    int status;
    bool abort, crash, hang, hang_later, poison;
    bool wrong, inexact, nan, write_output, write_workspace;
    double time_factor;
    double workspace_factor;
};

/** Of what a fault may strike: asking, making an execution plan, running. */
enum uc_double_stage {
    UC_DOUBLE_QUERY,
    UC_DOUBLE_BUILD,
    UC_DOUBLE_RUN,
    UC_DOUBLE_ADVISE, /* heuristics: of no engine */
};
/** Engine N of the graph API goes by the number UC_DOUBLE_ENGINE + N. */
enum { UC_DOUBLE_ENGINE = 1000 };

/**
 * The faults that match a call, each counted as one more match. Queries see
 * the workspace factor only and count nothing.
 */
void uc_double_effects(enum uc_double_operation operation, int algorithm,
                       int64_t batch, double beta, enum uc_double_stage stage,
                       struct uc_double_effects *effects);
/** Whether this allocation (1 is the first) is to fail. */
bool uc_double_allocation_fails(uint64_t number);

/** Things counted since the start or the last reset. */
enum uc_double_counter {
    UC_DOUBLE_ALLOCATIONS,
    UC_DOUBLE_FREES,
    UC_DOUBLE_SYNCHRONISATIONS, /**< of streams, events, contexts */
    UC_DOUBLE_COPIES,
    UC_DOUBLE_SETS,
    UC_DOUBLE_LAUNCHES,
    UC_DOUBLE_QUERIES,          /**< of workspace sizes */
    UC_DOUBLE_SEARCHES,         /**< Get...Algorithm_v7 and Find... */
    UC_DOUBLE_CONVOLUTIONS,     /**< legacy calls */
    UC_DOUBLE_EXECUTIONS,       /**< cudnnBackendExecute */
    UC_DOUBLE_HEURISTICS,       /**< asked of the graph API */
    UC_DOUBLE_PLANS,            /**< execution plans made */
    UC_DOUBLE_CAPTURED_PLANS,   /**< of these, refused because of a capture */
    UC_DOUBLE_DEVICE_QUESTIONS, /**< which is current */
    UC_DOUBLE_EXCHANGES,        /**< of a thread's capture mode */
    UC_DOUBLE_DESCRIPTORS,      /**< created */
    UC_DOUBLE_LIVE,             /**< descriptors, handles, streams... alive */
    UC_DOUBLE_MISUSES,          /**< everything told on stderr */
    UC_DOUBLE_COUNTERS
};
uint64_t uc_double_count(enum uc_double_counter counter);
void uc_double_add(enum uc_double_counter counter, int64_t amount);

/** One line into the log, if there is one. */
void uc_double_log(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/** "ucudnn double: ..." on stderr and into the log; counted. */
void uc_double_misuse(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/** Current device of this thread, made current if there is none; -1: no. */
int uc_double_device(void);
/** Break the device: every later call answers CUDA_ERROR_ILLEGAL_ADDRESS. */
void uc_double_poison(int device);
/** Whether a device was broken. */
bool uc_double_poisoned(int device);

/** False and a misuse unless the bytes lie in one allocation of a device. */
bool uc_double_range(const void *start, size_t bytes, int device,
                     const char *what);
/** False and a misuse when `stream` is none of the device's. */
bool uc_double_stream_valid(CUstream stream, int device);
/**
 * Before a call that is unsafe under capture: whether a capture forbids it to
 * this thread. If so it is a misuse, and the end of the captures that do.
 */
bool uc_double_capture_forbids(const char *what);
/** Whether this thread's capture mode is relaxed. */
bool uc_double_relaxed(void);
/** Work of some length enters a stream and writes to `output`. */
void uc_double_submit(CUstream stream, int device, int64_t duration_ns,
                      const void *output);
/**
 * Changes whenever device memory may have: a number to remember what was
 * computed by. Writes past the API are not seen.
 */
uint64_t uc_double_generation(void);
void uc_double_changed(void);
/** The stream never gets done. */
void uc_double_stream_hang(CUstream stream, int device);

#pragma GCC visibility pop

#endif
