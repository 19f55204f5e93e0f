/* The engines of the graph API, their cost, and who is asked first: README. */
#include "config.h"

#include "tests/double/cudnn_graph.h"

static const struct uc_engine engines[] = {
    { .index = 0,
      .notes = { CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP },
      .note_count = 1,
      .launch_ns = 2000,
      .ps_per_mac = 3000 },
    { .index = 1,
      .launch_ns = 3000,
      .ps_per_mac = 800,
      .knob_count = 2,
      .knobs = { { CUDNN_KNOB_TYPE_TILE_SIZE, 0, 4, 2 },
                 { CUDNN_KNOB_TYPE_USE_TEX, 0, 1, 0 } } },
    { .index = 2,
      .notes = { CUDNN_NUMERICAL_NOTE_WINOGRAD },
      .note_count = 1,
      .launch_ns = 2500,
      .ps_per_mac = 600 },
    { .index = 7,
      .notes = { CUDNN_NUMERICAL_NOTE_TENSOR_CORE },
      .note_count = 1,
      .rounding = UC_ROUND_TF32,
      .launch_ns = 4000,
      .ps_per_mac = 250,
      .knob_count = 1,
      .knobs = { { CUDNN_KNOB_TYPE_SPLIT_K_BUF, 1, 8, 1 } } },
    { .index = 8,
      .notes = { CUDNN_NUMERICAL_NOTE_TENSOR_CORE,
                 CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS },
      .note_count = 2,
      .rounding = UC_ROUND_BF16,
      .launch_ns = 4000,
      .ps_per_mac = 150 },
    { .index = 9,
      .notes = { CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC },
      .note_count = 1,
      .launch_ns = 2500,
      .ps_per_mac = 1200 },
    { .index = 12, .compiled = true, .launch_ns = 2000, .ps_per_mac = 500 },
    { .index = 23, .launch_ns = 3000, .ps_per_mac = 400 },
};

static int64_t product(const int64_t extent[3])
{
    return extent[0] * extent[1] * extent[2];
}

static bool all_ones(const int64_t values[3])
{
    return values[0] == 1 && values[1] == 1 && values[2] == 1;
}

static bool does(int index, const struct uc_geometry *g)
{
    bool packed = g->nchw || g->nhwc;
    bool winograd = all_ones(g->stride) && all_ones(g->dilation) &&
                    g->filter[1] == 3 && g->filter[2] == 3;

    switch (index) {
    case 0:
        return true;
    case 1:
    case 12:
        return packed && g->type != UC_NUMBER_FP64;
    case 2:
        return packed && g->spatial == 2 && winograd &&
               (g->type == UC_NUMBER_FP32 || g->type == UC_NUMBER_FP16);
    case 7:
        return packed && g->groups == 1 && g->type != UC_NUMBER_FP64;
    case 8:
        return packed && g->groups == 1 && g->type == UC_NUMBER_FP32;
    case 9:
        return g->type != UC_NUMBER_FP64;
    case 23:
        return packed && g->spatial == 3 && g->type != UC_NUMBER_FP64;
    default:
        return false;
    }
}

const struct uc_engine *uc_engine_find(int64_t index,
                                       const struct uc_graph_operation *work)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        if (engines[i].index == index) {
            return work->supported && does(engines[i].index, &work->geometry)
                       ? &engines[i]
                       : NULL;
        }
    }
    return NULL;
}

/** Elements of one image's input and output. */
static int64_t image(const struct uc_geometry *g)
{
    return g->c * product(g->in) + g->k * product(g->out);
}

static int64_t output_elements(enum uc_double_operation operation,
                               const struct uc_geometry *g)
{
    switch (operation) {
    case UC_DOUBLE_FORWARD:
        return g->n * g->k * product(g->out);
    case UC_DOUBLE_BACKWARD_DATA:
        return g->n * g->c * product(g->in);
    default:
        return g->k * (g->c / g->groups) * product(g->filter);
    }
}

/** Bytes for copies of all tensors in the layout that tensor cores want. */
static int64_t conversion(const struct uc_geometry *g, int64_t element)
{
    int64_t filter = g->k * (g->c / g->groups) * product(g->filter);

    return g->nhwc ? 0 : element * (g->n * image(g) + filter);
}

