#include "config.h"

#include "planner/import_benchdnn.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/** When nothing is said; a list without directions is one of layers. */
static const struct uc_benchdnn_settings no_settings = {
    .runs = { true, true, true },
    .types = { UC_FP32 },
    .type_count = 1,
    .batch_count = 1,
};

/* Options ----------------------------------------------------------------*/

/** Cut the next part off a list; NULL behind the last. */
static char *next_part(char **list, char separator)
{
    char *part = *list, *end;

    if (part == NULL)
        return NULL;
    end = strchr(part, separator);
    *list = end == NULL ? NULL : end + 1;
    if (end != NULL)
        *end = '\0';
    return part;
}

static void read_dir(struct uc_import_reader *reader, char *list,
                     struct uc_benchdnn_settings *settings)
{
    static const struct {
        const char *name;
        enum uc_operation operation;
    } directions[] = {
        { "FWD_B", UC_FORWARD },         { "FWD_D", UC_FORWARD },
        { "FWD_I", UC_FORWARD },         { "BWD_D", UC_BACKWARD_DATA },
        { "BWD_W", UC_BACKWARD_FILTER }, { "BWD_WB", UC_BACKWARD_FILTER },
    };
    enum { DIRECTIONS = sizeof directions / sizeof *directions };
    bool runs[UC_OPERATIONS] = { false };

    for (char *part; (part = next_part(&list, ',')) != NULL;) {
        size_t i = 0;

        while (i < DIRECTIONS && strcasecmp(part, directions[i].name) != 0)
            i++;
        if (i == DIRECTIONS) {
            uc_import_wrong(reader,
                            "--dir: \"%.40s\" is none of FWD_B, FWD_D, FWD_I, "
                            "BWD_D, BWD_W, BWD_WB",
                            part);
            return;
        }
        runs[directions[i].operation] = true;
    }
    memcpy(settings->runs, runs, sizeof runs);
}

static void read_mb(struct uc_import_reader *reader, char *list,
                    struct uc_benchdnn_settings *settings)
{
    struct uc_benchdnn_settings read = { .batch_count = 0 };

    for (char *part; (part = next_part(&list, ',')) != NULL;) {
        if (read.batch_count == UC_BENCHDNN_BATCHES) {
            uc_import_wrong(reader, "--mb: more than %d sizes",
                            UC_BENCHDNN_BATCHES);
            return;
        }
        if (!uc_import_number(reader, "--mb", part, 0,
                              &read.batches[read.batch_count++]))
            return;
    }
    settings->batch_count = read.batch_count;
    memcpy(settings->batches, read.batches, sizeof read.batches);
}

/** "f32", or one for each of "source:weights:destination", all the same. */
static bool parse_type(char *text, enum uc_dtype *type)
{
    static const char *const names[UC_DTYPES] = {
        [UC_FP32] = "f32",
        [UC_FP16] = "f16",
        [UC_BF16] = "bf16",
        [UC_FP64] = "f64",
    };
    char *list = text, *part;
    int found = UC_DTYPES, parts = 0;

    while ((part = next_part(&list, ':')) != NULL) {
        int i = 0;

        while (i < UC_DTYPES && strcasecmp(part, names[i]) != 0)
            i++;
        if (i == UC_DTYPES || (parts > 0 && i != found))
            return false;
        found = i;
        parts++;
    }
    if (parts != 1 && parts != 3)
        return false;
    *type = (enum uc_dtype)found;
    return true;
}

static void read_types(struct uc_import_reader *reader, char *list,
                       struct uc_benchdnn_settings *settings)
{
    struct uc_benchdnn_settings read = { .type_count = 0 };

    for (char *part; (part = next_part(&list, ',')) != NULL;) {
        char shown[41];
        enum uc_dtype type;
        int i = 0;

        snprintf(shown, sizeof shown, "%.40s", part);
        /* The older option's names. */
        if (strcasecmp(part, "bf16bf16bf16") == 0)
            part[4] = '\0';
        if (!parse_type(part, &type)) {
            uc_import_wrong(reader,
                            "data type \"%s\" is none of f32, f16, bf16, f64, "
                            "for all tensors",
                            shown);
            return;
        }
        while (i < read.type_count && read.types[i] != type)
            i++;
        if (i == read.type_count)
            read.types[read.type_count++] = type;
    }
    settings->type_count = read.type_count;
    memcpy(settings->types, read.types, sizeof read.types);
}

