#include "config.h"

#include "tests/plan_support.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <time.h>

static const char *fresh(void)
{
    const char *path = in_folder("store.plan");

    unlink(path);
    return path;
}

/** Everything in the folder, hidden files too. */
static int files_in_folder(void)
{
    DIR *folder = opendir(support_folder);
    int count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2;
}

static void assert_plans(const char *path, const struct uc_plan *expected,
                         size_t expected_count)
{
    struct uc_plan *plans = NULL;
    size_t count = 0;

    assert_done(uc_plans_read(path, &plans, &count, err));
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++)
        assert_plan_equal(&plans[i], &expected[i]);
    uc_plans_free(plans, count);
}

static void a_plan_comes_back_as_written(void **state)
{
    const char *path = fresh();
    struct uc_plan plan;

    (void)state;
    sample_plan_chosen(&plan);
    strcpy(plan.operations[1].layer, "\xe5\xb1\xa4\xe2\x82\x82 'x'");
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_plans(path, &plan, 1);
    plan.mode = UC_PLAN_WD;
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_int_equal(files_in_folder(), 1);
    uc_plan_free(&plan);
}

/** The longest text of a kernel, and every note. */
static void graph_kernels_come_back_as_written(void **state)
{
    const char *path = fresh();
    struct uc_plan_piece *piece;
    struct uc_plan plan;

    (void)state;
    sample_plan(&plan);
    plan.choices.allow = UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION;
    piece = &plan.operations[2].pieces[1];
    piece->kernel = (struct uc_kernel){ .api = UC_API_GRAPH,
                                        .engine = UC_ENGINES - 1,
                                        .knob_count = UC_MAX_KNOBS };
    for (int i = 0; i < UC_MAX_KNOBS; i++)
        piece->kernel.knobs[i] =
            (struct uc_knob){ UC_KNOB_TYPES - UC_MAX_KNOBS + i,
                              (i % 2 ? 1 : -1) * (UC_KNOB_VALUES - 1) };
    piece->notes = (1u << UC_NOTES) - 1;
    piece->build_ns = 612345678;
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_plans(path, &plan, 1);
    uc_plan_free(&plan);
}

static void totals_count_each_repeat(void **state)
{
    struct uc_plan plan;
    struct uc_plan_totals totals;

    (void)state;
    sample_plan(&plan);
    uc_plan_totals(&plan, &totals);
    assert_int_equal(totals.predicted_ns, 2200000);
    assert_int_equal(totals.undivided_ns, -1);
    assert_int_equal(totals.unlimited_ns, 350000 + 450000 + 2 * 600000);
    assert_int_equal(totals.workspace_bytes, 60000000);
    plan.mode = UC_PLAN_WD;
    plan.operations[2].undivided_ns = 700000;
    uc_plan_totals(&plan, &totals);
    assert_int_equal(totals.undivided_ns, 1000000 + 500000 + 2 * 700000);
    assert_int_equal(totals.workspace_bytes, 60000000 + 2 * 2048);
    plan.operations[0].time_ns = INT64_MAX / 2;
    plan.operations[0].repeat = 3;
    plan.operations[1].workspace_bytes = INT64_MAX;
    uc_plan_totals(&plan, &totals);
    assert_int_equal(totals.predicted_ns, INT64_MAX);
    assert_int_equal(totals.workspace_bytes, INT64_MAX);
    uc_plan_free(&plan);
}

