/*
 * The kernel runner on a real GPU against a direct convolution on the CPU:
 * every legacy algorithm and every engine that runs, undivided and in uneven
 * pieces, with alpha and beta. Exits with 77, which means skipped, without a
 * GPU.
 */
#include "config.h"

#include "tests/gpu_fixture.h"

#include "planner/measure.h"
#include "runtime/engines.h"
#include "runtime/runner.h"

#include <dlfcn.h>

/* Running ----------------------------------------------------------------*/

/** Pieces of the batch one after another, as the runtime will run them. */
static cudnnStatus_t run_pieces(struct gpu_fixture *f,
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
        const struct uc_scaling scaling = { scale[0], scale[1] };
        struct uc_runner *runner = NULL;
        int64_t xs[5], ys[5];
        size_t bytes = 0;

        uc_problem_strides(p, UC_X, xs);
        uc_problem_strides(p, UC_Y, ys);
        t.x = (char *)t.x + begin * xs[0] * (int64_t)uc_dtype_bytes(p->x_type);
        t.y = (char *)t.y + begin * ys[0] * (int64_t)uc_dtype_bytes(p->y_type);
        status = uc_runner_create(&gpu.cudnn, gpu.handle, p, sizes[i], kernel,
                                  &scaling, &runner);
        if (status == CUDNN_STATUS_SUCCESS)
            status = uc_runner_workspace(runner, gpu.handle, &bytes);
        if (status == CUDNN_STATUS_SUCCESS)
            status = uc_runner_build(runner);
        if (status == CUDNN_STATUS_SUCCESS) {
            assert_int_equal(
                uc_gpu_reserve(&gpu, &f->workspace, (int64_t)bytes, &err),
                UC_OK);
            status = uc_runner_run(runner, gpu.handle, a, &t, b,
                                   (void *)f->workspace.data, bytes);
        }
        uc_runner_free(runner);
        begin += sizes[i];
    }
    assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
    return status;
}

/** One kernel in every way it may be run; it must be right where it runs.
    Returns whether it runs undivided with alpha 1 and beta 0. */
static bool check_kernel(struct gpu_fixture *f, const struct uc_kernel *kernel,
                         double tolerance, bool as_measured)
{
    static const struct {
        double alpha, beta;
    } scales[] = { { 1, 0 }, { 2, 0 }, { 1, 1 }, { 2, 0.5 } };
    static const int64_t whole[] = { GPU_BATCH };
    static const int64_t pieces[] = { GPU_FIRST_PIECE,
                                      GPU_BATCH - GPU_FIRST_PIECE };
    enum uc_operation operation = f->problem.operation;
    int out = (int)uc_operation_output(operation);
    bool runs = true;

    /* Those that are compiled at run time are run as they are measured. */
    for (size_t s = 0; s < (as_measured ? 1 : UNIT_COUNT(scales)) && runs; s++)
        for (int split = 0; split <= 1 && runs; split++) {
            double alpha = scales[s].alpha, beta = scales[s].beta, error;
            char name[UC_KERNEL_TEXT];
            struct uc_error err;

            if (beta == 0)
                uc_gpu_poison(&gpu, &f->device[out], &err);
            else
                gpu_fixture_upload(f, out);
            if (run_pieces(f, kernel, split ? pieces : whole, split ? 2 : 1,
                           alpha, beta) != CUDNN_STATUS_SUCCESS) {
                runs = s + (size_t)split > 0;
                continue;
            }
            error = gpu_fixture_error(f, alpha, beta);
            uc_kernel_print(kernel, operation, name);
            if (!(error <= tolerance) && as_measured && !split) {
                print_message("# bench finds out: %s %s: error %g\n",
                              uc_operation_name(operation), name, error);
                return false;
            }
            if (!(error <= tolerance))
                fail_msg("%s %s, alpha %g, beta %g, %s: error %g",
                         uc_operation_name(operation), name, alpha, beta,
                         split ? "in pieces" : "undivided", error);
        }
    return runs;
}

static int check_algorithms(struct gpu_fixture *f)
{
    struct uc_kernel kernels[UC_LEGACY_KERNELS];
    size_t count = uc_legacy_kernels(&f->problem, kernels);
    int ran = 0;

    for (size_t i = 0; i < count; i++)
        ran += check_kernel(
            f, &kernels[i],
            gpu_bound(&f->problem,
                      uc_legacy_notes(&kernels[i], f->problem.operation)),
            false);
    return ran;
}

/** Engine 17 is Winograd in backward-filter and does not say so. */
static unsigned engine_notes(const struct uc_engine_candidate *candidate)
{
    return candidate->notes |
           (candidate->kernel.engine == 17 ? UC_NOTE_WINOGRAD : 0u);
}

