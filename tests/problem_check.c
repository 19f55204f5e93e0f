#include "config.h"

#include "common/problem.h"
#include "tests/problem_support.h"
#include "tests/unit.h"

static void random_well_formed_problems_pass(void **state)
{
    struct test_random random = { 99 };

    (void)state;
    for (int i = 0; i < 5000; i++) {
        struct uc_problem p = test_random_problem(&random);
        struct uc_error err;

        if (uc_problem_check(&p, &err) != UC_OK)
            fail_msg("%d: %s", i, err.text);
    }
}

/** Breaks the good problem and expects the field's name in the message. */
#define REFUSED(change, words)                                       \
    do {                                                             \
        struct uc_problem p = test_problem();                        \
        struct uc_error err = { .text = "" };                        \
        change;                                                      \
        assert_int_equal(uc_problem_check(&p, &err), UC_EINPUT);     \
        if (strstr(err.text, words) == NULL)                         \
            fail_msg("\"%s\" does not say \"%s\"", err.text, words); \
    } while (0)

static void fields_out_of_range_are_named(void **state)
{
    const int64_t over = (int64_t)INT32_MAX + 1;

    (void)state;
    REFUSED(p.spatial = 0, "spatial");
    REFUSED(p.spatial = 4, "spatial");
    REFUSED(p.spatial = -1, "spatial");
    REFUSED(p.groups = 0, "groups");
    REFUSED(p.c = 0, "c ");
    REFUSED(p.c = -5, "-5");
    REFUSED(p.k = 0, "k ");
    REFUSED(p.c = over, "c ");
    REFUSED(p.k = over, "k ");
    REFUSED(p.in[1] = 0, "in");
    REFUSED(p.in[1] = over, "in");
    REFUSED(p.filter[0] = 0, "filter");
    REFUSED(p.filter[0] = INT64_MAX, "filter");
    REFUSED(p.pad[0] = -1, "pad");
    REFUSED(p.pad[0] = INT64_MAX, "pad");
    REFUSED(p.stride[1] = 0, "stride");
    REFUSED(p.stride[1] = INT64_MIN, "stride");
    REFUSED(p.dilation[0] = 0, "dilation");
    REFUSED(p.dilation[0] = INT64_MAX, "dilation");
}

static void channels_must_divide_by_groups(void **state)
{
    (void)state;
    REFUSED(p.groups = 3, "c 64 is not divisible by groups 3");
    REFUSED((p.groups = 64, p.k = 65), "k 65 is not divisible by groups 64");
}

static void outputs_below_one_are_refused(void **state)
{
    (void)state;
    REFUSED((p.in[0] = 1, p.pad[0] = 1), "output extent below 1");
    REFUSED(p.dilation[1] = 8, "output extent below 1");
    REFUSED((p.filter[0] = INT32_MAX, p.dilation[0] = INT32_MAX),
            "output extent below 1");
}

static void math_must_fit_the_types(void **state)
{
    (void)state;
    REFUSED(p.math = UC_MATH_FP16, "math fp16 needs fp16 data, not fp32");
    REFUSED(p.math = UC_MATH_BF16, "math bf16 needs bf16 data, not fp32");
    REFUSED(p.x_type = UC_FP16, "math tf32 needs fp32 data, not fp16");
    REFUSED(p.w_type = UC_FP64, "math tf32");
    REFUSED(p.compute_type = UC_FP16, "compute type");
    REFUSED(p.compute_type = UC_BF16, "compute type");
}

static void layouts_must_be_whole(void **state)
{
    (void)state;
    REFUSED(p.w.kind = UC_STRIDED, "w ");
    REFUSED(p.x.kind = UC_STRIDED, "x stride");
    REFUSED(p.y = ((struct uc_tensor_layout){ UC_STRIDED, { 9, 9, 9, -1 } }),
            "y stride");
}

#define STRIDED(...) ((struct uc_tensor_layout){ UC_STRIDED, { __VA_ARGS__ } })

