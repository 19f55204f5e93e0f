#include "config.h"

#include "db/plan.h"
#include "planner/commands.h"
#include "planner/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args {
    bool keep_graph_api, stats;
    const char *match;
};

static const struct opt_spec opts[] = {
    { .name = "match",
      .type = OPT_STRING,
      .offset = offsetof(struct args, match),
      .argument = "HOW",
      .help = "devices that may use the plan: exact, device or any" },
    { .name = "stats",
      .type = OPT_FLAG,
      .offset = offsetof(struct args, stats),
      .help = "print at exit what ran as planned and what did not" },
    { .name = "keep-graph-api",
      .type = OPT_FLAG,
      .offset = offsetof(struct args, keep_graph_api),
      .help = "do not set TORCH_CUDNN_V8_API_DISABLED=1" },
    { .type = OPT_END },
};

static enum uc_status check_match(const char *match, struct uc_error *err)
{
    if (match == NULL || strcmp(match, "exact") == 0 ||
        strcmp(match, "device") == 0 || strcmp(match, "any") == 0)
        return UC_OK;
    return uc_fail(err, UC_EINPUT,
                   "--match: \"%.64s\" is not exact, device "
                   "or any",
                   match);
}

/** The plan's absolute path, once it is known to be one. */
static enum uc_status check_plan(const char *name, char path[PATH_MAX],
                                 struct uc_error *err)
{
    struct uc_plan *plans = NULL;
    enum uc_file_kind kind;
    size_t count = 0;
    enum uc_status status = uc_file_identify(name, &kind, err);

    if (status == UC_OK && kind != UC_FILE_PLAN)
        return uc_fail(err, UC_EFILE, "%.256s: is a profile, not a plan", name);
    if (status == UC_OK)
        status = uc_plans_read(name, &plans, &count, err);
    uc_plans_free(plans, count);
    if (status == UC_OK && realpath(name, path) == NULL)
        status = uc_fail(err, UC_EFILE, "%.256s: %s", name, strerror(errno));
    return status;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    char path[PATH_MAX];
    const char *note = NULL;
    enum uc_status status = check_match(args->match, err);

    if (status == UC_OK)
        status = check_plan(operands[0], path, err);
    if (status == UC_OK)
        status = launch_prepare("UCUDNN_PLAN", path, args->keep_graph_api,
                                &note, err);
    if (status == UC_OK && note != NULL)
        fprintf(stderr, "ucudnn-plan run: %s\n", note);
    if (status == UC_OK && args->match != NULL &&
        setenv("UCUDNN_MATCH", args->match, 1) != 0)
        status = uc_no_memory(err);
    if (status == UC_OK && args->stats && setenv("UCUDNN_STATS", "1", 1) != 0)
        status = uc_no_memory(err);
    if (status != UC_OK)
        return status;
    return launch_become(operands + 1, count - 1, err);
}

const struct cmd cmd_run = {
    .name = "run",
    .operands = "PLAN -- COMMAND [ARGUMENT...]",
    .summary = "run a program as a plan says",
    .opts = opts,
    .args_size = sizeof(struct args),
    .min_operands = 2,
    .max_operands = SIZE_MAX,
    .launches = true,
    .run = run,
};
