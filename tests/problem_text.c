#include "config.h"

#include "common/problem.h"
#include "tests/problem_support.h"
#include "tests/unit.h"

/** Texts written by hand from the form that problem.h documents. */
static void texts_are_as_documented(void **state)
{
    struct uc_problem p = test_problem();
    char text[UC_PROBLEM_TEXT];

    (void)state;
    uc_problem_print(&p, text);
    assert_string_equal(text,
                        "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2");

    p.operation = UC_BACKWARD_FILTER;
    p.x_type = p.w_type = UC_FP16;
    p.math = UC_MATH_FP16;
    p.x.kind = p.w.kind = p.y.kind = UC_NHWC;
    p.pad[0] = p.pad[1] = 0;
    p.stride[0] = 2;
    p.dilation[1] = 3;
    p.groups = 4;
    p.mode = UC_CONVOLUTION;
    p.compute_type = UC_FP64;
    uc_problem_print(&p, text);
    assert_string_equal(text, "backward-filter:fp16/fp16/fp32:fp16:nhwc:c64:"
                              "k192:i27x27:f5x5:s2x1:d1x3:g4:acc=fp64:conv");

    p = (struct uc_problem){
        .operation = UC_BACKWARD_DATA,
        .spatial = 1,
        .x_type = UC_FP64,
        .w_type = UC_FP64,
        .y_type = UC_FP64,
        .compute_type = UC_FP64,
        .groups = 1,
        .c = 3,
        .k = 5,
        .in = { 10 },
        .filter = { 3 },
        .stride = { 1 },
        .dilation = { 1 },
        .x = { UC_STRIDED, { 60, 20, 2 } },
        .y = { UC_NHWC, { 0 } },
    };
    uc_problem_print(&p, text);
    assert_string_equal(text, "backward-data:fp64:fma:x=60,20,2+w=nchw+y=nhwc:"
                              "c3:k5:i10:f3");
}

static void a_text_gives_its_fields(void **state)
{
    struct uc_problem expected = test_problem(), p;
    struct uc_error err;

    (void)state;
    assert_int_equal(
        uc_problem_parse("forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2", &p,
                         &err),
        UC_OK);
    assert_memory_equal(&p, &expected, sizeof p);
    assert_int_equal(
        uc_problem_parse("backward-filter:bf16:bf16:nhwc:c8:k16:i4x5x6:"
                         "f1x2x3:p0x1x1:s1x2x3:d1x1x2:g2:conv",
                         &p, &err),
        UC_OK);
    assert_int_equal(p.operation, UC_BACKWARD_FILTER);
    assert_int_equal(p.spatial, 3);
    assert_int_equal(p.y_type, UC_BF16);
    assert_int_equal(p.compute_type, UC_FP32);
    assert_int_equal(p.math, UC_MATH_BF16);
    assert_int_equal(p.mode, UC_CONVOLUTION);
    assert_int_equal(p.groups, 2);
    assert_int_equal(p.in[0] * 100 + p.in[1] * 10 + p.in[2], 456);
    assert_int_equal(p.filter[0] * 100 + p.filter[1] * 10 + p.filter[2], 123);
    assert_int_equal(p.pad[0] * 100 + p.pad[1] * 10 + p.pad[2], 11);
    assert_int_equal(p.stride[0] * 100 + p.stride[1] * 10 + p.stride[2], 123);
    assert_int_equal(p.dilation[0], 1);
    assert_int_equal(p.dilation[2], 2);
    assert_int_equal(p.w.kind, UC_NHWC);
}

/** Printing and parsing are inverse, whatever the problem. */
static void random_problems_survive_the_round_trip(void **state)
{
    struct test_random random = { 20171005 };

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct uc_problem p = test_random_problem(&random), back;
        struct uc_error err;
        char text[UC_PROBLEM_TEXT];

        uc_problem_print(&p, text);
        assert_true(strlen(text) < UC_PROBLEM_TEXT - 1);
        assert_null(strpbrk(text, " \t\n"));
        memset(&back, 0xff, sizeof back);
        if (uc_problem_parse(text, &back, &err) != UC_OK)
            fail_msg("%s: %s", text, err.text);
        if (memcmp(&p, &back, sizeof p) != 0)
            fail_msg("%s: parsed into another problem", text);
        assert_true(uc_problem_equal(&p, &back));
    }
}

/** Each changed text must be refused, or mean what it says. */
static void damaged_texts_never_pass_for_something_else(void **state)
{
    struct test_random random = { 4711 };
    static const char bytes[] = "0123456789:x,+=/acdfgikpswy-. n";

    (void)state;
    for (int i = 0; i < 50000; i++) {
        struct uc_problem p = test_random_problem(&random), back;
        const struct uc_problem untouched = test_problem();
        struct uc_error err;
        char text[UC_PROBLEM_TEXT], again[UC_PROBLEM_TEXT];
        size_t at;

        uc_problem_print(&p, text);
        at = (size_t)test_random_range(&random, 0, (int64_t)strlen(text) - 1);
        if (test_random_range(&random, 0, 4) == 0)
            text[at] = '\0';
        else
            text[at] = bytes[test_random_range(&random, 0, sizeof bytes - 2)];
        back = untouched;
        if (uc_problem_parse(text, &back, &err) == UC_OK) {
            uc_problem_print(&back, again);
            assert_string_equal(again, text);
        } else {
            assert_memory_equal(&back, &untouched, sizeof back);
            assert_int_equal(err.status, UC_EINPUT);
            assert_null(strchr(err.text, '\n'));
        }
    }
}

