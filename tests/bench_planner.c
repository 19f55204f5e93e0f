/*
 * How long the planner's mathematics takes, on synthetic measurements:
 * `make bench`. A benchmark, not a test: it compares nothing.
 */
#include "config.h"

#include "planner/desirable.h"
#include "planner/network.h"
#include "planner/policy.h"
#include "planner/wd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { KERNELS = 8, MAX_OPERATIONS = 512 };

static uint64_t random_state = 88172645463325252u;

static double random_share(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void check(enum uc_status status, const struct uc_error *err)
{
    if (status == UC_OK)
        return;
    fprintf(stderr, "bench_planner: %s\n", err->text);
    exit((int)status);
}

static void *need(void *memory)
{
    struct uc_error err;

    if (!memory)
        check(uc_no_memory(&err), &err);
    return memory;
}

/**
 * Rows as cuDNN gives them: the lean algorithm is slow, those that transform
 * need workspace in steps of tiles, some have a part that no batch pays for;
 * times and workspaces are not monotone in the size.
 */
static struct uc_micro *synthetic_rows(double macs, double image_bytes,
                                       const int64_t *sizes, size_t count)
{
    struct uc_micro *rows = need(malloc(count * KERNELS * sizeof *rows));
    size_t at = 0;

    for (int k = 0; k < KERNELS; k++) {
        double speed = macs / 2e4 * (1.6 - 0.15 * k) / (0.6 + random_share());
        double start = 4000 + 3000 * k * random_share();
        double bytes = k == 0 ? 0 : image_bytes * k * (0.2 + random_share());
        double fixed = k < 4 ? 0 : image_bytes * 8 * random_share();
        int64_t tile = 1 + k % 4 * 4;

        for (size_t i = 0; i < count; i++) {
            int64_t tiles = (sizes[i] + tile - 1) / tile;
            double images = (double)(tiles * tile);

            rows[at] = (struct uc_micro){
                .size = sizes[i],
                .workspace_bytes = (int64_t)(fixed + bytes * images) / 16 * 16,
                .time_ns = (int64_t)((start + speed * images) *
                                     (1 + 0.06 * random_share())),
                .spread_ns = 200,
                .kernel = (int)at
            };
            at++;
        }
    }
    return rows;
}

struct work {
    struct uc_candidates candidates[MAX_OPERATIONS];
    struct uc_desirable sets[MAX_OPERATIONS];
    int64_t repeats[MAX_OPERATIONS];
    size_t count, rows;
};

static void add_operation(struct work *work, const struct uc_problem *problem,
                          int64_t batch, int64_t repeat,
                          const struct uc_policy *policy)
{
    struct uc_candidates *c = &work->candidates[work->count];
    double macs = uc_problem_macs(problem, 1), image;
    int64_t bytes, *sizes;
    struct uc_error err;
    size_t count;

    check(uc_problem_tensor_bytes(problem, UC_X, 1, &bytes, &err), &err);
    image = (double)bytes;
    check(uc_policy_sizes(policy, batch, &sizes, &count, &err), &err);
    c->batch = batch;
    c->first = c->rest = synthetic_rows(macs, image, sizes, count);
    c->first_count = c->rest_count = count * KERNELS;
    work->rows += c->rest_count;
    if (problem->operation == UC_BACKWARD_FILTER) {
        c->first = synthetic_rows(macs, image, sizes, count);
        work->rows += c->first_count;
    }
    free(sizes);
    work->repeats[work->count++] = repeat;
}

static void load(struct work *work, const char *name, const char *policy_text,
                 bool all_operations)
{
    const char *folder = getenv("UCUDNN_DATA_DIR");
    struct uc_network_overrides as_is = UC_NETWORK_AS_IS;
    struct uc_network network;
    struct uc_policy policy;
    struct uc_error err;
    char path[1024];

    memset(work, 0, sizeof *work);
    snprintf(path, sizeof path, "%s/networks/%s.json", folder ? folder : "db",
             name);
    check(uc_network_read(path, &as_is, &network, &err), &err);
    check(uc_policy_parse(policy_text, &policy, &err), &err);
    for (size_t i = 0; i < network.layer_count; i++)
        for (int o = 0; o < UC_OPERATIONS; o++) {
            struct uc_problem problem = network.layers[i].problem;

            problem.operation = (enum uc_operation)o;
            if (all_operations || network.layers[i].runs[o])
                add_operation(work, &problem, network.batch,
                              network.layers[i].repeat, &policy);
        }
    uc_network_free(&network);
}

static void unload(struct work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        struct uc_candidates *c = &work->candidates[i];

        if (c->first != c->rest)
            free((void *)c->first);
        free((void *)c->rest);
    }
}

static size_t build(struct work *work, double min_gain)
{
    struct uc_desirable_options options = { 0, min_gain };
    struct uc_error err;
    size_t desirable = 0;

    for (size_t i = 0; i < work->count; i++) {
        check(uc_desirable_build(&work->candidates[i], &options, &work->sets[i],
                                 &err),
              &err);
        desirable += work->sets[i].count;
    }
    return desirable;
}

