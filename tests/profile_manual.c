#include "config.h"

/*
 * Tables and columns of ucudnn-profile(5) and those of new files are the
 * same, in the same order and of the same types; and so are outcomes.
 */

#include "tests/plan_support.h"

#include "db/sql.h"

/** "table.column TYPE" a line, in the order met. */
struct listing {
    char text[8192];
    size_t used;
};

static void list(struct listing *listing, const char *table, const char *column,
                 const char *type)
{
    int length = snprintf(listing->text + listing->used,
                          sizeof listing->text - listing->used, "%s.%s %s\n",
                          table, column, type);

    listing->used += (size_t)length;
    assert_true(listing->used < sizeof listing->text);
}

static FILE *open_page(void)
{
    const char *source = getenv("abs_top_srcdir");
    char path[4096];
    FILE *page;

    assert_non_null(source);
    snprintf(path, sizeof path, "%s/man/ucudnn-profile.5", source);
    page = fopen(path, "r");
    assert_non_null(page);
    return page;
}

/** The ".It Cm column Li TYPE" lines below ".Ss table" of a section. */
static void list_page(const char *section, struct listing *listing)
{
    char line[512], table[64] = "";
    bool inside = false;
    FILE *page = open_page();

    while (fgets(line, sizeof line, page) != NULL) {
        char column[64], type[64] = "";

        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, ".Sh ", 4) == 0)
            inside = strcmp(line + 4, section) == 0;
        else if (strncmp(line, ".Ss ", 4) == 0)
            snprintf(table, sizeof table, "%.63s", line + 4);
        else if (inside &&
                 sscanf(line, ".It Cm %63s Li %63s", column, type) >= 1)
            list(listing, table, column, type);
    }
    fclose(page);
}

/** A view's columns have no types of their own. */
static void list_file(const char *path, struct listing *listing)
{
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT s.name, t.name, iif(s.type = 'view', '',"
                           " t.type) FROM sqlite_schema AS s,"
                           " pragma_table_info(s.name) AS t"
                           " WHERE s.type IN ('table', 'view')"
                           " ORDER BY s.rowid, t.cid",
                           -1, &statement, NULL),
        SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        list(listing, (const char *)sqlite3_column_text(statement, 0),
             (const char *)sqlite3_column_text(statement, 1),
             (const char *)sqlite3_column_text(statement, 2));
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void profiles_are_as_the_page_says(void **state)
{
    struct listing page = { .used = 0 }, file = { .used = 0 };
    const char *path = in_folder("manual.profile");
    struct uc_profile *profile = NULL;

    (void)state;
    assert_done(uc_profile_open(path, UC_PROFILE_WRITE, &profile, err));
    uc_profile_close(profile);
    list_page("PROFILES", &page);
    list_file(path, &file);
    assert_string_equal(page.text, file.text);
    assert_non_null(strstr(page.text, "measurement.error REAL\n"));
}

static void plans_are_as_the_page_says(void **state)
{
    struct listing page = { .used = 0 }, file = { .used = 0 };
    const char *path = in_folder("manual.plan");
    struct uc_plan plan;

    (void)state;
    sample_plan(&plan);
    assert_done(uc_plans_write(path, &plan, 1, err));
    uc_plan_free(&plan);
    list_page("PLANS", &page);
    list_file(path, &file);
    assert_string_equal(page.text, file.text);
    assert_non_null(strstr(page.text, "micro_batch.size INTEGER\n"));
}

static void every_outcome_is_explained(void **state)
{
    char line[512], name[64];
    int next = 0;
    FILE *page = open_page();

    (void)state;
    while (fgets(line, sizeof line, page) != NULL) {
        if (sscanf(line, ".It Sy %63s", name) != 1)
            continue;
        assert_true(next < UC_OUTCOMES);
        assert_string_equal(name, uc_outcome_name((enum uc_outcome)next));
        next++;
    }
    fclose(page);
    assert_int_equal(next, UC_OUTCOMES);
}

static void application_ids_are_those_of_the_page(void **state)
{
    char wanted[2][32], line[512];
    int found = 0;
    FILE *page = open_page();

    (void)state;
    snprintf(wanted[0], sizeof wanted[0], "0x%x", UC_SQL_PROFILE_ID);
    snprintf(wanted[1], sizeof wanted[1], "0x%x", UC_SQL_PLAN_ID);
    while (fgets(line, sizeof line, page) != NULL)
        for (int i = 0; i < 2; i++)
            found += strstr(line, wanted[i]) != NULL;
    fclose(page);
    assert_int_equal(found, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_are_as_the_page_says),
        cmocka_unit_test(plans_are_as_the_page_says),
        cmocka_unit_test(every_outcome_is_explained),
        cmocka_unit_test(application_ids_are_those_of_the_page),
    };

    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
