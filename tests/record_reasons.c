/* Calls that a description cannot say are counted by their reasons. */
#include "config.h"

#include "tests/unit.h"

#include "runtime/record.h"

#include <stdlib.h>
#include <unistd.h>

/* A cuDNN that has one convolution, which can be spoilt. */

enum spoilt {
    DESCRIPTOR,
    DATA_TYPE,
    COMPUTE_TYPE,
    DIMENSIONS,
    CHANNELS,
    OUTPUT,
    FORMAT,
    MIXED,
    SIZE,
    REASONS
};

static enum spoilt spoilt;
static const int x_extents[] = { 2, 3, 8, 8 }, y_extents[] = { 2, 4, 6, 6 };
static const int w_extents[] = { 4, 3, 3, 3 };
static char x_tensor, y_tensor, w_filter, a_convolution;

static void strides_of(const int *extents, int *strides)
{
    strides[3] = 1;
    for (int i = 2; i >= 0; i--)
        strides[i] = strides[i + 1] * extents[i + 1];
}

static cudnnStatus_t get_tensor(const cudnnTensorDescriptor_t descriptor,
                                int most, cudnnDataType_t *type, int *dims,
                                int extents[], int strides[])
{
    const bool is_x = (const char *)descriptor == &x_tensor;

    assert_true(most >= 4);
    if (spoilt == DESCRIPTOR)
        return CUDNN_STATUS_BAD_PARAM;
    *type = spoilt == DATA_TYPE ? CUDNN_DATA_INT8 : CUDNN_DATA_FLOAT;
    *dims = spoilt == DIMENSIONS ? 2 : 4;
    memcpy(extents, is_x ? x_extents : y_extents, sizeof x_extents);
    strides_of(extents, strides);
    if (spoilt == OUTPUT && !is_x)
        extents[3]++;
    if (spoilt == SIZE)
        extents[0] = strides[0] = 0x7fffffff;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get_filter(const cudnnFilterDescriptor_t descriptor,
                                int most, cudnnDataType_t *type,
                                cudnnTensorFormat_t *format, int *dims,
                                int extents[])
{
    (void)descriptor;
    assert_true(most >= 4);
    *type = spoilt == MIXED ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
    *format = spoilt == FORMAT ? CUDNN_TENSOR_NCHW_VECT_C : CUDNN_TENSOR_NCHW;
    *dims = 4;
    memcpy(extents, w_extents, sizeof w_extents);
    if (spoilt == CHANNELS)
        extents[1]++;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get_convolution(
    const cudnnConvolutionDescriptor_t descriptor, int most, int *length,
    int pad[], int stride[], int dilation[], cudnnConvolutionMode_t *mode,
    cudnnDataType_t *compute)
{
    (void)descriptor;
    (void)most;
    *length = 2;
    for (int i = 0; i < 2; i++) {
        pad[i] = 0;
        stride[i] = dilation[i] = 1;
    }
    *mode = CUDNN_CROSS_CORRELATION;
    *compute = spoilt == COMPUTE_TYPE ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get_groups(cudnnConvolutionDescriptor_t descriptor,
                                int *groups)
{
    (void)descriptor;
    *groups = 1;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get_math(cudnnConvolutionDescriptor_t descriptor,
                              cudnnMathType_t *math)
{
    (void)descriptor;
    *math = CUDNN_FMA_MATH;
    return CUDNN_STATUS_SUCCESS;
}

static const struct uc_cudnn cudnn = {
    .GetTensorNdDescriptor = get_tensor,
    .GetFilterNdDescriptor = get_filter,
    .GetConvolutionNdDescriptor = get_convolution,
    .GetConvolutionGroupCount = get_groups,
    .GetConvolutionMathType = get_math,
};

/** What is said on stderr at the end; it fits a pipe. */
static void finish_into(char *text, size_t size)
{
    int kept = dup(STDERR_FILENO), ends[2];
    ssize_t length;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    uc_record_finish(0);
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    length = 0;
    for (ssize_t got = 1; got > 0; length += got) {
        got = read(ends[0], text + length, size - 1 - (size_t)length);
        assert_true(got >= 0);
    }
    text[length] = '\0';
    close(ends[0]);
    close(kept);
}

/** So many calls of each, and of all that are behind the seventh. */
static void reasons_without_room_are_told_together(void **state)
{
    static const char *const words[] = {
        "1 calls are left out, which a description cannot say: descriptor",
        "2 calls are left out, which a description cannot say: data type",
        "3 calls are left out, which a description cannot say: compute type",
        "4 calls are left out, which a description cannot say: number of",
        "5 calls are left out, which a description cannot say: filter channels",
        "6 calls are left out, which a description cannot say: output extents",
        "7 calls are left out, which a description cannot say: filter format",
        "17 calls are left out, which a description cannot say: other reasons",
    };
    const struct uc_descriptors descriptors = {
        (cudnnTensorDescriptor_t)&x_tensor, (cudnnTensorDescriptor_t)&y_tensor,
        (cudnnFilterDescriptor_t)&w_filter,
        (cudnnConvolutionDescriptor_t)&a_convolution
    };
    char text[4096];
    int lines = 0;

    (void)state;
    assert_true(uc_record_open("never-made.json"));
    for (int i = 0; i < REASONS; i++)
        for (int call = 0; call <= i; call++) {
            spoilt = (enum spoilt)i;
            uc_record_call(&cudnn, UC_FORWARD, &descriptors);
        }
    finish_into(text, sizeof text);
    for (size_t i = 0; i < UNIT_COUNT(words); i++)
        if (strstr(text, words[i]) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", text, words[i]);
    for (const char *line = text; (line = strchr(line, '\n')) != NULL; line++)
        lines++;
    assert_int_equal(lines, 1 + 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_without_room_are_told_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
