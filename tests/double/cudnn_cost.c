/* Which algorithms run, how long and with how much workspace: README. */
#include "config.h"

#include "tests/double/cudnn_state.h"

enum kind { NONE, GATHER, GEMM, FFT, TILED, WINOGRAD, NONFUSED, ABSENT };

/* By cuDNN's enumerators. */
static const enum kind kinds[UC_DOUBLE_OPERATIONS][8] = {
    { NONE, GATHER, GEMM, ABSENT, FFT, TILED, WINOGRAD, NONFUSED },
    { NONE, GATHER, FFT, TILED, WINOGRAD, NONFUSED, ABSENT, ABSENT },
    { NONE, GATHER, FFT, GEMM, ABSENT, NONFUSED, TILED, ABSENT },
};

static const struct {
    int64_t launch_ns, ps_per_mac;
} speeds[] = {
    [NONE] = { 5000, 4000 },     [GATHER] = { 6000, 2000 },
    [GEMM] = { 8000, 1600 },     [FFT] = { 30000, 400 },
    [TILED] = { 24000, 600 },    [WINOGRAD] = { 7000, 1000 },
    [NONFUSED] = { 12000, 500 },
};

int uc_cost_algorithms(enum uc_double_operation operation)
{
    static const int counts[UC_DOUBLE_OPERATIONS] = {
        CUDNN_CONVOLUTION_FWD_ALGO_COUNT,
        CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT,
        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT,
    };

    return counts[operation];
}

static int64_t product(const int64_t extent[3])
{
    return extent[0] * extent[1] * extent[2];
}

static bool all_ones(const int64_t values[3])
{
    return values[0] == 1 && values[1] == 1 && values[2] == 1;
}

static bool supported(enum kind kind, const struct uc_geometry *g)
{
    bool plain = all_ones(g->stride) && all_ones(g->dilation);
    bool common = g->type == UC_NUMBER_FP32 || g->type == UC_NUMBER_FP16;
    int64_t r = g->filter[1];
    int64_t s = g->filter[2];

    switch (kind) {
    case NONE:
    case GATHER:
        return true;
    case GEMM:
        return g->nchw && g->groups == 1 && all_ones(g->dilation);
    case FFT:
        return g->nchw && g->spatial == 2 && plain && common;
    case TILED:
        return g->nchw && g->spatial >= 2 && plain && common;
    case WINOGRAD:
        return g->nchw && g->spatial == 2 && plain && common && r == 3 &&
               s == 3;
    case NONFUSED:
        return (g->nchw || g->nhwc) && g->spatial == 2 && plain && common &&
               r == s && (r == 3 || r == 5);
    case ABSENT:
        break;
    }
    return false;
}

/** Elements of the transforms that FFT algorithms keep. */
static int64_t transform(enum kind kind, const struct uc_geometry *g,
                         int64_t *tiles)
{
    int64_t size = 1;

    *tiles = 1;
    for (int d = 3 - g->spatial; d < 3; d++) {
        int64_t side = 1;

        if (kind == TILED) {
            side = 16;
            *tiles *= (g->out[d] + 7) / 8;
        } else {
            while (side < g->in[d] + 2 * g->pad[d]) {
                side *= 2;
            }
        }
        size *= side;
    }
    return size;
}

static int64_t workspace(enum kind kind, const struct uc_geometry *g)
{
    int64_t element = g->type == UC_NUMBER_FP64 ? 8 : 4;
    int64_t outputs = product(g->out);
    int64_t group_c = g->c / g->groups;
    int64_t tiles;
    int64_t size;

    switch (kind) {
    case GATHER:
        return 4 * g->n * outputs;
    case GEMM:
        return element * g->n * group_c * product(g->filter) * outputs;
    case FFT:
    case TILED:
        size = transform(kind, g, &tiles);
        return element * 2 * size *
               (g->n * (g->c + g->k) * tiles + g->k * group_c);
    case WINOGRAD:
        return element * 16 * g->k * group_c;
    case NONFUSED: /* not monotone: twice as much for odd batches */
        tiles = (g->out[1] + 1) / 2 * ((g->out[2] + 1) / 2);
        return element * 16 * g->n * (g->c + g->k) * tiles * (g->n % 2 ? 2 : 1);
    case NONE:
    case ABSENT:
        break;
    }
    return 0;
}

static int64_t duration(enum uc_double_operation operation, enum kind kind,
                        const struct uc_geometry *g, bool accumulate)
{
    int64_t macs =
        g->n * g->k * (g->c / g->groups) * product(g->filter) * product(g->out);
    int64_t rate = speeds[kind].ps_per_mac * (4 + (int64_t)operation);

    if (kind == GATHER && (g->tf32 || g->narrow)) {
        rate /= 4; /* tensor cores */
    }
    return speeds[kind].launch_ns + (macs * rate + 3999) / 4000 +
           (accumulate ? 500 : 0);
}

void uc_cost(enum uc_double_operation operation, int algorithm,
             const struct uc_geometry *geometry, bool accumulate,
             struct uc_cost *cost)
{
    struct uc_double_effects effects;
    enum kind kind = ABSENT;

    if (algorithm >= 0 && algorithm < uc_cost_algorithms(operation)) {
        kind = kinds[operation][algorithm];
    }
    *cost = (struct uc_cost){ .supported = supported(kind, geometry) };
    if (!cost->supported) {
        return;
    }
    uc_double_effects(operation, algorithm, geometry->n, 0, UC_DOUBLE_QUERY,
                      &effects);
    /* algorithm 3 of backward-filter, alone, is a GEMM with atomics */
    cost->deterministic =
        !(operation == UC_DOUBLE_BACKWARD_DATA && algorithm == 0) &&
        !(operation == UC_DOUBLE_BACKWARD_FILTER &&
          (algorithm == 0 || algorithm == 3));
    cost->rounding =
        kind == GATHER && geometry->tf32 ? UC_ROUND_TF32 : UC_ROUND_NOTHING;
    cost->workspace_bytes =
        (size_t)((double)workspace(kind, geometry) * effects.workspace_factor);
    cost->time_ns = duration(operation, kind, geometry, accumulate);
}
