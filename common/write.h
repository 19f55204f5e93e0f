/**
 * @file write.h
 * Writing inside somebody else's program.
 *
 * A reader that has gone and a limit on file sizes are errors here, and not
 * the signals SIGPIPE and SIGXFSZ, which would end the program.
 *
 * Owner:   borrows everything.
 * Errors:  an errno.
 * Threads: any; errno is as it was.
 */
#ifndef UC_COMMON_WRITE_H
#define UC_COMMON_WRITE_H

#include <stddef.h>

/** Write all of it; 0, or the errno of what went wrong. */
int uc_write_all(int fd, const void *bytes, size_t length);

#endif
