/* The double's graph API: engines, their knobs and notes, heuristics. */
#include "config.h"

#include "tests/graph_support.h"

#include <math.h>
#include <stdlib.h>

static const struct choices large_tile = { 2, { 2, 3 }, { 4, 0 } };
static const struct choices small_tile = { 2, { 2, 3 }, { 0, 1 } };
static const struct choices split = { 1, { 12 }, { 4 } };

static const struct shape cube = { "cube",      3,           2,
                                   2,           3,           1,
                                   { 4, 5, 6 }, { 3, 3, 3 }, { 1, 1, 1 },
                                   { 1, 1, 1 }, { 1, 1, 1 }, false };

static void sizes_follow_the_readme(void **state)
{
    static const struct {
        int64_t engine;
        const struct choices *choices;
        int64_t bytes;
    } expected[] = {
        { 0, NULL, 0 },          { 1, NULL, 5120 },  { 1, &large_tile, 15360 },
        { 1, &small_tile, 640 }, { 2, NULL, 68608 }, { 7, NULL, 5336 },
        { 7, &split, 14552 },    { 8, NULL, 2668 },  { 9, NULL, 0 },
        { 12, NULL, 256 },
    };
    struct uc_case c;
    struct graph g;
    descriptor config;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    graph_open(&g, &c, UC_DOUBLE_FORWARD, 1, 0);
    for (size_t i = 0; i < UNIT_COUNT(expected); i++) {
        assert_int_equal(
            graph_config(&g, expected[i].engine, expected[i].choices, &config),
            0);
        assert_int_equal(
            graph_number(config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE),
            expected[i].bytes);
        graph_destroy(config);
    }
    graph_close(&g);
    uc_case_free(&c);
    uc_case_open(&c, &cube, UC_NUMBER_FP32, NCHW);
    graph_open(&g, &c, UC_DOUBLE_FORWARD, 1, 0);
    assert_int_equal(graph_config(&g, 23, NULL, &config), 0);
    assert_int_equal(graph_number(config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE),
                     2048);
    graph_destroy(config);
    graph_close(&g);
    uc_case_free(&c);
    double_expect_misuses(0);
    double_close();
}

static void times_follow_the_readme(void **state)
{
    struct uc_case c;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    assert_true(graph_time(&c, UC_DOUBLE_FORWARD, 0, NULL, 0) == 43472);
    assert_true(graph_time(&c, UC_DOUBLE_FORWARD, 0, NULL, 1) == 43972);
    assert_true(graph_time(&c, UC_DOUBLE_BACKWARD_FILTER, 0, NULL, 0) == 64208);
    assert_true(graph_time(&c, UC_DOUBLE_FORWARD, 1, NULL, 0) == 14060);
    assert_true(graph_time(&c, UC_DOUBLE_FORWARD, 1, &large_tile, 0) == 11848);
    assert_true(graph_time(&c, UC_DOUBLE_FORWARD, 7, NULL, 0) == 7456);
    assert_true(graph_time(&c, UC_DOUBLE_FORWARD, 7, &split, 0) == 6938);
    assert_true(graph_time(&c, UC_DOUBLE_BACKWARD_DATA, 12, NULL, 0) == 10640);
    uc_case_free(&c);
    double_close();
}

/** Values that TF32 and BF16 round. */
static void upload_odd_values(struct uc_case *c)
{
    for (int t = X; t <= Y; t++) {
        for (size_t i = 0; i < c->count[t]; i++) {
            c->host[t][i] =
                (float)sin((double)i * (double)i * 0.37 + (double)i + t);
        }
        uc_case_upload(c, t);
    }
}

