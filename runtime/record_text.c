#include "config.h"

#include "runtime/record_text.h"

#include <inttypes.h>
#include <string.h>

/* What a description can say ---------------------------------------------*/

/** A stride for extents of 1, as if the tensor were packed around them. */
static void fill_strides(const struct uc_problem *p, enum uc_tensor tensor,
                         struct uc_tensor_layout *layout)
{
    int dims = p->spatial + 2;
    int64_t extents[UC_MAX_DIMS], *s = layout->strides;

    if (layout->kind != UC_STRIDED)
        return;
    uc_problem_extents(p, tensor, 2, extents);
    for (int i = dims - 1; i >= 1; i--) {
        if (extents[i] != 1)
            continue;
        if (i < dims - 1)
            s[i] = s[i + 1] * extents[i + 1];
        else
            s[i] = extents[1] != 1 && s[1] == 1 ? extents[1] : 1;
    }
}

const char *uc_record_describable(const struct uc_problem *problem,
                                  int64_t batch, struct uc_problem *described)
{
    static const enum uc_tensor tensors[] = { UC_X, UC_W, UC_Y };
    struct uc_problem p = *problem;
    struct uc_error err;
    int64_t bytes;

    if (p.w_type != p.x_type || p.y_type != p.x_type)
        return "mixed data types";
    if (p.compute_type != (p.x_type == UC_FP64 ? UC_FP64 : UC_FP32))
        return "compute type";
    fill_strides(&p, UC_X, &p.x);
    fill_strides(&p, UC_Y, &p.y);
    if (uc_problem_check(&p, &err) != UC_OK)
        return "shape";
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        if (uc_problem_tensor_bytes(&p, tensors[i], batch, &bytes, &err) !=
            UC_OK)
            return "size";
    *described = p;
    return NULL;
}

/* Printing ---------------------------------------------------------------*/

/** A JSON string of at most `most` bytes; what is not plain becomes '?'. */
static void put_string(FILE *out, const char *text, size_t most)
{
    putc('"', out);
    for (size_t i = 0; i < most && text[i] != '\0'; i++) {
        unsigned char c = (unsigned char)text[i];

        putc(c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c, out);
    }
    putc('"', out);
}

static void put_list(FILE *out, const char *key, const int64_t *values,
                     int count)
{
    fprintf(out, ", \"%s\": [", key);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%" PRId64, i > 0 ? ", " : "", values[i]);
    putc(']', out);
}

/** One number where all are equal; nothing where that is the default. */
static void put_extents(FILE *out, const char *key, const int64_t *values,
                        int count, int64_t usual)
{
    for (int i = 1; i < count; i++)
        if (values[i] != values[0]) {
            put_list(out, key, values, count);
            return;
        }
    if (values[0] != usual)
        fprintf(out, ", \"%s\": %" PRId64, key, values[0]);
}

static void put_layout(FILE *out, const struct uc_problem *p)
{
    /* Strided tensors have their strides; "layout" then names the filter's. */
    enum uc_layout layout = p->x.kind != UC_STRIDED   ? p->x.kind
                            : p->y.kind != UC_STRIDED ? p->y.kind
                                                      : p->w.kind;
    int64_t strides[UC_MAX_DIMS];

    fprintf(out, ", \"layout\": \"%s\"", uc_layout_name(layout));
    if (p->w.kind != layout)
        fprintf(out, ", \"w_layout\": \"%s\"", uc_layout_name(p->w.kind));
    uc_problem_strides(p, UC_X, strides);
    if (p->x.kind != layout)
        put_list(out, "x_strides", strides, p->spatial + 2);
    uc_problem_strides(p, UC_Y, strides);
    if (p->y.kind != layout)
        put_list(out, "y_strides", strides, p->spatial + 2);
}

static void put_shape(FILE *out, const struct uc_problem *p)
{
    int n = p->spatial;

    fprintf(out, "\"in\": [");
    for (int i = 0; i < n; i++)
        fprintf(out, "%s%" PRId64, i > 0 ? ", " : "", p->in[i]);
    fprintf(out, "], \"c\": %" PRId64 ", \"k\": %" PRId64, p->c, p->k);
    put_extents(out, "filter", p->filter, n, 0);
    put_extents(out, "pad", p->pad, n, 0);
    put_extents(out, "stride", p->stride, n, 1);
    put_extents(out, "dilation", p->dilation, n, 1);
    if (p->groups != 1)
        fprintf(out, ", \"groups\": %" PRId64, p->groups);
    fprintf(out, ",\n      \"dtype\": \"%s\", \"math\": \"%s\"",
            uc_dtype_name(p->x_type), uc_math_name(p->math));
    put_layout(out, p);
    if (p->mode == UC_CONVOLUTION)
        fprintf(out, ", \"mode\": \"convolution\"");
}

/** An entry: the layer's operations that run `repeat` times. */
static void put_entry(FILE *out, const struct uc_record_layer *layer,
                      int64_t repeat)
{
    const char *separator = "";

    fprintf(out, ": { ");
    put_shape(out, &layer->problem);
    fprintf(out, ",\n      \"operations\": [");
    for (int op = 0; op < UC_OPERATIONS; op++)
        if (layer->repeat[op] == repeat) {
            fprintf(out, "%s\"%s\"", separator,
                    uc_operation_name((enum uc_operation)op));
            separator = ", ";
        }
    putc(']', out);
    if (repeat != 1)
        fprintf(out, ", \"repeat\": %" PRId64, repeat);
    fprintf(out, " }");
}

static void put_layer(FILE *out, const struct uc_record_layer *layer,
                      size_t number)
{
    const char *separator = number > 1 ? "," : "";
    int entries = 0;

    for (int op = 0; op < UC_OPERATIONS; op++) {
        bool done = layer->repeat[op] == 0;

        for (int before = 0; before < op; before++)
            done = done || layer->repeat[before] == layer->repeat[op];
        if (done)
            continue;
        fprintf(out, "%s\n    \"conv%zu", separator, number);
        if (entries++ > 0)
            fprintf(out, "-%d", entries);
        putc('"', out);
        put_entry(out, layer, layer->repeat[op]);
        separator = ",";
    }
}

void uc_record_print(FILE *out, const char *name, const char *description,
                     int64_t batch, const struct uc_record_layer *layers,
                     size_t count)
{
    enum { MOST_NAME = 63, MOST_TEXT = 255 };

    fprintf(out, "{\n  \"name\": ");
    put_string(out, name[0] != '\0' ? name : "recorded", MOST_NAME);
    if (description[0] != '\0') {
        fprintf(out, ",\n  \"description\": ");
        put_string(out, description, MOST_TEXT);
    }
    fprintf(out, ",\n  \"source\": \"recorded by ucudnn %s\"", PACKAGE_VERSION);
    fprintf(out, ",\n  \"batch\": %" PRId64 ",\n  \"layers\": {", batch);
    for (size_t i = 0; i < count; i++)
        put_layer(out, &layers[i], i + 1);
    fprintf(out, "\n  }\n}\n");
}
