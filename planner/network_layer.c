#include "config.h"

#include "planner/network_reader.h"

#include <string.h>

/** Times are added up: repeats stay where 64 bits cannot run out. */
static const int64_t max_repeat = 1000000;

enum kind {
    INTEGER,
    EXTENTS, /* a list, or one number for every dimension */
    LIST,    /* a list */
    OPERATIONS,
    DTYPE,
    MATH,
    LAYOUT,
    MODE
};

struct key {
    const char *name;
    enum kind kind;
    bool top; /* may stand at the top level too */
    size_t offset;
    int64_t least;
};

#define AT(field) offsetof(struct uc_layer_spec, field)
static const struct key keys[] = {
    { "in", LIST, false, AT(in), 1 },
    { "c", INTEGER, false, AT(c), 1 },
    { "k", INTEGER, false, AT(k), 1 },
    { "filter", EXTENTS, false, AT(filter), 1 },
    { "pad", EXTENTS, false, AT(pad), 0 },
    { "stride", EXTENTS, false, AT(stride), 1 },
    { "dilation", EXTENTS, false, AT(dilation), 1 },
    { "groups", INTEGER, false, AT(groups), 1 },
    { "operations", OPERATIONS, false, AT(runs), 0 },
    { "repeat", INTEGER, false, AT(repeat), 1 },
    { "dtype", DTYPE, true, AT(dtype), 0 },
    { "math", MATH, true, AT(math), 0 },
    { "layout", LAYOUT, true, AT(layout), 0 },
    { "w_layout", LAYOUT, false, AT(w_layout), 0 },
    { "x_strides", LIST, false, AT(x_strides), 1 },
    { "y_strides", LIST, false, AT(y_strides), 1 },
    { "mode", MODE, true, AT(mode), 0 },
};
#undef AT
enum { KEYS = sizeof keys / sizeof *keys };

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(name, keys[i].name) == 0)
            return &keys[i];
    return NULL;
}

bool uc_layer_key_known(const char *key, bool top)
{
    const struct key *found = find_key(key);

    return found != NULL && (!top || found->top);
}

const char *uc_layer_key_name(size_t index)
{
    return index < KEYS ? keys[index].name : NULL;
}

struct uc_layer_spec uc_layer_spec_default(void)
{
    return (struct uc_layer_spec){
        .pad = { -1, { 0 } },
        .stride = { -1, { 1 } },
        .dilation = { -1, { 1 } },
        .groups = 1,
        .repeat = 1,
        .runs = { true, true, true },
        .dtype = UC_FP32,
        .math = UC_MATH_FMA,
        .layout = UC_NCHW,
        .w_layout = -1,
        .mode = UC_CROSS_CORRELATION,
    };
}

/** A key being read. */
struct member {
    const struct uc_network_reader *reader;
    const json_t *object;
    const struct key *key;
    const json_t *value;
};

static enum uc_status read_extents(const struct member *m,
                                   struct uc_layer_extents *extents)
{
    struct uc_layer_extents read = { .count = -1 };
    size_t most = m->key->kind == EXTENTS || strcmp(m->key->name, "in") == 0
                      ? UC_MAX_SPATIAL
                      : UC_MAX_DIMS;
    size_t least = most == UC_MAX_DIMS ? 3 : 1;
    const json_t *value;
    enum uc_status status = UC_OK;
    size_t i;

    if (!json_is_array(m->value)) {
        if (m->key->kind == LIST)
            return uc_network_fault(m->reader, m->object, m->key->name,
                                    "%s must be a list of integers",
                                    m->key->name);
        status =
            uc_network_integer(m->reader, m->object, m->key->name, m->value,
                               m->key->least, INT32_MAX, &read.values[0]);
    } else {
        if (json_array_size(m->value) < least ||
            json_array_size(m->value) > most)
            return uc_network_fault(m->reader, m->object, m->key->name,
                                    "%s must have %zu to %zu numbers",
                                    m->key->name, least, most);
        read.count = (int)json_array_size(m->value);
        for (i = 0;
             (value = json_array_get(m->value, i)) != NULL && status == UC_OK;
             i++)
            status =
                uc_network_integer(m->reader, m->object, m->key->name, value,
                                   m->key->least, INT32_MAX, &read.values[i]);
    }
    if (status == UC_OK)
        *extents = read;
    return status;
}

