#include "config.h"

/* Coverage: the batches at which nothing is missing, by asking for each. */

#include "planner/coverage.h"

#include "planner/work.h"
#include "tests/planning_support.h"

enum { MOST = 16 };

/** Rows of one operation and micro-batch are left out. */
struct hole {
    enum uc_operation operation;
    int64_t c, micro_batch;
    bool accumulate;
};

static bool leave_out(const struct uc_problem *problem,
                      struct uc_measurement *row, void *context)
{
    const struct hole *hole = context;

    return problem->operation != hole->operation || problem->c != hole->c ||
           row->micro_batch != hole->micro_batch ||
           row->accumulate != hole->accumulate;
}

/** Whether a list of all that this batch needs is empty. */
static bool nothing_missing(const struct fixture *f,
                            const struct uc_network_operation *list,
                            size_t count, int64_t batch)
{
    const struct uc_work_options options = { .apis = 1u << UC_API_LEGACY,
                                             .max_workspace_bytes = -1 };
    struct uc_work_problem *work = NULL;
    size_t work_count = 0;
    int64_t batches[32];

    for (size_t i = 0; i < count; i++)
        batches[i] = batch;
    assert_done(uc_work_list(f->profile, f->environment.id, list, batches,
                             count, &f->options.policy, &options, &work,
                             &work_count, err));
    uc_work_list_free(work, work_count);
    return work_count == 0;
}

/** What of the fixture can be planned; as "4 8 12". */
static void covered(const struct fixture *f, char text[64])
{
    struct uc_coverage coverage;
    struct uc_network_operation *list;
    const int64_t *batches;
    size_t count, at = 0;

    assert_done(uc_network_operations(&f->network, &list, &count, err));
    assert_done(uc_coverage_of(f->profile, f->environment.id, list, count,
                               &f->options.policy, &coverage, err));
    batches = coverage.batches;
    text[0] = '\0';
    for (int64_t n = 1; n <= MOST; n++) {
        bool has = at < coverage.batch_count && batches[at] == n;

        assert_int_equal(has, nothing_missing(f, list, count, n));
        if (has) {
            snprintf(text + strlen(text), 64 - strlen(text), "%s%" PRId64,
                     at > 0 ? " " : "", n);
            at++;
        }
    }
    assert_int_equal(at, coverage.batch_count);
    if (at > 0) {
        /* a: forward and backward-filter; b and c are the same three */
        assert_int_equal(coverage.problems, 5);
        assert_int_equal(coverage.unsearched, 5);
    }
    free(coverage.batches);
    free(list);
}

static void batches_are_those_that_lack_nothing(void **state)
{
    static const struct {
        const char *policy;
        struct hole hole;
        const char *batches;
    } cases[] = {
        /* a's images are 972 bytes: only each fourth is aligned */
        { "power-of-two", { UC_FORWARD, 99, 0, false }, "4 8 12" },
        { "undivided", { UC_FORWARD, 99, 0, false }, "12" },
        { "power-of-two", { UC_BACKWARD_DATA, 16, 8, false }, "4" },
        { "power-of-two", { UC_BACKWARD_FILTER, 16, 8, true }, "4 8" },
        { "power-of-two", { UC_BACKWARD_FILTER, 16, 8, false }, "4" },
        { "power-of-two", { UC_FORWARD, 3, 12, false }, "4 8" },
        { "power-of-two", { UC_FORWARD, 16, 1, false }, "" },
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        struct fixture f;

        start(&f, cases[i].policy, leave_out, (void *)&cases[i].hole);
        covered(&f, text);
        assert_string_equal(text, cases[i].batches);
        stop(&f);
    }
}

static void a_search_for_engines_counts(void **state)
{
    const struct uc_search search = { .api = UC_API_GRAPH, .micro_batch = 4 };
    struct uc_network_operation *list;
    struct uc_coverage coverage;
    struct fixture f;
    size_t count;

    (void)state;
    start(&f, "undivided", NULL, NULL);
    assert_done(uc_network_operations(&f.network, &list, &count, err));
    assert_done(uc_profile_store_search(f.profile, f.environment.id,
                                        &list[0].problem, &search, err));
    assert_done(uc_coverage_of(f.profile, f.environment.id, list, count,
                               &f.options.policy, &coverage, err));
    assert_int_equal(coverage.problems, 5);
    assert_int_equal(coverage.unsearched, 4);
    free(coverage.batches);
    free(list);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_those_that_lack_nothing),
        cmocka_unit_test(a_search_for_engines_counts),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
