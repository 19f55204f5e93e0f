/**
 * @file page.h
 * Plans as one HTML page that needs nothing else: no network, no file.
 *
 * Whatever a plan file says (names are anybody's) is text on the page and
 * nothing else; the page's policy lets no other script run.
 *
 * Owner:   borrows everything.
 * Errors:  write errors stay in the FILE.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_PAGE_H
#define UC_PLANNER_PAGE_H

#include "planner/curve.h"

#include <stdio.h>

struct uc_page_plan {
    const struct uc_plan *plan;
    const struct uc_curve *curve; /**< of the plan's mode; NULL: none */
    const char *why_none;         /**< why there is no curve */
    double target;                /**< whose knee the picture marks */
};

void uc_page_print(FILE *out, const struct uc_page_plan *plans, size_t count);

#endif
