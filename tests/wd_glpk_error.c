/* A failing GLPK: an error of ours, nothing printed, nothing aborted. */
#include "config.h"

#include "planner/wd.h"

#include "tests/unit.h"

#include <fcntl.h>
#include <glpk.h>
#include <stdlib.h>
#include <unistd.h>

static int calls, code_to_return;

/* In place of the library's: what it does when something is badly wrong, or
 * a failure that it reports. */
int glp_simplex(glp_prob *P, const glp_smcp *parm)
{
    (void)P;
    (void)parm;
    calls++;
    if (code_to_return)
        return code_to_return;
    glp_error("no luck today\n");
    return 0;
}

/** Solve with both outputs going to a file; its length in *printed. */
static enum uc_status solve(struct uc_wd_result *result, struct uc_error *err,
                            off_t *printed)
{
    /* The relaxation leaves a gap: one of the two fits, not both. */
    struct uc_configuration a[] = { { .workspace_bytes = 0, .time_ns = 10 },
                                    { .workspace_bytes = 3, .time_ns = 4 } };
    struct uc_configuration b[] = { { .workspace_bytes = 0, .time_ns = 9 },
                                    { .workspace_bytes = 2, .time_ns = 5 } };
    struct uc_desirable sets[] = { { a, 2 }, { b, 2 } };
    struct uc_wd_operation operations[] = { { &sets[0], 1 }, { &sets[1], 1 } };
    struct uc_wd_options options = { 4, 0, 0 };
    char name[] = "wd_glpk_error.XXXXXX";
    int file = mkstemp(name), out = dup(1), error = dup(2);
    enum uc_status status;

    assert_true(file >= 0 && out >= 0 && error >= 0);
    unlink(name);
    dup2(file, 1);
    dup2(file, 2);
    status = uc_wd_solve(operations, 2, &options, result, err);
    dup2(out, 1);
    dup2(error, 2);
    *printed = lseek(file, 0, SEEK_END);
    close(file);
    close(out);
    close(error);
    return status;
}

static void an_error_in_glpk_is_our_error(void **state)
{
    struct uc_wd_result result, before;
    struct uc_error err;
    off_t printed;

    (void)state;
    memset(&result, 0x5a, sizeof result);
    before = result;
    for (int i = 0; i < 3; i++) {
        calls = 0;
        assert_int_equal(solve(&result, &err, &printed), UC_EINTERNAL);
        assert_int_equal(calls, 1);
        assert_string_equal(err.text, "GLPK failed: no luck today");
        assert_int_equal(printed, 0);
        assert_memory_equal(&result, &before, sizeof result);
    }
}

static void a_failure_code_of_glpk_is_our_error(void **state)
{
    struct uc_wd_result result;
    struct uc_error err;
    off_t printed;

    (void)state;
    code_to_return = GLP_ESING;
    assert_int_equal(solve(&result, &err, &printed), UC_EINTERNAL);
    assert_int_equal(printed, 0);
    code_to_return = 0;
}

static void running_out_of_time_keeps_the_first_solution(void **state)
{
    struct uc_wd_result result;
    struct uc_error err;
    off_t printed;

    (void)state;
    code_to_return = GLP_ETMLIM;
    assert_int_equal(solve(&result, &err, &printed), UC_OK);
    code_to_return = 0;
    assert_true(result.time_ran_out);
    assert_true(result.gap > 0);
    assert_true(result.workspace_bytes <= 4);
    uc_wd_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_in_glpk_is_our_error),
        cmocka_unit_test(a_failure_code_of_glpk_is_our_error),
        cmocka_unit_test(running_out_of_time_keeps_the_first_solution),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
