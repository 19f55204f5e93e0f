/**
 * @file unit.h
 * What every cmocka program includes: cmocka and its needs, in its order.
 */
#ifndef UC_TESTS_UNIT_H
#define UC_TESTS_UNIT_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/** Skip the test; tests/tap.sh takes the line before as the reason. */
static inline void skip_because(const char *reason)
{
    print_message("%s\n", reason);
    skip();
}

#define UNIT_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
