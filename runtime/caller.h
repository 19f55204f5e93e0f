/**
 * @file caller.h
 * The convolution that a program asks cuDNN for, read from its descriptors.
 *
 * Owner:   plain values; descriptors are only read.
 * Errors:  a reason in words, a constant, when a call is none of ours.
 * Threads: no hidden state.
 */
#ifndef UC_RUNTIME_CALLER_H
#define UC_RUNTIME_CALLER_H

#include "common/problem.h"
#include "runtime/library.h"

/** Descriptors of one call, by their role and not by argument order. */
struct uc_descriptors {
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
};

/**
 * The problem and its batch in canonical form (uc_problem_canonical()).
 * NULL, or why there is none: "data type", "compute type", ... .
 */
const char *uc_caller_problem(const struct uc_cudnn *cudnn,
                              enum uc_operation operation,
                              const struct uc_descriptors *descriptors,
                              struct uc_problem *problem, int64_t *batch);

/** The math type that the caller's descriptor has, as it has it. */
cudnnMathType_t uc_caller_math(const struct uc_cudnn *cudnn,
                               cudnnConvolutionDescriptor_t convolution);

#endif
