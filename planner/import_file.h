/**
 * @file import_file.h
 * The files of an import: a list is read, networks are written.
 *
 * Owner:   texts are the caller's to free().
 * Errors:  UC_EFILE with the file's name, UC_EINPUT for a list that is too
 *          large; outputs, files too, are untouched on failure.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_IMPORT_FILE_H
#define UC_PLANNER_IMPORT_FILE_H

#include "planner/outfile.h"

/** A file, or standard input for "-"; at most 4 MiB. */
enum uc_status uc_import_load(const char *path, char **text, size_t *length,
                              struct uc_error *err);

/** A text and the file that it is for. */
struct uc_import_output {
    char *path;          /**< owned */
    char *text;          /**< owned */
    struct outfile file; /**< internal: zeros at first */
};

/** Each text beside its file: what can fail has failed by then. */
enum uc_status uc_import_write(struct uc_import_output *outputs, size_t count,
                               struct uc_error *err);
/** Those that were written take their names, the first last. */
enum uc_status uc_import_store(struct uc_import_output *outputs, size_t count,
                               struct uc_error *err);

/** Frees what the outputs own and the array. */
void uc_import_outputs_free(struct uc_import_output *outputs, size_t count);

#endif
