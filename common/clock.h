/**
 * @file clock.h
 * Time that only grows.
 *
 * Units:   seconds since some fixed moment.
 * Owner:   nothing is owned.
 * Errors:  nothing fails.
 * Threads: any.
 */
#ifndef UC_COMMON_CLOCK_H
#define UC_COMMON_CLOCK_H

double uc_clock_s(void);

#endif
