#include "config.h"

#include "planner/rank_test.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    POOL = 2 * UC_RANK_SAMPLES,
    /** Twice the sum of all ranks; ranks are doubled, so that means of
        neighbours are whole numbers. */
    MOST_SUM = POOL * (POOL + 1)
};

struct sample {
    float value;
    bool first; /**< of the first set */
};

static int by_value(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;

    return (a->value > b->value) - (a->value < b->value);
}

/** Doubled ranks of the sorted pool. */
static void rank(const struct sample *pool, size_t count, int ranks[POOL])
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && pool[end].value <= pool[i].value;)
            end++;
        /* ranks i + 1 .. end, of which twice the mean is the ends' sum */
        for (size_t j = i; j < end; j++)
            ranks[j] = (int)(i + 1 + end);
    }
}

/** ways[k][s]: how many sets of k of the ranks have the sum s. */
static void count_ways(const int *ranks, size_t count, size_t size,
                       uint64_t (*ways)[MOST_SUM + 1])
{
    int total = 0;

    ways[0][0] = 1;
    for (size_t i = 0; i < count; i++) {
        total += ranks[i];
        for (size_t k = i + 1 < size ? i + 1 : size; k > 0; k--)
            for (int s = total; s >= ranks[i]; s--)
                ways[k][s] += ways[k - 1][s - ranks[i]];
    }
}

/** The share of the sums that are at least, or at most, as far out. */
static double tails(const uint64_t ways[MOST_SUM + 1], int sum)
{
    uint64_t below = 0, above = 0, all = 0, lesser;
    double p;

    for (int s = 0; s <= MOST_SUM; s++) {
        all += ways[s];
        below += s <= sum ? ways[s] : 0;
        above += s >= sum ? ways[s] : 0;
    }
    lesser = below < above ? below : above;
    p = 2 * ((double)lesser / (double)all);
    return p < 1 ? p : 1;
}

enum uc_status uc_rank_test(const float *a, size_t a_count, const float *b,
                            size_t b_count, double *p, struct uc_error *err)
{
    struct sample pool[POOL];
    size_t count = 0;
    int ranks[POOL], sum = 0;
    uint64_t(*ways)[MOST_SUM + 1];

    if (a_count > UC_RANK_SAMPLES || b_count > UC_RANK_SAMPLES)
        return uc_fail(err, UC_EINTERNAL, "more samples than are ranked");
    for (size_t i = 0; i < a_count; i++)
        pool[count++] = (struct sample){ a[i], true };
    for (size_t i = 0; i < b_count; i++)
        pool[count++] = (struct sample){ b[i], false };
    if (a_count == 0 || b_count == 0) {
        *p = 1;
        return UC_OK;
    }
    ways = calloc(a_count + 1, sizeof *ways);
    if (ways == NULL)
        return uc_no_memory(err);
    qsort(pool, count, sizeof *pool, by_value);
    rank(pool, count, ranks);
    for (size_t i = 0; i < count; i++)
        sum += pool[i].first ? ranks[i] : 0;
    count_ways(ranks, count, a_count, ways);
    *p = tails(ways[a_count], sum);
    free(ways);
    return UC_OK;
}

double uc_rank_test_least(size_t a_count, size_t b_count)
{
    double ways = 1; /* binomial coefficient, exact enough */

    for (size_t i = 1; i <= a_count; i++)
        ways = ways * (double)(b_count + i) / (double)i;
    return ways <= 2 ? 1 : 2 / ways;
}
