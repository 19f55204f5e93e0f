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
        struct uc_kernel kernel = { .algorithm = kernels[i].algorithm,
                                    .math = UC_MATH_FMA };
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
    const struct uc_kernel kernel = { .algorithm = 1, .math = UC_MATH_TF32 };
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
        struct uc_kernel kernel = { .algorithm = 77, .math = UC_MATH_BF16 };
        struct uc_error err;

        if (uc_kernel_parse(wrong[i], UC_FORWARD, &kernel, &err) != UC_EINPUT)
            fail_msg("\"%s\" was taken", wrong[i]);
        assert_int_equal(kernel.algorithm, 77);
    }
}

static const struct {
    struct uc_kernel kernel;
    const char *text;
} engines[] = {
    { { .api = UC_API_GRAPH }, "eng0" },
    { { .api = UC_API_GRAPH, .engine = 9999 }, "eng9999" },
    { { .api = UC_API_GRAPH,
        .engine = 67,
        .knob_count = 2,
        .knobs = { { 2, 4 }, { 27, 8 } } },
      "eng67 k2=4 k27=8" },
    { { .api = UC_API_GRAPH,
        .engine = 38,
        .knob_count = 3,
        .knobs = { { 0, 0 }, { 12, -1 }, { 99, 999999999 } } },
      "eng38 k0=0 k12=-1 k99=999999999" },
};

static void engines_have_their_knobs_in_the_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(engines); i++) {
        for (int o = 0; o < UC_OPERATIONS; o++) {
            enum uc_operation operation = (enum uc_operation)o;
            struct uc_kernel back;
            struct uc_error err;
            char text[UC_KERNEL_TEXT];

            assert_null(uc_kernel_fault(&engines[i].kernel, operation));
            uc_kernel_print(&engines[i].kernel, operation, text);
            assert_string_equal(text, engines[i].text);
            assert_int_equal(uc_kernel_parse(text, operation, &back, &err),
                             UC_OK);
            assert_true(uc_kernel_equal(&engines[i].kernel, &back));
        }
    }
}

static void the_longest_engine_fits(void **state)
{
    struct uc_kernel kernel = { .api = UC_API_GRAPH,
                                .engine = UC_ENGINES - 1,
                                .knob_count = UC_MAX_KNOBS };
    struct uc_kernel back;
    struct uc_error err;
    char text[UC_KERNEL_TEXT];

    (void)state;
    for (int i = 0; i < UC_MAX_KNOBS; i++)
        kernel.knobs[i] = (struct uc_knob){ UC_KNOB_TYPES - UC_MAX_KNOBS + i,
                                            1 - UC_KNOB_VALUES };
    uc_kernel_print(&kernel, UC_FORWARD, text);
    /* "eng9999" and 16 times " k84=-999999999" */
    assert_int_equal(strlen(text), 7 + 16 * 15);
    assert_int_equal(uc_kernel_parse(text, UC_FORWARD, &back, &err), UC_OK);
    assert_true(uc_kernel_equal(&kernel, &back));
    strcat(text, " k");
    assert_int_equal(uc_kernel_parse(text, UC_FORWARD, &back, &err), UC_EINPUT);
}

/** What no kernel is printed as is none, so that texts are compared. */
static void malformed_engines_are_refused(void **state)
{
    static const char seventeen[] =
        "eng67 k0=0 k1=0 k2=0 k3=0 k4=0 k5=0 k6=0 k7=0 k8=0 k9=0 k10=0 k11=0"
        " k12=0 k13=0 k14=0 k15=0 k16=0";
    static const char *const wrong[] = {
        "eng",
        "eng ",
        "eng-1",
        "eng+1",
        "eng01",
        "eng00",
        "eng10000",
        "eng4294967296",
        "eng18446744073709551616",
        "eng67/fma",
        "Eng67",
        " eng67",
        "eng 67",
        "eng67 ",
        "eng67  k2=4",
        "eng67\tk2=4",
        "eng67\nk2=4",
        "eng67,k2=4",
        "eng67k2=4",
        "eng67 2=4",
        "eng67 k=4",
        "eng67 k2",
        "eng67 k2=",
        "eng67 k2= 4",
        "eng67 k2 =4",
        "eng67 k2=04",
        "eng67 k2=-0",
        "eng67 k2=+4",
        "eng67 k2=--4",
        "eng67 k2=-",
        "eng67 k2=4x",
        "eng67 k2=4 ",
        "eng67 k02=4",
        "eng67 k-2=4",
        "eng67 k100=4",
        "eng67 k2=1000000000",
        "eng67 k2=-1000000000",
        "eng67 k2=99999999999999999999",
        "eng67 k2=4 k2=4",
        "eng67 k2=4 k2=5",
        "eng67 k27=8 k2=4",
        seventeen,
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
        struct uc_kernel kernel = { .algorithm = 77 };
        struct uc_error err;

        if (uc_kernel_parse(wrong[i], UC_FORWARD, &kernel, &err) != UC_EINPUT)
            fail_msg("\"%s\" was taken", wrong[i]);
        assert_int_equal(kernel.algorithm, 77);
    }
}

