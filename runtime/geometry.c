#include "config.h"

#include "runtime/geometry.h"

#include <string.h>

static const cudnnDataType_t data_types[UC_DTYPES] = {
    [UC_FP32] = CUDNN_DATA_FLOAT,
    [UC_FP16] = CUDNN_DATA_HALF,
    [UC_BF16] = CUDNN_DATA_BFLOAT16,
    [UC_FP64] = CUDNN_DATA_DOUBLE,
};

/** Copy `leading` values and the spatial ones; `fill` stands for a 1-D
    problem's H. */
static void widen(const struct uc_problem *problem, const int64_t *values,
                  int leading, int64_t fill, int64_t *wide)
{
    int n = leading;

    memcpy(wide, values, (size_t)leading * sizeof *wide);
    if (problem->spatial == 1)
        wide[n++] = fill;
    memcpy(wide + n, values + leading, (size_t)problem->spatial * sizeof *wide);
}

static void make_tensor(const struct uc_problem *problem, enum uc_tensor tensor,
                        int64_t micro_batch, enum uc_dtype type,
                        struct uc_geometry *geometry)
{
    struct uc_geometry_tensor *t = &geometry->tensors[tensor];
    int64_t extents[UC_MAX_DIMS], strides[UC_MAX_DIMS];

    uc_problem_extents(problem, tensor, micro_batch, extents);
    uc_problem_strides(problem, tensor, strides);
    t->type = data_types[type];
    widen(problem, extents, 2, 1, t->extents);
    widen(problem, strides, 2, extents[2] * strides[2], t->strides);
}

void uc_geometry_make(const struct uc_problem *problem, int64_t micro_batch,
                      struct uc_geometry *geometry)
{
    memset(geometry, 0, sizeof *geometry);
    geometry->spatial = problem->spatial == 1 ? 2 : problem->spatial;
    geometry->dims = geometry->spatial + 2;
    make_tensor(problem, UC_X, micro_batch, problem->x_type, geometry);
    make_tensor(problem, UC_W, micro_batch, problem->w_type, geometry);
    make_tensor(problem, UC_Y, micro_batch, problem->y_type, geometry);
    widen(problem, problem->pad, 0, 0, geometry->pad);
    widen(problem, problem->stride, 0, 1, geometry->stride);
    widen(problem, problem->dilation, 0, 1, geometry->dilation);
    geometry->compute = data_types[problem->compute_type];
    geometry->mode = problem->mode == UC_CONVOLUTION ? CUDNN_CONVOLUTION
                                                     : CUDNN_CROSS_CORRELATION;
}