/** Every engine and what the heuristics choose of their knobs. */
static int check_engines(struct gpu_fixture *f)
{
    const struct uc_graph_place place = { .handle = gpu.handle };
    struct uc_engine_candidate *list = NULL;
    struct uc_engines *engines = NULL;
    size_t count = 0;
    int ran = 0;

    assert_int_equal(uc_engines_open(&gpu.cudnn, &place, &f->problem, GPU_BATCH,
                                     false, true, &engines),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(uc_engines_at(engines, GPU_BATCH, &list, &count),
                     CUDNN_STATUS_SUCCESS);
    uc_engines_close(engines);
    for (size_t i = 0; i < count; i++)
        ran += check_kernel(f, &list[i].kernel,
                            gpu_bound(&f->problem, engine_notes(&list[i])),
                            (list[i].notes & UC_NOTE_RUNTIME_COMPILED) != 0);
    free(list);
    return ran;
}

static void check_problem(void **state)
{
    struct uc_problem problem;
    struct uc_error err;

    assert_int_equal(uc_problem_parse(*state, &problem, &err), UC_OK);
    for (int op = 0; op < UC_OPERATIONS; op++) {
        int algorithms, engines;
        struct gpu_fixture f;

        problem.operation = (enum uc_operation)op;
        gpu_fixture_open(&f, &problem);
        algorithms = check_algorithms(&f);
        engines = check_engines(&f);
        gpu_fixture_close(&f);
        print_message("# %s: %d algorithms, %d engines\n",
                      uc_operation_name(problem.operation), algorithms,
                      engines);
        /* cuDNN 9.19 has no backward-filter for an x with gaps. */
        if (op != UC_BACKWARD_FILTER || problem.x.kind != UC_STRIDED)
            assert_true(algorithms > 0);
    }
}

static void destroy(cudnnHandle_t handle)
{
    void *library = uc_cudnn_loaded("cudnnDestroy");
    void *symbol = dlsym(library, "cudnnDestroy");
    __typeof__(cudnnDestroy) *function;

    assert_non_null(symbol);
    memcpy(&function, &symbol, sizeof function);
    assert_int_equal(function(handle), CUDNN_STATUS_SUCCESS);
}

/** A program may destroy the handle with which a kernel was made ready. */
static void engines_outlive_the_handle_they_were_made_with(void **state)
{
    const char *text = "forward:fp16:fp16:nhwc:c16:k32:i14x14:f3x3:p1x1";
    const struct uc_scaling scaling = { 1, 0 };
    const float one = 1, zero = 0;
    struct uc_engine_candidate *list = NULL;
    struct uc_engines *engines = NULL;
    struct uc_graph_place place = { NULL, NULL };
    struct uc_problem problem;
    struct gpu_fixture f;
    struct uc_error err;
    size_t count = 0;
    int ran = 0;

    (void)state;
    assert_int_equal(uc_problem_parse(text, &problem, &err), UC_OK);
    gpu_fixture_open(&f, &problem);
    assert_int_equal(gpu.cudnn.Create(&place.handle), CUDNN_STATUS_SUCCESS);
    assert_int_equal(uc_engines_open(&gpu.cudnn, &place, &problem, GPU_BATCH,
                                     false, false, &engines),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(uc_engines_at(engines, GPU_BATCH, &list, &count),
                     CUDNN_STATUS_SUCCESS);
    uc_engines_close(engines);
    destroy(place.handle);
    for (size_t i = 0; i < count; i++) {
        struct uc_tensors t = { (void *)f.device[UC_X].data,
                                (void *)f.device[UC_W].data,
                                (void *)f.device[UC_Y].data };
        struct uc_runner *runner = NULL;
        size_t bytes = 0;

        assert_int_equal(gpu.cudnn.Create(&place.handle), CUDNN_STATUS_SUCCESS);
        if (uc_runner_create(&gpu.cudnn, place.handle, &problem, GPU_BATCH,
                             &list[i].kernel, &scaling,
                             &runner) == CUDNN_STATUS_SUCCESS &&
            uc_runner_workspace(runner, place.handle, &bytes) ==
                CUDNN_STATUS_SUCCESS &&
            uc_runner_build(runner) == CUDNN_STATUS_SUCCESS) {
            destroy(place.handle);
            assert_int_equal(
                uc_gpu_reserve(&gpu, &f.workspace, (int64_t)bytes, &err),
                UC_OK);
            uc_gpu_poison(&gpu, &f.device[UC_Y], &err);
            assert_int_equal(uc_runner_run(runner, gpu.handle, &one, &t, &zero,
                                           (void *)f.workspace.data, bytes),
                             CUDNN_STATUS_SUCCESS);
            assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
            assert_true(gpu_fixture_error(&f, 1, 0) <=
                        gpu_bound(&problem, list[i].notes));
            ran++;
        } else {
            destroy(place.handle);
        }
        uc_runner_free(runner);
    }
    assert_true(ran > 0);
    free(list);
    gpu_fixture_close(&f);
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
    struct CMUnitTest tests[UNIT_COUNT(problems) + 1] = {
        [UNIT_COUNT(problems)] =
            cmocka_unit_test(engines_outlive_the_handle_they_were_made_with)
    };

    if (!gpu_open())
        return 77;
    for (size_t i = 0; i < UNIT_COUNT(problems); i++)
        tests[i] = (struct CMUnitTest){ problems[i], check_problem, NULL, NULL,
                                        (void *)problems[i] };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
