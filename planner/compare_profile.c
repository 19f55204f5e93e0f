#include "config.h"

#include "planner/compare.h"

#include "common/array.h"
#include "planner/candidates.h"
#include "planner/desirable.h"
#include "planner/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ operations */

/** Split and kernels as they are printed of plans. */
static enum uc_status describe(const struct uc_compare_wish *wish,
                               const struct uc_measurement *rows,
                               const struct uc_configuration *chosen,
                               struct uc_compare_item *item,
                               struct uc_error *err)
{
    struct uc_plan_operation op = { .problem = wish->problem,
                                    .piece_count = chosen->run_count };

    op.pieces = calloc(chosen->run_count, sizeof *op.pieces);
    if (op.pieces == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < chosen->run_count; i++) {
        op.pieces[i].size = chosen->runs[i].micro.size;
        op.pieces[i].count = chosen->runs[i].count;
        op.pieces[i].kernel = rows[chosen->runs[i].micro.kernel].kernel;
    }
    uc_report_split(&op, item->split, sizeof item->split);
    uc_report_kernels(&op, item->kernels, sizeof item->kernels);
    free(op.pieces);
    return UC_OK;
}

/** Sample i of a configuration is the sum of its pieces' samples i. */
static void add_samples(const struct uc_measurement *rows,
                        const struct uc_configuration *chosen,
                        struct uc_compare_item *item)
{
    item->samples = UC_MAX_SAMPLES;
    for (size_t i = 0; i < chosen->run_count; i++) {
        const struct uc_piece *run = &chosen->runs[i];
        const struct uc_measurement *row = &rows[run->micro.kernel];

        item->spread_ns += run->count * row->spread_ns;
        if (row->samples < item->samples)
            item->samples = row->samples;
        for (int k = 0; k < item->samples; k++)
            item->sample_ns[k] += (float)run->count * row->sample_ns[k];
    }
}

static enum uc_status add_item(struct uc_compare_side *side,
                               const struct uc_compare_wish *wish,
                               const struct uc_measurement *rows,
                               const struct uc_configuration *chosen,
                               struct uc_error *err)
{
    struct uc_compare_item *item =
        uc_array_append(&side->items, &side->count, sizeof *item);

    if (item == NULL)
        return uc_no_memory(err);
    memcpy(item->layer, wish->layer, sizeof item->layer);
    item->problem = wish->problem;
    item->batch = wish->batch;
    item->repeat = wish->repeat;
    item->time_ns = chosen->time_ns;
    item->workspace_bytes = chosen->workspace_bytes;
    add_samples(rows, chosen, item);
    return describe(wish, rows, chosen, item, err);
}

/** As `plan` chooses: a division must gain over all that fits undivided. */
static const struct uc_configuration *choose(const struct uc_desirable *divided,
                                             const struct uc_desirable *whole,
                                             int64_t limit_bytes)
{
    const struct uc_configuration *chosen =
        uc_desirable_within(divided, limit_bytes);
    const struct uc_configuration *undivided =
        uc_desirable_within(whole, limit_bytes);

    if (chosen != NULL && chosen->pieces > 1 && undivided != NULL &&
        !uc_configuration_gains(chosen, undivided, UC_PLAN_MIN_GAIN))
        return undivided;
    return chosen;
}

static enum uc_status plan_wish(struct uc_compare_side *side,
                                const struct uc_compare_wish *wish,
                                const struct uc_policy *policy,
                                const struct uc_measurement *rows,
                                size_t row_count, struct uc_error *err)
{
    const struct uc_desirable_options divide = { .min_gain = UC_PLAN_MIN_GAIN },
                                      leave = { .max_pieces = 1 };
    const struct uc_candidate_filter filter = { 0 };
    struct uc_candidate_rows candidates = { 0 };
    struct uc_desirable divided = { 0 }, whole = { 0 };
    const struct uc_configuration *chosen = NULL;
    enum uc_status status =
        uc_candidate_rows_build(&wish->problem, wish->batch, policy, &filter,
                                rows, row_count, &candidates, err);

    if (status == UC_OK)
        status =
            uc_desirable_build(&candidates.candidates, &divide, &divided, err);
    if (status == UC_OK)
        status =
            uc_desirable_build(&candidates.candidates, &leave, &whole, err);
    if (status == UC_OK)
        chosen = choose(&divided, &whole, side->limit_bytes);
    if (chosen != NULL)
        status = add_item(side, wish, rows, chosen, err);
    uc_desirable_free(&whole);
    uc_desirable_free(&divided);
    uc_candidate_rows_free(&candidates);
    return status;
}

