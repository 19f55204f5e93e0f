/**
 * @file cudnn_state.h
 * What the files of libcudnn.so.9 know of each other.
 *
 * Units:   extents and strides count elements, *_bytes bytes.
 * Owner:   plain values.
 * Errors:  cudnnStatus_t, the cause in cudnnGetLastErrorString().
 * Threads: no state but what double.h guards.
 */
#ifndef UC_TESTS_DOUBLE_CUDNN_STATE_H
#define UC_TESTS_DOUBLE_CUDNN_STATE_H

#include "tests/double/double.h"
#include "tests/double/number.h"

#pragma GCC visibility push(default)
#include <cudnn.h>
#pragma GCC visibility pop

enum { UC_DIMS = 8 };

struct cudnnContext {
    unsigned magic;
    int device;
    cudaStream_t stream;
    struct uc_call *last; /* what its output holds, or NULL */
    uint64_t generation;  /* of the memory since then */
};
struct cudnnTensorStruct {
    unsigned magic;
    cudnnDataType_t type;
    int dims; /* 0: not set */
    int extent[UC_DIMS];
    int stride[UC_DIMS];
};
struct cudnnFilterStruct {
    unsigned magic;
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    int dims; /* 0: not set */
    int extent[UC_DIMS];
};
struct cudnnConvolutionStruct {
    unsigned magic;
    int spatial; /* 0: not set */
    int pad[UC_DIMS], stride[UC_DIMS], dilation[UC_DIMS];
    cudnnConvolutionMode_t mode;
    cudnnDataType_t compute_type;
    cudnnMathType_t math;
    cudnnReorderType_t reorder;
    int groups;
};
struct cudnnActivationStruct {
    unsigned magic;
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double coefficient;
};

/** Marks of living objects. */
enum {
    UC_HANDLE = 0x68616e64,
    UC_TENSOR = 0x74656e73,
    UC_FILTER = 0x66696c74,
    UC_CONVOLUTION = 0x636f6e76,
    UC_ACTIVATION = 0x61637469,
    UC_DEAD = 0x64656164
};

/** Remember the cause; returns the status. */
cudnnStatus_t uc_cudnn_fail(cudnnStatus_t status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** A misuse unless `object` begins with this mark. */
bool uc_cudnn_alive(const void *object, unsigned magic, const char *what);

/** Dense strides of a named layout: NCHW or NHWC of any dimensionality. */
void uc_cudnn_strides(cudnnTensorFormat_t format, int dims, const int *extent,
                      int *stride);

/** One convolution, its one to three dimensions right-aligned in three. */
struct uc_geometry {
    enum uc_number type;
    bool double_scalars; /**< alpha and beta are doubles */
    bool tf32;           /**< may round fp32 inputs to TF32 */
    bool narrow;         /**< fp16 or bf16 */
    bool flip;           /**< true convolution */
    bool nchw, nhwc;     /**< all three tensors are packed so */
    cudnnMathType_t math;
    int spatial; /**< 1 .. 3 */
    int64_t n, c, k, groups;
    int64_t in[3], filter[3], out[3], pad[3], stride[3], dilation[3];
    /** N,C,D,H,W, or K,C,T,R,S for w; of x, w and y. */
    int64_t strides[3][5];
};
enum uc_role { UC_ROLE_X, UC_ROLE_W, UC_ROLE_Y };

cudnnStatus_t uc_geometry_build(cudnnTensorDescriptor_t x,
                                cudnnFilterDescriptor_t w,
                                cudnnConvolutionDescriptor_t convolution,
                                cudnnTensorDescriptor_t y,
                                struct uc_geometry *geometry);
/** N,C,D,H,W or K,C/groups,T,R,S. */
void uc_geometry_extents(const struct uc_geometry *geometry, enum uc_role role,
                         int64_t extent[5]);
/** Elements from the first to behind the last. */
int64_t uc_geometry_span(const struct uc_geometry *geometry, enum uc_role role);
enum uc_role uc_geometry_output(enum uc_double_operation operation);

/** What a kernel does to its inputs. */
enum uc_rounding { UC_ROUND_NOTHING, UC_ROUND_TF32, UC_ROUND_BF16 };

/** What README promises of an algorithm or an engine. */
struct uc_cost {
    bool supported;
    bool deterministic;
    enum uc_rounding rounding;
    size_t workspace_bytes;
    int64_t time_ns;
};
int uc_cost_algorithms(enum uc_double_operation operation);
/** Algorithms out of range are not supported. */
void uc_cost(enum uc_double_operation operation, int algorithm,
             const struct uc_geometry *geometry, bool accumulate,
             struct uc_cost *cost);

/**
 * out = alpha * operation + beta * out; the output is not read when beta is
 * 0. False: no memory on the host.
 */
bool uc_convolve(enum uc_double_operation operation,
                 const struct uc_geometry *geometry, enum uc_rounding rounding,
                 double alpha, double beta, void *const data[3]);

/** One convolution on its way. */
struct uc_call {
    cudnnHandle_t handle;
    enum uc_double_operation operation;
    int algorithm; /**< or UC_DOUBLE_ENGINE + engine */
    double alpha, beta;
    void *data[3];       /**< by enum uc_role */
    size_t alignment[3]; /**< of these addresses */
    void *workspace;
    size_t workspace_bytes;
    struct uc_geometry geometry;
    struct uc_cost cost;
    struct uc_double_effects effects;
};
/** Checks, faults, the work and its time; all but the effects is filled. */
cudnnStatus_t uc_call_run(struct uc_call *call);
/** Faults that happen instead of the work; 0: none did. */
cudnnStatus_t uc_call_fail(const struct uc_double_effects *effects);

/** A walk over the elements of a tensor, W fastest; offset is the place. */
struct uc_walk {
    int64_t extent[5], stride[5], index[5];
    int64_t offset;
};
void uc_walk_start(struct uc_walk *walk, const struct uc_geometry *geometry,
                   enum uc_role role);
/** False behind the last element. */
bool uc_walk_next(struct uc_walk *walk);

#endif
