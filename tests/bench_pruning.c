/*
 * bench_pruning PROFILE [LIMIT]: by how much planner/prune.h would have changed
 * what is predicted, from a profile that was measured with --exhaustive.
 *
 * For every shipped network in fp32, tf32 and fp16 channels-last: the total of
 * workspace reuse under the limit (64M) from all rows of the profile's first
 * environment, and from those that pruning keeps. Fails when a total differs
 * by more than half a percent. Run by hand, not by `make check`.
 */
#include "config.h"

#include "common/bytes.h"
#include "planner/data.h"
#include "planner/plan_build.h"
#include "planner/prune.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double most_change = 0.005;

static void check(enum uc_status status, const struct uc_error *err)
{
    if (status == UC_OK)
        return;
    fprintf(stderr, "bench_pruning: %s\n", err->text);
    exit((int)status);
}

/* What pruning keeps ------------------------------------------------------*/

struct counts {
    int64_t rows, kept, engines, engines_kept;
};

static int64_t largest;

static bool is_coarse(int64_t size)
{
    return size == largest || (size & (size - 1)) == 0;
}

/** As the benchmark goes: sizes far apart first, each part falling. */
static int by_turn(const void *a, const void *b)
{
    int64_t x = ((const struct uc_measurement *)a)->micro_batch;
    int64_t y = ((const struct uc_measurement *)b)->micro_batch;

    if (is_coarse(x) != is_coarse(y))
        return is_coarse(x) ? -1 : 1;
    return (x < y) - (x > y);
}

/** What there is at a size. */
static struct uc_work_kernel *kernels_of(const struct uc_measurement *rows,
                                         size_t count)
{
    struct uc_work_kernel *list = calloc(count, sizeof *list);

    if (list == NULL)
        exit(1);
    for (size_t i = 0; i < count; i++) {
        list[i] =
            (struct uc_work_kernel){ rows[i].kernel, rows[i].accumulate,
                                     rows[i].notes, rows[i].workspace_bytes,
                                     0 };
        if (rows[i].outcome != UC_MEASURED && rows[i].outcome != UC_CUT_OFF)
            list[i].workspace_bytes = INT64_MAX; /* nothing's conqueror */
    }
    return list;
}

/** Move the rows that are kept to the front; returns how many. */
static size_t keep(struct uc_measurement *rows, size_t count)
{
    size_t kept = 0;
    struct uc_error err;

    largest = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].micro_batch > largest)
            largest = rows[i].micro_batch;
    qsort(rows, count, sizeof *rows, by_turn);
    for (size_t from = 0, to; from < count; from = to) {
        size_t before = kept;
        struct uc_work_kernel *here;
        struct uc_prune known;

        for (to = from; to < count && !by_turn(&rows[from], &rows[to]);)
            to++;
        here = kernels_of(rows + from, to - from);
        check(uc_prune_start(rows, before, &known, &err), &err);
        /* The borrowed rows stay in front of what is moved. */
        for (size_t i = from; i < to; i++)
            if (!uc_prune_leaves_out(&known, here, to - from, i - from,
                                     rows[i].micro_batch))
                rows[kept++] = rows[i];
        uc_prune_end(&known);
        free(here);
    }
    return kept;
}

static void copy_pruned(struct uc_profile *from,
                        const struct uc_profile_environment *environment,
                        struct uc_profile *to,
                        struct uc_profile_environment *pruned,
                        struct counts *counts)
{
    struct uc_problem *problems;
    size_t problem_count;
    struct uc_error err;

    *pruned = *environment;
    check(uc_profile_add_environment(to, &environment->environment, &pruned->id,
                                     &err),
          &err);
    check(uc_profile_problems(from, environment->id, &problems, &problem_count,
                              &err),
          &err);
    for (size_t i = 0; i < problem_count; i++) {
        struct uc_measurement *rows;
        size_t count, kept;

        check(uc_profile_load(from, environment->id, &problems[i], &rows,
                              &count, &err),
              &err);
        for (size_t j = 0; j < count; j++)
            counts->engines += rows[j].kernel.api == UC_API_GRAPH;
        kept = keep(rows, count);
        for (size_t j = 0; j < kept; j++)
            counts->engines_kept += rows[j].kernel.api == UC_API_GRAPH;
        counts->rows += (int64_t)count;
        counts->kept += (int64_t)kept;
        check(uc_profile_store_all(to, pruned->id, &problems[i], rows, kept,
                                   &err),
              &err);
        free(rows);
    }
    free(problems);
}

/* What is predicted -------------------------------------------------------*/

