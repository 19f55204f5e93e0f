#include "config.h"

#include "planner/import_reader.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_BATCHES = 16 };

/** What the options before a descriptor ask for. */
struct settings {
    bool runs[UC_OPERATIONS];
    enum uc_dtype types[UC_DTYPES];
    int type_count;
    int64_t batches[MAX_BATCHES]; /* 0: the descriptor's */
    int batch_count;
};

/** When nothing is said; a list without directions is one of layers. */
static const struct settings no_settings = {
    .runs = { true, true, true },
    .types = { UC_FP32 },
    .type_count = 1,
    .batch_count = 1,
};

/* Descriptors ------------------------------------------------------------*/

/** One dimension: output, input, kernel, stride, padding, dilation. */
struct dimension {
    int64_t o, i, k, s, p, d; /* p -1: not given; d 0: none */
};

struct descriptor {
    int64_t g, mb, ic, oc;
    struct dimension at[UC_MAX_SPATIAL]; /* D, H, W */
    const char *name;
    int64_t count; /* of such layers in the topology */
};

#define DIMENSION(letter, index)                                     \
    { "o" letter, offsetof(struct descriptor, at[index].o), 0 },     \
        { "i" letter, offsetof(struct descriptor, at[index].i), 0 }, \
        { "k" letter, offsetof(struct descriptor, at[index].k), 0 }, \
        { "s" letter, offsetof(struct descriptor, at[index].s), 1 }, \
        { "p" letter, offsetof(struct descriptor, at[index].p), 0 }, \
    {                                                                \
        "d" letter, offsetof(struct descriptor, at[index].d), 0      \
    }

static const struct key {
    const char *name;
    size_t offset;
    int64_t least;
} keys[] = {
    { "g", offsetof(struct descriptor, g), 1 },
    { "mb", offsetof(struct descriptor, mb), 1 },
    { "ic", offsetof(struct descriptor, ic), 1 },
    { "oc", offsetof(struct descriptor, oc), 1 },
    DIMENSION("d", 0),
    DIMENSION("h", 1),
    DIMENSION("w", 2),
};
#undef DIMENSION
enum { KEYS = sizeof keys / sizeof *keys };

/** The key that the text begins with, or -1. */
static int find_key(const char *text)
{
    for (int i = 0; i < KEYS; i++)
        if (strncmp(text, keys[i].name, strlen(keys[i].name)) == 0)
            return i;
    return -1;
}

/** The name behind the key n, without its quotes; "name*3" is of three. */
static bool read_name(struct uc_import_reader *reader, char *text,
                      struct descriptor *d)
{
    size_t length = strlen(text);
    char *star;

    if (text[0] == '"') {
        if (length < 2 || text[length - 1] != '"') {
            uc_import_wrong(reader, "the name's quotes do not match");
            return false;
        }
        text[length - 1] = '\0';
        text++;
    }
    d->name = text;
    star = strrchr(text, '*');
    if (star == NULL || star[1] == '\0' ||
        star[1 + strspn(star + 1, "0123456789")] != '\0')
        return true;
    *star = '\0';
    return uc_import_number(reader, "the count behind the name", star + 1, 1,
                            &d->count);
}

static bool read_keys(struct uc_import_reader *reader, char *text,
                      struct descriptor *d)
{
    bool seen[KEYS] = { false };
    const char *whole = text;

    while (*text != '\0' && *text != 'n') {
        char digits[16];
        int key = find_key(text);
        size_t length;

        if (*text == '_') {
            text++;
            continue;
        }
        if (key < 0) {
            uc_import_wrong(reader, "\"%.40s\": no key begins \"%.20s\"", whole,
                            text);
            return false;
        }
        if (seen[key]) {
            uc_import_wrong(reader, "%s is given twice", keys[key].name);
            return false;
        }
        seen[key] = true;
        text += strlen(keys[key].name);
        length = strspn(text, "0123456789");
        snprintf(digits, sizeof digits, "%.*s",
                 (int)(length < 15 ? length : 15), text);
        text += length;
        if (!uc_import_number(reader, keys[key].name, digits, keys[key].least,
                              (int64_t *)((char *)d + keys[key].offset)))
            return false;
    }
    return *text == '\0' || read_name(reader, text + 1, d);
}

/** Nothing is said of this dimension that is not its default. */
static bool is_absent(const struct dimension *d)
{
    return (d->o | d->i | d->k | d->d) == 0 && d->s == 1 && d->p < 1;
}

/** Settle the padding that an output extent implies. */
static bool settle(struct uc_import_reader *reader, char letter,
                   struct dimension *d)
{
    int64_t reach = (d->k - 1) * (d->d + 1) + 1, output;

