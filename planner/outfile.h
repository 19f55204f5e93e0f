/**
 * @file outfile.h
 * A file of text or an image that appears whole or not at all: written beside
 * the target, links followed, then renamed. What is no regular file (a pipe,
 * /dev/stdout) is written as it is. A database is never replaced: a profile or
 * plan named by mistake stays.
 *
 * Owner:   an outfile that was begun is ended by outfile_finish() or, also
 *          after a failure and when it was never begun (zeros),
 *          outfile_drop().
 * Errors:  UC_EFILE, with the path; UC_EINTERNAL (memory).
 * Threads: none.
 */
#ifndef UC_PLANNER_OUTFILE_H
#define UC_PLANNER_OUTFILE_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct outfile {
    const char *path; /**< borrowed */
    char *target;     /**< links followed */
    char *temporary;  /**< NULL: none is needed */
    int fd;           /**< open while `target` is not NULL */
    FILE *stream;     /**< to write to; in memory until it is written */
    char *bytes;
    size_t length;
};

/** Both are there and the same, whatever their names. */
bool outfile_is_same(const char *path, const char *other);

/** What is there, or nothing, may be replaced: uc_beside_refusal(). */
enum uc_status outfile_check(const char *path, struct uc_error *err);

/** The file can be made, which is seen before anything is written. */
enum uc_status outfile_begin(struct outfile *file, const char *path,
                             struct uc_error *err);
/** All that was written is on the disk and lacks but the name: of several
    files, none need be there before all can be. */
enum uc_status outfile_write(struct outfile *file, struct uc_error *err);
/** All that was written is in the file of that name. */
enum uc_status outfile_finish(struct outfile *file, struct uc_error *err);
/** Nothing is. */
void outfile_drop(struct outfile *file);

#endif
