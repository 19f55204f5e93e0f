/**
 * @file profile_replace.h
 * A new profile in place of a file: filled beside it, then renamed.
 *
 * From begin to end nobody writes to the old file. What others stored before
 * is there to be read; whoever has it open and stores something meanwhile
 * waits, and is told then that the file was replaced, so that no row is lost
 * unsaid. Readers are not held up.
 *
 * Owner:   begin with zeros; uc_profile_replace_end() frees in any case and
 *          closes the profile.
 * Errors:  UC_EFILE: also for a file that is there and is no profile, and
 *          for one that a program is making or does not stop writing. The
 *          file is as it was.
 * Threads: no hidden state.
 */
#ifndef UC_DB_PROFILE_REPLACE_H
#define UC_DB_PROFILE_REPLACE_H

#include "db/profile.h"
#include "db/replace.h"

struct uc_profile_replace {
    struct uc_replace file;
    struct uc_profile *old;     /**< held; NULL: there is none */
    struct uc_profile *profile; /**< the new one, to be filled */
};

enum uc_status uc_profile_replace_begin(const char *path,
                                        struct uc_profile_replace *replace,
                                        struct uc_error *err);

/** With UC_OK, the new profile takes the name; returns what came of it, or
    the status given. */
enum uc_status uc_profile_replace_end(struct uc_profile_replace *replace,
                                      enum uc_status status,
                                      struct uc_error *err);

#endif
