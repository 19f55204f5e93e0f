#include "config.h"

#include "common/problem.h"

#include <string.h>

/** {W} to {1, W}, with what stands for H. */
static void shift(int64_t *values, int64_t first)
{
    values[1] = values[0];
    values[0] = first;
}

static void widen_layout(struct uc_tensor_layout *layout)
{
    if (layout->kind != UC_STRIDED)
        return;
    layout->strides[3] = layout->strides[2];
    layout->strides[2] = 0;
}

static void widen(struct uc_problem *p)
{
    shift(p->in, 1);
    shift(p->filter, 1);
    shift(p->pad, 0);
    shift(p->stride, 1);
    shift(p->dilation, 1);
    widen_layout(&p->x);
    widen_layout(&p->y);
    p->spatial = 2;
}

/** Whether a tensor's strides are those of the named layout; the batch is
    taken as larger than 1. */
static bool is_packed(const struct uc_problem *problem, enum uc_tensor tensor,
                      const int64_t *strides, enum uc_layout kind)
{
    struct uc_problem named = *problem;
    int64_t extents[UC_MAX_DIMS], packed[UC_MAX_DIMS];

    named.x.kind = named.w.kind = named.y.kind = kind;
    uc_problem_extents(problem, tensor, 2, extents);
    uc_problem_strides(&named, tensor, packed);
    for (int i = 0; i < problem->spatial + 2; i++)
        if (extents[i] != 1 && strides[i] != packed[i])
            return false;
    return true;
}

/** Which named layouts a tensor's memory has. */
struct fit {
    bool nchw, nhwc;
};

static struct fit fit_of(const struct uc_problem *problem,
                         enum uc_tensor tensor)
{
    int64_t strides[UC_MAX_DIMS];

    uc_problem_strides(problem, tensor, strides);
    return (struct fit){ is_packed(problem, tensor, strides, UC_NCHW),
                         is_packed(problem, tensor, strides, UC_NHWC) };
}

/**
 * What a tensor that both names fit is called: as the first that only one
 * fits, since kernels want all three alike.
 */
static enum uc_layout common_name(const struct fit fits[3])
{
    for (int t = UC_X; t <= UC_Y; t++)
        if (fits[t].nchw != fits[t].nhwc)
            return fits[t].nhwc ? UC_NHWC : UC_NCHW;
    return UC_NCHW;
}

static void name_layout(const struct uc_problem *problem, enum uc_tensor tensor,
                        struct fit fit, enum uc_layout both,
                        struct uc_tensor_layout *layout)
{
    int64_t strides[UC_MAX_DIMS], extents[UC_MAX_DIMS];

    if (fit.nchw || fit.nhwc) {
        layout->kind = !fit.nhwc ? UC_NCHW : !fit.nchw ? UC_NHWC : both;
        return;
    }
    uc_problem_strides(problem, tensor, strides);
    uc_problem_extents(problem, tensor, 2, extents);
    layout->kind = UC_STRIDED;
    for (int i = 0; i < problem->spatial + 2; i++)
        layout->strides[i] = extents[i] == 1 ? 0 : strides[i];
}

/** All but the layouts, leaving padding as it is. */
static void copy_fields(struct uc_problem *to, const struct uc_problem *from)
{
    to->operation = from->operation;
    to->spatial = from->spatial;
    to->x_type = from->x_type;
    to->w_type = from->w_type;
    to->y_type = from->y_type;
    to->compute_type = from->compute_type;
    to->math = from->math;
    to->mode = from->mode;
    to->groups = from->groups;
    to->c = from->c;
    to->k = from->k;
    for (int i = 0; i < from->spatial; i++) {
        to->in[i] = from->in[i];
        to->filter[i] = from->filter[i];
        to->pad[i] = from->pad[i];
        to->stride[i] = from->stride[i];
        to->dilation[i] = from->dilation[i];
    }
}

void uc_problem_canonical(struct uc_problem *problem)
{
    struct uc_problem p = *problem;
    struct uc_tensor_layout *const layouts[] = {
        [UC_X] = &problem->x, [UC_W] = &problem->w, [UC_Y] = &problem->y
    };
    struct fit fits[3];

    if (p.spatial == 1)
        widen(&p);
    memset(problem, 0, sizeof *problem);
    copy_fields(problem, &p);
    for (int t = UC_X; t <= UC_Y; t++)
        fits[t] = fit_of(&p, (enum uc_tensor)t);
    for (int t = UC_X; t <= UC_Y; t++)
        name_layout(&p, (enum uc_tensor)t, fits[t], common_name(fits),
                    layouts[t]);
}
