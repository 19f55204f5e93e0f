#include "config.h"

/*
 * Merging: whatever the order of the inputs, the same file; the rule is kept
 * and no mark is lost, both by going through all that was there.
 */

#include "planner/merge.h"

#include "tests/dump_text.h"
#include "tests/random.h"

enum { INPUTS = 3, ENVIRONMENTS = 2, KERNELS = 4, SIZES = 40 };

static const char *const names[INPUTS] = { "a", "b c#d?e%20f", "c" };

/** What went into the inputs; samples -1: nothing. */
static struct uc_measurement made[INPUTS][ENVIRONMENTS][SIZES][KERNELS];

static bool is_mark(const struct uc_measurement *m)
{
    return m->outcome == UC_WRONG || m->outcome == UC_OUT_OF_BOUNDS ||
           m->outcome == UC_CRASHED || m->outcome == UC_TIMED_OUT;
}

static struct uc_environment environment_of(int index)
{
    struct uc_environment env = sample_environment();

    env.versions.cudnn += index;
    return env;
}

/** Few values a field, so that any subset of the fields is often equal. */
static void make_row(struct test_random *random, int size, int kernel,
                     struct uc_measurement *m)
{
    *m = sample_measurement(size + 1, kernel);
    if (test_random_range(random, 0, 3) == 0) {
        m->samples = -1;
        return;
    }
    if (test_random_range(random, 0, 3) == 0)
        m->outcome =
            (enum uc_outcome)test_random_range(random, 1, UC_OUTCOMES - 1);
    if (m->outcome != UC_MEASURED)
        strcpy(m->reason, test_random_range(random, 0, 1) ? "a" : "b");
    m->samples = (int)test_random_range(random, 1, 2);
    for (int i = 0; i < UC_MAX_SAMPLES; i++)
        m->sample_ns[i] =
            i < m->samples ? (float)test_random_range(random, 5, 6) : 0;
    m->time_ns = test_random_range(random, 1, 2);
    m->spread_ns = test_random_range(random, 0, 1);
    m->host_ns = test_random_range(random, 0, 1);
    m->workspace_bytes = test_random_range(random, 0, 1);
    m->notes = (unsigned)test_random_range(random, 0, 1);
    m->error = (double)test_random_range(random, -1, 1);
    m->calls = (int)test_random_range(random, 1, 2);
    m->measured_at = test_random_range(random, 1, 2);
}

static int make_inputs(void **state)
{
    struct test_random random = { 42 };
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);

    if (folder_setup(state) != 0)
        return -1;
    for (int i = 0; i < INPUTS; i++) {
        struct uc_profile *profile = NULL;

        assert_done(uc_profile_open(in_folder(names[i]), UC_PROFILE_PRIVATE,
                                    &profile, err));
        /* The environments' numbers differ from file to file. */
        for (int k = 0; k < ENVIRONMENTS; k++) {
            int e = i % 2 == 0 ? k : ENVIRONMENTS - 1 - k;
            struct uc_environment env = environment_of(e);
            int64_t id;

            assert_done(uc_profile_add_environment(profile, &env, &id, err));
            for (int s = 0; s < SIZES; s++)
                for (int n = 0; n < KERNELS; n++) {
                    struct uc_measurement *m = &made[i][e][s][n];

                    make_row(&random, s, n, m);
                    if (m->samples >= 0)
                        assert_done(
                            uc_profile_store(profile, id, &problem, m, err));
                }
        }
        uc_profile_close(profile);
    }
    return 0;
}

static enum uc_status keep(const struct uc_merge_summary *summary,
                           void *context, struct uc_error *err)
{
    (void)err;
    *(struct uc_merge_summary *)context = *summary;
    return UC_OK;
}

static void merge(const int order[INPUTS], enum uc_merge_rule rule,
                  const char *output, struct uc_merge_summary *summary)
{
    char paths[INPUTS][512];
    char *list[INPUTS];

    for (int i = 0; i < INPUTS; i++) {
        strcpy(paths[i], in_folder(names[order[i]]));
        list[i] = paths[i];
    }
    assert_done(
        uc_merge(list, INPUTS, rule, false, output, keep, summary, err));
}

