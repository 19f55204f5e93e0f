/* Workspace division against enumeration and an exact dynamic programme. */
#include "config.h"

#include "planner/wd.h"

#include "tests/unit.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_OPERATIONS = 64, MAX_OPTIONS = 64 };

static uint64_t random_state;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 16;
}

static int64_t random_below(int64_t bound)
{
    return (int64_t)(random_bits() % (uint64_t)bound);
}

struct instance {
    struct uc_configuration lists[MAX_OPERATIONS][MAX_OPTIONS];
    struct uc_desirable sets[MAX_OPERATIONS];
    struct uc_wd_operation operations[MAX_OPERATIONS];
    size_t set_count, count;
    int64_t least; /* sum of the least workspaces */
    int64_t most;  /* sum of the largest ones */
};
static struct instance x;

static int compare(const void *a, const void *b)
{
    int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;

    return (i > j) - (i < j);
}

/** Ascending workspaces, falling times, as every desirable set has. */
static void random_set(size_t index, int64_t bytes, int64_t unit, int64_t ns)
{
    int64_t workspace[MAX_OPTIONS] = { 0 }, time[MAX_OPTIONS] = { 0 };
    struct uc_desirable *set = &x.sets[index];

    for (size_t i = 0; i < set->count; i++) {
        workspace[i] = random_below(bytes) * unit;
        time[i] = 1 + random_below(ns);
    }
    qsort(workspace, set->count, sizeof *workspace, compare);
    qsort(time, set->count, sizeof *time, compare);
    for (size_t i = 1; i < set->count; i++) {
        if (workspace[i] <= workspace[i - 1])
            workspace[i] = workspace[i - 1] + unit;
        if (time[i] <= time[i - 1])
            time[i] = time[i - 1] + 1;
    }
    set->list = x.lists[index];
    for (size_t i = 0; i < set->count; i++)
        set->list[i] =
            (struct uc_configuration){ .workspace_bytes = workspace[i],
                                       .time_ns = time[set->count - 1 - i] };
}

static void random_instance(size_t sets, size_t operations, size_t options,
                            int64_t repeat, int64_t bytes, int64_t unit,
                            int64_t ns)
{
    memset(&x, 0, sizeof x);
    x.set_count = sets;
    x.count = operations;
    for (size_t i = 0; i < sets; i++) {
        x.sets[i].count = 1 + (size_t)random_below((int64_t)options);
        random_set(i, bytes, unit, ns);
    }
    for (size_t i = 0; i < operations; i++) {
        const struct uc_desirable *set =
            &x.sets[i < sets ? i : (size_t)random_below((int64_t)sets)];

        x.operations[i].set = set;
        x.operations[i].repeat = 1 + random_below(repeat);
        x.least += x.operations[i].repeat * set->list[0].workspace_bytes;
        x.most +=
            x.operations[i].repeat * set->list[set->count - 1].workspace_bytes;
    }
}

/** Try every choice of every copy; -1: nothing fits. */
static int64_t enumerate(size_t operation, int64_t copy, int64_t left)
{
    const struct uc_desirable *set;
    int64_t best = -1;

    if (operation == x.count)
        return 0;
    if (copy == x.operations[operation].repeat)
        return enumerate(operation + 1, 0, left);
    set = x.operations[operation].set;
    for (size_t i = 0; i < set->count; i++) {
        int64_t rest, time = set->list[i].time_ns;

        if (set->list[i].workspace_bytes > left)
            break;
        rest =
            enumerate(operation, copy + 1, left - set->list[i].workspace_bytes);
        if (rest >= 0 && (best < 0 || rest + time < best))
            best = rest + time;
    }
    return best;
}

/** The result is a division of the total, and adds up. */
static void check_result(const struct uc_wd_result *result, int64_t total)
{
    int64_t time = 0, workspace = 0, copies[MAX_OPERATIONS] = { 0 };

    for (size_t i = 0; i < result->choice_count; i++) {
        const struct uc_wd_choice *choice = &result->choices[i];
        const struct uc_desirable *set;

        assert_true(choice->operation < x.count);
        set = x.operations[choice->operation].set;
        assert_true(choice->index < set->count);
        assert_true(choice->count >= 1);
        if (i > 0)
            assert_true(choice->operation >= choice[-1].operation);
        copies[choice->operation] += choice->count;
        time += choice->count * set->list[choice->index].time_ns;
        workspace += choice->count * set->list[choice->index].workspace_bytes;
    }
    for (size_t i = 0; i < x.count; i++)
        assert_int_equal(copies[i], x.operations[i].repeat);
    assert_int_equal(time, result->time_ns);
    assert_int_equal(workspace, result->workspace_bytes);
    assert_true(workspace <= total);
}

static struct uc_wd_result solve(int64_t total, double gap)
{
    struct uc_wd_options options = { total, gap, 0 };
    struct uc_wd_result result;
    struct uc_error err;

