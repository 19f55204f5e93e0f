/**
 * @file gpu.h
 * One GPU as the benchmark uses it: context, stream, cuDNN handle, guarded
 * buffers, random data, comparison and timing.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds, counts are elements.
 * Owner:   lives as long as its process: a worker exits instead of closing.
 * Errors:  UC_EDEVICE with CUDA's or cuDNN's own words; UC_ENOFIT when device
 *          memory runs out.
 * Threads: one.
 */
#ifndef UC_PLANNER_GPU_H
#define UC_PLANNER_GPU_H

#include "common/device.h"
#include "common/problem.h"
#include "planner/timing.h"
#include "runtime/library.h"

enum { UC_GPU_MARKS = UC_TIMING_ROUND + 1 };

struct uc_gpu {
    struct uc_cuda cuda;
    struct uc_cudnn cudnn;
    struct uc_environment environment;
    int device_count;    /**< visible to this process */
    int64_t cache_bytes; /**< of the device's L2 cache */
    CUcontext context;
    CUstream stream;
    cudnnHandle_t handle;
    CUevent marks[UC_GPU_MARKS]; /**< points in time on the stream */
    CUfunction fill, compare, hold;
    CUdeviceptr sums; /**< two doubles for uc_compare */
};

/** A device buffer with guard zones before and behind its bytes. */
struct uc_buffer {
    CUdeviceptr base;       /**< of the allocation, 0 when there is none */
    int64_t capacity_bytes; /**< that the allocation has room for */
    CUdeviceptr data;       /**< 256-byte aligned */
    int64_t bytes;          /**< in use now: the rear guard stands behind */
};

/** Open device number `index` of this process. */
enum uc_status uc_gpu_open(struct uc_gpu *gpu, int index, struct uc_error *err);

/** Give a buffer at least `bytes`, with fresh guards; contents are lost. */
enum uc_status uc_gpu_reserve(struct uc_gpu *gpu, struct uc_buffer *buffer,
                              int64_t bytes, struct uc_error *err);

/** Give a buffer's memory back. */
void uc_gpu_release(struct uc_gpu *gpu, struct uc_buffer *buffer);

/** *intact is false when something wrote into a guard zone. */
enum uc_status uc_gpu_check_guards(struct uc_gpu *gpu,
                                   const struct uc_buffer *buffer, bool *intact,
                                   struct uc_error *err);

/** Device memory that is free now. */
int64_t uc_gpu_free_bytes(struct uc_gpu *gpu);

/** Fill a buffer's bytes with 0xff: NaN in every floating-point type. */
enum uc_status uc_gpu_poison(struct uc_gpu *gpu, const struct uc_buffer *buffer,
                             struct uc_error *err);

/** Random values in [-1, 1), rounded to `rounding`, stored as `type`. */
enum uc_status uc_gpu_fill(struct uc_gpu *gpu, const struct uc_buffer *buffer,
                           enum uc_dtype type, enum uc_dtype rounding,
                           uint64_t seed, struct uc_error *err);

/**
 * Relative L2 error of `out` against `ref` plus, unless `prior_seed` is 0,
 * what uc_gpu_fill() writes for that seed rounded to out's type. NaN when
 * either holds a NaN.
 */
enum uc_status uc_gpu_compare(struct uc_gpu *gpu, const struct uc_buffer *out,
                              enum uc_dtype out_type,
                              const struct uc_buffer *ref,
                              enum uc_dtype ref_type, uint64_t prior_seed,
                              double *error, struct uc_error *err);

/** Enqueue `calls` calls of what is timed. */
typedef enum uc_status uc_gpu_issue(void *context, int calls,
                                    struct uc_error *err);

/** A uc_sampler for what `issue` does: device time between events, one
 * behind each of up to UC_TIMING_ROUND samples. */
enum uc_status uc_gpu_sample(struct uc_gpu *gpu, uc_gpu_issue *issue,
                             void *context, bool lead, int samples, int calls,
                             float *device_ns, float *host_ns,
                             struct uc_error *err);

/** Keep the stream busy for `ns`, so that the host gets ahead of it. */
enum uc_status uc_gpu_hold(struct uc_gpu *gpu, double ns, struct uc_error *err);

/** Wait for the stream; reports what went wrong on the device. */
enum uc_status uc_gpu_wait(struct uc_gpu *gpu, struct uc_error *err);

/** uc_fail() with CUDA's words for the result. */
enum uc_status uc_gpu_fail(struct uc_gpu *gpu, const char *what,
                           CUresult result, struct uc_error *err);

#endif