    if (d->i == 0 || d->k == 0) {
        uc_import_wrong(reader, "i%c and k%c are both needed", letter, letter);
        return false;
    }
    if (d->p < 0)
        d->p = d->o == 0 ? 0 : ((d->o - 1) * d->s - d->i + reach) / 2;
    output = (d->i - reach + 2 * d->p) / d->s + 1;
    if (d->p < 0 || (d->o != 0 && output != d->o)) {
        uc_import_wrong(reader,
                        "o%c%" PRId64 " needs more padding on one side than on "
                        "the other, or less than none, which cuDNN has not",
                        letter, d->o);
        return false;
    }
    return true;
}

/** How many dimensions there are, with what is missing copied; 0: told. */
static int settle_all(struct uc_import_reader *reader, struct dimension *at)
{
    static const char letters[] = "dhw";
    bool absent[UC_MAX_SPATIAL];

    for (int i = 0; i < UC_MAX_SPATIAL; i++) {
        absent[i] = is_absent(&at[i]);
        if (!absent[i] && !settle(reader, letters[i], &at[i]))
            return 0;
    }
    if (!absent[0] && absent[1] != absent[2]) {
        uc_import_wrong(reader, "h and w are needed both, or neither");
        return 0;
    }
    if (!absent[0] && absent[1])
        at[1] = at[2] = at[0];
    else if (absent[0] && !absent[1] && absent[2])
        at[2] = at[1];
    if (!absent[0])
        return 3;
    if (!absent[1])
        return 2;
    if (!absent[2])
        return 1;
    uc_import_wrong(reader, "no input extent is given");
    return 0;
}

static void add_all(struct uc_import_reader *reader,
                    const struct settings *settings, const struct descriptor *d,
                    int spatial)
{
    struct uc_import_item item = { .name = d->name, .count = d->count };

    memcpy(item.runs, settings->runs, sizeof item.runs);
    for (int t = 0; t < settings->type_count; t++) {
        item.problem = uc_import_problem(spatial, settings->types[t]);
        item.problem.groups = d->g;
        item.problem.c = d->ic;
        item.problem.k = d->oc;
        for (int i = 0; i < spatial; i++) {
            const struct dimension *at = &d->at[UC_MAX_SPATIAL - spatial + i];

            item.problem.in[i] = at->i;
            item.problem.filter[i] = at->k;
            item.problem.stride[i] = at->s;
            item.problem.pad[i] = at->p;
            item.problem.dilation[i] = at->d + 1;
        }
        for (int b = 0; b < settings->batch_count; b++) {
            item.batch =
                settings->batches[b] != 0 ? settings->batches[b] : d->mb;
            if (!uc_import_add(reader, &item))
                return; /* told once is enough */
        }
    }
}

static void read_descriptor(struct uc_import_reader *reader, char *text,
                            const struct settings *settings)
{
    struct descriptor d = { .g = 1, .mb = 2, .count = 1 };
    int spatial;

    for (int i = 0; i < UC_MAX_SPATIAL; i++)
        d.at[i] = (struct dimension){ .s = 1, .p = -1 };
    if (!read_keys(reader, text, &d))
        return;
    if (d.ic == 0 || d.oc == 0) {
        uc_import_wrong(reader, "%s is missing", d.ic == 0 ? "ic" : "oc");
        return;
    }
    spatial = settle_all(reader, d.at);
    if (spatial > 0)
        add_all(reader, settings, &d, spatial);
}

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
                     struct settings *settings)
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
                    struct settings *settings)
{
    struct settings read = { .batch_count = 0 };

    for (char *part; (part = next_part(&list, ',')) != NULL;) {
        if (read.batch_count == MAX_BATCHES) {
            uc_import_wrong(reader, "--mb: more than %d sizes", MAX_BATCHES);
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
                       struct settings *settings)
{
    struct settings read = { .type_count = 0 };

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
                        struct settings *settings)
{
    static const struct {
        const char *name;
        void (*read)(struct uc_import_reader *reader, char *list,
                     struct settings *settings);
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
                      struct settings *settings)
{
    if (word[0] == '-' && word[1] == '-')
        read_option(reader, word + 2, settings);
    else if (!(word[0] == '-' && word[1] == 'v') && !is_program(word))
        read_descriptor(reader, word, settings);
}

/** A word that may go on in the next line. */
struct pending {
    char *word; /* NULL: none */
    size_t line;
    bool goes_on; /* a backslash was behind it */
};

static void finish(struct uc_import_reader *reader, struct pending *pending,
                   struct settings *settings)
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
                 char *word, struct settings *settings)
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
    struct settings settings = no_settings;
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
    int key = find_key(line);

    if (strncmp(line, "--", 2) == 0)
        return true;
    if (length >= 8 && memcmp(line + length - 8, "benchdnn", 8) == 0)
        return true;
    if (key < 0)
        return false;
    line += strlen(keys[key].name);
    return *line >= '0' && *line <= '9';
}
