/**
 * @file report_json.h
 * What the JSON reports share.
 *
 * Owner:   values are the caller's; functions that make one return NULL
 *          without memory.
 * Errors:  UC_EINTERNAL (no memory); write errors stay in the FILE.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_REPORT_JSON_H
#define UC_PLANNER_REPORT_JSON_H

#include "common/device.h"
#include "common/error.h"
#include "db/plan.h"

#include <jansson.h>
#include <stdio.h>

/** Prints and drops the value; NULL is no memory. */
enum uc_status uc_json_print(FILE *out, json_t *value, struct uc_error *err);

/** A text that may be no UTF-8, where "?" stands for what is none; "" and NULL
 * are null. */
json_t *uc_json_text(const char *text);
/** -1 is null. */
json_t *uc_json_optional(int64_t ns);
json_t *uc_json_device(const struct uc_device *device);
json_t *uc_json_versions(const struct uc_versions *versions);
/** {"policy": ..., "deterministic": ...}: the policy and every choice. */
json_t *uc_json_choices(const char *policy,
                        const struct uc_plan_choices *choices);
/** The members of both, in one object; takes both, also NULL. */
json_t *uc_json_joined(json_t *object, json_t *more);

#endif
