#include "config.h"

#include "planner/wd_core.h"

#include <glpk.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * GLPK compares in floating point with tolerances near 1e-7, so no number
 * it sees has more than 20 bits. Bytes are counted in units of their
 * greatest common divisor, over the least of each group. When the total is
 * then over 20 bits, it becomes two rows, high and low digits to the base
 * 2^20 and an integer carry between them: still exact. Over 40 bits, and
 * only there, workspaces are rounded up and the total down.
 */
enum { DIGIT_BITS = 20 };
static const int64_t digit = (int64_t)1 << DIGIT_BITS;

struct column {
    size_t option, group;
    int64_t units; /**< over the group's least */
    int64_t cost;  /**< time over the group's base */
    int64_t most, copies;
};

struct branch {
    struct uc_wd_core *core;
    struct column *columns;
    size_t column_count, group_count; /**< of groups with a choice left */
    int64_t capacity;                 /**< units */
    bool two_rows, coarse;
    int64_t offset;  /**< what the costs leave out */
    int64_t *counts; /**< scratch, by option */
    double *values;  /**< scratch, by column from 1 */
    int64_t target;
    double mip_gap;
    double bound;   /**< of the objective, as far as the tree got */
    bool seeded;    /**< the first solution was given */
    bool gap_met;   /**< stopped by us */
    bool exhausted; /**< the tree was searched whole */
    jmp_buf jump;
    char message[160]; /**< what GLPK printed last */
};

/* GLPK's errors: leave by longjmp, everything of GLPK freed. */

static void on_error(void *info)
{
    struct branch *branch = info;

    glp_free_env();
    longjmp(branch->jump, 1);
}

static int on_print(void *info, const char *text)
{
    struct branch *branch = info;
    size_t length = strcspn(text, "\r\n");

    if (length > 0 && !branch->message[0])
        snprintf(branch->message, sizeof branch->message, "%.*s", (int)length,
                 text);
    return 1; /* nothing reaches the terminal */
}

/* From the groups to columns. */

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/** The least workspace of a group's options that are left, how many those
 * are, and the time of the one best at the price. */
static size_t survey(const struct uc_wd_core *core,
                     const struct uc_wd_group *group, int64_t *least,
                     int64_t *base)
{
    double best = HUGE_VAL;
    size_t left = 0;

    for (size_t i = 0; i < group->option_count; i++) {
        const struct uc_wd_option *option = &core->options[group->first + i];
        double cost =
            (double)option->time + core->price * (double)option->workspace;

        if (option->most == 0)
            continue;
        if (left++ == 0)
            *least = option->workspace;
        if (cost < best) {
            best = cost;
            *base = option->time;
        }
    }
    return left;
}

static void gather(struct branch *branch)
{
    struct uc_wd_core *core = branch->core;
    int64_t unit = 0, coarse = 1;

    branch->capacity = core->total;
    for (size_t g = 0; g < core->group_count; g++) {
        const struct uc_wd_group *group = &core->groups[g];
        int64_t least = 0, base = 0;
        size_t left = survey(core, group, &least, &base);

        branch->capacity -= group->copies * least;
        branch->offset += group->copies * base;
        if (left < 2)
            continue;
        for (size_t i = group->first; i < group->first + group->option_count;
             i++) {
            const struct uc_wd_option *option = &core->options[i];

            if (option->most == 0)
                continue;
            branch->columns[branch->column_count++] =
                (struct column){ .option = i,
                                 .group = branch->group_count,
                                 .units = option->workspace - least,
                                 .cost = option->time - base,
                                 .most = option->most,
                                 .copies = group->copies };
            unit = common_divisor(option->workspace - least, unit);
        }
        branch->group_count++;
    }
    if (unit == 0)
        unit = 1;
    branch->capacity /= unit;
    if (branch->capacity >> (2 * DIGIT_BITS)) {
        coarse += branch->capacity >> (2 * DIGIT_BITS);
        branch->coarse = true;
    }
    branch->capacity /= coarse;
    branch->two_rows = branch->capacity >= digit;
    for (size_t i = 0; i < branch->column_count; i++) {
        struct column *column = &branch->columns[i];

        column->units /= unit;
        column->units = column->units / coarse + (column->units % coarse != 0);
        if (column->units > branch->capacity)
            column->most = 0;
    }
}

