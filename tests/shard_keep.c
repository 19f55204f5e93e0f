#include "config.h"

/* Shares: disjoint, together the whole, balanced, and what Slurm says. */

#include "planner/shard.h"

#include "tests/unit.h"

#include <stdlib.h>

static char *networks[] = { (char *)"alexnet", (char *)"resnet18",
                            (char *)"alexnet", (char *)"vgg16" };

static void read_all(struct uc_workload *work)
{
    const struct uc_network_overrides as_is = UC_NETWORK_AS_IS;
    struct uc_error err;

    assert_int_equal(
        uc_workload_read(networks, UNIT_COUNT(networks), &as_is, work, &err),
        UC_OK);
}

static bool holds(const struct uc_workload *work,
                  const struct uc_network_operation *op, int64_t batch)
{
    for (size_t i = 0; i < work->operation_count; i++)
        if (work->operations[i].layer->problem.k == op->layer->problem.k &&
            work->batches[i] == batch &&
            uc_problem_equal(&work->operations[i].problem, &op->problem))
            return true;
    return false;
}

static void shares_are_disjoint_and_make_up_the_whole(void **state)
{
    static const int64_t counts[] = { 1, 2, 3, 7, 16, 500 };
    struct uc_workload whole;

    (void)state;
    read_all(&whole);
    for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
        size_t operations = 0, sum = 0, all = 0;
        struct uc_workload *shares = calloc((size_t)counts[c], sizeof *shares);

        assert_non_null(shares);
        for (int64_t s = 0; s < counts[c]; s++) {
            struct uc_shard shard = { s + 1, counts[c] };
            struct uc_error err;
            size_t problems[2];

            read_all(&shares[s]);
            assert_int_equal(uc_shard_keep(&shard, &shares[s], problems, &err),
                             UC_OK);
            operations += shares[s].operation_count;
            sum += problems[1];
            all = problems[0];
        }
        assert_int_equal(operations, whole.operation_count);
        assert_int_equal(sum, all);
        for (size_t i = 0; i < whole.operation_count; i++) {
            int found = 0;

            for (int64_t s = 0; s < counts[c]; s++)
                found +=
                    holds(&shares[s], &whole.operations[i], whole.batches[i]);
            assert_int_equal(found, 1);
        }
        for (int64_t s = 0; s < counts[c]; s++)
            uc_workload_free(&shares[s]);
        free(shares);
    }
    uc_workload_free(&whole);
}

/** By multiply-adds of distinct problems, none is far above the mean. */
static void shares_are_about_as_large(void **state)
{
    enum { SHARES = 4 };
    double loads[SHARES] = { 0 }, sum = 0;

    (void)state;
    for (int64_t s = 0; s < SHARES; s++) {
        struct uc_shard shard = { s + 1, SHARES };
        struct uc_workload work;
        struct uc_error err;
        size_t problems[2];

        read_all(&work);
        assert_int_equal(uc_shard_keep(&shard, &work, problems, &err), UC_OK);
        for (size_t i = 0; i < work.operation_count; i++) {
            bool seen = false;

            for (size_t j = 0; j < i; j++)
                seen |= uc_problem_equal(&work.operations[j].problem,
                                         &work.operations[i].problem);
            if (!seen)
                loads[s] += uc_problem_macs(&work.operations[i].problem,
                                            work.batches[i]);
        }
        sum += loads[s];
        uc_workload_free(&work);
    }
    for (int s = 0; s < SHARES; s++) {
        assert_true(loads[s] < 1.2 * sum / SHARES);
        assert_true(loads[s] > 0.8 * sum / SHARES);
    }
}

static void shares_are_written_as_fractions(void **state)
{
    static const char *const bad[] = { "",    "1",    "0/2",   "3/2",
                                       "/2",  "1/",   "1/2/3", "-1/2",
                                       "a/b", "1/ 2", "1/0",   "1/9999999999" };
    struct uc_shard shard = { 0 };
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_shard_parse("2/8", &shard, &err), UC_OK);
    assert_int_equal(shard.index, 2);
    assert_int_equal(shard.count, 8);
    for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
        assert_int_equal(uc_shard_parse(bad[i], &shard, &err), UC_EINPUT);
        assert_int_equal(shard.count, 8);
    }
}

/* ----------------------------------------------------------------- Slurm */

static const char *const variables[] = {
    "SLURM_ARRAY_TASK_ID",   "SLURM_ARRAY_TASK_MIN",   "SLURM_ARRAY_TASK_MAX",
    "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT", "SLURM_STEP_ID",
    "SLURM_PROCID",          "SLURM_STEP_NUM_TASKS",   "SLURM_NTASKS",
};

static void slurms_environment_says_which_share(void **state)
{
    static const struct {
        const char *values[UNIT_COUNT(variables)];
        int64_t index, count; /* 0: refused */
    } cases[] = {
        { { NULL }, 1, 1 },
        { { "0", "0", "3", "1", "4" }, 1, 4 },
        { { "3", "0", "3", "1", "4" }, 4, 4 },
        { { "4", "2", "6", "2", "3" }, 2, 3 },
        { { "7", "7", "7", NULL, "1" }, 1, 1 },
        /* a batch script, which runs once whatever its tasks are */
        { { "4", "2", "6", "2", "3", NULL, "0", NULL, "2" }, 2, 3 },
        { { NULL, NULL, NULL, NULL, NULL, NULL, "0", NULL, "8" }, 1, 1 },
        /* srun, alone and in an array */
        { { NULL, NULL, NULL, NULL, NULL, "0", "5", "8", "8" }, 6, 8 },
        { { NULL, NULL, NULL, NULL, NULL, "0", "1", NULL, "3" }, 2, 3 },
        { { "4", "2", "6", "2", "3", "0", "1", "2", "2" }, 4, 6 },
        /* --array=1,3,10 */
        { { "3", "1", "10", "1", "3" }, 0, 0 },
        { { "3", "1", "10" }, 0, 0 },
        { { "x", "1", "10", "1", "10" }, 0, 0 },
        { { NULL, NULL, NULL, NULL, NULL, "0", "8", "8", "8" }, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        struct uc_shard shard = { -1, -1 };
        struct uc_error err;
        enum uc_status status;

        for (size_t v = 0; v < UNIT_COUNT(variables); v++)
            if (cases[i].values[v] != NULL)
                setenv(variables[v], cases[i].values[v], 1);
            else
                unsetenv(variables[v]);
        status = uc_shard_slurm(&shard, &err);
        if (cases[i].count == 0) {
            assert_int_equal(status, UC_EINPUT);
            assert_int_equal(shard.count, -1);
            continue;
        }
        assert_int_equal(status, UC_OK);
        assert_int_equal(shard.index, cases[i].index);
        assert_int_equal(shard.count, cases[i].count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_disjoint_and_make_up_the_whole),
        cmocka_unit_test(shares_are_about_as_large),
        cmocka_unit_test(shares_are_written_as_fractions),
        cmocka_unit_test(slurms_environment_says_which_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
