/**
 * @file merge.h
 * Several profiles as one: the union of their measurements by key
 * (environment, problem, micro-batch, beta case, kernel).
 *
 * Where several profiles have a key, one measurement stays:
 *   - a mark (out-of-bounds, wrong, crashed, timed-out, the gravest first)
 *     before anything else, whatever the rule;
 *   - then what the rule prefers;
 *   - then by everything else that is in it, so that the result does not
 *     depend on the order of the profiles.
 * Of searches, the one that left out least stays, and of these one that is
 * tuned: its kernels are there. It is tuned no more if there is a time of an
 * engine that its tuning may not have known, and that is the best in something.
 *
 * Owner:   borrows everything.
 * Errors:  UC_EFILE; the output is as it was.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_MERGE_H
#define UC_PLANNER_MERGE_H

#include "db/profile.h"

enum uc_merge_rule {
    UC_MERGE_MORE_SAMPLES, /**< more samples, then the newer one */
    UC_MERGE_NEWEST,       /**< the newer one, then more samples */
    UC_MERGE_FASTER,       /**< what was measured, then the less time */
    UC_MERGE_RULES
};
/** "more-samples", "newest", "faster". */
const char *uc_merge_rule_name(int rule);

struct uc_merge_summary {
    size_t environments;
    int64_t measurements; /**< of the result */
    int64_t conflicts;    /**< keys that several profiles have */
    int64_t dropped;      /**< left out as needed by no plan */
    int64_t marks;        /**< conflicts in which a mark beat something else */
};

/** Told what came of it when only the new name is missing: what fails here
 * leaves the output as it was. */
typedef enum uc_status uc_merge_tell(const struct uc_merge_summary *summary,
                                     void *context, struct uc_error *err);

/** Inputs are paths or names of shipped profiles; `output` may be one of the
 * inputs; it is replaced when all is done. With `compact`, less what no plan
 * can need (compact.h). */
enum uc_status uc_merge(char *const *inputs, size_t count,
                        enum uc_merge_rule rule, bool compact,
                        const char *output, uc_merge_tell *tell, void *context,
                        struct uc_error *err);

/** Negative when `a` stays of two with the same key; 0: they are equal. */
int uc_merge_order(enum uc_merge_rule rule, const struct uc_measurement *a,
                   const struct uc_measurement *b);

#endif
