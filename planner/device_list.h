/**
 * @file device_list.h
 * The GPUs that `bench --devices` names: numbers between commas, or all.
 *
 * Owner:   plain values.
 * Errors:  UC_EINPUT.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_DEVICE_LIST_H
#define UC_PLANNER_DEVICE_LIST_H

#include "common/error.h"

enum { UC_DEVICE_LIST = 64 };

/** "0,2" into numbers; "all" gives count 0, NULL is "0". On failure they are
    undefined. */
enum uc_status uc_device_list_parse(const char *text,
                                    int devices[UC_DEVICE_LIST], int *count,
                                    struct uc_error *err);

#endif
