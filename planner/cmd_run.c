#include "config.h"

#include "planner/commands.h"
#include "planner/launch.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    char path[PATH_MAX];
    const char *note = NULL;
    enum uc_status status = launch_check_match(args->match, err);

    if (status == UC_OK)
        status = launch_check_plan(operands[0], path, err);
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
