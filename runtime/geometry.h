/**
 * @file geometry.h
 * A micro-batch of a problem in cuDNN's numbers: extents, strides and the
 * convolution's parameters with two or three spatial dimensions. A 1-D problem
 * has H = 1.
 *
 * Units:   extents and strides count elements.
 * Owner:   plain values.
 * Errors:  none.
 * Threads: no hidden state.
 */
#ifndef UC_RUNTIME_GEOMETRY_H
#define UC_RUNTIME_GEOMETRY_H

#include "common/problem.h"

#include <cudnn.h>

struct uc_geometry_tensor {
    cudnnDataType_t type;
    int64_t extents[UC_MAX_DIMS]; /**< N,C,D,H,W or K,C/groups,T,R,S */
    int64_t strides[UC_MAX_DIMS];
};

struct uc_geometry {
    int spatial;                          /**< 2 or 3 */
    int dims;                             /**< spatial + 2 */
    struct uc_geometry_tensor tensors[3]; /**< by enum uc_tensor */
    int64_t pad[UC_MAX_SPATIAL], stride[UC_MAX_SPATIAL],
        dilation[UC_MAX_SPATIAL];
    cudnnDataType_t compute;
    cudnnConvolutionMode_t mode;
};

void uc_geometry_make(const struct uc_problem *problem, int64_t micro_batch,
                      struct uc_geometry *geometry);

#endif
