#include "config.h"

#include "planner/import_reader.h"

#include <string.h>
#include <strings.h>

enum field { SOURCE, W, H, C, N, K, FW, FH, PW, PH, SW, SH, FIELDS };
enum { MAX_COLUMNS = 64 };

static const struct {
    const char *name;
    int64_t least;
} fields[FIELDS] = {
    [SOURCE] = { "source", 0 }, [W] = { "W", 1 },
    [H] = { "H", 1 },           [C] = { "C_in", 1 },
    [N] = { "N", 1 },           [K] = { "C_out", 1 },
    [FW] = { "kernel_w", 1 },   [FH] = { "kernel_h", 1 },
    [PW] = { "pad_w", 0 },      [PH] = { "pad_h", 0 },
    [SW] = { "stride_w", 1 },   [SH] = { "stride_h", 1 },
};

/** Which columns the list has. */
struct header {
    int count;
    int column[FIELDS]; /* -1: not there; only source may be */
};

/** Cut what a quoted value says out of it; `at` is behind the quote. NULL
    when the quote is not closed, else behind it. */
static char *unquote(char *at)
{
    char *to = at;

    for (;; at++) {
        if (*at == '\0')
            return NULL;
        if (*at == '"' && *++at != '"')
            break;
        *to++ = *at;
    }
    *to = '\0';
    return at;
}

static void trim(char *value)
{
    size_t length = strlen(value);

    while (length > 0 && value[length - 1] == ' ')
        value[--length] = '\0';
}

/** RFC 4180 within a line, blanks around values dropped; the number of
    values, or -1: told. */
static int split(struct uc_import_reader *reader, char *line, char **values)
{
    int count = 0;

    for (bool more = true; more;) {
        char *at = line + strspn(line, " ");

        if (count == MAX_COLUMNS) {
            uc_import_wrong(reader, "more than %d values", MAX_COLUMNS);
            return -1;
        }
        values[count++] = at;
        if (*at == '"') {
            values[count - 1] = ++at;
            at = unquote(at);
            if (at != NULL)
                at += strspn(at, " ");
            if (at == NULL || (*at != ',' && *at != '\0')) {
                uc_import_wrong(reader, "value %d: quotes do not match", count);
                return -1;
            }
        } else {
            at += strcspn(at, ",");
        }
        more = *at == ',';
        line = at + 1;
        if (more)
            *at = '\0';
        trim(values[count - 1]);
    }
    return count;
}

static bool read_header(struct uc_import_reader *reader, char *line,
                        struct header *header)
{
    char *values[MAX_COLUMNS];

    header->count = split(reader, line, values);
    if (header->count < 0)
        return false;
    for (int f = 0; f < FIELDS; f++) {
        header->column[f] = -1;
        for (int i = 0; i < header->count; i++) {
            if (strcasecmp(values[i], fields[f].name) != 0)
                continue;
            if (header->column[f] >= 0) {
                uc_import_wrong(reader, "column %s is there twice",
                                fields[f].name);
                return false;
            }
            header->column[f] = i;
        }
        if (header->column[f] < 0 && f != SOURCE) {
            uc_import_wrong(reader, "is no header: column %s is missing",
                            fields[f].name);
            return false;
        }
    }
    return true;
}

static void read_row(struct uc_import_reader *reader, char *line,
                     const struct header *header)
{
    char *values[MAX_COLUMNS];
    int count = split(reader, line, values);
    struct uc_import_item item = { .runs = { true, true, true } };
    int64_t n[FIELDS];

    if (count < 0)
        return;
    if (count != header->count) {
        uc_import_wrong(reader, "%d values instead of %d", count,
                        header->count);
        return;
    }
    for (int f = SOURCE + 1; f < FIELDS; f++)
        if (!uc_import_number(reader, fields[f].name, values[header->column[f]],
                              fields[f].least, &n[f]))
            return;
    if (header->column[SOURCE] >= 0)
        item.name = values[header->column[SOURCE]];
    item.problem = uc_import_problem(2, UC_FP32);
    item.batch = n[N];
    item.problem.c = n[C];
    item.problem.k = n[K];
    for (int i = 0; i < 2; i++) {
        item.problem.in[i] = n[i == 0 ? H : W];
        item.problem.filter[i] = n[i == 0 ? FH : FW];
        item.problem.pad[i] = n[i == 0 ? PH : PW];
        item.problem.stride[i] = n[i == 0 ? SH : SW];
    }
    uc_import_add(reader, &item);
}

void uc_import_deepbench(struct uc_import_reader *reader)
{
    struct header header;
    bool headed = false;
    char *line;

    while (uc_import_next(reader, &line)) {
        if (line[strspn(line, " ")] == '#')
            continue;
        if (headed)
            read_row(reader, line, &header);
        else if (read_header(reader, line, &header))
            headed = true;
        else
            return; /* without columns no line says anything */
    }
}

bool uc_import_is_deepbench(const char *line)
{
    size_t commas = 0;

    for (const char *c = line; *c != '\0'; c++)
        commas += *c == ',';
    return commas >= SH - W && strcasestr(line, fields[FW].name) != NULL &&
           strcasestr(line, fields[SW].name) != NULL;
}
