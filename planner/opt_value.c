#include "config.h"

#include "planner/opt_value.h"

#include "common/bytes.h"
#include "common/date.h"
#include "common/kernel.h"
#include "common/problem.h"
#include "planner/merge.h"
#include "planner/policy.h"
#include "planner/shard.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_DIGITS = 15, MAX_POWER = 22 }; /* what a double holds exactly */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum uc_status parse_flag(const char *text, void *out,
                                 struct uc_error *err)
{
    (void)text;
    (void)err;
    *(bool *)out = true;
    return UC_OK;
}

static enum uc_status parse_string(const char *text, void *out,
                                   struct uc_error *err)
{
    if (*text == '\0')
        return uc_fail(err, UC_EINPUT, "must not be empty");
    *(const char **)out = text;
    return UC_OK;
}

static enum uc_status parse_strings(const char *text, void *out,
                                    struct uc_error *err)
{
    struct opt_strings *strings = out;
    enum uc_status status;

    if (strings->count == OPT_MOST_STRINGS)
        return uc_fail(err, UC_EINPUT, "more than %d times", OPT_MOST_STRINGS);
    status = parse_string(text, &strings->list[strings->count], err);
    strings->count += status == UC_OK;
    return status;
}

static enum uc_status parse_bytes(const char *text, void *out,
                                  struct uc_error *err)
{
    return uc_bytes_parse(text, out, err);
}

/** A whole number from `least` to INT32_MAX. */
static enum uc_status parse_whole(const char *text, int64_t least, int64_t *out,
                                  struct uc_error *err)
{
    int64_t count = 0;
    const char *c;

    for (c = text; is_digit(*c) && count <= INT32_MAX; c++)
        count = count * 10 + (*c - '0');
    if (c == text || *c != '\0' || count < least || count > INT32_MAX)
        return uc_fail(err, UC_EINPUT,
                       "\"%.64s\" is not a whole number from %d to %d", text,
                       (int)least, INT32_MAX);
    *out = count;
    return UC_OK;
}

static enum uc_status parse_count(const char *text, void *out,
                                  struct uc_error *err)
{
    return parse_whole(text, 1, out, err);
}

static enum uc_status parse_index(const char *text, void *out,
                                  struct uc_error *err)
{
    return parse_whole(text, 0, out, err);
}

/** An exponent "e-4" at **c, added to *power; none is fine. */
static bool scan_exponent(const char **c, int *power)
{
    const char *p = *c;
    int sign = 1, value = 0;

    if (*p != 'e' && *p != 'E')
        return true;
    p++;
    if (*p == '-' || *p == '+')
        sign = *p++ == '-' ? -1 : 1;
    if (!is_digit(*p))
        return false;
    for (; is_digit(*p) && value < 1000; p++)
        value = value * 10 + (*p - '0');
    *power += sign * value;
    *c = p;
    return true;
}

/**
 * A decimal number "12", "0.5", "1e-4" at *text, up to *end. Few enough
 * digits that one rounding gives the nearest double; no strtod(), which
 * follows the locale and knows "inf" and "0x1p3".
 */
static bool scan_decimal(const char *text, const char **end, double *value)
{
    int64_t digits = 0;
    int significant = 0, seen = 0, power = 0;
    bool fraction = false;
    double scale = 1;
    const char *c;

    for (c = text; is_digit(*c) || (*c == '.' && !fraction); c++) {
        if (*c == '.') {
            fraction = true;
            continue;
        }
        digits = digits * 10 + (*c - '0');
        seen++;
        if (digits > 0 && ++significant > MAX_DIGITS)
            return false;
        if (fraction)
            power--;
    }
    if (seen == 0 || !scan_exponent(&c, &power))
        return false;
    if (digits == 0)
        power = 0;
    if (power < -MAX_POWER || power > MAX_POWER)
        return false;
    for (int i = 0; i < power || i < -power; i++)
        scale *= 10;
    *value = power < 0 ? (double)digits / scale : (double)digits * scale;
    *end = c;
    return true;
}

static enum uc_status parse_seconds(const char *text, void *out,
                                    struct uc_error *err)
{
    const double most = 1e9; /* about 30 years */
    const char *unit;
    double value;

    if (scan_decimal(text, &unit, &value)) {
        if (strcmp(unit, "m") == 0)
            value *= 60;
        else if (strcmp(unit, "h") == 0)
            value *= 3600;
        else if (strcmp(unit, "s") != 0 && *unit != '\0')
            value = 0;
        if (value > most)
            return uc_fail(err, UC_EINPUT,
                           "\"%.64s\" is too large (at most %.0f seconds)",
                           text, most);
        if (value > 0) {
            *(double *)out = value;
            return UC_OK;
        }
    }
    return uc_fail(err, UC_EINPUT,
                   "\"%.64s\" is not a time above 0 (90, 1.5s, 10m, 2h)", text);
}

static enum uc_status parse_share(const char *text, void *out,
                                  struct uc_error *err)
{
    const char *unit;
    double value;

