#include "config.h"

#include "planner/report.h"

#include "common/bytes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* Digits are printed from integers: the locale's decimal point never shows.
 */

void uc_report_time(int64_t ns, char text[UC_REPORT_TEXT])
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    /* thousandths of the unit, so that each step is exact */
    int64_t whole = ns, divisor = 1;
    int unit = 0, decimals = 0;

    if (ns < 0) {
        snprintf(text, UC_REPORT_TEXT, "-");
        return;
    }
    /* 999.5 of a unit rounds to 1.00 of the next. */
    while (unit < 3 && ns / divisor >= 999 &&
           (ns / divisor > 999 || ns % divisor * 2 >= divisor) &&
           !(unit == 0 && ns <= 999)) {
        divisor *= 1000;
        unit++;
    }
    if (unit > 0) {
        int64_t step;

        /* the finest step that leaves three digits */
        if (ns / divisor < 10)
            decimals = 2;
        else if (ns / divisor < 100)
            decimals = 1;
        step = decimals == 2 ? divisor / 100
                             : (decimals == 1 ? divisor / 10 : divisor);
        whole = ns / step + (ns % step * 2 >= step ? 1 : 0);
        /* 9.995 is 10.0, 99.95 is 100 */
        if (decimals > 0 && whole >= 1000) {
            whole /= 10;
            decimals--;
        }
    }
    if (decimals == 0)
        snprintf(text, UC_REPORT_TEXT, "%lld %s", (long long)whole,
                 units[unit]);
    else if (decimals == 1)
        snprintf(text, UC_REPORT_TEXT, "%lld.%lld %s", (long long)(whole / 10),
                 (long long)(whole % 10), units[unit]);
    else
        snprintf(text, UC_REPORT_TEXT, "%lld.%02lld %s",
                 (long long)(whole / 100), (long long)(whole % 100),
                 units[unit]);
}

void uc_report_gain(int64_t before_ns, int64_t ns, char text[UC_REPORT_TEXT])
{
    double ratio;
    long long hundredths;

    text[0] = '\0';
    if (before_ns < 0 || ns < 1)
        return;
    ratio = (double)before_ns / (double)ns;
    if (ratio > 1e12)
        return;
    hundredths = llround(ratio * 100);
    snprintf(text, UC_REPORT_TEXT, "%lld.%02lldx", hundredths / 100,
             hundredths % 100);
}

void uc_report_share(double share, char text[UC_REPORT_TEXT])
{
    int hundredths = (int)lround(fmin(fmax(share, 0), 1) * 10000);
    int whole = hundredths / 100, part = hundredths % 100;

    if (part == 0)
        snprintf(text, UC_REPORT_TEXT, "%d%%", whole);
    else if (part % 10 == 0)
        snprintf(text, UC_REPORT_TEXT, "%d.%d%%", whole, part / 10);
    else
        snprintf(text, UC_REPORT_TEXT, "%d.%02d%%", whole, part);
}

void uc_report_date(int64_t seconds, char text[UC_REPORT_TEXT])
{
    time_t t = (time_t)seconds;
    struct tm tm;

    if (gmtime_r(&t, &tm) == NULL ||
        strftime(text, UC_REPORT_TEXT, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        snprintf(text, UC_REPORT_TEXT, "-");
}

void uc_report_cudnn(int version, char text[UC_REPORT_TEXT])
{
    /* cuDNN 9 moved the major version two digits up. */
    int major = version / (version >= 90000 ? 10000 : 1000);
    int minor = version / 100 % (version >= 90000 ? 100 : 10);

    snprintf(text, UC_REPORT_TEXT, "%d.%d.%d", major, minor, version % 100);
}

void uc_report_cuda(int version, char text[UC_REPORT_TEXT])
{
    snprintf(text, UC_REPORT_TEXT, "%d.%d", version / 1000,
             version % 1000 / 10);
}

void uc_report_device(const struct uc_device *device, char text[UC_REPORT_LINE])
{
    char memory[UC_BYTES_TEXT];

    uc_bytes_print(device->memory_bytes, memory);
    snprintf(text, UC_REPORT_LINE,
             "%s (compute capability %d.%d, %d multiprocessors, %s)",
             device->name, device->compute_capability / 10,
             device->compute_capability % 10, device->multiprocessors, memory);
}

void uc_report_versions(const struct uc_versions *versions,
                        char text[UC_REPORT_LINE])
{
    char cudnn[UC_REPORT_TEXT], cuda[UC_REPORT_TEXT];

    uc_report_cudnn(versions->cudnn, cudnn);
    uc_report_cuda(versions->cuda, cuda);
    snprintf(text, UC_REPORT_LINE, "cuDNN %s, CUDA %s%s%s", cudnn, cuda,
             versions->driver[0] != '\0' ? ", driver " : "", versions->driver);
}

/* ---------------------------------------------------------------- texts */

/** Append to text[size], or put "..." at its end; false when full. */
static bool append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);

    if (used + strlen(more) < size) {
        memcpy(text + used, more, strlen(more) + 1);
        return true;
    }
    if (size > 4) {
        if (used > size - 4)
            used = size - 4;
        memcpy(text + used, "...", 4);
    }
    return false;
}

