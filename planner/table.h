/**
 * @file table.h
 * Aligned columns on a terminal, whatever alphabet the cells are in.
 *
 * Units:   widths count terminal cells.
 * Owner:   free a table with uc_table_free(); cells are copied.
 * Errors:  adding never fails; uc_table_print() says UC_EINTERNAL when
 *          memory ran out on the way. Write errors stay in the FILE.
 * Threads: no hidden state; the locale is never consulted.
 */
#ifndef UC_PLANNER_TABLE_H
#define UC_PLANNER_TABLE_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct uc_table {
    size_t columns; /**< >= 1 */
    /** A letter a column: 'l' left, 'r' right. Borrowed. */
    const char *alignment;
    char **cells; /**< row by row; owned */
    size_t count; /**< of cells */
    bool no_memory;
};

void uc_table_init(struct uc_table *table, const char *alignment);
/** The next cell, left to right, row by row. */
void uc_table_add(struct uc_table *table, const char *text);
/** Two blanks between columns, none at the end of a line. */
enum uc_status uc_table_print(const struct uc_table *table, FILE *out,
                              struct uc_error *err);
void uc_table_free(struct uc_table *table);

/** Terminal cells that UTF-8 text takes. */
size_t uc_text_width(const char *text);

#endif
