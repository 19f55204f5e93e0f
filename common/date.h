/**
 * @file date.h
 * Points in time as text: UTC, to the second, in one form.
 *
 * Units:   seconds since 1970.
 * Errors:  UC_EINPUT; outputs are untouched.
 * Threads: no hidden state.
 */
#ifndef UC_COMMON_DATE_H
#define UC_COMMON_DATE_H

#include "common/error.h"

#include <stdint.h>

enum { UC_DATE_TEXT = 32 };

/** "2025-11-30T00:00:00Z"; "" for what has no such form. */
void uc_date_print(int64_t seconds, char text[UC_DATE_TEXT]);

/** Exactly what uc_date_print() writes, from 1970 on. */
enum uc_status uc_date_parse(const char *text, int64_t *seconds,
                             struct uc_error *err);

#endif
