/**
 * @file kernel.h
 * Kernels: the ways cuDNN can compute one problem.
 *
 * Owner:   plain values.
 * Errors:  UC_EINPUT from parsers; outputs are untouched.
 * Threads: no hidden state.
 * Source:  cudnnConvolutionFwdAlgo_t, ...BwdDataAlgo_t, ...BwdFilterAlgo_t.
 */
#ifndef UC_COMMON_KERNEL_H
#define UC_COMMON_KERNEL_H

#include "common/problem.h"

enum uc_api { UC_API_LEGACY };

/** Legacy algorithm + math type. */
struct uc_kernel {
    enum uc_api api;
    int algorithm;     /**< cuDNN's enumerator for the operation */
    enum uc_math math; /**< arithmetic it is asked to use */
};

/** What a kernel declares of itself; bits, stored in profiles. */
enum uc_kernel_note {
    UC_NOTE_NONDETERMINISTIC = 1 << 0,
    UC_NOTE_TENSOR_CORE = 1 << 1,
    UC_NOTE_DOWN_CONVERT = 1 << 2,     /**< rounds inputs to half */
    UC_NOTE_REDUCED_PRECISION = 1 << 3 /**< reduces in a narrow type */
};

/** Legacy algorithms of an operation: 0 .. count-1. */
int uc_legacy_algorithm_count(enum uc_operation operation);

/**
 * Text form "implicit-precomp-gemm/tf32": algorithm's name, slash, math.
 * Backward algorithms are "algo0", "algo1", "algo3", "fft", "fft-tiling",
 * "winograd", "winograd-nonfused".
 */
enum { UC_KERNEL_TEXT = 64 };
void uc_kernel_print(const struct uc_kernel *kernel,
                     enum uc_operation operation, char text[UC_KERNEL_TEXT]);
enum uc_status uc_kernel_parse(const char *text, enum uc_operation operation,
                               struct uc_kernel *kernel, struct uc_error *err);

/** Every legacy kernel of a problem: each algorithm at its math. At most
 * UC_LEGACY_KERNELS; returns how many. */
enum { UC_LEGACY_KERNELS = 8 };
size_t uc_legacy_kernels(const struct uc_problem *problem,
                         struct uc_kernel kernels[UC_LEGACY_KERNELS]);

bool uc_kernel_equal(const struct uc_kernel *a, const struct uc_kernel *b);

/** Notes of a legacy algorithm known from cuDNN's documentation. */
unsigned uc_legacy_notes(enum uc_operation operation, int algorithm);

#endif
