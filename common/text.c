#include "config.h"

#include "common/text.h"

#include <string.h>

size_t uc_text_decode(const char *text, size_t left, uint32_t *point)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *s = (const unsigned char *)text;
    uint32_t number;
    size_t length;

    if (left == 0)
        return 0;
    if (s[0] < 0x80) {
        *point = s[0];
        return 1;
    }
    if ((s[0] & 0xe0) == 0xc0)
        length = 2;
    else if ((s[0] & 0xf0) == 0xe0)
        length = 3;
    else if ((s[0] & 0xf8) == 0xf0)
        length = 4;
    else
        return 0;
    if (length > left)
        return 0;
    number = s[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        number = number << 6 | (s[i] & 0x3f);
    }
    if (number < least[length] || number > 0x10ffff ||
        (number >= 0xd800 && number <= 0xdfff))
        return 0;
    *point = number;
    return length;
}

/** Bytes of the printable character at the start, or 0. */
static size_t printable(const char *text, size_t left)
{
    uint32_t point = 0;
    size_t length = uc_text_decode(text, left, &point);

    if (point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x2028 ||
        point == 0x2029)
        return 0;
    return length;
}

bool uc_text_is_line(const char *text, size_t length)
{
    while (length > 0) {
        size_t step = printable(text, length);

        if (step == 0)
            return false;
        text += step;
        length -= step;
    }
    return true;
}

void uc_text_make_line(char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        uint32_t point;
        size_t step = printable(text, left);

        if (step == 0) {
            step = uc_text_decode(text, left, &point);
            step = step > 0 ? step : 1;
            memset(text, '?', step);
        }
        text += step;
        left -= step;
    }
}
