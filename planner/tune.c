#include "config.h"

#include "planner/tune.h"

#include "planner/prune.h"

static bool comes_first(const struct uc_measurement *other,
                        const struct uc_measurement *row)
{
    return other->time_ns != row->time_ns
               ? other->time_ns < row->time_ns
               : uc_kernel_compare(&other->kernel, &row->kernel) < 0;
}

/** Whether `row` is not good enough, since there is the other one. */
static bool is_outdone(const struct uc_measurement *row,
                       const struct uc_measurement *other)
{
    double times = (double)row->time_ns / (double)other->time_ns;

    if (other->workspace_bytes > row->workspace_bytes)
        return times > UC_TUNE_FACTOR;
    if (other->kernel.engine == row->kernel.engine)
        return comes_first(other, row);
    return times > 1 + UC_TUNE_MARGIN;
}

bool uc_tune_wants(const struct uc_measurement *rows, size_t count,
                   size_t index)
{
    const struct uc_measurement *row = &rows[index];

    if (row->kernel.api != UC_API_GRAPH || row->outcome != UC_MEASURED)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct uc_measurement *other = &rows[i];

        if (other->outcome == UC_MEASURED &&
            other->micro_batch == row->micro_batch &&
            other->accumulate == row->accumulate &&
            uc_prune_stands_for(other, row) && is_outdone(row, other))
            return false;
    }
    return true;
}
