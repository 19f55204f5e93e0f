#include "config.h"

#include "planner/coverage.h"
#include "planner/report.h"
#include "planner/table.h"

#include <stdlib.h>

/** What is printed of an environment: read before anything is printed. */
struct summary {
    struct uc_profile_environment environment;
    size_t problems;
    int64_t operations[UC_OPERATIONS], maths[UC_MATHS]; /**< of problems */
    int64_t outcomes[UC_OUTCOMES];
    struct uc_profile_kernels kernels;
    struct uc_coverage_row *networks; /**< owned */
    size_t network_count;
};

static enum uc_status read_problems(struct uc_profile *profile,
                                    struct summary *summary,
                                    struct uc_error *err)
{
    struct uc_problem *problems = NULL;
    enum uc_status status = uc_profile_problems(
        profile, summary->environment.id, &problems, &summary->problems, err);

    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < summary->problems; i++) {
        summary->operations[problems[i].operation]++;
        summary->maths[problems[i].math]++;
    }
    free(problems);
    return UC_OK;
}

static enum uc_status read_summary(struct uc_profile *profile,
                                   struct summary *summary,
                                   struct uc_error *err)
{
    enum uc_status status =
        uc_profile_count(profile, &summary->environment, err);

    if (status == UC_OK)
        status = read_problems(profile, summary, err);
    if (status == UC_OK)
        status = uc_profile_outcomes(profile, summary->environment.id,
                                     summary->outcomes, err);
    if (status == UC_OK)
        status = uc_profile_kernels(profile, summary->environment.id,
                                    &summary->kernels, err);
    if (status == UC_OK)
        status = uc_coverage_shipped(profile, summary->environment.id,
                                     &summary->networks,
                                     &summary->network_count, err);
    return status;
}

static void print_problems(FILE *out, const struct summary *summary)
{
    const char *separator = "; ";

    fprintf(out, "problems      %zu", summary->problems);
    for (int i = 0; i < UC_OPERATIONS; i++)
        fprintf(out, "%s %lld %s", i == 0 ? ":" : ",",
                (long long)summary->operations[i],
                uc_operation_name((enum uc_operation)i));
    for (int i = 0; i < UC_MATHS; i++) {
        if (summary->maths[i] == 0)
            continue;
        fprintf(out, "%s%lld %s", separator, (long long)summary->maths[i],
                uc_math_name((enum uc_math)i));
        separator = ", ";
    }
    putc('\n', out);
}

static void print_kernels(FILE *out, const struct summary *summary)
{
    const struct uc_profile_kernels *kernels = &summary->kernels;
    char mean[UC_REPORT_TEXT], most[UC_REPORT_TEXT];

    fprintf(out, "measurements  %lld",
            (long long)summary->environment.measurements);
    for (int i = 0; i < UC_APIS; i++)
        fprintf(out, "%s %lld %s", i == 0 ? ":" : ",",
                (long long)kernels->rows[i], uc_api_name((enum uc_api)i));
    putc('\n', out);
    if (kernels->compiled == 0)
        return;
    uc_report_time(kernels->compiled_mean_ns, mean);
    uc_report_time(kernels->compiled_most_ns, most);
    fprintf(out,
            "compiled      %lld at run time, in %s on average, %s at most\n",
            (long long)kernels->compiled, mean, most);
}

static enum uc_status print_outcomes(FILE *out, const struct summary *summary,
                                     struct uc_error *err)
{
    struct uc_table table;
    enum uc_status status;

    uc_table_init(&table, "llr");
    for (int i = 0; i < UC_OUTCOMES; i++) {
        char text[UC_REPORT_TEXT];

        if (summary->outcomes[i] == 0)
            continue;
        uc_table_add(&table, "");
        uc_table_add(&table, uc_outcome_name((enum uc_outcome)i));
        snprintf(text, sizeof text, "%lld", (long long)summary->outcomes[i]);
        uc_table_add(&table, text);
    }
    status = uc_table_print(&table, out, err);
    uc_table_free(&table);
    return status;
}

