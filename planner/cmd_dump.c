#include "config.h"

#include "planner/commands.h"
#include "planner/data.h"
#include "planner/dump.h"

#include <limits.h>

static const struct opt_spec opts[] = {
    { .type = OPT_END },
};

static enum uc_status dump_plans(const char *path, struct uc_error *err)
{
    struct uc_plan *plans = NULL;
    size_t count = 0;
    enum uc_status status = uc_plans_read(path, &plans, &count, err);

    if (status == UC_OK)
        uc_dump_plans(stdout, plans, count);
    uc_plans_free(plans, count);
    return status;
}

static enum uc_status dump_profile(const char *path, struct uc_error *err)
{
    struct uc_profile *profile = NULL;
    enum uc_status status =
        uc_profile_open(path, UC_PROFILE_READ, &profile, err);

    if (status == UC_OK)
        status = uc_profile_check_references(profile, err);
    if (status == UC_OK)
        status = uc_dump_profile(stdout, profile, err);
    uc_profile_close(profile);
    return status;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    char path[PATH_MAX];
    enum uc_file_kind kind;
    enum uc_status status;

    (void)options;
    (void)count;
    status = uc_data_find_file(operands[0], path, sizeof path, err);
    if (status == UC_OK)
        status = uc_file_identify(path, &kind, err);
    if (status != UC_OK)
        return status;
    return kind == UC_FILE_PLAN ? dump_plans(path, err)
                                : dump_profile(path, err);
}

const struct cmd cmd_dump = {
    .name = "dump",
    .operands = "FILE",
    .summary = "print a profile or plans as text that can be reviewed",
    .opts = opts,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
