/**
 * @file real.h
 * Floating-point numbers as text.
 *
 * Threads: no state of its own; the locale must be "C", as it is in a program
 *          that never sets it.
 */
#ifndef UC_COMMON_REAL_H
#define UC_COMMON_REAL_H

#include <stdbool.h>

enum { UC_REAL_TEXT = 32 };

/**
 * At 15 digits, without zeros at the end, or as many more as it takes to read
 * back as the same number: 0.95, 1e+20, 3. `single`: 6, as the same float.
 */
void uc_real_print(double value, bool single, char text[UC_REAL_TEXT]);

#endif
