/**
 * @file record.h
 * Records as lines of text: a word, then "name=value" fields, between tabs.
 *
 *   environment<TAB>device=NVIDIA H200<TAB>compute_capability=90...
 *
 * One table describes a record and drives both directions, so that a new
 * field is a new row of it. Every value is written in one way only, and what
 * is read back is the same value, floating-point numbers to the last bit.
 *
 * Units:   as the structures'.
 * Owner:   plain values; nothing is allocated.
 * Errors:  UC_EINPUT with the field's name; write errors stay in the FILE.
 * Threads: no hidden state; the locale is never consulted.
 */
#ifndef UC_PLANNER_RECORD_H
#define UC_PLANNER_RECORD_H

#include "common/problem.h"

#include <stddef.h>
#include <stdio.h>

enum uc_record_type {
    UC_RECORD_TEXT,    /**< char[size], one line of UTF-8 */
    UC_RECORD_INT,     /**< int, >= 0 */
    UC_RECORD_NUMBER,  /**< int64_t, >= 0 */
    UC_RECORD_FLAG,    /**< bool, 0 or 1 */
    UC_RECORD_REAL,    /**< double */
    UC_RECORD_DATE,    /**< int64_t, seconds: 2025-11-30T00:00:00Z */
    UC_RECORD_PROBLEM, /**< struct uc_problem; kernels behind it are its */
    UC_RECORD_KERNEL,  /**< struct uc_kernel */
    UC_RECORD_API,     /**< enum uc_api */
    UC_RECORD_OUTCOME, /**< enum uc_outcome */
    UC_RECORD_SAMPLES, /**< struct uc_measurement: its samples */
    UC_RECORD_MODE     /**< enum uc_plan_mode */
};

/** When it is missing where it may be, the value stays what it was. */
enum uc_record_presence {
    UC_NEEDED,
    UC_OPTIONAL, /**< left out when empty (text, samples) or negative (numbers)
                  */
    UC_ADDED     /**< not in older dumps, which have none of a record's */
};

struct uc_record_field {
    const char *name; /**< NULL: the end of a table */
    enum uc_record_type type;
    size_t offset;
    size_t size; /**< of a text, NUL included */
    enum uc_record_presence presence;
};

struct uc_record {
    const char *word; /**< "environment" */
    const struct uc_record_field *fields;
};

/** `operation` is what the record's kernels are for. */
void uc_record_print(FILE *out, const struct uc_record *record,
                     const void *value, enum uc_operation operation);

/**
 * Read the fields of a line, which begin behind its word and are changed.
 * They must stand in the table's order, none twice. A problem sets
 * *operation. *value is filled as far as it gets.
 */
enum uc_status uc_record_parse(const struct uc_record *record, char *fields,
                               void *value, enum uc_operation *operation,
                               struct uc_error *err);

/** Whether a line is a record's; *fields is what is behind the word. */
bool uc_record_is(const struct uc_record *record, char *line, char **fields);

#endif
