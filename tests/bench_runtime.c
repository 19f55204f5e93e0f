/*
 * What libucudnn costs a call, measured with the double's empty
 * convolutions: run by `make bench`, which prints it beside the targets.
 *
 * The program runs itself, once a way and round, with the library preloaded
 * or not; of the rounds the fastest counts.
 */
#include "config.h"

#include "tests/client/convolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 7, BATCHES = 20, CALLS = 5000 };

struct way {
    const char *name;
    const char *plan; /**< words for plan_make; NULL: no plan */
    bool preloaded;
    double target_us; /**< beyond cuDNN's own */
    double least_ns;
};

static char folder[] = "/tmp/ucudnn-bench.XXXXXX";
static const char *build;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/** The program that is measured: prints the least time of one call. */
static int measure(void)
{
    struct client client;
    struct client_problem problem;
    struct client_case c;
    CUcontext context;
    double least = 1e18;

    CLIENT_DO(cuInit(0));
    CLIENT_DO(cuDevicePrimaryCtxRetain(&context, 0));
    CLIENT_DO(cuCtxSetCurrent(context));
    client_start(&client, NULL, 1 << 20);
    client_case_make(0, &c);
    client_open(&client, &c, &problem);
    for (int i = 0; i < BATCHES; i++) {
        double start = now_ns();

        for (int n = 0; n < CALLS; n++)
            CLIENT_DO(client_convolve(&problem, CLIENT_FORWARD, 0, 1, 0));
        start = (now_ns() - start) / CALLS;
        if (start < least)
            least = start;
    }
    client_close(&problem);
    client_stop(&client);
    printf("%.17g\n", least);
    return 0;
}

/** A number that a command prints. */
static double ask(const char *command)
{
    FILE *pipe = popen(command, "r");
    double number = 0;
    bool good;

    client_check(pipe == NULL, command);
    good = fscanf(pipe, "%lf", &number) == 1;
    good = pclose(pipe) == 0 && good;
    client_check(!good, command);
    return number;
}

static void make_plan(const struct way *way, int number)
{
    char command[8192];

    snprintf(command, sizeof command,
             "LD_LIBRARY_PATH=%s/tests/double %s/tests/plan_make %s/%d %s",
             build, build, folder, number, way->plan);
    client_check(system(command), command);
}

static void run(struct way *way, int number)
{
    char command[8192], preload[2048] = "", plan[2048] = "";
    const char *stats = strstr(way->name, "STATS") ? "UCUDNN_STATS=" : "";
    double ns;

    if (way->preloaded)
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s/.libs/libucudnn.so",
                 build);
    if (way->plan != NULL)
        snprintf(plan, sizeof plan, "UCUDNN_PLAN=%s/%d", folder, number);
    snprintf(command, sizeof command,
             "UC_DOUBLE_EMPTY=1 LD_LIBRARY_PATH=%s/tests/double %s %s "
             "%s%s%s %s/tests/bench_runtime --measure",
             build, plan, preload, stats, stats[0] ? folder : "",
             stats[0] ? "/stats" : "", build);
    ns = ask(command);
    if (ns < way->least_ns)
        way->least_ns = ns;
}

static void print_startup(void)
{
    char command[8192];

    snprintf(command, sizeof command,
             "%s/tests/client/startup %s/.libs/libucudnn.so 200", build, build);
    printf("  starting a program without cuDNN    %+8.3f ms, at most 1\n",
           ask(command) * 1e-6);
}

static void remove_files(int ways)
{
    char path[64];

    for (int i = 0; i < ways; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/stats", folder);
    unlink(path);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    struct way ways[] = {
        { "cuDNN alone", NULL, false, 0, 1e18 },
        { "no plan", NULL, true, 0.1, 1e18 },
        { "a plan without the call", "only=fp64", true, 1, 1e18 },
        { "the same with UCUDNN_STATS", "only=fp64", true, 1, 1e18 },
        { "planned, undivided", "only=square pieces=1", true, 1.5 + 0.3, 1e18 },
        { "planned, 2 micro-batches", "only=square pieces=2", true,
          1.5 + 2 * 0.3, 1e18 },
        { "planned, 7 micro-batches", "only=square pieces=7", true,
          1.5 + 7 * 0.3, 1e18 },
        { "the same of a WD plan", "only=square pieces=7 wd", true,
          1.5 + 7 * 0.3, 1e18 },
    };
    enum { WAYS = sizeof ways / sizeof *ways };

    if (argc == 2 && strcmp(argv[1], "--measure") == 0)
        return measure();
    build = getenv("abs_top_builddir");
    if (build == NULL || mkdtemp(folder) == NULL) {
        fprintf(stderr, "run this with make bench\n");
        return 2;
    }
    for (int i = 0; i < WAYS; i++)
        if (ways[i].plan != NULL)
            make_plan(&ways[i], i);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < WAYS; i++)
            run(&ways[i], i);
    printf("A call through libucudnn, beyond cuDNN's own:\n");
    for (int i = 1; i < WAYS; i++)
        printf("  %-34s  %+8.3f us, at most %.1f\n", ways[i].name,
               (ways[i].least_ns - ways[0].least_ns) * 1e-3, ways[i].target_us);
    print_startup();
    remove_files(WAYS);
    return 0;
}
