/* The summary of what ran as planned and what passed through. */
#include "config.h"

#include "tests/plan_support.h"

#include "runtime/stats.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char summary[65536]; /* of the latest process */

/** The sample plan, opened as the runtime does. */
static struct uc_table *open_sample(void)
{
    char path[] = "/tmp/ucudnn-stats.XXXXXX";
    struct uc_plan plan;
    struct uc_table *table;
    struct uc_error err;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    sample_plan(&plan);
    assert_int_equal(uc_plans_write(path, &plan, 1, &err), UC_OK);
    assert_int_equal(uc_table_open(path, &table, &err), UC_OK);
    uc_plan_free(&plan);
    unlink(path);
    return table;
}

/**
 * Let a process miss some calls, with UCUDNN_STATS naming a file, and read
 * what it writes there; settings are read once a process.
 */
static void collect(void (*miss)(struct uc_table *table))
{
    char path[] = "/tmp/ucudnn-stats.XXXXXX";
    int fd = mkstemp(path), status;
    ssize_t length;
    pid_t child;

    assert_true(fd >= 0);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        struct uc_table *table = open_sample();

        setenv("UCUDNN_STATS", path, 1);
        uc_stats_open();
        miss(table);
        uc_stats_write(table, "sample");
        uc_stats_write(table, "sample"); /* only the first counts */
        uc_table_free(table);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    length = read(fd, summary, sizeof summary - 1);
    assert_true(length >= 0);
    summary[length] = '\0';
    close(fd);
    unlink(path);
}

static void assert_line(const char *line)
{
    if (strstr(summary, line) == NULL)
        print_error("no \"%s\" in:\n%s\n", line, summary);
    assert_non_null(strstr(summary, line));
}

static int count_lines(void)
{
    int lines = 0;

    for (const char *at = summary; *at != '\0'; at++)
        lines += *at == '\n';
    return lines;
}

static struct uc_problem planned(enum uc_operation operation)
{
    struct uc_problem p = sample_problem(operation, 192);

    uc_problem_canonical(&p);
    return p;
}

static void miss_nothing(struct uc_table *table)
{
    size_t count;
    struct uc_entry *entries = uc_table_entries(table, &count);

    assert_int_equal(count, 3);
    atomic_fetch_add(&entries[0].executed, 40);
    atomic_fetch_add(&entries[2].executed, 2);
}

static void test_what_ran(void **state)
{
    (void)state;
    collect(miss_nothing);
    assert_line("planned                3 operations, 2 of them ran\n");
    assert_line("executed              42 calls as planned\n");
    assert_line("passed through         0 calls\n");
    assert_int_equal(count_lines(), 4);
}

static void miss_each(struct uc_table *table)
{
    struct uc_problem p = planned(UC_FORWARD), other = p;

    uc_stats_missed(table, &p, 100, UC_MISS_NOT_PLANNED, 0, NULL);
    other.c = 65;
    uc_stats_missed(table, &other, 256, UC_MISS_NOT_PLANNED, 0, NULL);
    uc_stats_missed(table, &p, 256, UC_MISS_DEVICE, 0, "cudnn version");
    uc_stats_missed(table, NULL, 0, UC_MISS_CALLER, 0, "data type");
    uc_stats_missed(table, &p, 256, UC_MISS_WORKSPACE, 1024, NULL);
    uc_stats_missed(table, &p, 256, UC_MISS_WORKSPACE, 1 << 20, NULL);
    uc_stats_missed(table, &p, 256, UC_MISS_WORKSPACE, 2048, NULL);
    uc_stats_missed(table, &p, 256, UC_MISS_ALIGNMENT, 0, NULL);
    uc_stats_missed(table, &p, 256, UC_MISS_CAPTURE, 0, "first use");
    uc_stats_missed(table, &p, 256, UC_MISS_FUSED, 0, "planned with engines");
    uc_stats_missed(table, &p, 256, UC_MISS_REFUSED, 0, "when run");
    uc_stats_graph();
}

static void test_the_reasons_are_words(void **state)
{
    (void)state;
    collect(miss_each);
    assert_line("passed through        11 calls\n");
    assert_line(" batch 100: not planned: the nearest that is differs in "
                "batch\n");
    assert_line(" batch 256: not planned: the nearest that is differs in "
                "channels\n");
    assert_line(": planned for another device, which differs in cudnn "
                "version\n");
    assert_line("any convolution: plans do not know its data type\n");
    assert_line("       3  forward:");
    assert_line(": workspace too small by up to 1 MiB\n");
    assert_line(": tensors are not aligned to 16 bytes\n");
    assert_line(": under stream capture: first use\n");
    assert_line(": fused with bias and activation: planned with engines\n");
    assert_line(": cuDNN refused it when run\n");
    assert_line("graph API              1 executions");
    assert_int_equal(count_lines(), 4 + 9 + 1);
    /* Those with most calls come first. */
    assert_true(strstr(summary, "       3  forward:") <
                strstr(summary, "       1  "));
}

