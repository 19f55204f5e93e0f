#include "config.h"

#include "common/text.h"
#include "planner/commands.h"
#include "planner/import.h"
#include "planner/import_file.h"
#include "planner/network_reader.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args {
    const char *output, *format, *name, *operations;
    int64_t batch;
    bool json;
};

static const struct opt_spec opts[] = {
    { .name = "output",
      .letter = 'o',
      .type = OPT_STRING,
      .offset = offsetof(struct args, output),
      .argument = "NETWORK",
      .help = "file to write the description to (required)" },
    { .name = "format",
      .type = OPT_STRING,
      .offset = offsetof(struct args, format),
      .argument = "FORMAT",
      .help = "deepbench, benchdnn or miopen (else found out)" },
    { .name = "batch",
      .letter = 'b',
      .type = OPT_COUNT,
      .offset = offsetof(struct args, batch),
      .argument = "N",
      .help = "batch size in place of the lines'" },
    { .name = "operations",
      .type = OPT_STRING,
      .offset = offsetof(struct args, operations),
      .argument = "LIST",
      .help = "of what the lines ask for, only these" },
    { .name = "name",
      .type = OPT_STRING,
      .offset = offsetof(struct args, name),
      .argument = "NAME",
      .help = "the network's name (else from the file's)" },
    { .name = "json",
      .type = OPT_FLAG,
      .offset = offsetof(struct args, json),
      .help = "print JSON instead of a table" },
    { .type = OPT_END },
};

enum { MAX_FILES = 16, LIST_TEXT = 64, SOURCE_TEXT = 256 };

/** An import under way. */
struct import {
    const struct args *args;
    struct uc_import_request request;
    struct uc_import_list list;
    struct uc_import_batch *batches;
    struct uc_import_output *outputs; /* one for each batch */
    size_t count;
    char name[UC_NETWORK_NAME], source[SOURCE_TEXT];
};

/* What is asked for ------------------------------------------------------*/

static enum uc_status parse_operations(const char *list,
                                       bool runs[UC_OPERATIONS],
                                       struct uc_error *err)
{
    char copy[LIST_TEXT], *at = copy, *name;
    enum uc_operation operation;

    for (int op = 0; op < UC_OPERATIONS; op++)
        runs[op] = list == NULL;
    if (list == NULL)
        return UC_OK;
    snprintf(copy, sizeof copy, "%s", strlen(list) < sizeof copy ? list : "");
    while ((name = strsep(&at, ",")) != NULL) {
        if (!uc_operation_parse(name, &operation))
            return uc_fail(err, UC_EINPUT,
                           "--operations: \"%.64s\" is no list of forward, "
                           "backward-data, backward-filter",
                           list);
        runs[operation] = true;
    }
    return UC_OK;
}

static void say_wrong(void *context, size_t line, const char *reason)
{
    char file[257];

    snprintf(file, sizeof file, "%s",
             ((const struct import *)context)->request.file);
    uc_text_make_line(file);
    fprintf(stderr, "ucudnn-plan import: %s:%zu: %s\n", file, line, reason);
}

/** The last part of a path, without ".json". */
static void set_name(struct import *import)
{
    const char *given = import->args->name;
    const char *slash = strrchr(import->args->output, '/');
    const char *base = slash != NULL ? slash + 1 : import->args->output;
    size_t length = strlen(base);

    if (given != NULL) {
        /* Its length and characters were checked. */
        snprintf(import->name, sizeof import->name, "%s", given);
        return;
    }
    if (length > 5 && strcmp(base + length - 5, ".json") == 0)
        length -= 5;
    if (length >= sizeof import->name)
        length = sizeof import->name - 1;
    snprintf(import->name, sizeof import->name, "%.*s", (int)length, base);
    if (import->name[0] == '\0' || strcmp(base, "-") == 0)
        snprintf(import->name, sizeof import->name, "imported");
    uc_text_make_line(import->name);
}

static enum uc_status prepare(struct import *import, const char *file,
                              struct uc_error *err)
{
    const struct args *args = import->args;
    const char *fault = NULL;

    if (args->output == NULL)
        return uc_fail(err, UC_EINPUT, "--output is needed");
    if (args->json && strcmp(args->output, "-") == 0)
        return uc_fail(err, UC_EINPUT,
                       "--json and --output - both print to standard output");
    if (args->name != NULL)
        fault = uc_network_text_fault(args->name, sizeof import->name);
    if (fault != NULL)
        return uc_fail(err, UC_EINPUT, "--name: the name %s", fault);
    if (args->format != NULL &&
        !uc_import_format_parse(args->format, &import->request.format))
        return uc_fail(err, UC_EINPUT,
                       "--format: \"%.64s\" is none of deepbench, benchdnn, "
                       "miopen",
                       args->format);
    import->request.file = strcmp(file, "-") == 0 ? "standard input" : file;
    import->request.batch = args->batch;
    import->request.wrong = say_wrong;
    import->request.context = import;
    set_name(import);
    return parse_operations(args->operations, import->request.runs, err);
}

/* Reading and writing ----------------------------------------------------*/

static enum uc_status read_list(struct import *import, const char *file,
                                struct uc_error *err)
{
    char *text = NULL;
    size_t length = 0;
    enum uc_status status = uc_import_load(file, &text, &length, err);

