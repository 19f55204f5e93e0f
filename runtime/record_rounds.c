#include "config.h"

#include "runtime/record_rounds.h"

#include <stddef.h>

/** As ucudnn-network(5) has it. */
static const int64_t max_repeat = 1000000;

void uc_rounds_count(struct uc_rounds *rounds, struct uc_round_count *count)
{
    if (rounds->opens == NULL)
        rounds->opens = count;
    if (count == rounds->opens && count != rounds->latest)
        rounds->round++;
    rounds->latest = count;
    rounds->calls++;
    if (count->round != rounds->round) {
        count->rounds_before += count->round != 0;
        count->round = rounds->round;
        count->round_calls = 0;
    }
    count->round_calls++;
    count->calls++;
}

int64_t uc_rounds_divisor(int64_t divisor, const struct uc_round_count *count)
{
    int64_t a = count->calls;

    while (divisor != 0) {
        int64_t rest = a % divisor;

        a = divisor;
        divisor = rest;
    }
    return a;
}

int64_t uc_rounds_repeat(const struct uc_rounds *rounds,
                         const struct uc_round_count *count, int64_t divisor)
{
    int64_t n = count->calls, of = count->rounds_before, repeat;

    if (n == 0)
        return 0;
    if (rounds->round == 1)
        of = divisor;
    else if (count->round < rounds->round)
        of++;
    else if (of > 0)
        n -= count->round_calls;
    else
        of = 1; /* seen in the unfinished round only */
    repeat = (2 * n + of) / (2 * of);
    return repeat < 1 ? 1 : repeat > max_repeat ? max_repeat : repeat;
}
