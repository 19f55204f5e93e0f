#include "config.h"

#include "planner/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double sample_ns = 500e3; /* least length of a sample */
static const double long_call_ns = 10e6;
static const double kernel_ns = 120e6;    /* sampling time for one kernel */
static const double steady = 0.01;        /* spread over median */
static const double call_host_ns = 200e3; /* more than any call costs */

enum { LONG_ROUND = 3, MAX_CALLS = 64 };

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

static int calls_in_sample(double call_ns)
{
    if (call_ns * MAX_CALLS <= sample_ns)
        return MAX_CALLS;
    return call_ns < sample_ns ? (int)ceil(sample_ns / call_ns) : 1;
}

/** The first sample into *t, whether it is slower than the limit. */
static enum uc_status look(uc_sampler *sample, void *context, double limit_ns,
                           struct uc_timing *t, float *host,
                           struct uc_error *err)
{
    enum uc_status status =
        sample(context, true, 1, t->calls, t->sample_ns, host, err);

    t->samples = 1;
    t->cut_off = status == UC_OK && (double)t->sample_ns[0] > limit_ns;
    return status;
}

enum uc_status uc_timing_take(uc_sampler *sample, void *context,
                              const struct uc_timing_limits *limits,
                              struct uc_timing *timing, struct uc_error *err)
{
    struct uc_timing t = { .calls = 1, .samples = 1 };
    float host[UC_MAX_SAMPLES];
    double first, taken = 0, median, spread;
    enum uc_status status =
        sample(context, false, 1, 1, t.sample_ns, host, err);
    int round;

    if (status != UC_OK)
        return status;
    first = t.sample_ns[0];
    t.cut_off = limits->call_ns > 0 && first > limits->call_ns + call_host_ns;
    if (!t.cut_off) {
        t.calls = calls_in_sample(first);
        t.samples = 0;
    }
    if (!t.cut_off && limits->sample_ns > 0)
        status = look(sample, context, limits->sample_ns, &t, host, err);
    if (status != UC_OK)
        return status;
    if (t.cut_off) {
        finish(&t, host);
        *timing = t;
        return UC_OK;
    }
    round = first < long_call_ns ? UC_TIMING_ROUND : LONG_ROUND;
    do {
        status = sample(context, true, round, t.calls, t.sample_ns + t.samples,
                        host + t.samples, err);
        if (status != UC_OK)
            return status;
        for (int i = 0; i < round; i++)
            taken += (double)t.sample_ns[t.samples + i] * t.calls;
        t.samples += round;
        uc_timing_summarize(t.sample_ns, t.samples, &median, &spread);
    } while (spread > steady * median && taken < kernel_ns &&
             t.samples + round <= UC_MAX_SAMPLES);
    finish(&t, host);
    *timing = t;
    return UC_OK;
}
