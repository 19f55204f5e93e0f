/**
 * @file report.h
 * Plans and profiles as people and programs read them.
 *
 * Numbers are printed with a decimal point whatever the locale.
 *
 * Owner:   borrows everything.
 * Errors:  UC_EINTERNAL (memory); write errors stay in the FILE.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_REPORT_H
#define UC_PLANNER_REPORT_H

#include "db/plan.h"
#include "db/profile.h"

#include <stdio.h>

enum uc_status uc_report_plan_table(FILE *out, const struct uc_plan *plan,
                                    struct uc_error *err);
enum uc_status uc_report_plan_csv(FILE *out, const struct uc_plan *plan,
                                  struct uc_error *err);
/** One JSON object for one plan, an array for several. */
enum uc_status uc_report_plans_json(FILE *out, const struct uc_plan *plans,
                                    size_t count, struct uc_error *err);

enum uc_status uc_report_profile_table(FILE *out, struct uc_profile *profile,
                                       struct uc_error *err);
enum uc_status uc_report_profile_json(FILE *out, struct uc_profile *profile,
                                      struct uc_error *err);

/** "4x64" or "3x32+4", pieces in order, backward-filter's first counted in. */
void uc_report_split(const struct uc_plan_operation *operation, char *text,
                     size_t size);
/** Three significant digits and a unit: "12.3 us", "1.57 ms". */
void uc_report_time(int64_t ns, char text[24]);

#endif
