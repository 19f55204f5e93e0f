/**
 * @file runner.h
 * The kernel runner: one kernel on one micro-batch of one problem.
 *
 * What is measured is what is executed: the benchmark and the runtime both
 * run a micro-batch through this file. A legacy kernel is a set of
 * descriptors; a graph kernel an operation graph and an engine configuration,
 * and, once it is built, an execution plan.
 *
 * Units:   *_bytes are bytes.
 * Owner:   a runner owns its descriptors; free it with uc_runner_free(),
 *          which takes NULL. It keeps a pointer to the cuDNN table.
 * Errors:  cuDNN's own status: no text is made on the call path. Statuses of
 *          cuDNN's category "not supported" say that there is no such kernel.
 * Threads: any thread may use a runner; one of a graph kernel is run by one
 *          thread at a time (it has a lock: cuDNN does not promise that an
 *          execution plan may be shared). A graph kernel belongs to the
 *          device of the handle it was made with.
 * Source:  cuDNN backend API reference: operation graph, engine, engine
 *          configuration, execution plan, variant pack.
 */
#ifndef UC_RUNTIME_RUNNER_H
#define UC_RUNTIME_RUNNER_H

#include "runtime/graph.h"

struct uc_runner;

/** From scalars as cuDNN takes them: floats, or doubles for fp64 data. */
struct uc_scaling uc_scaling_read(const struct uc_problem *problem,
                                  const void *alpha, const void *beta);

/**
 * Descriptors, and for a graph kernel its engine configuration; nothing that
 * takes long. Not while a stream is captured. The scaling counts for graph
 * kernels only.
 */
cudnnStatus_t uc_runner_create(const struct uc_cudnn *cudnn,
                               cudnnHandle_t handle,
                               const struct uc_problem *problem,
                               int64_t micro_batch,
                               const struct uc_kernel *kernel,
                               const struct uc_scaling *scaling,
                               struct uc_runner **out);
void uc_runner_free(struct uc_runner *runner);

/** Workspace that cuDNN asks for now; a plan's stored size is no promise. */
cudnnStatus_t uc_runner_workspace(const struct uc_runner *runner,
                                  cudnnHandle_t handle, size_t *bytes);

/** What the kernel declares of itself (enum uc_kernel_note). */
unsigned uc_runner_notes(const struct uc_runner *runner);

/**
 * Make it ready to run: the execution plan of a graph kernel, which takes
 * up to seconds where the engine is compiled at run time. Once; not while
 * a stream is captured. Legacy kernels are ready when they are made.
 */
cudnnStatus_t uc_runner_build(struct uc_runner *runner);

/** Device addresses; the operation decides which one is written. */
struct uc_tensors {
    void *x, *w, *y;
};

/**
 * Enqueue output = alpha * operation + beta * output on the handle's stream.
 * alpha and beta point to a float, or to a double for fp64 data; for a graph
 * kernel they must be what it was made for. It must be built.
 */
cudnnStatus_t uc_runner_run(struct uc_runner *runner, cudnnHandle_t handle,
                            const void *alpha, const struct uc_tensors *tensors,
                            const void *beta, void *workspace,
                            size_t workspace_bytes);

/** What cudnnConvolutionBiasActivationForward() takes besides. */
struct uc_epilogue {
    const void *alpha2, *z; /**< z has y's descriptor */
    cudnnTensorDescriptor_t bias_descriptor;
    const void *bias;
    cudnnActivationDescriptor_t activation;
};

/** y = activation(alpha * convolution + alpha2 * z + bias); forward and
    legacy kernels only. */
cudnnStatus_t uc_runner_run_fused(struct uc_runner *runner,
                                  cudnnHandle_t handle, const void *alpha,
                                  const struct uc_tensors *tensors,
                                  const struct uc_epilogue *epilogue,
                                  void *workspace, size_t workspace_bytes);

#endif
