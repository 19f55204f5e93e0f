/**
 * @file shard.h
 * One share of a workload, for measuring on many machines: problems are
 * dealt out so that the shares take about as long, all of a problem to one
 * share. It depends on the networks alone, so that machines that know
 * nothing of each other agree, and the shares make up the whole.
 *
 * Units:   shares count from 1.
 * Owner:   plain values.
 * Errors:  UC_EINPUT, UC_EINTERNAL (no memory); outputs are untouched.
 * Threads: uc_shard_slurm() reads the environment.
 */
#ifndef UC_PLANNER_SHARD_H
#define UC_PLANNER_SHARD_H

#include "planner/workload.h"

struct uc_shard {
    int64_t index; /**< 1 .. count */
    int64_t count; /**< 0: not set; 1: the whole */
};

/** "2/8". */
enum uc_status uc_shard_parse(const char *text, struct uc_shard *shard,
                              struct uc_error *err);

/**
 * What Slurm's environment says: the task of an array job, and within it the
 * task of an srun; count 1 when there is neither. The tasks of an array must
 * be evenly spaced.
 */
enum uc_status uc_shard_slurm(struct uc_shard *shard, struct uc_error *err);

/**
 * Leave the share's operations in the workload. How many distinct problems
 * it had and has: problems[0], problems[1].
 */
enum uc_status uc_shard_keep(const struct uc_shard *shard,
                             struct uc_workload *work, size_t problems[2],
                             struct uc_error *err);

#endif
