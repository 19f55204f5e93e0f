/**
 * @file record.h
 * Recording: the convolutions that a program runs, written as a network
 * description, ucudnn-network(5).
 *
 * A description has one batch. The one that most calls had gets the file
 * named; others get files beside it, FILE.N.json for FILE.json and batch N.
 * One entry describes the operations of one shape that run equally often;
 * they are named conv1, conv2, ... by their first appearance at that batch.
 *
 * How often an operation runs (`repeat`) is counted by rounds: at each batch
 * a round begins when the operation that was seen first runs again, unless
 * directly after itself. It is the mean over the finished rounds in which
 * the operation ran, rounded. Before a round is finished, it is the calls
 * divided by their greatest common divisor.
 *
 * A file is written beside its place and renamed: when a new operation
 * appears (soon after, when there are very many), when the calls have
 * doubled and the description has changed, and at exit. So a program that is
 * killed leaves a whole file.
 *
 * Owner:   process-wide; descriptors are only read.
 * Errors:  a file that cannot be written is told once on stderr.
 * Threads: any; one lock. uc_record_open() before the others.
 */
#ifndef UC_RUNTIME_RECORD_H
#define UC_RUNTIME_RECORD_H

#include "runtime/caller.h"

/** Record into this file; once. False, and told, when it cannot be. */
bool uc_record_open(const char *file);

/** A convolution that cuDNN has carried out. */
void uc_record_call(const struct uc_cudnn *cudnn, enum uc_operation operation,
                    const struct uc_descriptors *descriptors);

/**
 * At exit: write what is new; say on stderr when nothing was recorded, with
 * how many executions went through the graph API, and what was left out.
 */
void uc_record_finish(int64_t graph_executions);

#endif
