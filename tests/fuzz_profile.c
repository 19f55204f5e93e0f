#include "config.h"

/* Any bytes as a profile: it is opened and read to its end, or refused. */

#include "db/plan.h"
#include "db/profile.h"
#include "tests/fuzz.h"

#include <string.h>

const char fuzz_name[] = "profile";

static void check_row(const struct uc_measurement *row)
{
    FUZZ_CHECK(row->micro_batch >= 1);
    FUZZ_CHECK(row->workspace_bytes >= 0 && row->time_ns >= 0);
    FUZZ_CHECK((int)row->outcome >= 0 && row->outcome < UC_OUTCOMES);
    FUZZ_CHECK(row->samples >= 0 && row->samples <= UC_MAX_SAMPLES);
    FUZZ_CHECK(memchr(row->reason, '\0', sizeof row->reason) != NULL);
}

static void read_problem(struct uc_profile *profile, int64_t env,
                         const struct uc_problem *problem)
{
    struct uc_measurement *rows = NULL;
    struct uc_error err = { .text = "" };
    size_t count = 0;
    enum uc_status status =
        uc_profile_load(profile, env, problem, &rows, &count, &err);

    FUZZ_CHECK(uc_problem_check(problem, &err) == UC_OK);
    if (status != UC_OK)
        fuzz_check_error(status, &err);
    for (size_t i = 0; i < count; i++) {
        char text[UC_KERNEL_TEXT];

        check_row(&rows[i]);
        uc_kernel_print(&rows[i].kernel, problem->operation, text);
    }
    free(rows);
}

static void read_environment(struct uc_profile *profile,
                             struct uc_profile_environment *environment)
{
    struct uc_problem *problems = NULL;
    struct uc_error err = { .text = "" };
    size_t count = 0;
    int64_t outcomes[UC_OUTCOMES];
    enum uc_status status = uc_profile_count(profile, environment, &err);

    if (status != UC_OK)
        fuzz_check_error(status, &err);
    status = uc_profile_outcomes(profile, environment->id, outcomes, &err);
    if (status != UC_OK)
        fuzz_check_error(status, &err);
    status =
        uc_profile_problems(profile, environment->id, &problems, &count, &err);
    if (status != UC_OK)
        fuzz_check_error(status, &err);
    for (size_t i = 0; i < count; i++)
        read_problem(profile, environment->id, &problems[i]);
    free(problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    struct uc_profile *profile = NULL;
    struct uc_profile_environment *environments = NULL;
    struct uc_error err = { .text = "" };
    enum uc_file_kind kind;
    size_t count = 0;
    enum uc_status status = uc_file_identify(path, &kind, &err);

    if (status != UC_OK)
        fuzz_check_error(status, &err);
    status = uc_profile_open(path, UC_PROFILE_READ, &profile, &err);
    if (status == UC_OK)
        status = uc_profile_environments(profile, &environments, &count, &err);
    if (status != UC_OK)
        fuzz_check_error(status, &err);
    for (size_t i = 0; i < count; i++)
        read_environment(profile, &environments[i]);
    free(environments);
    uc_profile_close(profile);
    return 0;
}
