/* The double's convolutions against mathematics that is not its own. */
#include "config.h"

#include "tests/double_support.h"

#include <math.h>
#include <stdlib.h>

static const struct shape shapes[] = {
    { "plain 2-D",
      2,
      3,
      2,
      3,
      1,
      { 6, 7 },
      { 3, 3 },
      { 1, 1 },
      { 1, 1 },
      { 1, 1 },
      false },
    { "flipped, even filter",
      2,
      2,
      3,
      2,
      1,
      { 5, 6 },
      { 2, 4 },
      { 1, 2 },
      { 1, 1 },
      { 1, 1 },
      true },
    { "5x5",
      2,
      2,
      2,
      2,
      1,
      { 8, 6 },
      { 5, 5 },
      { 2, 2 },
      { 1, 1 },
      { 1, 1 },
      false },
    { "strided, dilated",
      2,
      2,
      2,
      2,
      1,
      { 11, 9 },
      { 3, 2 },
      { 2, 0 },
      { 2, 3 },
      { 2, 3 },
      false },
    { "two groups",
      2,
      3,
      4,
      6,
      2,
      { 5, 5 },
      { 3, 3 },
      { 1, 1 },
      { 2, 1 },
      { 1, 1 },
      false },
    { "depthwise, flipped",
      2,
      2,
      3,
      6,
      3,
      { 4, 5 },
      { 3, 3 },
      { 0, 1 },
      { 1, 1 },
      { 1, 1 },
      true },
    { "padding beyond the filter",
      2,
      1,
      1,
      2,
      1,
      { 2, 3 },
      { 2, 2 },
      { 3, 3 },
      { 2, 2 },
      { 1, 1 },
      false },
    { "1-D", 1, 3, 2, 3, 1, { 9 }, { 4 }, { 2 }, { 2 }, { 2 }, false },
    { "1-D as 2-D",
      2,
      3,
      2,
      3,
      1,
      { 1, 9 },
      { 1, 4 },
      { 0, 2 },
      { 1, 2 },
      { 1, 2 },
      true },
    { "3-D",
      3,
      2,
      2,
      2,
      1,
      { 4, 5, 3 },
      { 3, 2, 3 },
      { 1, 0, 2 },
      { 1, 2, 1 },
      { 1, 1, 1 },
      false },
    { "3-D, plain",
      3,
      2,
      2,
      3,
      1,
      { 4, 4, 4 },
      { 3, 3, 3 },
      { 1, 1, 1 },
      { 1, 1, 1 },
      { 1, 1, 1 },
      true },
    { "3-D, groups and dilation",
      3,
      2,
      4,
      2,
      2,
      { 5, 4, 6 },
      { 2, 2, 2 },
      { 1, 1, 0 },
      { 2, 1, 2 },
      { 2, 1, 3 },
      false },
};

static int opened(void **state)
{
    (void)state;
    double_open();
    return 0;
}

static int closed(void **state)
{
    (void)state;
    double_close();
    return 0;
}

/** One element of the output, straight from the definition. */
static double forward_at(const struct uc_case *c, const int at[5])
{
    const struct shape *s = &c->shape;
    int tap[5] = { 0 };
    double sum = 0;

    do {
        int from[5] = { at[0] };
        int weight[5] = { at[1] };
        bool inside = true;

        if (tap[0] != 0) {
            continue; /* the filter's K is the output's channel */
        }
        weight[1] = tap[1];
        from[1] = at[1] / (s->k / s->groups) * (s->c / s->groups) + tap[1];
        for (int d = 0; d < s->spatial; d++) {
            from[d + 2] = at[d + 2] * s->stride[d] - s->pad[d] +
                          tap[d + 2] * s->dilation[d];
            weight[d + 2] =
                s->flip ? s->filter[d] - 1 - tap[d + 2] : tap[d + 2];
            inside = inside && from[d + 2] >= 0 && from[d + 2] < s->in[d];
        }
        if (inside) {
            sum += c->host[X][uc_case_place(c, X, from)] *
                   c->host[W][uc_case_place(c, W, weight)];
        }
    } while (uc_case_next(c, W, tap));
    return sum;
}

static double tolerance(enum uc_number type)
{
    static const double units[UC_NUMBERS] = { 6e-8, 5e-4, 4e-3, 1e-14 };

    return units[type];
}

static void close_to(const struct uc_case *c, double got, double expected)
{
    if (!(fabs(got - expected) <= tolerance(c->type) * (fabs(expected) + 1))) {
        fail_msg("%s: %.17g instead of %.17g", c->shape.name, got, expected);
    }
}

static void check_forward(const struct shape *shape, enum uc_number type,
                          enum layout layout, int algorithm)
{
    struct uc_case c;
    double *before;
    int at[5] = { 0 };

