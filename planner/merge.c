#include "config.h"

#include "planner/merge.h"

#include "common/array.h"
#include "db/profile_replace.h"
#include "planner/compact.h"
#include "planner/data.h"
#include "planner/dump.h"
#include "planner/merge_search.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- the rule */

static const char *const rule_names[] = {
    [UC_MERGE_MORE_SAMPLES] = "more-samples",
    [UC_MERGE_NEWEST] = "newest",
    [UC_MERGE_FASTER] = "faster",
};

const char *uc_merge_rule_name(int rule)
{
    return rule_names[rule];
}

/** How grave it is that this kernel was run; 0: not at all. */
static int gravity(enum uc_outcome outcome)
{
    switch (outcome) {
    case UC_OUT_OF_BOUNDS:
        return 4;
    case UC_WRONG:
        return 3;
    case UC_CRASHED:
        return 2;
    case UC_TIMED_OUT:
        return 1;
    default:
        return 0;
    }
}

/** The lesser first. */
static int rising(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int falling(int64_t a, int64_t b)
{
    return rising(b, a);
}

static int real_rising(double a, double b)
{
    return (a > b) - (a < b);
}

/** What was measured before what was cut off before what has no time. */
static int how_timed(const struct uc_measurement *m)
{
    if (m->outcome == UC_MEASURED)
        return 0;
    return m->outcome == UC_CUT_OFF ? 1 : 2;
}

static int preferred(enum uc_merge_rule rule, const struct uc_measurement *a,
                     const struct uc_measurement *b)
{
    int samples = falling(a->samples, b->samples);
    int age = falling(a->measured_at, b->measured_at);
    int order;

    switch (rule) {
    case UC_MERGE_NEWEST:
        return age != 0 ? age : samples;
    case UC_MERGE_FASTER:
        order = rising(how_timed(a), how_timed(b));
        return order != 0 ? order : rising(a->time_ns, b->time_ns);
    default:
        return samples != 0 ? samples : age;
    }
}

/** A total order of the contents: 0 only for what is equal in everything. */
static int contents(const struct uc_measurement *a,
                    const struct uc_measurement *b)
{
    const int orders[] = {
        rising(how_timed(a), how_timed(b)),
        falling(a->samples, b->samples),
        falling(a->measured_at, b->measured_at),
        rising(a->time_ns, b->time_ns),
        rising(a->spread_ns, b->spread_ns),
        rising(a->host_ns, b->host_ns),
        rising(a->outcome, b->outcome),
        rising(a->workspace_bytes, b->workspace_bytes),
        rising(a->notes, b->notes),
        real_rising(a->error, b->error),
        rising(a->calls, b->calls),
        rising(a->build_ns, b->build_ns),
        strcmp(a->reason, b->reason),
    };

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (orders[i] != 0)
            return orders[i];
    return memcmp(a->sample_ns, b->sample_ns,
                  (size_t)a->samples * sizeof *a->sample_ns);
}

int uc_merge_order(enum uc_merge_rule rule, const struct uc_measurement *a,
                   const struct uc_measurement *b)
{
    int order = falling(gravity(a->outcome), gravity(b->outcome));

    if (order == 0)
        order = preferred(rule, a, b);
    return order != 0 ? order : contents(a, b);
}

/* ---------------------------------------------------------- the profiles */

struct input {
    struct uc_profile *profile;
    struct uc_profile_environment *environments;
    size_t environment_count;
};

struct merge {
    struct input *inputs;
    size_t count;
    enum uc_merge_rule rule;
    bool compact;
    struct uc_profile *out;
    struct uc_merge_summary summary;
};

static enum uc_status open_inputs(struct merge *merge, char *const *paths,
                                  size_t count, struct uc_error *err)
{
    char path[PATH_MAX];
    enum uc_status status = UC_OK;

    merge->inputs = calloc(count, sizeof *merge->inputs);
    if (merge->inputs == NULL)
        return uc_no_memory(err);
    for (; merge->count < count && status == UC_OK; merge->count++) {
        struct input *input = &merge->inputs[merge->count];

        status = uc_data_find(UC_DATA_PROFILE, paths[merge->count], path,
                              sizeof path, err);
        if (status == UC_OK)
            status =
                uc_profile_open(path, UC_PROFILE_READ, &input->profile, err);
        if (status == UC_OK)
            status = uc_profile_check_references(input->profile, err);
        if (status == UC_OK)
            status =
                uc_profile_environments(input->profile, &input->environments,
                                        &input->environment_count, err);
    }
    return status;
}

static void close_inputs(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        free(merge->inputs[i].environments);
        uc_profile_close(merge->inputs[i].profile);
    }
    free(merge->inputs);
}

