/**
 * @file timing.h
 * Honest timing: how many samples of how many calls, and when to stop.
 *
 * One call is timed first. If it is slower than the cut-off, by more than a
 * call's host time could explain, it is all that is taken. If one sample is
 * slower than a nearer cut-off, no more are. Else samples of back-to-back
 * calls, at least 0.5 ms long, are taken in rounds. A round begins with a call
 * that is not timed, so that the device is busy while the host prepares the
 * next: what is timed is the steady state, the larger of host and device time.
 * Rounds end when the spread is within 1 % of the median, or samples or the
 * time for one kernel are used up.
 *
 * Units:   *_ns nanoseconds.
 * Owner:   plain values.
 * Errors:  what the sampler returns.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_TIMING_H
#define UC_PLANNER_TIMING_H

#include "db/profile.h"

enum { UC_TIMING_ROUND = 5 }; /**< most samples asked for at once */

/**
 * Take `samples` samples of `calls` calls each, all back to back, behind one
 * call that is not timed if `lead`. Results are for one call.
 */
typedef enum uc_status uc_sampler(void *context, bool lead, int samples,
                                  int calls, float *device_ns, float *host_ns,
                                  struct uc_error *err);

struct uc_timing {
    bool cut_off;
    int64_t median_ns; /**< >= 1 */
    int64_t spread_ns; /**< half the interquartile range */
    int64_t host_ns;
    int calls;   /**< in a sample */
    int samples; /**< 1 .. UC_MAX_SAMPLES */
    float sample_ns[UC_MAX_SAMPLES];
};

/** When to stop early; 0: never. */
struct uc_timing_limits {
    double call_ns;   /**< after one call that is slower */
    double sample_ns; /**< after one sample that is */
};

enum uc_status uc_timing_take(uc_sampler *sample, void *context,
                              const struct uc_timing_limits *limits,
                              struct uc_timing *timing, struct uc_error *err);

/** Median, and half the interquartile range, of `count` >= 1 values. */
void uc_timing_summarize(const float *values, int count, double *median,
                         double *spread);

#endif
