#include "config.h"

#include "common/date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void uc_date_print(int64_t seconds, char text[UC_DATE_TEXT])
{
    time_t t = (time_t)seconds;
    struct tm tm;

    text[0] = '\0';
    if (gmtime_r(&t, &tm) != NULL)
        strftime(text, UC_DATE_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

enum uc_status uc_date_parse(const char *text, int64_t *seconds,
                             struct uc_error *err)
{
    struct tm tm = { 0 };
    char again[UC_DATE_TEXT];
    int64_t parsed = -1;

    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &tm.tm_year, &tm.tm_mon,
               &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec) == 6) {
        tm.tm_year -= 1900;
        tm.tm_mon--;
        parsed = timegm(&tm);
    }
    /* Which catches days that no month has, and anything behind it. */
    uc_date_print(parsed, again);
    if (parsed < 0 || strcmp(text, again) != 0)
        return uc_fail(err, UC_EINPUT,
                       "\"%.64s\" is no date such as 2025-11-30T00:00:00Z",
                       text);
    *seconds = parsed;
    return UC_OK;
}
