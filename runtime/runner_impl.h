/**
 * @file runner_impl.h
 * The two kinds of runner behind runner.h; nobody else includes it.
 *
 * Owner, errors, threads: as runner.h says.
 */
#ifndef UC_RUNTIME_RUNNER_IMPL_H
#define UC_RUNTIME_RUNNER_IMPL_H

#include "runtime/graph.h"
#include "runtime/runner.h"

#include <pthread.h>

/** Descriptors of the legacy API. */
struct uc_legacy {
    enum uc_operation operation;
    int algorithm;
    unsigned notes;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
};

cudnnStatus_t uc_legacy_create(const struct uc_cudnn *cudnn,
                               const struct uc_problem *problem,
                               int64_t micro_batch,
                               const struct uc_kernel *kernel,
                               struct uc_legacy *legacy);
void uc_legacy_free(const struct uc_cudnn *cudnn, struct uc_legacy *legacy);
cudnnStatus_t uc_legacy_workspace(const struct uc_cudnn *cudnn,
                                  const struct uc_legacy *legacy,
                                  cudnnHandle_t handle, size_t *bytes);
cudnnStatus_t uc_legacy_run(const struct uc_cudnn *cudnn,
                            const struct uc_legacy *legacy,
                            cudnnHandle_t handle, const void *alpha,
                            const struct uc_tensors *tensors, const void *beta,
                            void *workspace, size_t workspace_bytes);
cudnnStatus_t uc_legacy_run_fused(const struct uc_cudnn *cudnn,
                                  const struct uc_legacy *legacy,
                                  cudnnHandle_t handle, const void *alpha,
                                  const struct uc_tensors *tensors,
                                  const struct uc_epilogue *epilogue,
                                  void *workspace, size_t workspace_bytes);

struct uc_runner {
    const struct uc_cudnn *cudnn; /**< borrowed */
    enum uc_api api;
    struct uc_legacy legacy; /**< UC_API_LEGACY */
    struct uc_graph graph;   /**< UC_API_GRAPH, as the next ones */
    cudnnBackendDescriptor_t engine, config;
    cudnnBackendDescriptor_t plan; /**< NULL until it is built */
    int64_t workspace_bytes;
    unsigned notes;
    pthread_mutex_t lock; /**< held while the plan runs */
};

#endif