enum uc_status uc_compare_side_profile(
    struct uc_profile *profile,
    const struct uc_profile_environment *environment,
    const struct uc_compare_wish *wishes, size_t count,
    const struct uc_policy *policy, int64_t limit_bytes,
    struct uc_compare_side *side, struct uc_error *err)
{
    enum uc_status status = UC_OK;

    side->environment = environment->environment;
    side->mode = UC_PLAN_WR;
    side->limit_bytes = limit_bytes;
    uc_policy_print(policy, side->policy);
    side->choices = (struct uc_plan_choices)UC_PLAN_CHOICES;
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        struct uc_measurement *rows = NULL;
        char problem[UC_PROBLEM_TEXT];
        size_t row_count = 0;

        status = uc_profile_load(profile, environment->id, &wishes[i].problem,
                                 &rows, &row_count, err);
        if (status == UC_OK && row_count == 0) {
            uc_problem_print(&wishes[i].problem, problem);
            status = uc_fail(err, UC_EMISSING,
                             "nothing was measured of layer \"%.64s\", "
                             "%.200s",
                             wishes[i].layer, problem);
        }
        if (status == UC_OK)
            status = plan_wish(side, &wishes[i], policy, rows, row_count, err);
        free(rows);
    }
    return status;
}

/* -------------------------------------------------------- common problems */

/** The largest micro-batch that both have; 0: none. */
static int64_t largest_common(const struct uc_measurement *a, size_t a_count,
                              const struct uc_measurement *b, size_t b_count)
{
    /* Both are in the order of their micro-batches. */
    while (a_count > 0 && b_count > 0) {
        int64_t x = a[a_count - 1].micro_batch, y = b[b_count - 1].micro_batch;

        if (x == y)
            return x;
        if (x > y)
            a_count--;
        else
            b_count--;
    }
    return 0;
}

/** One of the two profiles. */
struct source {
    struct uc_profile *profile;
    int64_t env;
    struct uc_problem *problems; /**< in text order */
    size_t count, at;
};

static enum uc_status add_wish(struct source sources[2],
                               const struct uc_problem *problem, void **list,
                               size_t *count, struct uc_error *err)
{
    struct uc_measurement *rows[2] = { NULL, NULL };
    size_t row_count[2] = { 0, 0 };
    enum uc_status status = UC_OK;
    int64_t batch = 0;

    for (int i = 0; i < 2 && status == UC_OK; i++)
        status = uc_profile_load(sources[i].profile, sources[i].env, problem,
                                 &rows[i], &row_count[i], err);
    if (status == UC_OK)
        batch = largest_common(rows[0], row_count[0], rows[1], row_count[1]);
    free(rows[0]);
    free(rows[1]);
    if (batch > 0) {
        struct uc_compare_wish *wish =
            uc_array_append(list, count, sizeof *wish);

        if (wish == NULL)
            return uc_no_memory(err);
        wish->problem = *problem;
        wish->batch = batch;
        wish->repeat = 1;
    }
    return status;
}

/** Of the next problem of each: their order, as strcmp() says it. */
static int next_order(const struct source sources[2])
{
    char text[2][UC_PROBLEM_TEXT];

    for (int i = 0; i < 2; i++) {
        if (sources[i].at == sources[i].count)
            return i == 0 ? 1 : -1;
        uc_problem_print(&sources[i].problems[sources[i].at], text[i]);
    }
    return strcmp(text[0], text[1]);
}

enum uc_status uc_compare_common(struct uc_profile *old, int64_t old_env,
                                 struct uc_profile *now, int64_t new_env,
                                 struct uc_compare_wish **list, size_t *count,
                                 size_t only[2], struct uc_error *err)
{
    struct source sources[2] = { { .profile = old, .env = old_env },
                                 { .profile = now, .env = new_env } };
    void *wishes = NULL;
    size_t used = 0;
    enum uc_status status = UC_OK;

    only[0] = only[1] = 0;
    for (int i = 0; i < 2 && status == UC_OK; i++)
        status =
            uc_profile_problems(sources[i].profile, sources[i].env,
                                &sources[i].problems, &sources[i].count, err);
    while (status == UC_OK && (sources[0].at < sources[0].count ||
                               sources[1].at < sources[1].count)) {
        int order = next_order(sources);

        if (order == 0)
            status = add_wish(sources, &sources[0].problems[sources[0].at],
                              &wishes, &used, err);
        only[0] += order < 0;
        only[1] += order > 0;
        sources[0].at += order <= 0;
        sources[1].at += order >= 0;
    }
    free(sources[0].problems);
    free(sources[1].problems);
    if (status != UC_OK) {
        free(wishes);
        return status;
    }
    *list = wishes;
    *count = used;
    return UC_OK;
}
