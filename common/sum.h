/**
 * @file sum.h
 * Sums of numbers that are not negative; they stop at INT64_MAX.
 *
 * Threads: no state.
 */
#ifndef UC_COMMON_SUM_H
#define UC_COMMON_SUM_H

#include <stdint.h>

/** sum + count * each. */
int64_t uc_sum(int64_t sum, int64_t count, int64_t each);

#endif
