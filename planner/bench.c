#include "config.h"

#include "planner/bench.h"

#include "common/clock.h"
#include "planner/progress.h"
#include "planner/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_DEVICES = 64, MAX_REFERENCES = 3, MAX_LOST = 2 };

static const double start_timeout_s = 120;

/** Work whose every reference took down the worker. */
struct lost {
    struct uc_work work;
    enum uc_outcome outcome;
    char reason[UC_REASON_TEXT];
};

/** A worker and what it is doing. */
struct seat {
    struct uc_worker worker;
    bool busy;
    struct uc_work work; /**< what it was given, less what a crash settled */
    bool done[UC_WORK_KERNELS];
    int started; /**< kernel that was announced and not finished; -1: none */
    double heard_s;
    struct uc_error error; /**< its last words; status UC_OK: none */
    /** Not stored before something is measured again: else it is the device
        that is at fault, and not these. */
    struct lost lost[MAX_LOST];
    int lost_count;
};

struct run {
    struct uc_profile *profile; /**< open once the workers are ready */
    const struct uc_bench_options *options;
    struct uc_bench_summary *summary;
    struct uc_environment environment;
    struct seat seats[MAX_DEVICES];
    int seat_count;
    const struct uc_work *list;
    size_t count, next;
    struct uc_progress progress;
};

/* Devices ----------------------------------------------------------------*/

