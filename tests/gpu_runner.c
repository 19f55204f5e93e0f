/*
 * The kernel runner on a real GPU against a direct convolution on the CPU:
 * every legacy algorithm that runs, undivided and in uneven pieces, with
 * alpha and beta. Exits with 77, which means skipped, without a GPU.
 */
#include "config.h"

#include "tests/unit.h"

#include "planner/measure.h"
#include "runtime/runner.h"
#include "tests/double/number.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 5, FIRST_PIECE = 3 };

static struct uc_gpu gpu;

/** Tensors of one problem on the host, in double, and on the device. */
struct fixture {
    struct uc_problem problem;
    int64_t elements[3]; /**< up to the last; gaps included */
    double *host[3];     /**< by enum uc_tensor; rounded to the type */
    struct uc_buffer device[3];
    struct uc_buffer workspace;
    double *expected; /**< the operation's result, alpha 1, beta 0 */
};

static enum uc_number type_of(const struct uc_problem *p, int tensor)
{
    enum uc_dtype type = tensor == UC_X   ? p->x_type
                         : tensor == UC_W ? p->w_type
                                          : p->y_type;

    return (enum uc_number)type; /* numbered alike */
}

static double random_value(void)
{
    return (double)rand() / RAND_MAX * 2 - 1;
}

/* Direct convolution -----------------------------------------------------*/

/** Walks i over [0, extents); false behind the last. */
static bool next(int64_t *i, const int64_t *extents, int dims)
{
    for (int d = dims - 1; d >= 0; d--) {
        if (++i[d] < extents[d])
            return true;
        i[d] = 0;
    }
    return false;
}

static int64_t offset(const int64_t *i, const int64_t *strides, int dims)
{
    int64_t at = 0;

    for (int d = 0; d < dims; d++)
        at += i[d] * strides[d];
    return at;
}

/** Adds every product of the definition to the operation's output. */
static void convolve(struct fixture *f)
{
    const struct uc_problem *p = &f->problem;
    int dims = p->spatial + 2;
    int64_t xe[5], we[5], ye[5], xs[5], ws[5], ys[5];
    int64_t y[5] = { 0 };
    int64_t per_group_k = p->k / p->groups, per_group_c = p->c / p->groups;

    uc_problem_extents(p, UC_X, BATCH, xe);
    uc_problem_extents(p, UC_W, BATCH, we);
    uc_problem_extents(p, UC_Y, BATCH, ye);
    uc_problem_strides(p, UC_X, xs);
    uc_problem_strides(p, UC_W, ws);
    uc_problem_strides(p, UC_Y, ys);
    do {
        int64_t tap[5] = { 0 }; /* c within the group, then the filter */

        do {
            int64_t x[5], w[5];
            bool inside = true;

            x[0] = y[0];
            x[1] = y[1] / per_group_k * per_group_c + tap[1];
            w[0] = y[1];
            w[1] = tap[1];
            for (int d = 2; d < dims; d++) {
                bool flip = p->mode == UC_CONVOLUTION;

                w[d] = flip ? we[d] - 1 - tap[d] : tap[d];
                x[d] = y[d] * p->stride[d - 2] + tap[d] * p->dilation[d - 2] -
                       p->pad[d - 2];
                inside = inside && x[d] >= 0 && x[d] < xe[d];
            }
            if (inside) {
                int64_t at_x = offset(x, xs, dims), at_w = offset(w, ws, dims);
                int64_t at_y = offset(y, ys, dims);

                switch (p->operation) {
                case UC_FORWARD:
                    f->expected[at_y] +=
                        f->host[UC_X][at_x] * f->host[UC_W][at_w];
                    break;
                case UC_BACKWARD_DATA:
                    f->expected[at_x] +=
                        f->host[UC_Y][at_y] * f->host[UC_W][at_w];
                    break;
                default:
                    f->expected[at_w] +=
                        f->host[UC_X][at_x] * f->host[UC_Y][at_y];
                }
            }
        } while (next(tap + 1, we + 1, dims - 1));
    } while (next(y, ye, dims));
}

/* Fixture ----------------------------------------------------------------*/

static void upload(struct fixture *f, int tensor, const double *values)
{
    enum uc_number type = type_of(&f->problem, tensor);
    size_t bytes = (size_t)f->elements[tensor] * uc_number_bytes(type);
    char *packed = malloc(bytes);

    for (int64_t i = 0; i < f->elements[tensor]; i++)
        uc_number_store(packed, type, i, values[i]);
    assert_int_equal(gpu.cuda.MemcpyHtoD(f->device[tensor].data, packed, bytes),
                     CUDA_SUCCESS);
    free(packed);
}

