/* Convolutions in double precision on packed copies of the tensors. */
#include "config.h"

#include "tests/double/cudnn_state.h"

#include <stdlib.h>

static int64_t volume(const int64_t extent[5])
{
    return extent[0] * extent[1] * extent[2] * extent[3] * extent[4];
}

static double rounded(double value, enum uc_rounding rounding)
{
    switch (rounding) {
    case UC_ROUND_TF32:
        return uc_number_round_tf32(value);
    case UC_ROUND_BF16:
        return uc_number_round(value, UC_NUMBER_BF16);
    case UC_ROUND_NOTHING:
        break;
    }
    return value;
}

/** A packed copy, or zeros for the output; NULL: no memory. */
static double *gather(const struct uc_geometry *g, enum uc_role role,
                      const void *data, bool output, enum uc_rounding rounding)
{
    struct uc_walk walk;
    double *dense;
    double *to;

    uc_walk_start(&walk, g, role);
    dense = calloc((size_t)volume(walk.extent), sizeof *dense);
    if (!dense || output) {
        return dense;
    }
    to = dense;
    do {
        *to++ = rounded(uc_number_load(data, g->type, walk.offset), rounding);
    } while (uc_walk_next(&walk));
    return dense;
}

static void scatter(const struct uc_geometry *g, enum uc_role role,
                    const double *dense, double alpha, double beta, void *data)
{
    struct uc_walk walk;

    uc_walk_start(&walk, g, role);
    do {
        double value = alpha * *dense++;

        if (beta != 0) {
            value += beta * uc_number_load(data, g->type, walk.offset);
        }
        uc_number_store(data, g->type, walk.offset, value);
    } while (uc_walk_next(&walk));
}

/**
 * The range of outputs [first, last) whose input lies inside, along one
 * dimension at one place of the filter.
 */
static void inside(const struct uc_geometry *g, int d, int64_t tap,
                   int64_t *first, int64_t *last, int64_t *start)
{
    int64_t shift = tap * g->dilation[d] - g->pad[d];

    *first = shift < 0 ? (-shift + g->stride[d] - 1) / g->stride[d] : 0;
    *last =
        g->in[d] - shift <= 0 ? 0 : (g->in[d] - shift - 1) / g->stride[d] + 1;
    if (*last > g->out[d]) {
        *last = g->out[d];
    }
    *start = shift;
}

/** One place of the filter between two images. */
static void tap(enum uc_double_operation operation, const struct uc_geometry *g,
                const int64_t at[3], double *x, double *w, double *y)
{
    int64_t first[3];
    int64_t last[3];
    int64_t shift[3];

    for (int d = 0; d < 3; d++) {
        inside(g, d, at[d], &first[d], &last[d], &shift[d]);
    }
    for (int64_t i = first[0]; i < last[0]; i++) {
        for (int64_t j = first[1]; j < last[1]; j++) {
            double *in = x + ((i * g->stride[0] + shift[0]) * g->in[1] +
                              j * g->stride[1] + shift[1]) *
                                 g->in[2];
            double *out = y + (i * g->out[1] + j) * g->out[2];

            for (int64_t k = first[2]; k < last[2]; k++) {
                double *cell = &in[k * g->stride[2] + shift[2]];

                switch (operation) {
                case UC_DOUBLE_FORWARD:
                    out[k] += *cell * *w;
                    break;
                case UC_DOUBLE_BACKWARD_DATA:
                    *cell += out[k] * *w;
                    break;
                default:
                    *w += *cell * out[k];
                }
            }
        }
    }
}

/** Every place of the filter between one input and one output channel. */
static void channel(enum uc_double_operation operation,
                    const struct uc_geometry *g, double *x, double *w,
                    double *y)
{
    int64_t at[3];

    for (int64_t t = 0; t < g->filter[0]; t++) {
        for (int64_t r = 0; r < g->filter[1]; r++) {
            for (int64_t s = 0; s < g->filter[2]; s++) {
                at[0] = g->flip ? g->filter[0] - 1 - t : t;
                at[1] = g->flip ? g->filter[1] - 1 - r : r;
                at[2] = g->flip ? g->filter[2] - 1 - s : s;
                tap(operation, g, at, x, w++, y);
            }
        }
    }
}

static void compute(enum uc_double_operation operation,
                    const struct uc_geometry *g, double *x, double *w,
                    double *y)
{
    int64_t in = g->in[0] * g->in[1] * g->in[2];
    int64_t out = g->out[0] * g->out[1] * g->out[2];
    int64_t filter = g->filter[0] * g->filter[1] * g->filter[2];
    int64_t group_c = g->c / g->groups;
    int64_t group_k = g->k / g->groups;

    for (int64_t n = 0; n < g->n; n++) {
        for (int64_t k = 0; k < g->k; k++) {
            for (int64_t c = 0; c < group_c; c++) {
                int64_t from = k / group_k * group_c + c;

                channel(operation, g, x + (n * g->c + from) * in,
                        w + (k * group_c + c) * filter,
                        y + (n * g->k + k) * out);
            }
        }
    }
}

bool uc_convolve(enum uc_double_operation operation,
                 const struct uc_geometry *g, enum uc_rounding rounding,
                 double alpha, double beta, void *const data[3])
{
    enum uc_role output = uc_geometry_output(operation);
    double *dense[3] = { NULL, NULL, NULL };
    bool done = false;

    for (int role = 0; role < 3; role++) {
        dense[role] = gather(g, (enum uc_role)role, data[role],
                             role == (int)output, rounding);
        if (!dense[role]) {
            goto out;
        }
    }
    compute(operation, g, dense[UC_ROLE_X], dense[UC_ROLE_W], dense[UC_ROLE_Y]);
    scatter(g, output, dense[output], alpha, beta, data[output]);
    done = true;
out:
    for (int role = 0; role < 3; role++) {
        free(dense[role]);
    }
    return done;
}
