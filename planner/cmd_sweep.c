#include "config.h"

#include "planner/canvas.h"
#include "planner/chart.h"
#include "planner/cmd_input.h"
#include "planner/commands.h"
#include "planner/outfile.h"
#include "planner/report.h"

#include "common/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/** Steps of a division's grid from a power of two to the next. */
enum { DIVISION_STEPS = 8 };

enum { IMAGES = 2 }; /**< enum uc_image */

struct args {
    struct input_options input;
    int64_t asked_bytes[2]; /**< by enum uc_plan_mode; -1: not given */
    double target;
    int64_t grid; /**< 0: not given */
    bool all, json;
    const char *images[IMAGES]; /**< by enum uc_image */
};

static const struct opt_spec opts[] = {
    { "workspace-limit", 'w', OPT_BYTES,
      offsetof(struct args, asked_bytes[UC_PLAN_WR]), "BYTES",
      "mark this limit of each operation (WR)" },
    { "total-workspace", 't', OPT_BYTES,
      offsetof(struct args, asked_bytes[UC_PLAN_WD]), "BYTES",
      "mark this total of all operations (WD)" },
    { "target", 0, OPT_SHARE, offsetof(struct args, target), "SHARE",
      "mark the least limit that reaches it (default 95%)" },
    { "grid", 0, OPT_COUNT, offsetof(struct args, grid), "N",
      "N limits from a power of two to the next, not every change" },
    { "all", 0, OPT_FLAG, offsetof(struct args, all), NULL,
      "print every limit, not only every 5% of time" },
    { "json", 0, OPT_FLAG, offsetof(struct args, json), NULL,
      "print JSON, with every limit" },
    { "svg", 0, OPT_STRING, offsetof(struct args, images[UC_IMAGE_SVG]), "FILE",
      "draw the curves into this file" },
    { "png", 0, OPT_STRING, offsetof(struct args, images[UC_IMAGE_PNG]), "FILE",
      "draw the curves into this file" },
    { .type = OPT_END },
};

static const struct args defaults = {
    .input = INPUT_DEFAULTS,
    .asked_bytes = { -1, -1 },
    .target = 0.95,
};

static enum uc_status make_curves(const struct args *args,
                                  const struct uc_planning *planning,
                                  struct uc_curve curves[2],
                                  struct uc_error *err)
{
    struct uc_curve_division division = {
        .steps = args->grid > 0 ? args->grid : DIVISION_STEPS,
        .target = args->target,
        .total_bytes = args->asked_bytes[UC_PLAN_WD],
        .mip_gap = args->input.mip_gap,
        .time_limit_s = args->input.time_limit_s,
    };
    enum uc_status status =
        uc_curve_reuse(planning, args->grid, &curves[UC_PLAN_WR], err);

    if (status == UC_OK)
        status = uc_curve_divide(planning, &division, &curves[UC_PLAN_WD], err);
    return status;
}

/** What is to be marked is on its curve. */
static enum uc_status check_asked(const struct args *args,
                                  const struct uc_curve curves[2],
                                  struct uc_error *err)
{
    static const char *const names[] = { "--workspace-limit",
                                         "--total-workspace" };

    for (int mode = 0; mode < 2; mode++) {
        int64_t least = curves[mode].points[0].limit_bytes;
        char text[UC_BYTES_TEXT];

        if (args->asked_bytes[mode] < 0 || args->asked_bytes[mode] >= least)
            continue;
        uc_bytes_print(least, text);
        return uc_fail(err, UC_ENOFIT,
                       "no configuration fits %s %" PRId64
                       ": the least that would do is %" PRId64 " bytes (%s)",
                       names[mode], args->asked_bytes[mode], least, text);
    }
    return UC_OK;
}

/* --------------------------------------------------------------- images */

static enum uc_status draw(const struct args *args,
                           const struct uc_report_sweep *sweep,
                           const struct input *input,
                           struct outfile files[IMAGES], struct uc_error *err)
{
    static const double width = 800, height = 470;
    char title[UC_NETWORK_NAME + 64], subtitle[UC_REPORT_LINE];
    struct uc_chart chart = { title, subtitle, .target = args->target };
    enum uc_status status = UC_OK;

    uc_report_sweep_titles(sweep, input->work.operations->problem.math, title,
                           sizeof title, subtitle);
    for (int mode = 0; mode < 2; mode++)
        uc_chart_add(&chart, &sweep->curves[mode], args->asked_bytes[mode]);
    for (int i = 0; i < IMAGES && status == UC_OK; i++) {
        if (args->images[i] == NULL)
            continue;
        status = outfile_begin(&files[i], args->images[i], err);
        if (status == UC_OK)
            status =
                uc_canvas_image((enum uc_image)i, width, height, uc_chart_draw,
                                &chart, files[i].stream, err);
    }
    return status;
}

