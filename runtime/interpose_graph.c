/*
 * Executions through cuDNN's graph API: plans know none of them. They are
 * counted, so that it can be said why a plan changes nothing, and passed on.
 */
#include "config.h"

#include "runtime/session.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef __typeof__(cudnnBackendExecute) execute_function;

/* For programs that use the graph's own library and not the whole cuDNN. */
static execute_function *graph_execute;

static void find_graph_execute(void)
{
    void *library = uc_cudnn_loaded("cudnnBackendExecute"), *function;

    if (library == NULL)
        return;
    function = dlsym(library, "cudnnBackendExecute");
    memcpy(&graph_execute, &function, sizeof function);
}

EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                         cudnnBackendDescriptor_t executionPlan,
                                         cudnnBackendDescriptor_t variantPack)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct uc_session *session = uc_session_get();

    if (session != NULL) {
        uc_stats_graph();
        return session->cudnn.BackendExecute(handle, executionPlan,
                                             variantPack);
    }
    pthread_once(&once, find_graph_execute);
    if (graph_execute == NULL || graph_execute == cudnnBackendExecute)
        return CUDNN_STATUS_NOT_INITIALIZED;
    return graph_execute(handle, executionPlan, variantPack);
}