static void kernels_that_are_none_have_a_fault(void **state)
{
    static const struct uc_kernel wrong[] = {
        { .api = UC_APIS },
        { .algorithm = -1 },
        { .algorithm = 8 },
        { .math = UC_MATHS },
        { .engine = 1 },
        { .knob_count = 1 },
        { .api = UC_API_GRAPH, .engine = -1 },
        { .api = UC_API_GRAPH, .engine = UC_ENGINES },
        { .api = UC_API_GRAPH, .algorithm = 1 },
        { .api = UC_API_GRAPH, .math = UC_MATH_TF32 },
        { .api = UC_API_GRAPH, .knob_count = -1 },
        { .api = UC_API_GRAPH, .knob_count = UC_MAX_KNOBS + 1 },
        { .api = UC_API_GRAPH, .knob_count = 1, .knobs = { { -1, 0 } } },
        { .api = UC_API_GRAPH,
          .knob_count = 1,
          .knobs = { { UC_KNOB_TYPES, 0 } } },
        { .api = UC_API_GRAPH,
          .knob_count = 1,
          .knobs = { { 0, UC_KNOB_VALUES } } },
        { .api = UC_API_GRAPH,
          .knob_count = 1,
          .knobs = { { 0, -UC_KNOB_VALUES } } },
        { .api = UC_API_GRAPH,
          .knob_count = 2,
          .knobs = { { 3, 0 }, { 3, 1 } } },
        { .api = UC_API_GRAPH,
          .knob_count = 2,
          .knobs = { { 3, 0 }, { 2, 1 } } },
    };
    /* An algorithm of forward that backward-data has not. */
    const struct uc_kernel seven = { .algorithm = 7 };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(wrong); i++)
        if (uc_kernel_fault(&wrong[i], UC_FORWARD) == NULL)
            fail_msg("kernel %zu has no fault", i);
    assert_null(uc_kernel_fault(&seven, UC_FORWARD));
    assert_non_null(uc_kernel_fault(&seven, UC_BACKWARD_DATA));
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
    const struct uc_kernel a = { .algorithm = 1, .math = UC_MATH_FMA };
    const struct uc_kernel b = { .algorithm = 2, .math = UC_MATH_FMA };
    const struct uc_kernel c = { .algorithm = 1, .math = UC_MATH_TF32 };

    (void)state;
    assert_true(uc_kernel_equal(&a, &a));
    assert_false(uc_kernel_equal(&a, &b));
    assert_false(uc_kernel_equal(&a, &c));
}

/** Rising: legacy before graph, then by each number in turn. */
static void kernels_are_ordered_by_their_numbers(void **state)
{
    static const struct uc_kernel rising[] = {
        { .algorithm = 0, .math = UC_MATH_TF32 },
        { .algorithm = 1, .math = UC_MATH_FMA },
        { .algorithm = 1, .math = UC_MATH_TF32 },
        { .api = UC_API_GRAPH, .engine = 2 },
        { .api = UC_API_GRAPH,
          .engine = 2,
          .knob_count = 1,
          .knobs = { { 2, -4 } } },
        { .api = UC_API_GRAPH,
          .engine = 2,
          .knob_count = 1,
          .knobs = { { 2, 4 } } },
        { .api = UC_API_GRAPH,
          .engine = 2,
          .knob_count = 2,
          .knobs = { { 2, 4 }, { 3, 0 } } },
        { .api = UC_API_GRAPH,
          .engine = 2,
          .knob_count = 1,
          .knobs = { { 10, 0 } } },
        { .api = UC_API_GRAPH, .engine = 10 },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rising); i++) {
        for (size_t j = 0; j < UNIT_COUNT(rising); j++) {
            int order = uc_kernel_compare(&rising[i], &rising[j]);

            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            assert_int_equal(uc_kernel_equal(&rising[i], &rising[j]), i == j);
        }
    }
}

/** cuDNN's documentation: these and no others are not deterministic. */
static void determinism_is_as_cudnn_documents(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(kernels); i++) {
        enum uc_operation operation = kernels[i].operation;
        int algorithm = kernels[i].algorithm;
        struct uc_kernel kernel = { .algorithm = algorithm };
        bool random = (operation == UC_BACKWARD_DATA && algorithm == 0) ||
                      (operation == UC_BACKWARD_FILTER &&
                       (algorithm == 0 || algorithm == 3));

        assert_int_equal(uc_legacy_notes(&kernel, operation) &
                             UC_NOTE_NONDETERMINISTIC,
                         random ? UC_NOTE_NONDETERMINISTIC : 0);
    }
}

