/* Plans whose operations are split in two, for the GPU tests. */
#include "config.h"

#include "tests/gpu_plan.h"

#include "runtime/engines.h"
#include "runtime/runner.h"

#include <stdlib.h>
#include <unistd.h>

/** Whether the kernel has a workspace and runs at this size. */
static bool runs(struct gpu_fixture *f, const struct uc_kernel *kernel,
                 int64_t size, bool accumulate, struct uc_plan_piece *piece)
{
    static const float one = 1, zero = 0;
    static const double wide_one = 1, wide_zero = 0;
    bool wide = f->problem.x_type == UC_FP64;
    struct uc_tensors t = { (void *)f->device[UC_X].data,
                            (void *)f->device[UC_W].data,
                            (void *)f->device[UC_Y].data };
    const struct uc_scaling scaling = { 1, accumulate ? 1 : 0 };
    const void *a = wide ? (const void *)&wide_one : &one;
    const void *b = wide ? (const void *)&wide_zero : &zero;
    struct uc_runner *runner = NULL;
    struct uc_error err;
    size_t asked = 0;
    bool works;

    works = !uc_runner_create(&gpu.cudnn, gpu.handle, &f->problem, size, kernel,
                              &scaling, &runner) &&
            !uc_runner_workspace(runner, gpu.handle, &asked) &&
            !uc_runner_build(runner) &&
            !uc_gpu_reserve(&gpu, &f->workspace, (int64_t)asked, &err) &&
            !uc_runner_run(runner, gpu.handle, a, &t, accumulate ? a : b,
                           (void *)f->workspace.data, asked);
    assert_int_equal(uc_gpu_wait(&gpu, &err), UC_OK);
    if (works)
        *piece = (struct uc_plan_piece){ .size = size,
                                         .count = 1,
                                         .accumulate = accumulate,
                                         .kernel = *kernel,
                                         .notes = uc_runner_notes(runner),
                                         .workspace_bytes = (int64_t)asked,
                                         .time_ns = 1000 };
    uc_runner_free(runner);
    return works;
}

/** The first legacy kernel that works, and has a workspace if it must. */
static void set_legacy(struct uc_plan_piece *piece, struct gpu_fixture *f,
                       int64_t size, bool accumulate, bool workspace)
{
    struct uc_kernel kernels[UC_LEGACY_KERNELS];
    size_t count = uc_legacy_kernels(&f->problem, kernels), i = 0;

    while (i < count && (!runs(f, &kernels[i], size, accumulate, piece) ||
                         (workspace && piece->workspace_bytes == 0)))
        i++;
    assert_true(i < count);
}

/** The heuristics' first engine that works and keeps the arithmetic. */
static bool set_graph(struct uc_plan_piece *piece, struct gpu_fixture *f,
                      int64_t size, bool accumulate)
{
    const unsigned weaker = UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION;
    const struct uc_graph_place place = { .handle = gpu.handle };
    struct uc_engine_candidate *list = NULL;
    struct uc_engines *engines = NULL;
    size_t count = 0;
    bool found = false;

    assert_int_equal(uc_engines_open(&gpu.cudnn, &place, &f->problem, GPU_BATCH,
                                     accumulate, false, &engines),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(uc_engines_at(engines, size, &list, &count),
                     CUDNN_STATUS_SUCCESS);
    uc_engines_close(engines);
    for (size_t i = 0; i < count && !found; i++)
        found = !(list[i].notes & weaker) &&
                uc_notes_keep_math(list[i].notes, &f->problem) &&
                runs(f, &list[i].kernel, size, accumulate, piece);
    free(list);
    return found;
}

/** 5 = 3 + 2, by an algorithm and, where there is one, by an engine. */
static void plan_operation(struct uc_plan_operation *op,
                           const struct uc_problem *problem, bool workspace)
{
    bool sums = problem->operation == UC_BACKWARD_FILTER;
    struct uc_plan_piece *p = calloc(2, sizeof *p);
    struct gpu_fixture f;

    gpu_fixture_open(&f, problem);
    set_legacy(&p[0], &f, GPU_FIRST_PIECE, false, workspace);
    if (!set_graph(&p[1], &f, GPU_BATCH - GPU_FIRST_PIECE, sums))
        set_legacy(&p[1], &f, GPU_BATCH - GPU_FIRST_PIECE, sums, false);
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
            plan_operation(&plan.operations[plan.operation_count], &problem,
                           mode == UC_PLAN_WD);
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
