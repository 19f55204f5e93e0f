#include "config.h"

#include "planner/table.h"

#include "common/array.h"
#include "common/text.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- widths */

struct range {
    uint32_t first, last;
};

/* Marks that stand on the character before them. */
static const struct range narrow[] = {
    { 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },
    { 0x610, 0x61a },   { 0x64b, 0x65f },   { 0x1ab0, 0x1aff },
    { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff },
    { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};
/* East Asian wide and full-width characters, and pictures. */
static const struct range wide[] = {
    { 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
    { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
    { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
    { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

static bool within(const struct range *ranges, size_t count, uint32_t point)
{
    for (size_t i = 0; i < count; i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}

static size_t point_width(uint32_t point)
{
    if (within(narrow, sizeof narrow / sizeof *narrow, point))
        return 0;
    return within(wide, sizeof wide / sizeof *wide, point) ? 2 : 1;
}

size_t uc_text_width(const char *text)
{
    size_t left = strlen(text), width = 0;

    while (left > 0) {
        uint32_t point = 0;
        size_t bytes = uc_text_decode(text, left, &point);

        /* What is no character is shown as one. */
        bytes = bytes > 0 ? bytes : 1;
        width += point_width(point);
        text += bytes;
        left -= bytes;
    }
    return width;
}

/* --------------------------------------------------------------- table */

void uc_table_init(struct uc_table *table, const char *alignment)
{
    *table = (struct uc_table){ .columns = strlen(alignment),
                                .alignment = alignment };
}

void uc_table_add(struct uc_table *table, const char *text)
{
    void *cells = table->cells;
    char **cell = uc_array_append(&cells, &table->count, sizeof *cell);

    if (cell != NULL) {
        table->cells = cells;
        *cell = strdup(text);
    }
    if (cell == NULL || *cell == NULL)
        table->no_memory = true;
}

static size_t column_width(const struct uc_table *table, size_t column)
{
    size_t width = 0;

    for (size_t i = column; i < table->count; i += table->columns) {
        size_t cell = uc_text_width(table->cells[i]);

        width = cell > width ? cell : width;
    }
    return width;
}

/** The blanks before a cell are held back until something follows them. */
static void print_row(const struct uc_table *table, size_t first,
                      const size_t *widths, FILE *out)
{
    size_t blanks = 0;

    for (size_t c = 0; c < table->columns && first + c < table->count; c++) {
        const char *cell = table->cells[first + c];
        size_t rest = widths[c] - uc_text_width(cell);

        if (table->alignment[c] == 'r')
            blanks += rest;
        if (*cell != '\0') {
            fprintf(out, "%*s%s", (int)blanks, "", cell);
            blanks = 0;
        }
        if (table->alignment[c] != 'r')
            blanks += rest;
        blanks += 2;
    }
    putc('\n', out);
}

enum uc_status uc_table_print(const struct uc_table *table, FILE *out,
                              struct uc_error *err)
{
    size_t *widths = calloc(table->columns, sizeof *widths);

    if (table->no_memory || widths == NULL) {
        free(widths);
        return uc_no_memory(err);
    }
    for (size_t c = 0; c < table->columns; c++)
        widths[c] = column_width(table, c);
    for (size_t i = 0; i < table->count; i += table->columns)
        print_row(table, i, widths, out);
    free(widths);
    return UC_OK;
}

void uc_table_free(struct uc_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct uc_table){ 0 };
}