/** By the names of cuDNN's algorithms. */
static void legacy_notes_tell_transforms_and_tensor_cores(void **state)
{
    const struct uc_kernel engine = { .api = UC_API_GRAPH };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(kernels); i++) {
        struct uc_kernel kernel = { .algorithm = kernels[i].algorithm };
        unsigned notes = uc_legacy_notes(&kernel, kernels[i].operation);

        assert_int_equal((notes & UC_NOTE_FFT) != 0,
                         strstr(kernels[i].text, "fft") != NULL);
        assert_int_equal((notes & UC_NOTE_WINOGRAD) != 0,
                         strstr(kernels[i].text, "winograd") != NULL);
        assert_int_equal(notes & UC_NOTE_TENSOR_CORE, 0);
        kernel.math = UC_MATH_FP16;
        assert_int_equal(uc_legacy_notes(&kernel, kernels[i].operation),
                         notes | UC_NOTE_TENSOR_CORE);
    }
    assert_int_equal(uc_legacy_notes(&engine, UC_BACKWARD_DATA), 0);
}

static void notes_and_apis_have_names(void **state)
{
    static const struct {
        unsigned note;
        const char *name;
    } names[] = {
        { UC_NOTE_NONDETERMINISTIC, "nondeterministic" },
        { UC_NOTE_TENSOR_CORE, "tensor-core" },
        { UC_NOTE_DOWN_CONVERT, "down-convert" },
        { UC_NOTE_REDUCED_PRECISION, "reduced-precision" },
        { UC_NOTE_FFT, "fft" },
        { UC_NOTE_WINOGRAD, "winograd" },
        { UC_NOTE_RUNTIME_COMPILED, "runtime-compiled" },
    };

    (void)state;
    assert_int_equal(UNIT_COUNT(names), UC_NOTES);
    for (int i = 0; i < UC_NOTES; i++) {
        assert_int_equal(names[i].note, 1u << i);
        assert_string_equal(uc_note_name(i), names[i].name);
    }
    assert_string_equal(uc_api_name(UC_API_LEGACY), "legacy");
    assert_string_equal(uc_api_name(UC_API_GRAPH), "graph");
}

/** Tensor cores round fp32 inputs to TF32, and nothing else of that kind. */
static void only_fp32_under_fma_takes_no_tensor_cores(void **state)
{
    static const struct {
        const char *problem;
        bool keeps;
    } cases[] = {
        { "forward:fp32:fma:nchw:c8:k8:i9x9:f3x3", false },
        { "forward:fp16/fp16/fp32:fma:nchw:c8:k8:i9x9:f3x3", false },
        { "forward:fp32:tf32:nchw:c8:k8:i9x9:f3x3", true },
        { "forward:fp16:fma:nchw:c8:k8:i9x9:f3x3", true },
        { "forward:fp16:fp16:nchw:c8:k8:i9x9:f3x3", true },
        { "forward:fp64:fma:nchw:c8:k8:i9x9:f3x3", true },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        struct uc_problem problem;
        struct uc_error err;

        if (uc_problem_parse(cases[i].problem, &problem, &err) != UC_OK)
            fail_msg("%s", err.text);
        assert_true(uc_notes_keep_math(
            ~(unsigned)UC_NOTE_TENSOR_CORE & ((1u << UC_NOTES) - 1), &problem));
        assert_int_equal(uc_notes_keep_math(UC_NOTE_TENSOR_CORE, &problem),
                         cases[i].keeps);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algorithms_have_cudnns_numbers),
        cmocka_unit_test(math_is_part_of_the_text),
        cmocka_unit_test(malformed_texts_are_refused),
        cmocka_unit_test(engines_have_their_knobs_in_the_text),
        cmocka_unit_test(the_longest_engine_fits),
        cmocka_unit_test(malformed_engines_are_refused),
        cmocka_unit_test(kernels_that_are_none_have_a_fault),
        cmocka_unit_test(a_problem_has_every_algorithm_at_its_math),
        cmocka_unit_test(equality_sees_every_field),
        cmocka_unit_test(kernels_are_ordered_by_their_numbers),
        cmocka_unit_test(determinism_is_as_cudnn_documents),
        cmocka_unit_test(legacy_notes_tell_transforms_and_tensor_cores),
        cmocka_unit_test(notes_and_apis_have_names),
        cmocka_unit_test(only_fp32_under_fma_takes_no_tensor_cores),
    };

    return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
