/**
 * @file api_support.h
 * A convolution of seven images on the double, and a plan of its three
 * operations in uneven pieces whose sums are worked out by hand.
 *
 * Included once per test program; everything is static.
 */
#ifndef UC_TESTS_API_SUPPORT_H
#define UC_TESTS_API_SUPPORT_H

#include "tests/plan_support.h"

#include "runtime/describe.h"
#include "runtime/ucudnn.h"
#include "tests/double_support.h"

enum { FIRST_WORKSPACE = 4 * 3 * 64 }; /* gather, 3 images of 8x8 */

/** 7 = 2x3 + 1, channels 2 to 3. */
static const struct shape seven = { "seven",  2,        7,        2,
                                    3,        1,        { 8, 8 }, { 3, 3 },
                                    { 1, 1 }, { 1, 1 }, { 1, 1 }, false };

/** The double's algorithms: 1 gather, which needs 4 N |output| bytes, and 0,
    which needs none. */
static struct uc_plan_piece api_piece(int64_t size, int64_t count,
                                      int algorithm, bool accumulate)
{
    return (struct uc_plan_piece){
        .size = size,
        .count = count,
        .accumulate = accumulate,
        .kernel = { .algorithm = algorithm, .math = UC_MATH_FMA },
        .workspace_bytes = algorithm == 1 ? 4 * size * 64 : 0,
        .time_ns = 1000 * size,
    };
}

/** Three images twice, then one: 7,000 ns and 768 bytes. */
static void api_operation(struct uc_plan_operation *op, enum uc_operation kind,
                          const char *types, const char *layout)
{
    char text[UC_PROBLEM_TEXT];
    bool sums = kind == UC_BACKWARD_FILTER;

    memset(op, 0, sizeof *op);
    snprintf(text, sizeof text, "%s:%s:fma:%s:c2:k3:i8x8:f3x3:p1x1",
             uc_operation_name(kind), types, layout);
    assert_done(uc_problem_parse(text, &op->problem, err));
    snprintf(op->layer, sizeof op->layer, "conv");
    op->batch = 7;
    op->repeat = 1;
    op->workspace_bytes = FIRST_WORKSPACE;
    op->time_ns = 7000;
    op->undivided_ns = op->unlimited_ns = 10000;
    op->pieces = calloc(3, sizeof *op->pieces);
    assert_non_null(op->pieces);
    if (sums) {
        op->pieces[op->piece_count++] = api_piece(3, 1, 1, false);
        op->pieces[op->piece_count++] = api_piece(3, 1, 1, true);
    } else {
        op->pieces[op->piece_count++] = api_piece(3, 2, 1, false);
    }
    op->pieces[op->piece_count++] = api_piece(1, 1, 0, sums);
}

/** Of this device; free it with uc_plan_free(). */
static void api_plan(struct uc_plan *plan, const char *types,
                     const char *layout)
{
    struct uc_cuda cuda;
    CUdevice device;

    *plan = (struct uc_plan){
        .network = "seven",
        .mode = UC_PLAN_WR,
        .limit_bytes = 1024,
        .policy = "all",
        .tool = "test",
        .operations = calloc(3, sizeof *plan->operations),
        .operation_count = 3,
    };
    assert_non_null(plan->operations);
    assert_done(uc_cuda_open(&cuda, err));
    assert_int_equal(cuda.DeviceGet(&device, 0), CUDA_SUCCESS);
    assert_int_equal(
        uc_describe_device(&cuda, device, &plan->environment.device),
        CUDA_SUCCESS);
    plan->environment.versions.cudnn = (int)cudnnGetVersion();
    plan->environment.versions.cuda = 13000;
    for (int i = 0; i < 3; i++)
        api_operation(&plan->operations[i], (enum uc_operation)i, types,
                      layout);
}

/** Write a plan, open the file and remove it: it is not read again. */
__attribute__((unused)) static ucudnn_plan_file *api_open(
    const struct uc_plan *plan, const ucudnn_open_options *options)
{
    const char *path = in_folder("api.plan");
    ucudnn_plan_file *file = NULL;
    char error[256] = "";

    assert_done(uc_plans_write(path, plan, 1, err));
    if (ucudnn_open_plan_file(path, options, &file, error, sizeof error) !=
        UCUDNN_OK)
        fail_msg("%s", error);
    assert_int_equal(unlink(path), 0);
    return file;
}

/** The plan above, opened. */
__attribute__((unused)) static ucudnn_plan_file *api_seven(const char *types,
                                                           const char *layout)
{
    struct uc_plan plan;
    ucudnn_plan_file *file;

    api_plan(&plan, types, layout);
    file = api_open(&plan, NULL);
    uc_plan_free(&plan);
    return file;
}

__attribute__((unused)) static ucudnn_status api_find(
    ucudnn_plan_file *file, const struct uc_case *c, int kind,
    const ucudnn_operation **out, char *reason, size_t bytes)
{
    return ucudnn_find_operation(file, double_handle, (ucudnn_kind)kind, c->x,
                                 c->w, c->convolution, c->y, out, reason,
                                 bytes);
}

#endif