static void strides_that_overlap_are_refused(void **state)
{
    (void)state;
    REFUSED(p.y = STRIDED(1, 1, 1, 1), "y strides: elements share memory");
    REFUSED(p.x = STRIDED(99999, 700, 27, 1), "x strides"); /* c in in[0] */
    REFUSED(p.x = STRIDED(99999, 729, 26, 1), "x strides");
    REFUSED(p.x = STRIDED(99999, 1, 64 * 27, 63), "x strides");
}

static void strides_that_keep_elements_apart_pass(void **state)
{
    struct uc_problem p = test_problem();
    struct uc_error err;
    int64_t bytes = 42;

    (void)state;
    /* Packed, in any order, and every second column of a row of 53. */
    p.x = STRIDED(46656, 729, 27, 1);
    assert_int_equal(uc_problem_check(&p, &err), UC_OK);
    p.x = STRIDED(46656, 1, 64, 1728);
    assert_int_equal(uc_problem_check(&p, &err), UC_OK);
    p.x = STRIDED(64 * 53 * 27, 53 * 27, 53, 2);
    assert_int_equal(uc_problem_check(&p, &err), UC_OK);
    /* Whether images overlap depends on the batch: here 1 lies in w. */
    p.x = STRIDED(1, 729 * 8, 27 * 8, 8);
    assert_int_equal(uc_problem_check(&p, &err), UC_OK);
    assert_int_equal(uc_problem_tensor_bytes(&p, UC_X, 9, &bytes, &err),
                     UC_EINPUT);
    assert_string_equal(err.text,
                        "x strides: elements share memory at batch 9");
    assert_int_equal(bytes, 42);
    assert_int_equal(uc_problem_tensor_bytes(&p, UC_X, 8, &bytes, &err), UC_OK);
    /* Strides of single elements do not matter. */
    p = test_problem();
    p.c = 1;
    p.x = STRIDED(1, 1, 27, 1);
    assert_int_equal(uc_problem_check(&p, &err), UC_OK);
}

static void an_image_over_31_bits_is_refused(void **state)
{
    (void)state;
    REFUSED((p.in[0] = p.in[1] = INT32_MAX, p.c = 64), "tensor x");
    REFUSED((p.c = 1 << 16, p.in[0] = 1 << 15, p.in[1] = 1), "tensor x");
    REFUSED((p.c = p.k = 100000, p.in[0] = p.in[1] = 5), "tensor w");
    REFUSED((p.c = 1, p.k = 100000, p.in[0] = p.in[1] = 160), "tensor y");
    REFUSED((p.pad[0] = p.pad[1] = INT32_MAX), "tensor y");
    REFUSED((p.c = 1 << 30, p.in[0] = p.in[1] = 1, p.k = 1,
             p.filter[0] = p.filter[1] = 1, p.pad[0] = p.pad[1] = 0,
             p.math = UC_MATH_FMA, p.x_type = UC_FP64,
             p.x = STRIDED(1, INT32_MAX, 1, 1)),
            "tensor x: size overflows 64 bits");
}

static void a_good_problem_passes_at_the_limits(void **state)
{
    struct uc_problem p = test_problem();
    struct uc_error err;

    (void)state;
    p.groups = 64;
    assert_int_equal(uc_problem_check(&p, &err), UC_OK);
    p = test_problem();
    p.in[0] = p.in[1] = 1; /* 1 + 2 * 2 >= 5 */
    assert_int_equal(uc_problem_check(&p, &err), UC_OK);
    p = test_problem();
    p.c = INT32_MAX;
    p.k = 1;
    p.in[0] = p.in[1] = p.filter[0] = p.filter[1] = 1;
    p.pad[0] = p.pad[1] = 0;
    p.math = UC_MATH_FMA;
    assert_int_equal(uc_problem_check(&p, &err), UC_OK);
}

/** Positions of a filter, counted one by one. */
static int64_t count_positions(const struct uc_problem *p, int i)
{
    int64_t positions = 0;
    int64_t reach = p->dilation[i] * (p->filter[i] - 1);

    for (int64_t at = -p->pad[i]; at + reach < p->in[i] + p->pad[i];
         at += p->stride[i])
        positions++;
    return positions;
}