    if (scan_decimal(text, &unit, &value)) {
        if (strcmp(unit, "%") == 0)
            value /= 100;
        else if (*unit != '\0')
            value = 2;
        if (value <= 1) {
            *(double *)out = value;
            return UC_OK;
        }
    }
    return uc_fail(err, UC_EINPUT,
                   "\"%.64s\" is not a share from 0 to 1 (0.01, 1e-4, 1%%)",
                   text);
}

/* Names of the enums, in one shape for the tables below. */
static const char *math_name(int value)
{
    return uc_math_name((enum uc_math)value);
}

static const char *dtype_name(int value)
{
    return uc_dtype_name((enum uc_dtype)value);
}

static const char *layout_name(int value)
{
    return uc_layout_name((enum uc_layout)value);
}

/** One of the names of 0 .. count-1; the error lists them. */
static enum uc_status parse_name(const char *text, const char *(*name)(int),
                                 int count, int *out, struct uc_error *err)
{
    char list[128] = "";
    size_t used = 0;

    for (int i = 0; i < count; i++) {
        if (strcmp(name(i), text) == 0) {
            *out = i;
            return UC_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i > 0 ? ", " : "", name(i));
        if (used >= sizeof list)
            used = sizeof list - 1;
    }
    return uc_fail(err, UC_EINPUT, "\"%.64s\" is none of %s", text, list);
}

static enum uc_status parse_math(const char *text, void *out,
                                 struct uc_error *err)
{
    return parse_name(text, math_name, UC_MATHS, out, err);
}

static enum uc_status parse_dtype(const char *text, void *out,
                                  struct uc_error *err)
{
    return parse_name(text, dtype_name, UC_DTYPES, out, err);
}

static enum uc_status parse_layout(const char *text, void *out,
                                   struct uc_error *err)
{
    return parse_name(text, layout_name, UC_STRIDED, out, err);
}

static enum uc_status parse_policy(const char *text, void *out,
                                   struct uc_error *err)
{
    return uc_policy_parse(text, out, err);
}

static enum uc_status parse_shard(const char *text, void *out,
                                  struct uc_error *err)
{
    return uc_shard_parse(text, out, err);
}

static const char *const allow_names[] = { "down-convert",
                                           "reduced-precision" };
static const unsigned allow_bits[] = { UC_NOTE_DOWN_CONVERT,
                                       UC_NOTE_REDUCED_PRECISION };

static const char *allow_name(int value)
{
    return allow_names[value];
}

static enum uc_status parse_allow(const char *text, void *out,
                                  struct uc_error *err)
{
    const int count = (int)(sizeof allow_bits / sizeof *allow_bits);
    int which;
    enum uc_status status = parse_name(text, allow_name, count, &which, err);

    if (status == UC_OK)
        *(unsigned *)out |= allow_bits[which];
    return status;
}

static const char *api_name(int value)
{
    return value == UC_APIS ? "both" : uc_api_name((enum uc_api)value);
}

static enum uc_status parse_api(const char *text, void *out,
                                struct uc_error *err)
{
    int which;
    enum uc_status status =
        parse_name(text, api_name, UC_APIS + 1, &which, err);

    if (status == UC_OK)
        *(unsigned *)out = which == UC_APIS ? (1u << UC_APIS) - 1 : 1u << which;
    return status;
}

static enum uc_status parse_prefer(const char *text, void *out,
                                   struct uc_error *err)
{
    return parse_name(text, uc_merge_rule_name, UC_MERGE_RULES, out, err);
}

static enum uc_status parse_date(const char *text, void *out,
                                 struct uc_error *err)
{
    bool is_day = strlen(text) == strlen("2025-11-30");
    int64_t seconds = (int64_t)time(NULL) + 1;
    char whole[UC_DATE_TEXT];
    enum uc_status status = UC_OK;

    if (is_day)
        snprintf(whole, sizeof whole, "%sT00:00:00Z", text);
    if (strcmp(text, "now") != 0)
        status = uc_date_parse(is_day ? whole : text, &seconds, err);
    if (status != UC_OK)
        return status;
    if (seconds == 0)
        return uc_fail(err, UC_EINPUT, "%s: nothing is older", text);
    *(int64_t *)out = seconds;
    return UC_OK;
}

typedef enum uc_status value_parser(const char *text, void *out,
                                    struct uc_error *err);

static value_parser *const parsers[] = {
    [OPT_FLAG] = parse_flag,       [OPT_STRING] = parse_string,
    [OPT_BYTES] = parse_bytes,     [OPT_COUNT] = parse_count,
    [OPT_SECONDS] = parse_seconds, [OPT_SHARE] = parse_share,
    [OPT_MATH] = parse_math,       [OPT_DTYPE] = parse_dtype,
    [OPT_LAYOUT] = parse_layout,   [OPT_POLICY] = parse_policy,
    [OPT_ALLOW] = parse_allow,     [OPT_API] = parse_api,
    [OPT_INDEX] = parse_index,     [OPT_PREFER] = parse_prefer,
    [OPT_STRINGS] = parse_strings, [OPT_SHARD] = parse_shard,
    [OPT_DATE] = parse_date,
};

bool opt_takes_value(enum opt_type type)
{
    return type != OPT_FLAG;
}

enum uc_status opt_value_parse(enum opt_type type, const char *text, void *out,
                               struct uc_error *err)
{
    return parsers[type](text, out, err);
}
