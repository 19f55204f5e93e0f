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

/** Exit statuses beside enum uc_status, as shells have them. */
enum { LAUNCH_CANNOT_RUN = 126, LAUNCH_NOT_FOUND = 127 };

/**
 * Put the library before what LD_PRELOAD has, and a setting of it (NAME
 * becomes the value) into the environment, and take the other command's
 * setting, UCUDNN_PLAN or UCUDNN_RECORD, from it. Unless `keep_graph_api`,
 * PyTorch is told to use the API that the library stands in front of; *note, a
 * constant, then says so, and is NULL otherwise.
 */
enum uc_status launch_prepare(const char *setting, const char *value,
                              bool keep_graph_api, const char **note,
                              struct uc_error *err);

/** Become the command; returns only when that fails. */
enum uc_status launch_become(char **words, size_t count, struct uc_error *err);

/**
 * Run the command, hand signals on to it, and wait. *status is its exit
 * status; when a signal ended it, that signal ends this process too.
 */
enum uc_status launch_wait(char **words, size_t count, int *status,
                           struct uc_error *err);

#endif
