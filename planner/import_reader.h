/**
 * @file import_reader.h
 * What the readers of import.h's formats share.
 *
 * Owner:   a reader owns its copy of the text; lines point into it and may be
 *          cut up by who reads them.
 * Errors:  a wrong line is told and counted, and reading goes on; running out
 *          of memory ends it.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_IMPORT_READER_H
#define UC_PLANNER_IMPORT_READER_H

#include "planner/import.h"

struct uc_import_reader {
    const struct uc_import_request *request;
    char *next, *end;    /**< what is left of the text */
    size_t line;         /**< the latest line's number */
    size_t wrong;        /**< lines that were told */
    size_t wrong_line;   /**< the latest of them */
    void *tree;          /**< the list's layers by key: tsearch() */
    enum uc_status full; /**< UC_OK, or why nothing more is read */
    struct uc_import_list list;
    struct uc_error *err;
};

/** What one line asks for. */
struct uc_import_item {
    const char *name; /**< NULL or "": none */
    struct uc_problem problem;
    int64_t batch;
    int64_t count; /**< of such layers, below 2^31; 0: one */
    bool runs[UC_OPERATIONS];
};

/**
 * The next line that is not blank, without its end and with blanks for tabs;
 * lines that are no text are told. False at the end.
 */
bool uc_import_next(struct uc_import_reader *reader, char **line);

/** Tell that the latest line is wrong, and why. */
void uc_import_wrong(struct uc_import_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A decimal number, least .. 2^31-1; false: told as `what`. */
bool uc_import_number(struct uc_import_reader *reader, const char *what,
                      const char *text, int64_t least, int64_t *number);

/** A problem of this type with nothing set but types, NCHW and ones. */
struct uc_problem uc_import_problem(int spatial, enum uc_dtype type);

/** Check what a line asks for and add it to the list; false: told why not. */
bool uc_import_add(struct uc_import_reader *reader,
                   const struct uc_import_item *item);

/** Cut the next word off *text; NULL when there is none. */
char *uc_import_word(char **text);

void uc_import_deepbench(struct uc_import_reader *reader);
void uc_import_benchdnn(struct uc_import_reader *reader);
void uc_import_miopen(struct uc_import_reader *reader);

/** Whether a line looks like one of the format's. */
bool uc_import_is_deepbench(const char *line);
bool uc_import_is_benchdnn(const char *line);
bool uc_import_is_miopen(const char *line);

#endif
