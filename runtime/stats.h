/**
 * @file stats.h
 * Counting what was executed as planned and what passed through, and why.
 *
 * What passes through is kept by its kind: operation, batch and reason, in a
 * table of fixed size; what finds no room there is only counted. The summary
 * says so.
 *
 * Owner:   process-wide; written at exit when UCUDNN_STATS asks for it.
 * Errors:  none; a file that cannot be written is told once.
 * Threads: any, without a lock; uc_stats_open() before the others. Nothing
 *          is allocated and no function of CUDA or cuDNN is called.
 */
#ifndef UC_RUNTIME_STATS_H
#define UC_RUNTIME_STATS_H

#include "runtime/table.h"

enum uc_miss {
    UC_MISS_NO_PLAN,     /**< there is no plan to follow */
    UC_MISS_NOT_PLANNED, /**< no such operation in the plan */
    UC_MISS_DEVICE,      /**< planned for another device or cuDNN; why: the
                              field that differs */
    UC_MISS_CALLER,      /**< the call is none that plans know; why: the part
                              of it */
    UC_MISS_WORKSPACE,   /**< detail: bytes that were too few */
    UC_MISS_ALIGNMENT,   /**< tensors not aligned to 16 bytes */
    UC_MISS_CAPTURE,     /**< cannot run under stream capture */
    UC_MISS_GRAPH,       /**< a graph of another stream has its workspace */
    UC_MISS_FUSED,       /**< with bias and activation; why: what of the plan
                              or the call does not go with that */
    UC_MISS_NOT_READY,   /**< the library did not make it ready; why */
    UC_MISS_REFUSED,     /**< cuDNN refused it when prepared or run */
    UC_MISSES
};

/** Whether counting is on (UCUDNN_STATS, a log level of info, or a doctor). */
bool uc_stats_on(void);

/** Remember where the summary goes, whatever the current folder becomes. */
void uc_stats_open(void);

/** The process follows plans by ucudnn.h: its calls are not ours to miss. */
void uc_stats_set_explicit(void);
bool uc_stats_explicit(void);

/**
 * One call that passes through. `table` and `problem` may be NULL; `why` is
 * a constant or NULL.
 */
void uc_stats_missed(const struct uc_table *table,
                     const struct uc_problem *problem, int64_t batch,
                     enum uc_miss miss, int64_t detail, const char *why);

/** One execution through cuDNN's graph API, which no plan knows. */
void uc_stats_graph(void);
int64_t uc_stats_graph_count(void);

/** Write the summary: "1" to stderr, else to the end of the file named. `plan`
    is what it says of the plan: its path, or why there is none. */
void uc_stats_write(const struct uc_table *table, const char *plan);

#endif
