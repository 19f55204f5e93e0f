#include "config.h"

/*
 * plan_make PLAN [WORD...]: a plan that splits every case of the client
 * programs, for the device and cuDNN that this process finds. Not a test.
 *
 * Words: "name=TEXT", "capability=N", "multiprocessors=N", "memory=N",
 * "cudnn=N", "driver=TEXT" say that it was made elsewhere; "only=TEXT" takes
 * the cases whose name contains it, "pieces=N" (at most the batch) splits
 * into so many pieces, "wr" and "wd" are the mode, "kernel=TEXT" is that of all
 * pieces.
 */
#include "tests/client/cases.h"

#include "db/plan.h"
#include "runtime/describe.h"
#include "runtime/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct uc_error error;
static struct uc_cuda cuda;
static struct uc_cudnn cudnn;
static cudnnHandle_t handle;
static const char *only;
static bool divide;
static int even;           /**< how many pieces; 0: as the cases say */
static const char *kernel; /**< NULL: as the cases say */

static void fail(const char *why)
{
    fprintf(stderr, "plan_make: %s\n", why);
    exit(1);
}

static void check(enum uc_status status)
{
    if (status != UC_OK)
        fail(error.text);
}

static void *check_memory(void *memory)
{
    if (memory == NULL)
        fail("no memory");
    return memory;
}

static void open_device(struct uc_environment *here)
{
    CUcontext context;
    CUdevice device;

    check(uc_cuda_open(&cuda, &error));
    check(uc_cudnn_open(&cudnn, &error));
    if (cuda.Init(0) || cuda.DeviceGet(&device, 0) ||
        cuda.DevicePrimaryCtxRetain(&context, device) ||
        cuda.CtxSetCurrent(context) || cudnn.Create(&handle) ||
        uc_describe_device(&cuda, device, &here->device) ||
        uc_describe_versions(&cuda, &cudnn, &here->versions))
        fail("no device");
}

static void set_layout(const struct client_case *c, enum client_tensor t,
                       struct uc_tensor_layout *layout)
{
    static const enum uc_layout kinds[] = { UC_NCHW, UC_NHWC, UC_STRIDED };

    layout->kind = kinds[c->layout];
    for (int d = 0; c->layout == CLIENT_GAPS && d < c->shape.spatial + 2; d++)
        layout->strides[d] = c->stride[t][d];
}

static void set_problem(const struct client_case *c,
                        enum client_operation operation,
                        struct uc_problem *problem)
{
    static const struct {
        enum uc_dtype type, compute_type;
        enum uc_math math;
    } types[CLIENT_TYPES] = {
        [CLIENT_FP32] = { UC_FP32, UC_FP32, UC_MATH_FMA },
        [CLIENT_TF32] = { UC_FP32, UC_FP32, UC_MATH_TF32 },
        [CLIENT_FP16] = { UC_FP16, UC_FP32, UC_MATH_FP16 },
        [CLIENT_BF16] = { UC_BF16, UC_FP32, UC_MATH_BF16 },
        [CLIENT_FP64] = { UC_FP64, UC_FP64, UC_MATH_FMA },
    };
    const struct client_shape *s = &c->shape;
    struct uc_problem *p = problem;

    memset(p, 0, sizeof *p);
    p->operation = (enum uc_operation)operation;
    p->spatial = s->spatial;
    p->x_type = p->w_type = p->y_type = types[c->type].type;
    p->compute_type = types[c->type].compute_type;
    p->math = types[c->type].math;
    p->mode = s->flip ? UC_CONVOLUTION : UC_CROSS_CORRELATION;
    p->groups = s->groups;
    p->c = s->c;
    p->k = s->k;
    for (int d = 0; d < s->spatial; d++) {
        p->in[d] = s->in[d];
        p->filter[d] = s->filter[d];
        p->pad[d] = s->pad[d];
        p->stride[d] = s->stride[d];
        p->dilation[d] = s->dilation[d];
    }
    set_layout(c, CLIENT_X, &p->x);
    set_layout(c, CLIENT_Y, &p->y);
    p->w.kind = c->layout == CLIENT_NHWC ? UC_NHWC : UC_NCHW;
}

static void set_kernel(const struct uc_problem *problem, int algorithm,
                       struct uc_kernel *k)
{
    k->algorithm = algorithm;
    k->math = problem->math;
    if (kernel != NULL)
        check(uc_kernel_parse(kernel, problem->operation, k, &error));
}

