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

static void free_parts(struct uc_merge_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(parts[i].rows);
        free(parts[i].searches);
    }
    free(parts);
}

/** What every input has of a problem; the caller's, free_parts(). */
static enum uc_status load_parts(const struct merge *merge,
                                 const struct uc_environment *environment,
                                 const struct uc_problem *problem,
                                 struct uc_merge_part **list,
                                 struct uc_error *err)
{
    struct uc_merge_part *parts = calloc(merge->count, sizeof *parts);
    enum uc_status status = parts == NULL ? uc_no_memory(err) : UC_OK;

    for (size_t i = 0; i < merge->count && status == UC_OK; i++) {
        const struct input *input = &merge->inputs[i];
        struct uc_merge_part *part = &parts[i];
        int64_t id = find_environment(input, environment);

        if (id < 0)
            continue;
        status = uc_profile_load(input->profile, id, problem, &part->rows,
                                 &part->row_count, err);
        if (status == UC_OK)
            status = uc_profile_load_searches(input->profile, id, problem,
                                              &part->searches,
                                              &part->search_count, err);
    }
    *list = parts;
    return status;
}

/** Of one problem, what goes into the result. */
struct merged {
    struct uc_measurement *rows;
    size_t row_count;
    struct uc_search *searches;
    size_t search_count;
};

/** The rows of all inputs. */
static enum uc_status join_rows(const struct uc_merge_part *parts, size_t count,
                                struct merged *merged, struct uc_error *err)
{
    size_t all = 0;

    for (size_t i = 0; i < count; i++)
        all += parts[i].row_count;
    merged->rows = calloc(all + 1, sizeof *merged->rows);
    if (merged->rows == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].row_count > 0)
            memcpy(merged->rows + merged->row_count, parts[i].rows,
                   parts[i].row_count * sizeof *merged->rows);
        merged->row_count += parts[i].row_count;
    }
    return UC_OK;
}

static int by_key(const void *left, const void *right)
{
    return uc_measurement_order(left, right);
}

/** One row a key stays, in place. */
static void choose(struct merge *merge, struct merged *merged)
{
    struct uc_measurement *rows = merged->rows;
    size_t kept = 0, end;

    qsort(rows, merged->row_count, sizeof *rows, by_key);
    for (size_t i = 0; i < merged->row_count; i = end) {
        const struct uc_measurement *best = &rows[i];
        bool marked = false, unmarked = false;

        for (end = i; end < merged->row_count &&
                      uc_measurement_order(&rows[i], &rows[end]) == 0;
             end++) {
            if (uc_merge_order(merge->rule, &rows[end], best) < 0)
                best = &rows[end];
            if (gravity(rows[end].outcome) > 0)
                marked = true;
            else
                unmarked = true;
        }
        merge->summary.conflicts += end - i > 1;
        merge->summary.marks += marked && unmarked;
        rows[kept++] = *best;
    }
    merged->row_count = kept;
}

/** What no plan needs goes, and what says that it is not missing comes. */
static enum uc_status compact(struct merge *merge,
                              const struct uc_problem *problem,
                              struct merged *merged, struct uc_error *err)
{
    size_t before = merged->row_count;
    enum uc_status status =
        uc_compact(problem, merged->rows, &merged->row_count, &merged->searches,
                   &merged->search_count, err);

    merge->summary.dropped += (int64_t)(before - merged->row_count);
    return status;
}

static enum uc_status store(struct merge *merge, int64_t env,
                            const struct uc_problem *problem,
                            const struct merged *merged, struct uc_error *err)
{
    enum uc_status status = uc_profile_store_all(
        merge->out, env, problem, merged->rows, merged->row_count, err);

    for (size_t i = 0; i < merged->search_count && status == UC_OK; i++)
        status = uc_profile_store_search(merge->out, env, problem,
                                         &merged->searches[i], err);
    merge->summary.measurements += (int64_t)merged->row_count;
    return status;
}

static enum uc_status merge_problem(struct merge *merge,
                                    const struct uc_environment *environment,
                                    int64_t env,
                                    const struct uc_problem *problem,
                                    struct uc_error *err)
{
    struct uc_merge_part *parts = NULL;
    struct merged merged = { 0 };
    enum uc_status status =
        load_parts(merge, environment, problem, &parts, err);

    if (status == UC_OK)
        status = uc_merge_searches(parts, merge->count, &merged.searches,
                                   &merged.search_count, err);
    if (status == UC_OK)
        status = join_rows(parts, merge->count, &merged, err);
    if (status == UC_OK)
        choose(merge, &merged);
    if (status == UC_OK && merge->compact)
        status = compact(merge, problem, &merged, err);
    if (status == UC_OK)
        status = store(merge, env, problem, &merged, err);
    if (parts != NULL)
        free_parts(parts, merge->count);
    free(merged.rows);
    free(merged.searches);
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
