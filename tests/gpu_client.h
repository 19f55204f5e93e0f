/**
 * @file gpu_client.h
 * A program that convolves through cuDNN, with libucudnn linked before it:
 * what it describes, asks and calls.
 *
 * Units:   bytes.
 * Errors:  cmocka assertions, but for gpu_call().
 * Threads: each its own `gpu`; assertions are for the first.
 */
#ifndef UC_TESTS_GPU_CLIENT_H
#define UC_TESTS_GPU_CLIENT_H

#include "tests/gpu_fixture.h"

struct gpu_descriptors {
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
};

/** At batch GPU_BATCH; forget it. */
struct gpu_descriptors gpu_describe(const struct uc_problem *p);
void gpu_forget(struct gpu_descriptors *d);

/** The workspace that a program is told to bring. That cuDNN's search has one
    answer only shows that it is libucudnn's. */
size_t gpu_ask(const struct uc_problem *p, const struct gpu_descriptors *d);

/** The fixture's operation, with its workspace of this many bytes. */
cudnnStatus_t gpu_call(struct gpu_fixture *f, const struct gpu_descriptors *d,
                       double alpha, double beta, size_t bytes);

/** A function of the driver into the pointer at `to`. */
void gpu_driver(const char *name, void *to);

/** Work enqueued on `gpu`'s stream between the two is captured; the graph is
    ready to be launched there. */
void gpu_capture_begin(void);
CUgraphExec gpu_capture_end(void);
void gpu_graph_launch(CUgraphExec graph);

/** At exit, say as a test case whether every gpu_call() ran as planned. Before
    the first call of cuDNN: the summary is then written first. */
void gpu_count_calls(void);

#endif
