/**
 * @file opt_value.h
 * The texts that option values are written as, one parser a type.
 *
 * Owner:   OPT_STRING borrows the text.
 * Errors:  UC_EINPUT without the option's name; outputs are untouched.
 * Threads: no hidden state; the locale is never consulted.
 */
#ifndef UC_PLANNER_OPT_VALUE_H
#define UC_PLANNER_OPT_VALUE_H

#include "planner/opt.h"

#include <stdbool.h>

/** Whether options of this type are followed by a value. */
bool opt_takes_value(enum opt_type type);

/**
 * Parse `text` as the type says and store it at `out`; a flag takes no text
 * (NULL) and is set.
 */
enum uc_status opt_value_parse(enum opt_type type, const char *text, void *out,
                               struct uc_error *err);

#endif