/** Whether kernels of the graph API are among those to choose from. */
static void engines_text(const struct uc_coverage_row *row,
                         char text[UC_REPORT_LINE])
{
    if (row->unsearched == 0)
        snprintf(text, UC_REPORT_LINE, "measured");
    else if (row->unsearched == row->problems)
        snprintf(text, UC_REPORT_LINE, "not measured");
    else
        snprintf(text, UC_REPORT_LINE, "not measured for %zu of %zu problems",
                 row->unsearched, row->problems);
}

static enum uc_status print_networks(FILE *out, const struct summary *summary,
                                     struct uc_error *err)
{
    static const char *const titles[] = { "network", "math", "layout",
                                          "up to batch", "graph engines" };
    struct uc_table table;
    enum uc_status status;

    if (summary->network_count == 0) {
        fputs("networks      none that ships can be planned without "
              "measuring\n",
              out);
        return UC_OK;
    }
    fputs("networks      those that ship and can be planned without "
          "measuring:\n\n",
          out);
    uc_table_init(&table, "lllrl");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        uc_table_add(&table, titles[i]);
    for (size_t i = 0; i < summary->network_count; i++) {
        const struct uc_coverage_row *row = &summary->networks[i];
        char text[UC_REPORT_LINE];

        uc_table_add(&table, row->network);
        uc_table_add(&table, uc_math_name(row->math));
        uc_table_add(&table, uc_layout_name(row->layout));
        snprintf(text, sizeof text, "%lld", (long long)row->largest_batch);
        uc_table_add(&table, text);
        engines_text(row, text);
        uc_table_add(&table, text);
    }
    status = uc_table_print(&table, out, err);
    uc_table_free(&table);
    return status;
}

static enum uc_status print_summary(FILE *out, const struct summary *summary,
                                    struct uc_error *err)
{
    const struct uc_profile_environment *entry = &summary->environment;
    char line[UC_REPORT_LINE], first[UC_REPORT_TEXT], last[UC_REPORT_TEXT];
    enum uc_status status;

    fprintf(out, "environment   %lld\n", (long long)entry->id);
    uc_report_device(&entry->environment.device, line);
    fprintf(out, "device        %s\n", line);
    uc_report_versions(&entry->environment.versions, line);
    fprintf(out, "versions      %s\n", line);
    if (entry->measurements > 0) {
        uc_report_date(entry->first_at, first);
        uc_report_date(entry->last_at, last);
        fprintf(out, "dates         %s to %s UTC\n", first, last);
    }
    print_problems(out, summary);
    print_kernels(out, summary);
    status = print_outcomes(out, summary, err);
    return status == UC_OK ? print_networks(out, summary, err) : status;
}

static void free_all(struct summary *summaries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(summaries[i].networks);
    free(summaries);
}

static enum uc_status read_all(struct uc_profile *profile,
                               struct summary **summaries, size_t *count,
                               struct uc_error *err)
{
    struct uc_profile_environment *list = NULL;
    struct summary *made = NULL;
    size_t used = 0;
    enum uc_status status = uc_profile_environments(profile, &list, &used, err);

    if (status != UC_OK)
        return status;
    made = calloc(used + 1, sizeof *made);
    if (made == NULL)
        status = uc_no_memory(err);
    for (size_t i = 0; i < used && status == UC_OK; i++) {
        made[i].environment = list[i];
        status = read_summary(profile, &made[i], err);
    }
    free(list);
    if (status != UC_OK) {
        free_all(made, made == NULL ? 0 : used);
        return status;
    }
    *summaries = made;
    *count = used;
    return UC_OK;
}

enum uc_status uc_report_profile_table(FILE *out, struct uc_profile *profile,
                                       struct uc_error *err)
{
    struct summary *summaries = NULL;
    size_t count = 0;
    enum uc_status status = read_all(profile, &summaries, &count, err);

    if (status == UC_OK && count == 0)
        fputs("no measurements yet\n", out);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        if (i > 0)
            putc('\n', out);
        status = print_summary(out, &summaries[i], err);
    }
    free_all(summaries, count);
    return status;
}
