/**
 * @file fuzz.h
 * Fuzzers: programs that read any bytes and check what must hold then.
 *
 * `make fuzz` links each with libFuzzer; `make check` links it with
 * fuzz_replay.c, which feeds it the files of tests/corpus/NAME.
 */
#ifndef UC_TESTS_FUZZ_H
#define UC_TESTS_FUZZ_H

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern const char fuzz_name[]; /**< of the corpus's folder */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What must hold: else the program ends, and says where. */
#define FUZZ_CHECK(condition)                                                 \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, \
                    #condition);                                              \
            abort();                                                          \
        }                                                                     \
    } while (0)

/** A failure has a status and says why in one line. */
void fuzz_check_error(enum uc_status status, const struct uc_error *err);

/** The bytes as a string, NULs and all; free() it. */
char *fuzz_string(const uint8_t *data, size_t size);

/** A file with these bytes, in memory where there is such a folder; the same
    path each time. */
const char *fuzz_file(const uint8_t *data, size_t size);

#endif
