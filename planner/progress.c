#include "config.h"

#include "planner/progress.h"

#include "common/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double terminal_every_s = 0.1, plain_every_s = 10;

void uc_progress_begin(struct uc_progress *progress, int64_t total, bool quiet)
{
    *progress = (struct uc_progress){ .quiet = quiet,
                                      .terminal = isatty(STDERR_FILENO),
                                      .total = total,
                                      .started_s = uc_clock_s() };
}

double uc_progress_elapsed(const struct uc_progress *progress)
{
    return uc_clock_s() - progress->started_s;
}

void uc_progress_duration(double seconds, char text[32])
{
    long s = (long)(seconds + 0.5);

    if (s < 60)
        snprintf(text, 32, "%ld s", s);
    else if (s < 3600)
        snprintf(text, 32, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, 32, "%ld h %ld min", s / 3600, s % 3600 / 60);
}

void uc_progress_step(struct uc_progress *progress, const char *now)
{
    double every = progress->terminal ? terminal_every_s : plain_every_s;
    double time_s = uc_clock_s(), elapsed = time_s - progress->started_s;
    char left[32];

    progress->done++;
    if (progress->quiet || time_s - progress->printed_s < every)
        return;
    progress->printed_s = time_s;
    uc_progress_duration(elapsed * (double)(progress->total - progress->done) /
                             (double)progress->done,
                         left);
    fprintf(stderr, "%s%lld/%lld, %s left, %s%s",
            progress->terminal ? "\r\033[K" : "", (long long)progress->done,
            (long long)progress->total, left, now,
            progress->terminal ? "" : "\n");
    fflush(stderr);
}

void uc_progress_end(struct uc_progress *progress)
{
    if (!progress->quiet && progress->terminal)
        fputs("\r\033[K", stderr);
}
