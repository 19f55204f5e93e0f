#include "config.h"

#include "common/real.h"

#include <stdio.h>
#include <stdlib.h>

void uc_real_print(double value, bool single, char text[UC_REAL_TEXT])
{
    int digits = single ? 6 : 15, most = single ? 9 : 17;

    do
        snprintf(text, UC_REAL_TEXT, "%.*g", digits, value);
    while (++digits <= most &&
           (single ? (double)strtof(text, NULL) : strtod(text, NULL)) != value);
}
