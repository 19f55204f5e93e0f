#include "config.h"

#include "planner/network_reader.h"

#include "planner/json_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_FILE_BYTES = 4 << 20,
    MAX_DEPTH = 8, /* the format needs 4 */
    MAX_LAYERS = 16384
};

static enum uc_status read_layer(struct uc_network_reader *reader,
                                 const json_t *layers, const char *name,
                                 const json_t *value,
                                 const struct uc_layer_spec *defaults,
                                 int64_t batch, struct uc_layer *layer)
{
    struct uc_layer_spec spec = *defaults;
    const char *reason = uc_network_text_fault(name, UC_LAYER_NAME);
    enum uc_status status;

    reader->section = name;
    reader->in_layer = true;
    if (reason != NULL)
        return uc_network_fault(reader, layers, name, "the name %s", reason);
    if (!json_is_object(value))
        return uc_network_fault(reader, layers, name, "must be an object");
    status = uc_layer_spec_read(reader, value, false, &spec);
    if (status == UC_OK)
        status = uc_layer_finish(reader, layers, name, &spec, batch, layer);
    return status;
}

static enum uc_status read_layers(struct uc_network_reader *reader,
                                  const json_t *layers,
                                  const struct uc_layer_spec *defaults,
                                  struct uc_network *network)
{
    size_t count = json_object_size(layers);
    const char *name;
    const json_t *value;
    enum uc_status status;

    if (!json_is_object(layers))
        return uc_network_fault(reader, reader->root, "layers",
                                "layers must be an object");
    if (count == 0)
        return uc_network_fault(reader, reader->root, "layers",
                                "layers is empty");
    if (count > MAX_LAYERS)
        return uc_network_fault(reader, reader->root, "layers",
                                "more than %d layers", (int)MAX_LAYERS);
    network->layers = calloc(count, sizeof *network->layers);
    if (network->layers == NULL)
        return uc_no_memory(reader->err);
    json_object_foreach((json_t *)layers, name, value)
    {
        status =
            read_layer(reader, layers, name, value, defaults, network->batch,
                       &network->layers[network->layer_count]);
        if (status != UC_OK)
            return status;
        network->layer_count++;
    }
    return UC_OK;
}

static enum uc_status read_header(const struct uc_network_reader *reader,
                                  struct uc_network *network)
{
    static const char *const required[] = { "name", "batch", "layers" };
    const json_t *root = reader->root;
    const char *key;
    const json_t *value;
    enum uc_status status = UC_OK;

    json_object_foreach((json_t *)root, key, value)
    {
        if (strcmp(key, "name") == 0)
            status = uc_network_text(reader, root, key, value, network->name,
                                     sizeof network->name);
        else if (strcmp(key, "description") == 0)
            status =
                uc_network_text(reader, root, key, value, network->description,
                                sizeof network->description);
        else if (strcmp(key, "source") == 0)
            status = uc_network_text(reader, root, key, value, network->source,
                                     sizeof network->source);
        else if (strcmp(key, "batch") == 0)
            status = uc_network_integer(reader, root, key, value, 1, INT32_MAX,
                                        &network->batch);
        else if (strcmp(key, "defaults") != 0 && strcmp(key, "layers") != 0 &&
                 !uc_layer_key_known(key, true))
            status = uc_network_fault(reader, root, key,
                                      uc_layer_key_known(key, false)
                                          ? "key \"%.64s\" belongs into a "
                                            "layer or defaults"
                                          : "unknown key \"%.64s\"",
                                      key);
        if (status != UC_OK)
            return status;
    }
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (json_object_get(root, required[i]) == NULL)
            return uc_network_fault_at(reader, 1, "%s is missing", required[i]);
    if (reader->overrides->batch != 0)
        network->batch = reader->overrides->batch;
    if (network->batch < 1 || network->batch > INT32_MAX)
        return uc_fail(reader->err, UC_EINPUT,
                       "batch must be 1 to %d, is %" PRId64, INT32_MAX,
                       network->batch);
    return UC_OK;
}

static enum uc_status read_root(struct uc_network_reader *reader,
                                struct uc_network *network)
{
    const json_t *defaults = json_object_get(reader->root, "defaults");
    const json_t *layers = json_object_get(reader->root, "layers");
    struct uc_layer_spec spec = uc_layer_spec_default();
    enum uc_status status;

    if (!json_is_object(reader->root))
        return uc_network_fault_at(reader, 1, "must be an object");
    if ((status = read_header(reader, network)) != UC_OK ||
        (status = uc_layer_spec_read(reader, reader->root, true, &spec)) !=
            UC_OK)
        return status;
    if (defaults != NULL) {
        if (!json_is_object(defaults))
            return uc_network_fault(reader, reader->root, "defaults",
                                    "defaults must be an object");
        reader->section = "defaults";
        status = uc_layer_spec_read(reader, defaults, false, &spec);
        if (status != UC_OK)
            return status;
        reader->section = "";
    }
    return read_layers(reader, layers, &spec, network);
}

