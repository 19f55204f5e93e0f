/**
 * @file db_support.h
 * Sample values and temporary folders for the tests of db/.
 *
 * Included once per test program; everything is static.
 */
#ifndef UC_TESTS_DB_SUPPORT_H
#define UC_TESTS_DB_SUPPORT_H

#include "tests/unit.h"

#include "db/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/** Fails with the error's text. */
#define assert_done(call)                             \
    do {                                              \
        struct uc_error done_err = { 0 };             \
        struct uc_error *err = &done_err;             \
        if ((call) != UC_OK)                          \
            fail_msg("%s: %s", #call, done_err.text); \
    } while (0)

/** One line of text that holds each of the words. */
__attribute__((unused)) static void assert_says(const struct uc_error *err,
                                                const char *words)
{
    if (strstr(err->text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err->text, words);
    assert_null(strchr(err->text, '\n'));
}

/* ------------------------------------------------------------- folders */

static char support_folder[256];

__attribute__((unused)) static int folder_setup(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(support_folder, sizeof support_folder, "%s/uc-db-XXXXXX",
             base != NULL ? base : "/tmp");
    return mkdtemp(support_folder) == NULL ? -1 : 0;
}

__attribute__((unused)) static int folder_teardown(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", support_folder);
    return system(command) == 0 ? 0 : -1;
}

/** A path in the folder; valid until the eighth call after. */
__attribute__((unused)) static const char *in_folder(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", support_folder, name);
    return path;
}

__attribute__((unused)) static void write_file(const char *path,
                                               const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/** The whole file; free() it. */
__attribute__((unused)) static unsigned char *read_file(const char *path,
                                                        size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes;
    struct stat st;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    *size = (size_t)st.st_size;
    bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

__attribute__((unused)) static void assert_file_equals(const char *path,
                                                       const void *bytes,
                                                       size_t size)
{
    size_t now;
    unsigned char *content = read_file(path, &now);

    assert_int_equal(now, size);
    assert_memory_equal(content, bytes, size);
    free(content);
}

/* -------------------------------------------------------------- values */

__attribute__((unused)) static struct uc_environment sample_environment(void)
{
    struct uc_environment env = {
        .device = { .name = "NVIDIA H200",
                    .compute_capability = 90,
                    .multiprocessors = 132,
                    .memory_bytes = INT64_C(150109880320) },
        .versions = { .cudnn = 91900, .cuda = 13000, .driver = "580.159.04" },
    };

    return env;
}

/** AlexNet's second layer with `k` output channels. */
__attribute__((unused)) static struct uc_problem sample_problem(
    enum uc_operation operation, int k)
{
    static const char *const names[] = { "forward", "backward-data",
                                         "backward-filter" };
    struct uc_problem problem;
    char text[UC_PROBLEM_TEXT];

    snprintf(text, sizeof text, "%s:fp32:tf32:nchw:c64:k%d:i27x27:f5x5:p2x2",
             names[operation], k);
    assert_done(uc_problem_parse(text, &problem, err));
    return problem;
}

__attribute__((unused)) static struct uc_measurement sample_measurement(
    int64_t micro_batch, int algorithm)
{
    struct uc_measurement m = {
        .micro_batch = micro_batch,
        .kernel = { .algorithm = algorithm, .math = UC_MATH_TF32 },
        .outcome = UC_MEASURED,
        .notes = UC_NOTE_TENSOR_CORE,
        .workspace_bytes = micro_batch * 1048576 + algorithm,
        .time_ns = micro_batch * 2500 + 17 * algorithm + 1,
        .spread_ns = 31,
        .host_ns = 70123,
        .error = 2.5e-4,
        .calls = 20,
        .samples = 3,
        .sample_ns = { 2500.5f, 2501.25f, 2617.0f },
        .measured_at = 1764460800,
    };

    return m;
}

__attribute__((unused)) static void assert_measurement_equal(
    const struct uc_measurement *a, const struct uc_measurement *b)
{
    assert_int_equal(a->micro_batch, b->micro_batch);
    assert_int_equal(a->accumulate, b->accumulate);
    assert_true(uc_kernel_equal(&a->kernel, &b->kernel));
    assert_int_equal(a->outcome, b->outcome);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->notes, b->notes);
    assert_int_equal(a->workspace_bytes, b->workspace_bytes);
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->spread_ns, b->spread_ns);
    assert_int_equal(a->host_ns, b->host_ns);
    assert_true(a->error == b->error || (a->error < 0 && b->error < 0));
    assert_int_equal(a->calls, b->calls);
    assert_int_equal(a->samples, b->samples);
    assert_memory_equal(a->sample_ns, b->sample_ns, sizeof a->sample_ns);
    assert_int_equal(a->measured_at, b->measured_at);
    assert_int_equal(a->build_ns, b->build_ns);
}

#endif
