/**
 * @file dump.h
 * Profiles and plans as text to review, and back: one record a line, in
 * ucudnn-profile(5) under TEXT FORM.
 *
 * The same content gives the same text, whatever order a profile was
 * measured in: environments are ordered by their fields, problems by their
 * text, measurements by micro-batch, beta case and kernel. Plans and their
 * operations stay in their order, which means something.
 *
 * Owner:   borrows everything.
 * Errors:  UC_EFILE for the files; UC_EINPUT, with name and line, for a text
 *          that is malformed: nothing is written then. Write errors of a
 *          dump stay in the FILE.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_DUMP_H
#define UC_PLANNER_DUMP_H

#include "db/plan.h"
#include "db/profile.h"

#include <stdio.h>

enum uc_status uc_dump_profile(FILE *out, struct uc_profile *profile,
                               struct uc_error *err);
void uc_dump_plans(FILE *out, const struct uc_plan *plans, size_t count);

/** Orders environments by their fields, as qsort() wants it. */
int uc_environment_order(const struct uc_environment *a,
                         const struct uc_environment *b);

/**
 * Make the file at `path` of a dump; `name` stands for the dump in messages.
 * A file that is there is replaced as a whole if it is of the same kind.
 */
enum uc_status uc_restore(FILE *in, const char *name, const char *path,
                          struct uc_error *err);

#endif
