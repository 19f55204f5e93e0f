/**
 * @file problem.h
 * The convolution problem: everything that decides which kernels can run and
 * how fast, without the batch.
 *
 * Tensors carry cuDNN's names whatever the operation: x is the input
 * (N,C,in), w the filter (K,C/groups,filter), y the output (N,K,out).
 * Forward computes y from x and w, backward-data x (the gradient dx) from w
 * and y (dy), backward-filter w (dw) from x and y (dy).
 *
 * Units:   extents and strides count elements; batches count images.
 * Owner:   a problem is a plain value; copy it.
 * Errors:  UC_EINPUT with the field's name; outputs are untouched.
 * Threads: no hidden state.
 */
#ifndef UC_COMMON_PROBLEM_H
#define UC_COMMON_PROBLEM_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum uc_operation {
    UC_FORWARD,
    UC_BACKWARD_DATA,
    UC_BACKWARD_FILTER,
    UC_OPERATIONS /**< how many there are */
};

enum uc_dtype { UC_FP32, UC_FP16, UC_BF16, UC_FP64, UC_DTYPES };

/**
 * The least arithmetic the caller accepts. fma: full precision of the data
 * type. tf32: fp32 data, inputs rounded to TF32 on tensor cores. fp16, bf16:
 * data of that type on tensor cores, accumulated in fp32.
 */
enum uc_math {
    UC_MATH_FMA,
    UC_MATH_TF32,
    UC_MATH_FP16,
    UC_MATH_BF16,
    UC_MATHS
};

enum uc_mode { UC_CROSS_CORRELATION, UC_CONVOLUTION };

enum uc_layout { UC_NCHW, UC_NHWC, UC_STRIDED, UC_LAYOUTS };

enum { UC_MAX_SPATIAL = 3, UC_MAX_DIMS = UC_MAX_SPATIAL + 2 };

/** A tensor's order in memory. Named layouts are packed. */
struct uc_tensor_layout {
    enum uc_layout kind;
    /** UC_STRIDED only, else zero: N, C, then spatial; each >= 1. */
    int64_t strides[UC_MAX_DIMS];
};

/** Unused entries of the arrays are zero, so that memcmp() compares. */
struct uc_problem {
    enum uc_operation operation;
    int spatial; /**< 1 (W), 2 (H,W) or 3 (D,H,W) */
    enum uc_dtype x_type, w_type, y_type;
    enum uc_dtype compute_type; /**< accumulation: UC_FP32 or UC_FP64 */
    enum uc_math math;
    enum uc_mode mode;
    int64_t groups;                 /**< >= 1, divides c and k */
    int64_t c, k;                   /**< input and output channels, >= 1 */
    int64_t in[UC_MAX_SPATIAL];     /**< >= 1 */
    int64_t filter[UC_MAX_SPATIAL]; /**< >= 1 */
    int64_t pad[UC_MAX_SPATIAL];    /**< >= 0, both sides */
    int64_t stride[UC_MAX_SPATIAL];
    int64_t dilation[UC_MAX_SPATIAL];
    struct uc_tensor_layout x, w, y; /**< w: UC_NCHW or UC_NHWC only */
};

/** Which tensor. */
enum uc_tensor { UC_X, UC_W, UC_Y };

/** The tensor an operation writes: y, x or w. */
enum uc_tensor uc_operation_output(enum uc_operation operation);

/** "forward", "backward-data", "backward-filter". */
const char *uc_operation_name(enum uc_operation operation);
/** "fp32", "fp16", "bf16", "fp64". */
const char *uc_dtype_name(enum uc_dtype type);
/** "fma", "tf32", "fp16", "bf16". */
const char *uc_math_name(enum uc_math math);
/** "nchw", "nhwc", "strided". */
const char *uc_layout_name(enum uc_layout layout);
/** The inverse of the four above; false when there is no such name. */
bool uc_operation_parse(const char *name, enum uc_operation *operation);
bool uc_dtype_parse(const char *name, enum uc_dtype *type);
bool uc_math_parse(const char *name, enum uc_math *math);
bool uc_layout_parse(const char *name, enum uc_layout *layout);

