/* The GPU tests' tensors and their direct convolution. */
#include "config.h"

#include "tests/gpu_fixture.h"

#include "tests/double/number.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

_Thread_local struct uc_gpu gpu;

bool gpu_open(void)
{
    struct uc_error err;

    if (access("/dev/nvidiactl", F_OK) != 0) {
        puts("# no GPU");
        return false;
    }
    if (uc_gpu_open(&gpu, 0, &err) != UC_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    srand(1);
    return true;
}

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
static void convolve(struct gpu_fixture *f)
{
    const struct uc_problem *p = &f->problem;
    int dims = p->spatial + 2;
    int64_t xe[5], we[5], ye[5], xs[5], ws[5], ys[5];
    int64_t y[5] = { 0 };
    int64_t per_group_k = p->k / p->groups, per_group_c = p->c / p->groups;

    uc_problem_extents(p, UC_X, GPU_BATCH, xe);
    uc_problem_extents(p, UC_W, GPU_BATCH, we);
    uc_problem_extents(p, UC_Y, GPU_BATCH, ye);
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

/** The driver's copy to the device, which nothing but tests needs. */
static CUresult upload(CUdeviceptr to, const void *from, size_t bytes)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = dlsym(library, "cuMemcpyHtoD_v2");
    __typeof__(cuMemcpyHtoD) *function;

    assert_non_null(symbol);
    memcpy(&function, &symbol, sizeof function);
    return function(to, from, bytes);
}

void gpu_fixture_upload(struct gpu_fixture *f, int tensor)
{
    enum uc_number type = type_of(&f->problem, tensor);
    size_t bytes = (size_t)f->elements[tensor] * uc_number_bytes(type);
    char *packed = malloc(bytes);

    for (int64_t i = 0; i < f->elements[tensor]; i++)
        uc_number_store(packed, type, i, f->host[tensor][i]);
    assert_int_equal(upload(f->device[tensor].data, packed, bytes),
                     CUDA_SUCCESS);
    free(packed);
}

void gpu_fixture_open(struct gpu_fixture *f, const struct uc_problem *problem)
{
    struct uc_error err;
    int out = (int)uc_operation_output(problem->operation);

    memset(f, 0, sizeof *f);
    f->problem = *problem;
    for (int t = UC_X; t <= UC_Y; t++) {
        enum uc_number type = type_of(problem, t);
        int64_t bytes;

        assert_int_equal(uc_problem_tensor_bytes(problem, (enum uc_tensor)t,
                                                 GPU_BATCH, &bytes, &err),
                         UC_OK);
        f->elements[t] = bytes / (int64_t)uc_number_bytes(type);
        f->host[t] = malloc((size_t)f->elements[t] * sizeof(double));
        for (int64_t i = 0; i < f->elements[t]; i++)
            f->host[t][i] = uc_number_round(random_value(), type);
        assert_int_equal(uc_gpu_reserve(&gpu, &f->device[t], bytes, &err),
                         UC_OK);
        gpu_fixture_upload(f, t);
    }
    f->expected = calloc((size_t)f->elements[out], sizeof(double));
    convolve(f);
}

void gpu_fixture_close(struct gpu_fixture *f)
{
    for (int t = UC_X; t <= UC_Y; t++) {
        gpu.cuda.MemFree(f->device[t].base);
        free(f->host[t]);
    }
    if (f->workspace.base != 0)
        gpu.cuda.MemFree(f->workspace.base);
    free(f->expected);
}

void gpu_fixture_renew(struct gpu_fixture *f)
{
    int out = (int)uc_operation_output(f->problem.operation);

    for (int t = UC_X; t <= UC_Y; t++) {
        if (t == out)
            continue;
        for (int64_t i = 0; i < f->elements[t]; i++)
            f->host[t][i] =
                uc_number_round(random_value(), type_of(&f->problem, t));
        gpu_fixture_upload(f, t);
    }
    memset(f->expected, 0, (size_t)f->elements[out] * sizeof *f->expected);
    convolve(f);
}

/** Relative L2 error of the device's result; gaps must be as before. */
double gpu_fixture_error(struct gpu_fixture *f, double alpha, double beta)
{
    int out = (int)uc_operation_output(f->problem.operation);
    enum uc_number type = type_of(&f->problem, out);
    size_t bytes = (size_t)f->elements[out] * uc_number_bytes(type);
    char *packed = malloc(bytes);
    int64_t i[5] = { 0 }, extents[5], strides[5];
    int dims = f->problem.spatial + 2;
    double difference = 0, norm = 0;

    uc_problem_extents(&f->problem, (enum uc_tensor)out, GPU_BATCH, extents);
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

double gpu_bound(const struct uc_problem *problem, unsigned notes)
{
    if (problem->x_type == UC_FP64)
        return 1e-10;
    if (problem->x_type == UC_BF16 || problem->y_type == UC_BF16)
        return 1e-1;
    if (problem->x_type == UC_FP16 || problem->y_type == UC_FP16 ||
        (notes & (UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION)) != 0)
        return 2e-2;
    return problem->math != UC_MATH_FMA ||
                   (notes & (UC_NOTE_TENSOR_CORE | UC_NOTE_WINOGRAD)) != 0
               ? 1e-2
               : 1e-4;
}
