/**
 * @file synthetic.h
 * Made-up measurements of a network, the same at every run.
 *
 * Included once per test program; everything is static.
 */
#ifndef UC_TESTS_SYNTHETIC_H
#define UC_TESTS_SYNTHETIC_H

#include "db/profile.h"
#include "planner/network.h"
#include "planner/policy.h"
#include "planner/work.h"

#include <stdlib.h>
#include <string.h>

static const struct uc_environment synthetic_environment = {
    { "Test GPU", 90, 132, (int64_t)80 << 30 }, { 91900, 13000, "580.1" }
};

/** A number in 0 .. bound-1 that depends on all that names a row. */
static int64_t synthetic_number(const char *problem, int64_t size, int kernel,
                                int salt, int64_t bound)
{
    uint64_t hash = 14695981039346656037u;

    for (; *problem; problem++)
        hash = (hash ^ (unsigned char)*problem) * 1099511628211u;
    hash = (hash ^ (uint64_t)size) * 1099511628211u;
    hash = (hash ^ (uint64_t)(kernel * 16 + salt)) * 1099511628211u;
    hash ^= hash >> 32;
    return (int64_t)(hash % (uint64_t)bound);
}

/**
 * Algorithm 0 is slow and needs nothing; the others are faster and need
 * more, neither quite in proportion to the size. The last one is not
 * supported, and algorithm 2 fails now and then.
 */
static struct uc_measurement synthetic_measurement(
    const struct uc_problem *problem, int64_t size,
    const struct uc_work_kernel *work)
{
    struct uc_measurement row = { .micro_batch = size,
                                  .accumulate = work->accumulate,
                                  .kernel = work->kernel,
                                  .outcome = UC_MEASURED,
                                  .error = -1,
                                  .calls = 1,
                                  .measured_at = 1700000000 };
    int a = work->kernel.algorithm, b1 = work->accumulate;
    double image = uc_problem_macs(problem, 1) / 40;
    char text[UC_PROBLEM_TEXT];

    uc_problem_print(problem, text);
    if (a == uc_legacy_algorithm_count(problem->operation) - 1) {
        row.outcome = UC_UNSUPPORTED;
        strcpy(row.reason, "not supported");
        return row;
    }
    if (a == 2 && synthetic_number(text, size, a, 3, 3) == 0) {
        row.outcome = UC_FAILED;
        strcpy(row.reason, "execution failed");
        return row;
    }
    row.notes = uc_legacy_notes(&work->kernel, problem->operation);
    row.time_ns =
        1500 + (int64_t)((double)size * image *
                         (1.0 / (1 + a) + 0.002 * (double)synthetic_number(
                                                      text, size, a, b1, 100)));
    row.spread_ns = row.time_ns / 500;
    row.host_ns = 9000;
    if (a > 0)
        row.workspace_bytes =
            256 * (a * size * 16 + synthetic_number(text, size, a, 4 + b1, 64));
    return row;
}

/** Every legacy kernel of a problem at every size. */
static enum uc_status synthetic_store_problem(
    struct uc_profile *profile, int64_t env, const struct uc_work_problem *of,
    bool (*edit)(const struct uc_problem *, struct uc_measurement *, void *),
    void *context, struct uc_error *err)
{
    const struct uc_work_options options = { .apis = 1u << UC_API_LEGACY,
                                             .max_workspace_bytes = -1 };
    const struct uc_work_known nothing = { NULL, 0, NULL, 0 };
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < of->size_count && !status; i++) {
        struct uc_work_gap gap;

        status = uc_work_gap(&of->problem, &of->sizes[i], &options, &nothing,
                             &gap, err);
        if (status)
            break;
        for (size_t k = 0; k < gap.kernel_count && !status; k++) {
            struct uc_measurement row = synthetic_measurement(
                &of->problem, of->sizes[i].micro_batch, &gap.kernels[k]);

            if (!edit || edit(&of->problem, &row, context))
                status =
                    uc_profile_store(profile, env, &of->problem, &row, err);
        }
        uc_work_gap_free(&gap);
    }
    return status;
}

/** Store what the network needs, and hand each row to `edit` (may be NULL)
 * before: false leaves it out. */
static enum uc_status synthetic_store(
    struct uc_profile *profile, int64_t env, const struct uc_network *network,
    const struct uc_policy *policy,
    bool (*edit)(const struct uc_problem *, struct uc_measurement *, void *),
    void *context, struct uc_error *err)
{
    struct uc_network_operation *operations = NULL;
    const struct uc_work_options options = { .apis = 1u << UC_API_LEGACY,
                                             .max_workspace_bytes = -1 };
    struct uc_work_problem *work = NULL;
    int64_t *batches = NULL;
    size_t count = 0, work_count = 0;
    enum uc_status status =
        uc_network_operations(network, &operations, &count, err);

    if (!status) {
        batches = calloc(count + 1, sizeof *batches);
        status = batches ? UC_OK : uc_no_memory(err);
    }
    for (size_t i = 0; i < count && !status; i++)
        batches[i] = network->batch;
    if (!status)
        status = uc_work_list(NULL, -1, operations, batches, count, policy,
                              &options, &work, &work_count, err);
    for (size_t i = 0; i < work_count && !status; i++)
        status =
            synthetic_store_problem(profile, env, &work[i], edit, context, err);
    free(operations);
    free(batches);
    uc_work_list_free(work, work_count);
    return status;
}

#endif
