/**
 * @file report_compare.h
 * Comparisons for people, pull requests and CI.
 *
 * Owner:   borrows everything.
 * Errors:  UC_EINTERNAL (memory); write errors stay in the FILE.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_REPORT_COMPARE_H
#define UC_PLANNER_REPORT_COMPARE_H

#include "planner/compare.h"

#include <stdio.h>

/** What has changed, as an aligned table. */
enum uc_status uc_report_compare_table(FILE *out,
                                       const struct uc_comparison *comparison,
                                       struct uc_error *err);
/** The same for a pull request. */
void uc_report_compare_markdown(FILE *out,
                                const struct uc_comparison *comparison);
/** {"regression": ..., "comparisons": [...]}, with every operation. */
enum uc_status uc_report_compare_json(FILE *out,
                                      const struct uc_comparison *list,
                                      size_t count, struct uc_error *err);
/** JUnit's XML: a suite a comparison, a case an operation and the total. */
void uc_report_compare_junit(FILE *out, const struct uc_comparison *list,
                             size_t count);

/** "+12.3 %" from old to new; "-" where there is one only. */
enum { UC_REPORT_CHANGE = 32 };
void uc_report_change(const struct uc_compare_row *row,
                      char text[UC_REPORT_CHANGE]);
/** "slower, another split, repeat 1 -> 2"; "" for nothing. */
enum { UC_REPORT_VERDICT = 96 };
void uc_report_verdict(const struct uc_compare_row *row,
                       char text[UC_REPORT_VERDICT]);
/** "64 MiB per operation" */
void uc_report_limit(const struct uc_compare_side *side, char text[64]);
/** "total slower, 1 slower, 2 faster, 7 of the same speed" */
enum { UC_REPORT_VERDICTS = 256 };
void uc_report_verdicts(const struct uc_comparison *comparison,
                        char text[UC_REPORT_VERDICTS]);
/** "regression", "not the same operations", both, or "fine". */
const char *uc_report_outcome(const struct uc_comparison *comparison);
/** Whether a table of changes holds the row. */
bool uc_report_changed(const struct uc_compare_row *row);
/** Layer, or the problem and its batch. */
void uc_report_name(const struct uc_compare_row *row, char *text, size_t size);

#endif
