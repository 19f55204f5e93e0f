#include "config.h"

#include "planner/child.h"

#include "common/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum uc_status uc_child_start(struct uc_child *child, uc_child_body *body,
                              void *context, struct uc_error *err)
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
        /* No handlers that CUDA or the parent's libraries may have left. */
        _exit(body(context, fds[1]));
    }
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return uc_fail(err, UC_EINTERNAL, "fork: %s", strerror(errno));
    }
    *child = (struct uc_child){ pid, fds[0] };
    return UC_OK;
}

void uc_child_say(int fd, const void *message, size_t size)
{
    while (send(fd, message, size, MSG_NOSIGNAL) < 0)
        if (errno != EINTR)
            _exit(UC_EINTERNAL);
}

enum uc_child_word uc_child_hear(struct uc_child *child, void *message,
                                 size_t size, double timeout_s)
{
    double until = uc_clock_s() + timeout_s;
    struct pollfd p = { .fd = child->fd, .events = POLLIN };
    ssize_t got;
    int n;

    do {
        double left = until - uc_clock_s();

        n = poll(&p, 1,
                 left <= 0    ? 0
                 : left > 1e6 ? 1000000
                              : (int)(left * 1e3));
    } while ((n < 0 && errno == EINTR) || (n == 0 && uc_clock_s() < until));
    if (n == 0)
        return UC_CHILD_SILENT;
    do
        got = recv(child->fd, message, size, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size ? UC_CHILD_SAID : UC_CHILD_GONE;
}

/** Less than the smallest buffer that a socket can have. */
enum { PACKET = 2048 };

static size_t packet_bytes(size_t left)
{
    return left < PACKET ? left : PACKET;
}

enum uc_status uc_child_tell(const struct uc_child *child, const void *bytes,
                             size_t size, struct uc_error *err)
{
    const char *at = bytes;

    while (size > 0) {
        size_t packet = packet_bytes(size);

        if (send(child->fd, at, packet, MSG_NOSIGNAL) >= 0) {
            at += packet;
            size -= packet;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return UC_OK;
        } else if (errno != EINTR) {
            return uc_fail(err, UC_EINTERNAL, "telling a process: %s",
                           strerror(errno));
        }
    }
    return UC_OK;
}

bool uc_child_told(int fd, void *bytes, size_t size)
{
    char *at = bytes;

    while (size > 0) {
        ssize_t got = recv(fd, at, packet_bytes(size), 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

/** Kills one that is not gone. Its end of the socket is closed when it is. */
void uc_child_stop(struct uc_child *child, char *how, size_t size)
{
    struct pollfd p = { .fd = child->fd, .events = POLLIN };
    int status = 0;

    if (child->pid == 0)
        return;
    if (poll(&p, 1, 0) != 1 || !(p.revents & POLLHUP))
        kill(child->pid, SIGKILL);
    close(child->fd);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        snprintf(how, size, "signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(how, size, "exit status %d", WEXITSTATUS(status));
    child->pid = 0;
}

enum uc_status uc_child_start_on(struct uc_child *child, uc_child_body *body,
                                 void *context, int device, double timeout_s,
                                 void *message, size_t size,
                                 struct uc_error *err)
{
    enum uc_status status = uc_child_start(child, body, context, err);
    enum uc_child_word word;
    char how[128];

    if (status != UC_OK)
        return status;
    word = uc_child_hear(child, message, size, timeout_s);
    if (word == UC_CHILD_SAID)
        return UC_OK;
    uc_child_stop(child, how, sizeof how);
    return uc_fail(err, UC_EDEVICE, "GPU %d: %s while starting: %s", device,
                   word == UC_CHILD_SILENT ? "no answer" : "the process died",
                   how);
}
