#include "config.h"

#include "planner/worker.h"

#include "planner/measure.h"
#include "runtime/engines.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* The worker's side -------------------------------------------------------*/

static void wait_acknowledged(int fd)
{
    char byte;

    if (!uc_child_told(fd, &byte, sizeof byte))
        _exit(UC_EINTERNAL); /* the parent is gone */
}

static void say_started(void *context, size_t kernel)
{
    struct uc_worker_message m = { .event = UC_WORKER_STARTED,
                                   .kernel = kernel };

    uc_child_say(*(int *)context, &m, sizeof m);
}

static void say_done(void *context, size_t kernel,
                     const struct uc_measurement *measurement)
{
    struct uc_worker_message m = { .event = UC_WORKER_DONE,
                                   .kernel = kernel,
                                   .u.measurement = *measurement };

    uc_child_say(*(int *)context, &m, sizeof m);
    wait_acknowledged(*(int *)context);
}

/** Searches of the problem in work, by beta case: they begin at the full batch,
    which takes longer than a size of it. */
static struct search {
    struct uc_problem problem;
    int64_t batch;
    bool runtime_compiled;
    struct uc_engines *engines; /**< NULL: none */
} searches[2];

static cudnnStatus_t begin_search(const struct uc_measure_session *session,
                                  const struct uc_work *work,
                                  const struct uc_engines **engines)
{
    struct uc_graph_place place = { .handle = session->gpu.handle };
    struct search *s = &searches[work->accumulate];
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    if (s->engines == NULL || s->batch != work->batch ||
        s->runtime_compiled != work->runtime_compiled ||
        !uc_problem_equal(&s->problem, &work->problem)) {
        uc_engines_close(s->engines);
        *s = (struct search){ work->problem, work->batch,
                              work->runtime_compiled, NULL };
        status = uc_engines_open(&session->gpu.cudnn, &place, &work->problem,
                                 work->batch, work->accumulate,
                                 work->runtime_compiled, &s->engines);
    }
    *engines = s->engines;
    return status;
}

/** Graph kernels at one size: each is told, then that there are no more. */
static void search(int fd, const struct uc_measure_session *session,
                   const struct uc_work *work)
{
    static struct uc_kernel like[UC_WORK_KERNELS];
    struct uc_worker_message m = { .event = UC_WORKER_IDLE };
    const struct uc_engines *engines = NULL;
    struct uc_engine_candidate *list = NULL;
    size_t count = 0;
    cudnnStatus_t status = begin_search(session, work, &engines);

    for (size_t i = 0; i < work->kernel_count; i++)
        like[i] = work->kernels[i].kernel;
    if (status == CUDNN_STATUS_SUCCESS)
        status = work->kernel_count > 0
                     ? uc_engines_near(engines, work->micro_batch, like,
                                       work->kernel_count, &list, &count)
                     : uc_engines_at(engines, work->micro_batch, &list, &count);
    if (status != CUDNN_STATUS_SUCCESS) {
        m.event = UC_WORKER_NOTHING;
        uc_fail(&m.u.error, UC_EDEVICE, "cuDNN: %s",
                session->gpu.cudnn.GetErrorString(status));
    }
    for (size_t i = 0; i < count; i++) {
        struct uc_worker_message found = {
            .event = UC_WORKER_FOUND,
            .u.candidate = { list[i].kernel, work->accumulate, list[i].notes,
                             list[i].workspace_bytes }
        };

        uc_child_say(fd, &found, sizeof found);
    }
    free(list);
    uc_child_say(fd, &m, sizeof m);
}

/** Next work; false when the parent wants no more. */
static bool hear_work(int fd, struct uc_work *work)
{
    return uc_child_told(fd, work, offsetof(struct uc_work, kernels)) &&
           uc_child_told(fd, work->kernels,
                         work->kernel_count * sizeof *work->kernels);
}

static enum uc_status work_until_closed(int fd,
                                        struct uc_measure_session *session,
                                        struct uc_error *err)
{
    static struct uc_work work;
    struct uc_measure_events events = { say_started, say_done, &fd };
    struct uc_worker_message idle = { .event = UC_WORKER_IDLE };
    enum uc_status status = UC_OK;

    while (status == UC_OK && hear_work(fd, &work)) {
        if (work.search) {
            search(fd, session, &work);
            continue;
        }
        status = uc_measure_work(session, &work, &events, err);
        if (status == UC_OK)
            uc_child_say(fd, &idle, sizeof idle);
    }
    return status;
}

struct start {
    int device;
    int64_t max_workspace_bytes;
};

/** The device belongs to this process until it ends. */
static int run_worker(void *context, int fd)
{
    static struct uc_measure_session session;
    const struct start *start = context;
    struct uc_worker_message m = { .event = UC_WORKER_READY };
    struct uc_error err = { 0 };
    enum uc_status status = uc_gpu_open(&session.gpu, start->device, &err);

    session.max_workspace_bytes = start->max_workspace_bytes;
    if (status == UC_OK) {
        m.device_count = session.gpu.device_count;
        m.u.environment = session.gpu.environment;
        uc_child_say(fd, &m, sizeof m);
        status = work_until_closed(fd, &session, &err);
    }
    if (status != UC_OK) {
        m = (struct uc_worker_message){ .event = UC_WORKER_FAILED,
                                        .u.error = err };
        uc_child_say(fd, &m, sizeof m);
    }
    return (int)status;
}

/* The parent's side -------------------------------------------------------*/

bool uc_worker_receive(struct uc_worker *worker,
                       struct uc_worker_message *message)
{
    return uc_child_hear(&worker->child, message, sizeof *message, 0) ==
           UC_CHILD_SAID;
}

enum uc_status uc_worker_start(struct uc_worker *worker, int device,
                               int64_t max_workspace_bytes, double timeout_s,
                               struct uc_worker_message *ready,
                               struct uc_error *err)
{
    struct start start = { device, max_workspace_bytes };
    struct uc_child child;
    char how[128];
    enum uc_status status =
        uc_child_start_on(&child, run_worker, &start, device, timeout_s, ready,
                          sizeof *ready, err);

    if (status != UC_OK)
        return status;
    if (ready->event == UC_WORKER_READY) {
        *worker = (struct uc_worker){ child, device };
        return UC_OK;
    }
    uc_child_stop(&child, how, sizeof how);
    *err = ready->u.error;
    return err->status;
}

enum uc_status uc_worker_send(struct uc_worker *worker,
                              const struct uc_work *work, struct uc_error *err)
{
    enum uc_status status = uc_child_tell(
        &worker->child, work, offsetof(struct uc_work, kernels), err);

    if (status != UC_OK)
        return status;
    return uc_child_tell(&worker->child, work->kernels,
                         work->kernel_count * sizeof *work->kernels, err);
}

enum uc_status uc_worker_acknowledge(struct uc_worker *worker,
                                     struct uc_error *err)
{
    return uc_child_tell(&worker->child, "", 1, err);
}

void uc_worker_stop(struct uc_worker *worker, char *how, size_t size)
{
    uc_child_stop(&worker->child, how, size);
}