/** Total of one network; false when the profile lacks something. */
static bool predict(struct uc_profile *profile,
                    const struct uc_profile_environment *environment,
                    const struct uc_network *network, int64_t limit,
                    int64_t *predicted_ns)
{
    const struct uc_planning_options options = {
        .policy = { .kind = UC_POLICY_POWER_OF_TWO }
    };
    struct uc_planning *planning = NULL;
    struct uc_plan_totals totals;
    struct uc_plan plan;
    struct uc_error err;
    bool done = false;

    if (uc_planning_start(network, profile, environment, &options, &planning,
                          &err) == UC_OK &&
        uc_planning_reuse(planning, limit, &plan, &err) == UC_OK) {
        uc_plan_totals(&plan, &totals);
        *predicted_ns = totals.predicted_ns;
        uc_plan_free(&plan);
        done = true;
    }
    uc_planning_free(planning);
    return done;
}

/** One line of the table; false when the totals differ by too much. */
static bool compare(struct uc_profile *profiles[2],
                    const struct uc_profile_environment environments[2],
                    const char *name, enum uc_math math, int64_t limit)
{
    struct uc_network_overrides overrides = UC_NETWORK_AS_IS;
    struct uc_network network;
    int64_t ns[2] = { 0, 0 };
    char path[PATH_MAX];
    struct uc_error err;
    double change;
    bool all;

    overrides.math = (int)math;
    if (math == UC_MATH_FP16)
        overrides.layout = UC_NHWC;
    check(uc_data_find(UC_DATA_NETWORK, name, path, sizeof path, &err), &err);
    check(uc_network_read(path, &overrides, &network, &err), &err);
    all = predict(profiles[0], &environments[0], &network, limit, &ns[0]);
    if (all && !predict(profiles[1], &environments[1], &network, limit, &ns[1]))
        ns[1] = INT64_MAX; /* pruning took what nothing replaces */
    uc_network_free(&network);
    if (!all) {
        printf("%-18s %-5s not in the profile\n", name, uc_math_name(math));
        return true;
    }
    change = (double)ns[1] / (double)ns[0] - 1;
    printf("%-18s %-5s %12.4f ms %12.4f ms %+9.4f %%\n", name,
           uc_math_name(math), (double)ns[0] / 1e6, (double)ns[1] / 1e6,
           100 * change);
    return change <= most_change;
}

static struct uc_profile *new_profile(char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");
    struct uc_profile *profile;
    struct uc_error err;
    int fd;

    snprintf(path, size, "%s/bench_pruning.XXXXXX",
             folder != NULL ? folder : "/tmp");
    fd = mkstemp(path);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    close(fd);
    check(uc_profile_open(path, UC_PROFILE_WRITE, &profile, &err), &err);
    return profile;
}

int main(int argc, char **argv)
{
    static const enum uc_math maths[] = { UC_MATH_FMA, UC_MATH_TF32,
                                          UC_MATH_FP16 };
    struct uc_profile *profiles[2];
    struct uc_profile_environment environments[2], *list;
    struct counts counts = { 0, 0, 0, 0 };
    int64_t limit = 64 << 20;
    size_t name_count, count;
    char path[PATH_MAX], **names;
    struct uc_error err;
    bool good = true;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench_pruning PROFILE [LIMIT]\n");
        return 1;
    }
    if (argc == 3)
        check(uc_bytes_parse(argv[2], &limit, &err), &err);
    check(uc_profile_open(argv[1], UC_PROFILE_READ, &profiles[0], &err), &err);
    check(uc_profile_environments(profiles[0], &list, &count, &err), &err);
    if (count == 0) {
        fprintf(stderr, "bench_pruning: nothing was measured\n");
        return 1;
    }
    environments[0] = list[0];
    free(list);
    profiles[1] = new_profile(path, sizeof path);
    copy_pruned(profiles[0], &environments[0], profiles[1], &environments[1],
                &counts);
    printf("%" PRId64 " of %" PRId64 " rows kept, %" PRId64 " of %" PRId64
           " of graph engines\n",
           counts.kept, counts.rows, counts.engines_kept, counts.engines);
    check(uc_data_list(UC_DATA_NETWORK, &names, &name_count, &err), &err);
    for (size_t i = 0; i < name_count; i++)
        for (size_t m = 0; m < sizeof maths / sizeof *maths; m++)
            good = compare(profiles, environments, names[i], maths[m], limit) &&
                   good;
    uc_data_free(names, name_count);
    uc_profile_close(profiles[0]);
    uc_profile_close(profiles[1]);
    unlink(path);
    return good ? 0 : 1;
}