static void the_order_of_the_inputs_does_not_show(void **state)
{
    static const int orders[][INPUTS] = {
        { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
        { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 }
    };
    char path[512];

    (void)state;
    strcpy(path, in_folder("merged.profile"));
    for (int rule = 0; rule < UC_MERGE_RULES; rule++) {
        char *first = NULL;

        for (size_t i = 0; i < UNIT_COUNT(orders); i++) {
            struct uc_merge_summary summary;
            char *text;

            merge(orders[i], (enum uc_merge_rule)rule, path, &summary);
            text = dump_of_profile(path);
            if (first == NULL)
                first = text;
            else
                assert_string_equal(text, first);
            if (text != first)
                free(text);
        }
        free(first);
    }
}

/** The row of a key is one of those that went in, and the rule's best. */
static void check_row(enum uc_merge_rule rule, int e, int s, int n,
                      const struct uc_measurement *got)
{
    bool found = false, marked = false, measured = false;

    for (int i = 0; i < INPUTS; i++) {
        const struct uc_measurement *m = &made[i][e][s][n];

        if (m->samples < 0)
            continue;
        marked |= is_mark(m);
        measured |= m->outcome == UC_MEASURED;
        found |= m->outcome == got->outcome && m->time_ns == got->time_ns &&
                 m->measured_at == got->measured_at &&
                 m->samples == got->samples && m->error == got->error &&
                 m->calls == got->calls && !strcmp(m->reason, got->reason) &&
                 m->spread_ns == got->spread_ns && m->notes == got->notes;
    }
    assert_true(found);
    assert_int_equal(is_mark(got), marked);
    for (int i = 0; i < INPUTS && !marked; i++) {
        const struct uc_measurement *m = &made[i][e][s][n];

        if (m->samples < 0)
            continue;
        if (rule == UC_MERGE_MORE_SAMPLES)
            assert_true(got->samples >= m->samples);
        if (rule == UC_MERGE_NEWEST)
            assert_true(got->measured_at >= m->measured_at);
        if (rule == UC_MERGE_FASTER && m->outcome == UC_MEASURED)
            assert_true(got->time_ns <= m->time_ns);
    }
    if (rule == UC_MERGE_FASTER && measured && !marked)
        assert_int_equal(got->outcome, UC_MEASURED);
}

static void rules_are_kept_and_no_mark_is_lost(void **state)
{
    static const int order[] = { 0, 1, 2 };
    char path[512];
    struct uc_problem problem = sample_problem(UC_FORWARD, 192);

    (void)state;
    strcpy(path, in_folder("merged.profile"));
    for (int rule = 0; rule < UC_MERGE_RULES; rule++) {
        struct uc_merge_summary summary;
        struct uc_profile *profile = NULL;
        int64_t total = 0;

        merge(order, (enum uc_merge_rule)rule, path, &summary);
        assert_done(uc_profile_open(path, UC_PROFILE_READ, &profile, err));
        for (int e = 0; e < ENVIRONMENTS; e++) {
            struct uc_environment env = environment_of(e);
            struct uc_measurement *rows;
            size_t count, at = 0;
            int64_t id;

            assert_done(uc_profile_add_environment(profile, &env, &id, err));
            assert_true(id >= 0);
            assert_done(
                uc_profile_load(profile, id, &problem, &rows, &count, err));
            for (int s = 0; s < SIZES; s++)
                for (int n = 0; n < KERNELS; n++) {
                    int there = 0;

                    for (int i = 0; i < INPUTS; i++)
                        there += made[i][e][s][n].samples >= 0;
                    if (there == 0)
                        continue;
                    assert_true(at < count);
                    assert_int_equal(rows[at].micro_batch, s + 1);
                    assert_int_equal(rows[at].kernel.algorithm, n);
                    check_row((enum uc_merge_rule)rule, e, s, n, &rows[at++]);
                }
            assert_int_equal(at, count);
            total += (int64_t)count;
            free(rows);
        }
        uc_profile_close(profile);
        assert_int_equal(summary.measurements, total);
        assert_int_equal(summary.environments, ENVIRONMENTS);
    }
}

static void conflicts_and_marks_are_counted(void **state)
{
    static const int order[] = { 0, 1, 2 };
    struct uc_merge_summary summary;
    int64_t conflicts = 0, marks = 0;

    (void)state;
    for (int e = 0; e < ENVIRONMENTS; e++)
        for (int s = 0; s < SIZES; s++)
            for (int n = 0; n < KERNELS; n++) {
                int there = 0, bad = 0;

                for (int i = 0; i < INPUTS; i++) {
                    there += made[i][e][s][n].samples >= 0;
                    bad += made[i][e][s][n].samples >= 0 &&
                           is_mark(&made[i][e][s][n]);
                }
                conflicts += there > 1;
                marks += bad > 0 && bad < there;
            }
    assert_true(marks > 10);
    merge(order, UC_MERGE_NEWEST, in_folder("merged.profile"), &summary);
    assert_int_equal(summary.conflicts, conflicts);
    assert_int_equal(summary.marks, marks);
}

/** Of one key in two profiles, each the other's opposite in turn. */
static void the_most_complete_search_stays(void **state)
{
    static const struct uc_search searches[][2] = {
        /* the one that stays first */
        { { .left_out = 4, .pruned = 9, .found = 9, .searched_at = 1 },
          { .left_out = 3, .pruned = 0, .found = 20, .searched_at = 2 } },
        { { .pruned = 1, .found = 5, .searched_at = 1 },
          { .pruned = 2, .found = 9, .searched_at = 2 } },
        { { .tuned = true, .pruned = 7, .found = 8, .searched_at = 1 },
          { .pruned = 2, .found = 9, .searched_at = 2 } },
        { { .tuned = true, .tune_left_out = 4, .found = 8 },
          { .tuned = true, .tune_left_out = 3, .found = 9 } },
        { { .tuned = true, .tune_left_out = 1, .found = 9 },
          { .tuned = true, .tune_left_out = 2, .found = 9 } },
        { { .found = 9, .searched_at = 1 }, { .found = 8, .searched_at = 2 } },
        { { .found = 9, .searched_at = 2 }, { .found = 9, .searched_at = 1 } },
        { { .left_out = 1, .found = 9 }, { .left_out = 2, .found = 9 } },
    };
    struct uc_problem problem = sample_problem(UC_FORWARD, 7);
    struct uc_environment env = sample_environment();

    (void)state;
    for (size_t i = 0; i < 2 * UNIT_COUNT(searches); i++) {
        char paths[2][512], out[512], *list[] = { paths[0], paths[1] };
        struct uc_merge_summary summary;
        struct uc_profile *profile = NULL;
        struct uc_search *got;
        size_t count;
        int64_t id;

        strcpy(out, in_folder("search.profile"));
        for (size_t k = 0; k < 2; k++) {
            struct uc_search search = searches[i / 2][k];

            search.api = UC_API_GRAPH;
            search.micro_batch = 4;
            strcpy(paths[k], in_folder(k == i % 2 ? "s0" : "s1"));
            unlink(paths[k]);
            assert_done(
                uc_profile_open(paths[k], UC_PROFILE_PRIVATE, &profile, err));
            assert_done(uc_profile_add_environment(profile, &env, &id, err));
            assert_done(
                uc_profile_store_search(profile, id, &problem, &search, err));
            uc_profile_close(profile);
        }
        if (i % 2 == 1) {
            list[0] = paths[1];
            list[1] = paths[0];
        }
        assert_done(uc_merge(list, 2, UC_MERGE_NEWEST, false, out, keep,
                             &summary, err));
        assert_done(uc_profile_open(out, UC_PROFILE_READ, &profile, err));
        assert_done(
            uc_profile_load_searches(profile, 1, &problem, &got, &count, err));
        assert_int_equal(count, 1);
        assert_int_equal(got->left_out, searches[i / 2][0].left_out);
        assert_int_equal(got->pruned, searches[i / 2][0].pruned);
        assert_int_equal(got->found, searches[i / 2][0].found);
        assert_int_equal(got->searched_at, searches[i / 2][0].searched_at);
        assert_int_equal(got->tuned, searches[i / 2][0].tuned);
        assert_int_equal(got->tune_left_out, searches[i / 2][0].tune_left_out);
        free(got);
        uc_profile_close(profile);
    }
}

/** A profile with the record of a search at 4 images, and engine 7. */
static void make_searched(const char *path, bool tuned, enum uc_outcome outcome,
                          const struct uc_problem *problem)
{
    struct uc_environment env = sample_environment();
    struct uc_profile *profile = NULL;
    struct uc_search search = { .api = UC_API_GRAPH,
                                .micro_batch = 4,
                                .found = 1,
                                .tuned = tuned,
                                .tune_left_out =
                                    tuned ? UC_NOTE_RUNTIME_COMPILED : 0 };
    struct uc_measurement row = { .micro_batch = 4,
                                  .kernel = { .api = UC_API_GRAPH,
                                              .engine = 7 },
                                  .outcome = outcome,
                                  .time_ns = outcome == UC_MEASURED ? 100 : 0,
                                  .calls = 1,
                                  .error = -1 };
    int64_t id;

    unlink(path);
    assert_done(uc_profile_open(path, UC_PROFILE_PRIVATE, &profile, err));
    assert_done(uc_profile_add_environment(profile, &env, &id, err));
    assert_done(uc_profile_store_search(profile, id, problem, &search, err));
    assert_done(uc_profile_store(profile, id, problem, &row, err));
    uc_profile_close(profile);
}

/** Add engine 8, which is faster. */
static void add_engine(const char *path, unsigned notes,
                       const struct uc_problem *problem)
{
    struct uc_profile *profile = NULL;
    struct uc_measurement row = { .micro_batch = 4,
                                  .kernel = { .api = UC_API_GRAPH,
                                              .engine = 8 },
                                  .outcome = UC_MEASURED,
                                  .notes = notes,
                                  .time_ns = 50,
                                  .calls = 1,
                                  .error = -1 };

    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    assert_done(uc_profile_store(profile, 1, problem, &row, err));
    uc_profile_close(profile);
}

/** Merge both ways: whether the result is tuned. */
static void expect_tuned(char *first, char *second,
                         const struct uc_problem *problem, bool tuned)
{
    char *lists[2][2] = { { first, second }, { second, first } };
    char out[512];

    strcpy(out, in_folder("both"));
    for (int i = 0; i < 2; i++) {
        struct uc_merge_summary summary;
        struct uc_profile *profile = NULL;
        struct uc_search *got;
        size_t count;

        assert_done(uc_merge(lists[i], 2, UC_MERGE_NEWEST, false, out, keep,
                             &summary, err));
        assert_done(uc_profile_open(out, UC_PROFILE_READ, &profile, err));
        assert_done(
            uc_profile_load_searches(profile, 1, problem, &got, &count, err));
        assert_int_equal(count, 1);
        assert_int_equal(got->tuned, tuned);
        assert_int_equal(got->tune_left_out,
                         tuned ? UC_NOTE_RUNTIME_COMPILED : 0);
        free(got);
        uc_profile_close(profile);
    }
}

/** What the profile that was not tuned has a time of was too large where it was
    tuned, or was not found there, or not looked at. */
static void what_another_profile_has_a_time_of_is_not_tuned(void **state)
{
    struct uc_problem problem = sample_problem(UC_FORWARD, 8);
    char first[512], second[512];

    (void)state;
    strcpy(first, in_folder("tuned"));
    strcpy(second, in_folder("plain"));
    make_searched(first, true, UC_TOO_LARGE, &problem);
    make_searched(second, false, UC_MEASURED, &problem);
    expect_tuned(first, second, &problem, false);
    make_searched(first, true, UC_MEASURED, &problem);
    expect_tuned(first, second, &problem, true);
    add_engine(second, 0, &problem);
    expect_tuned(first, second, &problem, false);
    add_engine(second, UC_NOTE_RUNTIME_COMPILED, &problem);
    expect_tuned(first, second, &problem, true);
    make_searched(second, false, UC_TOO_LARGE, &problem);
    add_engine(first, 0, &problem);
    expect_tuned(first, second, &problem, true);
    make_searched(second, true, UC_TOO_LARGE, &problem);
    expect_tuned(first, second, &problem, true);
}

static void an_input_can_be_the_output(void **state)
{
    static const int order[] = { 0, 1, 2 };
    char grown[512], other[512], *list[] = { grown, other };
    struct uc_merge_summary summary;
    char *text, *expected;

    (void)state;
    merge(order, UC_MERGE_FASTER, in_folder("merged.profile"), &summary);
    expected = dump_of_profile(in_folder("merged.profile"));
    strcpy(grown, in_folder("grown.profile"));
    for (int i = 0; i < INPUTS; i++) {
        strcpy(other, in_folder(names[i]));
        assert_done(uc_merge(i == 0 ? &list[1] : list, i == 0 ? 1 : 2,
                             UC_MERGE_FASTER, false, grown, keep, &summary,
                             err));
    }
    text = dump_of_profile(grown);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
}

static void a_bad_input_leaves_the_output(void **state)
{
    char good[512], bad[512], *list[] = { good, bad };
    const char *out = in_folder("kept.profile");
    struct uc_merge_summary summary;
    struct uc_error error;
    unsigned char *bytes;
    size_t size;

    (void)state;
    strcpy(good, in_folder(names[0]));
    strcpy(bad, in_folder("bad.profile"));
    assert_done(
        uc_merge(list, 1, UC_MERGE_NEWEST, false, out, keep, &summary, err));
    bytes = read_file(out, &size);
    write_file(bad, bytes, size / 2);
    assert_int_equal(
        uc_merge(list, 2, UC_MERGE_NEWEST, false, out, keep, &summary, &error),
        UC_EFILE);
    assert_says(&error, "bad.profile: ");
    assert_says(&error, "malformed");
    assert_file_equals(out, bytes, size);
    /* Nor is a file of another kind overwritten. */
    write_file(bad, "text", 4);
    assert_int_equal(
        uc_merge(list, 1, UC_MERGE_NEWEST, false, bad, keep, &summary, &error),
        UC_EFILE);
    assert_file_equals(bad, "text", 4);
    free(bytes);
}

/** SQLite would play it back over the new file. */
static void a_strange_journal_is_not_let_near_the_output(void **state)
{
    char good[512], *list[] = { good };
    struct uc_merge_summary summary;
    struct uc_error error;

    (void)state;
    strcpy(good, in_folder(names[0]));
    write_file(in_folder("new.profile-journal"), "leftover", 8);
    assert_int_equal(uc_merge(list, 1, UC_MERGE_NEWEST, false,
                              in_folder("new.profile"), keep, &summary, &error),
                     UC_EFILE);
    assert_says(&error, "-journal");
    assert_int_equal(access(in_folder("new.profile"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_the_inputs_does_not_show),
        cmocka_unit_test(rules_are_kept_and_no_mark_is_lost),
        cmocka_unit_test(conflicts_and_marks_are_counted),
        cmocka_unit_test(the_most_complete_search_stays),
        cmocka_unit_test(what_another_profile_has_a_time_of_is_not_tuned),
        cmocka_unit_test(an_input_can_be_the_output),
        cmocka_unit_test(a_bad_input_leaves_the_output),
        cmocka_unit_test(a_strange_journal_is_not_let_near_the_output),
    };

    return cmocka_run_group_tests(tests, make_inputs, folder_teardown);
}
