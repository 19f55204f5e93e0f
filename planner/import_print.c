#include "config.h"

#include "planner/import.h"

#include "common/array.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Batches ----------------------------------------------------------------*/

/** Layers as a description counts them: entries times repeats. */
static void count_layer(const struct uc_import_layer *layer,
                        struct uc_import_batch *batch)
{
    for (int op = 0; op < UC_OPERATIONS; op++) {
        bool counted = layer->repeat[op] == 0;

        batch->operations += layer->repeat[op];
        for (int before = 0; before < op; before++)
            counted = counted || layer->repeat[before] == layer->repeat[op];
        if (!counted)
            batch->layers += layer->repeat[op];
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = ((const struct uc_import_batch *)a)->batch;
    int64_t y = ((const struct uc_import_batch *)b)->batch;

    return (x > y) - (x < y);
}

enum uc_status uc_import_batches(const struct uc_import_list *list,
                                 struct uc_import_batch **batches,
                                 size_t *count, struct uc_error *err)
{
    struct uc_import_batch *made, most;
    void *array = NULL;
    size_t used = 0, largest = 0;

    for (size_t i = 0; i < list->count; i++) {
        size_t b = 0;

        made = array;
        while (b < used && made[b].batch != list->layers[i]->batch)
            b++;
        if (b == used) {
            if (uc_array_append(&array, &used, sizeof *made) == NULL) {
                free(array);
                return uc_no_memory(err);
            }
            made = array;
            made[b].batch = list->layers[i]->batch;
        }
        count_layer(list->layers[i], &made[b]);
    }
    made = array;
    for (size_t b = 1; b < used; b++)
        if (made[b].operations > made[largest].operations)
            largest = b;
    if (used > 0) {
        most = made[largest];
        made[largest] = made[0];
        made[0] = most;
        qsort(made + 1, used - 1, sizeof *made, by_size);
    }
    *batches = made;
    *count = used;
    return UC_OK;
}

/* One layer --------------------------------------------------------------*/

static void put(json_t *object, const char *key, json_t *value, bool *failed)
{
    if (json_object_set_new(object, key, value) != 0)
        *failed = true;
}

static json_t *list_of(const int64_t *values, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        if (json_array_append_new(list, json_integer(values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/** One number where all are equal; nothing where that is the default. */
static void put_extents(json_t *object, const char *key, const int64_t *values,
                        int count, int64_t usual, bool *failed)
{
    for (int i = 1; i < count; i++)
        if (values[i] != values[0]) {
            put(object, key, list_of(values, count), failed);
            return;
        }
    if (values[0] != usual)
        put(object, key, json_integer(values[0]), failed);
}

/** What runs, unless it is everything. */
static void put_operations(json_t *object, const bool runs[UC_OPERATIONS],
                           bool *failed)
{
    json_t *list;

    if (runs[UC_FORWARD] && runs[UC_BACKWARD_DATA] && runs[UC_BACKWARD_FILTER])
        return;
    list = json_array();
    for (int op = 0; op < UC_OPERATIONS; op++)
        if (runs[op] &&
            json_array_append_new(list, json_string(uc_operation_name(
                                            (enum uc_operation)op))) != 0)
            *failed = true;
    put(object, "operations", list, failed);
}

/** The operations of a layer that run `repeat` times. */
static json_t *layer_json(const struct uc_problem *p,
                          const bool runs[UC_OPERATIONS], int64_t repeat)
{
    json_t *object = json_object();
    bool failed = object == NULL;
    int n = p->spatial;

    put(object, "in", list_of(p->in, n), &failed);
    put(object, "c", json_integer(p->c), &failed);
    put(object, "k", json_integer(p->k), &failed);
    put_extents(object, "filter", p->filter, n, 0, &failed);
    put_extents(object, "pad", p->pad, n, 0, &failed);
    put_extents(object, "stride", p->stride, n, 1, &failed);
    put_extents(object, "dilation", p->dilation, n, 1, &failed);
    if (p->groups != 1)
        put(object, "groups", json_integer(p->groups), &failed);
    if (p->x_type != UC_FP32)
        put(object, "dtype", json_string(uc_dtype_name(p->x_type)), &failed);
    if (p->x.kind != UC_NCHW)
        put(object, "layout", json_string(uc_layout_name(p->x.kind)), &failed);
    if (p->w.kind != p->x.kind)
        put(object, "w_layout", json_string(uc_layout_name(p->w.kind)),
            &failed);
    put_operations(object, runs, &failed);
    if (repeat != 1)
        put(object, "repeat", json_integer(repeat), &failed);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

/* Names ------------------------------------------------------------------*/

/** `name` with a number behind it, the end of the name cut off to fit. */
static void number_name(const char *name, int64_t number,
                        char text[UC_LAYER_NAME])
{
    char suffix[24];
    size_t length = strlen(name), room;

    snprintf(suffix, sizeof suffix, "-%" PRId64, number);
    room = UC_LAYER_NAME - 1 - strlen(suffix);
    if (length > room)
        for (length = room; length > 0 && (name[length] & 0xc0) == 0x80;)
            length--;
    snprintf(text, UC_LAYER_NAME, "%.*s%s", (int)length, name, suffix);
}

/** A name that `layers` does not have; `numbers` holds the last number used
    behind each. */
static bool unique_name(const json_t *layers, json_t *numbers, const char *name,
                        char text[UC_LAYER_NAME])
{
    int64_t number = json_integer_value(json_object_get(numbers, name));

    snprintf(text, UC_LAYER_NAME, "%s", name);
    while (json_object_get(layers, text) != NULL) {
        number = number < 2 ? 2 : number + 1;
        number_name(name, number, text);
    }
    return json_object_set_new(numbers, name, json_integer(number)) == 0;
}

/* A description ----------------------------------------------------------*/

/** The entries of a layer, one for each number of repeats. */
static bool add_layer(json_t *layers, json_t *numbers,
                      const struct uc_import_layer *layer, const char *name)
{
    bool done[UC_OPERATIONS] = { false };

    for (int op = 0; op < UC_OPERATIONS; op++) {
        bool runs[UC_OPERATIONS] = { false };
        char text[UC_LAYER_NAME];

        if (layer->repeat[op] == 0 || done[op])
            continue;
        for (int other = op; other < UC_OPERATIONS; other++)
            if (layer->repeat[other] == layer->repeat[op])
                runs[other] = done[other] = true;
        if (!unique_name(layers, numbers, name, text) ||
            json_object_set_new(
                layers, text,
                layer_json(&layer->problem, runs, layer->repeat[op])) != 0)
            return false;
    }
    return true;
}

static bool add_layers(json_t *layers, const struct uc_import_list *list,
                       int64_t batch)
{
    json_t *numbers = json_object();
    bool done = numbers != NULL;
    size_t position = 0;

    for (size_t i = 0; i < list->count && done; i++) {
        const struct uc_import_layer *layer = list->layers[i];
        char name[UC_LAYER_NAME];

        if (layer->batch != batch)
            continue;
        snprintf(name, sizeof name, "conv%zu", ++position);
        done = add_layer(layers, numbers, layer,
                         layer->name[0] != '\0' ? layer->name : name);
    }
    json_decref(numbers);
    return done;
}

/** "key": value and what follows it; a value that is none has failed. */
static void write_member(FILE *out, const char *indent, const char *key,
                         json_t *value, const char *behind, bool *failed)
{
    json_t *name = json_string(key);
    char *left = json_dumps(name, JSON_ENCODE_ANY);
    char *right = json_dumps(value, JSON_ENCODE_ANY);

    if (left == NULL || right == NULL)
        *failed = true;
    else
        fprintf(out, "%s%s: %s%s", indent, left, right, behind);
    free(left);
    free(right);
    json_decref(name);
}

static void write_text(FILE *out, const char *key, const char *text,
                       bool *failed)
{
    json_t *value = json_string(text);

    write_member(out, "  ", key, value, ",\n", failed);
    json_decref(value);
}

/** A layer a line. */
static bool write_network(FILE *out, const char *name, const char *source,
                          int64_t batch, json_t *layers)
{
    bool failed = false;
    size_t left = json_object_size(layers);
    const char *key;
    json_t *value;

    fprintf(out, "{\n");
    write_text(out, "name", name, &failed);
    write_text(out, "source", source, &failed);
    fprintf(out, "  \"batch\": %" PRId64 ",\n  \"layers\": {\n", batch);
    json_object_foreach(layers, key, value)
    {
        write_member(out, "    ", key, value, --left > 0 ? ",\n" : "\n",
                     &failed);
    }
    fprintf(out, "  }\n}\n");
    return !failed && !ferror(out);
}

/** What was printed is what the reader of networks takes. */
static enum uc_status check_text(const char *text, size_t length,
                                 const char *name, struct uc_error *err)
{
    struct uc_network network = { .layers = NULL };
    enum uc_status status =
        uc_network_parse(text, length, name, &UC_NETWORK_AS_IS, &network, err);

    uc_network_free(&network);
    return status;
}

enum uc_status uc_import_print(const struct uc_import_list *list, int64_t batch,
                               const char *name, const char *source,
                               char **text, struct uc_error *err)
{
    json_t *layers = json_object();
    char *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    bool done = layers != NULL && out != NULL &&
                add_layers(layers, list, batch) &&
                write_network(out, name, source, batch, layers);
    enum uc_status status;

    if (out != NULL && fclose(out) != 0)
        done = false;
    json_decref(layers);
    status = done ? check_text(made, length, name, err) : uc_no_memory(err);
    if (status == UC_OK) {
        *text = made;
        made = NULL;
    }
    free(made);
    return status;
}
