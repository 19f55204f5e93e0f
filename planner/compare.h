/**
 * @file compare.h
 * Two plans, or what two profiles make of the same operations, side by side.
 *
 * Operations are the same when layer, problem and batch are; several entries
 * of one operation (a division can cut a repeat up) count as one. An
 * operation is slower or faster when its time changes by more than the
 * threshold and by more than the samples scatter:
 *   - enough samples on both sides: a rank test at the level asked for;
 *   - else, spreads known: by more than both spreads together;
 *   - else (plans hold times only): the threshold alone.
 *
 * Units:   *_ns nanoseconds, *_bytes bytes, batches count images.
 * Owner:   a side is freed with uc_compare_side_free(), a comparison, which
 *          borrows its sides, with uc_comparison_free(); both take zeros.
 * Errors:  UC_EINTERNAL (no memory), and what the functions say.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_COMPARE_H
#define UC_PLANNER_COMPARE_H

#include "db/plan.h"
#include "db/profile.h"
#include "planner/network.h"
#include "planner/policy.h"

/** An operation of one side. */
struct uc_compare_item {
    char layer[64]; /**< "" when the problem alone names it */
    struct uc_problem problem;
    int64_t batch, repeat;
    int64_t time_ns;   /**< of one run, the mean of its repeats */
    int64_t spread_ns; /**< -1: not known */
    int64_t workspace_bytes;
    char split[128], kernels[256];
    int samples; /**< 0: none known */
    float sample_ns[UC_MAX_SAMPLES];
};

struct uc_compare_side {
    struct uc_environment environment;
    enum uc_plan_mode mode;
    int64_t limit_bytes;
    char policy[UC_POLICY_TEXT];
    struct uc_plan_choices choices;
    void *items; /**< struct uc_compare_item, by uc_array_append() */
    size_t count;
};
void uc_compare_side_free(struct uc_compare_side *side);

/** The side's item of an operation, which these three tell apart; or NULL. */
struct uc_compare_item *uc_compare_find(const struct uc_compare_side *side,
                                        const char *layer, int64_t batch,
                                        const struct uc_problem *problem);

/** What a plan has. */
enum uc_status uc_compare_side_plan(const struct uc_plan *plan,
                                    struct uc_compare_side *side,
                                    struct uc_error *err);

/** UC_EINPUT that says what two plans without a common operation are for. */
enum uc_status uc_compare_nothing(const struct uc_plan *old,
                                  const struct uc_plan *now,
                                  struct uc_error *err);

/** An operation to plan from both profiles. */
struct uc_compare_wish {
    char layer[64];
    struct uc_problem problem;
    int64_t batch, repeat;
};

/**
 * What workspace reuse makes of the wishes in one environment of a profile;
 * what it can make nothing of is left out. UC_EMISSING, with the layer, when
 * the profile has nothing at all of one.
 */
enum uc_status uc_compare_side_profile(
    struct uc_profile *profile,
    const struct uc_profile_environment *environment,
    const struct uc_compare_wish *wishes, size_t count,
    const struct uc_policy *policy, int64_t limit_bytes,
    struct uc_compare_side *side, struct uc_error *err);

/**
 * The problems that both have, in the order of their text, each at the
 * largest micro-batch that both have; *list is the caller's to free(). How
 * many problems only one has: only[0], only[1].
 */
enum uc_status uc_compare_common(struct uc_profile *old, int64_t old_env,
                                 struct uc_profile *now, int64_t new_env,
                                 struct uc_compare_wish **list, size_t *count,
                                 size_t only[2], struct uc_error *err);

struct uc_compare_options {
    double threshold; /**< least change that counts: 0.05 */
    double level;     /**< of the rank test: 0.01 */
};

enum uc_compare_verdict {
    UC_COMPARE_SAME,
    UC_COMPARE_FASTER,
    UC_COMPARE_SLOWER,
    UC_COMPARE_ADDED,
    UC_COMPARE_REMOVED,
    UC_COMPARE_VERDICTS
};
/** "same", "faster", "slower", "added", "removed". */
const char *uc_compare_verdict_name(enum uc_compare_verdict verdict);

/** How it is divided. */
enum uc_compare_split {
    UC_COMPARE_SAME_SPLIT,
    UC_COMPARE_OTHER_KERNELS, /**< of as many images */
    UC_COMPARE_OTHER_SPLIT
};

struct uc_compare_row {
    const struct uc_compare_item *old, *now; /**< NULL: added, removed */
    enum uc_compare_verdict verdict;
    enum uc_compare_split split;
    bool other_repeat; /**< it runs more or less often */
    bool regression;   /**< fails the comparison */
    double p;          /**< of the rank test; -1: there was none */
};

struct uc_comparison {
    char title[160]; /**< "alexnet": what is compared */
    const struct uc_compare_side *old, *now;
    /** A removed operation is a regression (profiles: nothing works now). */
    bool strict;
    struct uc_compare_row *rows; /**< OLD's order, then what was added */
    size_t count;
    size_t verdicts[UC_COMPARE_VERDICTS];
    size_t splits;  /**< rows with another split or other kernels */
    size_t repeats; /**< rows that run more or less often */
    size_t common;  /**< rows of both; 0: there is nothing to total */
    bool others;    /**< some are of one side only */
    /** Over the operations that both have; `total` points to these. */
    struct uc_compare_item old_total, new_total;
    struct uc_compare_row total;
    /** Times of all operations of each side; `all` points to these. They are
     * not judged: unless they equal the totals, they are of other work. */
    struct uc_compare_item old_all, new_all;
    struct uc_compare_row all;
    bool regression; /**< any row's, or the total's */
};

/**
 * Fill all but title and strict. A single slower operation is a regression
 * unless NEW divides one total: there the total alone is.
 */
enum uc_status uc_compare(const struct uc_compare_side *old,
                          const struct uc_compare_side *now,
                          const struct uc_compare_options *options,
                          struct uc_comparison *out, struct uc_error *err);
void uc_comparison_free(struct uc_comparison *comparison);

/** What is compared with what: indices into two lists of plans. */
struct uc_compare_pair {
    size_t old, now;
};
/**
 * Plans for the same network, mode, limit and arithmetic; of several, those
 * of the same environment, then of the same device, then the later ones. One
 * plan on each side is a pair whatever they are for. *list is the caller's
 * to free().
 */
enum uc_status uc_compare_pairs(const struct uc_plan *old, size_t old_count,
                                const struct uc_plan *now, size_t new_count,
                                struct uc_compare_pair **list, size_t *count,
                                struct uc_error *err);

#endif
