/* What error a kernel may have, by what it claims. */
#include "config.h"

#include "tests/unit.h"

#include "planner/tolerance.h"

static struct uc_problem problem(enum uc_dtype type, enum uc_math math)
{
    return (struct uc_problem){
        .x_type = type, .w_type = type, .y_type = type, .math = math
    };
}

static void check(enum uc_dtype type, enum uc_math math, unsigned notes,
                  double right, double wrong)
{
    struct uc_problem p = problem(type, math);
    double bound = uc_tolerance(&p, notes);

    if (!(right <= bound && wrong > bound))
        fail_msg("%s %s notes %u: %g", uc_dtype_name(type), uc_math_name(math),
                 notes, bound);
}

/* `right`: the largest error seen of a right kernel of the class on an H200;
   `wrong`: the smallest of the next weaker class. */
static void classes_are_told_apart(void **state)
{
    (void)state;
    check(UC_FP32, UC_MATH_FMA, 0, 4e-5, 5e-4);
    check(UC_FP32, UC_MATH_FMA, UC_NOTE_FFT | UC_NOTE_NONDETERMINISTIC, 4e-5,
          5e-4);
    check(UC_FP32, UC_MATH_FMA, UC_NOTE_WINOGRAD, 5e-3, 5e-2);
    check(UC_FP32, UC_MATH_TF32, 0, 4e-5, 5e-4);
    check(UC_FP32, UC_MATH_TF32, UC_NOTE_TENSOR_CORE, 2e-3, 5e-2);
    check(UC_FP32, UC_MATH_TF32, UC_NOTE_TENSOR_CORE | UC_NOTE_DOWN_CONVERT,
          1e-2, 1e-1);
    check(UC_FP16, UC_MATH_FP16, UC_NOTE_TENSOR_CORE, 1e-2, 1e-1);
    check(UC_FP16, UC_MATH_FP16, 0, 1e-2, 1e-1);
    check(UC_BF16, UC_MATH_BF16, UC_NOTE_TENSOR_CORE, 5e-2, 5e-1);
    check(UC_FP64, UC_MATH_FMA, UC_NOTE_TENSOR_CORE, 1e-12, 1e-7);
}

/** The coarsest type of the three decides: a result is rounded to y's. */
static void mixed_types_take_the_coarsest(void **state)
{
    struct uc_problem p = problem(UC_FP32, UC_MATH_FMA);

    (void)state;
    p.y_type = UC_BF16;
    assert_true(uc_tolerance(&p, 0) >= 5e-2);
    p.y_type = UC_FP32;
    p.w_type = UC_FP16;
    assert_true(uc_tolerance(&p, 0) >= 1e-2);
    assert_true(uc_tolerance(&p, 0) < 1e-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_told_apart),
        cmocka_unit_test(mixed_types_take_the_coarsest),
    };

    return cmocka_run_group_tests_name("tolerance", tests, NULL, NULL);
}
