/**
 * @file bytes.h
 * Sizes as people write them: "64M", "1.5GiB", "0".
 *
 * A size is a decimal number and an optional unit: B, K, M, G, T, or
 * KiB, MiB, GiB, TiB (KB... mean the same); units are powers of 1024 and
 * case does not matter. A fraction must come to a whole number of bytes or
 * is rounded down. Signs, blanks, exponents, hexadecimal and overflow of
 * 2^63-1 are errors. The locale is never consulted.
 *
 * Owner:   borrows everything.
 * Errors:  UC_EINPUT; outputs are untouched on failure.
 * Threads: no hidden state.
 */
#ifndef UC_COMMON_BYTES_H
#define UC_COMMON_BYTES_H

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

enum uc_status uc_bytes_parse(const char *text, int64_t *bytes,
                              struct uc_error *err);

enum { UC_BYTES_TEXT = 24 }; /**< room for any uc_bytes_print() */

/** Short form for people: "64 MiB", "1.5 GiB", "0 B"; at most 4 digits. */
void uc_bytes_print(int64_t bytes, char text[UC_BYTES_TEXT]);

#endif
