/**
 * @file count.h
 * How often this process allocated memory and opened files, whichever of its
 * libraries did.
 *
 * Errors:  -1 where a sanitizer has taken the place of these functions.
 * Threads: any.
 */
#ifndef UC_TESTS_CLIENT_COUNT_H
#define UC_TESTS_CLIENT_COUNT_H

#include <stdlib.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CLIENT_SANITIZED
#endif
#endif
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && \
    !defined __SANITIZE_THREAD__ && !defined CLIENT_SANITIZED
#define CLIENT_COUNT
#endif

long client_allocations(void);
long client_files(void);

#endif
