/**
 * @file kernel.h
 * Kernels: the ways cuDNN can compute one problem.
 *
 * The legacy API offers an algorithm and the math it may use; the graph API
 * an engine, by its global index, and choices of its knobs. Both identities
 * mean something to one version of cuDNN only.
 *
 * Owner:   plain values.
 * Errors:  UC_EINPUT from parsers; outputs are untouched.
 * Threads: no hidden state.
 * Source:  cudnnConvolutionFwdAlgo_t, ...BwdDataAlgo_t, ...BwdFilterAlgo_t;
 *          CUDNN_ATTR_ENGINE_GLOBAL_INDEX, cudnnBackendKnobType_t,
 *          cudnnBackendNumericalNote_t, cudnnBackendBehaviorNote_t.
 */
#ifndef UC_COMMON_KERNEL_H
#define UC_COMMON_KERNEL_H

#include "common/problem.h"

enum uc_api {
    UC_API_LEGACY, /**< "legacy" */
    UC_API_GRAPH,  /**< "graph" */
    UC_APIS
};

/** A choice for one knob of an engine. */
struct uc_knob {
    int type;  /**< cudnnBackendKnobType_t, 0 .. UC_KNOB_TYPES - 1 */
    int value; /**< less than UC_KNOB_VALUES from 0; some are negative */
};

enum {
    UC_MAX_KNOBS = 16,
    UC_KNOB_TYPES = 100,
    UC_KNOB_VALUES = 1000000000,
    UC_ENGINES = 10000
};

struct uc_kernel {
    enum uc_api api;
    int algorithm;     /**< legacy: cuDNN's enumerator for the operation */
    enum uc_math math; /**< legacy: arithmetic it is asked to use. Graph: 0,
                            the notes of the engine tell */
    int engine;        /**< graph: global index, 0 .. UC_ENGINES - 1 */
    int knob_count;    /**< graph: choices; cuDNN's defaults for the rest */
    struct uc_knob knobs[UC_MAX_KNOBS]; /**< by rising type, each once */
};

/** What a kernel declares of itself; bits, stored in profiles and plans. */
enum uc_kernel_note {
    UC_NOTE_NONDETERMINISTIC = 1 << 0,
    UC_NOTE_TENSOR_CORE = 1 << 1,
    UC_NOTE_DOWN_CONVERT = 1 << 2,      /**< rounds inputs to half */
    UC_NOTE_REDUCED_PRECISION = 1 << 3, /**< reduces in a narrow type */
    UC_NOTE_FFT = 1 << 4,
    UC_NOTE_WINOGRAD = 1 << 5,
    UC_NOTE_RUNTIME_COMPILED = 1 << 6, /**< compiled when it is built */
    UC_NOTES = 7
};
/** "nondeterministic", "tensor-core", "down-convert", "reduced-precision",
 * "fft", "winograd", "runtime-compiled", by bit number. */
const char *uc_note_name(int bit);

/** Legacy algorithms of an operation: 0 .. count-1. */
int uc_legacy_algorithm_count(enum uc_operation operation);

/** "legacy", "graph". */
const char *uc_api_name(enum uc_api api);

/**
 * Text form. Legacy: "implicit-precomp-gemm/tf32", the algorithm's name, a
 * slash and the math; backward algorithms are "algo0", "algo1", "algo3",
 * "fft", "fft-tiling", "winograd", "winograd-nonfused". Graph:
 * "eng67 k2=4 k27=8", the engine and its chosen knobs by rising type.
 */
enum { UC_KERNEL_TEXT = 256 };
void uc_kernel_print(const struct uc_kernel *kernel,
                     enum uc_operation operation, char text[UC_KERNEL_TEXT]);
enum uc_status uc_kernel_parse(const char *text, enum uc_operation operation,
                               struct uc_kernel *kernel, struct uc_error *err);

/** NULL, or what makes the kernel none: "no such algorithm"... Fields that
 * its API has not must be zero. */
const char *uc_kernel_fault(const struct uc_kernel *kernel,
                            enum uc_operation operation);

/** Every legacy kernel of a problem: each algorithm at its math. At most
 * UC_LEGACY_KERNELS; returns how many. */
enum { UC_LEGACY_KERNELS = 8 };
size_t uc_legacy_kernels(const struct uc_problem *problem,
                         struct uc_kernel kernels[UC_LEGACY_KERNELS]);

bool uc_kernel_equal(const struct uc_kernel *a, const struct uc_kernel *b);
/** Legacy before graph, then by numbers; 0 when equal. */
int uc_kernel_compare(const struct uc_kernel *a, const struct uc_kernel *b);

/** Notes of a legacy kernel, known from cuDNN's documentation; none for a
 * graph kernel, whose own engine tells. */
unsigned uc_legacy_notes(const struct uc_kernel *kernel,
                         enum uc_operation operation);

/**
 * Whether a kernel with these notes keeps the problem's arithmetic: fp32
 * data under `fma` take no tensor cores. Rounding of inputs and narrow
 * reductions are for the caller to refuse.
 */
bool uc_notes_keep_math(unsigned notes, const struct uc_problem *problem);

#endif