/* Rows: the total (one or two), then one a group. Columns as gathered, then
 * the carry. */

static void set_bounds(glp_prob *lp, int column, int64_t most)
{
    glp_set_col_kind(lp, column, GLP_IV);
    glp_set_col_bnds(lp, column, most > 0 ? GLP_DB : GLP_FX, 0, (double)most);
}

static void fill_columns(const struct branch *branch, glp_prob *lp)
{
    int rows = 1 + branch->two_rows;
    const double scale = 1.0 / 1024; /* exact: a power of two */

    for (size_t i = 0; i < branch->column_count; i++) {
        const struct column *column = &branch->columns[i];
        int64_t high = branch->two_rows ? column->units / digit : 0;
        int64_t low = branch->two_rows ? column->units % digit : column->units;
        int index[4] = { 0, rows + 1 + (int)column->group, 1, 2 };
        double value[4] = { 0, 1, (double)low * scale, (double)high };

        glp_set_obj_coef(lp, (int)i + 1, (double)column->cost);
        set_bounds(lp, (int)i + 1, column->most);
        glp_set_mat_col(lp, (int)i + 1, 1 + rows, index, value);
    }
    if (branch->two_rows) {
        int index[3] = { 0, 1, 2 };
        double value[3] = { 0, -(double)digit * scale, 1 };
        int carry = (int)branch->column_count + 1;

        set_bounds(lp, carry, branch->capacity / digit);
        glp_set_mat_col(lp, carry, 2, index, value);
        glp_set_row_bnds(lp, 1, GLP_UP, 0,
                         (double)(branch->capacity % digit) * scale);
        glp_set_row_bnds(lp, 2, GLP_UP, 0, (double)(branch->capacity / digit));
    } else {
        glp_set_row_bnds(lp, 1, GLP_UP, 0, (double)branch->capacity * scale);
    }
}

static glp_prob *build(const struct branch *branch)
{
    glp_prob *lp = glp_create_prob();
    int rows = 1 + branch->two_rows;

    glp_set_obj_dir(lp, GLP_MIN);
    glp_add_rows(lp, rows + (int)branch->group_count);
    glp_add_cols(lp, (int)branch->column_count + branch->two_rows);
    fill_columns(branch, lp);
    for (size_t i = 0; i < branch->column_count; i++) {
        const struct column *column = &branch->columns[i];

        glp_set_row_bnds(lp, rows + 1 + (int)column->group, GLP_FX,
                         (double)column->copies, (double)column->copies);
    }
    return lp;
}

/* While GLPK searches. */

/** The best solution known, as values of the columns. */
static void seed(struct branch *branch, glp_tree *tree)
{
    int64_t low = 0;

    branch->seeded = true;
    if (branch->coarse)
        return; /* rounding may have taken it out */
    for (size_t i = 0; i < branch->column_count; i++) {
        const struct column *column = &branch->columns[i];
        int64_t count = branch->core->options[column->option].count;

        branch->values[i + 1] = (double)count;
        low += count * (column->units % digit);
    }
    low -= branch->capacity % digit;
    branch->values[branch->column_count + 1] =
        low > 0 ? (double)((low + digit - 1) / digit) : 0;
    glp_ios_heur_sol(tree, branch->values);
}

static void on_node(glp_tree *tree, void *info)
{
    struct branch *branch = info;
    glp_prob *lp = glp_ios_get_prob(tree);
    double offset = (double)branch->offset;
    int node = glp_ios_best_node(tree);
    double best = (double)branch->core->time - offset, enough;

    if (!branch->seeded && glp_ios_reason(tree) == GLP_IHEUR)
        seed(branch, tree);
    if (node == 0)
        return;
    branch->bound = glp_ios_node_bound(tree, node);
    if (glp_mip_status(lp) == GLP_FEAS && glp_mip_obj_val(lp) < best)
        best = glp_mip_obj_val(lp);
    /* Times are whole: better means better by one. */
    enough = fmin(best, (double)(branch->target - branch->offset)) - 1 + 1e-3;
    enough = fmin(enough, best - branch->mip_gap * (best + offset));
    if (branch->bound >= enough) {
        branch->gap_met = true;
        glp_ios_terminate(tree);
    }
}

