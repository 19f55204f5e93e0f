#include "config.h"

#include "planner/bench.h"

#include "common/clock.h"
#include "planner/device_list.h"
#include "planner/seat.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct uc_bench bench;
    struct uc_environment environment;
    struct uc_seat seats[UC_DEVICE_LIST];
    int seat_count;
};

/* Devices ----------------------------------------------------------------*/

/** `present` is how many GPUs there are. */
static enum uc_status start_seat(struct run *run, int device, int *present,
                                 struct uc_error *err)
{
    struct uc_worker_message ready;
    const char *difference;
    enum uc_status status = uc_seat_start(
        &run->bench, &run->seats[run->seat_count], device, &ready, err);

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
    *present = ready.device_count;
    run->seat_count++;
    return UC_OK;
}

static enum uc_status start_seats(struct run *run, struct uc_error *err)
{
    int devices[UC_DEVICE_LIST], count, present = 0;
    enum uc_status status =
        uc_device_list_parse(run->bench.options->devices, devices, &count, err);
    bool all = count == 0;

    if (status != UC_OK)
        return status;
    do {
        int device = all ? run->seat_count : devices[run->seat_count];

        status = start_seat(run, device, &present, err);
        if (status != UC_OK)
            return status;
    } while (run->seat_count < (all ? present : count) &&
             run->seat_count < UC_DEVICE_LIST);
    return UC_OK;
}

static struct run *new_run(const struct uc_bench_options *options,
                           struct uc_error *err)
{
    struct run *run = calloc(1, sizeof *run);

    if (run == NULL) {
        uc_no_memory(err);
        return NULL;
    }
    run->bench.options = options;
    run->bench.work = options->work;
    return run;
}

static void end_run(struct run *run)
{
    for (int i = 0; i < UC_DEVICE_LIST; i++)
        uc_seat_stop(&run->seats[i]);
    uc_profile_close(run->bench.profile);
    uc_work_list_free(run->bench.list, run->bench.count);
    free(run);
}

/* Work -------------------------------------------------------------------*/

static int busy_seats(struct run *run, struct pollfd *fds,
                      struct uc_seat **seats)
{
    int n = 0;

    for (int i = 0; i < run->seat_count; i++)
        if (run->seats[i].busy) {
            fds[n] = (struct pollfd){ .fd = run->seats[i].worker.child.fd,
                                      .events = POLLIN };
            seats[n++] = &run->seats[i];
        }
    return n;
}

/** Until every seat is idle: no work or no time is left. */
static enum uc_status work_off(struct run *run, struct uc_error *err)
{
    struct pollfd fds[UC_DEVICE_LIST];
    struct uc_seat *seats[UC_DEVICE_LIST];
    double timeout_s = run->bench.options->kernel_timeout_s;
    enum uc_status status = UC_OK;
    int n;

    for (int i = 0; i < run->seat_count && status == UC_OK; i++)
        status = uc_seat_give_next(&run->bench, &run->seats[i], err);
    while (status == UC_OK && (n = busy_seats(run, fds, seats)) > 0) {
        double now;

        if (poll(fds, (nfds_t)n, 200) < 0 && errno != EINTR)
            return uc_fail(err, UC_EINTERNAL, "poll: %s", strerror(errno));
        now = uc_clock_s();
        for (int i = 0; i < n && status == UC_OK; i++)
            if (fds[i].revents != 0)
                status = uc_seat_hear(&run->bench, seats[i], err);
            else if (now - seats[i]->heard_s > timeout_s)
                status = uc_seat_hung(&run->bench, seats[i], err);
    }
    for (int i = 0; i < run->seat_count && status == UC_OK; i++)
        status = uc_seat_verdict(&run->seats[i], err);
    return status;
}

static int64_t sizes_in(const struct uc_work_problem *list, size_t count)
{
    int64_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += (int64_t)list[i].size_count;
    return total;
}

static enum uc_status measure(struct run *run, struct uc_error *err)
{
    struct uc_bench *bench = &run->bench;
    struct uc_bench_summary *summary = bench->summary;
    int64_t sizes = sizes_in(bench->list, bench->count);
    enum uc_status status;

    uc_progress_begin(&bench->progress, sizes, bench->options->quiet);
    status = work_off(run, err);
    uc_progress_end(&bench->progress);
    summary->left = sizes - summary->counts.sizes;
    summary->elapsed_s = uc_progress_elapsed(&bench->progress);
    return status;
}

/** Every batch has sizes: known before there is a profile. */
static enum uc_status check_policy(const struct uc_policy *policy,
                                   const int64_t *batches, size_t count,
                                   struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        int64_t *sizes = NULL;
        size_t size_count;

        status = uc_policy_sizes(policy, batches[i], &sizes, &size_count, err);
        free(sizes);
    }
    return status;
}

/** UC_EMISSING: it has nothing of this device and versions. */
static enum uc_status check_refresh(const struct run *run, const char *path,
                                    struct uc_error *err)
{
    struct uc_profile *profile = NULL;
    int64_t id = -1;
    enum uc_status status =
        uc_profile_open(path, UC_PROFILE_READ, &profile, err);

    if (status == UC_OK)
        status =
            uc_profile_add_environment(profile, &run->environment, &id, err);
    uc_profile_close(profile);
    if (status == UC_OK && id < 0)
        return uc_fail(err, UC_EMISSING,
                       "%.256s has no measurements of this GPU and these "
                       "versions to be refreshed",
                       path);
    return status;
}

enum uc_status uc_bench_run(const char *path,
                            const struct uc_network_operation *operations,
                            const int64_t *batches, size_t count,
                            const struct uc_policy *policy,
                            const struct uc_bench_options *options,
                            struct uc_bench_summary *summary,
                            struct uc_error *err)
{
    struct run *run = new_run(options, err);
    struct uc_bench *bench;
    enum uc_status status;

    if (run == NULL)
        return UC_EINTERNAL;
    *summary = (struct uc_bench_summary){ 0 };
    bench = &run->bench;
    bench->summary = summary;
    status = check_policy(policy, batches, count, err);
    if (status == UC_OK)
        status = start_seats(run, err);
    bench->work.cudnn = run->environment.versions.cudnn;
    if (status == UC_OK && options->work.refresh_before > 0)
        status = check_refresh(run, path, err);
    if (status == UC_OK)
        status = uc_profile_open(path, UC_PROFILE_WRITE, &bench->profile, err);
    if (status == UC_OK)
        status = uc_profile_add_environment(bench->profile, &run->environment,
                                            &summary->environment, err);
    if (status == UC_OK)
        status = uc_work_list(bench->profile, summary->environment, operations,
                              batches, count, policy, &bench->work,
                              &bench->list, &bench->count, err);
    if (status == UC_OK)
        status = measure(run, err);
    end_run(run);
    return status;
}

enum uc_status uc_bench_environment(const struct uc_bench_options *options,
                                    struct uc_environment *environment,
                                    struct uc_error *err)
{
    struct run *run = new_run(options, err);
    enum uc_status status;

    if (run == NULL)
        return UC_EINTERNAL;
    status = start_seats(run, err);
    if (status == UC_OK)
        *environment = run->environment;
    end_run(run);
    return status;
}