/** What is allowed, as `down-convert and reduced-precision allowed`. */
static void append_allowed(char *text, size_t size, unsigned allow)
{
    const char *before = ", ";

    for (int i = 0; i < UC_NOTES; i++)
        if ((allow & 1u << i) != 0) {
            append(text, size, before);
            append(text, size, uc_note_name(i));
            before = " and ";
        }
    if (allow != 0)
        append(text, size, " allowed");
}

void uc_report_choices(const char *policy,
                       const struct uc_plan_choices *choices,
                       char text[UC_REPORT_CHOICES])
{
    const size_t size = UC_REPORT_CHOICES;
    char more[64], share[UC_REPORT_TEXT];

    snprintf(text, size, "%s", policy);
    if (choices->deterministic)
        append(text, size, ", deterministic kernels only");
    for (int i = 0; i < UC_APIS; i++)
        if (choices->apis == 1u << i) {
            snprintf(more, sizeof more, ", %s kernels only",
                     uc_api_name((enum uc_api)i));
            append(text, size, more);
        }
    if (choices->no_runtime_compiled)
        append(text, size, ", no kernels compiled at run time");
    append_allowed(text, size, choices->allow);
    if (choices->max_pieces > 0) {
        snprintf(more, sizeof more, ", at most %lld micro-batch%s",
                 (long long)choices->max_pieces,
                 choices->max_pieces > 1 ? "es" : "");
        append(text, size, more);
    }
    if (choices->min_gain <= 0) {
        append(text, size, ", divided for any gain");
    } else if (choices->min_gain != UC_PLAN_MIN_GAIN) {
        uc_report_share(choices->min_gain, share);
        snprintf(more, sizeof more, ", divided only for more than %s", share);
        append(text, size, more);
    }
}

void uc_report_split(const struct uc_plan_operation *operation, char *text,
                     size_t size)
{
    char run[64];

    text[0] = '\0';
    for (size_t i = 0; i < operation->piece_count;) {
        int64_t length = operation->pieces[i].size, count = 0;
        const char *plus = i > 0 ? "+" : "";

        for (;
             i < operation->piece_count && operation->pieces[i].size == length;
             i++)
            count += operation->pieces[i].count;
        if (count == 1)
            snprintf(run, sizeof run, "%s%lld", plus, (long long)length);
        else
            snprintf(run, sizeof run, "%s%lldx%lld", plus, (long long)count,
                     (long long)length);
        if (!append(text, size, run))
            return;
    }
}

void uc_report_kernels(const struct uc_plan_operation *operation, char *text,
                       size_t size)
{
    char kernel[UC_KERNEL_TEXT];

    text[0] = '\0';
    for (size_t i = 0; i < operation->piece_count; i++) {
        bool seen = false;

        for (size_t j = 0; j < i && !seen; j++)
            seen = uc_kernel_equal(&operation->pieces[j].kernel,
                                   &operation->pieces[i].kernel);
        if (seen)
            continue;
        uc_kernel_print(&operation->pieces[i].kernel,
                        operation->problem.operation, kernel);
        if ((i > 0 && !append(text, size, " + ")) ||
            !append(text, size, kernel))
            return;
    }
}

void uc_report_environments(const struct uc_profile_environment *list,
                            size_t count, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const struct uc_environment *env = &list[i].environment;
        char versions[UC_REPORT_LINE];
        int length;

        uc_report_versions(&env->versions, versions);
        length =
            snprintf(text + used, size - used, "%s%" PRId64 " (%s, %s)",
                     i > 0 ? ", " : "", list[i].id, env->device.name, versions);
        used += length > 0 ? (size_t)length : size;
    }
}
