/**
 * @file runner.h
 * The kernel runner: one micro-batch of one problem through cuDNN.
 *
 * What is measured is what is executed: the benchmark and the runtime both
 * run a micro-batch through this file.
 *
 * Units:   *_bytes are bytes.
 * Owner:   a runner owns its descriptors; free it with uc_runner_free(),
 *          which takes NULL. It keeps a pointer to the cuDNN table.
 * Errors:  creation UC_EDEVICE, UC_EINTERNAL. Queries and runs return
 *          cuDNN's own status: no text is made on the call path.
 * Threads: a runner does not change once it is made; any thread may use it.
 */
#ifndef UC_RUNTIME_RUNNER_H
#define UC_RUNTIME_RUNNER_H

#include "common/kernel.h"
#include "runtime/library.h"

struct uc_runner;

enum uc_status uc_runner_create(const struct uc_cudnn *cudnn,
                                const struct uc_problem *problem,
                                int64_t micro_batch, struct uc_runner **out,
                                struct uc_error *err);
void uc_runner_free(struct uc_runner *runner);

/** Workspace that cuDNN asks for now; a plan's stored size is no promise. */
cudnnStatus_t uc_runner_workspace(const struct uc_runner *runner,
                                  cudnnHandle_t handle,
                                  const struct uc_kernel *kernel,
                                  size_t *bytes);

/** Device addresses; the operation decides which one is written. */
struct uc_tensors {
    void *x, *w, *y;
};

/**
 * Enqueue output = alpha * operation + beta * output on the handle's stream.
 * alpha and beta point to a float, or to a double for fp64 data.
 */
cudnnStatus_t uc_runner_run(const struct uc_runner *runner,
                            cudnnHandle_t handle,
                            const struct uc_kernel *kernel, const void *alpha,
                            const struct uc_tensors *tensors, const void *beta,
                            void *workspace, size_t workspace_bytes);

/** What cudnnConvolutionBiasActivationForward() takes besides. */
struct uc_epilogue {
    const void *alpha2, *z; /**< z has y's descriptor */
    cudnnTensorDescriptor_t bias_descriptor;
    const void *bias;
    cudnnActivationDescriptor_t activation;
};

/** y = activation(alpha * convolution + alpha2 * z + bias); forward only. */
cudnnStatus_t uc_runner_run_fused(const struct uc_runner *runner,
                                  cudnnHandle_t handle,
                                  const struct uc_kernel *kernel,
                                  const void *alpha,
                                  const struct uc_tensors *tensors,
                                  const struct uc_epilogue *epilogue,
                                  void *workspace, size_t workspace_bytes);

#endif
