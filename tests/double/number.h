/**
 * @file number.h
 * The data types of the double: storage and rounding. Compiled into both
 * libraries.
 *
 * Threads: no hidden state.
 */
#ifndef UC_TESTS_DOUBLE_NUMBER_H
#define UC_TESTS_DOUBLE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/** As the measuring kernels number them. */
enum uc_number {
    UC_NUMBER_FP32,
    UC_NUMBER_FP16,
    UC_NUMBER_BF16,
    UC_NUMBER_FP64,
    UC_NUMBERS
};

size_t uc_number_bytes(enum uc_number type);
/** Element `index` of an array. */
double uc_number_load(const void *array, enum uc_number type, int64_t index);
/** Rounds to nearest, ties to even. */
void uc_number_store(void *array, enum uc_number type, int64_t index,
                     double value);
double uc_number_round(double value, enum uc_number type);
/** To the 10 fraction bits of TF32. */
double uc_number_round_tf32(double value);

#endif
