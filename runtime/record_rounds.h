/**
 * @file record_rounds.h
 * How often an operation runs in one iteration of a program that does not
 * say when an iteration begins: record.h has the rule.
 *
 * Owner:   plain values, zero at the start.
 * Errors:  none.
 * Threads: the caller's lock.
 */
#ifndef UC_RUNTIME_RECORD_ROUNDS_H
#define UC_RUNTIME_RECORD_ROUNDS_H

#include <stdint.h>

/** One operation's calls. */
struct uc_round_count {
    int64_t calls;
    int64_t round;         /**< in which it ran last; 0: never */
    int64_t round_calls;   /**< in that round */
    int64_t rounds_before; /**< how many earlier ones it ran in */
};

/** All operations of one batch. */
struct uc_rounds {
    int64_t calls;
    int64_t round; /**< the current one; 0: nothing has run */
    const struct uc_round_count *opens; /**< the operation seen first */
    const struct uc_round_count *latest;
};

/** One more call of an operation. */
void uc_rounds_count(struct uc_rounds *rounds, struct uc_round_count *count);

/** The greatest common divisor of `divisor` and the calls; 0 is neutral. */
int64_t uc_rounds_divisor(int64_t divisor, const struct uc_round_count *count);

/** 1 to 1000000; 0: it never ran. `divisor` is that of all the batch's. */
int64_t uc_rounds_repeat(const struct uc_rounds *rounds,
                         const struct uc_round_count *count, int64_t divisor);

#endif
