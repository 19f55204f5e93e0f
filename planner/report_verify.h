/**
 * @file report_verify.h
 * Verifications as people and programs read them.
 *
 * Owner, errors, threads: as report.h says.
 */
#ifndef UC_PLANNER_REPORT_VERIFY_H
#define UC_PLANNER_REPORT_VERIFY_H

#include "planner/verify.h"

#include <stdio.h>

enum uc_status uc_report_verification_table(
    FILE *out, const struct uc_verification *verification,
    struct uc_error *err);
/** One JSON object for one plan, an array for several. */
enum uc_status uc_report_verifications_json(FILE *out,
                                            const struct uc_verification *list,
                                            size_t count, struct uc_error *err);
/** The object of a plan file that contradicts itself: it cannot be read. */
enum uc_status uc_report_inconsistent_json(FILE *out, const char *fault,
                                           struct uc_error *err);

#endif
