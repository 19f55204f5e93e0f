/**
 * @file error.h
 * Statuses and error texts: how every fallible function reports.
 *
 * A function returns enum uc_status and, on failure, fills the caller's
 * struct uc_error with one line (no newline, no program name). The deepest
 * function states the cause; a caller adds which input with uc_wrap();
 * nobody overwrites.
 *
 * Units:   none.
 * Owner:   struct uc_error belongs to the caller; nothing is allocated.
 * Errors:  these functions do not fail; long texts are truncated, and what
 *          keeps a text from being one printable line becomes '?'.
 * Threads: no hidden state.
 */
#ifndef UC_COMMON_ERROR_H
#define UC_COMMON_ERROR_H

/** Also the exit statuses of ucudnn-plan: the values are documented. */
enum uc_status {
    UC_OK = 0,
    UC_EINPUT = 1,      /**< bad usage or bad input */
    UC_EREGRESSION = 2, /**< compare or verify found a regression */
    UC_ENOFIT = 3,      /**< no configuration fits the limit */
    UC_EMISSING = 4,    /**< measurements missing, nothing to measure with */
    UC_EDEVICE = 5,     /**< device or cuDNN failure */
    UC_EFILE = 6,       /**< file or database failure */
    UC_EINTERNAL = 7    /**< a fault of ours, or no memory */
};

struct uc_error {
    enum uc_status status;
    char text[512]; /**< one line, NUL-terminated */
};

/** Fill *err and return the status. */
enum uc_status uc_fail(struct uc_error *err, enum uc_status status,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Put "prefix: " before the text; returns the status given. */
enum uc_status uc_wrap(struct uc_error *err, enum uc_status status,
                       const char *prefix);

/** uc_fail() with UC_EINTERNAL and the words every caller needs. */
enum uc_status uc_no_memory(struct uc_error *err);

/* `make lint`: a failure is never UC_OK, which the analyser cannot know. */
#ifdef __clang_analyzer__
#define uc_fail(err, status, ...) (uc_fail(err, status, __VA_ARGS__), (status))
#define uc_wrap(err, status, prefix) (uc_wrap(err, status, prefix), (status))
#define uc_no_memory(err) (uc_no_memory(err), UC_EINTERNAL)
#endif

#endif