static const char *const wrong[] = {
    "",
    ":",
    "forward",
    "forward:fp32:tf32:nchw:c64:k192:i27x27",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:",
    ":forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5",
    "Forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5",
    "sideways:fp32:tf32:nchw:c64:k192:i27x27:f5x5",
    "forward:int8:tf32:nchw:c64:k192:i27x27:f5x5",
    "forward:fp32/fp32/fp32:tf32:nchw:c64:k192:i27x27:f5x5",
    "forward:fp32/fp32:tf32:nchw:c64:k192:i27x27:f5x5",
    "forward:fp32:tf33:nchw:c64:k192:i27x27:f5x5",
    "forward:fp32:fp16:nchw:c64:k192:i27x27:f5x5",
    "forward:fp32:tf32:strided:c64:k192:i27x27:f5x5",
    "forward:fp32:tf32:x=nchw+w=nchw+y=nchw:c64:k192:i27x27:f5x5",
    "forward:fp32:tf32:x=1,2,3+w=nchw+y=nchw:c64:k192:i27x27:f5x5",
    "forward:fp32:tf32:x=1,2,3,4+w=1,2,3,4+y=nchw:c64:k192:i27x27:f5x5",
    "forward:fp32:tf32:x=1,2,3,0+w=nchw+y=nchw:c64:k192:i27x27:f5x5",
    "forward:fp32:tf32:nchw:k192:c64:i27x27:f5x5",
    "forward:fp32:tf32:nchw:c064:k192:i27x27:f5x5",
    "forward:fp32:tf32:nchw:c+64:k192:i27x27:f5x5",
    "forward:fp32:tf32:nchw:c-64:k192:i27x27:f5x5",
    "forward:fp32:tf32:nchw:c0:k192:i27x27:f5x5",
    "forward:fp32:tf32:nchw:c99999999999999999999:k192:i27x27:f5x5",
    "forward:fp32:tf32:nchw:c4294967296:k192:i27x27:f5x5",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5",
    "forward:fp32:tf32:nchw:c64:k192:i27x27x27x27:f5x5x5x5",
    "forward:fp32:tf32:nchw:c64:k192:i27x:f5x5",
    "forward:fp32:tf32:nchw:c64:k192:i27xx27:f5x5",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p0x0",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:s1x1",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:s0x1",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:s2x2:p2x2",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2:p2x2",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:g1",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:g5",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:acc=fp32",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:acc=fp16",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:convolution",
    "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5 ",
    "forward:fp32:tf32:nchw:c64:k192:i3x3:f5x5",
};

static void malformed_texts_are_refused_by_name(void **state)
{
    const struct uc_problem untouched = test_problem();

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
        struct uc_problem p = untouched;
        struct uc_error err;
        char named[128];

        if (uc_problem_parse(wrong[i], &p, &err) != UC_EINPUT)
            fail_msg("\"%s\" was taken", wrong[i]);
        snprintf(named, sizeof named, "problem \"%.100s\"", wrong[i]);
        if (strncmp(err.text, named, strlen(named)) != 0)
            fail_msg("\"%s\" is not named: %s", wrong[i], err.text);
        assert_memory_equal(&p, &untouched, sizeof p);
    }
}

static void names_and_parsers_agree(void **state)
{
    enum uc_operation operation;
    enum uc_dtype dtype;
    enum uc_math math;
    enum uc_layout layout;

    (void)state;
    for (int i = 0; i < UC_OPERATIONS; i++) {
        assert_true(uc_operation_parse(uc_operation_name((enum uc_operation)i),
                                       &operation));
        assert_int_equal(operation, i);
    }
    for (int i = 0; i < UC_DTYPES; i++) {
        assert_true(uc_dtype_parse(uc_dtype_name((enum uc_dtype)i), &dtype));
        assert_int_equal(dtype, i);
    }
    for (int i = 0; i < UC_MATHS; i++) {
        assert_true(uc_math_parse(uc_math_name((enum uc_math)i), &math));
        assert_int_equal(math, i);
    }
    for (int i = 0; i < UC_LAYOUTS; i++) {
        assert_true(
            uc_layout_parse(uc_layout_name((enum uc_layout)i), &layout));
        assert_int_equal(layout, i);
    }
    assert_false(uc_operation_parse("", &operation));
    assert_false(uc_dtype_parse("fp3", &dtype));
    assert_false(uc_math_parse("FMA", &math));
    assert_false(uc_layout_parse("nchw ", &layout));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_as_documented),
        cmocka_unit_test(a_text_gives_its_fields),
        cmocka_unit_test(random_problems_survive_the_round_trip),
        cmocka_unit_test(damaged_texts_never_pass_for_something_else),
        cmocka_unit_test(malformed_texts_are_refused_by_name),
        cmocka_unit_test(names_and_parsers_agree),
    };

    return cmocka_run_group_tests_name("problem text", tests, NULL, NULL);
}