static void the_same_plan_is_replaced_and_others_are_kept(void **state)
{
    const char *path = fresh();
    struct uc_plan plans[8], again;

    (void)state;
    for (int i = 0; i < 8; i++)
        sample_plan(&plans[i]);
    plans[1].limit_bytes *= 2;
    strcpy(plans[2].network, "alexnet-2");
    plans[3].environment.device.multiprocessors--;
    plans[4].environment.versions.cudnn++;
    plans[5].mode = UC_PLAN_WD;
    for (int i = 0; i < 3; i++) {
        struct uc_plan_operation *op = &plans[6].operations[i];

        op->batch *= 2;
        for (size_t j = 0; j < op->piece_count; j++)
            op->pieces[j].size *= 2;
        op = &plans[7].operations[i];
        op->problem.math = UC_MATH_FMA;
        for (size_t j = 0; j < op->piece_count; j++) {
            op->pieces[j].kernel.math = UC_MATH_FMA;
            op->pieces[j].notes &= ~(unsigned)UC_NOTE_TENSOR_CORE;
        }
    }
    for (int i = 0; i < 8; i++)
        assert_done(uc_plans_write(path, &plans[i], 1, err));
    assert_plans(path, plans, 8);

    /* Same key: another policy, time, date and one layer less. */
    sample_plan(&again);
    again.limit_bytes *= 2;
    strcpy(again.policy, "all");
    again.created_at++;
    again.operations[1].time_ns = again.operations[1].pieces[0].time_ns = 7;
    free(again.operations[2].pieces);
    again.operation_count--;
    assert_done(uc_plans_write(path, &again, 1, err));
    uc_plan_free(&plans[1]);
    memmove(&plans[1], &plans[2], 6 * sizeof plans[0]);
    plans[7] = again;
    assert_plans(path, plans, 8);
    for (int i = 0; i < 8; i++)
        uc_plan_free(&plans[i]);
}

static void several_plans_are_written_or_none(void **state)
{
    const char *path = fresh();
    struct uc_plan plans[2];
    struct uc_error error = { 0 };

    (void)state;
    sample_plan(&plans[0]);
    sample_plan(&plans[1]);
    assert_done(uc_plans_write(path, &plans[1], 1, err));
    plans[0].mode = UC_PLAN_WD;
    plans[1].created_at++;
    assert_done(uc_plans_write(path, plans, 2, err));
    assert_plans(path, plans, 2);
    plans[0].created_at += 2;
    plans[1].operations[0].repeat = 0;
    assert_int_equal(uc_plans_write(path, plans, 2, &error), UC_EINTERNAL);
    plans[0].created_at -= 2;
    plans[1].operations[0].repeat = 1;
    assert_plans(path, plans, 2);
    uc_plan_free(&plans[0]);
    uc_plan_free(&plans[1]);
}

static void what_a_killed_writer_left_is_removed(void **state)
{
    static const char *const kept[] = { ".ucudnn-1-0.tmp.plan", ".ucudnn-1.tmp",
                                        ".ucudnn--0.tmp", "ucudnn-1-0.tmp" };
    const char *path = fresh();
    struct uc_plan plan;

    (void)state;
    sample_plan(&plan);
    write_file(in_folder(".ucudnn-1-0.tmp"), "x", 1);
    write_file(in_folder(".ucudnn-999999999-17.tmp"), "", 0);
    for (size_t i = 0; i < UNIT_COUNT(kept); i++)
        write_file(in_folder(kept[i]), "x", 1);
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_int_equal(files_in_folder(), 1 + UNIT_COUNT(kept));
    for (size_t i = 0; i < UNIT_COUNT(kept); i++)
        assert_int_equal(unlink(in_folder(kept[i])), 0);
    uc_plan_free(&plan);
}

/** What others write beside their files is left for a day. */
static void what_others_left_is_removed_when_it_is_old(void **state)
{
    static const char *const names[] = { ".ucudnn-1-0.new", ".ucudnn-1-1.new",
                                         ".ucudnn-1-1.new.json" };
    static const int hours[] = { 23, 25, 25 };
    const char *path = fresh();
    struct uc_plan plan;

    (void)state;
    sample_plan(&plan);
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        const time_t then = time(NULL) - (time_t)hours[i] * 3600;
        const struct timespec times[] = { { then, 0 }, { then, 0 } };

        write_file(in_folder(names[i]), "x", 1);
        assert_int_equal(utimensat(AT_FDCWD, in_folder(names[i]), times, 0), 0);
    }
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_int_equal(unlink(in_folder(names[0])), 0);
    assert_int_equal(access(in_folder(names[1]), F_OK), -1);
    assert_int_equal(unlink(in_folder(names[2])), 0);
    uc_plan_free(&plan);
}

