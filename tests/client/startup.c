/*
 * startup LIBRARY RUNS: how much longer /bin/true takes with the library
 * preloaded: the difference between the fastest of so many runs with and
 * without it, alternating, in nanoseconds.
 */
#include "config.h"

#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/** -1: it did not run. */
static int64_t run_ns(char *environment)
{
    static char program[] = "/bin/true";
    char *const argv[] = { program, NULL };
    char *const envp[] = { environment, NULL };
    int64_t start = now_ns();
    pid_t child;
    int status;

    if (posix_spawn(&child, argv[0], NULL, NULL, argv, envp) != 0 ||
        waitpid(child, &status, 0) != child || status != 0)
        return -1;
    return now_ns() - start;
}

int main(int argc, char **argv)
{
    int64_t least[2] = { INT64_MAX, INT64_MAX };
    char preload[4096];
    char without[] = "UNUSED=1";
    char *environments[2] = { without, preload };

    if (argc != 3)
        return 2;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
    for (long i = strtol(argv[2], NULL, 10); i > 0; i--)
        for (int with = 0; with < 2; with++) {
            int64_t ns = run_ns(environments[with]);

            if (ns < 0)
                return 1;
            if (ns < least[with])
                least[with] = ns;
        }
    printf("%lld\n", (long long)(least[1] - least[0]));
    return 0;
}
