/*
 * bench_pruning PROFILE [LIMIT]: by how much planner/prune.h would have changed
 * what is predicted, from a profile that was measured with --exhaustive.
 *
 * For every shipped network in fp32, tf32 and fp16 channels-last: the total of
 * workspace reuse under the limit (64M) from all rows of the profile's first
 * environment and from those that pruning keeps; and by how much the latter
 * could be slower at most: where no search is on record that pruned nothing, an
 * engine is supposed that needs no workspace and is as fast as the fastest
 * kernel of the whole profile. What only --tune finds, and what the options of
 * bench left out, is not looked at.
 *
 * Fails when pruning makes a total slower by more than half a percent, and when
 * nothing is shown: too little was measured where it could. Run by hand, not by
 * `make check`.
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

enum { MOST_SUPPOSED = 2 * 64 }; /* sizes of a problem by beta case */

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
    int64_t supposed, floor_ns;
};

static int64_t largest;

static bool is_coarse(int64_t size)
{
    return size == largest || (size & (size - 1)) == 0;
}

/** The next coarse size; past the largest there is none that counts. */
static int64_t next_size(int64_t size)
{
    return size < largest && 2 * size > largest ? largest : 2 * size;
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
                                     rows[i].notes, rows[i].workspace_bytes };
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
            if (rows[i].kernel.api == UC_API_LEGACY ||
                !uc_prune_leaves_out(&known, here, to - from, i - from,
                                     rows[i].micro_batch))
                rows[kept++] = rows[i];
        uc_prune_end(&known);
        free(here);
    }
    return kept;
}

/* What was not measured ---------------------------------------------------*/

/** Whether a search is on record that pruned nothing. */
static bool is_complete(const struct uc_search *searches, size_t count,
                        int64_t micro_batch, bool accumulate)
{
    const struct uc_search *search =
        uc_search_find(searches, count, UC_API_GRAPH, micro_batch, accumulate);

    return search != NULL && search->pruned == 0;
}

/** Where something may not have been measured, as good an engine as could be;
    `room` has place for MOST_SUPPOSED of them. Returns how many. */
static size_t suppose(const struct uc_problem *problem,
                      const struct uc_search *searches, size_t search_count,
                      int64_t floor_ns, struct uc_measurement *room)
{
    int cases = problem->operation == UC_BACKWARD_FILTER ? 2 : 1;
    size_t count = 0;

    for (int64_t size = 1; size <= largest; size = next_size(size))
        for (int beta = 0; beta < cases; beta++) {
            if ((beta == 1 && size == largest) || /* there is no second piece */
                is_complete(searches, search_count, size, beta == 1))
                continue;
            room[count++] =
                (struct uc_measurement){ .micro_batch = size,
                                         .accumulate = beta == 1,
                                         .kernel = { .api = UC_API_GRAPH,
                                                     .engine = UC_ENGINES - 1 },
                                         .outcome = UC_MEASURED,
                                         .time_ns = floor_ns,
                                         .error = -1,
                                         .calls = 1 };
        }
    return count;
}

/* The profiles ------------------------------------------------------------*/

enum { ALL, PRUNED, BOUND, PROFILES };

/** One file's environment that is looked at. */
struct side {
    struct uc_profile *profile;
    struct uc_profile_environment environment;
    char path[PATH_MAX]; /**< to be removed in the end; "": is not ours */
};

static void load(const struct side *all, const struct uc_problem *problem,
                 struct uc_measurement **rows, size_t *count)
{
    struct uc_error err;

    check(uc_profile_load(all->profile, all->environment.id, problem, rows,
                          count, &err),
          &err);
}

static void store(const struct side *to, const struct uc_problem *problem,
                  const struct uc_measurement *rows, size_t count)
{
    struct uc_error err;

    check(uc_profile_store_all(to->profile, to->environment.id, problem, rows,
                               count, &err),
          &err);
}

