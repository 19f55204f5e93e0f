/**
 * @file workload.h
 * What a command is to work on: networks as they are named on the command
 * line, with its overrides, and every operation of them.
 *
 * Units:   batches count images.
 * Owner:   free a workload with uc_workload_free(), which takes zeros; its
 *          operations borrow its networks.
 * Errors:  as data.h and network.h; outputs are untouched on failure.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_WORKLOAD_H
#define UC_PLANNER_WORKLOAD_H

#include "planner/network.h"

struct uc_workload {
    struct uc_network *networks; /**< as named */
    size_t network_count;
    struct uc_network_operation *operations; /**< network by network */
    int64_t *batches;                        /**< of each operation */
    size_t operation_count;
};

enum uc_status uc_workload_read(char *const *names, size_t count,
                                const struct uc_network_overrides *overrides,
                                struct uc_workload *workload,
                                struct uc_error *err);
void uc_workload_free(struct uc_workload *workload);

#endif
