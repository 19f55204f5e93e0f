#include "config.h"

#include "planner/import_reader.h"

#include "common/array.h"
#include "common/text.h"

#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    void (*read)(struct uc_import_reader *reader);
    bool (*looks)(const char *line);
} formats[UC_IMPORT_FORMATS] = {
    [UC_IMPORT_DEEPBENCH] = { "deepbench", uc_import_deepbench,
                              uc_import_is_deepbench },
    [UC_IMPORT_BENCHDNN] = { "benchdnn", uc_import_benchdnn,
                             uc_import_is_benchdnn },
    [UC_IMPORT_MIOPEN] = { "miopen", uc_import_miopen, uc_import_is_miopen },
};

const char *uc_import_format_name(enum uc_import_format format)
{
    return formats[format].name;
}

bool uc_import_format_parse(const char *name, enum uc_import_format *format)
{
    for (int i = 0; i < UC_IMPORT_FORMATS; i++)
        if (strcmp(name, formats[i].name) == 0) {
            *format = (enum uc_import_format)i;
            return true;
        }
    return false;
}

/* Lines ------------------------------------------------------------------*/

/** A line as text: ended, blanks for tabs, no carriage return. */
static size_t end_line(char *line, char *end)
{
    *end = '\0';
    if (end > line && end[-1] == '\r')
        *--end = '\0';
    for (char *c = line; c < end; c++)
        if (*c == '\t')
            *c = ' ';
    return (size_t)(end - line);
}

bool uc_import_next(struct uc_import_reader *reader, char **line)
{
    while (reader->full == UC_OK && reader->next < reader->end) {
        char *start = reader->next;
        char *end = memchr(start, '\n', (size_t)(reader->end - start));
        size_t length;

        if (end == NULL)
            end = reader->end;
        reader->next = end + 1;
        reader->line++;
        length = end_line(start, end);
        if (!uc_text_is_line(start, length)) {
            uc_import_wrong(reader, "is not a line of UTF-8 text");
        } else if (strspn(start, " ") < length) {
            *line = start;
            return true;
        }
    }
    return false;
}

void uc_import_wrong(struct uc_import_reader *reader, const char *format, ...)
{
    char reason[256];
    va_list args;

    reader->wrong += reader->line != reader->wrong_line;
    reader->wrong_line = reader->line;
    if (reader->request->wrong == NULL)
        return;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    uc_text_make_line(reason);
    reader->request->wrong(reader->request->context, reader->line, reason);
}

char *uc_import_word(char **text)
{
    char *word = *text + strspn(*text, " ");
    char *end = word + strcspn(word, " ");

    if (*word == '\0')
        return NULL;
    *text = *end == '\0' ? end : end + 1;
    *end = '\0';
    return word;
}

bool uc_import_number(struct uc_import_reader *reader, const char *what,
                      const char *text, int64_t least, int64_t *number)
{
    int64_t value = 0;
    const char *c = text;

    for (; *c >= '0' && *c <= '9' && value <= INT32_MAX; c++)
        value = value * 10 + (*c - '0');
    if (c == text || *c != '\0' || value < least || value > INT32_MAX) {
        uc_import_wrong(reader,
                        "%s must be a whole number from %" PRId64
                        " to %d, is \"%.40s\"",
                        what, least, INT32_MAX, text);
        return false;
    }
    *number = value;
    return true;
}

/* Layers -----------------------------------------------------------------*/

struct uc_problem uc_import_problem(int spatial, enum uc_dtype type)
{
    struct uc_problem problem = {
        .operation = UC_FORWARD,
        .spatial = spatial,
        .x_type = type,
        .w_type = type,
        .y_type = type,
        .compute_type = type == UC_FP64 ? UC_FP64 : UC_FP32,
        .math = uc_dtype_math(type),
        .groups = 1,
    };

    for (int i = 0; i < spatial; i++)
        problem.stride[i] = problem.dilation[i] = 1;
    return problem;
}

/** The rules of a network's layers. */
static enum uc_status check_item(const struct uc_import_item *item,
                                 struct uc_error *err)
{
    static const enum uc_tensor tensors[] = { UC_X, UC_W, UC_Y };
    enum uc_status status = uc_problem_check(&item->problem, err);
    int64_t bytes;

    for (size_t i = 0; i < 3 && status == UC_OK; i++)
        status = uc_problem_tensor_bytes(&item->problem, tensors[i],
                                         item->batch, &bytes, err);
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct uc_import_layer *)a)->key,
                  ((const struct uc_import_layer *)b)->key);
}

static void free_layer(struct uc_import_layer *layer)
{
    if (layer != NULL)
        free(layer->key);
    free(layer);
}

static struct uc_import_layer *new_layer(const struct uc_import_item *item)
{
    struct uc_import_layer *layer = calloc(1, sizeof *layer);
    char text[UC_PROBLEM_TEXT], key[UC_PROBLEM_TEXT + 24];

    if (layer == NULL)
        return NULL;
    uc_problem_print(&item->problem, text);
    snprintf(key, sizeof key, "%" PRId64 " %s", item->batch, text);
    layer->problem = item->problem;
    layer->batch = item->batch;
    layer->key = strdup(key);
    if (layer->key == NULL) {
        free(layer);
        return NULL;
    }
    return layer;
}