static void output_extents_count_filter_positions(void **state)
{
    struct test_random random = { 7 };

    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct uc_problem p = test_random_problem(&random);
        int64_t x[UC_MAX_DIMS], w[UC_MAX_DIMS], y[UC_MAX_DIMS];
        double macs = 17.0 * (double)p.k;

        uc_problem_extents(&p, UC_X, 17, x);
        uc_problem_extents(&p, UC_W, 17, w);
        uc_problem_extents(&p, UC_Y, 17, y);
        assert_int_equal(x[0], 17);
        assert_int_equal(x[1], p.c);
        assert_int_equal(w[0], p.k);
        assert_int_equal(w[1] * p.groups, p.c);
        assert_int_equal(y[0], 17);
        assert_int_equal(y[1], p.k);
        for (int j = 0; j < p.spatial; j++) {
            assert_int_equal(x[2 + j], p.in[j]);
            assert_int_equal(w[2 + j], p.filter[j]);
            assert_int_equal(y[2 + j], count_positions(&p, j));
            macs *= (double)(p.filter[j] * count_positions(&p, j));
        }
        macs *= (double)(p.c / p.groups);
        assert_true(uc_problem_macs(&p, 17) > macs * 0.999999);
        assert_true(uc_problem_macs(&p, 17) < macs * 1.000001);
    }
}

/**
 * Packed layouts: stepping through every element in order of memory visits
 * the addresses 0, 1, 2... Stated for the innermost dimension outwards.
 */
static void packed_strides_leave_no_gaps(void **state)
{
    static const int nchw[] = { 0, 1, 2, 3 }, nhwc[] = { 0, 2, 3, 1 };
    struct uc_problem p = test_problem();

    (void)state;
    for (int named = 0; named < 2; named++) {
        const int *order = named ? nhwc : nchw;

        p.x.kind = p.w.kind = p.y.kind = named ? UC_NHWC : UC_NCHW;
        for (int t = UC_X; t <= UC_Y; t++) {
            int64_t extents[UC_MAX_DIMS], strides[UC_MAX_DIMS], next = 1;

            uc_problem_extents(&p, (enum uc_tensor)t, 3, extents);
            uc_problem_strides(&p, (enum uc_tensor)t, strides);
            for (int i = 3; i >= 0; i--) {
                assert_int_equal(strides[order[i]], next);
                next *= extents[order[i]];
            }
        }
    }
}

static void tensor_bytes_reach_behind_the_last_element(void **state)
{
    struct uc_problem p = test_problem();
    struct uc_error err;
    int64_t bytes;

    (void)state;
    assert_int_equal(uc_problem_tensor_bytes(&p, UC_X, 256, &bytes, &err),
                     UC_OK);
    assert_int_equal(bytes, 256 * 64 * 27 * 27 * 4);
    assert_int_equal(uc_problem_tensor_bytes(&p, UC_W, 256, &bytes, &err),
                     UC_OK);
    assert_int_equal(bytes, 192 * 64 * 5 * 5 * 4);
    p.y_type = UC_FP16;
    p.y = (struct uc_tensor_layout){ UC_STRIDED, { 200000, 1000, 30, 1 } };
    assert_int_equal(uc_problem_tensor_bytes(&p, UC_Y, 2, &bytes, &err), UC_OK);
    assert_int_equal(bytes, (200000 + 191 * 1000 + 26 * 30 + 26 + 1) * 2);
}

static void output_is_untouched_when_a_size_overflows(void **state)
{
    struct uc_problem p = test_problem();
    struct uc_error err;
    int64_t bytes = 42;

    (void)state;
    assert_int_equal(
        uc_problem_tensor_bytes(&p, UC_X, INT64_MAX / 64, &bytes, &err),
        UC_EINPUT);
    assert_int_equal(bytes, 42);
    /* The elements fit, the bytes do not. */
    assert_int_equal(uc_problem_tensor_bytes(
                         &p, UC_X, INT64_MAX / (64 * 27 * 27), &bytes, &err),
                     UC_EINPUT);
    assert_int_equal(bytes, 42);
}

