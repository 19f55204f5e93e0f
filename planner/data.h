/**
 * @file data.h
 * Files that ship with the project: networks and profiles.
 *
 * The data folder is $UCUDNN_DATA_DIR, else `db` beside the program (a build
 * tree), else ../share/ucudnn from it, else the configured pkgdatadir. It
 * holds networks/NAME.json, profiles/NAME.profile and known-bad-engines.
 *
 * Owner:   lists are the caller's to free.
 * Errors:  UC_EFILE; a name that finds nothing says what there is.
 *          UC_EINPUT: an empty name.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_DATA_H
#define UC_PLANNER_DATA_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>

/** The path of a file or folder of the data folder, whether or not it
    exists. */
enum uc_status uc_data_file(const char *name, char *path, size_t size,
                            struct uc_error *err);

enum uc_data_kind { UC_DATA_NETWORK, UC_DATA_PROFILE };

/**
 * The path of a name given on the command line. A name with a slash or with
 * the kind's suffix, or naming an existing file, is a path as it stands; a
 * bare name is looked up in the data folder.
 */
enum uc_status uc_data_find(enum uc_data_kind kind, const char *name,
                            char *path, size_t size, struct uc_error *err);

/** The same for a profile or plan: a file that exists or looks like one, else
    a shipped profile's name. */
enum uc_status uc_data_find_file(const char *name, char *path, size_t size,
                                 struct uc_error *err);

/** The folder that the running program is in; false: not known. */
bool uc_data_program_folder(char *path, size_t size);

/** Shipped names, sorted; free each and the list, or uc_data_free(). */
enum uc_status uc_data_list(enum uc_data_kind kind, char ***names,
                            size_t *count, struct uc_error *err);
void uc_data_free(char **names, size_t count);

#endif
