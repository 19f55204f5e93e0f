#include "config.h"

#include "common/kernel.h"
#include "tests/problem_support.h"
#include "tests/unit.h"

/* Enumerators of cuDNN 9's cudnnConvolution{Fwd,BwdData,BwdFilter}Algo_t. */
static const struct {
    enum uc_operation operation;
    int algorithm;
    const char *text;
} kernels[] = {
    { UC_FORWARD, 0, "implicit-gemm/fma" },
    { UC_FORWARD, 1, "implicit-precomp-gemm/fma" },
    { UC_FORWARD, 2, "gemm/fma" },
    { UC_FORWARD, 3, "direct/fma" },
    { UC_FORWARD, 4, "fft/fma" },
    { UC_FORWARD, 5, "fft-tiling/fma" },
    { UC_FORWARD, 6, "winograd/fma" },
    { UC_FORWARD, 7, "winograd-nonfused/fma" },
    { UC_BACKWARD_DATA, 0, "algo0/fma" },
    { UC_BACKWARD_DATA, 1, "algo1/fma" },
    { UC_BACKWARD_DATA, 2, "fft/fma" },
    { UC_BACKWARD_DATA, 3, "fft-tiling/fma" },
    { UC_BACKWARD_DATA, 4, "winograd/fma" },
    { UC_BACKWARD_DATA, 5, "winograd-nonfused/fma" },
    { UC_BACKWARD_FILTER, 0, "algo0/fma" },
    { UC_BACKWARD_FILTER, 1, "algo1/fma" },
    { UC_BACKWARD_FILTER, 2, "fft/fma" },
    { UC_BACKWARD_FILTER, 3, "algo3/fma" },
    { UC_BACKWARD_FILTER, 4, "winograd/fma" },
    { UC_BACKWARD_FILTER, 5, "winograd-nonfused/fma" },
    { UC_BACKWARD_FILTER, 6, "fft-tiling/fma" },
};

static void algorithms_have_cudnns_numbers(void **state)
{
    int counts[UC_OPERATIONS] = { 0 };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(kernels); i++) {
        struct uc_kernel kernel = { UC_API_LEGACY, kernels[i].algorithm,
                                    UC_MATH_FMA };
        struct uc_kernel back;
        struct uc_error err;
        char text[UC_KERNEL_TEXT];

        uc_kernel_print(&kernel, kernels[i].operation, text);
        assert_string_equal(text, kernels[i].text);
        assert_int_equal(
            uc_kernel_parse(text, kernels[i].operation, &back, &err), UC_OK);
        assert_true(uc_kernel_equal(&kernel, &back));
        counts[kernels[i].operation]++;
    }
    for (int i = 0; i < UC_OPERATIONS; i++)
        assert_int_equal(uc_legacy_algorithm_count((enum uc_operation)i),
                         counts[i]);
}

static void math_is_part_of_the_text(void **state)
{
    const struct uc_kernel kernel = { UC_API_LEGACY, 1, UC_MATH_TF32 };
    struct uc_kernel back;
    struct uc_error err;
    char text[UC_KERNEL_TEXT];

    (void)state;
    uc_kernel_print(&kernel, UC_FORWARD, text);
    assert_string_equal(text, "implicit-precomp-gemm/tf32");
    assert_int_equal(uc_kernel_parse(text, UC_FORWARD, &back, &err), UC_OK);
    assert_int_equal(back.math, UC_MATH_TF32);
    assert_int_equal(
        uc_kernel_parse("algo1/bf16", UC_BACKWARD_DATA, &back, &err), UC_OK);
    assert_int_equal(back.math, UC_MATH_BF16);
    assert_int_equal(back.algorithm, 1);
}

static void malformed_texts_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",          "/",       "gemm",      "gemm/",
        "gemm/int8", "/fma",    "gemm/fma ", "gemm/fma/x",
        "algo0/fma", "gem/fma", "gemmm/fma", "Gemm/fma"
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
        struct uc_kernel kernel = { UC_API_LEGACY, 77, UC_MATH_BF16 };
        struct uc_error err;

        if (uc_kernel_parse(wrong[i], UC_FORWARD, &kernel, &err) != UC_EINPUT)
            fail_msg("\"%s\" was taken", wrong[i]);
        assert_int_equal(kernel.algorithm, 77);
    }
}

static void a_problem_has_every_algorithm_at_its_math(void **state)
{
    struct uc_problem p = test_problem();
    struct uc_kernel list[UC_LEGACY_KERNELS];

    (void)state;
    for (int i = 0; i < UC_OPERATIONS; i++) {
        size_t count;

        p.operation = (enum uc_operation)i;
        count = uc_legacy_kernels(&p, list);
        assert_int_equal(count, uc_legacy_algorithm_count(p.operation));
        for (size_t j = 0; j < count; j++) {
            assert_int_equal(list[j].api, UC_API_LEGACY);
            assert_int_equal(list[j].algorithm, j);
            assert_int_equal(list[j].math, p.math);
        }
    }
}

static void equality_sees_every_field(void **state)
{
    const struct uc_kernel a = { UC_API_LEGACY, 1, UC_MATH_FMA };
    const struct uc_kernel b = { UC_API_LEGACY, 2, UC_MATH_FMA };
    const struct uc_kernel c = { UC_API_LEGACY, 1, UC_MATH_TF32 };

    (void)state;
    assert_true(uc_kernel_equal(&a, &a));
    assert_false(uc_kernel_equal(&a, &b));
    assert_false(uc_kernel_equal(&a, &c));
}

/** cuDNN's documentation: these and no others are not deterministic. */
static void determinism_is_as_cudnn_documents(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(kernels); i++) {
        enum uc_operation operation = kernels[i].operation;
        int algorithm = kernels[i].algorithm;
        bool random = (operation == UC_BACKWARD_DATA && algorithm == 0) ||
                      (operation == UC_BACKWARD_FILTER &&
                       (algorithm == 0 || algorithm == 3));

        assert_int_equal(uc_legacy_notes(operation, algorithm) &
                             UC_NOTE_NONDETERMINISTIC,
                         random ? UC_NOTE_NONDETERMINISTIC : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algorithms_have_cudnns_numbers),
        cmocka_unit_test(math_is_part_of_the_text),
        cmocka_unit_test(malformed_texts_are_refused),
        cmocka_unit_test(a_problem_has_every_algorithm_at_its_math),
        cmocka_unit_test(equality_sees_every_field),
        cmocka_unit_test(determinism_is_as_cudnn_documents),
    };

    return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
