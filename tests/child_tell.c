#include "config.h"

/* What a process is told arrives whole, however little sockets take at once. */

#include "planner/child.h"
#include "tests/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BYTES = 100001 };

static unsigned char sent[BYTES];

/** Says how many of the bytes were the right ones. */
static int check_bytes(void *context, int fd)
{
    static unsigned char got[BYTES];
    size_t same = 0;

    (void)context;
    if (!uc_child_told(fd, got, sizeof got))
        return 1;
    while (same < BYTES && got[same] == sent[same])
        same++;
    uc_child_say(fd, &same, sizeof same);
    /* The next that is told begins where this has ended. */
    if (!uc_child_told(fd, got, 1))
        return 1;
    same = got[0];
    uc_child_say(fd, &same, sizeof same);
    return 0;
}

static void more_arrives_than_a_socket_takes_at_once(void **state)
{
    struct uc_child child;
    struct uc_error err;
    size_t same = 0;
    int least = 1; /* the system's least */
    char how[128];

    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        sent[i] = (unsigned char)(i * 7 + i / 256);
    assert_int_equal(uc_child_start(&child, check_bytes, NULL, &err), UC_OK);
    assert_int_equal(
        setsockopt(child.fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
    assert_int_equal(uc_child_tell(&child, sent, sizeof sent, &err), UC_OK);
    assert_int_equal(uc_child_tell(&child, "x", 1, &err), UC_OK);
    assert_int_equal(uc_child_hear(&child, &same, sizeof same, 20),
                     UC_CHILD_SAID);
    assert_int_equal(same, BYTES);
    assert_int_equal(uc_child_hear(&child, &same, sizeof same, 20),
                     UC_CHILD_SAID);
    assert_int_equal(same, 'x');
    uc_child_stop(&child, how, sizeof how);
}

static void a_process_that_is_gone_is_no_failure(void **state)
{
    struct uc_child child = { 0 };
    struct uc_error err;
    int fds[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    child.fd = fds[0];
    close(fds[1]);
    assert_int_equal(uc_child_tell(&child, sent, sizeof sent, &err), UC_OK);
    close(fds[0]);
}

static void what_cannot_be_sent_is_told(void **state)
{
    struct uc_child child = { .fd = -1 };
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_child_tell(&child, "x", 1, &err), UC_EINTERNAL);
    assert_non_null(strstr(err.text, strerror(EBADF)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_arrives_than_a_socket_takes_at_once),
        cmocka_unit_test(a_process_that_is_gone_is_no_failure),
        cmocka_unit_test(what_cannot_be_sent_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
