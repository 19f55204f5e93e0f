#include "config.h"

#include "planner/seat.h"

#include "common/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_REFERENCES = 3, MAX_SEARCHES = 2 };

static const double start_timeout_s = 120;

enum uc_status uc_seat_start(const struct uc_bench *bench, struct uc_seat *seat,
                             int device, struct uc_worker_message *ready,
                             struct uc_error *err)
{
    return uc_worker_start(&seat->worker, device,
                           bench->work.max_workspace_bytes, start_timeout_s,
                           ready, err);
}

void uc_seat_stop(struct uc_seat *seat)
{
    char how[128];

    uc_worker_stop(&seat->worker, how, sizeof how);
    uc_agenda_close(&seat->agenda);
}

/* Results ----------------------------------------------------------------*/

static void count_outcome(struct uc_bench *bench, enum uc_outcome outcome)
{
    bench->summary->outcomes[outcome]++;
    bench->summary->done++;
}

/** Of a kernel that took down its worker. */
static struct uc_measurement lost(const struct uc_work *work, size_t kernel,
                                  enum uc_outcome outcome, const char *reason)
{
    const struct uc_work_kernel *k = &work->kernels[kernel];
    struct uc_measurement m = {
        .micro_batch = work->micro_batch,
        .accumulate = k->accumulate,
        .kernel = k->kernel,
        .notes = k->notes,
        .workspace_bytes = k->workspace_bytes,
        .outcome = outcome,
        .error = -1,
        .measured_at = (int64_t)time(NULL),
    };

    snprintf(m.reason, sizeof m.reason, "%.*s", (int)strcspn(reason, "\n"),
             reason);
    return m;
}

/** The device works: what was lost on it before was lost by its own fault. */
static enum uc_status settle_held(struct uc_bench *bench, struct uc_seat *seat,
                                  struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (int i = 0; i < seat->lost_count; i++) {
        const struct uc_lost_work *l = &seat->lost[i];

        for (size_t k = 0; k < l->work.kernel_count && status == UC_OK; k++) {
            struct uc_measurement m = lost(&l->work, k, l->outcome, l->reason);

            status =
                uc_profile_store(bench->profile, bench->summary->environment,
                                 &l->work.problem, &m, err);
            if (status == UC_OK)
                count_outcome(bench, l->outcome);
        }
    }
    seat->lost_count = 0;
    return status;
}

static enum uc_status device_fails(const struct uc_seat *seat,
                                   const char *reason, struct uc_error *err)
{
    return uc_fail(err, UC_EDEVICE,
                   "GPU %d takes down its worker before any kernel: %s",
                   seat->worker.device, reason);
}

enum uc_status uc_seat_verdict(const struct uc_seat *seat, struct uc_error *err)
{
    return seat->lost_count == 0
               ? UC_OK
               : device_fails(seat, seat->lost[0].reason, err);
}

/** Its references all failed: hold the work back, but not too much of it. */
static enum uc_status hold(struct uc_seat *seat, enum uc_outcome outcome,
                           const char *reason, struct uc_error *err)
{
    struct uc_lost_work *l = &seat->lost[seat->lost_count];

    if (seat->lost_count == UC_MAX_LOST)
        return device_fails(seat, reason, err);
    l->work = seat->work;
    l->outcome = outcome;
    snprintf(l->reason, sizeof l->reason, "before its first kernel: %.150s",
             reason);
    seat->lost_count++;
    uc_agenda_leave_unrecorded(&seat->agenda);
    return UC_OK;
}

static enum uc_status settle_done(struct uc_bench *bench, struct uc_seat *seat,
                                  const struct uc_worker_message *m,
                                  struct uc_error *err)
{
    enum uc_status status = settle_held(bench, seat, err);

    if (status == UC_OK)
        status = uc_agenda_settle(&seat->agenda, &m->u.measurement, err);
    seat->done[m->kernel] = status == UC_OK;
    seat->started = -1;
    if (status != UC_OK)
        return status;
    count_outcome(bench, m->u.measurement.outcome);
    return uc_worker_acknowledge(&seat->worker, err);
}

/* Work -------------------------------------------------------------------*/

static bool out_of_time(const struct uc_bench *bench)
{
    return bench->options->time_budget_s > 0 &&
           uc_progress_elapsed(&bench->progress) >=
               bench->options->time_budget_s;
}

static enum uc_status hand_over(struct uc_seat *seat, struct uc_error *err)
{
    seat->busy = true;
    seat->started = -1;
    seat->heard_s = uc_clock_s();
    memset(seat->done, 0, sizeof seat->done);
    return uc_worker_send(&seat->worker, &seat->work, err);
}

/** Sizes that the agenda has gone through since there were `before`. */
static void show_progress(struct uc_bench *bench, const struct uc_seat *seat,
                          int64_t before)
{
    char text[UC_PROBLEM_TEXT], now[UC_PROBLEM_TEXT + 32];

    for (; before < seat->agenda.counts.sizes; before++) {
        uc_problem_print(&seat->work.problem, text);
        snprintf(now, sizeof now, "%s, %lld images", text,
                 (long long)seat->work.micro_batch);
        uc_progress_step(&bench->progress, now);
    }
}

static void close_agenda(struct uc_bench *bench, struct uc_seat *seat)
{
    struct uc_agenda_counts *sum = &bench->summary->counts;
    const struct uc_agenda_counts *counts = &seat->agenda.counts;

    sum->sizes += counts->sizes;
    sum->searches += counts->searches;
    sum->given_up += counts->given_up;
    sum->pruned += counts->pruned;
    sum->known_bad += counts->known_bad;
    uc_agenda_close(&seat->agenda);
}

