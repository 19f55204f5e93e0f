#include "config.h"

#include "common/write.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static int write_blocked(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}

/** Take the signal that a failed write has raised, unless it was there. */
static void consume(int number, const sigset_t *before)
{
    const struct timespec now = { 0, 0 };
    sigset_t one;

    if (sigismember(before, number))
        return;
    sigemptyset(&one);
    sigaddset(&one, number);
    while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR)
        ;
}

int uc_write_all(int fd, const void *bytes, size_t length)
{
    sigset_t blocked, mask, before;
    int kept = errno, cause;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGXFSZ);
    sigemptyset(&before);
    pthread_sigmask(SIG_BLOCK, &blocked, &mask);
    sigpending(&before);
    cause = write_blocked(fd, bytes, length);
    if (cause == EPIPE)
        consume(SIGPIPE, &before);
    if (cause == EFBIG)
        consume(SIGXFSZ, &before);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = kept;
    return cause;
}