/** |a - b| over |b|, in the 2-norm. */
static double distance(const double *a, const double *b, size_t count)
{
    double difference = 0;
    double size = 0;

    for (size_t i = 0; i < count; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return sqrt(difference / size);
}

/**
 * How far an engine is from the legacy algorithm 0, which is checked by
 * double_convolution.c; -1: it does not do this.
 */
static double error_of(int engine, const struct shape *shape,
                       enum uc_number type, enum layout layout,
                       enum uc_double_operation op, double beta)
{
    static const int written[] = { Y, X, W };
    int out = written[op];
    struct uc_case c;
    double *right;
    double error = -1;
    cudnnStatus_t status;

    uc_case_open(&c, shape, type, layout);
    upload_odd_values(&c);
    assert_int_equal(uc_case_run_sized(&c, op, 0, 0.5, beta), 0);
    uc_case_download(&c, out);
    right = malloc(c.count[out] * sizeof *right);
    assert_non_null(right);
    memcpy(right, c.host[out], c.count[out] * sizeof *right);
    upload_odd_values(&c);
    status = graph_run(&c, op, engine, NULL, 0.5, beta);
    if (status == CUDNN_STATUS_SUCCESS) {
        uc_case_download(&c, out);
        error = distance(c.host[out], right, c.count[out]);
    } else {
        assert_int_equal(status, CUDNN_STATUS_NOT_SUPPORTED);
    }
    free(right);
    uc_case_free(&c);
    return error;
}

static void engines_are_as_exact_as_they_say(void **state)
{
    static const int exact[] = { 0, 1, 2, 9, 12 };

    (void)state;
    double_open();
    for (int op = 0; op < UC_DOUBLE_OPERATIONS; op++) {
        enum uc_double_operation o = (enum uc_double_operation)op;

        for (int beta = 0; beta < 2; beta++) {
            double tf32 =
                error_of(7, &uc_square, UC_NUMBER_FP32, NCHW, o, beta);
            double half =
                error_of(8, &uc_square, UC_NUMBER_FP32, NHWC, o, beta);

            for (size_t i = 0; i < UNIT_COUNT(exact); i++) {
                bool none = exact[i] == 12 && beta == 1 &&
                            o == UC_DOUBLE_BACKWARD_FILTER;

                assert_true(error_of(exact[i], &uc_square, UC_NUMBER_FP32, NCHW,
                                     o, beta) == (none ? -1 : 0));
            }
            assert_true(tf32 > 5e-5 && tf32 < 4e-4);
            assert_true(half > 5e-4 && half < 3e-3);
            assert_true(
                error_of(7, &uc_square, UC_NUMBER_FP16, NHWC, o, beta) == 0);
            assert_true(error_of(23, &cube, UC_NUMBER_FP32, NCHW, o, beta) ==
                        0);
            assert_true(
                error_of(0, &uc_square, UC_NUMBER_FP64, GAPS, o, beta) == 0);
        }
    }
    double_close();
}

static void engines_refuse_what_they_cannot_do(void **state)
{
    struct shape strided = uc_square;

    (void)state;
    strided.stride[0] = strided.stride[1] = 2;
    double_open();
    for (int i = -1; i < 30; i++) {
        bool there =
            i == 0 || i == 1 || i == 2 || i == 7 || i == 8 || i == 9 || i == 12;

        assert_true((error_of(i, &uc_square, UC_NUMBER_FP32, NCHW,
                              UC_DOUBLE_FORWARD, 0) >= 0) == there);
    }
    assert_true(
        error_of(2, &strided, UC_NUMBER_FP32, NCHW, UC_DOUBLE_FORWARD, 0) < 0);
    assert_true(error_of(1, &uc_square, UC_NUMBER_FP32, GAPS, UC_DOUBLE_FORWARD,
                         0) < 0);
    assert_true(error_of(8, &uc_square, UC_NUMBER_FP16, NHWC, UC_DOUBLE_FORWARD,
                         0) < 0);
    assert_true(error_of(7, &uc_square, UC_NUMBER_FP64, NCHW, UC_DOUBLE_FORWARD,
                         0) < 0);
    double_expect_misuses(0);
    double_close();
}

static int notes_of(const struct graph *g, int64_t index)
{
    descriptor engine;
    int notes[8];
    int64_t count;
    int bits = 0;

    assert_int_equal(graph_engine(g, index, &engine), 0);
    assert_int_equal(
        cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                 CUDNN_TYPE_NUMERICAL_NOTE, 8, &count, notes),
        0);
    for (int64_t i = 0; i < count; i++) {
        bits |= 1 << notes[i];
    }
    assert_int_equal(
        cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                 CUDNN_TYPE_BEHAVIOR_NOTE, 8, &count, notes),
        0);
    for (int64_t i = 0; i < count; i++) {
        bits |= 1 << (16 + notes[i]);
    }
    graph_destroy(engine);
    return bits;
}

