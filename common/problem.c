#include "config.h"

#include "common/problem.h"

#include <string.h>

static const char *const operation_names[UC_OPERATIONS] = {
    [UC_FORWARD] = "forward",
    [UC_BACKWARD_DATA] = "backward-data",
    [UC_BACKWARD_FILTER] = "backward-filter",
};
static const struct {
    const char *name;
    size_t bytes;
    enum uc_math math;
} dtypes[UC_DTYPES] = {
    [UC_FP32] = { "fp32", 4, UC_MATH_FMA },
    [UC_FP16] = { "fp16", 2, UC_MATH_FP16 },
    [UC_BF16] = { "bf16", 2, UC_MATH_BF16 },
    [UC_FP64] = { "fp64", 8, UC_MATH_FMA },
};
static const struct {
    const char *name;
    enum uc_dtype dtype;
} maths[UC_MATHS] = {
    [UC_MATH_FMA] = { "fma", UC_FP32 },
    [UC_MATH_TF32] = { "tf32", UC_FP32 },
    [UC_MATH_FP16] = { "fp16", UC_FP16 },
    [UC_MATH_BF16] = { "bf16", UC_BF16 },
};
static const char *const layout_names[UC_LAYOUTS] = {
    [UC_NCHW] = "nchw",
    [UC_NHWC] = "nhwc",
    [UC_STRIDED] = "strided",
};

static const char *const tensor_names[] = {
    [UC_X] = "x",
    [UC_W] = "w",
    [UC_Y] = "y",
};

enum uc_tensor uc_operation_output(enum uc_operation operation)
{
    return operation == UC_FORWARD         ? UC_Y
           : operation == UC_BACKWARD_DATA ? UC_X
                                           : UC_W;
}

const char *uc_operation_name(enum uc_operation operation)
{
    return operation_names[operation];
}

const char *uc_dtype_name(enum uc_dtype type)
{
    return dtypes[type].name;
}

const char *uc_math_name(enum uc_math math)
{
    return maths[math].name;
}

const char *uc_layout_name(enum uc_layout layout)
{
    return layout_names[layout];
}

bool uc_operation_parse(const char *name, enum uc_operation *operation)
{
    for (int i = 0; i < UC_OPERATIONS; i++)
        if (strcmp(name, operation_names[i]) == 0) {
            *operation = (enum uc_operation)i;
            return true;
        }
    return false;
}

bool uc_dtype_parse(const char *name, enum uc_dtype *type)
{
    for (int i = 0; i < UC_DTYPES; i++)
        if (strcmp(name, dtypes[i].name) == 0) {
            *type = (enum uc_dtype)i;
            return true;
        }
    return false;
}

bool uc_math_parse(const char *name, enum uc_math *math)
{
    for (int i = 0; i < UC_MATHS; i++)
        if (strcmp(name, maths[i].name) == 0) {
            *math = (enum uc_math)i;
            return true;
        }
    return false;
}

bool uc_layout_parse(const char *name, enum uc_layout *layout)
{
    for (int i = 0; i < UC_LAYOUTS; i++)
        if (strcmp(name, layout_names[i]) == 0) {
            *layout = (enum uc_layout)i;
            return true;
        }
    return false;
}

size_t uc_dtype_bytes(enum uc_dtype type)
{
    return dtypes[type].bytes;
}

enum uc_dtype uc_math_dtype(enum uc_math math)
{
    return maths[math].dtype;
}

enum uc_math uc_dtype_math(enum uc_dtype type)
{
    return dtypes[type].math;
}

/** Output extent, or a value below 1 when the filter does not fit. */
static int64_t out_extent(const struct uc_problem *p, int i)
{
    int64_t window = p->dilation[i] * (p->filter[i] - 1) + 1;
    int64_t room = p->in[i] + 2 * p->pad[i] - window;

    return room < 0 ? 0 : room / p->stride[i] + 1;
}

