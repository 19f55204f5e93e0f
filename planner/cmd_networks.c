#include "config.h"

#include "planner/commands.h"
#include "planner/data.h"
#include "planner/network.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args {
    bool json;
};

static const struct opt_spec opts[] = {
    { .name = "json",
      .type = OPT_FLAG,
      .offset = offsetof(struct args, json),
      .help = "print JSON instead of a table" },
    { .type = OPT_END },
};

/** A network as it is listed. */
struct entry {
    const char *name; /* what finds it on the command line */
    char path[PATH_MAX];
    struct uc_network network;
    int64_t layers, operations; /* repeats counted */
};

static enum uc_status read_entry(const char *name, struct entry *entry,
                                 struct uc_error *err)
{
    enum uc_status status = uc_data_find(UC_DATA_NETWORK, name, entry->path,
                                         sizeof entry->path, err);

    if (status == UC_OK)
        status = uc_network_read(entry->path, &UC_NETWORK_AS_IS,
                                 &entry->network, err);
    if (status != UC_OK)
        return status;
    entry->name = name;
    for (size_t i = 0; i < entry->network.layer_count; i++) {
        const struct uc_layer *layer = &entry->network.layers[i];

        entry->layers += layer->repeat;
        for (int j = 0; j < UC_OPERATIONS; j++)
            entry->operations += layer->runs[j] ? layer->repeat : 0;
    }
    return UC_OK;
}

static void print_table(const struct entry *entries, size_t count)
{
    int width = (int)strlen("network");

    for (size_t i = 0; i < count; i++)
        if ((int)strlen(entries[i].name) > width)
            width = (int)strlen(entries[i].name);
    printf("%-*s  %5s  %6s  %10s  %s\n", width, "network", "batch", "layers",
           "operations", "description");
    for (size_t i = 0; i < count; i++)
        printf("%-*s  %5" PRId64 "  %6" PRId64 "  %10" PRId64 "  %s\n", width,
               entries[i].name, entries[i].network.batch, entries[i].layers,
               entries[i].operations, entries[i].network.description);
}

static json_t *entry_json(const struct entry *entry)
{
    /* A path need not be UTF-8; then it is left out. */
    return json_pack(
        "{s:s, s:o*, s:I, s:I, s:I, s:s, s:s}", "name", entry->network.name,
        "path", json_string(entry->path), "batch",
        (json_int_t)entry->network.batch, "layers", (json_int_t)entry->layers,
        "operations", (json_int_t)entry->operations, "description",
        entry->network.description, "source", entry->network.source);
}

static enum uc_status print_json(const struct entry *entries, size_t count,
                                 struct uc_error *err)
{
    json_t *list = json_array();
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++)
        if (json_array_append_new(list, entry_json(&entries[i])) != 0)
            status = uc_no_memory(err);
    if (status == UC_OK) {
        /* A failed write stays in stdout, where main() looks. */
        (void)json_dumpf(list, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(list);
    return status;
}

static enum uc_status list_networks(const struct args *args, char **names,
                                    size_t count, struct uc_error *err)
{
    struct entry *entries = calloc(count + 1, sizeof *entries);
    enum uc_status status = UC_OK;

    if (entries == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = read_entry(names[i], &entries[i], err);
    if (status == UC_OK && args->json)
        status = print_json(entries, count, err);
    else if (status == UC_OK)
        print_table(entries, count);
    for (size_t i = 0; i < count; i++)
        uc_network_free(&entries[i].network);
    free(entries);
    return status;
}

static enum uc_status run(const void *args, char **operands, size_t count,
                          struct uc_error *err)
{
    char **names;
    enum uc_status status;

    if (count > 0)
        return list_networks(args, operands, count, err);
    status = uc_data_list(UC_DATA_NETWORK, &names, &count, err);
    if (status != UC_OK)
        return status;
    status = list_networks(args, names, count, err);
    uc_data_free(names, count);
    return status;
}

const struct cmd cmd_networks = {
    .name = "networks",
    .operands = "[NETWORK...]",
    .summary = "list networks: those that ship, or those named",
    .opts = opts,
    .args_size = sizeof(struct args),
    .max_operands = SIZE_MAX,
    .run = run,
};