/** 1000 kinds by 4 threads, each of them 4 times. */
static void *miss_many(void *table)
{
    struct uc_problem p = planned(UC_FORWARD);

    for (int batch = 1; batch <= 1000; batch++)
        uc_stats_missed(table, &p, batch, UC_MISS_NOT_PLANNED, 0, NULL);
    return NULL;
}

static void miss_from_threads(struct uc_table *table)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, miss_many, table) != 0)
            _exit(1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void test_there_is_a_bound(void **state)
{
    int64_t shown = 0, more = 0;
    char *at, *behind;

    (void)state;
    collect(miss_from_threads);
    assert_line("passed through      4000 calls\n");
    assert_int_equal(count_lines(), 4 + 64 + 1);
    for (at = strchr(strstr(summary, "passed"), '\n') + 1; *at != '\0';
         at = strchr(at, '\n') + 1) {
        int64_t calls = strtol(at, &behind, 10);

        if (strncmp(behind, "  more, of over ", 16) == 0)
            more = calls;
        else
            shown += calls;
    }
    assert_int_equal(shown, 64 * 4);
    assert_int_equal(shown + more, 4000);
}

/* While the nearest operation is looked for, another call is of the same kind:
 * here it is one of the same thread, which could wait for itself. */

const char *__real_uc_table_nearest(const struct uc_table *table,
                                    const struct uc_problem *problem,
                                    int64_t batch);
const char *__wrap_uc_table_nearest(const struct uc_table *table,
                                    const struct uc_problem *problem,
                                    int64_t batch);

static bool meanwhile; /**< the call is still to be made */

const char *__wrap_uc_table_nearest(const struct uc_table *table,
                                    const struct uc_problem *problem,
                                    int64_t batch)
{
    if (meanwhile) {
        meanwhile = false;
        uc_stats_missed(table, problem, batch, UC_MISS_NOT_PLANNED, 0, NULL);
    }
    return __real_uc_table_nearest(table, problem, batch);
}

static void miss_meanwhile(struct uc_table *table)
{
    struct uc_problem p = planned(UC_FORWARD);

    meanwhile = true;
    alarm(10);
    uc_stats_missed(table, &p, 100, UC_MISS_NOT_PLANNED, 0, NULL);
}

static void test_nobody_waits_for_a_search_of_the_plan(void **state)
{
    (void)state;
    collect(miss_meanwhile);
    assert_line("passed through         2 calls\n");
    assert_line("       2  forward:");
    assert_int_equal(count_lines(), 4 + 1);
}

static void test_a_file_that_cannot_be_written_is_told_once(void **state)
{
    char text[1024];
    int ends[2], status;
    ssize_t length;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        setenv("UCUDNN_STATS", "/nonexistent/stats", 1);
        uc_stats_open();
        uc_stats_write(NULL, "none");
        uc_stats_write(NULL, "none");
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    length = read(ends[0], text, sizeof text - 1);
    assert_true(length > 0);
    text[length] = '\0';
    assert_string_equal(text, "ucudnn: UCUDNN_STATS=/nonexistent/stats: "
                              "No such file or directory\n");
    close(ends[0]);
}

static void miss_elsewhere(struct uc_table *table)
{
    (void)table;
    assert_int_equal(chdir("/"), 0);
}

static void test_the_current_folder_may_change(void **state)
{
    char folder[] = "/tmp/ucudnn-stats.XXXXXX", path[64];
    int status;
    pid_t child;
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(folder));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (chdir(folder) != 0)
            _exit(1);
        setenv("UCUDNN_STATS", "file", 1);
        uc_stats_open();
        miss_elsewhere(NULL);
        uc_stats_write(NULL, "none");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    snprintf(path, sizeof path, "%s/file", folder);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 0);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_ran),
        cmocka_unit_test(test_the_reasons_are_words),
        cmocka_unit_test(test_there_is_a_bound),
        cmocka_unit_test(test_nobody_waits_for_a_search_of_the_plan),
        cmocka_unit_test(test_a_file_that_cannot_be_written_is_told_once),
        cmocka_unit_test(test_the_current_folder_may_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