/** Its id in an input; -1: the input has none like it. */
static int64_t find_environment(const struct input *input,
                                const struct uc_environment *environment)
{
    for (size_t i = 0; i < input->environment_count; i++)
        if (uc_environment_order(&input->environments[i].environment,
                                 environment) == 0)
            return input->environments[i].id;
    return -1;
}

/* --------------------------------------------------------- measurements */

/** Rows of one problem from all inputs. */
struct rows {
    struct uc_measurement *list; /**< grows by whole inputs */
    size_t count;
};

static enum uc_status add_rows(struct rows *rows, const struct input *input,
                               int64_t env, const struct uc_problem *problem,
                               struct uc_error *err)
{
    struct uc_measurement *more = NULL, *grown;
    size_t count = 0;
    enum uc_status status =
        uc_profile_load(input->profile, env, problem, &more, &count, err);

    if (status != UC_OK || count == 0)
        return status;
    grown = realloc(rows->list, (rows->count + count) * sizeof *grown);
    if (grown == NULL) {
        status = uc_no_memory(err);
    } else {
        memcpy(grown + rows->count, more, count * sizeof *more);
        rows->list = grown;
        rows->count += count;
    }
    free(more);
    return status;
}

static int by_key(const void *left, const void *right)
{
    return uc_measurement_order(left, right);
}

/** One row a key stays, in place. They are ordered by it. */
static void choose(struct merge *merge, struct rows *rows)
{
    size_t kept = 0, end;

    for (size_t i = 0; i < rows->count; i = end) {
        const struct uc_measurement *best = &rows->list[i];
        bool marked = false, unmarked = false;

        for (end = i;
             end < rows->count &&
             uc_measurement_order(&rows->list[i], &rows->list[end]) == 0;
             end++) {
            if (uc_merge_order(merge->rule, &rows->list[end], best) < 0)
                best = &rows->list[end];
            if (gravity(rows->list[end].outcome) > 0)
                marked = true;
            else
                unmarked = true;
        }
        merge->summary.conflicts += end - i > 1;
        merge->summary.marks += marked && unmarked;
        rows->list[kept++] = *best;
    }
    rows->count = kept;
}

/** What no plan needs goes, and what says that it is not missing comes. */
static enum uc_status compact(struct merge *merge, int64_t env,
                              const struct uc_problem *problem,
                              struct rows *rows, struct uc_error *err)
{
    struct uc_search *searches = NULL;
    size_t before = rows->count, count = 0;
    enum uc_status status = uc_profile_load_searches(merge->out, env, problem,
                                                     &searches, &count, err);

    if (status == UC_OK)
        status = uc_compact(problem, rows->list, &rows->count, &searches,
                            &count, err);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = uc_profile_store_search(merge->out, env, problem, &searches[i],
                                         err);
    free(searches);
    merge->summary.dropped += (int64_t)(before - rows->count);
    return status;
}

static enum uc_status merge_problem(struct merge *merge,
                                    const struct uc_environment *environment,
                                    int64_t env,
                                    const struct uc_problem *problem,
                                    struct uc_error *err)
{
    struct rows rows = { 0 };
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < merge->count && status == UC_OK; i++) {
        int64_t id = find_environment(&merge->inputs[i], environment);

        if (id >= 0)
            status = add_rows(&rows, &merge->inputs[i], id, problem, err);
        if (id >= 0 && status == UC_OK)
            status = uc_merge_searches(
                merge->out, env, merge->inputs[i].profile, id, problem, err);
    }
    if (status == UC_OK && rows.count > 0)
        qsort(rows.list, rows.count, sizeof *rows.list, by_key);
    if (status == UC_OK)
        status = uc_merge_check_tuned(merge->out, env, problem, rows.list,
                                      rows.count, err);
    if (status == UC_OK)
        choose(merge, &rows);
    if (status == UC_OK && merge->compact)
        status = compact(merge, env, problem, &rows, err);
    if (status == UC_OK)
        status = uc_profile_store_all(merge->out, env, problem, rows.list,
                                      rows.count, err);
    merge->summary.measurements += (int64_t)rows.count;
    free(rows.list);
    return status;
}

