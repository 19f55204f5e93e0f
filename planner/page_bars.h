/**
 * @file page_bars.h
 * An operation's micro-batches as a bar on a page: a block each, as wide as
 * its time and as high as its workspace, coloured by kernel.
 *
 * Owner:   bars borrow their plan.
 * Errors:  write errors stay in the FILE.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_PAGE_BARS_H
#define UC_PLANNER_PAGE_BARS_H

#include "db/plan.h"

#include <stdio.h>

/** Classes "k0" to "k7" of the style sheet; the last is for all others. */
enum { UC_BARS_COLOURS = 8 };

struct uc_bars {
    int64_t full_ns;    /**< what the whole width is, >= 1 */
    int64_t full_bytes; /**< what the whole height is, >= 1 */
    char kernels[UC_BARS_COLOURS][UC_KERNEL_TEXT]; /**< in order of use */
    size_t kernel_count; /**< UC_BARS_COLOURS: the last is "others" */
};

void uc_bars_init(struct uc_bars *bars, const struct uc_plan *plan);
/** Which colour is which kernel. */
void uc_bars_print_keys(FILE *out, const struct uc_bars *bars);
void uc_bars_print(FILE *out, const struct uc_bars *bars,
                   const struct uc_plan_operation *operation);

#endif
