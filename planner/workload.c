#include "config.h"

#include "planner/workload.h"

#include "planner/data.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void uc_workload_free(struct uc_workload *workload)
{
    for (size_t i = 0; i < workload->network_count; i++)
        uc_network_free(&workload->networks[i]);
    free(workload->networks);
    free(workload->operations);
    free(workload->batches);
    *workload = (struct uc_workload){ 0 };
}

static enum uc_status read_networks(
    char *const *names, size_t count,
    const struct uc_network_overrides *overrides, struct uc_workload *workload,
    struct uc_error *err)
{
    char path[PATH_MAX];
    enum uc_status status = UC_OK;

    workload->networks = calloc(count + 1, sizeof *workload->networks);
    if (workload->networks == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        status =
            uc_data_find(UC_DATA_NETWORK, names[i], path, sizeof path, err);
        if (status == UC_OK)
            status =
                uc_network_read(path, overrides, &workload->networks[i], err);
        workload->network_count += status == UC_OK;
    }
    return status;
}

/** Append a network's operations; there is room. */
static enum uc_status append(const struct uc_network *network,
                             struct uc_workload *workload, struct uc_error *err)
{
    struct uc_network_operation *list;
    size_t count, at = workload->operation_count;
    enum uc_status status = uc_network_operations(network, &list, &count, err);

    if (status != UC_OK)
        return status;
    memcpy(workload->operations + at, list, count * sizeof *list);
    for (size_t i = 0; i < count; i++)
        workload->batches[at + i] = network->batch;
    workload->operation_count += count;
    free(list);
    return UC_OK;
}

static enum uc_status list_operations(struct uc_workload *workload,
                                      struct uc_error *err)
{
    size_t room = 1;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < workload->network_count; i++)
        room += workload->networks[i].layer_count * UC_OPERATIONS;
    workload->operations = calloc(room, sizeof *workload->operations);
    workload->batches = calloc(room, sizeof *workload->batches);
    if (workload->operations == NULL || workload->batches == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < workload->network_count && status == UC_OK; i++)
        status = append(&workload->networks[i], workload, err);
    return status;
}

enum uc_status uc_workload_read(char *const *names, size_t count,
                                const struct uc_network_overrides *overrides,
                                struct uc_workload *workload,
                                struct uc_error *err)
{
    struct uc_workload made = { 0 };
    enum uc_status status = read_networks(names, count, overrides, &made, err);

    if (status == UC_OK)
        status = list_operations(&made, err);
    if (status == UC_OK)
        *workload = made;
    else
        uc_workload_free(&made);
    return status;
}
