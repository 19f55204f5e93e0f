#include "config.h"

#include "planner/timing.h"

#include <stdlib.h>
#include <string.h>

static const double sample_ns = 500e3; /* least length of a sample */
static const double long_call_ns = 10e6;
static const double kernel_ns = 120e6; /* sampling time for one kernel */
static const double steady = 0.01;     /* spread over median */

enum { MIN_SAMPLES = 5, MIN_LONG_SAMPLES = 3, MAX_CALLS = 64 };

static int ascending(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;

    return (left > right) - (left < right);
}

/** Linear interpolation between order statistics. */
static double quantile(const float *sorted, int count, double q)
{
    double at = q * (count - 1);
    int below = (int)at;

    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] +
           (at - below) * ((double)sorted[below + 1] - sorted[below]);
}

void uc_timing_summarize(const float *values, int count, double *median,
                         double *spread)
{
    float sorted[UC_MAX_SAMPLES];

    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    *median = quantile(sorted, count, 0.5);
    *spread =
        (quantile(sorted, count, 0.75) - quantile(sorted, count, 0.25)) / 2;
}

static int64_t whole_ns(double ns)
{
    return ns < 1 ? 1 : (int64_t)(ns + 0.5);
}

static void finish(struct uc_timing *t, const float *host)
{
    double median, spread, host_median, host_spread;

    uc_timing_summarize(t->sample_ns, t->samples, &median, &spread);
    uc_timing_summarize(host, t->samples, &host_median, &host_spread);
    t->median_ns = whole_ns(median);
    t->spread_ns = (int64_t)(spread + 0.5);
    t->host_ns = (int64_t)(host_median + 0.5);
}

enum uc_status uc_timing_take(uc_sampler *sample, void *context,
                              double cut_off_ns, struct uc_timing *timing,
                              struct uc_error *err)
{
    struct uc_timing t = { .calls = 1, .samples = 1 };
    float host[UC_MAX_SAMPLES];
    double device_ns, host_ns, taken, median, spread;
    enum uc_status status = sample(context, 1, &device_ns, &host_ns, err);
    int least;

    if (status != UC_OK)
        return status;
    t.sample_ns[0] = (float)device_ns;
    host[0] = (float)host_ns;
    if (cut_off_ns > 0 && device_ns > cut_off_ns) {
        t.cut_off = true;
        finish(&t, host);
        *timing = t;
        return UC_OK;
    }
    t.calls = device_ns < sample_ns / MAX_CALLS ? MAX_CALLS
              : device_ns < sample_ns           ? (int)(sample_ns / device_ns)
                                                : 1;
    least = device_ns < long_call_ns ? MIN_SAMPLES : MIN_LONG_SAMPLES;
    t.samples = 0;
    for (taken = 0; t.samples < UC_MAX_SAMPLES; taken += device_ns * t.calls) {
        if (t.samples >= least) {
            uc_timing_summarize(t.sample_ns, t.samples, &median, &spread);
            if (spread <= steady * median || taken >= kernel_ns)
                break;
        }
        status = sample(context, t.calls, &device_ns, &host_ns, err);
        if (status != UC_OK)
            return status;
        t.sample_ns[t.samples] = (float)device_ns;
        host[t.samples++] = (float)host_ns;
    }
    finish(&t, host);
    *timing = t;
    return UC_OK;
}