static int search(struct branch *branch, double time_limit_s)
{
    glp_prob *lp = build(branch);
    glp_smcp simplex;
    glp_iocp integer;
    int code, found;

    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    glp_init_iocp(&integer);
    integer.msg_lev = GLP_MSG_OFF;
    integer.cb_func = on_node;
    integer.cb_info = branch;
    integer.tol_obj = 1e-9;
    integer.tol_int = 1e-7;
    integer.mir_cuts = GLP_ON;
    integer.cov_cuts = GLP_ON;
    if (time_limit_s > 0 && time_limit_s < INT_MAX / 1000)
        simplex.tm_lim = integer.tm_lim = (int)(time_limit_s * 1000) + 1;
    code = glp_simplex(lp, &simplex);
    if (code == 0 && glp_get_status(lp) == GLP_OPT) {
        branch->bound = glp_get_obj_val(lp);
        code = glp_intopt(lp, &integer);
    }
    found = glp_mip_status(lp);
    branch->exhausted = found == GLP_OPT || found == GLP_NOFEAS;
    if (found == GLP_OPT || found == GLP_FEAS)
        for (size_t i = 0; i < branch->column_count; i++)
            branch->counts[branch->columns[i].option] =
                llround(glp_mip_col_val(lp, (int)i + 1));
    glp_delete_prob(lp);
    return code;
}

/** search() with GLPK silent and its errors caught. */
static enum uc_status guarded(struct branch *branch, double time_limit_s,
                              int *code, struct uc_error *err)
{
    if (setjmp(branch->jump))
        return uc_fail(err, UC_EINTERNAL, "GLPK failed: %s", branch->message);
    glp_term_out(GLP_OFF);
    glp_term_hook(on_print, branch);
    glp_error_hook(on_error, branch);
    *code = search(branch, time_limit_s);
    glp_free_env();
    return UC_OK;
}

/** Take what was found, checked in integers, and what was proven. */
static void conclude(struct branch *branch)
{
    struct uc_wd_core *core = branch->core;
    int64_t time, workspace, lower;
    bool sound = uc_wd_evaluate(core, branch->counts, &time, &workspace);

    if (sound && time < core->time) {
        core->time = time;
        core->workspace = workspace;
        for (size_t i = 0; i < core->option_count; i++)
            core->options[i].count = branch->counts[i];
    }
    if (branch->coarse)
        return; /* it proved something about rounded workspaces only */
    if (branch->exhausted && sound)
        lower = core->time;
    else
        lower = branch->offset +
                (int64_t)ceil(branch->bound - 1e-7 * (1 + fabs(branch->bound)));
    if (lower > branch->target)
        lower = branch->target;
    if (lower > core->lower)
        core->lower = lower;
}

static enum uc_status run(struct branch *branch, double time_limit_s,
                          bool *time_ran_out, struct uc_error *err)
{
    enum uc_status status;
    int code = 0;

    gather(branch);
    branch->bound = (double)(branch->core->lower - branch->offset);
    if (branch->column_count == 0) {
        /* Nothing below the target but, maybe, the solution known. */
        branch->exhausted = true;
    } else {
        status = guarded(branch, time_limit_s, &code, err);
        if (status != UC_OK)
            return status;
    }
    if (code != 0 && code != GLP_ETMLIM && code != GLP_ESTOP)
        return uc_fail(err, UC_EINTERNAL, "GLPK failed with code %d", code);
    *time_ran_out = code == GLP_ETMLIM && !branch->gap_met;
    conclude(branch);
    return UC_OK;
}

enum uc_status uc_wd_branch(struct uc_wd_core *core, int64_t target,
                            double mip_gap, double time_limit_s,
                            bool *time_ran_out, struct uc_error *err)
{
    struct branch branch = { .core = core,
                             .target = target,
                             .mip_gap = mip_gap };
    enum uc_status status;

    branch.columns = malloc((core->option_count + 1) * sizeof *branch.columns);
    branch.counts = malloc((core->option_count + 1) * sizeof *branch.counts);
    branch.values = calloc(core->option_count + 2, sizeof *branch.values);
    if (branch.columns != NULL && branch.counts != NULL &&
        branch.values != NULL) {
        for (size_t i = 0; i < core->option_count; i++)
            branch.counts[i] = core->options[i].count;
        status = run(&branch, time_limit_s, time_ran_out, err);
    } else {
        status = uc_no_memory(err);
    }
    free(branch.columns);
    free(branch.counts);
    free(branch.values);
    return status;
}
