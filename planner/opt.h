/**
 * @file opt.h
 * Command-line options: one table parses them, prints --help and is checked
 * against the man page.
 *
 * Options may stand anywhere before "--"; "--name VALUE" and "--name=VALUE"
 * are the same; a unique prefix does not do. Every command has --help.
 *
 * Owner:   option values borrow argv.
 * Errors:  UC_EINPUT.
 * Threads: none (the command line is parsed once).
 */
#ifndef UC_PLANNER_OPT_H
#define UC_PLANNER_OPT_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>

enum opt_type {
    OPT_END,
    OPT_FLAG,    /**< bool; no argument */
    OPT_STRING,  /**< const char *; not empty */
    OPT_STRINGS, /**< struct opt_strings; each repetition adds one */
    OPT_BYTES,   /**< int64_t; uc_bytes_parse() */
    OPT_COUNT,   /**< int64_t; 1 .. 2^31-1 */
    OPT_INDEX,   /**< int64_t; 0 .. 2^31-1 */
    OPT_SECONDS, /**< double; "90", "1.5", "10m", "2h" */
    OPT_SHARE,   /**< double; "0.01", "1%"; 0 .. 1 */
    OPT_MATH,    /**< int; enum uc_math */
    OPT_DTYPE,   /**< int; enum uc_dtype */
    OPT_LAYOUT,  /**< int; enum uc_layout, named ones */
    OPT_POLICY,  /**< struct uc_policy */
    OPT_SHARD,   /**< struct uc_shard; "2/8" */
    OPT_ALLOW,   /**< unsigned; adds an enum uc_kernel_note bit */
    OPT_API,     /**< unsigned; bits 1 << enum uc_api; "both" is all */
    OPT_PREFER,  /**< int; enum uc_merge_rule */
    OPT_DATE /**< int64_t, seconds, not 0; "2025-11-30", with "T00:00:00Z", or
                  "now", which the second that has begun is before */
};

enum { OPT_MOST_STRINGS = 32 };
struct opt_strings {
    const char *list[OPT_MOST_STRINGS];
    size_t count;
};

struct opt_spec {
    const char *name; /**< without dashes */
    char letter;      /**< 0: none */
    enum opt_type type;
    size_t offset;        /**< into the command's options struct */
    const char *argument; /**< "BYTES", NULL for flags */
    const char *help;     /**< one line, lower case, no full stop */
};

/** A subcommand of ucudnn-plan. */
struct cmd {
    const char *name;
    const char *operands; /**< "NETWORK", "[NETWORK...]" for usage */
    const char *summary;
    const struct opt_spec *opts; /**< ends with OPT_END */
    /** Options that several commands have, behind the command's own; their
     * offsets are into the part of its struct at shared_offset. NULL: none. */
    const struct opt_spec *shared;
    size_t shared_offset;
    size_t args_size;     /**< of the options struct */
    const void *defaults; /**< of args_size bytes; NULL: zeros */
    size_t min_operands, max_operands;
    bool launches; /**< becomes or runs another program: signals stay as
                        they are, and a failure without a text is silent */
    enum uc_status (*run)(const void *args, char **operands, size_t count,
                          struct uc_error *err);
};

/**
 * Parse argv[0..argc) into *args (already holding defaults); operands are
 * moved to the front of argv and counted. *help is set by --help.
 */
enum uc_status opt_parse(const struct cmd *cmd, int argc, char **argv,
                         void *args, size_t *operands, int *help,
                         struct uc_error *err);

/** The command's --help, on stdout. */
void opt_help(const struct cmd *cmd);

/** Every command, ends with a NULL. */
extern const struct cmd *const commands[];

#endif
