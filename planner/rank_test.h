/**
 * @file rank_test.h
 * The rank test of Mann, Whitney and Wilcoxon, exact: whether two sets of
 * samples come from the same distribution, without assuming which.
 *
 * Of all ways to divide the pooled samples into sets of these sizes, the
 * share in which the ranks' sum is as far out, on either side, as it is.
 * Equal samples get the mean of their ranks.
 *
 * Owner:   borrows everything.
 * Errors:  UC_EINTERNAL (no memory).
 * Threads: no hidden state.
 * Source:  H. B. Mann, D. R. Whitney, On a Test of Whether one of Two Random
 *          Variables is Stochastically Larger than the Other, 1947.
 */
#ifndef UC_PLANNER_RANK_TEST_H
#define UC_PLANNER_RANK_TEST_H

#include "common/error.h"

#include <stddef.h>

enum { UC_RANK_SAMPLES = 32 }; /**< most of a set, so that counts fit 64 bits */

/** The probability *p, twice that of the lesser side and at most 1; 1 when a
    set is empty. */
enum uc_status uc_rank_test(const float *a, size_t a_count, const float *b,
                            size_t b_count, double *p, struct uc_error *err);

/** The least p that sets of these sizes can have. */
double uc_rank_test_least(size_t a_count, size_t b_count);

#endif