    assert_int_equal(
        uc_wd_solve(x.operations, x.count, &options, &result, &err), UC_OK);
    check_result(&result, total);
    assert_true(result.gap <= gap);
    assert_false(result.time_ran_out);
    return result;
}

static void infeasible_names_the_least_total(int64_t total)
{
    struct uc_wd_options options = { total, 0, 0 };
    struct uc_wd_result result, before;
    struct uc_error err;
    char least[64];

    memset(&result, 0x5a, sizeof result);
    before = result;
    assert_int_equal(
        uc_wd_solve(x.operations, x.count, &options, &result, &err), UC_ENOFIT);
    assert_memory_equal(&result, &before, sizeof result);
    snprintf(least, sizeof least, "would do is %" PRId64 " bytes", x.least);
    assert_non_null(strstr(err.text, least));
}

static void answers_equal_enumeration(void **state)
{
    /* Totals of one digit and of two, see wd_branch.c. */
    const int64_t bytes[] = { 4, 1000, (int64_t)1 << 22, (int64_t)1 << 36 };

    (void)state;
    random_state = 88172645463325252u;
    for (int i = 0; i < 1500; i++) {
        size_t sets = 1 + (size_t)random_below(4);
        struct uc_wd_result result;
        int64_t total, best;

        random_instance(sets, sets + (size_t)random_below(2), 4, 2,
                        bytes[random_below(4)], 1 + 255 * random_below(2),
                        random_below(2) ? 10 : 100000);
        total = x.least + random_below(x.most - x.least + 10) - random_below(3);
        if (random_below(8) == 0)
            total = x.least;
        if (total < 0)
            continue;
        best = enumerate(0, 0, total);
        if (best < 0) {
            infeasible_names_the_least_total(total);
            continue;
        }
        result = solve(total, 0);
        assert_int_equal(result.time_ns, best);
        /* The same answer in exactly what it needs: equality fits. */
        total = result.workspace_bytes;
        uc_wd_free(&result);
        result = solve(total, 0);
        assert_int_equal(result.time_ns, best);
        uc_wd_free(&result);
    }
}

/** Least time by workspace in units: exact, copy by copy. */
static int64_t dynamic_programme(int64_t total, int64_t unit)
{
    size_t width = (size_t)(total / unit) + 1;
    int64_t *best = calloc(width, sizeof *best);
    int64_t answer;

    assert_non_null(best);
    for (size_t i = 0; i < x.count; i++)
        for (int64_t copy = 0; copy < x.operations[i].repeat; copy++)
            for (size_t left = width; left-- > 0;) {
                const struct uc_desirable *set = x.operations[i].set;
                int64_t least = INT64_MAX / 4;

                for (size_t j = 0; j < set->count; j++) {
                    size_t need = (size_t)(set->list[j].workspace_bytes / unit);

                    if (need <= left &&
                        best[left - need] + set->list[j].time_ns < least)
                        least = best[left - need] + set->list[j].time_ns;
                }
                best[left] = least;
            }
    answer = best[width - 1];
    free(best);
    return answer;
}

static void answers_equal_a_dynamic_programme(void **state)
{
    (void)state;
    random_state = 362436069u;
    for (int i = 0; i < 60; i++) {
        int64_t unit = random_below(2) ? 1 : 4096;
        struct uc_wd_result result;
        int64_t total, best;

        random_instance(10 + (size_t)random_below(20), 30, 12,
                        1 + random_below(4), 60, unit,
                        random_below(2) ? 60 : 1000000);
        total = x.least + (x.most - x.least) * (1 + random_below(9)) / 10;
        best = dynamic_programme(total, unit);
        result = solve(total, 0);
        assert_int_equal(result.time_ns, best);
        uc_wd_free(&result);
        result = solve(total, 1e-3);
        assert_true(result.time_ns >= best);
        assert_true((double)(result.time_ns - best) <=
                    result.gap * (double)result.time_ns + 1e-6);
        uc_wd_free(&result);
    }
}

static void at_least_as_fast_as_reuse_with_what_that_takes(void **state)
{
    (void)state;
    random_state = 521288629u;
    for (int i = 0; i < 200; i++) {
        int64_t limit, total = 0, time = 0;
        struct uc_wd_result result;
        bool fits = true;

        random_instance(20, 25, 10, 3, 100000, 1, 100000);
        limit = 30000 + random_below(70000);
        for (size_t j = 0; j < x.count; j++) {
            const struct uc_configuration *config =
                uc_desirable_within(x.operations[j].set, limit);

            fits = fits && config;
            if (!config)
                continue;
            total += x.operations[j].repeat * config->workspace_bytes;
            time += x.operations[j].repeat * config->time_ns;
        }
        if (!fits)
            continue;
        result = solve(total, 0);
        assert_true(result.time_ns <= time);
        uc_wd_free(&result);
    }
}