static void drop(struct work *work)
{
    for (size_t i = 0; i < work->count; i++)
        uc_desirable_free(&work->sets[i]);
}

static struct uc_wd_result divide(const struct work *work, int64_t total)
{
    struct uc_wd_options options = { total, 1e-4, 0 };
    struct uc_wd_operation operations[MAX_OPERATIONS];
    struct uc_wd_result result;
    struct uc_error err;

    for (size_t i = 0; i < work->count; i++)
        operations[i] =
            (struct uc_wd_operation){ &work->sets[i], work->repeats[i] };
    check(uc_wd_solve(operations, work->count, &options, &result, &err), &err);
    return result;
}

static void report(const char *what, double ms, double target_ms)
{
    printf("%-58s %10.3f ms  (target %g ms)\n", what, ms, target_ms);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void bench_alexnet(void)
{
    static struct work work;
    double best = 1e9, start;
    size_t desirable = 0, answers = 0;

    load(&work, "alexnet", "all", true);
    for (int i = 0; i < 10; i++) {
        start = now_ms();
        desirable = build(&work, 0);
        best = least(best, now_ms() - start);
        drop(&work);
    }
    report("AlexNet, policy all, batch 256: desirable sets", best, 20);
    printf("    %zu operations, %zu rows, %zu desirable configurations\n",
           work.count, work.rows, desirable);
    unload(&work);

    load(&work, "alexnet", "power-of-two", true);
    best = 1e9;
    for (int i = 0; i < 100; i++) {
        start = now_ms();
        build(&work, 0.01);
        for (size_t j = 0; j < work.count; j++)
            answers += uc_desirable_within(&work.sets[j], 64 << 20) != NULL;
        best = least(best, now_ms() - start);
        drop(&work);
    }
    report("AlexNet, power-of-two: every WR answer", best, 0.5);
    printf("    %zu operations, %zu rows, %zu answers\n", work.count, work.rows,
           answers / 100);
    unload(&work);
}

static void bench_resnet50(void)
{
    static struct work work;
    double best = 1e9, start, gap = 0;
    int64_t time = 0, copies = 0;

    load(&work, "resnet50", "power-of-two", false);
    for (size_t i = 0; i < work.count; i++)
        copies += work.repeats[i];
    for (int i = 0; i < 20; i++) {
        struct uc_wd_result result;

        start = now_ms();
        build(&work, 0.01);
        for (size_t j = 0; j < work.count; j++)
            time += uc_desirable_within(&work.sets[j], 64 << 20) != NULL;
        result = divide(&work, (int64_t)1 << 30);
        best = least(best, now_ms() - start);
        gap = result.gap;
        uc_wd_free(&result);
        drop(&work);
    }
    report("ResNet-50, power-of-two: WR and WD together", best, 20);
    printf("    %zu operations (%" PRId64 " with repeats), %zu rows, gap "
           "%.1e\n",
           work.count, copies, work.rows, gap);
    unload(&work);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void bench_division(double mip_gap, const char *what, double target)
{
    enum { OPERATIONS = 1000, OPTIONS = 50 };
    static struct uc_configuration lists[OPERATIONS][OPTIONS];
    static struct uc_desirable sets[OPERATIONS];
    static struct uc_wd_operation operations[OPERATIONS];
    struct uc_wd_options options = { 0, mip_gap, 0 };
    struct uc_wd_result result;
    struct uc_error err;
    double start, most = 0;

    for (size_t i = 0; i < OPERATIONS; i++) {
        int64_t bytes[OPTIONS], ns[OPTIONS];
        double scale = 1e6 + 3e8 * random_share();

        for (int j = 0; j < OPTIONS; j++) {
            bytes[j] = (int64_t)(scale * random_share()) / 16 * 16;
            ns[j] = 20000 + (int64_t)(scale / 300 * random_share());
        }
        qsort(bytes, OPTIONS, sizeof *bytes, ascending);
        qsort(ns, OPTIONS, sizeof *ns, ascending);
        for (int j = 0; j < OPTIONS; j++) {
            lists[i][j].workspace_bytes = bytes[j] + 16 * j;
            lists[i][j].time_ns = ns[OPTIONS - 1 - j] - j;
        }
        most += (double)lists[i][OPTIONS - 1].workspace_bytes;
        sets[i] = (struct uc_desirable){ lists[i], OPTIONS };
        operations[i] = (struct uc_wd_operation){ &sets[i], 1 };
    }
    options.total_bytes = (int64_t)(most * 0.3);
    start = now_ms();
    check(uc_wd_solve(operations, OPERATIONS, &options, &result, &err), &err);
    report(what, now_ms() - start, target);
    printf("    gap proven %.1e\n", result.gap);
    uc_wd_free(&result);
}

int main(void)
{
    struct rusage usage;

    bench_alexnet();
    bench_resnet50();
    bench_division(1e-4, "WD, 1,000 operations x 50, gap 1e-4", 2000);
    bench_division(0, "WD, 1,000 operations x 50, gap 0", 2000);
    getrusage(RUSAGE_SELF, &usage);
    printf("%-58s %10.1f MiB (target 200 MiB)\n", "peak memory",
           (double)usage.ru_maxrss / 1024);
    return 0;
}
