/**
 * @file launch.h
 * Running a command with libucudnn in front of its cuDNN.
 *
 * The library is that of a build tree beside the program (.libs), else
 * ../lib from it, else the configured libdir.
 *
 * Owner:   borrows everything; the environment of this process is changed.
 * Errors:  UC_EFILE: the library is not found; LAUNCH_...: the command
 *          cannot be run.
 * Threads: none.
 */
#ifndef UC_PLANNER_LAUNCH_H
#define UC_PLANNER_LAUNCH_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Exit statuses beside enum uc_status, as shells have them. */
enum { LAUNCH_CANNOT_RUN = 126, LAUNCH_NOT_FOUND = 127 };

/** The absolute path of the library, of PATH_MAX bytes; UC_EFILE. */
enum uc_status launch_find_library(char *path, struct uc_error *err);

/**
 * Put the library before what LD_PRELOAD has, and a setting of it, unless NULL
 * (NAME becomes the value) into the environment, and take other commands'
 * settings, UCUDNN_PLAN and UCUDNN_RECORD, from it. Unless `keep_graph_api`,
 * PyTorch is told to use the API that the library stands in front of; *note, a
 * constant, then says so, and is NULL otherwise.
 */
enum uc_status launch_prepare(const char *setting, const char *value,
                              bool keep_graph_api, const char **note,
                              struct uc_error *err);

/** UC_EINPUT unless it is NULL or a value of UCUDNN_MATCH. */
enum uc_status launch_check_match(const char *match, struct uc_error *err);
/** The absolute path, of PATH_MAX bytes, of a file that is known to be of
    plans. */
enum uc_status launch_check_plan(const char *name, char *path,
                                 struct uc_error *err);

/** Become the command; returns only when that fails. */
enum uc_status launch_become(char **words, size_t count, struct uc_error *err);

/** What looks after a command while it runs. */
struct launch_watch {
    double after_s; /**< when the alarm is due first; negative: never */
    /** In this process; says in how many seconds again, negative: never. */
    double (*alarm)(void *context, pid_t child);
    void *context;
};

/**
 * Run the command, hand signals on to it, and wait; *ended is as waitpid()
 * has it. With a watch, which may be NULL, its standard output goes to standard
 * error.
 */
enum uc_status launch_watch(char **words, size_t count,
                            const struct launch_watch *watch, int *ended,
                            struct uc_error *err);

/** The exit status of a command that has ended so. When a signal ended it, that
    signal ends this process too. */
int launch_status(int ended);

#endif
