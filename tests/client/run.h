/**
 * @file run.h
 * What every client program does: run the cases, and print one line a call
 * with its status and a hash of its output.
 *
 * Errors:  the program's exit status.
 * Threads: client_run() once; the others in any, each with a client of its own.
 */
#ifndef UC_TESTS_CLIENT_RUN_H
#define UC_TESTS_CLIENT_RUN_H

#include "tests/client/convolve.h"

#include <stdbool.h>
#include <stdio.h>

enum client_manner {
    CLIENT_CALL,  /**< make the calls */
    CLIENT_EXPECT /**< print what cuDNN is asked when they are split */
};

struct client_options {
    enum client_manner manner;
    const char *only;      /**< cases whose name contains it; NULL: all */
    const char *operation; /**< NULL: all three */
    bool one;              /**< only alpha 1 and beta 0 */
    int algorithm;         /**< the program's own */
    int repeat;            /**< how often each call is made */
    long workspace_bytes;
    long offset;         /**< of tensors from their alignment */
    void (*ready)(void); /**< called before each call, or NULL */
    void (*done)(void);  /**< called behind each, its result not read yet */
};

/** Sets defaults first; false: bad usage. */
bool client_parse(int argc, char **argv, struct client_options *options);

/** Every case that the options take, on this handle and into this file. */
void client_run_cases(const struct client_options *options,
                      const struct client *client, FILE *out);

/** main() of the programs: parses and runs. */
int client_run(int argc, char **argv);

#endif