static void equality_sees_every_field(void **state)
{
    const struct uc_problem p = test_problem();

    (void)state;
    assert_true(uc_problem_equal(&p, &p));
#define DIFFERS(change)                         \
    do {                                        \
        struct uc_problem q = test_problem();   \
        change;                                 \
        assert_false(uc_problem_equal(&p, &q)); \
    } while (0)
    DIFFERS(q.operation = UC_BACKWARD_DATA);
    DIFFERS(q.spatial = 3);
    DIFFERS(q.x_type = UC_FP16);
    DIFFERS(q.w_type = UC_FP16);
    DIFFERS(q.y_type = UC_FP16);
    DIFFERS(q.compute_type = UC_FP64);
    DIFFERS(q.math = UC_MATH_FMA);
    DIFFERS(q.mode = UC_CONVOLUTION);
    DIFFERS(q.groups = 2);
    DIFFERS(q.c = 63);
    DIFFERS(q.k = 191);
    DIFFERS(q.in[1] = 28);
    DIFFERS(q.filter[0] = 3);
    DIFFERS(q.pad[1] = 1);
    DIFFERS(q.stride[0] = 2);
    DIFFERS(q.dilation[1] = 2);
    DIFFERS(q.x.kind = UC_NHWC);
    DIFFERS(q.w.kind = UC_NHWC);
    DIFFERS(q.y.kind = UC_NHWC);
    DIFFERS(q.x.strides[3] = 1);
    DIFFERS(q.y.strides[0] = 1);
}

static void types_and_math_go_together(void **state)
{
    (void)state;
    assert_int_equal(uc_dtype_bytes(UC_FP32), 4);
    assert_int_equal(uc_dtype_bytes(UC_FP16), 2);
    assert_int_equal(uc_dtype_bytes(UC_BF16), 2);
    assert_int_equal(uc_dtype_bytes(UC_FP64), 8);
    for (int m = 0; m < UC_MATHS; m++) {
        struct uc_problem p = test_problem();
        struct uc_error err;

        p.math = (enum uc_math)m;
        p.x_type = p.w_type = p.y_type = uc_math_dtype(p.math);
        assert_int_equal(uc_problem_check(&p, &err), UC_OK);
    }
    for (int t = 0; t < UC_DTYPES; t++) {
        struct uc_problem p = test_problem();
        struct uc_error err;

        p.x_type = p.w_type = p.y_type = (enum uc_dtype)t;
        p.math = uc_dtype_math((enum uc_dtype)t);
        assert_int_equal(uc_problem_check(&p, &err), UC_OK);
    }
    assert_int_equal(uc_operation_output(UC_FORWARD), UC_Y);
    assert_int_equal(uc_operation_output(UC_BACKWARD_DATA), UC_X);
    assert_int_equal(uc_operation_output(UC_BACKWARD_FILTER), UC_W);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_well_formed_problems_pass),
        cmocka_unit_test(fields_out_of_range_are_named),
        cmocka_unit_test(channels_must_divide_by_groups),
        cmocka_unit_test(outputs_below_one_are_refused),
        cmocka_unit_test(math_must_fit_the_types),
        cmocka_unit_test(layouts_must_be_whole),
        cmocka_unit_test(strides_that_overlap_are_refused),
        cmocka_unit_test(strides_that_keep_elements_apart_pass),
        cmocka_unit_test(an_image_over_31_bits_is_refused),
        cmocka_unit_test(a_good_problem_passes_at_the_limits),
        cmocka_unit_test(output_extents_count_filter_positions),
        cmocka_unit_test(packed_strides_leave_no_gaps),
        cmocka_unit_test(tensor_bytes_reach_behind_the_last_element),
        cmocka_unit_test(output_is_untouched_when_a_size_overflows),
        cmocka_unit_test(equality_sees_every_field),
        cmocka_unit_test(types_and_math_go_together),
    };

    return cmocka_run_group_tests_name("problem", tests, NULL, NULL);
}
