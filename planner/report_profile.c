#include "config.h"

#include "planner/report.h"
#include "planner/table.h"

#include <stdlib.h>

static enum uc_status print_problems(FILE *out, struct uc_profile *profile,
                                     int64_t env, struct uc_error *err)
{
    int64_t operations[UC_OPERATIONS] = { 0 }, maths[UC_MATHS] = { 0 };
    struct uc_problem *problems = NULL;
    size_t count;
    const char *separator = "";
    enum uc_status status;

    status = uc_profile_problems(profile, env, &problems, &count, err);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        operations[problems[i].operation]++;
        maths[problems[i].math]++;
    }
    free(problems);
    fprintf(out, "problems      %zu", count);
    for (int i = 0; i < UC_OPERATIONS; i++)
        fprintf(out, "%s %lld %s", i == 0 ? ":" : ",", (long long)operations[i],
                uc_operation_name((enum uc_operation)i));
    fputs(count > 0 ? "; " : "", out);
    for (int i = 0; i < UC_MATHS; i++) {
        if (maths[i] == 0)
            continue;
        fprintf(out, "%s%lld %s", separator, (long long)maths[i],
                uc_math_name((enum uc_math)i));
        separator = ", ";
    }
    putc('\n', out);
    return UC_OK;
}

static enum uc_status print_outcomes(FILE *out, struct uc_profile *profile,
                                     int64_t env, struct uc_error *err)
{
    int64_t counts[UC_OUTCOMES];
    struct uc_table table;
    enum uc_status status;

    status = uc_profile_outcomes(profile, env, counts, err);
    if (status != UC_OK)
        return status;
    uc_table_init(&table, "llr");
    for (int i = 0; i < UC_OUTCOMES; i++) {
        char text[UC_REPORT_TEXT];

        if (counts[i] == 0)
            continue;
        uc_table_add(&table, "");
        uc_table_add(&table, uc_outcome_name((enum uc_outcome)i));
        snprintf(text, sizeof text, "%lld", (long long)counts[i]);
        uc_table_add(&table, text);
    }
    status = uc_table_print(&table, out, err);
    uc_table_free(&table);
    return status;
}

static enum uc_status print_environment(FILE *out, struct uc_profile *profile,
                                        struct uc_profile_environment *entry,
                                        struct uc_error *err)
{
    char line[UC_REPORT_LINE], first[UC_REPORT_TEXT], last[UC_REPORT_TEXT];
    enum uc_status status;

    status = uc_profile_count(profile, entry, err);
    if (status != UC_OK)
        return status;
    uc_report_device(&entry->environment.device, line);
    fprintf(out, "device        %s\n", line);
    uc_report_versions(&entry->environment.versions, line);
    fprintf(out, "versions      %s\n", line);
    if (entry->measurements > 0) {
        uc_report_date(entry->first_at, first);
        uc_report_date(entry->last_at, last);
        fprintf(out, "dates         %s to %s UTC\n", first, last);
    }
    status = print_problems(out, profile, entry->id, err);
    if (status != UC_OK)
        return status;
    fprintf(out, "measurements  %lld\n", (long long)entry->measurements);
    return print_outcomes(out, profile, entry->id, err);
}

enum uc_status uc_report_profile_table(FILE *out, struct uc_profile *profile,
                                       struct uc_error *err)
{
    struct uc_profile_environment *list = NULL;
    size_t count = 0;
    enum uc_status status;

    status = uc_profile_environments(profile, &list, &count, err);
    if (status == UC_OK && count == 0)
        fputs("no measurements yet\n", out);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        if (i > 0)
            putc('\n', out);
        status = print_environment(out, profile, &list[i], err);
    }
    free(list);
    return status;
}
