/* Data types, rounding and the measuring kernels of the double. */
#include "config.h"

#include "tests/double_support.h"

#include <math.h>

static void numbers_round_as_ieee_says(void **state)
{
    static const struct {
        enum uc_number type;
        double value;
        unsigned bits;
    } known[] = {
        { UC_NUMBER_FP16, 1.0 / 3, 0x3555 },
        { UC_NUMBER_FP16, -2, 0xc000 },
        { UC_NUMBER_FP16, 65504, 0x7bff },
        { UC_NUMBER_FP16, 65519, 0x7bff },
        { UC_NUMBER_FP16, 65520, 0x7c00 },
        { UC_NUMBER_FP16, 1 + 1.0 / 2048, 0x3c00 }, /* a tie, to even */
        { UC_NUMBER_FP16, 1 + 3.0 / 2048, 0x3c02 },
        { UC_NUMBER_FP16, 0x1p-14, 0x0400 },
        { UC_NUMBER_FP16, 0x1p-24, 0x0001 },
        { UC_NUMBER_FP16, 0x1p-25, 0x0000 },
        { UC_NUMBER_FP16, 0x1.8p-25, 0x0001 },
        { UC_NUMBER_FP16, 0x1.ffcp-15, 0x0400 },
        { UC_NUMBER_BF16, 1.0 / 3, 0x3eab },
        { UC_NUMBER_BF16, 1 + 1.0 / 256, 0x3f80 },
        { UC_NUMBER_BF16, 1 + 3.0 / 256, 0x3f82 },
        { UC_NUMBER_BF16, -256, 0xc380 },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(known); i++) {
        uint16_t bits = 0;

        uc_number_store(&bits, known[i].type, 0, known[i].value);
        assert_int_equal(bits, known[i].bits);
    }
    for (unsigned all = 0; all < 0x10000; all++) {
        uint16_t bits = (uint16_t)all;
        uint16_t again;
        double value = uc_number_load(&bits, UC_NUMBER_FP16, 0);

        uc_number_store(&again, UC_NUMBER_FP16, 0, value);
        if (!isnan(value)) {
            assert_int_equal(again, bits);
        }
    }
    assert_true(isnan(uc_number_round(NAN, UC_NUMBER_FP16)));
    assert_true(isnan(uc_number_round(NAN, UC_NUMBER_BF16)));
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

static void tf32_rounds_inputs_unless_told_not_to(void **state)
{
    /* 1 + 2^-12 has no place in 10 fraction bits */
    static const double x[] = { 1 + 1.0 / 4096, 0, 0, 0 };
    static const double w[] = { 1, 0, 0 };
    struct uc_case c;

    (void)state;
    double_open();
    uc_case_open(&c, &line, UC_NUMBER_FP32, NCHW);
    set(&c, X, x);
    set(&c, W, w);
    assert_int_equal(uc_case_run_sized(&c, UC_DOUBLE_FORWARD, 1, 1, 0), 0);
    expect(&c, Y, (const double[]){ 1 + 1.0 / 4096, 0 });
    assert_int_equal(
        cudnnSetConvolutionMathType(c.convolution, CUDNN_DEFAULT_MATH), 0);
    assert_int_equal(uc_case_run_sized(&c, UC_DOUBLE_FORWARD, 1, 1, 0), 0);
    expect(&c, Y, (const double[]){ 1, 0 });
    assert_int_equal(uc_case_run_sized(&c, UC_DOUBLE_FORWARD, 0, 1, 0), 0);
    expect(&c, Y, (const double[]){ 1 + 1.0 / 4096, 0 });
    uc_case_free(&c);
    double_close();
}

/** uc_fill's value, from its definition. */
static double random_value(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return ldexp((double)(z >> 40), -23) - 1;
}

static void kernels_fill_and_compare(void **state)
{
    static const char ptx[] = ".version 7.0\n.target sm_70\n"
                              ".visible .entry uc_fill(\n)\n"
                              ".visible .entry uc_compare(\n)\n";
    enum { COUNT = 50 };
    uint64_t count = COUNT;
    uint64_t seed = 42;
    int fp32 = 0;
    int fp16 = 1;
    float values[COUNT];
    double sums[2] = { 1, 0 };
    CUdeviceptr a;
    CUdeviceptr b;
    CUdeviceptr result;
    CUmodule module;
    CUfunction fill;
    CUfunction compare;
    void *fill_a[] = { &a, &count, &fp32, &fp16, &seed };
    void *comparison[] = {
        &a, &fp32, &b, &fp32, &count, &seed, &fp16, &result
    };
    double expected = 0;

    (void)state;
    double_open();
    assert_int_equal(cuModuleLoadData(&module, "\177ELF"),
                     CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(cuModuleLoadData(&module, ptx), 0);
    assert_int_equal(cuModuleGetFunction(&fill, module, "uc_fil"),
                     CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cuModuleGetFunction(&fill, module, "uc_fill"), 0);
    assert_int_equal(cuModuleGetFunction(&compare, module, "uc_compare"), 0);
    assert_int_equal(cuMemAlloc(&a, sizeof values), 0);
    assert_int_equal(cuMemAlloc(&b, sizeof values), 0);
    assert_int_equal(cuMemAlloc(&result, sizeof sums), 0);
    assert_int_equal(
        cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, fill_a, NULL), 0);
    assert_int_equal(cuMemcpyDtoH(values, a, sizeof values), 0);
    for (int i = 0; i < COUNT; i++) {
        double value =
            uc_number_round(random_value(42, (uint64_t)i), UC_NUMBER_FP16);

        assert_true(values[i] == (float)value);
        expected += value * value;
    }
    /* a is b + prior but for one element, which is off by 3 */
    values[7] += 3;
    assert_int_equal(cuMemcpyHtoD(a, values, sizeof values), 0);
    assert_int_equal(cuMemsetD8(b, 0, sizeof values), 0);
    assert_int_equal(cuMemcpyHtoD(result, sums, sizeof sums), 0);
    assert_int_equal(
        cuLaunchKernel(compare, 1, 1, 1, 32, 1, 1, 0, NULL, comparison, NULL),
        0);
    assert_int_equal(cuMemcpyDtoH(sums, result, sizeof sums), 0);
    assert_true(fabs(sums[0] - (1 + 9)) < 1e-4);
    assert_true(fabs(sums[1] - expected) < 1e-9);
    assert_int_equal(cuModuleUnload(module), 0);
    double_expect_misuses(1);
    /* beyond the memory: as on a GPU, the device is lost */
    count = COUNT + 1;
    assert_int_equal(
        cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, fill_a, NULL), 0);
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    double_close();
}

#define TEST(function) cmocka_unit_test_setup(function, double_fresh)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_round_as_ieee_says),
        TEST(tf32_rounds_inputs_unless_told_not_to),
        TEST(kernels_fill_and_compare),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