/** Of the problem in hand; *more is false when there is none. */
static enum uc_status take_from_agenda(struct uc_bench *bench,
                                       struct uc_seat *seat, bool *more,
                                       struct uc_error *err)
{
    int64_t before = seat->agenda.counts.sizes;
    enum uc_status status;

    *more = false;
    if (seat->agenda.of == NULL)
        return UC_OK;
    status = uc_agenda_next(&seat->agenda, out_of_time(bench), &seat->work,
                            more, err);
    show_progress(bench, seat, before);
    if (!*more)
        close_agenda(bench, seat);
    return status;
}

enum uc_status uc_seat_give_next(struct uc_bench *bench, struct uc_seat *seat,
                                 struct uc_error *err)
{
    bool more;
    enum uc_status status = take_from_agenda(bench, seat, &more, err);

    while (status == UC_OK && !more && bench->next < bench->count &&
           !out_of_time(bench)) {
        status = uc_agenda_open(&seat->agenda, bench->profile,
                                bench->summary->environment,
                                &bench->list[bench->next++], &bench->work, err);
        if (status == UC_OK)
            status = take_from_agenda(bench, seat, &more, err);
    }
    seat->busy = false;
    seat->failed_searches = 0;
    return status == UC_OK && more ? hand_over(seat, err) : status;
}

/** Drop the settled kernels from the seat's work; false when none is left. */
static bool keep_unsettled(struct uc_seat *seat)
{
    size_t kept = 0;

    for (size_t i = 0; i < seat->work.kernel_count; i++)
        if (!seat->done[i])
            seat->work.kernels[kept++] = seat->work.kernels[i];
    seat->work.kernel_count = kept;
    return kept > 0;
}

/** Whether the search shall be made again. */
static bool search_again(struct uc_bench *bench, struct uc_seat *seat,
                         const char *reason)
{
    bool again = ++seat->failed_searches < MAX_SEARCHES;

    if (!again)
        snprintf(bench->summary->search_failure,
                 sizeof bench->summary->search_failure, "%.*s",
                 (int)strcspn(reason, "\n"), reason);
    uc_agenda_search_failed(&seat->agenda, !again);
    return again;
}

/** Blame the kernel it had announced, or, when it had not come to the first,
    its reference, which is then another one. */
static enum uc_status blame(struct uc_bench *bench, struct uc_seat *seat,
                            enum uc_outcome outcome, const char *reason,
                            struct uc_error *err)
{
    bool progressed = false;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < seat->work.kernel_count; i++)
        progressed = progressed || seat->done[i];
    if (seat->started >= 0) {
        struct uc_measurement m =
            lost(&seat->work, (size_t)seat->started, outcome, reason);

        status = uc_agenda_settle(&seat->agenda, &m, err);
        if (status == UC_OK)
            count_outcome(bench, outcome);
        seat->done[seat->started] = true;
    } else if (!progressed && ++seat->work.skip_references > MAX_REFERENCES) {
        status = hold(seat, outcome, reason, err);
        memset(seat->done, true, sizeof seat->done);
    }
    return status;
}

/** The worker died or hung: find out what with, and go on with a fresh one. */
static enum uc_status recover(struct uc_bench *bench, struct uc_seat *seat,
                              bool hung, struct uc_error *err)
{
    char reason[sizeof seat->error.text], how[128] = "";
    int device = seat->worker.device;
    struct uc_worker_message ready;
    enum uc_status status = UC_OK;
    bool again;

    uc_worker_stop(&seat->worker, how, sizeof how);
    if (hung)
        snprintf(reason, sizeof reason, "no answer for %g s",
                 bench->options->kernel_timeout_s);
    else
        snprintf(reason, sizeof reason, "%s",
                 seat->error.status != UC_OK ? seat->error.text : how);
    seat->error.status = UC_OK;
    if (seat->work.search) {
        again = search_again(bench, seat, reason);
    } else {
        status =
            blame(bench, seat, hung ? UC_TIMED_OUT : UC_CRASHED, reason, err);
        again = keep_unsettled(seat);
    }
    if (status == UC_OK)
        status = uc_seat_start(bench, seat, device, &ready, err);
    if (status != UC_OK)
        return status;
    if (!again)
        return uc_seat_give_next(bench, seat, err);
    return hand_over(seat, err);
}

enum uc_status uc_seat_hung(struct uc_bench *bench, struct uc_seat *seat,
                            struct uc_error *err)
{
    return recover(bench, seat, true, err);
}

enum uc_status uc_seat_hear(struct uc_bench *bench, struct uc_seat *seat,
                            struct uc_error *err)
{
    struct uc_worker_message m;

    if (!uc_worker_receive(&seat->worker, &m))
        return recover(bench, seat, false, err);
    seat->heard_s = uc_clock_s();
    switch (m.event) {
    case UC_WORKER_FOUND:
        return uc_agenda_candidate(&seat->agenda, &m.u.candidate, err);
    case UC_WORKER_STARTED:
        seat->started = (int)m.kernel;
        return UC_OK;
    case UC_WORKER_DONE:
        return settle_done(bench, seat, &m, err);
    case UC_WORKER_NOTHING:
        /* cuDNN's own refusal: it would answer the same again. */
        seat->failed_searches = MAX_SEARCHES;
        search_again(bench, seat, m.u.error.text);
        return uc_seat_give_next(bench, seat, err);
    case UC_WORKER_IDLE:
        return uc_seat_give_next(bench, seat, err);
    case UC_WORKER_FAILED:
        seat->error = m.u.error; /* its end of file comes next */
        return UC_OK;
    default:
        return uc_fail(err, UC_EINTERNAL, "unexpected word from a worker");
    }
}
