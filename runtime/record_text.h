/**
 * @file record_text.h
 * What was recorded at one batch, as the text of a network description.
 *
 * Owner:   borrows everything.
 * Errors:  write errors stay in the FILE.
 * Threads: no hidden state; the locale is never consulted.
 */
#ifndef UC_RUNTIME_RECORD_TEXT_H
#define UC_RUNTIME_RECORD_TEXT_H

#include "common/problem.h"

#include <stdio.h>

/** One shape, in order of appearance. */
struct uc_record_layer {
    struct uc_problem problem;     /**< describable; its operation is none */
    int64_t repeat[UC_OPERATIONS]; /**< 0: does not run */
};

/**
 * What a description can say of a canonical problem: strides that do not
 * count get values that fit. NULL and *described, else what it cannot say.
 */
const char *uc_record_describable(const struct uc_problem *problem,
                                  int64_t batch, struct uc_problem *described);

/**
 * The whole description; a layer is one entry for each number of repeats.
 * `name` and `description` are made printable and are cut to fit; without a
 * name it is "recorded".
 */
void uc_record_print(FILE *out, const char *name, const char *description,
                     int64_t batch, const struct uc_record_layer *layers,
                     size_t count);

#endif