/** "0,2" into numbers; "all" gives count 0. */
static enum uc_status parse_devices(const char *text, int devices[MAX_DEVICES],
                                    int *count, struct uc_error *err)
{
    *count = 0;
    if (text == NULL)
        text = "0";
    if (strcmp(text, "all") == 0)
        return UC_OK;
    for (const char *at = text; *count < MAX_DEVICES; at++) {
        int value = 0, digits = 0;

        for (; *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
            value = value * 10 + (*at - '0');
        if (digits == 0 || (*at != ',' && *at != '\0'))
            break;
        for (int i = 0; i < *count; i++)
            if (devices[i] == value)
                return uc_fail(err, UC_EINPUT, "device %d is named twice",
                               value);
        devices[(*count)++] = value;
        if (*at == '\0')
            return UC_OK;
    }
    return uc_fail(err, UC_EINPUT,
                   "devices \"%.60s\": a list such as 0,1 or all is needed",
                   text);
}

static enum uc_status start_seat(struct run *run, struct seat *seat, int device,
                                 int *device_count, struct uc_error *err)
{
    struct uc_worker_message ready;
    const char *difference;
    enum uc_status status = uc_worker_start(&seat->worker, device,
                                            run->options->max_workspace_bytes,
                                            start_timeout_s, &ready, err);

    if (status != UC_OK)
        return status;
    if (run->seat_count == 0) {
        run->environment = ready.u.environment;
    } else if ((difference = uc_environment_difference(
                    &run->environment, &ready.u.environment)) != NULL) {
        return uc_fail(err, UC_EDEVICE,
                       "GPUs %d and %d differ in %s: one run measures one "
                       "kind of GPU",
                       run->seats[0].worker.device, device, difference);
    }
    *device_count = ready.device_count;
    return UC_OK;
}

static enum uc_status start_seats(struct run *run, struct uc_error *err)
{
    int devices[MAX_DEVICES], count, present = 0;
    enum uc_status status =
        parse_devices(run->options->devices, devices, &count, err);
    bool all = count == 0;

    if (status != UC_OK)
        return status;
    do {
        int device = all ? run->seat_count : devices[run->seat_count];

        status = start_seat(run, &run->seats[run->seat_count], device, &present,
                            err);
        if (status != UC_OK)
            return status;
        run->seat_count++;
    } while (run->seat_count < (all ? present : count) &&
             run->seat_count < MAX_DEVICES);
    return UC_OK;
}

static void stop_seats(struct run *run)
{
    char how[128];

    for (int i = 0; i < MAX_DEVICES; i++)
        uc_worker_stop(&run->seats[i].worker, how, sizeof how);
}

/* Results ----------------------------------------------------------------*/

static enum uc_status settle(struct run *run, const struct uc_work *work,
                             const struct uc_measurement *m,
                             struct uc_error *err)
{
    char text[UC_PROBLEM_TEXT], now[UC_PROBLEM_TEXT + 32];
    enum uc_status status = uc_profile_store(
        run->profile, run->summary->environment, &work->problem, m, err);

    if (status != UC_OK)
        return status;
    run->summary->outcomes[m->outcome]++;
    run->summary->done++;
    uc_problem_print(&work->problem, text);
    snprintf(now, sizeof now, "%s, %lld images", text,
             (long long)work->micro_batch);
    uc_progress_step(&run->progress, now);
    return UC_OK;
}

/** A kernel that took down its worker. */
static enum uc_status settle_lost(struct run *run, const struct uc_work *work,
                                  size_t kernel, enum uc_outcome outcome,
                                  const char *reason, struct uc_error *err)
{
    struct uc_measurement m = {
        .micro_batch = work->micro_batch,
        .accumulate = work->kernels[kernel].accumulate,
        .kernel = work->kernels[kernel].kernel,
        .outcome = outcome,
        .error = -1,
        .measured_at = (int64_t)time(NULL),
    };

    snprintf(m.reason, sizeof m.reason, "%.*s", (int)strcspn(reason, "\n"),
             reason);
    return settle(run, work, &m, err);
}

/** The device works: what was lost on it before was lost by its own fault. */
static enum uc_status settle_held(struct run *run, struct seat *seat,
                                  struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (int i = 0; i < seat->lost_count; i++) {
        const struct lost *l = &seat->lost[i];

        for (size_t k = 0; k < l->work.kernel_count && status == UC_OK; k++)
            status = settle_lost(run, &l->work, k, l->outcome, l->reason, err);
    }
    seat->lost_count = 0;
    return status;
}

static enum uc_status device_fails(const struct seat *seat, const char *reason,
                                   struct uc_error *err)
{
    return uc_fail(err, UC_EDEVICE,
                   "GPU %d takes down its worker before any kernel: %s",
                   seat->worker.device, reason);
}

/** Its references all failed: hold the work back, but not too much of it. */
static enum uc_status hold(struct seat *seat, enum uc_outcome outcome,
                           const char *reason, struct uc_error *err)
{
    struct lost *l = &seat->lost[seat->lost_count];

    if (seat->lost_count == MAX_LOST)
        return device_fails(seat, reason, err);
    l->work = seat->work;
    l->outcome = outcome;
    snprintf(l->reason, sizeof l->reason, "before its first kernel: %.150s",
             reason);
    seat->lost_count++;
    return UC_OK;
}

static enum uc_status settle_done(struct run *run, struct seat *seat,
                                  const struct uc_worker_message *m,
                                  struct uc_error *err)
{
    enum uc_status status = settle_held(run, seat, err);

    if (status == UC_OK)
        status = settle(run, &seat->work, &m->u.measurement, err);
    seat->done[m->kernel] = status == UC_OK;
    seat->started = -1;
    if (status == UC_OK)
        uc_worker_acknowledge(&seat->worker);
    return status;
}

/* Work -------------------------------------------------------------------*/

static bool out_of_time(const struct run *run)
{
    return run->options->time_budget_s > 0 &&
           uc_progress_elapsed(&run->progress) >= run->options->time_budget_s;
}

static void hand_over(struct seat *seat)
{
    seat->busy = true;
    seat->started = -1;
    seat->heard_s = uc_clock_s();
    memset(seat->done, 0, sizeof seat->done);
    uc_worker_send(&seat->worker, &seat->work);
}

static void give_next(struct run *run, struct seat *seat)
{
    seat->busy = false;
    if (run->next == run->count || out_of_time(run))
        return;
    seat->work = run->list[run->next++];
    hand_over(seat);
}

/** Drop the settled kernels from the seat's work; false when none is left. */
static bool keep_unsettled(struct seat *seat)
{
    size_t kept = 0;

    for (size_t i = 0; i < seat->work.kernel_count; i++)
        if (!seat->done[i])
            seat->work.kernels[kept++] = seat->work.kernels[i];
    seat->work.kernel_count = kept;
    return kept > 0;
}

/**
 * The worker died or hung: blame the kernel it had announced, or, when it
 * had not come to the first, its reference, which is then another one. Then
 * go on with a fresh worker.
 */
static enum uc_status recover(struct run *run, struct seat *seat, bool hung,
                              struct uc_error *err)
{
    enum uc_outcome outcome = hung ? UC_TIMED_OUT : UC_CRASHED;
    enum uc_status status = UC_OK;
    char reason[sizeof seat->error.text], how[128] = "";
    int device = seat->worker.device, ignored;
    bool progressed = false;

    uc_worker_stop(&seat->worker, how, sizeof how);
    if (hung)
        snprintf(reason, sizeof reason, "no answer for %g s",
                 run->options->kernel_timeout_s);
    else
        snprintf(reason, sizeof reason, "%s",
                 seat->error.status != UC_OK ? seat->error.text : how);
    for (size_t i = 0; i < seat->work.kernel_count; i++)
        progressed = progressed || seat->done[i];
    if (seat->started >= 0) {
        status = settle_lost(run, &seat->work, (size_t)seat->started, outcome,
                             reason, err);
        seat->done[seat->started] = true;
    } else if (!progressed && ++seat->work.skip_references > MAX_REFERENCES) {
        status = hold(seat, outcome, reason, err);
        memset(seat->done, true, sizeof seat->done);
    }
    seat->error.status = UC_OK;
    if (status == UC_OK)
        status = start_seat(run, seat, device, &ignored, err);
    if (status != UC_OK)
        return status;
    if (keep_unsettled(seat))
        hand_over(seat);
    else
        give_next(run, seat);
    return UC_OK;
}

static enum uc_status hear(struct run *run, struct seat *seat,
                           struct uc_error *err)
{
    struct uc_worker_message m;

    if (!uc_worker_receive(&seat->worker, &m))
        return recover(run, seat, false, err);
    seat->heard_s = uc_clock_s();
    switch (m.event) {
    case UC_WORKER_STARTED:
        seat->started = (int)m.kernel;
        return UC_OK;
    case UC_WORKER_DONE:
        return settle_done(run, seat, &m, err);
    case UC_WORKER_IDLE:
        give_next(run, seat);
        return UC_OK;
    case UC_WORKER_FAILED:
        seat->error = m.u.error; /* its end of file comes next */
        return UC_OK;
    default:
        return uc_fail(err, UC_EINTERNAL, "unexpected word from a worker");
    }
}

static int busy_seats(struct run *run, struct pollfd *fds, struct seat **seats)
{
    int n = 0;

    for (int i = 0; i < run->seat_count; i++)
        if (run->seats[i].busy) {
            fds[n] = (struct pollfd){ .fd = run->seats[i].worker.fd,
                                      .events = POLLIN };
            seats[n++] = &run->seats[i];
        }
    return n;
}

/** Until every seat is idle: no work or no time is left. */
static enum uc_status work_off(struct run *run, struct uc_error *err)
{
    struct pollfd fds[MAX_DEVICES];
    struct seat *seats[MAX_DEVICES];
    enum uc_status status = UC_OK;
    int n;

    for (int i = 0; i < run->seat_count; i++)
        give_next(run, &run->seats[i]);
    while (status == UC_OK && (n = busy_seats(run, fds, seats)) > 0) {
        double now;

        if (poll(fds, (nfds_t)n, 200) < 0 && errno != EINTR)
            return uc_fail(err, UC_EINTERNAL, "poll: %s", strerror(errno));
        now = uc_clock_s();
        for (int i = 0; i < n && status == UC_OK; i++)
            if (fds[i].revents != 0)
                status = hear(run, seats[i], err);
            else if (now - seats[i]->heard_s > run->options->kernel_timeout_s)
                status = recover(run, seats[i], true, err);
    }
    for (int i = 0; i < run->seat_count && status == UC_OK; i++)
        if (run->seats[i].lost_count > 0)
            status =
                device_fails(&run->seats[i], run->seats[i].lost[0].reason, err);
    return status;
}

static int64_t kernels_in(const struct uc_work *list, size_t count)
{
    int64_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += (int64_t)list[i].kernel_count;
    return total;
}

enum uc_status uc_bench_run(const char *path,
                            const struct uc_network_operation *operations,
                            const int64_t *batches, size_t count,
                            const struct uc_policy *policy,
                            const struct uc_bench_options *options,
                            struct uc_bench_summary *summary,
                            struct uc_error *err)
{
    struct uc_work *list = NULL;
    struct run *run = calloc(1, sizeof *run);
    enum uc_status status;

    if (run == NULL)
        return uc_no_memory(err);
    *summary = (struct uc_bench_summary){ 0 };
    run->options = options;
    run->summary = summary;
    if ((status = start_seats(run, err)) != UC_OK ||
        (status = uc_profile_open(path, UC_PROFILE_WRITE, &run->profile,
                                  err)) != UC_OK ||
        (status = uc_profile_add_environment(run->profile, &run->environment,
                                             &summary->environment, err)) !=
            UC_OK ||
        (status = uc_work_list(run->profile, summary->environment, operations,
                               batches, count, policy, options->remeasure,
                               options->max_workspace_bytes, &list, &run->count,
                               err)) != UC_OK)
        goto out;
    run->list = list;
    summary->left = kernels_in(list, run->count);
    uc_progress_begin(&run->progress, summary->left, options->quiet);
    status = work_off(run, err);
    uc_progress_end(&run->progress);
    summary->left -= summary->done;
    summary->elapsed_s = uc_progress_elapsed(&run->progress);
out:
    stop_seats(run);
    uc_profile_close(run->profile);
    free(run);
    free(list);
    return status;
}

enum uc_status uc_bench_environment(const struct uc_bench_options *options,
                                    struct uc_environment *environment,
                                    struct uc_error *err)
{
    struct run *run = calloc(1, sizeof *run);
    enum uc_status status;

    if (run == NULL)
        return uc_no_memory(err);
    run->options = options;
    status = start_seats(run, err);
    if (status == UC_OK)
        *environment = run->environment;
    stop_seats(run);
    free(run);
    return status;
}
