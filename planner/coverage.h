/**
 * @file coverage.h
 * Which batches of a network a profile can plan without measuring: those for
 * which work.h's list of the legacy API is empty, which is what `plan` asks
 * for before it plans.
 *
 * Units:   batches count images.
 * Owner:   what a function fills is the caller's to free as it says.
 * Errors:  as the profile's and data.h's; outputs are untouched on failure.
 * Threads: as the profile's.
 */
#ifndef UC_PLANNER_COVERAGE_H
#define UC_PLANNER_COVERAGE_H

#include "db/profile.h"
#include "planner/network.h"
#include "planner/policy.h"

struct uc_coverage {
    void *batches; /**< int64_t, ascending; owned: free() */
    size_t batch_count;
    /** When some batch can be planned: different problems, and those of them
     * that graph engines were never looked for. */
    size_t problems, unsearched;
};
enum uc_status uc_coverage_of(struct uc_profile *profile, int64_t env,
                              const struct uc_network_operation *operations,
                              size_t count, const struct uc_policy *policy,
                              struct uc_coverage *coverage,
                              struct uc_error *err);

/** A network that ships, as it can be planned. */
struct uc_coverage_row {
    char network[UC_NETWORK_NAME]; /**< its name on the command line */
    enum uc_math math;
    enum uc_layout layout;
    int64_t largest_batch;
    size_t problems, unsearched;
};
/**
 * Every network that ships in every arithmetic and layout that some batch can
 * be planned in with powers of two; none where no networks ship. *rows is the
 * caller's to free().
 */
enum uc_status uc_coverage_shipped(struct uc_profile *profile, int64_t env,
                                   struct uc_coverage_row **rows, size_t *count,
                                   struct uc_error *err);

/**
 * For the network of this name, which cannot be planned as asked: what can be
 * planned instead, from another profile of the same device and versions, "; the
 * shipped profile h200-fp16 has alexnet", or from this one, "; it has alexnet
 * with --layout nhwc up to batch 256". "" when nothing alike can be planned
 * either, or something failed.
 */
enum { UC_COVERAGE_HINT = 160 };
void uc_coverage_hint(struct uc_profile *profile,
                      const struct uc_profile_environment *environment,
                      char *name, const struct uc_network_overrides *asked,
                      const struct uc_policy *policy,
                      char text[UC_COVERAGE_HINT]);

#endif