static void workspaces_too_long_to_be_exact_still_fit(void **state)
{
    (void)state;
    random_state = 123456789u;
    for (int i = 0; i < 300; i++) {
        struct uc_wd_options options = { 0 };
        struct uc_wd_result result;
        struct uc_error err;
        int64_t total, best;

        random_instance(4, 4, 4, 2, (int64_t)1 << 46, 1, 1000);
        total = x.least + random_below(x.most - x.least + 1);
        best = enumerate(0, 0, total);
        options.total_bytes = total;
        assert_int_equal(
            uc_wd_solve(x.operations, x.count, &options, &result, &err), UC_OK);
        check_result(&result, total);
        assert_true((double)(result.time_ns - best) <=
                    result.gap * (double)result.time_ns + 1e-6);
        assert_int_equal(result.time_ns, best);
        uc_wd_free(&result);
    }
}

static void many_copies_are_counted_not_listed(void **state)
{
    struct uc_wd_result result;

    (void)state;
    random_state = 77u;
    random_instance(3, 3, 2, 1, 1000, 1, 1000);
    for (size_t i = 0; i < 3; i++) {
        x.sets[i].count = 2;
        random_set(i, 1000, 1, 1000);
        x.operations[i].repeat = 1000000;
    }
    result = solve((int64_t)3000 * 1000000 / 2, 1e-6);
    assert_true(result.choice_count <= 6);
    uc_wd_free(&result);
}

static void a_time_limit_gives_the_best_found_and_its_gap(void **state)
{
    struct uc_wd_options options = { 0, 0, 0.001 };
    struct uc_wd_result result;
    struct uc_error err;

    (void)state;
    random_state = 4242u;
    random_instance(60, 60, 60, 1, (int64_t)1 << 30, 1, 1 << 30);
    options.total_bytes = (x.least + x.most) / 2;
    assert_int_equal(
        uc_wd_solve(x.operations, x.count, &options, &result, &err), UC_OK);
    check_result(&result, options.total_bytes);
    assert_true(result.gap >= 0 && result.gap < 0.01);
    if (result.time_ran_out)
        assert_true(result.gap > 0);
    uc_wd_free(&result);
}

static void sums_over_64_bits_are_refused(void **state)
{
    struct uc_wd_options options = { INT64_MAX, 0, 0 };
    struct uc_wd_result result;
    struct uc_error err;

    (void)state;
    random_state = 5u;
    random_instance(2, 3, 1, 1, 10, 1, 10);
    x.sets[0].list[0].time_ns = INT64_MAX / 2;
    assert_int_equal(
        uc_wd_solve(x.operations, x.count, &options, &result, &err), UC_EINPUT);
    x.sets[0].list[0].time_ns = 1;
    x.sets[0].list[0].workspace_bytes = INT64_MAX / 2 + 2;
    x.operations[0].repeat = 2;
    assert_int_equal(
        uc_wd_solve(x.operations, x.count, &options, &result, &err), UC_ENOFIT);
    x.operations[0].repeat = INT64_MAX;
    x.operations[2].set = x.operations[0].set;
    assert_int_equal(
        uc_wd_solve(x.operations, x.count, &options, &result, &err), UC_EINPUT);
}

static void an_operation_without_configurations_does_not_fit(void **state)
{
    struct uc_wd_options options = { INT64_MAX, 0, 0 };
    struct uc_wd_result result;
    struct uc_error err;

    (void)state;
    random_state = 6u;
    random_instance(2, 2, 1, 1, 10, 1, 10);
    x.sets[1].count = 0;
    assert_int_equal(
        uc_wd_solve(x.operations, x.count, &options, &result, &err), UC_ENOFIT);
    assert_string_equal(err.text, "operation 1 has no configuration");
}

static void no_operations_take_no_time(void **state)
{
    struct uc_wd_options options = { 0 };
    struct uc_wd_result result;
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_wd_solve(NULL, 0, &options, &result, &err), UC_OK);
    assert_int_equal(result.choice_count, 0);
    assert_int_equal(result.time_ns, 0);
    uc_wd_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_equal_enumeration),
        cmocka_unit_test(answers_equal_a_dynamic_programme),
        cmocka_unit_test(at_least_as_fast_as_reuse_with_what_that_takes),
        cmocka_unit_test(workspaces_too_long_to_be_exact_still_fit),
        cmocka_unit_test(many_copies_are_counted_not_listed),
        cmocka_unit_test(a_time_limit_gives_the_best_found_and_its_gap),
        cmocka_unit_test(sums_over_64_bits_are_refused),
        cmocka_unit_test(an_operation_without_configurations_does_not_fit),
        cmocka_unit_test(no_operations_take_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