/** What cuDNN says of the kernel: workspace and notes. */
static void ask(const struct uc_problem *problem, struct uc_plan_piece *piece)
{
    const struct uc_scaling scaling = { 1, piece->accumulate ? 1 : 0 };
    struct uc_runner *runner = NULL;
    size_t bytes = 0;

    if (uc_runner_create(&cudnn, handle, problem, piece->size, &piece->kernel,
                         &scaling, &runner) ||
        uc_runner_workspace(runner, handle, &bytes))
        fail("a kernel of the split does not exist");
    piece->workspace_bytes = (int64_t)bytes;
    piece->notes = uc_runner_notes(runner);
    uc_runner_free(runner);
}

/** Equal pieces behind a first that takes what is left over. */
static int split_evenly(const struct client_case *c,
                        struct client_piece pieces[CLIENT_PIECES])
{
    int n = c->shape.n, size = even > 1 ? (n - 1) / (even - 1) : 0;

    pieces[0] = (struct client_piece){ n - (even - 1) * size, 1, 0 };
    pieces[1] = (struct client_piece){ size, even - 1, 0 };
    return even > 1 ? 2 : 1;
}

static void add_operation(struct uc_plan *plan, const struct client_case *c,
                          enum client_operation operation)
{
    struct uc_plan_operation *op = &plan->operations[plan->operation_count++];
    struct client_piece pieces[CLIENT_PIECES];
    int count =
        even ? split_evenly(c, pieces) : client_split(c, operation, pieces);

    memset(op, 0, sizeof *op);
    snprintf(op->layer, sizeof op->layer, "%s", c->name);
    op->batch = c->shape.n;
    op->repeat = 1;
    op->undivided_ns = op->unlimited_ns = -1;
    set_problem(c, operation, &op->problem);
    op->pieces = check_memory(calloc((size_t)count, sizeof *op->pieces));
    op->piece_count = (size_t)count;
    for (int i = 0; i < count; i++) {
        struct uc_plan_piece *piece = &op->pieces[i];

        piece->size = pieces[i].size;
        piece->count = pieces[i].count;
        piece->accumulate = operation == CLIENT_BACKWARD_FILTER && i > 0;
        set_kernel(&op->problem, pieces[i].algorithm, &piece->kernel);
        ask(&op->problem, piece);
        piece->time_ns = 1000;
        op->time_ns += piece->count * piece->time_ns;
        if (piece->workspace_bytes > op->workspace_bytes)
            op->workspace_bytes = piece->workspace_bytes;
    }
}

static void make_plan(struct uc_plan *plan)
{
    size_t most = (size_t)client_case_count() * CLIENT_OPERATIONS;

    plan->operations = check_memory(calloc(most, sizeof *plan->operations));
    for (int i = 0; i < client_case_count(); i++) {
        struct client_case c;

        client_case_make(i, &c);
        if (only != NULL && strstr(c.name, only) == NULL)
            continue;
        for (int op = 0; op < CLIENT_OPERATIONS; op++)
            add_operation(plan, &c, (enum client_operation)op);
    }
}

static void edit(struct uc_environment *here, const char *word)
{
    const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : word;
    long long number = strtoll(value, NULL, 10);

    if (strncmp(word, "pieces=", 7) == 0)
        even = (int)number;
    else if (strcmp(word, "wr") == 0)
        divide = false;
    else if (strcmp(word, "wd") == 0)
        divide = true;
    else if (strncmp(word, "only=", 5) == 0)
        only = value;
    else if (strncmp(word, "kernel=", 7) == 0)
        kernel = value;
    else if (strncmp(word, "name=", 5) == 0)
        snprintf(here->device.name, sizeof here->device.name, "%s", value);
    else if (strncmp(word, "capability=", 11) == 0)
        here->device.compute_capability = (int)number;
    else if (strncmp(word, "multiprocessors=", 16) == 0)
        here->device.multiprocessors = (int)number;
    else if (strncmp(word, "memory=", 7) == 0)
        here->device.memory_bytes = number;
    else if (strncmp(word, "cudnn=", 6) == 0)
        here->versions.cudnn = (int)number;
    else if (strncmp(word, "driver=", 7) == 0)
        snprintf(here->versions.driver, sizeof here->versions.driver, "%s",
                 value);
    else
        fail(word);
}

int main(int argc, char **argv)
{
    struct uc_plan plan = { .network = "clients",
                            .limit_bytes = 1 << 28,
                            .policy = "all",
                            .choices = { .allow = UC_NOTE_DOWN_CONVERT |
                                                  UC_NOTE_REDUCED_PRECISION },
                            .created_at = 1700000000,
                            .tool = "plan_make" };

    if (argc < 2)
        fail("which plan?");
    open_device(&plan.environment);
    for (int i = 2; i < argc; i++)
        edit(&plan.environment, argv[i]);
    plan.mode = divide ? UC_PLAN_WD : UC_PLAN_WR;
    make_plan(&plan);
    check(uc_plans_write(argv[1], &plan, 1, &error));
    uc_plan_free(&plan);
    return 0;
}
