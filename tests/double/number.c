#include "config.h"

#include "tests/double/number.h"

#include <math.h>
#include <string.h>

size_t uc_number_bytes(enum uc_number type)
{
    static const size_t bytes[UC_NUMBERS] = { 4, 2, 2, 8 };

    return bytes[type];
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/** Keep `digits` binary digits after the point of a scaled value. */
static double round_binary(double value, int fraction_bits, int min_exponent)
{
    int exponent;

    if (value == 0 || !isfinite(value)) {
        return value;
    }
    exponent = ilogb(value);
    if (exponent < min_exponent) {
        exponent = min_exponent;
    }
    /* nearbyint() rounds ties to even in the default mode */
    return ldexp(nearbyint(ldexp(value, fraction_bits - exponent)),
                 exponent - fraction_bits);
}

static uint16_t half_of(double value)
{
    double magnitude = fabs(round_binary(value, 10, -14));
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent;

    if (isnan(value)) {
        return 0x7e00;
    }
    if (magnitude > 65504.0) {
        return sign | 0x7c00;
    }
    if (magnitude < ldexp(1, -14)) {
        return sign | (uint16_t)ldexp(magnitude, 24);
    }
    exponent = ilogb(magnitude);
    return sign | (uint16_t)((exponent + 14) * 1024 +
                             (int)ldexp(magnitude, 10 - exponent));
}

static double of_half(uint16_t half)
{
    int exponent = half >> 10 & 31;
    int fraction = half & 1023;
    double magnitude;

    if (exponent == 31) {
        magnitude = fraction ? NAN : INFINITY;
    } else if (exponent == 0) {
        magnitude = ldexp(fraction, -24);
    } else {
        magnitude = ldexp(1024 + fraction, exponent - 25);
    }
    return half & 0x8000 ? -magnitude : magnitude;
}

static uint16_t bfloat_of(double value)
{
    uint32_t bits = bits_of((float)value);

    if (isnan(value)) {
        return 0x7fc0;
    }
    bits += 0x7fff + (bits >> 16 & 1);
    return (uint16_t)(bits >> 16);
}

double uc_number_load(const void *array, enum uc_number type, int64_t index)
{
    const char *at =
        (const char *)array + index * (int64_t)uc_number_bytes(type);
    double wide;
    float single;
    uint16_t narrow;

    switch (type) {
    case UC_NUMBER_FP64:
        memcpy(&wide, at, sizeof wide);
        return wide;
    case UC_NUMBER_FP32:
        memcpy(&single, at, sizeof single);
        return single;
    case UC_NUMBER_FP16:
        memcpy(&narrow, at, sizeof narrow);
        return of_half(narrow);
    case UC_NUMBER_BF16:
    default:
        memcpy(&narrow, at, sizeof narrow);
        return float_of((uint32_t)narrow << 16);
    }
}

void uc_number_store(void *array, enum uc_number type, int64_t index,
                     double value)
{
    char *at = (char *)array + index * (int64_t)uc_number_bytes(type);
    float single = (float)value;
    uint16_t narrow;

    switch (type) {
    case UC_NUMBER_FP64:
        memcpy(at, &value, sizeof value);
        break;
    case UC_NUMBER_FP32:
        memcpy(at, &single, sizeof single);
        break;
    case UC_NUMBER_FP16:
        narrow = half_of(value);
        memcpy(at, &narrow, sizeof narrow);
        break;
    case UC_NUMBER_BF16:
    default:
        narrow = bfloat_of(value);
        memcpy(at, &narrow, sizeof narrow);
    }
}

double uc_number_round(double value, enum uc_number type)
{
    char cell[sizeof(double)];

    uc_number_store(cell, type, 0, value);
    return uc_number_load(cell, type, 0);
}

double uc_number_round_tf32(double value)
{
    return round_binary(value, 10, -126);
}
