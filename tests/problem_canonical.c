/* One form for all descriptions of the same convolution. */
#include "config.h"

#include "tests/unit.h"

#include "common/problem.h"

/** The canonical form of each text, printed. */
static void expect(const char *text, const char *canonical)
{
    struct uc_problem problem, again;
    struct uc_error err;
    char printed[UC_PROBLEM_TEXT];

    if (uc_problem_parse(text, &problem, &err) != UC_OK)
        fail_msg("%s", err.text);
    uc_problem_canonical(&problem);
    uc_problem_print(&problem, printed);
    assert_string_equal(printed, canonical);
    again = problem;
    uc_problem_canonical(&again);
    assert_memory_equal(&again, &problem, sizeof problem);
}

static void one_dimension_is_two_with_a_height_of_one(void **state)
{
    (void)state;
    expect("forward:fp32:fma:nchw:c8:k8:i64:f5:p2:s2:d3",
           "forward:fp32:fma:nchw:c8:k8:i1x64:f1x5:p0x2:s1x2:d1x3");
    expect("forward:fp32:fma:nhwc:c8:k8:i64:f5",
           "forward:fp32:fma:nhwc:c8:k8:i1x64:f1x5");
}

static void packed_strides_have_a_name(void **state)
{
    (void)state;
    expect("forward:fp32:fma:x=512,64,8,1+w=nchw+y=nchw:c8:k8:i8x8:f3x3:p1x1",
           "forward:fp32:fma:nchw:c8:k8:i8x8:f3x3:p1x1");
    expect("forward:fp32:fma:x=512,1,64,8+w=nhwc+y=nhwc:c8:k8:i8x8:f3x3:p1x1",
           "forward:fp32:fma:nhwc:c8:k8:i8x8:f3x3:p1x1");
}

static void gaps_stay_strides(void **state)
{
    static const char text[] = "forward:fp32:fma:x=640,80,10,1+w=nchw+y=nchw:"
                               "c8:k8:i8x8:f3x3:p1x1";

    (void)state;
    expect(text, text);
}

static void what_both_names_fit_is_called_as_the_others(void **state)
{
    (void)state;
    /* 1x1 filters lie alike in both; kernels want all tensors alike. */
    expect("forward:fp16:fp16:x=nhwc+w=nchw+y=nhwc:c8:k8:i8x8:f1x1",
           "forward:fp16:fp16:nhwc:c8:k8:i8x8:f1x1");
    expect("forward:fp16:fp16:x=nchw+w=nhwc+y=nchw:c8:k8:i8x8:f1x1",
           "forward:fp16:fp16:nchw:c8:k8:i8x8:f1x1");
    /* One channel: x lies alike, w and y tell. */
    expect("forward:fp16:fp16:x=nchw+w=nhwc+y=nhwc:c1:k8:i8x8:f3x3:p1x1",
           "forward:fp16:fp16:nhwc:c1:k8:i8x8:f3x3:p1x1");
    /* Nothing tells. */
    expect("forward:fp16:fp16:nhwc:c8:k8:i1x1:f1x1",
           "forward:fp16:fp16:nchw:c8:k8:i1x1:f1x1");
}

static void different_memory_stays_different(void **state)
{
    (void)state;
    expect("forward:fp16:fp16:x=nhwc+w=nchw+y=nhwc:c8:k8:i8x8:f3x3:p1x1",
           "forward:fp16:fp16:x=nhwc+w=nchw+y=nhwc:c8:k8:i8x8:f3x3:p1x1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dimension_is_two_with_a_height_of_one),
        cmocka_unit_test(packed_strides_have_a_name),
        cmocka_unit_test(gaps_stay_strides),
        cmocka_unit_test(what_both_names_fit_is_called_as_the_others),
        cmocka_unit_test(different_memory_stays_different),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