static void plans_that_cannot_be_followed_are_not_written(void **state)
{
    const char *path = fresh();
    struct uc_error error = { 0 };
    struct uc_plan plan;

    (void)state;
    for (int i = 0; i < 23; i++) {
        struct uc_plan_operation *op;

        sample_plan(&plan);
        op = plan.operations;
        if (i == 0)
            plan.network[0] = '\0';
        else if (i == 1)
            plan.limit_bytes = 59999999;
        else if (i == 2)
            plan.operation_count = 0;
        else if (i == 3)
            op[0].batch = 255;
        else if (i == 4)
            op[0].time_ns++;
        else if (i == 5)
            op[0].workspace_bytes--;
        else if (i == 6)
            op[0].pieces[0].accumulate = true;
        else if (i == 7)
            op[2].pieces[0].accumulate = true;
        else if (i == 8)
            op[2].pieces[1].accumulate = false;
        else if (i == 9)
            op[0].undivided_ns = 0;
        else if (i == 10)
            op[0].repeat = 0;
        else if (i == 11)
            strcpy(op[0].layer, "a\tb");
        else if (i == 12)
            op[0].pieces[0].kernel.algorithm = 8;
        else if (i == 13)
            op[0].problem.groups = 0;
        else if (i == 14)
            op[0].pieces[0].size = -64;
        else if (i == 15)
            op[2].pieces[0].size = 64, op[2].pieces[0].count = 2,
            op[2].time_ns += 300000;
        else if (i == 16)
            op[0].pieces[0].notes = UINT_MAX;
        else if (i == 20)
            op[0].pieces[0].build_ns = -1;
        else if (i == 17)
            op[0].pieces[0].kernel = (struct uc_kernel){
                .api = UC_API_GRAPH,
                .engine = UC_ENGINES,
            };
        else if (i == 18) /* a legacy kernel's notes are known */
            op[0].problem.math = UC_MATH_FMA, op[0].pieces[0].notes = 0;
        else if (i == 19)
            op[0].problem.math = UC_MATH_FMA,
            op[0].pieces[0].kernel.math = UC_MATH_FMA;
        else if (i == 21) /* images of 2916 bytes */
            op[0].problem.c = 1, op[0].pieces[0].size = 1,
            op[0].pieces[0].count = 256, op[0].time_ns = 256 * 100000;
        else
            strcpy(plan.environment.versions.driver, "\xc0\xaf");
        assert_int_equal(uc_plans_write(path, &plan, 1, &error), UC_EINTERNAL);
        assert_true(error.text[0] != '\0');
        assert_int_equal(access(path, F_OK), -1);
        plan.operation_count = 3;
        uc_plan_free(&plan);
    }
    assert_int_equal(files_in_folder(), 0);
}

static void choices_are_equal_when_all_are(void **state)
{
    const struct uc_plan_choices same = sample_choices;
    struct uc_plan_choices others[6];

    (void)state;
    assert_true(uc_plan_choices_equal(&same, &sample_choices));
    for (size_t i = 0; i < UNIT_COUNT(others); i++)
        others[i] = same;
    others[0].deterministic = false;
    others[1].no_runtime_compiled = false;
    others[2].allow = UC_NOTE_DOWN_CONVERT;
    others[3].apis = 0;
    others[4].max_pieces = 6;
    others[5].min_gain = 0.28;
    for (size_t i = 0; i < UNIT_COUNT(others); i++)
        assert_false(uc_plan_choices_equal(&same, &others[i]));
}

/** An engine's notes against what a plan says of itself. */
static void a_plan_keeps_to_its_choices(void **state)
{
    const struct {
        unsigned notes;
        struct uc_plan_choices allowing, refusing;
        const char *says;
    } cases[] = {
        { UC_NOTE_DOWN_CONVERT,
          { .allow = UC_NOTE_DOWN_CONVERT },
          { .allow = UC_NOTE_REDUCED_PRECISION },
          "computes in a way that was not allowed" },
        { UC_NOTE_REDUCED_PRECISION,
          { .allow = UC_NOTE_REDUCED_PRECISION },
          { .allow = 0 },
          "computes in a way that was not allowed" },
        { UC_NOTE_RUNTIME_COMPILED,
          { .apis = 0 },
          { .no_runtime_compiled = true },
          "is compiled at run time, and was not to be" },
        { 0,
          { .max_pieces = 4 },
          { .apis = 1u << UC_API_LEGACY },
          "of an API that was not to be used" },
    };
    struct uc_error error;
    struct uc_plan plan;

    (void)state;
    sample_plan(&plan);
    plan.operations[0].pieces[0].kernel =
        (struct uc_kernel){ .api = UC_API_GRAPH, .engine = 7 };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        plan.operations[0].pieces[0].notes = cases[i].notes;
        plan.choices = cases[i].allowing;
        assert_done(uc_plan_check(&plan, err));
        plan.choices = cases[i].refusing;
        assert_int_equal(uc_plan_check(&plan, &error), UC_EINTERNAL);
        assert_says(&error, cases[i].says);
    }
    uc_plan_free(&plan);
}