static void engines_tell_their_notes(void **state)
{
    struct uc_case c;
    struct graph g;

    (void)state;
    double_open();
    uc_case_open(&c, &uc_square, UC_NUMBER_FP32, NCHW);
    graph_open(&g, &c, UC_DOUBLE_FORWARD, 1, 0);
    assert_int_equal(notes_of(&g, 1), 0);
    assert_int_equal(notes_of(&g, 2), 1 << CUDNN_NUMERICAL_NOTE_WINOGRAD);
    assert_int_equal(notes_of(&g, 7), 1 << CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    assert_int_equal(notes_of(&g, 8),
                     1 << CUDNN_NUMERICAL_NOTE_TENSOR_CORE |
                         1 << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
    assert_int_equal(notes_of(&g, 9),
                     1 << CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    assert_int_equal(notes_of(&g, 12),
                     1 << (16 + CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION));
    graph_close(&g);
    uc_case_free(&c);
    double_close();
}

enum { RESULTS = 16 };

/** The engines advised, in order, the first's number of choices, and the
    value of its first. */
static int64_t advice(int batch, int mode, int64_t engines[RESULTS],
                      int64_t *choices, int64_t *value)
{
    struct shape shape = uc_square;
    descriptor results[RESULTS];
    struct uc_case c;
    struct graph g;
    descriptor h = graph_create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    int64_t promised;
    int64_t count;

    shape.n = batch;
    uc_case_open(&c, &shape, UC_NUMBER_FP32, NCHW);
    graph_open(&g, &c, UC_DOUBLE_FORWARD, 1, 0);
    graph_set(h, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &g.graph);
    graph_set(h, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    assert_int_equal(cudnnBackendFinalize(h), 0);
    assert_int_equal(cudnnBackendGetAttribute(h, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                              CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                                              &promised, NULL),
                     0);
    for (int i = 0; i < RESULTS; i++) {
        results[i] = graph_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    }
    assert_int_equal(cudnnBackendGetAttribute(h, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                              CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                              RESULTS, &count, results),
                     0);
    assert_true(promised > count && promised <= RESULTS);
    graph_destroy(h);
    graph_close(&g);
    for (int i = 0; i < RESULTS; i++) {
        descriptor engine = graph_create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
        descriptor knobs[2] = {
            graph_create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR),
            graph_create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR)
        };
        int64_t one;

        if (i < count) {
            assert_int_equal(cudnnBackendGetAttribute(
                                 results[i], CUDNN_ATTR_ENGINECFG_ENGINE,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one,
                                 &engine),
                             0);
            engines[i] = graph_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
            assert_int_equal(cudnnBackendGetAttribute(
                                 results[i], CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 2,
                                 i == 0 ? choices : &one, knobs),
                             0);
        }
        if (i == 0 && *choices > 0) {
            *value = graph_number(knobs[0], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
        }
        graph_destroy(engine);
        graph_destroy(knobs[0]);
        graph_destroy(knobs[1]);
        graph_destroy(results[i]);
    }
    uc_case_free(&c);
    return count;
}

static void heuristics_advise_by_the_batch(void **state)
{
    int64_t engines[RESULTS];
    int64_t choices;
    int64_t value = -1;

    (void)state;
    double_open();
    assert_int_equal(advice(1, CUDNN_HEUR_MODE_A, engines, &choices, &value),
                     7);
    assert_int_equal(engines[0], 12);
    assert_int_equal(choices, 0);
    assert_int_equal(engines[6], 0);
    assert_int_equal(advice(4, CUDNN_HEUR_MODE_A, engines, &choices, &value),
                     7);
    assert_int_equal(engines[0], 7);
    assert_int_equal(choices, 1);
    assert_int_equal(value, 2);
    assert_int_equal(advice(8, CUDNN_HEUR_MODE_A, engines, &choices, &value),
                     7);
    assert_int_equal(engines[0], 7);
    assert_int_equal(value, 4);
    assert_int_equal(
        advice(4, CUDNN_HEUR_MODE_FALLBACK, engines, &choices, &value), 2);
    assert_int_equal(engines[0], 1);
    assert_int_equal(choices, 0);
    assert_int_equal(uc_double_count(UC_DOUBLE_HEURISTICS), 4);
    double_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sizes_follow_the_readme, double_fresh),
        cmocka_unit_test_setup(times_follow_the_readme, double_fresh),
        cmocka_unit_test_setup(engines_are_as_exact_as_they_say, double_fresh),
        cmocka_unit_test_setup(engines_refuse_what_they_cannot_do,
                               double_fresh),
        cmocka_unit_test_setup(engines_tell_their_notes, double_fresh),
        cmocka_unit_test_setup(heuristics_advise_by_the_batch, double_fresh),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
