/*
 * Executions through cuDNN's graph API: plans know none of them. They are
 * counted, so that it can be said why a plan changes nothing, and passed on.
 */
#include "config.h"

#include "runtime/session.h"
#include "runtime/sight.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef __typeof__(cudnnBackendExecute) execute_function;

/* For programs that use the graph's own library and not the whole cuDNN. Once
 * it is found the whole one is not looked for at every call. */
static _Atomic(execute_function *) graph_execute;

static void find_graph_execute(void)
{
    void *library = uc_cudnn_loaded("cudnnBackendExecute"), *symbol;
    execute_function *function;

    if (library == NULL)
        return;
    symbol = dlsym(library, "cudnnBackendExecute");
    memcpy(&function, &symbol, sizeof function);
    atomic_store(&graph_execute, function);
}

EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                         cudnnBackendDescriptor_t executionPlan,
                                         cudnnBackendDescriptor_t variantPack)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    execute_function *execute = atomic_load(&graph_execute);
    struct uc_session *session = execute == NULL ? uc_session_get() : NULL;

    if (uc_sight != NULL)
        uc_sight_count(&uc_sight->graphs);
    if (session != NULL && session->cudnn.BackendExecute != NULL) {
        uc_stats_graph();
        return session->cudnn.BackendExecute(handle, executionPlan,
                                             variantPack);
    }
    if (execute == NULL) {
        pthread_once(&once, find_graph_execute);
        execute = atomic_load(&graph_execute);
    }
    if (execute == NULL)
        return CUDNN_STATUS_NOT_INITIALIZED;
    return execute(handle, executionPlan, variantPack);
}
