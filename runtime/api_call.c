/*
 * ucudnn.h: finding and executing operations, in front of the cuDNN that the
 * process has loaded.
 */
#include "config.h"

#include "runtime/api_impl.h"
#include "runtime/caller.h"
#include "runtime/capture.h"
#include "runtime/execute.h"
#include "runtime/sight.h"

/** What operations are found for: no scalars are told then. */
static const struct uc_scaling usual = { 1, 0 };

/** The process's cuDNN and driver, once; the caller has linked or opened
    them, since it has a handle. */
static enum uc_status attach(ucudnn_plan_file *file, struct uc_error *err)
{
    enum uc_status status = UC_OK;

    if (atomic_load_explicit(&file->attached, memory_order_acquire))
        return UC_OK;
    pthread_mutex_lock(&file->lock);
    if (!atomic_load_explicit(&file->attached, memory_order_acquire)) {
        if ((status = uc_cudnn_attach(&file->cudnn, err)) == UC_OK &&
            (status = uc_cuda_open(&file->cuda, err)) == UC_OK &&
            (status = uc_matcher_init(&file->matcher, &file->cuda, &file->cudnn,
                                      file->table, file->match, err)) == UC_OK)
            atomic_store_explicit(&file->attached, true, memory_order_release);
    }
    pthread_mutex_unlock(&file->lock);
    return status;
}

/** What both calls begin with. */
static ucudnn_status enter(ucudnn_plan_file *file, struct uc_error *err)
{
    if (uc_settings_get()->disable) {
        uc_fail(err, UC_EINPUT, "disabled by UCUDNN_DISABLE");
        return UCUDNN_DISABLED;
    }
    return attach(file, err) == UC_OK ? UCUDNN_OK : UCUDNN_NO_CUDNN;
}

/* Finding ----------------------------------------------------------------*/

/** Make an entry ready for a device and scalars. With UCUDNN_REFUSED, *out
    says why unless it is NULL, when no more is kept ready. */
static ucudnn_status make_ready(ucudnn_plan_file *file, cudnnHandle_t handle,
                                struct uc_entry *entry, int device,
                                const struct uc_scaling *scaling,
                                struct uc_ready **out)
{
    struct uc_ready *ready = uc_ready_find(entry, device, scaling);
    CUstreamCaptureMode mode;
    CUstream stream = NULL;

    if (ready == NULL && !uc_ready_is_full(entry, device)) {
        if (!uc_ready_is_quick(entry) &&
            uc_is_capturing(&file->cuda, &file->cudnn, handle, &stream))
            return UCUDNN_CAPTURE;
        mode = uc_capture_relax(&file->cuda);
        ready = uc_ready_make(entry, &file->cudnn, handle, device, scaling);
        uc_capture_restore(&file->cuda, mode);
        if (ready == NULL && !uc_ready_is_full(entry, device))
            return UCUDNN_NO_MEMORY;
    }
    *out = ready;
    return ready == NULL || ready->broken ? UCUDNN_REFUSED : UCUDNN_OK;
}

static void tell_unready(ucudnn_status status, const struct uc_ready *ready,
                         struct uc_error *err)
{
    if (status == UCUDNN_CAPTURE)
        uc_fail(err, UC_EDEVICE, "not ready, and the stream is being captured");
    else if (status == UCUDNN_NO_MEMORY)
        uc_no_memory(err);
    else
        uc_fail(err, UC_EDEVICE, "not made ready: %s",
                ready == NULL ? UC_READY_FULL : ready->reason);
}

/** A call's descriptors to a prepared entry; in *err why not. */
static ucudnn_status find(ucudnn_plan_file *file, cudnnHandle_t handle,
                          enum uc_operation kind,
                          const struct uc_descriptors *descriptors,
                          struct uc_entry **out, struct uc_error *err)
{
    struct uc_problem problem;
    struct uc_entry *entry;
    struct uc_ready *ready = NULL;
    CUdevice device;
    int64_t batch;
    ucudnn_status status = enter(file, err);
    const char *why;

    if (status != UCUDNN_OK)
        return status;
    why = uc_caller_problem(&file->cudnn, kind, descriptors, &problem, &batch);
    if (why != NULL) {
        uc_fail(err, UC_EINPUT, "no plan can describe its %s", why);
        return UCUDNN_UNSUPPORTED;
    }
    entry = uc_table_find(file->table, &problem, batch);
    if (entry == NULL) {
        uc_fail(err, UC_EINPUT, "not planned: the nearest differs in %s",
                uc_table_nearest(file->table, &problem, batch));
        return UCUDNN_NOT_PLANNED;
    }
    entry = uc_matcher_choose(&file->matcher, entry, &device, &why);
    if (entry == NULL) {
        if (why == NULL)
            uc_fail(err, UC_EINPUT, "no device is current");
        else
            uc_fail(err, UC_EINPUT,
                    "planned for another device, which differs in %s", why);
        return UCUDNN_OTHER_DEVICE;
    }
    status = make_ready(file, handle, entry, device, &usual, &ready);
    if (status != UCUDNN_OK) {
        tell_unready(status, ready, err);
        return status;
    }
    *out = entry;
    return UCUDNN_OK;
}

static void count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

