/**
 * @file cmd_show_html.h
 * `ucudnn-plan show --html`: plans as a page, with the curves of a profile.
 *
 * Owner:   borrows everything.
 * Errors:  UC_EFILE; what replan.h says, when a profile is named. On failure
 *          the page's file is as it was.
 * Threads: none.
 */
#ifndef UC_PLANNER_CMD_SHOW_HTML_H
#define UC_PLANNER_CMD_SHOW_HTML_H

#include "db/plan.h"

/**
 * Curves come from `profile` (a file or a shipped one's name), else (NULL)
 * from a shipped one that was measured on what the plan is for; without one
 * the page says why it has none.
 */
enum uc_status show_html(const char *path, const struct uc_plan *plans,
                         size_t count, const char *profile,
                         struct uc_error *err);

#endif
