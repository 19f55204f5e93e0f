#include "config.h"

#include "common/log.h"
#include "common/write.h"
#include "tests/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void a_line_is_one_line(void **state)
{
    char text[600] = "";
    int ends[2], saved = dup(STDERR_FILENO);
    ssize_t n;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    errno = 5;
    uc_log(UC_LOG_OFF, "first\nsecond\tthird\x1b[m");
    assert_int_equal(errno, 5);
    dup2(saved, STDERR_FILENO);
    close(saved);
    n = read(ends[0], text, sizeof text - 1);
    assert_true(n > 0);
    assert_string_equal(text, "ucudnn: first second third [m\n");
    close(ends[0]);
    close(ends[1]);
}

static void a_reader_that_has_gone_is_an_error(void **state)
{
    int ends[2];
    sigset_t pending;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(uc_write_all(ends[1], "x", 1), EPIPE);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
    close(ends[1]);
}

static void a_file_too_large_is_an_error(void **state)
{
    char name[] = "/tmp/ucudnn-write.XXXXXX";
    int fd = mkstemp(name);
    struct rlimit old, none;

    (void)state;
    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    none = old;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    assert_int_equal(uc_write_all(fd, "x", 1), EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    close(fd);
}

/** What the program has blocked and waits for stays where it is. */
static void a_signal_pending_before_stays(void **state)
{
    int ends[2];
    sigset_t pipe_only, mask, pending;
    int number;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_only, &mask);
    raise(SIGPIPE);
    assert_int_equal(uc_write_all(ends[1], "x", 1), EPIPE);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGPIPE), 1);
    assert_int_equal(sigwait(&pipe_only, &number), 0);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_one_line),
        cmocka_unit_test(a_reader_that_has_gone_is_an_error),
        cmocka_unit_test(a_file_too_large_is_an_error),
        cmocka_unit_test(a_signal_pending_before_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
