#include "config.h"

#include "planner/cmd_show_html.h"
#include "planner/commands.h"
#include "planner/data.h"
#include "planner/report.h"

#include <limits.h>
#include <string.h>

struct args {
    bool csv, json;
    const char *html, *network, *profile;
};

static const struct opt_spec opts[] = {
    { "csv", 0, OPT_FLAG, offsetof(struct args, csv), NULL,
      "print a plan as comma-separated values" },
    { "json", 0, OPT_FLAG, offsetof(struct args, json), NULL, "print JSON" },
    { "html", 0, OPT_STRING, offsetof(struct args, html), "FILE",
      "write plans as a web page into this file" },
    { "network", 0, OPT_STRING, offsetof(struct args, network), "NAME",
      "only a plan file's plans of this network" },
    { "profile", 'p', OPT_STRING, offsetof(struct args, profile), "FILE",
      "profile that the page's curve is drawn from" },
    { .type = OPT_END },
};

/** Keep the plans of a network; the others are freed. */
static void filter(struct uc_plan *plans, size_t *count, const char *network)
{
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        if (strcmp(plans[i].network, network) != 0)
            uc_plan_free(&plans[i]);
        else
            plans[kept++] = plans[i];
    }
    *count = kept;
}

static enum uc_status print_tables(const struct uc_plan *plans, size_t count,
                                   struct uc_error *err)
{
    enum uc_status status = UC_OK;

    if (count == 0)
        puts("no plans");
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        if (i > 0)
            putchar('\n');
        status = uc_report_plan_table(stdout, &plans[i], err);
    }
    return status;
}

static enum uc_status show_plans(const char *path, const struct args *args,
                                 struct uc_error *err)
{
    struct uc_plan *plans = NULL;
    size_t count = 0;
    enum uc_status status;

    status = uc_plans_read(path, &plans, &count, err);
    if (status != UC_OK)
        return status;
    if (args->network != NULL) {
        filter(plans, &count, args->network);
        if (count == 0)
            status =
                uc_fail(err, UC_EINPUT, "%.256s: no plan of network \"%.64s\"",
                        path, args->network);
    }
    if (status == UC_OK) {
        if (args->html != NULL)
            status = show_html(args->html, plans, count, args->profile, err);
        else if (args->json)
            status = uc_report_plans_json(stdout, plans, count, err);
        else if (args->csv)
            status = uc_report_plans_csv(stdout, plans, count, err);
        else
            status = print_tables(plans, count, err);
    }
    uc_plans_free(plans, count);
    return status;
}

static enum uc_status show_profile(const char *path, const struct args *args,
                                   struct uc_error *err)
{
    struct uc_profile *profile = NULL;
    enum uc_status status;

    if (args->csv || args->html != NULL || args->network != NULL)
        return uc_fail(
            err, UC_EINPUT, "%.256s: is a profile; --%s is for plans", path,
            args->csv ? "csv" : (args->html != NULL ? "html" : "network"));
    status = uc_profile_open(path, UC_PROFILE_READ, &profile, err);
    if (status != UC_OK)
        return status;
    status = args->json ? uc_report_profile_json(stdout, profile, err)
                        : uc_report_profile_table(stdout, profile, err);
    uc_profile_close(profile);
    return status;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    char path[PATH_MAX];
    enum uc_file_kind kind;
    enum uc_status status;

    (void)count;
    if (args->csv && args->json)
        return uc_fail(err, UC_EINPUT, "--csv and --json exclude each other");
    if (args->html != NULL && (args->csv || args->json))
        return uc_fail(err, UC_EINPUT, "--html and --%s exclude each other",
                       args->csv ? "csv" : "json");
    if (args->profile != NULL && args->html == NULL)
        return uc_fail(err, UC_EINPUT, "--profile is for --html");
    status = uc_data_find_file(operands[0], path, sizeof path, err);
    if (status == UC_OK)
        status = uc_file_identify(path, &kind, err);
    if (status != UC_OK)
        return status;
    return kind == UC_FILE_PLAN ? show_plans(path, args, err)
                                : show_profile(path, args, err);
}

const struct cmd cmd_show = {
    .name = "show",
    .operands = "FILE",
    .summary = "print a plan, or sum up a profile",
    .opts = opts,
    .args_size = sizeof(struct args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
