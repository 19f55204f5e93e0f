#include "config.h"

#include "common/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Printing ---------------------------------------------------------------*/

struct writer {
    char *text;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w,
                                                      const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->text + w->used, UC_PROBLEM_TEXT - w->used, format, args);
    va_end(args);
    if (n > 0)
        w->used += (size_t)n;
    if (w->used >= UC_PROBLEM_TEXT)
        w->used = UC_PROBLEM_TEXT - 1;
}

static void put_extents(struct writer *w, const char *key,
                        const int64_t *values, int count)
{
    put(w, ":%s", key);
    for (int i = 0; i < count; i++)
        put(w, "%s%lld", i > 0 ? "x" : "", (long long)values[i]);
}

static void put_layout(struct writer *w, const struct uc_tensor_layout *layout,
                       int dims)
{
    if (layout->kind != UC_STRIDED) {
        put(w, "%s", uc_layout_name(layout->kind));
        return;
    }
    for (int i = 0; i < dims; i++)
        put(w, "%s%lld", i > 0 ? "," : "", (long long)layout->strides[i]);
}

static bool all_equal(const int64_t *values, int count, int64_t value)
{
    for (int i = 0; i < count; i++)
        if (values[i] != value)
            return false;
    return true;
}

static enum uc_dtype default_compute(const struct uc_problem *p)
{
    return p->x_type == UC_FP64 ? UC_FP64 : UC_FP32;
}

void uc_problem_print(const struct uc_problem *problem,
                      char text[UC_PROBLEM_TEXT])
{
    const struct uc_problem *p = problem;
    struct writer w = { text, 0 };
    int n = p->spatial;

    put(&w, "%s:%s", uc_operation_name(p->operation), uc_dtype_name(p->x_type));
    if (p->w_type != p->x_type || p->y_type != p->x_type)
        put(&w, "/%s/%s", uc_dtype_name(p->w_type), uc_dtype_name(p->y_type));
    put(&w, ":%s:", uc_math_name(p->math));
    if (p->x.kind != UC_STRIDED && p->x.kind == p->w.kind &&
        p->x.kind == p->y.kind) {
        put(&w, "%s", uc_layout_name(p->x.kind));
    } else {
        put(&w, "x=");
        put_layout(&w, &p->x, n + 2);
        put(&w, "+w=");
        put_layout(&w, &p->w, n + 2);
        put(&w, "+y=");
        put_layout(&w, &p->y, n + 2);
    }
    put(&w, ":c%lld:k%lld", (long long)p->c, (long long)p->k);
    put_extents(&w, "i", p->in, n);
    put_extents(&w, "f", p->filter, n);
    if (!all_equal(p->pad, n, 0))
        put_extents(&w, "p", p->pad, n);
    if (!all_equal(p->stride, n, 1))
        put_extents(&w, "s", p->stride, n);
    if (!all_equal(p->dilation, n, 1))
        put_extents(&w, "d", p->dilation, n);
    if (p->groups != 1)
        put(&w, ":g%lld", (long long)p->groups);
    if (p->compute_type != default_compute(p))
        put(&w, ":acc=%s", uc_dtype_name(p->compute_type));
    if (p->mode == UC_CONVOLUTION)
        put(&w, ":conv");
}

/* Parsing ----------------------------------------------------------------*/

enum { FIELD_TEXT = 256 };

/** Copy what is before one of the separators and step over it. */
static bool take(const char **at, char separator, char field[FIELD_TEXT])
{
    const char *end = strchr(*at, separator);
    size_t length = end == NULL ? strlen(*at) : (size_t)(end - *at);

    if (length == 0 || length >= FIELD_TEXT)
        return false;
    memcpy(field, *at, length);
    field[length] = '\0';
    *at += length + (end != NULL);
    /* A separator with nothing behind it is a fault of the text. */
    return end == NULL || **at != '\0';
}

/** Decimal without sign or leading zeros. */
static bool parse_number(const char **at, int64_t *value)
{
    const char *start = *at;
    int64_t v = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, **at - '0', &v))
            return false;
    if (*at == start || (*start == '0' && *at - start > 1))
        return false;
    *value = v;
    return true;
}

/** "5x5" into values; *count 0 takes any number and sets it. */
static bool parse_list(const char *text, char separator, int most, int *count,
                       int64_t *values)
{
    int n = 0;

    do {
        if (n == most || !parse_number(&text, &values[n]))
            return false;
        n++;
    } while (*text == separator && *++text != '\0');
    if (*text != '\0' || text[-1] == separator || (*count != 0 && *count != n))
        return false;
    *count = n;
    return true;
}

static bool parse_types(char *field, struct uc_problem *p)
{
    const char *at = field;
    char name[FIELD_TEXT];

    if (strchr(field, '/') == NULL) {
        if (!uc_dtype_parse(field, &p->x_type))
            return false;
        p->w_type = p->y_type = p->x_type;
        return true;
    }
    return take(&at, '/', name) && uc_dtype_parse(name, &p->x_type) &&
           take(&at, '/', name) && uc_dtype_parse(name, &p->w_type) &&
           uc_dtype_parse(at, &p->y_type) &&
           (p->w_type != p->x_type || p->y_type != p->x_type);
}

