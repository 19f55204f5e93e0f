#include "config.h"

#include "planner/import_benchdnn.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
                    const struct uc_benchdnn_settings *settings,
                    const struct descriptor *d, int spatial)
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

void uc_benchdnn_add(struct uc_import_reader *reader, char *text,
                     const struct uc_benchdnn_settings *settings)
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

bool uc_benchdnn_is_descriptor(const char *text)
{
    int key = find_key(text);

    if (key < 0)
        return false;
    text += strlen(keys[key].name);
    return *text >= '0' && *text <= '9';
}
