#include "config.h"

#include "planner/cmd_input.h"
#include "planner/commands.h"
#include "planner/curve.h"
#include "planner/report.h"

#include "common/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct args {
    struct input_options input;
    const char *output;
    int64_t limit_bytes, total_bytes; /**< -1: not given */
    double target;                    /**< < 0: not given */
};

static const struct opt_spec opts[] = {
    { "workspace-limit", 'w', OPT_BYTES, offsetof(struct args, limit_bytes),
      "BYTES", "most workspace each operation may use (64M, 1.5G)" },
    { "total-workspace", 't', OPT_BYTES, offsetof(struct args, total_bytes),
      "BYTES", "workspace that all operations divide among them" },
    { "target", 0, OPT_SHARE, offsetof(struct args, target), "SHARE",
      "the least limit of each operation that reaches this share of the best "
      "speed" },
    { "output", 'o', OPT_STRING, offsetof(struct args, output), "PLAN",
      "plan file to write; other plans in it are kept" },
    { .type = OPT_END },
};

static const struct args defaults = {
    .input = INPUT_DEFAULTS,
    .limit_bytes = -1,
    .total_bytes = -1,
    .target = -1,
};

/* Plans, at most one of each mode. */

struct plans {
    struct uc_plan list[2];
    size_t count;
    bool divided;
    struct uc_planning_proof proof; /**< of the division */
    struct uc_planning_coverage coverage;
};

/** The least limit at which the target is reached. */
static enum uc_status find_limit(const struct args *args,
                                 const struct uc_planning *planning,
                                 int64_t *limit_bytes, struct uc_error *err)
{
    struct uc_curve curve;
    const struct uc_curve_point *knee;
    enum uc_status status =
        uc_curve_reuse(planning, UC_CURVE_EVERY, &curve, err);

    if (status != UC_OK)
        return status;
    knee = uc_curve_knee(&curve, args->target);
    *limit_bytes = knee->limit_bytes;
    if (!args->input.quiet) {
        char best[UC_REPORT_TEXT], bytes[UC_BYTES_TEXT];

        uc_report_time(curve.best_ns, best);
        uc_bytes_print(knee->limit_bytes, bytes);
        fprintf(stderr,
                "target %.4g%% of the best speed (%s) needs %s (%" PRId64
                " bytes) per operation\n",
                args->target * 100, best, bytes, knee->limit_bytes);
    }
    uc_curve_free(&curve);
    return UC_OK;
}

static enum uc_status make_plans(const struct args *args,
                                 const struct uc_planning *planning,
                                 struct plans *plans, struct uc_error *err)
{
    int64_t limit_bytes = args->limit_bytes;
    enum uc_status status = UC_OK;

    if (args->target >= 0)
        status = find_limit(args, planning, &limit_bytes, err);
    if (status == UC_OK && limit_bytes >= 0) {
        status = uc_planning_reuse(planning, limit_bytes,
                                   &plans->list[plans->count], err);
        plans->count += status == UC_OK;
    }
    if (status == UC_OK && args->total_bytes >= 0) {
        status =
            uc_planning_divide(planning, args->total_bytes, args->input.mip_gap,
                               args->input.time_limit_s,
                               &plans->list[plans->count], &plans->proof, err);
        plans->count += status == UC_OK;
        plans->divided = true;
    }
    plans->coverage = uc_planning_coverage(planning);
    return status;
}

/** What the reader of a plan should know of how it was made; on stderr. */
static void print_notes(const struct args *args, const struct plans *plans)
{
    if (plans->divided && plans->proof.time_ran_out)
        fprintf(stderr,
                "time limit reached: the division may be %.3g%% slower than "
                "the best\n",
                plans->proof.gap * 100);
    input_note_coverage(&args->input, &plans->coverage);
}

/* What a plan file loses. */

/** Each plan of the old ones that a new one replaced though it had been chosen
    otherwise; on stderr. */
static void note_replaced(const struct args *args, const struct plans *plans,
                          const struct uc_plan *old, size_t old_count)
{
    char choices[UC_REPORT_CHOICES];

    for (size_t i = 0; i < old_count; i++)
        for (size_t j = 0; j < plans->count; j++) {
            const struct uc_plan *plan = &plans->list[j];

            if (!uc_plan_same(&old[i], plan) ||
                (strcmp(old[i].policy, plan->policy) == 0 &&
                 uc_plan_choices_equal(&old[i].choices, &plan->choices)))
                continue;
            uc_report_choices(old[i].policy, &old[i].choices, choices);
            fprintf(stderr,
                    "%s: replaces a plan of the same limit made with policy "
                    "%s\n",
                    args->output, choices);
        }
}

static enum uc_status write_plans(const struct args *args,
                                  const struct plans *plans,
                                  struct uc_error *err)
{
    struct uc_plan *old = NULL;
    struct uc_error none;
    size_t old_count = 0;
    enum uc_status status;

    /* There need not be any; writing tells what is wrong with the file. */
    if (!args->input.quiet)
        uc_plans_read(args->output, &old, &old_count, &none);
    status = uc_plans_write(args->output, plans->list, plans->count, err);
    if (status == UC_OK)
        note_replaced(args, plans, old, old_count);
    uc_plans_free(old, old_count);
    return status;
}

/** Printed first: a run that fails leaves the plan file as it was. */
static enum uc_status deliver(const struct args *args,
                              const struct plans *plans, struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = 0;
         i < plans->count && status == UC_OK && !args->input.quiet; i++) {
        if (i > 0)
            putchar('\n');
        status = uc_report_plan_table(stdout, &plans->list[i], err);
    }
    if (status == UC_OK && args->output != NULL) {
        status = command_flush(err);
        if (status == UC_OK)
            status = write_plans(args, plans, err);
    }
    if (status == UC_OK && !args->input.quiet)
        print_notes(args, plans);
    return status;
}

static enum uc_status check_limits(const struct args *args,
                                   struct uc_error *err)
{
    if (args->target >= 0 && args->limit_bytes >= 0)
        return uc_fail(err, UC_EINPUT,
                       "--target and --workspace-limit exclude each other");
    if (args->target < 0 && args->limit_bytes < 0 && args->total_bytes < 0)
        return uc_fail(err, UC_EINPUT,
                       "--workspace-limit, --target or --total-workspace is "
                       "needed");
    return UC_OK;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    struct input input = { .profile = NULL };
    struct uc_planning *planning = NULL;
    struct plans plans = { .count = 0 };
    enum uc_status status = check_limits(args, err);

    if (status == UC_OK)
        status = input_read(&args->input, operands, count, &input, err);
    if (status == UC_OK)
        status = input_start(&args->input, &input, &planning, err);
    if (status == UC_OK) {
        status = make_plans(args, planning, &plans, err);
        if (status != UC_OK)
            status = uc_wrap(err, status, input.work.networks->name);
    }
    if (status == UC_OK)
        status = deliver(args, &plans, err);
    for (size_t i = 0; i < plans.count; i++)
        uc_plan_free(&plans.list[i]);
    uc_planning_free(planning);
    input_free(&input);
    return status;
}

const struct cmd cmd_plan = {
    .name = "plan",
    .operands = "NETWORK",
    .summary = "choose micro-batches from a profile's measurements",
    .opts = opts,
    .shared = input_opts,
    .shared_offset = offsetof(struct args, input),
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