void uc_problem_extents(const struct uc_problem *problem, enum uc_tensor tensor,
                        int64_t batch, int64_t extents[UC_MAX_DIMS])
{
    extents[0] = tensor == UC_W ? problem->k : batch;
    extents[1] = tensor == UC_X   ? problem->c
                 : tensor == UC_Y ? problem->k
                                  : problem->c / problem->groups;
    for (int i = 0; i < problem->spatial; i++)
        extents[2 + i] = tensor == UC_X   ? problem->in[i]
                         : tensor == UC_Y ? out_extent(problem, i)
                                          : problem->filter[i];
}

static const struct uc_tensor_layout *layout_of(const struct uc_problem *p,
                                                enum uc_tensor tensor)
{
    return tensor == UC_X ? &p->x : tensor == UC_Y ? &p->y : &p->w;
}

enum uc_dtype uc_problem_type(const struct uc_problem *p, enum uc_tensor tensor)
{
    return tensor == UC_X ? p->x_type : tensor == UC_Y ? p->y_type : p->w_type;
}

void uc_problem_strides(const struct uc_problem *problem, enum uc_tensor tensor,
                        int64_t strides[UC_MAX_DIMS])
{
    const struct uc_tensor_layout *layout = layout_of(problem, tensor);
    int dims = problem->spatial + 2;
    int64_t extents[UC_MAX_DIMS], stride = 1;

    if (layout->kind == UC_STRIDED) {
        memcpy(strides, layout->strides, (size_t)dims * sizeof *strides);
        return;
    }
    uc_problem_extents(problem, tensor, 1, extents);
    if (layout->kind == UC_NHWC) {
        strides[1] = 1;
        stride = extents[1];
    }
    for (int i = dims - 1; i >= 2; i--) {
        strides[i] = stride;
        stride *= extents[i];
    }
    if (layout->kind == UC_NCHW) {
        strides[1] = stride;
        stride *= extents[1];
    }
    strides[0] = stride;
}

/** Elements from the first to behind the last; false on overflow. */
static bool tensor_span(const struct uc_problem *problem, enum uc_tensor tensor,
                        int64_t batch, int64_t *span)
{
    int64_t extents[UC_MAX_DIMS], strides[UC_MAX_DIMS] = { 0 };
    int64_t last = 0, step;

    uc_problem_extents(problem, tensor, batch, extents);
    uc_problem_strides(problem, tensor, strides);
    for (int i = 0; i < problem->spatial + 2; i++)
        if (__builtin_mul_overflow(extents[i] - 1, strides[i], &step) ||
            __builtin_add_overflow(last, step, &last))
            return false;
    return !__builtin_add_overflow(last, 1, span);
}

/** Strides that keep a tensor's elements apart at `batch`. */
static bool elements_are_apart(const struct uc_problem *problem,
                               enum uc_tensor tensor, int64_t batch)
{
    int64_t extents[UC_MAX_DIMS], strides[UC_MAX_DIMS], span = 1;
    int dims = problem->spatial + 2;

    uc_problem_extents(problem, tensor, batch, extents);
    uc_problem_strides(problem, tensor, strides);
    /* By rising stride: each must step over all that lies within it. */
    for (int done = 0; done < dims; done++) {
        int least = done;
        int64_t extent, stride, reach;

        for (int i = done + 1; i < dims; i++)
            if (strides[i] < strides[least] ||
                (strides[i] == strides[least] && extents[i] < extents[least]))
                least = i;
        extent = extents[least];
        stride = strides[least];
        extents[least] = extents[done];
        strides[least] = strides[done];
        if (extent == 1)
            continue;
        if (stride < span)
            return false;
        if (__builtin_mul_overflow(extent - 1, stride, &reach) ||
            __builtin_add_overflow(span, reach, &span))
            span = INT64_MAX;
    }
    return true;
}

static enum uc_status check_apart(const struct uc_problem *problem,
                                  enum uc_tensor tensor, int64_t batch,
                                  struct uc_error *err)
{
    if (layout_of(problem, tensor)->kind != UC_STRIDED ||
        elements_are_apart(problem, tensor, batch))
        return UC_OK;
    return uc_fail(err, UC_EINPUT,
                   "%s strides: elements share memory at batch %lld",
                   tensor_names[tensor], (long long)batch);
}

