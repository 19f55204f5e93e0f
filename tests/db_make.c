#include "config.h"

/* db_make KIND PATH...: sample files for the shell tests. Not a test. */

#include "tests/plan_support.h"

static void make_plan(const char *path)
{
    struct uc_plan plan;

    sample_plan(&plan);
    assert_done(uc_plans_write(path, &plan, 1, err));
    uc_plan_free(&plan);
    sample_plan_chosen(&plan);
    plan.limit_bytes *= 2;
    strcpy(plan.network, "b\xc3\xa9ta");
    assert_done(uc_plans_write(path, &plan, 1, err));
    uc_plan_free(&plan);
}

static void make_profile(const char *path)
{
    struct uc_environment env = sample_environment();
    struct uc_profile *profile = NULL;
    int64_t id;

    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    assert_done(uc_profile_add_environment(profile, &env, &id, err));
    for (int op = 0; op < UC_OPERATIONS; op++) {
        struct uc_problem problem = sample_problem((enum uc_operation)op, 192);

        for (int i = 0; i < 12; i++) {
            struct uc_measurement m = sample_measurement(1 << i / 4, i % 4);

            if (i % 4 == 3) {
                m.outcome = UC_FAILED;
                strcpy(m.reason, "CUDNN_STATUS_EXECUTION_FAILED");
            }
            assert_done(uc_profile_store(profile, id, &problem, &m, err));
        }
    }
    uc_profile_close(profile);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "plan") == 0)
        make_plan(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "profile") == 0)
        make_profile(argv[2]);
    else
        return 99;
    return 0;
}