static void choices_that_nobody_can_make_are_not_written(void **state)
{
    const struct {
        struct uc_plan_choices choices;
        const char *says;
    } cases[] = {
        { { .apis = 3 }, "no such API" },
        { { .apis = 4 }, "no such API" },
        { { .allow = UC_NOTE_TENSOR_CORE }, "a note that no plan allows" },
        { { .allow = UINT_MAX }, "a note that no plan allows" },
        { { .min_gain = -0.01 }, "the least gain is out of range" },
        { { .min_gain = 1.01 }, "the least gain is out of range" },
        { { .min_gain = NAN }, "the least gain is out of range" },
        { { .max_pieces = -1 }, "the most micro-batches are negative" },
        { { .max_pieces = 3 }, "more micro-batches than there were to be" },
        { { .apis = 1u << UC_API_GRAPH }, "of an API that was not to be used" },
        { { .deterministic = true }, "is nondeterministic, and was not to be" },
    };
    const char *path = fresh();
    struct uc_error error;
    struct uc_plan plan;

    (void)state;
    sample_plan(&plan);
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        plan.choices = cases[i].choices;
        assert_int_equal(uc_plans_write(path, &plan, 1, &error), UC_EINTERNAL);
        assert_says(&error, cases[i].says);
        assert_int_equal(access(path, F_OK), -1);
    }
    uc_plan_free(&plan);
}

static void foreign_files_are_refused_untouched(void **state)
{
    static const char text[] = "network = alexnet\n";
    const char *path = fresh(), *profile_path = in_folder("a.profile");
    const char *folder = in_folder("folder");
    struct uc_profile *profile = NULL;
    struct uc_error error = { 0 };
    struct uc_plan plan, *plans = &plan;
    unsigned char *bytes;
    size_t size, count = 5;

    (void)state;
    sample_plan(&plan);
    write_file(path, text, sizeof text - 1);
    assert_int_equal(uc_plans_write(path, &plan, 1, &error), UC_EFILE);
    assert_says(&error, "is no plan file");
    assert_file_equals(path, text, sizeof text - 1);
    unlink(path);

    assert_done(uc_profile_open(profile_path, UC_PROFILE_WRITE, &profile, err));
    uc_profile_close(profile);
    bytes = read_file(profile_path, &size);
    assert_int_equal(uc_plans_write(profile_path, &plan, 1, &error), UC_EFILE);
    assert_says(&error, "is a ucudnn profile, not a ucudnn plan");
    assert_file_equals(profile_path, bytes, size);
    free(bytes);
    assert_int_equal(uc_plans_read(profile_path, &plans, &count, &error),
                     UC_EFILE);
    assert_ptr_equal(plans, &plan);
    assert_int_equal(count, 5);
    unlink(profile_path);

    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(uc_plans_write(folder, &plan, 1, &error), UC_EFILE);
    assert_says(&error, "directory");
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(
        uc_plans_write(in_folder("nowhere/a.plan"), &plan, 1, &error),
        UC_EFILE);
    assert_says(&error, "No such file or directory");
    assert_int_equal(uc_plans_write("", &plan, 1, &error), UC_EFILE);
    assert_int_equal(uc_plans_write("/dev/null", &plan, 1, &error), UC_EFILE);
    assert_says(&error, "not a regular file");
    assert_int_equal(uc_plans_read(path, &plans, &count, &error), UC_EFILE);
    assert_says(&error, "No such file");
    assert_int_equal(files_in_folder(), 0);
    uc_plan_free(&plan);
}