static enum uc_status read_operations(const struct member *m,
                                      bool runs[UC_OPERATIONS])
{
    const char *name = m->key->name;

    if (!json_is_array(m->value) || json_array_size(m->value) == 0)
        return uc_network_fault(m->reader, m->object, name,
                                "%s must be a list of forward, backward-data, "
                                "backward-filter",
                                name);
    memset(runs, 0, UC_OPERATIONS * sizeof *runs);
    for (size_t i = 0; i < json_array_size(m->value); i++) {
        const char *text = json_string_value(json_array_get(m->value, i));
        enum uc_operation operation;

        if (text == NULL)
            return uc_network_fault(m->reader, m->object, name,
                                    "%s must hold strings", name);
        if (!uc_operation_parse(text, &operation))
            return uc_network_fault(m->reader, m->object, name,
                                    "unknown operation \"%.64s\" (forward, "
                                    "backward-data or backward-filter)",
                                    text);
        if (runs[operation])
            return uc_network_fault(m->reader, m->object, name,
                                    "operation %s is named twice", text);
        runs[operation] = true;
    }
    return UC_OK;
}

static bool parse_word(enum kind kind, const char *text, int *value)
{
    enum uc_dtype dtype;
    enum uc_math math;
    enum uc_layout layout;

    switch (kind) {
    case DTYPE:
        if (!uc_dtype_parse(text, &dtype))
            return false;
        *value = (int)dtype;
        return true;
    case MATH:
        if (!uc_math_parse(text, &math))
            return false;
        *value = (int)math;
        return true;
    case LAYOUT:
        if (!uc_layout_parse(text, &layout) || layout == UC_STRIDED)
            return false;
        *value = (int)layout;
        return true;
    default:
        if (strcmp(text, "cross-correlation") != 0 &&
            strcmp(text, "convolution") != 0)
            return false;
        *value = strcmp(text, "convolution") == 0 ? UC_CONVOLUTION
                                                  : UC_CROSS_CORRELATION;
        return true;
    }
}

static enum uc_status read_word(const struct member *m, int *value)
{
    static const char *const words[] = {
        [DTYPE] = "fp32, fp16, bf16 or fp64",
        [MATH] = "fma, tf32, fp16 or bf16",
        [LAYOUT] = "nchw or nhwc",
        [MODE] = "cross-correlation or convolution",
    };
    const char *text = json_string_value(m->value);

    if (text != NULL && parse_word(m->key->kind, text, value))
        return UC_OK;
    return uc_network_fault(m->reader, m->object, m->key->name, "%s must be %s",
                            m->key->name, words[m->key->kind]);
}

static enum uc_status read_member(const struct member *m,
                                  struct uc_layer_spec *spec)
{
    void *field = (char *)spec + m->key->offset;

    switch (m->key->kind) {
    case INTEGER:
        return uc_network_integer(
            m->reader, m->object, m->key->name, m->value, m->key->least,
            field == &spec->repeat ? max_repeat : INT32_MAX, field);
    case EXTENTS:
    case LIST:
        return read_extents(m, field);
    case OPERATIONS:
        return read_operations(m, field);
    default:
        return read_word(m, field);
    }
}

/** The math on a data type when only one of the two is said. */
static void settle_types(bool dtype_given, bool math_given, int *dtype,
                         int *math)
{
    if (dtype_given && !math_given)
        *math = (int)uc_dtype_math((enum uc_dtype)(*dtype));
    else if (math_given && !dtype_given &&
             !(*math == UC_MATH_FMA && *dtype == UC_FP64))
        *dtype = (int)uc_math_dtype((enum uc_math)(*math));
}

enum uc_status uc_layer_spec_read(const struct uc_network_reader *reader,
                                  const json_t *object, bool top,
                                  struct uc_layer_spec *spec)
{
    const char *name;
    const json_t *value;

    /* jansson keeps the order of the file; its iterators only read. */
    json_object_foreach((json_t *)object, name, value)
    {
        struct member member = { reader, object, find_key(name), value };
        enum uc_status status;

        if (top && (member.key == NULL || !member.key->top))
            continue;
        if (member.key == NULL)
            return uc_network_fault(reader, object, name,
                                    "unknown key \"%.64s\"", name);
        if ((status = read_member(&member, spec)) != UC_OK)
            return status;
    }
    settle_types(json_object_get(object, "dtype") != NULL,
                 json_object_get(object, "math") != NULL, &spec->dtype,
                 &spec->math);
    return UC_OK;
}

static void set_types(struct uc_problem *problem, int dtype, int math)
{
    problem->x_type = problem->w_type = problem->y_type = (enum uc_dtype)dtype;
    problem->compute_type = dtype == UC_FP64 ? UC_FP64 : UC_FP32;
    problem->math = (enum uc_math)math;
}

static void set_layout(struct uc_problem *problem, int layout)
{
    problem->x = problem->w = problem->y =
        (struct uc_tensor_layout){ .kind = (enum uc_layout)layout };
}