UC_API ucudnn_status ucudnn_find_operation(
    ucudnn_plan_file *file, cudnnHandle_t handle, ucudnn_kind kind,
    cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
    const ucudnn_operation **out, char *reason, size_t reason_bytes)
{
    struct uc_descriptors descriptors = { x, y, w, convolution };
    struct uc_entry *entry = NULL;
    ucudnn_status status;
    struct uc_error err;
    size_t entries;

    if (file == NULL || handle == NULL || x == NULL || w == NULL ||
        convolution == NULL || y == NULL || out == NULL ||
        (int)kind < UCUDNN_FORWARD || kind > UCUDNN_BACKWARD_FILTER) {
        uc_api_tell(reason, reason_bytes, "bad argument");
        return UCUDNN_BAD_ARGUMENT;
    }
    status =
        find(file, handle, (enum uc_operation)kind, &descriptors, &entry, &err);
    if (status != UCUDNN_OK) {
        count(&file->not_found);
        uc_api_tell(reason, reason_bytes, "%s", err.text);
        return status;
    }
    *out = file->by_entry[entry - uc_table_entries(file->table, &entries)];
    return UCUDNN_OK;
}

/* Executing --------------------------------------------------------------*/

/** Whether an operation may run now, and on which device; *out is NULL or what
    was made ready, broken or not. */
static ucudnn_status admit(const ucudnn_operation *operation,
                           cudnnHandle_t handle, const void *alpha,
                           const void *beta, const struct uc_tensors *tensors,
                           const void *workspace, size_t workspace_bytes,
                           struct uc_ready **out, CUdevice *device)
{
    ucudnn_plan_file *file = operation->file;
    struct uc_entry *entry = operation->entry;
    struct uc_scaling scaling;
    struct uc_ready *ready = NULL;
    CUstream stream = NULL;
    struct uc_error err;
    ucudnn_status status = enter(file, &err);

    *out = NULL;
    if (status != UCUDNN_OK)
        return status;
    if (!uc_matcher_allows(&file->matcher, entry->plan, device))
        return UCUDNN_OTHER_DEVICE;
    scaling = uc_scaling_read(&entry->key, alpha, beta);
    status = make_ready(file, handle, entry, *device, &scaling, &ready);
    *out = ready;
    if (status != UCUDNN_OK)
        return status;
    if ((int64_t)workspace_bytes < ready->workspace_bytes ||
        (workspace == NULL && ready->workspace_bytes > 0))
        return UCUDNN_WORKSPACE;
    if (!uc_is_aligned(tensors, workspace))
        return UCUDNN_ALIGNMENT;
    if (!uc_ready_is_warm(ready, *device) &&
        uc_is_capturing(&file->cuda, &file->cudnn, handle, &stream))
        return UCUDNN_CAPTURE;
    return UCUDNN_OK;
}

static ucudnn_status execute(const ucudnn_operation *operation,
                             cudnnHandle_t handle, const void *alpha,
                             const struct uc_tensors *tensors, const void *beta,
                             void *workspace, size_t workspace_bytes,
                             cudnnStatus_t *cudnn_status)
{
    const struct uc_cuda *cuda = &operation->file->cuda;
    struct uc_ready *ready;
    CUdevice device;
    ucudnn_status status = admit(operation, handle, alpha, beta, tensors,
                                 workspace, workspace_bytes, &ready, &device);
    CUstreamCaptureMode mode;
    bool started;

    if (status == UCUDNN_REFUSED)
        *cudnn_status =
            ready != NULL ? ready->status : CUDNN_STATUS_NOT_SUPPORTED;
    if (status != UCUDNN_OK)
        return status;
    mode = uc_ready_is_warm(ready, device) ? UC_CAPTURE_RELAXED
                                           : uc_capture_relax(cuda);
    *cudnn_status = uc_execute(ready, handle, alpha, tensors, beta, workspace,
                               workspace_bytes, &started);
    uc_capture_restore(cuda, mode);
    if (*cudnn_status != CUDNN_STATUS_SUCCESS)
        return started ? UCUDNN_INCOMPLETE : UCUDNN_REFUSED;
    uc_ready_set_warm(ready, device);
    return UCUDNN_OK;
}

UC_API ucudnn_status ucudnn_execute_operation(
    const ucudnn_operation *operation, cudnnHandle_t handle, const void *alpha,
    void *x, void *w, void *y, const void *beta, void *workspace,
    size_t workspace_bytes, cudnnStatus_t *cudnn_status)
{
    struct uc_tensors tensors = { x, w, y };
    cudnnStatus_t cause = CUDNN_STATUS_SUCCESS;
    ucudnn_plan_file *file;
    ucudnn_status status;

    if (operation == NULL || handle == NULL || alpha == NULL || beta == NULL ||
        x == NULL || w == NULL || y == NULL)
        return UCUDNN_BAD_ARGUMENT;
    file = operation->file;
    status = execute(operation, handle, alpha, &tensors, beta, workspace,
                     workspace_bytes, &cause);
    if (status == UCUDNN_OK) {
        count(&file->executed);
        if (uc_sight != NULL)
            uc_sight_count(&uc_sight->explicit_runs);
    } else if (status != UCUDNN_INCOMPLETE) {
        count(&file->passed_through);
    }
    if (cudnn_status != NULL &&
        (status == UCUDNN_REFUSED || status == UCUDNN_INCOMPLETE))
        *cudnn_status = cause;
    return status;
}
