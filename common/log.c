#include "config.h"

#include "common/log.h"

#include "common/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum uc_log_level current = UC_LOG_OFF;

bool uc_log_parse(const char *text, enum uc_log_level *level)
{
    static const char *const names[] = { "off", "error", "warning", "info",
                                         "debug" };

    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(text, names[i]) == 0 ||
            (text[0] == '0' + i && text[1] == '\0')) {
            *level = (enum uc_log_level)i;
            return true;
        }
    return false;
}

void uc_log_set_level(enum uc_log_level level)
{
    current = level;
}

void uc_log(enum uc_log_level level, const char *format, ...)
{
    char line[512] = "ucudnn: ";
    size_t used = strlen(line);
    va_list args;
    int n;

    if (level > current)
        return;
    va_start(args, format);
    n = vsnprintf(line + used, sizeof line - used - 1, format, args);
    va_end(args);
    if (n < 0)
        return;
    used += (size_t)n;
    if (used > sizeof line - 2)
        used = sizeof line - 2;
    /* SQLite's messages, and names, may have more than one line. */
    for (size_t i = 0; i < used; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = ' ';
    line[used++] = '\n';
    /* stdio's buffers belong to the program. */
    uc_write_all(STDERR_FILENO, line, used);
}