static void set_strides(struct uc_tensor_layout *layout,
                        const struct uc_layer_extents *strides)
{
    if (strides->count == 0)
        return;
    layout->kind = UC_STRIDED;
    memcpy(layout->strides, strides->values, sizeof layout->strides);
}

/** Extents that have a number for each dimension, or one for all. */
static const char *set_extents(const struct uc_layer_extents *extents,
                               int spatial, int64_t values[UC_MAX_SPATIAL])
{
    if (extents->count == 0)
        return "is missing";
    if (extents->count > 0 && extents->count != spatial)
        return "and in differ in length";
    for (int i = 0; i < spatial; i++)
        values[i] = extents->values[extents->count > 0 ? i : 0];
    return NULL;
}

static enum uc_status fill_problem(const struct uc_network_reader *reader,
                                   const json_t *layers, const char *name,
                                   const struct uc_layer_spec *spec,
                                   struct uc_problem *problem)
{
    const struct {
        const char *name;
        const struct uc_layer_extents *extents;
        int64_t *values;
    } lists[] = {
        { "in", &spec->in, problem->in },
        { "filter", &spec->filter, problem->filter },
        { "pad", &spec->pad, problem->pad },
        { "stride", &spec->stride, problem->stride },
        { "dilation", &spec->dilation, problem->dilation },
    };

    if (spec->c == 0 || spec->k == 0)
        return uc_network_fault(reader, layers, name, "%s is missing",
                                spec->c == 0 ? "c" : "k");
    problem->spatial = spec->in.count;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *reason =
            set_extents(lists[i].extents, spec->in.count, lists[i].values);

        if (reason != NULL)
            return uc_network_fault(reader, layers, name, "%s %s",
                                    lists[i].name, reason);
    }
    if ((spec->x_strides.count != 0 &&
         spec->x_strides.count != problem->spatial + 2) ||
        (spec->y_strides.count != 0 &&
         spec->y_strides.count != problem->spatial + 2))
        return uc_network_fault(reader, layers, name,
                                "x_strides and y_strides must have %d numbers",
                                problem->spatial + 2);
    problem->c = spec->c;
    problem->k = spec->k;
    problem->groups = spec->groups;
    problem->mode = (enum uc_mode)spec->mode;
    set_types(problem, spec->dtype, spec->math);
    set_layout(problem, spec->layout);
    if (spec->w_layout >= 0)
        problem->w.kind = (enum uc_layout)spec->w_layout;
    set_strides(&problem->x, &spec->x_strides);
    set_strides(&problem->y, &spec->y_strides);
    return UC_OK;
}

static enum uc_status check_problem(const struct uc_problem *problem,
                                    int64_t batch, struct uc_error *err)
{
    static const enum uc_tensor tensors[] = { UC_X, UC_W, UC_Y };
    enum uc_status status = uc_problem_check(problem, err);
    int64_t bytes;

    for (size_t i = 0; i < 3 && status == UC_OK; i++)
        status =
            uc_problem_tensor_bytes(problem, tensors[i], batch, &bytes, err);
    return status;
}

static void override(struct uc_problem *problem,
                     const struct uc_network_overrides *overrides)
{
    int dtype = (int)problem->x_type, math = (int)problem->math;

    if (overrides->dtype >= 0)
        dtype = overrides->dtype;
    if (overrides->math >= 0)
        math = overrides->math;
    /* One of the two alone brings the other, unless it changes nothing. */
    if (dtype != (int)problem->x_type || math != (int)problem->math)
        settle_types(overrides->dtype >= 0, overrides->math >= 0, &dtype,
                     &math);
    set_types(problem, dtype, math);
    if (overrides->layout >= 0)
        set_layout(problem, overrides->layout);
}

enum uc_status uc_layer_finish(const struct uc_network_reader *reader,
                               const json_t *layers, const char *name,
                               const struct uc_layer_spec *spec, int64_t batch,
                               struct uc_layer *layer)
{
    struct uc_layer made = { .repeat = spec->repeat };
    struct uc_error reason;
    enum uc_status status;

    status = fill_problem(reader, layers, name, spec, &made.problem);
    if (status != UC_OK)
        return status;
    if (check_problem(&made.problem, 1, &reason) != UC_OK)
        return uc_network_fault(reader, layers, name, "%s", reason.text);
    override(&made.problem, reader->overrides);
    if (check_problem(&made.problem, batch, &reason) != UC_OK)
        return uc_network_fault(reader, layers, name, "%s", reason.text);
    memcpy(made.runs, spec->runs, sizeof made.runs);
    /* The caller has checked that the name fits. */
    memcpy(made.name, name, strlen(name) + 1);
    *layer = made;
    return UC_OK;
}
