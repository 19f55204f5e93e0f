/**
 * @file execute.h
 * Running a planned operation: its micro-batches in order, on the caller's
 * handle, stream and tensors.
 *
 * Units:   *_bytes are bytes.
 * Owner:   borrows everything.
 * Errors:  cuDNN's status.
 * Threads: any; entries are not changed.
 */
#ifndef UC_RUNTIME_EXECUTE_H
#define UC_RUNTIME_EXECUTE_H

#include "runtime/ready.h"

/**
 * Run a prepared entry. alpha and beta are the caller's; pieces that
 * accumulate take 1 for beta. *started tells whether anything may have been
 * enqueued, by a piece that ran or by the one that failed, as its status says
 * (uc_cudnn_is_refusal()): when it is false after a failure, nothing has
 * happened and the call can still pass through.
 */
cudnnStatus_t uc_execute(const struct uc_ready *ready, cudnnHandle_t handle,
                         const void *alpha, const struct uc_tensors *tensors,
                         const void *beta, void *workspace,
                         size_t workspace_bytes, bool *started);

/**
 * The same for cudnnConvolutionBiasActivationForward(): the bias is
 * broadcast, z sliced as y is.
 */
cudnnStatus_t uc_execute_fused(const struct uc_ready *ready,
                               cudnnHandle_t handle, const void *alpha,
                               const struct uc_tensors *tensors,
                               const struct uc_epilogue *epilogue,
                               void *workspace, size_t workspace_bytes,
                               bool *started);

/** Whether tensors and workspace, which may be NULL, start at UC_ALIGNMENT. */
bool uc_is_aligned(const struct uc_tensors *tensors, const void *workspace);

#endif