static int64_t fastest_of_all(const struct side *all,
                              const struct uc_problem *problems, size_t count)
{
    int64_t floor_ns = INT64_MAX;

    for (size_t i = 0; i < count; i++) {
        struct uc_measurement *rows;
        size_t row_count;

        load(all, &problems[i], &rows, &row_count);
        for (size_t j = 0; j < row_count; j++)
            if (rows[j].outcome == UC_MEASURED && rows[j].time_ns < floor_ns)
                floor_ns = rows[j].time_ns;
        free(rows);
    }
    return floor_ns;
}

/** Fill the other two from the first. */
static void derive(const struct side sides[PROFILES],
                   const struct uc_problem *problem, int64_t floor_ns,
                   struct counts *counts)
{
    const struct side *all = &sides[ALL];
    struct uc_measurement *rows;
    struct uc_search *searches;
    struct uc_measurement supposed[MOST_SUPPOSED];
    size_t count, search_count, kept;
    struct uc_error err;

    load(all, problem, &rows, &count);
    store(&sides[BOUND], problem, rows, count);
    for (size_t i = 0; i < count; i++)
        counts->engines += rows[i].kernel.api == UC_API_GRAPH;
    kept = keep(rows, count);
    for (size_t i = 0; i < kept; i++)
        counts->engines_kept += rows[i].kernel.api == UC_API_GRAPH;
    counts->rows += (int64_t)count;
    counts->kept += (int64_t)kept;
    store(&sides[PRUNED], problem, rows, kept);
    free(rows);
    check(uc_profile_load_searches(all->profile, all->environment.id, problem,
                                   &searches, &search_count, &err),
          &err);
    count = suppose(problem, searches, search_count, floor_ns, supposed);
    store(&sides[BOUND], problem, supposed, count);
    counts->supposed += (int64_t)count;
    free(searches);
}

static void derive_all(const struct side sides[PROFILES], struct counts *counts)
{
    const struct side *all = &sides[ALL];
    struct uc_problem *problems;
    struct uc_error err;
    size_t count;

    check(uc_profile_problems(all->profile, all->environment.id, &problems,
                              &count, &err),
          &err);
    counts->floor_ns = fastest_of_all(all, problems, count);
    for (size_t i = 0; i < count; i++)
        derive(sides, &problems[i], counts->floor_ns, counts);
    free(problems);
}

/* What is predicted -------------------------------------------------------*/

/** Total of one network; false when the profile lacks something. */
static bool predict(const struct side *side, const struct uc_network *network,
                    int64_t limit, int64_t *predicted_ns)
{
    const struct uc_planning_options options = {
        .policy = { .kind = UC_POLICY_POWER_OF_TWO }
    };
    struct uc_planning *planning = NULL;
    struct uc_plan_totals totals;
    struct uc_plan plan;
    struct uc_error err;
    enum uc_status status = uc_planning_start(
        network, side->profile, &side->environment, &options, &planning, &err);

    if (status == UC_OK)
        status = uc_planning_reuse(planning, limit, &plan, &err);
    uc_planning_free(planning);
    if (status == UC_EMISSING || status == UC_ENOFIT)
        return false;
    check(status, &err);
    uc_plan_totals(&plan, &totals);
    *predicted_ns = totals.predicted_ns;
    uc_plan_free(&plan);
    return true;
}

enum verdict { ABSENT, UNKNOWN, GOOD, BAD };

/** One line of the table. */
static enum verdict compare(const struct side sides[PROFILES], const char *name,
                            enum uc_math math, int64_t limit)
{
    struct uc_network_overrides overrides = UC_NETWORK_AS_IS;
    struct uc_network network;
    int64_t ns[PROFILES];
    char path[PATH_MAX];
    struct uc_error err;
    double change, most;
    enum verdict verdict;
    bool all;