static int64_t workspace(int index, const struct uc_graph_operation *work,
                         const int64_t *knobs)
{
    /* quarters, by the tile that is chosen */
    static const int64_t tiles[] = { 1, 2, 4, 8, 12 };
    const struct uc_geometry *g = &work->geometry;
    int64_t element = g->type == UC_NUMBER_FP32 ? 4 : 2;

    switch (index) {
    case 1:
        return g->n * image(g) * tiles[knobs[0]] / (knobs[1] ? 2 : 1);
    case 2:
        return 65536 + 4 * g->n * g->k * product(g->out);
    case 7:
        return conversion(g, element) +
               4 * (knobs[0] - 1) * output_elements(work->operation, g);
    case 8:
        return conversion(g, 2);
    case 12:
        return 256;
    case 23:
        return 1024 * g->n;
    default:
        return 0;
    }
}

/** Percent of the engine's time at the usual knobs. */
static int64_t slowness(int index, const int64_t *knobs)
{
    static const int64_t tiles[] = { 150, 120, 100, 90, 80 };

    switch (index) {
    case 1:
        return tiles[knobs[0]] + (knobs[1] ? 10 : 0);
    case 7: /* best at 4 */
        return 100 - 5 * (knobs[0] < 4 ? knobs[0] - 1 : 7 - knobs[0]);
    default:
        return 100;
    }
}

void uc_engine_cost(const struct uc_engine *engine,
                    const struct uc_graph_operation *work,
                    const int64_t knobs[UC_MOST_KNOBS], struct uc_cost *cost)
{
    const struct uc_geometry *g = &work->geometry;
    int64_t macs =
        g->n * g->k * (g->c / g->groups) * product(g->filter) * product(g->out);
    int64_t rate = engine->ps_per_mac * slowness(engine->index, knobs) *
                   (4 + (int64_t)work->operation);
    struct uc_double_effects effects;

    uc_double_effects(work->operation, UC_DOUBLE_ENGINE + engine->index, g->n,
                      work->beta, UC_DOUBLE_QUERY, &effects);
    *cost = (struct uc_cost){
        .supported = !(engine->compiled && work->beta != 0 &&
                       work->operation == UC_DOUBLE_BACKWARD_FILTER),
        .deterministic = engine->index != 9,
        .rounding =
            g->type == UC_NUMBER_FP32 ? engine->rounding : UC_ROUND_NOTHING,
        .workspace_bytes =
            (size_t)((double)workspace(engine->index, work, knobs) *
                     effects.workspace_factor),
        .time_ns = engine->launch_ns + (macs * rate + 399999) / 400000 +
                   (work->beta != 0 ? 500 : 0),
    };
}

/* Heuristics: in the order of their time, which the batch decides. */

static int64_t advised_time(const struct uc_advice *advice,
                            const struct uc_graph_operation *work)
{
    const struct uc_engine *engine = uc_engine_find(advice->engine, work);
    int64_t knobs[UC_MOST_KNOBS];
    struct uc_cost cost;

    for (int i = 0; i < UC_MOST_KNOBS; i++) {
        knobs[i] = advice->chooses ? advice->knobs[i] : engine->knobs[i].usual;
    }
    uc_engine_cost(engine, work, knobs, &cost);
    return cost.time_ns;
}

int uc_engine_advice(int mode, const struct uc_graph_operation *work,
                     struct uc_advice advice[UC_MOST_ADVICE])
{
    bool large = work->supported && work->geometry.n >= 8;
    const struct uc_advice usual[] = {
        { 1, true, { large ? 4 : 3, 0 } },
        { 1, true, { 0, 1 } },
        { 7, true, { large ? 4 : 2 } },
        { 7, true, { 1 } },
        { 2, true, { 0 } },
        { 12, true, { 0 } },
        { 0, true, { 0 } },
    };
    static const struct uc_advice fallback[] = { { 1, false, { 0 } },
                                                 { 0, false, { 0 } } };
    bool falls = mode == CUDNN_HEUR_MODE_FALLBACK;
    const struct uc_advice *from = falls ? fallback : usual;
    size_t most = falls ? sizeof fallback / sizeof *fallback
                        : sizeof usual / sizeof *usual;
    int count = 0;

    for (size_t i = 0; i < most; i++) {
        int at = count;

        if (!uc_engine_find(from[i].engine, work)) {
            continue;
        }
        while (at > 0 && advised_time(&advice[at - 1], work) >
                             advised_time(&from[i], work)) {
            advice[at] = advice[at - 1];
            at--;
        }
        advice[at] = from[i];
        count++;
    }
    return count;
}
