/**
 * @file beside.h
 * The file that is written first and then renamed to what it replaces: in the
 * folder of the target, under a short name of its own, since the target's may
 * be as long as names can be.
 *
 * Owner:   the caller removes or renames what was created, and closes it.
 * Errors:  an errno.
 * Threads: any. Creating allocates nothing; sweeping reads the folder.
 */
#ifndef UC_COMMON_BESIDE_H
#define UC_COMMON_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/** Most that the name adds to the folder's, with the NUL. */
enum { UC_BESIDE_NAME = 48 };

/** Who may be writing to it. */
enum uc_beside {
    UC_BESIDE_LOCKED, /**< only one who has locked the folder */
    UC_BESIDE_LOOSE   /**< anybody, for less than a day */
};

/**
 * Why a regular file, or nothing, of this name may not be replaced by a text:
 * it is something else, a link to nothing, may not be written (a rename would
 * get around its permission), or is a database. NULL: it may.
 */
const char *uc_beside_refusal(const char *target);

/**
 * A new, empty file: a descriptor for reading and writing and its path, or -1
 * with errno and a path "". No link is followed.
 */
int uc_beside_create(const char *target, enum uc_beside kind, char *path,
                     size_t size);

/**
 * Remove what killed programs left in the target's folder: what is a day old,
 * and of UC_BESIDE_LOCKED everything if the caller has the lock.
 */
void uc_beside_sweep(const char *target, bool locked);

#endif
