/**
 * @file commands.h
 * The commands of ucudnn-plan, one file each; commands.c lists them.
 *
 * Owner:   commands are constants.
 * Errors:  a command returns an exit status, enum uc_status.
 * Threads: none (a process runs one command).
 */
#ifndef UC_PLANNER_COMMANDS_H
#define UC_PLANNER_COMMANDS_H

#include "planner/opt.h"

extern const struct cmd cmd_bench;
extern const struct cmd cmd_compare;
extern const struct cmd cmd_doctor;
extern const struct cmd cmd_dump;
extern const struct cmd cmd_help;
extern const struct cmd cmd_import;
extern const struct cmd cmd_merge;
extern const struct cmd cmd_networks;
extern const struct cmd cmd_plan;
extern const struct cmd cmd_record;
extern const struct cmd cmd_restore;
extern const struct cmd cmd_run;
extern const struct cmd cmd_show;
extern const struct cmd cmd_sweep;
extern const struct cmd cmd_verify;

/** The command of that name, or NULL. */
const struct cmd *command_find(const char *name);

/**
 * Flush stdout and say whether all that was printed got there, for what must
 * not happen otherwise; UC_EFILE.
 */
enum uc_status command_flush(struct uc_error *err);

/** What `ucudnn-plan --help` prints, on stdout. */
void command_overview(void);

#endif
