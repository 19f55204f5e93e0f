/**
 * @file convolve.h
 * One case on the device, run the way any program runs a convolution.
 *
 * Built with CLIENT_DLSYM, every cuDNN function comes from dlsym() on a
 * handle of the library; see api.h.
 *
 * Owner:   client_close() frees everything of a case.
 * Errors:  a failed call of CUDA or of a descriptor ends the program with
 *          status 99: only convolutions may fail.
 * Threads: a case belongs to one thread.
 */
#ifndef UC_TESTS_CLIENT_CONVOLVE_H
#define UC_TESTS_CLIENT_CONVOLVE_H

#include "tests/client/api.h"
#include "tests/client/cases.h"

#include <cuda.h>
#include <stdint.h>

/** End the program unless the result is 0. */
#define CLIENT_DO(call) client_check((int)(call), #call)
void client_check(int result, const char *what);

struct client {
    cudnnHandle_t handle;
    CUstream stream;
    CUdeviceptr workspace;
    size_t workspace_bytes;
    size_t offset; /**< tensors begin so many bytes behind alignment */
};

/** Device 0, a handle on a stream (may be NULL), a workspace. */
void client_start(struct client *client, CUstream stream,
                  size_t workspace_bytes);
void client_stop(struct client *client);

struct client_problem {
    const struct client *client; /**< borrowed */
    struct client_case shape;
    CUdeviceptr memory[CLIENT_TENSORS], data[CLIENT_TENSORS];
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
};

/** Descriptors, and tensors filled with numbers whose products and sums are
    exact in their data type. */
void client_open(const struct client *client, const struct client_case *shape,
                 struct client_problem *problem);
void client_close(struct client_problem *problem);

enum client_tensor client_output(enum client_operation operation);

/** The output before a call: NaN when beta is 0, else numbers. */
void client_prefill(struct client_problem *problem,
                    enum client_operation operation, double beta);

/** The call itself, with the program's own algorithm. */
cudnnStatus_t client_convolve(struct client_problem *problem,
                              enum client_operation operation, int algorithm,
                              double alpha, double beta);

/** Hash of the output's bytes, gaps included; *nans counts the elements that
    are no numbers. */
uint64_t client_hash(struct client_problem *problem,
                     enum client_operation operation, int *nans);

#endif