size_t uc_dtype_bytes(enum uc_dtype type);

/** The data type that a math mode computes on when none is given. */
enum uc_dtype uc_math_dtype(enum uc_math math);

/** The math a data type gets when none is named: fp32 and fp64 fma, fp16 fp16,
    bf16 bf16. */
enum uc_math uc_dtype_math(enum uc_dtype type);

/**
 * Every rule of a well-formed problem: ranges, groups, output extents >= 1,
 * math that fits the types, extents, strides and elements of one image that
 * fit 32-bit descriptors, strides that keep the elements of an image apart
 * (each steps over all that lies within it), and bytes of one image within
 * 64 bits. Names the field in *err.
 */
enum uc_status uc_problem_check(const struct uc_problem *problem,
                                struct uc_error *err);

/** A tensor's data type. */
enum uc_dtype uc_problem_type(const struct uc_problem *problem,
                              enum uc_tensor tensor);

/**
 * Tensor's extents in cuDNN's order (N,C,D,H,W or K,C/groups,T,R,S), with
 * `spatial` + 2 entries. `batch` is N; ignored for UC_W.
 */
void uc_problem_extents(const struct uc_problem *problem, enum uc_tensor tensor,
                        int64_t batch, int64_t extents[UC_MAX_DIMS]);

/** Strides in elements in the order of uc_problem_extents(). */
void uc_problem_strides(const struct uc_problem *problem, enum uc_tensor tensor,
                        int64_t strides[UC_MAX_DIMS]);

/**
 * Bytes from a tensor's first to behind its last element at `batch`, which
 * must fit 64 bits; strides that let images overlap are refused.
 */
enum uc_status uc_problem_tensor_bytes(const struct uc_problem *problem,
                                       enum uc_tensor tensor, int64_t batch,
                                       int64_t *bytes, struct uc_error *err);

/** Bytes at whose multiples tensors start, as kernels are measured. */
enum { UC_ALIGNMENT = 16 };

/**
 * Whether a batch may be cut into pieces of this size: each piece's slice of
 * x and y must start at UC_ALIGNMENT.
 */
bool uc_problem_splits_at(const struct uc_problem *problem,
                          int64_t micro_batch);

/** Multiply-adds of `batch` images, as a double (never overflows). */
double uc_problem_macs(const struct uc_problem *problem, int64_t batch);

/**
 * Text form: one line without blanks, fields between colons, defaults left
 * out; printing a parsed text gives the text again.
 *
 *   forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2
 *
 * operation; data type (x/w/y when they differ); math; layout (nchw, nhwc,
 * or x=S,S,..+w=nchw+y=... when tensors differ); then c, k, i (input
 * extents), f (filter); and unless default: p (0), s (stride, 1),
 * d (dilation, 1), g (groups, 1), acc (compute type when it is not the
 * accumulation type of the data), conv (true convolution, filter flipped).
 */
enum { UC_PROBLEM_TEXT = 512 };
void uc_problem_print(const struct uc_problem *problem,
                      char text[UC_PROBLEM_TEXT]);
enum uc_status uc_problem_parse(const char *text, struct uc_problem *problem,
                                struct uc_error *err);

/**
 * One form for all descriptions of the same computation on the same memory,
 * for looking problems up: 1-D becomes 2-D with H = 1; a layout is named when
 * it is packed, and when both names fit (1x1 filters, one channel) as the
 * first of x, w and y that only one fits; strides of extent 1 do not count
 * (they become 0, so the result is no longer fit for uc_problem_check()).
 * Every byte is determined: memcmp() compares.
 */
void uc_problem_canonical(struct uc_problem *problem);

/** Equal in every field. */
bool uc_problem_equal(const struct uc_problem *a, const struct uc_problem *b);

#endif