    uc_case_open(&c, shape, type, layout);
    before = malloc(c.count[Y] * sizeof *before);
    assert_non_null(before);
    memcpy(before, c.host[Y], c.count[Y] * sizeof *before);
    if (uc_case_run_sized(&c, UC_DOUBLE_FORWARD, algorithm, 2, -0.5) ==
        CUDNN_STATUS_SUCCESS) {
        uc_case_download(&c, Y);
        do {
            size_t place = uc_case_place(&c, Y, at);

            close_to(&c, c.host[Y][place],
                     2 * forward_at(&c, at) - 0.5 * before[place]);
            before[place] = c.host[Y][place]; /* seen */
        } while (uc_case_next(&c, Y, at));
        /* what lies between the elements is as it was */
        assert_memory_equal(before, c.host[Y], c.count[Y] * sizeof *before);
    } else {
        assert_true(algorithm > 1); /* 0 and 1 do everything */
    }
    free(before);
    uc_case_free(&c);
}

static void forward_follows_the_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(shapes); i++) {
        for (int type = 0; type < UC_NUMBERS; type++) {
            for (int layout = NCHW; layout <= GAPS; layout++) {
                for (int a = 0; a < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; a++) {
                    check_forward(&shapes[i], (enum uc_number)type,
                                  (enum layout)layout, a);
                }
            }
        }
    }
}

static double dot(const struct uc_case *c, int tensor, const double *other)
{
    int at[5] = { 0 };
    double sum = 0;

    do {
        size_t place = uc_case_place(c, tensor, at);

        sum += c->host[tensor][place] * other[place];
    } while (uc_case_next(c, tensor, at));
    return sum;
}

/** Run one operation with its output first full of NaN; the dot product of
 * the output with the random tensor that was there. */
static bool product(struct uc_case *c, enum uc_double_operation op,
                    int algorithm, double *value)
{
    static const int outputs[UC_DOUBLE_OPERATIONS] = { Y, X, W };
    int output = outputs[op];
    size_t bytes = c->count[output] * sizeof(double);
    double *random = malloc(bytes);
    bool done;

    assert_non_null(random);
    memcpy(random, c->host[output], bytes);
    for (size_t i = 0; i < c->count[output]; i++) {
        c->host[output][i] = NAN;
    }
    uc_case_upload(c, output);
    done = uc_case_run_sized(c, op, algorithm, 1, 0) == CUDNN_STATUS_SUCCESS;
    if (done) {
        uc_case_download(c, output);
        *value = dot(c, output, random);
    }
    memcpy(c->host[output], random, bytes);
    uc_case_upload(c, output);
    free(random);
    return done;
}

/* <conv(x, w), y> = <x, backward-data(w, y)> = <w, backward-filter(x, y)> */
static void backward_passes_are_adjoint(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(shapes); i++) {
        for (int layout = NCHW; layout <= GAPS; layout++) {
            struct uc_case c;
            double expected = 0;
            double value = 0;
            int runs[UC_DOUBLE_OPERATIONS] = { 0 };
            int at[5] = { 0 };

            uc_case_open(&c, &shapes[i], UC_NUMBER_FP64, (enum layout)layout);
            do {
                expected +=
                    forward_at(&c, at) * c.host[Y][uc_case_place(&c, Y, at)];
            } while (uc_case_next(&c, Y, at));
            for (int op = 0; op < UC_DOUBLE_OPERATIONS; op++) {
                for (int a = 0; a < 8; a++) {
                    if (product(&c, (enum uc_double_operation)op, a, &value)) {
                        assert_true(fabs(value - expected) < 1e-9);
                        runs[op]++;
                    }
                }
                assert_in_range(runs[op], 2, 8);
            }
            uc_case_free(&c);
        }
    }
}

/* x of 4, w of 3, no padding: y has 2. */
static const struct shape line = { "line", 1,     1,     1,     1,     1,
                                   { 4 },  { 3 }, { 0 }, { 1 }, { 1 }, false };

static void set(struct uc_case *c, int tensor, const double *values)
{
    memcpy(c->host[tensor], values, c->count[tensor] * sizeof *values);
    uc_case_upload(c, tensor);
}

static void expect(struct uc_case *c, int tensor, const double *values)
{
    uc_case_download(c, tensor);
    assert_memory_equal(c->host[tensor], values,
                        c->count[tensor] * sizeof *values);
}