static void open_fixture(struct fixture *f, const struct uc_problem *problem)
{
    struct uc_error err;
    int out = (int)uc_operation_output(problem->operation);

    memset(f, 0, sizeof *f);
    f->problem = *problem;
    for (int t = UC_X; t <= UC_Y; t++) {
        enum uc_number type = type_of(problem, t);
        int64_t bytes;

        assert_int_equal(uc_problem_tensor_bytes(problem, (enum uc_tensor)t,
                                                 BATCH, &bytes, &err),
                         UC_OK);
        f->elements[t] = bytes / (int64_t)uc_number_bytes(type);
        f->host[t] = malloc((size_t)f->elements[t] * sizeof(double));
        for (int64_t i = 0; i < f->elements[t]; i++)
            f->host[t][i] = uc_number_round(random_value(), type);
        assert_int_equal(uc_gpu_reserve(&gpu, &f->device[t], bytes, &err),
                         UC_OK);
        upload(f, t, f->host[t]);
    }
    f->expected = calloc((size_t)f->elements[out], sizeof(double));
    convolve(f);
}

static void close_fixture(struct fixture *f)
{
    for (int t = UC_X; t <= UC_Y; t++) {
        gpu.cuda.MemFree(f->device[t].base);
        free(f->host[t]);
    }
    if (f->workspace.base != 0)
        gpu.cuda.MemFree(f->workspace.base);
    free(f->expected);
}

/* Running ----------------------------------------------------------------*/

/** Pieces of the batch one after another, as the runtime will run them. */
static cudnnStatus_t run_pieces(struct fixture *f,
                                const struct uc_kernel *kernel,
                                const int64_t *sizes, int count, double alpha,
                                double beta)
{
    const struct uc_problem *p = &f->problem;
    bool wide = p->x_type == UC_FP64, sums = p->operation == UC_BACKWARD_FILTER;
    int64_t begin = 0;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    struct uc_error err;

    for (int i = 0; i < count && status == CUDNN_STATUS_SUCCESS; i++) {
        double scale[2] = { alpha, i > 0 && sums ? 1 : beta };
        float narrow[2] = { (float)scale[0], (float)scale[1] };
        const void *a = wide ? (void *)&scale[0] : (void *)&narrow[0];
        const void *b = wide ? (void *)&scale[1] : (void *)&narrow[1];
        struct uc_tensors t = { (void *)f->device[UC_X].data,
                                (void *)f->device[UC_W].data,
                                (void *)f->device[UC_Y].data };
        struct uc_runner *runner = NULL;
        int64_t xs[5], ys[5];
        size_t bytes = 0;

        uc_problem_strides(p, UC_X, xs);
        uc_problem_strides(p, UC_Y, ys);
        t.x = (char *)t.x + begin * xs[0] * (int64_t)uc_dtype_bytes(p->x_type);
        t.y = (char *)t.y + begin * ys[0] * (int64_t)uc_dtype_bytes(p->y_type);
        assert_int_equal(
            uc_runner_create(&gpu.cudnn, p, sizes[i], &runner, &err), UC_OK);
        status = uc_runner_workspace(runner, gpu.handle, kernel, &bytes);
        if (status == CUDNN_STATUS_SUCCESS) {
            assert_int_equal(
                uc_gpu_reserve(&gpu, &f->workspace, (int64_t)bytes, &err),
                UC_OK);
            status = uc_runner_run(runner, gpu.handle, kernel, a, &t, b,
                                   (void *)f->workspace.data, bytes);
        }
        uc_runner_free(runner);
        begin += sizes[i];
    }
    assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
    return status;
}

/** Relative L2 error of the device's result; gaps must be as before. */
static double error_of(struct fixture *f, double alpha, double beta)
{
    int out = (int)uc_operation_output(f->problem.operation);
    enum uc_number type = type_of(&f->problem, out);
    size_t bytes = (size_t)f->elements[out] * uc_number_bytes(type);
    char *packed = malloc(bytes);
    int64_t i[5] = { 0 }, extents[5], strides[5];
    int dims = f->problem.spatial + 2;
    double difference = 0, norm = 0;

    uc_problem_extents(&f->problem, (enum uc_tensor)out, BATCH, extents);
    uc_problem_strides(&f->problem, (enum uc_tensor)out, strides);
    assert_int_equal(gpu.cuda.MemcpyDtoH(packed, f->device[out].data, bytes),
                     CUDA_SUCCESS);
    do {
        int64_t at = offset(i, strides, dims);
        double expected = alpha * f->expected[at] + beta * f->host[out][at];
        double d = uc_number_load(packed, type, at) - expected;

        difference += d * d;
        norm += expected * expected;
    } while (next(i, extents, dims));
    free(packed);
    return sqrt(difference / norm);
}

