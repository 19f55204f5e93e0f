#include "config.h"

#include "planner/plan_build.h"
#include "planner/planning.h"
#include "planner/wd.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/** Of the undivided division, or less when the user asks for less. */
#define BASELINE_GAP 1e-4

/** A division of everything, or of what is undivided only. */
struct division {
    bool divided;
    bool solved;
    struct uc_wd_result result;
};

static const struct uc_desirable *set_of(
    const struct uc_planning_operation *operation, bool divided)
{
    return divided ? &operation->of->set : &operation->of->undivided;
}

static enum uc_status solve(const struct uc_planning *planning,
                            const struct uc_wd_options *options,
                            struct division *division, struct uc_error *err)
{
    size_t count = planning->operation_count;
    struct uc_wd_operation *operations = calloc(count + 1, sizeof *operations);
    enum uc_status status;

    if (operations == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct uc_planning_operation *op = &planning->operations[i];

        operations[i].set = set_of(op, division->divided);
        operations[i].repeat = op->layer->repeat;
    }
    status = uc_wd_solve(operations, count, options, &division->result, err);
    division->solved = status == UC_OK;
    free(operations);
    return status;
}

/** Reads a result's choices copy by copy. */
struct reader {
    const struct division *division;
    size_t at;
    int64_t used; /**< copies of choice `at` */
};

/** What the next copies of the operation take; NULL when unsolved. *left is
 * lowered to how many of them are alike. */
static const struct uc_configuration *peek(
    const struct reader *reader, const struct uc_planning_operation *op,
    int64_t *left)
{
    const struct uc_wd_choice *choice;

    if (!reader->division->solved)
        return NULL;
    choice = &reader->division->result.choices[reader->at];
    if (choice->count - reader->used < *left)
        *left = choice->count - reader->used;
    return &set_of(op, reader->division->divided)->list[choice->index];
}

static void advance(struct reader *reader, int64_t copies)
{
    if (!reader->division->solved)
        return;
    reader->used += copies;
    if (reader->used == reader->division->result.choices[reader->at].count) {
        reader->at++;
        reader->used = 0;
    }
}

/** One row of the plan for each run of copies that are alike. */
static enum uc_status append_all(const struct uc_planning *planning,
                                 const struct division *chosen,
                                 const struct division *undivided,
                                 struct uc_plan *plan, struct uc_error *err)
{
    struct reader of_chosen = { chosen, 0, 0 },
                  of_undivided = { undivided, 0, 0 };

    for (size_t i = 0; i < planning->operation_count; i++) {
        const struct uc_planning_operation *op = &planning->operations[i];
        int64_t left = op->layer->repeat;

        while (left > 0) {
            int64_t copies = left;
            const struct uc_configuration *config =
                peek(&of_chosen, op, &copies);
            const struct uc_configuration *whole =
                peek(&of_undivided, op, &copies);
            enum uc_status status = uc_planning_append(
                op, planning->network->batch, copies, config, whole, plan, err);

            if (status != UC_OK)
                return status;
            advance(&of_chosen, copies);
            advance(&of_undivided, copies);
            left -= copies;
        }
    }
    return UC_OK;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) +
           (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/**
 * The two divisions: of what is undivided, and of everything. The first is
 * what the gain is measured against, so it is solved well whatever gap the
 * user allows; it is the smaller, and leaves the second most of the time.
 */
static enum uc_status solve_both(const struct uc_planning *planning,
                                 const struct uc_wd_options *options,
                                 struct division *all,
                                 struct division *undivided,
                                 struct uc_error *err)
{
    const double least_s = 1e-3; /* 0 would be no limit */
    struct uc_wd_options first = *options, second = *options;
    struct uc_error no_fit;
    struct timespec start;
    enum uc_status status;

    clock_gettime(CLOCK_MONOTONIC, &start);
    first.mip_gap = fmin(options->mip_gap, BASELINE_GAP);
    status = solve(planning, &first, undivided, &no_fit);
    if (status != UC_OK && status != UC_ENOFIT) {
        *err = no_fit;
        return status;
    }
    if (options->time_limit_s > 0)
        second.time_limit_s =
            fmax(options->time_limit_s - seconds_since(&start), least_s);
    return solve(planning, &second, all, err);
}

enum uc_status uc_planning_divide(const struct uc_planning *planning,
                                  int64_t total_bytes, double mip_gap,
                                  double time_limit_s, struct uc_plan *out,
                                  struct uc_planning_proof *proof,
                                  struct uc_error *err)
{
    struct uc_wd_options options = { total_bytes, mip_gap, time_limit_s };
    struct division all = { .divided = true }, undivided = { 0 };
    const struct division *chosen = &all;
    struct uc_plan plan = { 0 };
    size_t room = 0;
    enum uc_status status =
        solve_both(planning, &options, &all, &undivided, err);

    if (status == UC_OK) {
        /* Within the gap either may be ahead. */
        if (undivided.solved && undivided.result.time_ns < all.result.time_ns)
            chosen = &undivided;
        room = chosen->result.choice_count + undivided.result.choice_count;
        status = uc_planning_begin(planning, UC_PLAN_WD, total_bytes, room,
                                   &plan, err);
    }
    if (status == UC_OK)
        status = append_all(planning, chosen, &undivided, &plan, err);
    if (status != UC_OK) {
        uc_plan_free(&plan);
    } else {
        *out = plan;
        proof->gap = all.result.gap;
        proof->time_ran_out = all.result.time_ran_out;
    }
    uc_wd_free(&all.result);
    uc_wd_free(&undivided.result);
    return status;
}
