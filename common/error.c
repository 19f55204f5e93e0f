#include "config.h"

#include "common/error.h"

#include "common/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The functions themselves, see error.h. */
#undef uc_fail
#undef uc_wrap
#undef uc_no_memory

enum uc_status uc_fail(struct uc_error *err, enum uc_status status,
                       const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    uc_text_make_line(err->text);
    err->status = status;
    return status;
}

enum uc_status uc_wrap(struct uc_error *err, enum uc_status status,
                       const char *prefix)
{
    char old[sizeof err->text];

    memcpy(old, err->text, sizeof old);
    old[sizeof old - 1] = '\0';
    return uc_fail(err, status, "%s: %s", prefix, old);
}

enum uc_status uc_no_memory(struct uc_error *err)
{
    return uc_fail(err, UC_EINTERNAL, "out of memory");
}
