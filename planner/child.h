/**
 * @file child.h
 * A piece of work in a process of its own, so that what crashes or hangs
 * there takes down nothing else.
 *
 * The child is a copy of this process and says things in messages of one
 * size; it is killed with its parent. What it is told may be larger than
 * sockets take at once.
 *
 * Units:   *_s are seconds.
 * Owner:   stop a started child with uc_child_stop(), which takes a zeroed one.
 * Errors:  UC_EINTERNAL (fork, sockets).
 * Threads: the process must be single-threaded when it starts a child.
 */
#ifndef UC_PLANNER_CHILD_H
#define UC_PLANNER_CHILD_H

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct uc_child {
    pid_t pid; /**< 0: not running */
    int fd;    /**< the parent's end */
};

/** What the child does; its return value is its exit status. */
typedef int uc_child_body(void *context, int fd);

enum uc_status uc_child_start(struct uc_child *child, uc_child_body *body,
                              void *context, struct uc_error *err);

/** Start one that works on a GPU, and wait for its first message. UC_EDEVICE
 * when it has none. */
enum uc_status uc_child_start_on(struct uc_child *child, uc_child_body *body,
                                 void *context, int device, double timeout_s,
                                 void *message, size_t size,
                                 struct uc_error *err);

/** In the child; ends it when the parent is gone. */
void uc_child_say(int fd, const void *message, size_t size);

enum uc_child_word { UC_CHILD_SAID, UC_CHILD_GONE, UC_CHILD_SILENT };
/** The next message; UC_CHILD_SILENT when none comes for timeout_s. */
enum uc_child_word uc_child_hear(struct uc_child *child, void *message,
                                 size_t size, double timeout_s);

/** Any number of bytes for the child. One that is gone is no failure: what it
 * says next tells. UC_EINTERNAL when they cannot be sent. */
enum uc_status uc_child_tell(const struct uc_child *child, const void *bytes,
                             size_t size, struct uc_error *err);
/** In the child: as many bytes as were told at once; false when the parent is
 * gone. */
bool uc_child_told(int fd, void *bytes, size_t size);

/** Reap a child that is gone, kill one that is not; says how it ended:
 * "signal 11 (Segmentation fault)", "exit status 1". */
void uc_child_stop(struct uc_child *child, char *how, size_t size);

#endif