/** Strides are counted in *dims, to be checked against the extents. */
static bool parse_layout(const char *text, const char *key,
                         struct uc_tensor_layout *layout, int *dims)
{
    size_t length = strlen(key);

    if (strncmp(text, key, length) != 0)
        return false;
    text += length;
    if (uc_layout_parse(text, &layout->kind))
        return layout->kind != UC_STRIDED;
    layout->kind = UC_STRIDED;
    return parse_list(text, ',', UC_MAX_DIMS, dims, layout->strides);
}

static bool parse_layouts(const char *field, struct uc_problem *p, int *dims)
{
    const char *at = field;
    char part[FIELD_TEXT];

    if (uc_layout_parse(field, &p->x.kind)) {
        p->w.kind = p->y.kind = p->x.kind;
        return p->x.kind != UC_STRIDED;
    }
    return take(&at, '+', part) && parse_layout(part, "x=", &p->x, dims) &&
           take(&at, '+', part) && parse_layout(part, "w=", &p->w, dims) &&
           parse_layout(at, "y=", &p->y, dims);
}

static bool parse_count(const char *field, char key, int64_t *value)
{
    int one = 1;

    return field[0] == key && parse_list(field + 1, 'x', 1, &one, value);
}

static bool parse_extents(const char *field, char key, int *count,
                          int64_t *values)
{
    return field[0] == key &&
           parse_list(field + 1, 'x', UC_MAX_SPATIAL, count, values);
}

/** The optional fields, each at most once and in the order of printing. */
static bool parse_option(const char *field, int *stage, struct uc_problem *p)
{
    static const char keys[] = "psdg";
    const char *key = strchr(keys, field[0]);
    int64_t *const lists[] = { p->pad, p->stride, p->dilation };
    int at;

    if (strcmp(field, "conv") == 0) {
        at = 6;
        p->mode = UC_CONVOLUTION;
    } else if (strncmp(field, "acc=", 4) == 0) {
        at = 5;
        if (!uc_dtype_parse(field + 4, &p->compute_type) ||
            p->compute_type == default_compute(p))
            return false;
    } else if (key != NULL && *key == 'g') {
        at = 4;
        if (!parse_count(field, 'g', &p->groups) || p->groups == 1)
            return false;
    } else if (key != NULL) {
        int64_t *list = lists[key - keys];

        at = 1 + (int)(key - keys);
        if (!parse_extents(field, *key, &p->spatial, list) ||
            all_equal(list, p->spatial, *key == 'p' ? 0 : 1))
            return false;
    } else {
        return false;
    }
    if (at <= *stage)
        return false;
    *stage = at;
    return true;
}

/** NULL, or what is wrong with the field now in `field`. */
static const char *parse_fields(const char *at, char field[FIELD_TEXT],
                                struct uc_problem *p)
{
    int dims = 0, stage = 0;

    if (!take(&at, ':', field) || !uc_operation_parse(field, &p->operation))
        return "operation";
    if (!take(&at, ':', field) || !parse_types(field, p))
        return "data type";
    p->compute_type = default_compute(p);
    if (!take(&at, ':', field) || !uc_math_parse(field, &p->math))
        return "math";
    if (!take(&at, ':', field) || !parse_layouts(field, p, &dims))
        return "layout";
    if (!take(&at, ':', field) || !parse_count(field, 'c', &p->c))
        return "c";
    if (!take(&at, ':', field) || !parse_count(field, 'k', &p->k))
        return "k";
    if (!take(&at, ':', field) ||
        !parse_extents(field, 'i', &p->spatial, p->in))
        return "input extents";
    if (dims != 0 && dims != p->spatial + 2)
        return "number of strides";
    if (!take(&at, ':', field) ||
        !parse_extents(field, 'f', &p->spatial, p->filter))
        return "filter extents";
    for (int i = 0; i < p->spatial; i++)
        p->stride[i] = p->dilation[i] = 1;
    while (*at != '\0')
        if (!take(&at, ':', field) || !parse_option(field, &stage, p))
            return "option";
    return NULL;
}

enum uc_status uc_problem_parse(const char *text, struct uc_problem *problem,
                                struct uc_error *err)
{
    struct uc_problem p = { .groups = 1 };
    char field[FIELD_TEXT] = "", again[UC_PROBLEM_TEXT];
    const char *wrong = parse_fields(text, field, &p);
    enum uc_status status;

    if (wrong != NULL)
        return uc_fail(err, UC_EINPUT, "problem \"%.100s\": wrong %s \"%.40s\"",
                       text, wrong, field);
    status = uc_problem_check(&p, err);
    if (status != UC_OK) {
        char name[128];

        snprintf(name, sizeof name, "problem \"%.100s\"", text);
        return uc_wrap(err, status, name);
    }
    uc_problem_print(&p, again);
    if (strcmp(again, text) != 0)
        return uc_fail(err, UC_EINPUT,
                       "problem \"%.100s\" is written \"%.100s\"", text, again);
    *problem = p;
    return UC_OK;
}
