/**
 * @file stats.h
 * Counting what was executed as planned and what passed through, and why.
 *
 * Owner:   process-wide; written at exit when UCUDNN_STATS asks for it.
 * Errors:  none.
 * Threads: any.
 */
#ifndef UC_RUNTIME_STATS_H
#define UC_RUNTIME_STATS_H

#include "runtime/table.h"

enum uc_miss {
    UC_MISS_NOT_PLANNED, /**< no such operation in the plan */
    UC_MISS_DEVICE,      /**< planned for another device or cuDNN */
    UC_MISS_CALLER,      /**< the call is none that plans know */
    UC_MISS_WORKSPACE,   /**< detail: bytes that were too few */
    UC_MISS_ALIGNMENT,   /**< tensors not aligned to 16 bytes */
    UC_MISS_CAPTURE,     /**< first use under stream capture */
    UC_MISS_REFUSED,     /**< cuDNN refused it when prepared or run */
    UC_MISSES
};

/** Whether counting is on (UCUDNN_STATS, or a log level of info). */
bool uc_stats_on(void);

/** `problem` may be NULL (UC_MISS_CALLER); `why` is a constant or NULL. */
void uc_stats_missed(const struct uc_table *table,
                     const struct uc_problem *problem, int64_t batch,
                     enum uc_miss miss, int64_t detail, const char *why);

/** Write the summary: "1" to stderr, else to the file named. */
void uc_stats_write(const struct uc_table *table);

#endif
