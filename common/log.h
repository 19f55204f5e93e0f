/**
 * @file log.h
 * What the runtime says on stderr: nothing unless asked to.
 *
 * Owner:   none.
 * Errors:  none; lines are cut at 500 bytes, and a control character in one
 *          becomes a blank.
 * Threads: any; each line is one write, and errno is as it was.
 */
#ifndef UC_COMMON_LOG_H
#define UC_COMMON_LOG_H

#include <stdbool.h>

enum uc_log_level {
    UC_LOG_OFF,
    UC_LOG_ERROR,
    UC_LOG_WARNING,
    UC_LOG_INFO,
    UC_LOG_DEBUG
};

/** "off", "error", "warning", "info", "debug", or 0 to 4. */
bool uc_log_parse(const char *text, enum uc_log_level *level);

/** Set before other threads log. */
void uc_log_set_level(enum uc_log_level level);

/**
 * "ucudnn: text" and a newline, when the level is on; always with
 * UC_LOG_OFF, for what another setting asked for.
 */
void uc_log(enum uc_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
