/**
 * @file random.h
 * Random numbers for property tests: the same on every machine and run.
 *
 * Source:  Marsaglia's xorshift generator with 64 bits of state.
 */
#ifndef UC_TESTS_RANDOM_H
#define UC_TESTS_RANDOM_H

#include <stdint.h>

struct test_random {
    uint64_t state; /**< not 0: the seed */
};

static inline uint64_t test_random_next(struct test_random *random)
{
    uint64_t x = random->state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    random->state = x;
    return x;
}

/** From least to most, both included. */
static inline int64_t test_random_range(struct test_random *random,
                                        int64_t least, int64_t most)
{
    uint64_t span = (uint64_t)most - (uint64_t)least + 1;

    return least + (int64_t)((test_random_next(random) >> 11) % span);
}

#endif
