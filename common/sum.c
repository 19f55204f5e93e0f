#include "config.h"

#include "common/sum.h"

int64_t uc_sum(int64_t sum, int64_t count, int64_t each)
{
    int64_t product, result;

    if (__builtin_mul_overflow(count, each, &product) ||
        __builtin_add_overflow(sum, product, &result))
        return INT64_MAX;
    return result;
}