/* ----------------------------------------------------- what there is of all */

struct named_problem {
    char text[UC_PROBLEM_TEXT];
    struct uc_problem problem;
};

static int by_text(const void *left, const void *right)
{
    const struct named_problem *a = left, *b = right;

    return strcmp(a->text, b->text);
}

static enum uc_status add_problems(void **list, size_t *count,
                                   const struct input *input, int64_t env,
                                   struct uc_error *err)
{
    struct uc_problem *problems = NULL;
    size_t problem_count = 0;
    enum uc_status status = uc_profile_problems(input->profile, env, &problems,
                                                &problem_count, err);

    for (size_t i = 0; i < problem_count && status == UC_OK; i++) {
        struct named_problem *named =
            uc_array_append(list, count, sizeof *named);

        if (named == NULL) {
            status = uc_no_memory(err);
            break;
        }
        named->problem = problems[i];
        uc_problem_print(&problems[i], named->text);
    }
    free(problems);
    return status;
}

static enum uc_status merge_environment(
    struct merge *merge, const struct uc_environment *environment,
    struct uc_error *err)
{
    void *list = NULL;
    const struct named_problem *problems;
    size_t count = 0;
    int64_t env;
    enum uc_status status =
        uc_profile_add_environment(merge->out, environment, &env, err);

    for (size_t i = 0; i < merge->count && status == UC_OK; i++) {
        int64_t id = find_environment(&merge->inputs[i], environment);

        if (id >= 0)
            status = add_problems(&list, &count, &merge->inputs[i], id, err);
    }
    problems = list;
    if (count > 0)
        qsort(list, count, sizeof *problems, by_text);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        if (i == 0 || strcmp(problems[i - 1].text, problems[i].text) != 0)
            status = merge_problem(merge, environment, env,
                                   &problems[i].problem, err);
    free(list);
    return status;
}

static int by_environment(const void *left, const void *right)
{
    return uc_environment_order(left, right);
}

static enum uc_status merge_all(struct merge *merge, struct uc_error *err)
{
    void *list = NULL;
    const struct uc_environment *environments;
    size_t count = 0;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < merge->count; i++)
        for (size_t j = 0; j < merge->inputs[i].environment_count; j++) {
            struct uc_environment *entry =
                uc_array_append(&list, &count, sizeof *entry);

            if (entry == NULL) {
                free(list);
                return uc_no_memory(err);
            }
            *entry = merge->inputs[i].environments[j].environment;
        }
    environments = list;
    if (count > 0)
        qsort(list, count, sizeof *environments, by_environment);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        if (i > 0 &&
            uc_environment_order(&environments[i - 1], &environments[i]) == 0)
            continue;
        status = merge_environment(merge, &environments[i], err);
        merge->summary.environments++;
    }
    free(list);
    return status;
}

enum uc_status uc_merge(char *const *inputs, size_t count,
                        enum uc_merge_rule rule, bool compact,
                        const char *output, uc_merge_tell *tell, void *context,
                        struct uc_error *err)
{
    struct uc_profile_replace replace = { .file = { .folder_fd = -1 } };
    struct merge merge = { .rule = rule, .compact = compact };
    enum uc_status status = uc_profile_replace_begin(output, &replace, err);

    /* Not earlier: the output may be an input, and others may write to it. */
    if (status == UC_OK)
        status = open_inputs(&merge, inputs, count, err);
    if (status == UC_OK) {
        merge.out = replace.profile;
        status = merge_all(&merge, err);
    }
    close_inputs(&merge);
    if (status == UC_OK)
        status = tell(&merge.summary, context, err);
    return uc_profile_replace_end(&replace, status, err);
}