    if (status == UC_OK && import->args->format == NULL &&
        !uc_import_detect(text, length, &import->request.format))
        status = uc_fail(err, UC_EINPUT,
                         "%.256s: the first line is of no known format "
                         "(--format says which)",
                         import->request.file);
    if (status == UC_OK)
        status =
            uc_import_read(text, length, &import->request, &import->list, err);
    free(text);
    return status;
}

/** "net.32.json" for batch 32; the first batch has "net.json" itself. */
static char *output_path(const char *output, size_t index, int64_t batch)
{
    size_t length = strlen(output);
    const char *suffix = ".json";
    char *path = NULL;

    if (index == 0)
        return strdup(output);
    if (length > strlen(suffix) &&
        strcmp(output + length - strlen(suffix), suffix) == 0)
        length -= strlen(suffix);
    else
        suffix = "";
    return asprintf(&path, "%.*s.%" PRId64 "%s", (int)length, output, batch,
                    suffix) < 0
               ? NULL
               : path;
}

/** "imported from net.csv (deepbench)" */
static void set_source(struct import *import)
{
    const char *slash = strrchr(import->request.file, '/');

    snprintf(import->source, sizeof import->source, "imported from %.200s (%s)",
             slash != NULL ? slash + 1 : import->request.file,
             uc_import_format_name(import->request.format));
    uc_text_make_line(import->source);
}

static enum uc_status print_networks(struct import *import,
                                     struct uc_error *err)
{
    const char *output = import->args->output;
    size_t most = strcmp(output, "-") == 0 ? 1 : MAX_FILES;
    enum uc_status status =
        uc_import_batches(&import->list, &import->batches, &import->count, err);

    if (status != UC_OK)
        return status;
    if (import->count > most)
        return uc_fail(err, UC_EINPUT,
                       "%.256s: %zu batch sizes would be as many networks, "
                       "more than %zu (--batch gives all lines the same)",
                       import->request.file, import->count, most);
    set_source(import);
    import->outputs = calloc(import->count, sizeof *import->outputs);
    if (import->outputs == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < import->count && status == UC_OK; i++) {
        int64_t batch = import->batches[i].batch;

        import->outputs[i].path = output_path(output, i, batch);
        if (import->outputs[i].path == NULL)
            return uc_no_memory(err);
        status = uc_import_print(&import->list, batch, import->name,
                                 import->source, &import->outputs[i].text, err);
    }
    return status;
}

/* Summary ----------------------------------------------------------------*/

static void print_table(const struct import *import)
{
    int width = (int)strlen("network");

    for (size_t i = 0; i < import->count; i++)
        if ((int)strlen(import->outputs[i].path) > width)
            width = (int)strlen(import->outputs[i].path);
    printf("%-*s  %5s  %6s  %10s\n", width, "network", "batch", "layers",
           "operations");
    for (size_t i = 0; i < import->count; i++)
        printf("%-*s  %5" PRId64 "  %6" PRId64 "  %10" PRId64 "\n", width,
               import->outputs[i].path, import->batches[i].batch,
               import->batches[i].layers, import->batches[i].operations);
}

static enum uc_status print_json(const struct import *import,
                                 struct uc_error *err)
{
    json_t *list = json_array(), *root;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < import->count && status == UC_OK; i++)
        /* A path need not be UTF-8; then it is left out. */
        if (json_array_append_new(
                list,
                json_pack("{s:o*, s:I, s:I, s:I}", "path",
                          json_string(import->outputs[i].path), "batch",
                          (json_int_t)import->batches[i].batch, "layers",
                          (json_int_t)import->batches[i].layers, "operations",
                          (json_int_t)import->batches[i].operations)) != 0)
            status = uc_no_memory(err);
    root = json_pack("{s:s, s:s, s:O}", "name", import->name, "format",
                     uc_import_format_name(import->request.format), "networks",
                     list);
    if (root == NULL)
        status = uc_no_memory(err);
    if (status == UC_OK) {
        /* A failed write stays in stdout, where main() looks. */
        (void)json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(root);
    json_decref(list);
    return status;
}

/** Printed first: a run that fails leaves the networks as they were. */
static enum uc_status finish(struct import *import, struct uc_error *err)
{
    enum uc_status status;

    if (strcmp(import->args->output, "-") == 0) {
        fputs(import->outputs[0].text, stdout);
        return UC_OK;
    }
    for (size_t i = 0; i < import->count; i++)
        if (outfile_is_same(import->outputs[i].path, import->request.file))
            return uc_fail(err, UC_EINPUT, "%.256s: is the list itself",
                           import->outputs[i].path);
    status = uc_import_write(import->outputs, import->count, err);
    if (status == UC_OK && import->args->json)
        status = print_json(import, err);
    else if (status == UC_OK)
        print_table(import);
    if (status == UC_OK)
        status = command_flush(err);
    if (status == UC_OK)
        status = uc_import_store(import->outputs, import->count, err);
    return status;
}

static enum uc_status run(const void *args, char **operands, size_t count,
                          struct uc_error *err)
{
    struct import import = { .args = args };
    enum uc_status status = prepare(&import, operands[0], err);

    (void)count;
    if (status == UC_OK)
        status = read_list(&import, operands[0], err);
    if (status == UC_OK)
        status = print_networks(&import, err);
    if (status == UC_OK)
        status = finish(&import, err);
    uc_import_outputs_free(import.outputs, import.count);
    free(import.batches);
    uc_import_free(&import.list);
    return status;
}

const struct cmd cmd_import = {
    .name = "import",
    .operands = "FILE",
    .summary = "turn a list of layers of another tool into a network",
    .opts = opts,
    .args_size = sizeof(struct args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
