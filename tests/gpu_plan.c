/* Plans whose operations are split in two, for the GPU tests. */
#include "config.h"

#include "tests/gpu_plan.h"

#include "runtime/runner.h"

#include <stdlib.h>
#include <unistd.h>

/** Whether the kernel has a workspace and runs at this size. */
static bool runs(struct gpu_fixture *f, const struct uc_kernel *kernel,
                 int64_t size, int64_t *bytes)
{
    static const float one = 1, zero = 0;
    static const double wide_one = 1, wide_zero = 0;
    bool wide = f->problem.x_type == UC_FP64;
    struct uc_tensors t = { (void *)f->device[UC_X].data,
                            (void *)f->device[UC_W].data,
                            (void *)f->device[UC_Y].data };
    struct uc_runner *runner = NULL;
    struct uc_error err;
    size_t asked = 0;
    bool works;

    assert_int_equal(
        uc_runner_create(&gpu.cudnn, &f->problem, size, &runner, &err), UC_OK);
    works = !uc_runner_workspace(runner, gpu.handle, kernel, &asked) &&
            !uc_gpu_reserve(&gpu, &f->workspace, (int64_t)asked, &err) &&
            !uc_runner_run(runner, gpu.handle, kernel,
                           wide ? (const void *)&wide_one : &one, &t,
                           wide ? (const void *)&wide_zero : &zero,
                           (void *)f->workspace.data, asked);
    assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
    uc_runner_free(runner);
    *bytes = (int64_t)asked;
    return works;
}

static void set_piece(struct uc_plan_piece *piece, struct gpu_fixture *f,
                      bool last, int64_t size, bool accumulate)
{
    struct uc_kernel kernels[UC_LEGACY_KERNELS];
    int count = (int)uc_legacy_kernels(&f->problem, kernels), found = -1;
    int64_t bytes = 0;

    for (int i = 0; i < count; i++) {
        int k = last ? count - 1 - i : i;

        if (runs(f, &kernels[k], size, &bytes)) {
            found = k;
            break;
        }
    }
    assert_true(found >= 0);
    *piece = (struct uc_plan_piece){ .size = size,
                                     .count = 1,
                                     .accumulate = accumulate,
                                     .kernel = kernels[found],
                                     .workspace_bytes = bytes,
                                     .time_ns = 1000 };
}

/** 5 = 3 + 2, by the first and by the last algorithm that works. */
static void plan_operation(struct uc_plan_operation *op,
                           const struct uc_problem *problem)
{
    struct uc_plan_piece *p = calloc(2, sizeof *p);
    struct gpu_fixture f;

    gpu_fixture_open(&f, problem);
    set_piece(&p[0], &f, false, GPU_FIRST_PIECE, false);
    set_piece(&p[1], &f, true, GPU_BATCH - GPU_FIRST_PIECE,
              problem->operation == UC_BACKWARD_FILTER);
    gpu_fixture_close(&f);
    snprintf(op->layer, sizeof op->layer, "layer");
    op->batch = GPU_BATCH;
    op->repeat = 1;
    op->problem = *problem;
    op->workspace_bytes = p[0].workspace_bytes > p[1].workspace_bytes
                              ? p[0].workspace_bytes
                              : p[1].workspace_bytes;
    op->time_ns = 2000;
    op->undivided_ns = op->unlimited_ns = -1;
    op->pieces = p;
    op->piece_count = 2;
}

int64_t gpu_plan_add(const char *path, enum uc_plan_mode mode,
                     const char *const *problems, size_t count)
{
    struct uc_plan plan = { .environment = gpu.environment,
                            .mode = mode,
                            .limit_bytes = (int64_t)1 << 40,
                            .policy = "3",
                            .tool = "test" };
    struct uc_error err = { .text = "" };
    int64_t total = 0;

    snprintf(plan.network, sizeof plan.network, "gpu-%s",
             mode == UC_PLAN_WD ? "wd" : "wr");
    plan.operations = calloc(count * UC_OPERATIONS, sizeof *plan.operations);
    assert_non_null(plan.operations);
    for (size_t i = 0; i < count; i++)
        for (int op = 0; op < UC_OPERATIONS; op++) {
            struct uc_problem problem;

            assert_int_equal(uc_problem_parse(problems[i], &problem, &err),
                             UC_OK);
            problem.operation = (enum uc_operation)op;
            plan_operation(&plan.operations[plan.operation_count], &problem);
            total += plan.operations[plan.operation_count++].workspace_bytes;
        }
    if (uc_plans_write(path, &plan, 1, &err) != UC_OK)
        fail_msg("%s", err.text);
    uc_plan_free(&plan);
    return total;
}

static char scratch[] = "/tmp/ucudnn-gpu.XXXXXX.plan";

static void remove_scratch(void)
{
    unlink(scratch);
}

const char *gpu_plan_path(void)
{
    int fd = mkstemps(scratch, 5);

    if (fd < 0 || close(fd) != 0 || atexit(remove_scratch) != 0)
        exit(1);
    return scratch;
}
