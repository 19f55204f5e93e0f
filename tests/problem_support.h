/**
 * @file problem_support.h
 * Problems for tests: a plain one to change, and random well-formed ones.
 */
#ifndef UC_TESTS_PROBLEM_SUPPORT_H
#define UC_TESTS_PROBLEM_SUPPORT_H

#include "common/problem.h"
#include "tests/random.h"

#include <string.h>

/** AlexNet's second layer: forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2 */
static inline struct uc_problem test_problem(void)
{
    return (struct uc_problem){
        .operation = UC_FORWARD,
        .spatial = 2,
        .math = UC_MATH_TF32,
        .groups = 1,
        .c = 64,
        .k = 192,
        .in = { 27, 27 },
        .filter = { 5, 5 },
        .pad = { 2, 2 },
        .stride = { 1, 1 },
        .dilation = { 1, 1 },
    };
}

static inline void test_random_types(struct test_random *random,
                                     struct uc_problem *p)
{
    p->math = (enum uc_math)test_random_range(random, 0, UC_MATHS - 1);
    if (p->math == UC_MATH_FMA) {
        p->x_type = (enum uc_dtype)test_random_range(random, 0, UC_DTYPES - 1);
        p->w_type = (enum uc_dtype)test_random_range(random, 0, UC_DTYPES - 1);
    } else {
        p->x_type = p->w_type = uc_math_dtype(p->math);
    }
    p->y_type = (enum uc_dtype)test_random_range(random, 0, UC_DTYPES - 1);
    p->compute_type = test_random_range(random, 0, 1) ? UC_FP64 : UC_FP32;
}

static inline void test_random_layout(struct test_random *random,
                                      struct uc_tensor_layout *layout,
                                      int kinds)
{
    layout->kind = (enum uc_layout)test_random_range(random, 0, kinds - 1);
}

/** Dimensions in random order, each with a gap or none behind it. */
static inline void test_random_strides(struct test_random *random,
                                       struct uc_problem *p,
                                       enum uc_tensor tensor)
{
    struct uc_tensor_layout *layout = tensor == UC_X ? &p->x : &p->y;
    int64_t extents[UC_MAX_DIMS], stride = 1;
    int order[UC_MAX_DIMS], dims = p->spatial + 2;

    if (layout->kind != UC_STRIDED)
        return;
    uc_problem_extents(p, tensor, 1, extents);
    for (int i = 0; i < dims; i++) {
        int j = (int)test_random_range(random, 0, i);

        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < dims; i++) {
        stride += test_random_range(random, 0, 2);
        layout->strides[order[i]] = stride < INT32_MAX ? stride : INT32_MAX;
        stride *= extents[order[i]];
    }
    if (stride >= INT32_MAX)
        *layout = (struct uc_tensor_layout){ .kind = UC_NCHW };
}

/** A problem that follows every rule of uc_problem_check(). */
static inline struct uc_problem test_random_problem(struct test_random *random)
{
    struct uc_problem p;

    memset(&p, 0, sizeof p);
    p.operation =
        (enum uc_operation)test_random_range(random, 0, UC_OPERATIONS - 1);
    p.spatial = (int)test_random_range(random, 1, UC_MAX_SPATIAL);
    p.mode =
        test_random_range(random, 0, 4) ? UC_CROSS_CORRELATION : UC_CONVOLUTION;
    p.groups =
        test_random_range(random, 0, 2) ? 1 : test_random_range(random, 2, 9);
    p.c = p.groups * test_random_range(random, 1, 500);
    p.k = p.groups * test_random_range(random, 1, 500);
    for (int i = 0; i < p.spatial; i++) {
        p.filter[i] = test_random_range(random, 1, 7);
        p.pad[i] = test_random_range(random, 0, 2) ? 0 : 3;
        p.stride[i] = test_random_range(random, 0, 1) ? 1 : 2;
        p.dilation[i] = test_random_range(random, 0, 2) ? 1 : 3;
        p.in[i] = p.dilation[i] * (p.filter[i] - 1) + 1 +
                  test_random_range(random, 0, 60);
    }
    test_random_types(random, &p);
    test_random_layout(random, &p.x, UC_LAYOUTS);
    test_random_layout(random, &p.w, UC_STRIDED);
    test_random_layout(random, &p.y, UC_LAYOUTS);
    if (test_random_range(random, 0, 1))
        p.w = p.y = p.x = (struct uc_tensor_layout){ .kind = UC_NHWC };
    test_random_strides(random, &p, UC_X);
    test_random_strides(random, &p, UC_Y);
    return p;
}

#endif
