#include "config.h"

#include "planner/commands.h"
#include "planner/merge.h"

#include <inttypes.h>
#include <stdio.h>

struct args {
    const char *output;
    int prefer; /**< enum uc_merge_rule */
    bool compact, quiet;
};

static const struct opt_spec opts[] = {
    { "output", 'o', OPT_STRING, offsetof(struct args, output), "FILE",
      "profile to write, which may be one of those read" },
    { "prefer", 0, OPT_PREFER, offsetof(struct args, prefer), "RULE",
      "of two measurements: more-samples (default), newest or faster" },
    { "compact", 0, OPT_FLAG, offsetof(struct args, compact), NULL,
      "leave out what no plan can need" },
    { "quiet", 'q', OPT_FLAG, offsetof(struct args, quiet), NULL,
      "no summary" },
    { .type = OPT_END },
};

static void print_summary(const struct uc_merge_summary *summary, bool compact)
{
    printf("%" PRId64 " measurements in %zu environment%s",
           summary->measurements, summary->environments,
           summary->environments == 1 ? "" : "s");
    if (summary->conflicts > 0)
        printf(", %" PRId64 " of them in several profiles", summary->conflicts);
    putchar('\n');
    if (compact)
        printf("%" PRId64 " that no plan can need left out, and all samples\n",
               summary->dropped);
    if (summary->marks > 0)
        printf("%" PRId64 " stay wrong, out-of-bounds, crashed or timed-out "
               "though another profile says otherwise\n",
               summary->marks);
}

/** Printed first: a run that fails leaves the profile as it was. */
static enum uc_status tell(const struct uc_merge_summary *summary,
                           void *context, struct uc_error *err)
{
    const struct args *args = context;

    if (args->quiet)
        return UC_OK;
    print_summary(summary, args->compact);
    return command_flush(err);
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    struct args args = *(const struct args *)options;

    if (args.output == NULL)
        return uc_fail(err, UC_EINPUT, "--output is needed");
    return uc_merge(operands, count, (enum uc_merge_rule)args.prefer,
                    args.compact, args.output, tell, &args, err);
}

const struct cmd cmd_merge = {
    .name = "merge",
    .operands = "PROFILE...",
    .summary = "unite profiles of several machines or GPUs",
    .opts = opts,
    .args_size = sizeof(struct args),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = run,
};