/** The layer like this one in the list, where it is put if there is none. */
static struct uc_import_layer *find_layer(struct uc_import_reader *reader,
                                          const struct uc_import_item *item)
{
    struct uc_import_layer *layer = new_layer(item), **found, **entry;
    void *list = reader->list.layers;

    if (layer == NULL)
        return NULL;
    found = tsearch(layer, &reader->tree, compare_keys);
    if (found != NULL && *found != layer) {
        free_layer(layer);
        return *found;
    }
    entry = found == NULL ? NULL
                          : uc_array_append(&list, &reader->list.count,
                                            sizeof(struct uc_import_layer *));
    if (entry == NULL) {
        if (found != NULL)
            tdelete(layer, &reader->tree, compare_keys);
        free_layer(layer);
        return NULL;
    }
    reader->list.layers = list;
    *entry = layer;
    return layer;
}

/** As much of a name as fits, in whole characters. */
static void copy_name(const char *name, char copy[UC_LAYER_NAME])
{
    size_t length = strlen(name);

    if (length >= UC_LAYER_NAME)
        for (length = UC_LAYER_NAME - 1; (name[length] & 0xc0) == 0x80;)
            length--;
    memcpy(copy, name, length);
    copy[length] = '\0';
}

bool uc_import_add(struct uc_import_reader *reader,
                   const struct uc_import_item *given)
{
    struct uc_import_item item = *given;
    struct uc_import_layer *layer;
    struct uc_error reason;
    bool any = false, many = false;

    if (reader->request->batch != 0)
        item.batch = reader->request->batch;
    if (check_item(&item, &reason) != UC_OK) {
        uc_import_wrong(reader, "%s", reason.text);
        return false;
    }
    for (int op = 0; op < UC_OPERATIONS; op++) {
        item.runs[op] = item.runs[op] && reader->request->runs[op];
        any = any || item.runs[op];
    }
    if (!any)
        return true;
    layer = find_layer(reader, &item);
    if (layer == NULL) {
        reader->full = uc_no_memory(reader->err);
        return false;
    }
    for (int op = 0; op < UC_OPERATIONS; op++)
        if (item.runs[op]) {
            layer->repeat[op] += item.count > 0 ? item.count : 1;
            many = many || layer->repeat[op] > UC_IMPORT_MAX_REPEAT;
        }
    if (many) {
        uc_import_wrong(reader, "more than %d layers like this one",
                        UC_IMPORT_MAX_REPEAT);
        return false;
    }
    if (layer->name[0] == '\0' && item.name != NULL)
        copy_name(item.name, layer->name);
    if (reader->list.count > UC_IMPORT_MAX_LAYERS) {
        uc_import_wrong(reader, "more than %d different layers",
                        UC_IMPORT_MAX_LAYERS);
        reader->full = UC_EINPUT;
    }
    return reader->full == UC_OK;
}

/* The whole --------------------------------------------------------------*/

/** A reader of a copy of the text, without byte order mark. */
static enum uc_status start(struct uc_import_reader *reader, const char *text,
                            size_t length, char **copy, struct uc_error *err)
{
    static const char bom[] = "\xef\xbb\xbf";

    if (length >= 3 && memcmp(text, bom, 3) == 0) {
        text += 3;
        length -= 3;
    }
    *copy = malloc(length + 1);
    if (*copy == NULL)
        return uc_no_memory(err);
    memcpy(*copy, text, length);
    reader->next = *copy;
    reader->end = *copy + length;
    reader->err = err;
    return UC_OK;
}

bool uc_import_detect(const char *text, size_t length,
                      enum uc_import_format *format)
{
    const struct uc_import_request request = { .wrong = NULL };
    struct uc_import_reader reader = { .request = &request };
    char *copy = NULL, *line;
    struct uc_error err;
    bool found = false;

    if (start(&reader, text, length, &copy, &err) != UC_OK)
        return false;
    while (uc_import_next(&reader, &line)) {
        line += strspn(line, " ");
        if (*line == '#')
            continue;
        for (int i = 0; i < UC_IMPORT_FORMATS && !found; i++)
            if (formats[i].looks(line)) {
                *format = (enum uc_import_format)i;
                found = true;
            }
        break;
    }
    free(copy);
    return found;
}

static void keep(void *layer)
{
    (void)layer;
}

enum uc_status uc_import_read(const char *text, size_t length,
                              const struct uc_import_request *request,
                              struct uc_import_list *list, struct uc_error *err)
{
    struct uc_import_reader reader = { .request = request };
    char *copy = NULL;
    enum uc_status status = start(&reader, text, length, &copy, err);

    if (status != UC_OK)
        return status;
    formats[request->format].read(&reader);
    tdestroy(reader.tree, keep);
    free(copy);
    status = reader.full;
    if (reader.wrong > 0 && status != UC_EINTERNAL)
        status = uc_fail(err, UC_EINPUT, "%.256s: %zu wrong %s", request->file,
                         reader.wrong, reader.wrong == 1 ? "line" : "lines");
    else if (status == UC_OK && reader.list.count == 0)
        status = uc_fail(err, UC_EINPUT, "%.256s: no layers", request->file);
    if (status == UC_OK)
        *list = reader.list;
    else
        uc_import_free(&reader.list);
    return status;
}

void uc_import_free(struct uc_import_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_layer(list->layers[i]);
    free(list->layers);
    *list = (struct uc_import_list){ NULL, 0 };
}
