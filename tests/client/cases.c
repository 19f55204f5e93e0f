#include "config.h"

#include "tests/client/cases.h"

#include <stdio.h>
#include <string.h>

static const struct client_shape shapes[] = {
    { .name = "square",
      .spatial = 2,
      .n = 7,
      .c = 8,
      .k = 16,
      .groups = 1,
      .in = { 5, 6 },
      .filter = { 3, 3 },
      .pad = { 1, 1 },
      .stride = { 1, 1 },
      .dilation = { 1, 1 } },
    { .name = "five",
      .spatial = 2,
      .n = 5,
      .c = 16,
      .k = 8,
      .groups = 1,
      .in = { 4, 3 },
      .filter = { 3, 3 },
      .pad = { 2, 1 },
      .stride = { 1, 1 },
      .dilation = { 1, 1 } },
    { .name = "strided",
      .spatial = 2,
      .n = 5,
      .c = 8,
      .k = 8,
      .groups = 1,
      .in = { 9, 7 },
      .filter = { 3, 2 },
      .pad = { 2, 0 },
      .stride = { 2, 3 },
      .dilation = { 2, 3 } },
    { .name = "groups",
      .spatial = 2,
      .n = 7,
      .c = 16,
      .k = 24,
      .groups = 2,
      .in = { 3, 4 },
      .filter = { 2, 3 },
      .pad = { 0, 1 },
      .stride = { 1, 1 },
      .dilation = { 1, 1 } },
    { .name = "depthwise",
      .spatial = 2,
      .n = 5,
      .c = 8,
      .k = 16,
      .groups = 8,
      .in = { 5, 4 },
      .filter = { 3, 3 },
      .pad = { 1, 0 },
      .stride = { 2, 1 },
      .dilation = { 1, 1 },
      .flip = true },
    { .name = "point",
      .spatial = 2,
      .n = 7,
      .c = 16,
      .k = 8,
      .groups = 1,
      .in = { 1, 1 },
      .filter = { 1, 1 },
      .pad = { 0, 0 },
      .stride = { 1, 1 },
      .dilation = { 1, 1 } },
    { .name = "line",
      .spatial = 1,
      .n = 5,
      .c = 8,
      .k = 8,
      .groups = 1,
      .in = { 9 },
      .filter = { 4 },
      .pad = { 2 },
      .stride = { 2 },
      .dilation = { 2 } },
    { .name = "flat",
      .spatial = 2,
      .n = 7,
      .c = 8,
      .k = 8,
      .groups = 1,
      .in = { 1, 9 },
      .filter = { 1, 3 },
      .pad = { 0, 1 },
      .stride = { 1, 1 },
      .dilation = { 1, 1 },
      .flip = true },
    { .name = "solid",
      .spatial = 3,
      .n = 5,
      .c = 8,
      .k = 8,
      .groups = 2,
      .in = { 3, 4, 2 },
      .filter = { 2, 3, 2 },
      .pad = { 1, 1, 0 },
      .stride = { 1, 2, 1 },
      .dilation = { 1, 1, 1 } },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *const layout_names[] = { "nchw", "nhwc", "gaps" };
static const char *const type_names[] = { "fp32", "tf32", "fp16", "bf16",
                                          "fp64" };
static const char *const operation_names[] = { "forward", "backward-data",
                                               "backward-filter" };

const char *client_operation_name(enum client_operation operation)
{
    return operation_names[operation];
}

int client_case_count(void)
{
    return SHAPES * CLIENT_LAYOUTS * CLIENT_TYPES;
}

static void set_extents(struct client_case *c)
{
    const struct client_shape *s = &c->shape;

    c->extent[CLIENT_X][0] = c->extent[CLIENT_Y][0] = s->n;
    c->extent[CLIENT_X][1] = s->c;
    c->extent[CLIENT_W][0] = c->extent[CLIENT_Y][1] = s->k;
    c->extent[CLIENT_W][1] = s->c / s->groups;
    for (int d = 0; d < s->spatial; d++) {
        int reach = (s->filter[d] - 1) * s->dilation[d] + 1;

        c->extent[CLIENT_X][d + 2] = s->in[d];
        c->extent[CLIENT_W][d + 2] = s->filter[d];
        c->extent[CLIENT_Y][d + 2] =
            (s->in[d] + 2 * s->pad[d] - reach) / s->stride[d] + 1;
    }
}

/** Gaps of one element behind rows and two behind planes, and images that
    start at multiples of eight with at least as many between them. */
static void set_strides(struct client_case *c, enum client_tensor t)
{
    enum client_layout layout =
        t == CLIENT_W && c->layout == CLIENT_GAPS ? CLIENT_NCHW : c->layout;
    bool gaps = layout == CLIENT_GAPS;
    const int *extent = c->extent[t];
    int *stride = c->stride[t], dims = c->shape.spatial + 2;
    int step = layout == CLIENT_NHWC ? extent[1] : 1;
    size_t last = 0;

    for (int d = dims - 1; d >= 2; d--) {
        stride[d] = step;
        step = step * extent[d] + gaps;
    }
    stride[1] = layout == CLIENT_NHWC ? 1 : step + gaps;
    if (layout != CLIENT_NHWC)
        step = stride[1] * extent[1];
    stride[0] = gaps ? (step + 15) / 8 * 8 : step;
    for (int d = 0; d < dims; d++)
        last += (size_t)(extent[d] - 1) * (size_t)stride[d];
    c->count[t] = last + 1;
}

void client_case_make(int index, struct client_case *c)
{
    memset(c, 0, sizeof *c);
    c->type = (enum client_type)(index % CLIENT_TYPES);
    c->layout = (enum client_layout)(index / CLIENT_TYPES % CLIENT_LAYOUTS);
    c->shape = shapes[index / CLIENT_TYPES / CLIENT_LAYOUTS];
    snprintf(c->name, sizeof c->name, "%s-%s-%s", c->shape.name,
             layout_names[c->layout], type_names[c->type]);
    set_extents(c);
    for (int t = 0; t < CLIENT_TENSORS; t++)
        set_strides(c, (enum client_tensor)t);
}

/** Whether algorithms that transform their input exist in the double. */
static bool transforms(const struct client_case *c)
{
    const struct client_shape *s = &c->shape;

    return c->layout == CLIENT_NCHW && s->spatial == 2 && s->filter[0] == 3 &&
           s->filter[1] == 3 && s->stride[0] == 1 && s->stride[1] == 1 &&
           (c->type == CLIENT_FP32 || c->type == CLIENT_TF32 ||
            c->type == CLIENT_FP16);
}

int client_split(const struct client_case *c, enum client_operation operation,
                 struct client_piece pieces[CLIENT_PIECES])
{
    static const int transforming[CLIENT_OPERATIONS][2] = {
        { 4, 6 }, /* fft, winograd */
        { 3, 5 }, /* fft-tiling, winograd-nonfused */
        { 2, 5 }, /* fft, winograd-nonfused */
    };
    int first = transforms(c) ? transforming[operation][0] : 1;
    int second = transforms(c) ? transforming[operation][1] : 0;
    int count = 0;

    if (c->shape.n == 5) { /* 3 + 2 */
        pieces[count++] = (struct client_piece){ 3, 1, first };
        pieces[count++] = (struct client_piece){ 2, 1, second };
    } else if (operation == CLIENT_BACKWARD_FILTER) { /* 3 + 2 x 2 */
        pieces[count++] = (struct client_piece){ 3, 1, second };
        pieces[count++] = (struct client_piece){ 2, 2, first };
    } else { /* 2 x 3 + 1 */
        pieces[count++] = (struct client_piece){ 3, 2, second };
        pieces[count++] = (struct client_piece){ 1, 1, first };
    }
    return count;
}