/** How to measure, what else to compute, and layouts: a network does not
    say the former, and the latter are --layout's. */
static bool is_passed_over(const char *option)
{
    static const char *const names[] = {
        "alg",
        "allow-enum-tags-only",
        "bia-dt",
        "canonical",
        "cold-cache",
        "conv",
        "cpu-isa-hints",
        "dtag",
        "engine",
        "fast-ref",
        "fast-ref-gpu",
        "fix-times-per-prb",
        "impl",
        "inplace",
        "max-ms-per-prb",
        "mem-check",
        "memory-kind",
        "mode",
        "mode-modifier",
        "num-streams",
        "perf-template",
        "repeats-per-prb",
        "skip-impl",
        "stag",
        "strides",
        "summary",
        "verbose",
        "wtag",
    };
    size_t length = strcspn(option, "=");

    if (strncmp(option, "attr-", 5) == 0 || strncmp(option, "ctx-", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(option, names[i], length) == 0)
            return true;
    return false;
}

static void read_option(struct uc_import_reader *reader, char *option,
                        struct uc_benchdnn_settings *settings)
{
    static const struct {
        const char *name;
        void (*read)(struct uc_import_reader *reader, char *list,
                     struct uc_benchdnn_settings *settings);
    } readers[] = { { "dir=", read_dir },
                    { "mb=", read_mb },
                    { "dt=", read_types },
                    { "cfg=", read_types } };

    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strncmp(option, readers[i].name, strlen(readers[i].name)) == 0) {
            readers[i].read(reader, option + strlen(readers[i].name), settings);
            return;
        }
    if (strncmp(option, "reset", 5) == 0)
        *settings = no_settings;
    else if (strncmp(option, "batch=", 6) == 0)
        uc_import_wrong(reader, "--%.100s: import that file by itself", option);
    else if (!is_passed_over(option))
        uc_import_wrong(reader, "--%.40s is not followed", option);
}

/* Words ------------------------------------------------------------------*/

static bool is_program(const char *word)
{
    const char *slash = strrchr(word, '/');

    return strcmp(slash != NULL ? slash + 1 : word, "benchdnn") == 0;
}

static void read_word(struct uc_import_reader *reader, char *word,
                      struct uc_benchdnn_settings *settings)
{
    if (word[0] == '-' && word[1] == '-')
        read_option(reader, word + 2, settings);
    else if (!(word[0] == '-' && word[1] == 'v') && !is_program(word))
        uc_benchdnn_add(reader, word, settings);
}

/** A word that may go on in the next line. */
struct pending {
    char *word; /* NULL: none */
    size_t line;
    bool goes_on; /* a backslash was behind it */
};

static void finish(struct uc_import_reader *reader, struct pending *pending,
                   struct uc_benchdnn_settings *settings)
{
    size_t line = reader->line;

    if (pending->word != NULL && pending->word[0] != '\0') {
        reader->line = pending->line;
        read_word(reader, pending->word, settings);
        reader->line = line;
    }
    pending->word = NULL;
}

static void take(struct uc_import_reader *reader, struct pending *pending,
                 char *word, struct uc_benchdnn_settings *settings)
{
    size_t length = strlen(word);
    bool goes_on = word[length - 1] == '\\';

    if (goes_on)
        word[--length] = '\0';
    if (pending->word != NULL && (pending->goes_on || length == 0)) {
        /* It lies before this one, with at least a blank between. */
        memmove(pending->word + strlen(pending->word), word, length + 1);
    } else {
        finish(reader, pending, settings);
        pending->word = word;
        pending->line = reader->line;
    }
    pending->goes_on = goes_on;
}

void uc_import_benchdnn(struct uc_import_reader *reader)
{
    struct uc_benchdnn_settings settings = no_settings;
    struct pending pending = { .word = NULL };
    char *line, *word;

    while (uc_import_next(reader, &line))
        while ((word = uc_import_word(&line)) != NULL && word[0] != '#')
            take(reader, &pending, word, &settings);
    if (reader->full == UC_OK)
        finish(reader, &pending, &settings);
}

bool uc_import_is_benchdnn(const char *line)
{
    size_t length = strcspn(line, " ");

    if (strncmp(line, "--", 2) == 0)
        return true;
    if (length >= 8 && memcmp(line + length - 8, "benchdnn", 8) == 0)
        return true;
    return uc_benchdnn_is_descriptor(line);
}
