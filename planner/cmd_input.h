/**
 * @file cmd_input.h
 * What commands that plan have in common: the options that say what to plan
 * from and how, and reading the network and the profile they name.
 *
 * Units:   *_s are seconds.
 * Owner:   options borrow argv; free an input with input_free(), which takes
 *          one that was never read.
 * Errors:  UC_EINPUT, UC_EFILE, UC_EMISSING (after the first few things
 *          missing were listed on stderr), UC_EDEVICE, UC_EINTERNAL.
 * Threads: none (a process runs one command).
 */
#ifndef UC_PLANNER_CMD_INPUT_H
#define UC_PLANNER_CMD_INPUT_H

#include "planner/opt.h"
#include "planner/plan_build.h"
#include "planner/workload.h"

struct input_options {
    const char *profile;
    struct uc_network_overrides overrides;
    struct uc_planning_options planning;
    double mip_gap, time_limit_s;
    int64_t environment; /**< 0: not given */
    bool offline, quiet;
};

/** --profile to --quiet, for the `shared` of a command. */
extern const struct opt_spec input_opts[];

/** For the initializer of a command's defaults. */
#define INPUT_DEFAULTS                                              \
    {                                                               \
        .overrides = { 0, -1, -1, -1 },                             \
        .planning = { .policy = { .kind = UC_POLICY_POWER_OF_TWO }, \
                      .min_gain = UC_PLAN_MIN_GAIN },               \
        .mip_gap = 1e-4                                             \
    }

struct input {
    char *name; /**< of the network, on the command line; borrowed */
    char profile_path[4096];
    struct uc_workload work; /**< one network */
    struct uc_profile *profile;
    struct uc_profile_environment environment; /**< id -1: none yet */
};

/**
 * Read the network and open the profile, which then has every measurement
 * that the policy needs: what it lacks is measured first, where that is
 * possible. Also after a failure *input is to be freed.
 */
enum uc_status input_read(const struct input_options *options, char **operands,
                          size_t count, struct input *input,
                          struct uc_error *err);
void input_free(struct input *input);

/** The desirable sets of what was read. */
enum uc_status input_start(const struct input_options *options,
                           const struct input *input,
                           struct uc_planning **planning, struct uc_error *err);

/** On stderr: how many problems graph engines were never looked for, unless
 * none is wanted. */
void input_note_coverage(const struct input_options *options,
                         const struct uc_planning_coverage *coverage);

#endif