static void an_empty_file_is_taken_as_new_and_keeps_its_mode(void **state)
{
    const char *path = fresh();
    struct uc_plan plan, *plans;
    struct uc_error error = { 0 };
    struct stat st;
    size_t count;

    (void)state;
    sample_plan(&plan);
    write_file(path, "", 0);
    assert_int_equal(uc_plans_read(path, &plans, &count, &error), UC_EFILE);
    assert_says(&error, "is empty");
    assert_int_equal(chmod(path, 0640), 0);
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_plans(path, &plan, 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    unlink(path);
    umask(027);
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    umask(022);
    uc_plan_free(&plan);
}

static void links_are_followed(void **state)
{
    const char *path = fresh(), *link = in_folder("link.plan");
    struct uc_error error = { 0 };
    struct uc_plan plan;
    struct stat st;

    (void)state;
    sample_plan(&plan);
    assert_int_equal(symlink("store.plan", link), 0);
    assert_int_equal(uc_plans_write(link, &plan, 1, &error), UC_EFILE);
    assert_says(&error, "link to nothing");
    assert_done(uc_plans_write(path, &plan, 1, err));
    plan.created_at++;
    assert_done(uc_plans_write(link, &plan, 1, err));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_plans(path, &plan, 1);
    unlink(link);
    uc_plan_free(&plan);
}

static void a_relative_name_is_a_file_here(void **state)
{
    static const char *const names[] = { "plain", "file:a.plan?mode=ro",
                                         ":memory:", "a b#c?d%20e.plan",
                                         "-dash.plan" };
    struct uc_plan plan;
    int before = open(".", O_RDONLY);

    (void)state;
    sample_plan(&plan);
    fresh();
    assert_int_equal(chdir(support_folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_done(uc_plans_write(names[i], &plan, 1, err));
        assert_done(uc_plans_write(names[i], &plan, 1, err));
        assert_plans(in_folder(names[i]), &plan, 1);
        assert_plans(names[i], &plan, 1);
        assert_int_equal(files_in_folder(), 1);
        assert_int_equal(unlink(names[i]), 0);
    }
    assert_int_equal(fchdir(before), 0);
    close(before);
    uc_plan_free(&plan);
}

static void the_kinds_are_told_apart(void **state)
{
    const char *path = fresh(), *profile_path = in_folder("a.profile");
    struct uc_profile *profile = NULL;
    enum uc_file_kind kind;
    struct uc_error error = { 0 };
    struct uc_plan plan;

    (void)state;
    sample_plan(&plan);
    assert_done(uc_plans_write(path, &plan, 1, err));
    assert_done(uc_profile_open(profile_path, UC_PROFILE_WRITE, &profile, err));
    uc_profile_close(profile);
    assert_done(uc_file_identify(path, &kind, err));
    assert_int_equal(kind, UC_FILE_PLAN);
    assert_done(uc_file_identify(profile_path, &kind, err));
    assert_int_equal(kind, UC_FILE_PROFILE);
    assert_int_equal(uc_file_identify("/dev", &kind, &error), UC_EFILE);
    assert_says(&error, "/dev: is a directory");
    assert_int_equal(uc_file_identify(in_folder("none"), &kind, &error),
                     UC_EFILE);
    write_file(path, "hello", 5);
    assert_int_equal(uc_file_identify(path, &kind, &error), UC_EFILE);
    assert_says(&error, "is no plan or profile file");
    unlink(profile_path);
    uc_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_comes_back_as_written),
        cmocka_unit_test(graph_kernels_come_back_as_written),
        cmocka_unit_test(totals_count_each_repeat),
        cmocka_unit_test(the_same_plan_is_replaced_and_others_are_kept),
        cmocka_unit_test(several_plans_are_written_or_none),
        cmocka_unit_test(what_a_killed_writer_left_is_removed),
        cmocka_unit_test(what_others_left_is_removed_when_it_is_old),
        cmocka_unit_test(plans_that_cannot_be_followed_are_not_written),
        cmocka_unit_test(choices_are_equal_when_all_are),
        cmocka_unit_test(choices_that_nobody_can_make_are_not_written),
        cmocka_unit_test(a_plan_keeps_to_its_choices),
        cmocka_unit_test(foreign_files_are_refused_untouched),
        cmocka_unit_test(an_empty_file_is_taken_as_new_and_keeps_its_mode),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(a_relative_name_is_a_file_here),
        cmocka_unit_test(the_kinds_are_told_apart),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