/** A fault that jansson found, in the words of this reader. */
static enum uc_status syntax_fault(const struct uc_network_reader *reader,
                                   const json_error_t *error)
{
    struct uc_network_reader here = *reader;
    struct uc_json_key keys[MAX_DEPTH] = { { NULL, 0 } };
    /* jansson stands behind the offending byte. */
    size_t offset = error->position > 0 ? (size_t)error->position - 1 : 0;
    size_t depth = uc_json_text_path(reader->text, reader->length, offset, keys,
                                     MAX_DEPTH);
    size_t line = uc_json_text_line(reader->text, reader->length, offset);
    char name[UC_LAYER_NAME + 1];
    bool duplicate = json_error_code(error) == json_error_duplicate_key;

    if (depth >= 2 && keys[0].length == strlen("layers") &&
        memcmp(keys[0].text, "layers", keys[0].length) == 0 &&
        keys[1].length > 0) {
        snprintf(name, sizeof name, "%.*s",
                 (int)(keys[1].length < UC_LAYER_NAME ? keys[1].length
                                                      : UC_LAYER_NAME),
                 keys[1].text);
        here.section = name;
        here.in_layer = true;
        if (duplicate && depth == 2)
            return uc_network_fault_at(&here, line, "duplicate layer name");
    }
    if (duplicate && depth >= 1 && depth <= MAX_DEPTH)
        return uc_network_fault_at(
            &here, line, "duplicate key \"%.*s\"",
            (int)(keys[depth - 1].length < 64 ? keys[depth - 1].length : 64),
            keys[depth - 1].text);
    if (json_error_code(error) == json_error_null_character)
        return uc_network_fault_at(&here, line, "\\u0000 in a string");
    return uc_network_fault_at(&here, line, "not valid JSON: %s", error->text);
}

enum uc_status uc_network_parse(const char *text, size_t length,
                                const char *name,
                                const struct uc_network_overrides *overrides,
                                struct uc_network *network,
                                struct uc_error *err)
{
    static const char bom[] = "\xef\xbb\xbf";
    struct uc_network_reader reader = {
        .name = name, .section = "", .overrides = overrides, .err = err
    };
    struct uc_network made = { .layers = NULL };
    json_error_t error;
    json_t *root = NULL;
    const char *fault;
    enum uc_status status;
    size_t offset;

    if (length >= 3 && memcmp(text, bom, 3) == 0) {
        text += 3;
        length -= 3;
    }
    reader.text = text;
    reader.length = length;
    if (length > MAX_FILE_BYTES)
        return uc_network_fault_at(&reader, 1, "larger than %d MiB",
                                   MAX_FILE_BYTES >> 20);
    fault = uc_json_text_fault(text, length, MAX_DEPTH, &offset);
    if (fault != NULL)
        return uc_network_fault_at(
            &reader, uc_json_text_line(text, length, offset), "%s", fault);
    root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        return json_error_code(&error) == json_error_out_of_memory
                   ? uc_no_memory(err)
                   : syntax_fault(&reader, &error);
    reader.root = root;
    status = read_root(&reader, &made);
    json_decref(root);
    if (status == UC_OK)
        *network = made;
    else
        uc_network_free(&made);
    return status;
}

/** The file's bytes, one more than allowed when there are more. */
static enum uc_status read_all(int fd, const char *path, char **text,
                               size_t *length, struct uc_error *err)
{
    size_t room = MAX_FILE_BYTES + 4, used = 0;
    char *buffer = malloc(room);
    ssize_t got;

    if (buffer == NULL)
        return uc_no_memory(err);
    while (used < room && (got = read(fd, buffer + used, room - used)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(buffer);
            return uc_fail(err, UC_EFILE, "%.256s: %s", path, strerror(errno));
        }
        used += (size_t)got;
    }
    *text = buffer;
    *length = used;
    return UC_OK;
}

enum uc_status uc_network_read(const char *path,
                               const struct uc_network_overrides *overrides,
                               struct uc_network *network, struct uc_error *err)
{
    char *text = NULL;
    size_t length = 0;
    enum uc_status status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return uc_fail(err, UC_EFILE, "%.256s: %s", path, strerror(errno));
    status = read_all(fd, path, &text, &length, err);
    close(fd);
    if (status == UC_OK)
        status = uc_network_parse(text, length, path, overrides, network, err);
    free(text);
    return status;
}

void uc_network_free(struct uc_network *network)
{
    free(network->layers);
    network->layers = NULL;
    network->layer_count = 0;
}

enum uc_status uc_network_operations(const struct uc_network *network,
                                     struct uc_network_operation **list,
                                     size_t *count, struct uc_error *err)
{
    struct uc_network_operation *made =
        calloc(network->layer_count * UC_OPERATIONS + 1, sizeof *made);
    size_t used = 0;

    if (made == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < network->layer_count; i++)
        for (int j = 0; j < UC_OPERATIONS; j++)
            if (network->layers[i].runs[j]) {
                made[used].layer = &network->layers[i];
                made[used].problem = network->layers[i].problem;
                made[used++].problem.operation = (enum uc_operation)j;
            }
    *list = made;
    *count = used;
    return UC_OK;
}
