/**
 * @file plan_build.h
 * Plans from measurements: a network's operations, their desirable sets, and
 * what workspace reuse (WR) or workspace division (WD) makes of them.
 *
 * The sets are built once; any number of plans can be made of them.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds, batches count images.
 * Owner:   a planning borrows the network and nothing else; free it with
 *          uc_planning_free(). Plans are the caller's: uc_plan_free().
 * Errors:  UC_ENOFIT with layer, operation and the least workspace that
 *          would do, or why nothing does; UC_EFILE from the profile;
 *          UC_EINTERNAL. Outputs are untouched on failure.
 * Threads: a planning may be read by many threads.
 */
#ifndef UC_PLANNER_PLAN_BUILD_H
#define UC_PLANNER_PLAN_BUILD_H

#include "db/plan.h"
#include "planner/candidates.h"
#include "planner/network.h"

struct uc_planning_options {
    struct uc_policy policy;
    struct uc_candidate_filter filter;
    int64_t max_pieces; /**< 0: no limit */
    /**
     * An operation stays undivided unless the division gains more than this
     * share and more than the measurement spread; 0: any gain will do.
     */
    double min_gain;
};

/** What a plan keeps of them, and back; neither has the policy. */
struct uc_plan_choices uc_planning_choices(
    const struct uc_planning_options *options);
struct uc_planning_options uc_planning_as_chosen(
    const struct uc_plan_choices *choices);

struct uc_planning;

/**
 * Read what the profile has of every operation in one environment, and build
 * the desirable sets. An operation that nothing usable makes up: UC_ENOFIT,
 * or UC_EMISSING when the filter wants graph kernels only and none was looked
 * for.
 */
enum uc_status uc_planning_start(
    const struct uc_network *network, struct uc_profile *profile,
    const struct uc_profile_environment *environment,
    const struct uc_planning_options *options, struct uc_planning **out,
    struct uc_error *err);

/** The same for operations as they are given; of the network only name and
 * batch count, of the layers name and repeat. */
enum uc_status uc_planning_of(const struct uc_network *network,
                              const struct uc_network_operation *operations,
                              size_t count, struct uc_profile *profile,
                              const struct uc_profile_environment *environment,
                              const struct uc_planning_options *options,
                              struct uc_planning **out, struct uc_error *err);
void uc_planning_free(struct uc_planning *planning);

/** Problems, and those of them that graph kernels were never looked for. */
struct uc_planning_coverage {
    size_t problems, unsearched;
};
struct uc_planning_coverage uc_planning_coverage(
    const struct uc_planning *planning);

/** WR: each operation may use `limit_bytes`. */
enum uc_status uc_planning_reuse(const struct uc_planning *planning,
                                 int64_t limit_bytes, struct uc_plan *out,
                                 struct uc_error *err);

/** How sure a division is. */
struct uc_planning_proof {
    double gap;        /**< proven: no plan is faster by more than this share */
    bool time_ran_out; /**< the gap asked for was not reached */
};

/**
 * WD: all operations and their repeats share `total_bytes`. A repeat whose
 * copies are not all alike becomes several operations of the plan. What the
 * plan is compared with, the undivided division, is solved to a gap of 1e-4
 * or `mip_gap`, whichever is less; `time_limit_s` (<= 0: none) is for both.
 */
enum uc_status uc_planning_divide(const struct uc_planning *planning,
                                  int64_t total_bytes, double mip_gap,
                                  double time_limit_s, struct uc_plan *out,
                                  struct uc_planning_proof *proof,
                                  struct uc_error *err);

#endif
