/* Running execution plans. */
#include "config.h"

#include "tests/double/cudnn_graph.h"

/** The addresses of x, w and y by their identifiers. */
static cudnnStatus_t find_data(const struct uc_graph_operation *work,
                               const struct uc_node *pack, struct uc_call *call)
{
    int64_t count;
    int64_t pointers;
    const int64_t *uids =
        uc_node_values(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &count);
    void *const *data =
        uc_node_values(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, &pointers);

    for (int role = 0; role < 3; role++) {
        int64_t i = 0;

        while (i < count && uids[i] != work->uid[role]) {
            i++;
        }
        if (i == count) {
            uc_double_misuse("a pack has no tensor %lld",
                             (long long)work->uid[role]);
            return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "pack: no tensor");
        }
        call->data[role] = data[i];
        call->alignment[role] = work->alignment[role];
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t run(cudnnHandle_t handle, const struct uc_node *plan,
                         const struct uc_node *pack)
{
    const struct uc_node *engine = uc_node_part(
        uc_node_part(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG),
        CUDNN_ATTR_ENGINECFG_ENGINE);
    struct uc_call call = {
        .handle = handle,
        .operation = plan->work.operation,
        .algorithm =
            UC_DOUBLE_ENGINE +
            (int)uc_node_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0),
        .alpha = plan->work.alpha,
        .beta = plan->work.beta,
        .workspace_bytes = plan->cost.workspace_bytes,
        .geometry = plan->work.geometry,
        .cost = plan->cost,
    };
    int64_t count;
    void *const *workspace =
        uc_node_values(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, &count);
    cudnnStatus_t status = find_data(&plan->work, pack, &call);

    if (status != CUDNN_STATUS_SUCCESS) {
        return status;
    }
    call.workspace = workspace ? *workspace : NULL;
    return uc_call_run(&call);
}

/** A finalized descriptor of this kind. */
static bool ready(const struct uc_node *node, cudnnBackendDescriptorType_t type)
{
    if (!uc_node_is(node, type) || !node->finalized || node->destroyed) {
        uc_double_misuse("execution of what is no finalized plan and pack");
        uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "no finalized plan and pack");
        return false;
    }
    return true;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t executionPlan,
                                  cudnnBackendDescriptor_t variantPack)
{
    struct uc_node *plan = executionPlan;
    cudnnStatus_t status;

    uc_double_add(UC_DOUBLE_EXECUTIONS, 1);
    if (uc_double_settings()->empty) {
        return CUDNN_STATUS_SUCCESS;
    }
    if (!uc_cudnn_alive(handle, UC_HANDLE, "handle")) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    if (!plan && !variantPack) { /* as README says: only to be counted */
        return CUDNN_STATUS_SUCCESS;
    }
    if (!ready(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) ||
        !ready(variantPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)) {
        return CUDNN_STATUS_BAD_PARAM;
    }
    if (__atomic_exchange_n(&plan->busy, true, __ATOMIC_ACQ_REL)) {
        uc_double_misuse("an execution plan runs in two threads at once");
        return uc_cudnn_fail(CUDNN_STATUS_EXECUTION_FAILED,
                             "the plan runs in another thread");
    }
    status = run(handle, plan, variantPack);
    __atomic_store_n(&plan->busy, false, __ATOMIC_RELEASE);
    return status;
}