enum uc_status uc_problem_tensor_bytes(const struct uc_problem *problem,
                                       enum uc_tensor tensor, int64_t batch,
                                       int64_t *bytes, struct uc_error *err)
{
    int64_t size = (int64_t)uc_dtype_bytes(uc_problem_type(problem, tensor));
    int64_t span, total;
    enum uc_status status = check_apart(problem, tensor, batch, err);

    if (status != UC_OK)
        return status;
    if (!tensor_span(problem, tensor, batch, &span) ||
        __builtin_mul_overflow(span, size, &total))
        return uc_fail(err, UC_EINPUT,
                       "tensor %s: size overflows 64 bits at batch %lld",
                       tensor_names[tensor], (long long)batch);
    *bytes = total;
    return UC_OK;
}

bool uc_problem_splits_at(const struct uc_problem *problem, int64_t micro_batch)
{
    static const enum uc_tensor sliced[] = { UC_X, UC_Y };

    for (int i = 0; i < 2; i++) {
        int64_t strides[UC_MAX_DIMS], elements, bytes;
        int64_t size =
            (int64_t)uc_dtype_bytes(uc_problem_type(problem, sliced[i]));

        uc_problem_strides(problem, sliced[i], strides);
        if (__builtin_mul_overflow(strides[0], micro_batch, &elements) ||
            __builtin_mul_overflow(elements, size, &bytes) ||
            bytes % UC_ALIGNMENT != 0)
            return false;
    }
    return true;
}

double uc_problem_macs(const struct uc_problem *problem, int64_t batch)
{
    double macs = (double)batch * (double)problem->k *
                  (double)(problem->c / problem->groups);

    for (int i = 0; i < problem->spatial; i++)
        macs *= (double)problem->filter[i] * (double)out_extent(problem, i);
    return macs;
}

bool uc_problem_equal(const struct uc_problem *a, const struct uc_problem *b)
{
    return a->operation == b->operation && a->spatial == b->spatial &&
           a->x_type == b->x_type && a->w_type == b->w_type &&
           a->y_type == b->y_type && a->compute_type == b->compute_type &&
           a->math == b->math && a->mode == b->mode && a->groups == b->groups &&
           a->c == b->c && a->k == b->k &&
           memcmp(a->in, b->in, sizeof a->in) == 0 &&
           memcmp(a->filter, b->filter, sizeof a->filter) == 0 &&
           memcmp(a->pad, b->pad, sizeof a->pad) == 0 &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0 &&
           memcmp(a->dilation, b->dilation, sizeof a->dilation) == 0 &&
           a->x.kind == b->x.kind && a->w.kind == b->w.kind &&
           a->y.kind == b->y.kind &&
           memcmp(a->x.strides, b->x.strides, sizeof a->x.strides) == 0 &&
           memcmp(a->y.strides, b->y.strides, sizeof a->y.strides) == 0;
}

/** Descriptors of cuDNN hold 32-bit extents. */
static const int64_t max_extent = INT32_MAX;

static enum uc_status check_range(const char *field, int64_t value,
                                  int64_t least, struct uc_error *err)
{
    if (value < least)
        return uc_fail(err, UC_EINPUT, "%s must be >= %lld, is %lld", field,
                       (long long)least, (long long)value);
    if (value > max_extent)
        return uc_fail(err, UC_EINPUT, "%s %lld is over cuDNN's limit %lld",
                       field, (long long)value, (long long)max_extent);
    return UC_OK;
}

