#include "config.h"

#include "common/bytes.h"

#include <stdbool.h>
#include <stdio.h>

__extension__ typedef unsigned __int128 wide;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/** log2 of the unit at `unit`, which must end the text; -1: no such unit. */
static int unit_shift(const char *unit)
{
    static const char letters[] = "KMGT";
    char upper[4] = "";
    int length = 0;

    for (; unit[length] != '\0'; length++) {
        char c = unit[length];

        if (length == 3)
            return -1;
        upper[length] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    if (length == 0 || (length == 1 && upper[0] == 'B'))
        return 0;
    for (int i = 0; letters[i] != '\0'; i++) {
        bool plain = length == 1;
        bool kb = length == 2 && upper[1] == 'B';
        bool kib = length == 3 && upper[1] == 'I' && upper[2] == 'B';

        if (upper[0] == letters[i] && (plain || kb || kib))
            return 10 * (i + 1);
    }
    return -1;
}

enum uc_status uc_bytes_parse(const char *text, int64_t *bytes,
                              struct uc_error *err)
{
    const char *at = text;
    const char *fraction = NULL;
    uint64_t whole = 0, part;
    wide digits = 0, scale = 1; /* the fraction: digits / scale */
    const wide finest =
        (wide)UINT64_C(10000000000000) * UINT64_C(10000000000000);
    int shift;

    for (; is_digit(*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0');

        if (whole > ((uint64_t)INT64_MAX - digit) / 10)
            return uc_fail(err, UC_EINPUT, "size \"%.40s\" is too large", text);
        whole = whole * 10 + digit;
    }
    if (at == text)
        return uc_fail(err, UC_EINPUT,
                       "\"%.40s\" is not a size (such as 0, 64M, 1.5GiB)",
                       text);
    if (*at == '.') {
        /* Digits past the 26th are far below a byte of any unit. */
        for (fraction = ++at; is_digit(*at); at++)
            if (scale < finest) {
                digits = digits * 10 + (unsigned)(*at - '0');
                scale *= 10;
            }
        if (at == fraction)
            return uc_fail(err, UC_EINPUT,
                           "size \"%.40s\": digits must follow the point",
                           text);
    }
    shift = unit_shift(at);
    if (shift < 0)
        return uc_fail(err, UC_EINPUT,
                       "size \"%.40s\": units are B, K, M, G, T (powers of "
                       "1024)",
                       text);
    if (whole > (uint64_t)INT64_MAX >> shift)
        return uc_fail(err, UC_EINPUT, "size \"%.40s\" is too large", text);
    whole <<= shift;
    /* digits / scale < 1, so the product is below 2^40 * 1e26 < 2^127. */
    part = (uint64_t)(digits * ((uint64_t)1 << shift) / scale);
    if (whole > (uint64_t)INT64_MAX - part)
        return uc_fail(err, UC_EINPUT, "size \"%.40s\" is too large", text);
    *bytes = (int64_t)(whole + part);
    return UC_OK;
}

void uc_bytes_print(int64_t bytes, char text[UC_BYTES_TEXT])
{
    static const char *const units[] = { "B",   "KiB", "MiB", "GiB",
                                         "TiB", "PiB", "EiB" };
    int unit = 0;
    int64_t whole = bytes, tenths;

    while (whole >= 1024) {
        whole >>= 10;
        unit++;
    }
    tenths = unit == 0 ? 0 : (bytes >> (10 * (unit - 1)) & 1023) * 10 / 1024;
    if (tenths == 0 || whole >= 1000)
        snprintf(text, UC_BYTES_TEXT, "%lld %s", (long long)whole, units[unit]);
    else
        snprintf(text, UC_BYTES_TEXT, "%lld.%lld %s", (long long)whole,
                 (long long)tenths, units[unit]);
}