/** How many algorithms ran; each must be right in every way it is run. */
static int check_operation(const struct uc_problem *problem)
{
    static const struct {
        double alpha, beta;
    } scales[] = { { 1, 0 }, { 2, 0 }, { 1, 1 }, { 2, 0.5 } };
    static const int64_t whole[] = { BATCH };
    static const int64_t pieces[] = { FIRST_PIECE, BATCH - FIRST_PIECE };
    double tolerance = uc_measure_tolerance(problem);
    int out = (int)uc_operation_output(problem->operation), ran = 0;
    struct uc_kernel kernels[UC_LEGACY_KERNELS];
    size_t count = uc_legacy_kernels(problem, kernels);
    struct fixture f;

    open_fixture(&f, problem);
    for (size_t k = 0; k < count; k++) {
        bool works = true;

        for (size_t s = 0; s < UNIT_COUNT(scales) && works; s++)
            for (int split = 0; split <= 1 && works; split++) {
                struct uc_error err;
                char name[UC_KERNEL_TEXT];
                double error;

                if (scales[s].beta == 0)
                    uc_gpu_poison(&gpu, &f.device[out], &err);
                else
                    upload(&f, out, f.host[out]);
                works = run_pieces(&f, &kernels[k], split ? pieces : whole,
                                   split ? 2 : 1, scales[s].alpha,
                                   scales[s].beta) == CUDNN_STATUS_SUCCESS;
                if (!works)
                    continue;
                error = error_of(&f, scales[s].alpha, scales[s].beta);
                uc_kernel_print(&kernels[k], problem->operation, name);
                if (!(error <= tolerance))
                    fail_msg("%s %s, alpha %g, beta %g, %s: error %g",
                             uc_operation_name(problem->operation), name,
                             scales[s].alpha, scales[s].beta,
                             split ? "in pieces" : "undivided", error);
            }
        ran += works;
    }
    close_fixture(&f);
    return ran;
}

static void check_problem(void **state)
{
    struct uc_problem problem;
    struct uc_error err;

    assert_int_equal(uc_problem_parse(*state, &problem, &err), UC_OK);
    for (int op = 0; op < UC_OPERATIONS; op++) {
        int ran;

        problem.operation = (enum uc_operation)op;
        ran = check_operation(&problem);
        print_message("# %s: %d algorithms\n",
                      uc_operation_name(problem.operation), ran);
        /* cuDNN 9.19 has no backward-filter for an x with gaps. */
        if (op != UC_BACKWARD_FILTER || problem.x.kind != UC_STRIDED)
            assert_true(ran > 0);
    }
}

static const char *const problems[] = {
    "forward:fp32:fma:nchw:c8:k16:i14x14:f3x3:p1x1",
    "forward:fp32:tf32:nchw:c16:k16:i15x13:f5x5:p2x2",
    "forward:fp32:tf32:nhwc:c16:k16:i14x14:f3x3:p1x1",
    "forward:fp16:fp16:nhwc:c16:k32:i14x14:f3x3:p1x1:s2x2",
    "forward:fp16:fp16:nchw:c16:k32:i14x14:f3x3:p1x1",
    "forward:bf16:bf16:nhwc:c16:k32:i14x14:f1x1",
    "forward:fp64:fma:nchw:c4:k4:i8x8:f3x3:p1x1",
    "forward:fp32:fma:nchw:c8:k16:i12x12:f3x3:p1x1:g4",
    "forward:fp32:fma:nchw:c8:k8:i12x12:f3x3:p1x1:g8",
    "forward:fp32:fma:nchw:c8:k8:i16x12:f3x3:p2x2:d2x2",
    "forward:fp32:fma:nchw:c8:k8:i64:f5:p2",
    "forward:fp32:tf32:nchw:c8:k8:i8x8x8:f3x3x3:p1x1x1",
    "forward:fp32:fma:nchw:c8:k8:i12x12:f3x3:p1x1:conv",
    "forward:fp32:fma:x=320,80,10,1+w=nchw+y=nchw:c4:k4:i8x8:f3x3:p1x1",
};

int main(void)
{
    struct CMUnitTest tests[UNIT_COUNT(problems)];
    struct uc_error err;

    if (access("/dev/nvidiactl", F_OK) != 0) {
        puts("# no GPU");
        return 77;
    }
    if (uc_gpu_open(&gpu, 0, &err) != UC_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    srand(1);
    for (size_t i = 0; i < UNIT_COUNT(problems); i++)
        tests[i] = (struct CMUnitTest){ problems[i], check_problem, NULL, NULL,
                                        (void *)problems[i] };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