    overrides.math = (int)math;
    if (math == UC_MATH_FP16)
        overrides.layout = UC_NHWC;
    check(uc_data_find(UC_DATA_NETWORK, name, path, sizeof path, &err), &err);
    check(uc_network_read(path, &overrides, &network, &err), &err);
    all = predict(&sides[ALL], &network, limit, &ns[ALL]) &&
          predict(&sides[BOUND], &network, limit, &ns[BOUND]);
    if (all && !predict(&sides[PRUNED], &network, limit, &ns[PRUNED]))
        ns[PRUNED] = INT64_MAX; /* pruning took what nothing replaces */
    uc_network_free(&network);
    if (!all) {
        printf("%-18s %-5s not in the profile\n", name, uc_math_name(math));
        return ABSENT;
    }
    change = (double)ns[PRUNED] / (double)ns[ALL] - 1;
    most = (double)ns[PRUNED] / (double)ns[BOUND] - 1;
    verdict = change > most_change ? BAD : most > most_change ? UNKNOWN : GOOD;
    printf("%-18s %-5s %12.4f ms %12.4f ms %+9.4f %% %+9.4f %%%s\n", name,
           uc_math_name(math), (double)ns[ALL] / 1e6, (double)ns[PRUNED] / 1e6,
           100 * change, 100 * most,
           verdict == UNKNOWN ? " (too little was measured)" : "");
    return verdict;
}

static struct side new_side(const struct uc_profile_environment *like)
{
    const char *folder = getenv("TMPDIR");
    struct side side = { .environment = *like };
    struct uc_error err;
    int fd;

    snprintf(side.path, sizeof side.path, "%s/bench_pruning.XXXXXX",
             folder != NULL ? folder : "/tmp");
    fd = mkstemp(side.path);
    if (fd < 0) {
        perror(side.path);
        exit(1);
    }
    close(fd);
    check(uc_profile_open(side.path, UC_PROFILE_WRITE, &side.profile, &err),
          &err);
    check(uc_profile_add_environment(side.profile, &like->environment,
                                     &side.environment.id, &err),
          &err);
    return side;
}

static void open_sides(const char *path, struct side sides[PROFILES])
{
    struct uc_profile_environment *list;
    struct uc_error err;
    size_t count;

    check(uc_profile_open(path, UC_PROFILE_READ, &sides[ALL].profile, &err),
          &err);
    check(uc_profile_environments(sides[ALL].profile, &list, &count, &err),
          &err);
    if (count == 0) {
        fprintf(stderr, "bench_pruning: nothing was measured\n");
        exit(1);
    }
    sides[ALL].environment = list[0];
    free(list);
    sides[PRUNED] = new_side(&sides[ALL].environment);
    sides[BOUND] = new_side(&sides[ALL].environment);
}

int main(int argc, char **argv)
{
    static const enum uc_math maths[] = { UC_MATH_FMA, UC_MATH_TF32,
                                          UC_MATH_FP16 };
    struct side sides[PROFILES] = { 0 };
    struct counts counts = { 0 };
    int64_t limit = 64 << 20;
    size_t name_count;
    char **names;
    struct uc_error err;
    int verdicts[BAD + 1] = { 0 };

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench_pruning PROFILE [LIMIT]\n");
        return 1;
    }
    if (argc == 3)
        check(uc_bytes_parse(argv[2], &limit, &err), &err);
    open_sides(argv[1], sides);
    derive_all(sides, &counts);
    printf("%" PRId64 " of %" PRId64 " rows kept, %" PRId64 " of %" PRId64
           " of graph engines\n",
           counts.kept, counts.rows, counts.engines_kept, counts.engines);
    printf("at %" PRId64 " sizes not all may have been measured; \"at most\" "
           "supposes %.3f us there\n",
           counts.supposed, (double)counts.floor_ns / 1e3);
    printf("%-18s %-5s %15s %15s %11s %11s\n", "network", "math", "all rows",
           "pruned", "slower", "at most");
    check(uc_data_list(UC_DATA_NETWORK, &names, &name_count, &err), &err);
    for (size_t i = 0; i < name_count; i++)
        for (size_t m = 0; m < sizeof maths / sizeof *maths; m++)
            verdicts[compare(sides, names[i], maths[m], limit)]++;
    uc_data_free(names, name_count);
    for (int i = 0; i < PROFILES; i++) {
        uc_profile_close(sides[i].profile);
        if (sides[i].path[0] != '\0')
            unlink(sides[i].path);
    }
    return verdicts[BAD] == 0 && verdicts[GOOD] > 0 ? 0 : 1;
}
