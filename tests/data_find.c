#include "config.h"

#include "planner/data.h"
#include "tests/unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[] = "data_find.XXXXXX";

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

/** A data folder "data" in an empty scratch folder that is current. */
static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(scratch) == NULL || chdir(scratch) != 0 ||
        mkdir("data", 0777) != 0 || mkdir("data/networks", 0777) != 0 ||
        mkdir("data/profiles", 0777) != 0 || mkdir("b", 0777) != 0)
        return -1;
    touch("data/networks/b.json");
    touch("data/networks/a.json");
    touch("data/networks/.hidden.json");
    touch("data/networks/.json");
    touch("data/networks/README");
    touch("data/profiles/h.profile");
    touch("here");
    return setenv("UCUDNN_DATA_DIR", "data", 1);
}

static int tear_down(void **state)
{
    static const char *const files[] = { "data/networks/b.json",
                                         "data/networks/a.json",
                                         "data/networks/.hidden.json",
                                         "data/networks/.json",
                                         "data/networks/README",
                                         "data/profiles/h.profile",
                                         "here" };
    static const char *const folders[] = { "data/networks", "data/profiles",
                                           "data", "b" };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(files); i++)
        unlink(files[i]);
    for (size_t i = 0; i < UNIT_COUNT(folders); i++)
        rmdir(folders[i]);
    return chdir("..") == 0 && rmdir(scratch) == 0 ? 0 : -1;
}

static void names_become_paths(void **state)
{
    static const struct {
        enum uc_data_kind kind;
        const char *name, *path;
    } rows[] = {
        { UC_DATA_NETWORK, "a", "data/networks/a.json" },
        { UC_DATA_PROFILE, "h", "data/profiles/h.profile" },
        { UC_DATA_NETWORK, "here", "here" },              /* an existing file */
        { UC_DATA_NETWORK, "b", "data/networks/b.json" }, /* not the folder */
        { UC_DATA_NETWORK, "./a", "./a" },                /* a slash */
        { UC_DATA_NETWORK, "x/y", "x/y" },
        { UC_DATA_NETWORK, "a.json", "a.json" }, /* a suffix */
        { UC_DATA_PROFILE, "x.profile", "x.profile" },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        char path[64];
        struct uc_error err = { .text = "" };

        if (uc_data_find(rows[i].kind, rows[i].name, path, sizeof path, &err))
            fail_msg("%s: %s", rows[i].name, err.text);
        assert_string_equal(path, rows[i].path);
    }
}

static void a_name_that_finds_nothing_says_what_there_is(void **state)
{
    static const struct {
        enum uc_data_kind kind;
        const char *name, *message;
    } rows[] = {
        { UC_DATA_NETWORK, "c", "no network \"c\"; there are a, b" },
        { UC_DATA_NETWORK, "README", "no network \"README\"; there are a, b" },
        { UC_DATA_PROFILE, "c", "no profile \"c\"; there are h" },
        { UC_DATA_PROFILE, "a",
          "no profile \"a\" but a network (see \"ucudnn-plan networks\"); "
          "there are h" },
        { UC_DATA_NETWORK, "", "the network's name is empty" },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        char path[64] = "untouched";
        struct uc_error err;

        assert_int_equal(
            uc_data_find(rows[i].kind, rows[i].name, path, sizeof path, &err),
            rows[i].name[0] == '\0' ? UC_EINPUT : UC_EFILE);
        assert_string_equal(err.text, rows[i].message);
        assert_string_equal(path, "untouched");
    }
}

static void paths_that_do_not_fit_are_refused(void **state)
{
    char path[21] = "untouched", name[6000];
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_data_find(UC_DATA_NETWORK, "a", path, 21, &err), UC_OK);
    memcpy(path, "untouched", sizeof "untouched");
    assert_int_equal(uc_data_find(UC_DATA_NETWORK, "a", path, 20, &err),
                     UC_EFILE);
    assert_int_equal(uc_data_find(UC_DATA_NETWORK, "./a", path, 3, &err),
                     UC_EFILE);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(uc_data_find(UC_DATA_NETWORK, name, path, 21, &err),
                     UC_EFILE);
    name[5] = '/';
    assert_int_equal(uc_data_find(UC_DATA_NETWORK, name, path, 21, &err),
                     UC_EFILE);
    assert_string_equal(path, "untouched");
}

static void lists_are_sorted_and_bare(void **state)
{
    char **names;
    size_t count;
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_data_list(UC_DATA_NETWORK, &names, &count, &err),
                     UC_OK);
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "b");
    uc_data_free(names, count);
    uc_data_free(NULL, 0);
}

static void many_names_are_cut_short(void **state)
{
    char path[64];
    struct uc_error err;

    (void)state;
    for (int i = 0; i < 60; i++) {
        snprintf(path, sizeof path, "data/profiles/profile-%02d.profile", i);
        touch(path);
    }
    assert_int_equal(
        uc_data_find(UC_DATA_PROFILE, "x", path, sizeof path, &err), UC_EFILE);
    assert_non_null(strstr(err.text, "there are h, profile-00, profile-01, "));
    assert_string_equal(err.text + strlen(err.text) - 3, "...");
    for (int i = 0; i < 60; i++) {
        snprintf(path, sizeof path, "data/profiles/profile-%02d.profile", i);
        unlink(path);
    }
}

static void a_missing_folder_is_named(void **state)
{
    char **names = NULL;
    size_t count;
    char path[64];
    struct uc_error err;

    (void)state;
    setenv("UCUDNN_DATA_DIR", "nowhere", 1);
    assert_int_equal(uc_data_list(UC_DATA_NETWORK, &names, &count, &err),
                     UC_EFILE);
    assert_string_equal(err.text, "nowhere/networks: No such file or directory "
                                  "(UCUDNN_DATA_DIR names this folder)");
    assert_null(names);
    assert_int_equal(
        uc_data_find(UC_DATA_NETWORK, "a", path, sizeof path, &err), UC_EFILE);
    assert_string_equal(err.text,
                        "no network \"a\": nowhere/networks: No such file or "
                        "directory (UCUDNN_DATA_DIR names this folder)");
    setenv("UCUDNN_DATA_DIR", "data", 1);
}

/** Without the variable: beside the program, or the installed folder. */
static void the_variable_is_not_needed(void **state)
{
    char path[5000];
    struct uc_error err;

    (void)state;
    unsetenv("UCUDNN_DATA_DIR");
    assert_int_equal(uc_data_find(UC_DATA_NETWORK, "no-such-network", path,
                                  sizeof path, &err),
                     UC_EFILE);
    assert_non_null(strstr(err.text, "no network \"no-such-network\""));
    setenv("UCUDNN_DATA_DIR", "data", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_paths),
        cmocka_unit_test(a_name_that_finds_nothing_says_what_there_is),
        cmocka_unit_test(paths_that_do_not_fit_are_refused),
        cmocka_unit_test(lists_are_sorted_and_bare),
        cmocka_unit_test(many_names_are_cut_short),
        cmocka_unit_test(a_missing_folder_is_named),
        cmocka_unit_test(the_variable_is_not_needed),
    };

    return cmocka_run_group_tests_name("data", tests, set_up, tear_down);
}
