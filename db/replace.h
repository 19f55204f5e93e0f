/**
 * @file replace.h
 * Replacing a file as a whole: what is written goes to a temporary file
 * beside it, which takes the name at the end, so that an interrupted writer
 * leaves the old file.
 *
 *   uc_replace_begin()   the file is found, its folder locked
 *   uc_replace_create()  an empty file to write to: its name is `temporary`
 *   uc_replace_commit()  it takes the name
 *   uc_replace_end()     in any case
 *
 * A symbolic link is followed, and the file's mode is kept. Writers of one
 * folder wait for each other, and remove what killed ones left there.
 *
 * Owner:   uc_replace_end() frees and unlocks; it takes zeros.
 * Errors:  UC_EFILE; the file is as it was.
 * Threads: no hidden state.
 */
#ifndef UC_DB_REPLACE_H
#define UC_DB_REPLACE_H

#include "common/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct uc_replace {
    const char *path; /**< as the user wrote it; borrowed */
    char *real;       /**< the file itself, links followed */
    char *folder;     /**< of `real` */
    char *temporary;  /**< NULL: not created, or renamed */
    int folder_fd;    /**< when `folder` is set */
    bool locked;      /**< the folder: some file systems cannot */
    bool exists;      /**< and is not empty */
    mode_t mode;      /**< of the file that exists, else 0 */
};

/** Refuses what is no regular file and what may not be written. */
enum uc_status uc_replace_begin(const char *path, struct uc_replace *replace,
                                struct uc_error *err);
enum uc_status uc_replace_create(struct uc_replace *replace,
                                 struct uc_error *err);
/** Written to the disk before it takes the name, so that a crash leaves
    either. Refused when SQLite would play back a journal over it. */
enum uc_status uc_replace_commit(struct uc_replace *replace,
                                 struct uc_error *err);
/** Removes a temporary file that was not committed. */
void uc_replace_end(struct uc_replace *replace);

#endif