static enum uc_status check_ranges(const struct uc_problem *p,
                                   struct uc_error *err)
{
    const struct {
        const char *field;
        const int64_t *values;
        int count;
        int64_t least;
    } ranges[] = {
        { "groups", &p->groups, 1, 1 },
        { "c", &p->c, 1, 1 },
        { "k", &p->k, 1, 1 },
        { "in", p->in, p->spatial, 1 },
        { "filter", p->filter, p->spatial, 1 },
        { "pad", p->pad, p->spatial, 0 },
        { "stride", p->stride, p->spatial, 1 },
        { "dilation", p->dilation, p->spatial, 1 },
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (int j = 0; j < ranges[i].count; j++) {
            enum uc_status status = check_range(
                ranges[i].field, ranges[i].values[j], ranges[i].least, err);

            if (status != UC_OK)
                return status;
        }
    return UC_OK;
}

static enum uc_status check_types(const struct uc_problem *p,
                                  struct uc_error *err)
{
    if (p->math != UC_MATH_FMA && (p->x_type != uc_math_dtype(p->math) ||
                                   p->w_type != uc_math_dtype(p->math)))
        return uc_fail(err, UC_EINPUT, "math %s needs %s data, not %s",
                       uc_math_name(p->math),
                       uc_dtype_name(uc_math_dtype(p->math)),
                       uc_dtype_name(p->x_type));
    if (p->compute_type != UC_FP32 && p->compute_type != UC_FP64)
        return uc_fail(err, UC_EINPUT, "compute type must be fp32 or fp64");
    return UC_OK;
}

static enum uc_status check_strides(const char *field,
                                    const struct uc_tensor_layout *layout,
                                    int dims, struct uc_error *err)
{
    if (layout->kind != UC_STRIDED)
        return UC_OK;
    for (int i = 0; i < dims; i++) {
        enum uc_status status = check_range(field, layout->strides[i], 1, err);

        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static enum uc_status check_output(const struct uc_problem *p,
                                   struct uc_error *err)
{
    for (int i = 0; i < p->spatial; i++)
        if (out_extent(p, i) < 1)
            return uc_fail(err, UC_EINPUT,
                           "output extent below 1: filter %lld (dilation "
                           "%lld) is larger than input %lld with padding %lld",
                           (long long)p->filter[i], (long long)p->dilation[i],
                           (long long)p->in[i], (long long)p->pad[i]);
    return UC_OK;
}

/** One image's elements: cuDNN's strides of them are 32-bit too. */
static enum uc_status check_elements(const struct uc_problem *p,
                                     struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (int i = UC_X; i <= UC_Y && status == UC_OK; i++) {
        enum uc_tensor tensor = (enum uc_tensor)i;
        int64_t extents[UC_MAX_DIMS], elements = 1, bytes;

        uc_problem_extents(p, tensor, 1, extents);
        for (int j = 0; j < p->spatial + 2; j++) {
            if (extents[j] > max_extent / elements)
                return uc_fail(err, UC_EINPUT,
                               "tensor %s: more elements than cuDNN's limit "
                               "%lld",
                               tensor_names[i], (long long)max_extent);
            elements *= extents[j];
        }
        status = uc_problem_tensor_bytes(p, tensor, 1, &bytes, err);
    }
    return status;
}

enum uc_status uc_problem_check(const struct uc_problem *problem,
                                struct uc_error *err)
{
    int dims = problem->spatial + 2;
    enum uc_status status;

    if (problem->spatial < 1 || problem->spatial > UC_MAX_SPATIAL)
        return uc_fail(err, UC_EINPUT, "spatial dimensions must be 1 to 3");
    if ((status = check_ranges(problem, err)) != UC_OK ||
        (status = check_types(problem, err)) != UC_OK)
        return status;
    if (problem->c % problem->groups != 0)
        return uc_fail(err, UC_EINPUT, "c %lld is not divisible by groups %lld",
                       (long long)problem->c, (long long)problem->groups);
    if (problem->k % problem->groups != 0)
        return uc_fail(err, UC_EINPUT, "k %lld is not divisible by groups %lld",
                       (long long)problem->k, (long long)problem->groups);
    if (problem->w.kind == UC_STRIDED)
        return uc_fail(err, UC_EINPUT, "w has a named layout only");
    if ((status = check_strides("x stride", &problem->x, dims, err)) != UC_OK ||
        (status = check_strides("y stride", &problem->y, dims, err)) != UC_OK)
        return status;
    if ((status = check_output(problem, err)) != UC_OK)
        return status;
    return check_elements(problem, err);
}
