#include "config.h"

#include "planner/worker.h"

#include "planner/measure.h"
#include "runtime/engines.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The worker's side -------------------------------------------------------*/

static void say(int fd, const struct uc_worker_message *message)
{
    while (send(fd, message, sizeof *message, MSG_NOSIGNAL) < 0)
        if (errno != EINTR)
            _exit(UC_EINTERNAL); /* the parent is gone */
}

static void wait_acknowledged(int fd)
{
    char byte;
    ssize_t got;

    do
        got = recv(fd, &byte, sizeof byte, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof byte)
        _exit(UC_EINTERNAL); /* the parent is gone */
}

static void say_started(void *context, size_t kernel)
{
    struct uc_worker_message m = { .event = UC_WORKER_STARTED,
                                   .kernel = kernel };

    say(*(int *)context, &m);
}

static void say_done(void *context, size_t kernel,
                     const struct uc_measurement *measurement)
{
    struct uc_worker_message m = { .event = UC_WORKER_DONE,
                                   .kernel = kernel,
                                   .u.measurement = *measurement };

    say(*(int *)context, &m);
    wait_acknowledged(*(int *)context);
}

static _Noreturn void give_up(int fd, const struct uc_error *err)
{
    struct uc_worker_message m = { .event = UC_WORKER_FAILED, .u.error = *err };

    say(fd, &m);
    _exit((int)err->status);
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
    struct uc_worker_message m = { .event = UC_WORKER_IDLE };
    const struct uc_engines *engines = NULL;
    struct uc_engine_candidate *list = NULL;
    size_t count = 0;
    cudnnStatus_t status = begin_search(session, work, &engines);

    if (status == CUDNN_STATUS_SUCCESS)
        status = uc_engines_at(engines, work->micro_batch, &list, &count);
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

        say(fd, &found);
    }
    free(list);
    say(fd, &m);
}

/** Bytes of a work that are sent. */
static size_t sent_bytes(const struct uc_work *work)
{
    return offsetof(struct uc_work, kernels) +
           work->kernel_count * sizeof *work->kernels;
}

/** The device belongs to this process until it ends; _exit() runs no
    handlers that CUDA or the parent's libraries may have left. */
static _Noreturn void work_until_closed(int fd, int device,
                                        int64_t max_workspace_bytes)
{
    static struct uc_measure_session session;
    static struct uc_work work;
    struct uc_measure_events events = { say_started, say_done, &fd };
    struct uc_worker_message m = { .event = UC_WORKER_READY };
    struct uc_error err = { 0 };
    ssize_t got;

    session.max_workspace_bytes = max_workspace_bytes;
    if (uc_gpu_open(&session.gpu, device, &err) != UC_OK)
        give_up(fd, &err);
    m.device_count = session.gpu.device_count;
    m.u.environment = session.gpu.environment;
    say(fd, &m);
    while ((got = recv(fd, &work, sizeof work, 0)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < (ssize_t)offsetof(struct uc_work, kernels) ||
            got != (ssize_t)sent_bytes(&work))
            _exit(UC_EINTERNAL);
        if (work.search) {
            search(fd, &session, &work);
            continue;
        }
        if (uc_measure_work(&session, &work, &events, &err) != UC_OK)
            give_up(fd, &err);
        m = (struct uc_worker_message){ .event = UC_WORKER_IDLE };
        say(fd, &m);
    }
    _exit(UC_OK);
}

/* The parent's side -------------------------------------------------------*/

bool uc_worker_receive(struct uc_worker *worker,
                       struct uc_worker_message *message)
{
    ssize_t got;

    do
        got = recv(worker->fd, message, sizeof *message, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *message;
}

static enum uc_status wait_ready(struct uc_worker *worker, double timeout_s,
                                 struct uc_worker_message *ready,
                                 struct uc_error *err)
{
    struct pollfd p = { .fd = worker->fd, .events = POLLIN };
    char how[128];
    int n;

    do
        n = poll(&p, 1, (int)(timeout_s * 1e3));
    while (n < 0 && errno == EINTR);
    if (n > 0 && uc_worker_receive(worker, ready)) {
        if (ready->event == UC_WORKER_READY)
            return UC_OK;
        *err = ready->u.error;
        uc_worker_stop(worker, how, sizeof how);
        return err->status;
    }
    uc_worker_stop(worker, how, sizeof how);
    return uc_fail(err, UC_EDEVICE, "GPU %d: %s while starting: %s",
                   worker->device, n == 0 ? "no answer" : "the worker died",
                   how);
}

enum uc_status uc_worker_start(struct uc_worker *worker, int device,
                               int64_t max_workspace_bytes, double timeout_s,
                               struct uc_worker_message *ready,
                               struct uc_error *err)
{
    int fds[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
        return uc_fail(err, UC_EINTERNAL, "socketpair: %s", strerror(errno));
    signal(SIGCHLD, SIG_DFL); /* inherited as ignored it would reap for us */
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        close(fds[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work_until_closed(fds[1], device, max_workspace_bytes);
    }
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return uc_fail(err, UC_EINTERNAL, "fork: %s", strerror(errno));
    }
    *worker = (struct uc_worker){ pid, fds[0], device };
    return wait_ready(worker, timeout_s, ready, err);
}

/** A failure means that the worker died; its end of file tells. */
static void tell(const struct uc_worker *worker, const void *what, size_t size)
{
    while (send(worker->fd, what, size, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

void uc_worker_send(struct uc_worker *worker, const struct uc_work *work)
{
    tell(worker, work, sent_bytes(work));
}

void uc_worker_acknowledge(struct uc_worker *worker)
{
    tell(worker, "", 1);
}

void uc_worker_stop(struct uc_worker *worker, char *how, size_t size)
{
    struct timespec pause = { 0, 10 * 1000 * 1000 };
    int status = 0, tries;

    if (worker->pid == 0)
        return;
    /* An idle one ends by itself; later workers hold copies of this end. */
    shutdown(worker->fd, SHUT_RDWR);
    close(worker->fd);
    for (tries = 0; tries < 50; tries++) {
        if (waitpid(worker->pid, &status, WNOHANG) != 0)
            break;
        nanosleep(&pause, NULL);
    }
    if (tries == 50) {
        kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (WIFSIGNALED(status))
        snprintf(how, size, "signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(how, size, "exit status %d", WEXITSTATUS(status));
    worker->pid = 0;
}