static void by_hand(void **state)
{
    static const double x[] = { 1, 2, 3, 4 };
    static const double w[] = { 1, 0, -1 };
    static const double dy[] = { 1, 10 };
    static const double old[] = { 100, 200 };
    struct shape shape = line;
    struct uc_case c;

    (void)state;
    uc_case_open(&c, &shape, UC_NUMBER_FP32, NCHW);
    set(&c, X, x);
    set(&c, W, w);
    set(&c, Y, old);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 2, 0.5), 0);
    expect(&c, Y, (const double[]){ 2 * -2 + 50, 2 * -2 + 100 });
    set(&c, Y, dy);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_BACKWARD_DATA, 0, 1, 0), 0);
    expect(&c, X, (const double[]){ 1, 10, -1, -10 });
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_BACKWARD_DATA, 0, 1, 1), 0);
    expect(&c, X, (const double[]){ 2, 20, -2, -20 });
    set(&c, X, x);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_BACKWARD_FILTER, 0, 1, 0), 0);
    expect(&c, W, (const double[]){ 21, 32, 43 });
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_BACKWARD_FILTER, 0, 2, 1), 0);
    expect(&c, W, (const double[]){ 63, 96, 129 });
    uc_case_free(&c);

    shape.flip = true;
    uc_case_open(&c, &shape, UC_NUMBER_FP16, NCHW);
    set(&c, X, x);
    set(&c, W, w);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 1, 0), 0);
    expect(&c, Y, (const double[]){ 2, 2 });
    uc_case_free(&c);
}

/* Repeated calls are not computed again; calls that differ must be. */
static void a_repeated_call_sees_what_changed(void **state)
{
    static const double x[] = { 1, 2, 3, 4 };
    static const double other_x[] = { 4, 2, 3, 0 };
    static const double w[] = { 1, 0, -1 };
    struct uc_case c;

    (void)state;
    uc_case_open(&c, &line, UC_NUMBER_FP32, NCHW);
    set(&c, X, x);
    set(&c, W, w);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 1, 0), 0);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 1, 0), 0);
    expect(&c, Y, (const double[]){ -2, -2 });
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 2, 0), 0);
    expect(&c, Y, (const double[]){ -4, -4 });
    set(&c, X, other_x);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 2, 0), 0);
    expect(&c, Y, (const double[]){ 2, 4 });
    assert_int_equal(cuMemsetD8(c.device[Y], 0, 2 * sizeof(float)), 0);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 2, 0), 0);
    expect(&c, Y, (const double[]){ 2, 4 });
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 2, 1), 0);
    assert_int_equal(uc_case_run(&c, UC_DOUBLE_FORWARD, 0, 2, 1), 0);
    expect(&c, Y, (const double[]){ 6, 12 });
    uc_case_free(&c);
}

static void bias_and_activation(void **state)
{
    static const double x[] = { 1, 2, 3, 4 };
    static const double w[] = { 1, 0, -1 };
    static const double z[] = { 3, 1 };
    static const float one = 1;
    static const float two = 2;
    static const int dims[3] = { 1, 1, 1 };
    cudnnTensorDescriptor_t bias;
    cudnnActivationDescriptor_t relu;
    CUdeviceptr bias_data;
    float value = 0.5F;
    struct uc_case c;

    (void)state;
    uc_case_open(&c, &line, UC_NUMBER_FP32, NCHW);
    assert_int_equal(cudnnCreateTensorDescriptor(&bias), 0);
    assert_int_equal(
        cudnnSetTensorNdDescriptor(bias, CUDNN_DATA_FLOAT, 3, dims, dims), 0);
    assert_int_equal(cudnnCreateActivationDescriptor(&relu), 0);
    assert_int_equal(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU,
                                                  CUDNN_NOT_PROPAGATE_NAN, 0),
                     0);
    assert_int_equal(cuMemAlloc(&bias_data, sizeof value), 0);
    assert_int_equal(cuMemcpyHtoD(bias_data, &value, sizeof value), 0);
    set(&c, X, x);
    set(&c, W, w);
    set(&c, Y, z); /* z is y: conv is -2 twice */
    assert_int_equal(
        cudnnConvolutionBiasActivationForward(
            double_handle, &one, c.x, (void *)(uintptr_t)c.device[X], c.w,
            (void *)(uintptr_t)c.device[W], c.convolution,
            CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &two, c.y,
            (void *)(uintptr_t)c.device[Y], bias, (void *)(uintptr_t)bias_data,
            relu, c.y, (void *)(uintptr_t)c.device[Y]),
        0);
    expect(&c, Y, (const double[]){ -2 + 6 + 0.5, -2 + 2 + 0.5 });
    assert_int_equal(
        cudnnConvolutionBackwardBias(double_handle, &two, c.y,
                                     (void *)(uintptr_t)c.device[Y], &one, bias,
                                     (void *)(uintptr_t)bias_data),
        0);
    assert_int_equal(cuMemcpyDtoH(&value, bias_data, sizeof value), 0);
    assert_true(value == 2 * 5 + 0.5F);
    assert_int_equal(cuMemFree(bias_data), 0);
    assert_int_equal(cudnnDestroyActivationDescriptor(relu), 0);
    assert_int_equal(cudnnDestroyTensorDescriptor(bias), 0);
    uc_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_follows_the_definition),
        cmocka_unit_test(backward_passes_are_adjoint),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(a_repeated_call_sees_what_changed),
        cmocka_unit_test(bias_and_activation),
    };

    return cmocka_run_group_tests(tests, opened, closed);
}