static enum uc_status print(const struct args *args,
                            const struct uc_report_sweep *sweep,
                            struct uc_error *err)
{
    if (args->json)
        return uc_report_sweep_json(stdout, sweep, err);
    if (args->input.quiet)
        return UC_OK;
    return uc_report_sweep_table(stdout, sweep, args->all || args->grid > 0,
                                 err);
}

/** What the reader should know of how it was made; on stderr. */
static void print_notes(const struct args *args,
                        const struct uc_report_sweep *sweep,
                        const struct uc_planning *planning)
{
    const struct uc_curve *division = &sweep->curves[UC_PLAN_WD];
    struct uc_planning_coverage coverage = uc_planning_coverage(planning);

    if (division->time_ran_out)
        fprintf(stderr,
                "time limit reached: a division may be %.3g%% slower than the "
                "best\n",
                division->gap * 100);
    input_note_coverage(&args->input, &coverage);
}

/** Printed first: a run that fails leaves the images as they were. */
static enum uc_status deliver(const struct args *args,
                              const struct uc_report_sweep *sweep,
                              const struct input *input, struct uc_error *err)
{
    struct outfile files[IMAGES] = { { .path = NULL } };
    enum uc_status status = draw(args, sweep, input, files, err);

    if (status == UC_OK)
        status = print(args, sweep, err);
    if (status == UC_OK)
        status = command_flush(err);
    for (int i = 0; i < IMAGES && status == UC_OK; i++)
        if (files[i].stream != NULL)
            status = outfile_write(&files[i], err);
    for (int i = 0; i < IMAGES; i++) {
        if (status == UC_OK && files[i].target != NULL)
            status = outfile_finish(&files[i], err);
        outfile_drop(&files[i]);
    }
    return status;
}

static enum uc_status check_args(const struct args *args, const char *network,
                                 struct uc_error *err)
{
    for (int i = 0; i < IMAGES; i++)
        if (args->images[i] != NULL &&
            outfile_is_same(args->images[i], network))
            return uc_fail(err, UC_EINPUT, "%.256s: is the network itself",
                           args->images[i]);
    if (args->images[UC_IMAGE_SVG] != NULL &&
        args->images[UC_IMAGE_PNG] != NULL &&
        (strcmp(args->images[UC_IMAGE_SVG], args->images[UC_IMAGE_PNG]) == 0 ||
         outfile_is_same(args->images[UC_IMAGE_SVG],
                         args->images[UC_IMAGE_PNG])))
        return uc_fail(err, UC_EINPUT, "--svg and --png name one file");
    if (args->grid > UC_CURVE_MOST_STEPS)
        return uc_fail(err, UC_EINPUT, "--grid: %" PRId64 " is more than %d",
                       args->grid, UC_CURVE_MOST_STEPS);
    if (args->images[UC_IMAGE_SVG] != NULL ||
        args->images[UC_IMAGE_PNG] != NULL)
        return uc_canvas_can_image(err);
    return UC_OK;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    struct input input = { .profile = NULL };
    struct uc_planning *planning = NULL;
    struct uc_report_sweep sweep = { .network = NULL };
    char policy[UC_POLICY_TEXT];
    enum uc_status status = check_args(args, operands[0], err);

    if (status == UC_OK)
        status = input_read(&args->input, operands, count, &input, err);
    if (status == UC_OK)
        status = input_start(&args->input, &input, &planning, err);
    if (status == UC_OK)
        status = make_curves(args, planning, sweep.curves, err);
    if (status == UC_OK)
        status = check_asked(args, sweep.curves, err);
    if (status == UC_OK) {
        const struct uc_planning_options *how = &args->input.planning;

        uc_policy_print(&how->policy, policy);
        sweep.network = input.work.networks->name;
        sweep.policy = policy;
        sweep.batch = input.work.networks->batch;
        sweep.environment = &input.environment.environment;
        sweep.choices = uc_planning_choices(how);
        sweep.target = args->target;
        for (int mode = 0; mode < 2; mode++)
            sweep.asked_bytes[mode] = args->asked_bytes[mode];
        status = deliver(args, &sweep, &input, err);
        if (status == UC_OK && !args->input.quiet)
            print_notes(args, &sweep, planning);
    }
    for (int mode = 0; mode < 2; mode++)
        uc_curve_free(&sweep.curves[mode]);
    uc_planning_free(planning);
    input_free(&input);
    return status;
}

const struct cmd cmd_sweep = {
    .name = "sweep",
    .operands = "NETWORK",
    .summary = "predict the time at every workspace limit",
    .opts = opts,
    .shared = input_opts,
    .shared_offset = offsetof(struct args, input),
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
