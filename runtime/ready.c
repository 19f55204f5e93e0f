#include "config.h"

#include "runtime/ready.h"

#include "common/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t make_lock = PTHREAD_MUTEX_INITIALIZER;

static bool fits(const struct uc_ready *ready, int device,
                 const struct uc_scaling *scaling)
{
    return ready->legacy ||
           (ready->device == device && ready->scaling.alpha == scaling->alpha &&
            ready->scaling.beta == scaling->beta);
}

struct uc_ready *uc_ready_find(const struct uc_entry *entry, int device,
                               const struct uc_scaling *scaling)
{
    struct uc_ready *ready =
        atomic_load_explicit(&entry->ready, memory_order_acquire);

    while (ready != NULL && !fits(ready, device, scaling))
        ready = ready->next;
    return ready;
}

bool uc_ready_is_full(const struct uc_entry *entry, int device)
{
    const struct uc_ready *ready =
        atomic_load_explicit(&entry->ready, memory_order_acquire);
    int count = 0;

    _Static_assert(UC_READY_MOST == 16, "UC_READY_FULL says so");
    for (; ready != NULL; ready = ready->next)
        count += ready->device == device;
    return count >= UC_READY_MOST;
}

bool uc_ready_is_quick(const struct uc_entry *entry)
{
    const struct uc_plan_operation *op = entry->operation;

    for (size_t i = 0; i < op->piece_count; i++)
        if (op->pieces[i].kernel.api != UC_API_LEGACY)
            return false;
    return true;
}

int64_t uc_ready_workspace(const struct uc_entry *entry)
{
    const struct uc_ready *ready =
        atomic_load_explicit(&entry->ready, memory_order_acquire);
    int64_t most = -1;

    for (; ready != NULL; ready = ready->next)
        if (!ready->broken && ready->workspace_bytes > most)
            most = ready->workspace_bytes;
    return most < 0 ? entry->operation->workspace_bytes : most;
}

/* Making -----------------------------------------------------------------*/

static enum uc_status refuse(const struct uc_cudnn *cudnn, cudnnStatus_t status,
                             const struct uc_kernel *kernel,
                             enum uc_operation operation, struct uc_error *err)
{
    char text[UC_KERNEL_TEXT];

    uc_kernel_print(kernel, operation, text);
    return uc_fail(err, UC_EDEVICE, "%.100s: cuDNN: %s", text,
                   cudnn->GetErrorString(status));
}

/** A plan's notes are what its user has agreed to. Engines that are compiled
    at run time are right only as they were measured (HACKING says how). */
static enum uc_status check_notes(const struct uc_plan_piece *piece,
                                  enum uc_operation operation, unsigned notes,
                                  const struct uc_scaling *scaling,
                                  struct uc_error *err)
{
    const unsigned weaker = (UC_NOTE_TENSOR_CORE | UC_NOTE_DOWN_CONVERT |
                             UC_NOTE_REDUCED_PRECISION) &
                            notes & ~piece->notes;
    const bool as_measured =
        scaling->alpha == 1 && scaling->beta == (piece->accumulate ? 1 : 0);
    char text[UC_KERNEL_TEXT];

    uc_kernel_print(&piece->kernel, operation, text);
    if ((notes & UC_NOTE_RUNTIME_COMPILED) && !as_measured)
        return uc_fail(err, UC_EDEVICE,
                       "%.100s was measured with alpha 1 and beta 0 only",
                       text);
    if (weaker == 0)
        return UC_OK;
    return uc_fail(err, UC_EDEVICE,
                   "%.100s computes in weaker arithmetic than planned", text);
}

static enum uc_status make_step(struct uc_ready *ready,
                                const struct uc_problem *problem,
                                const struct uc_plan_piece *piece,
                                const struct uc_cudnn *cudnn,
                                cudnnHandle_t handle, struct uc_error *err)
{
    const struct uc_scaling scaling = {
        ready->scaling.alpha, piece->accumulate ? 1 : ready->scaling.beta
    };
    struct uc_step *step = &ready->steps[ready->step_count];
    int64_t x[UC_MAX_DIMS], y[UC_MAX_DIMS];
    size_t bytes = 0;
    cudnnStatus_t result =
        uc_runner_create(cudnn, handle, problem, piece->size, &piece->kernel,
                         &scaling, &step->runner);

    if (result == CUDNN_STATUS_SUCCESS) {
        ready->step_count++;
        result = uc_runner_workspace(step->runner, handle, &bytes);
    }
    if (result == CUDNN_STATUS_SUCCESS)
        result = uc_runner_build(step->runner);
    if (result != CUDNN_STATUS_SUCCESS) {
        ready->status = result;
        return refuse(cudnn, result, &piece->kernel, problem->operation, err);
    }
    step->kernel = &piece->kernel;
    step->count = piece->count;
    step->accumulate = piece->accumulate;
    uc_problem_strides(problem, UC_X, x);
    uc_problem_strides(problem, UC_Y, y);
    step->x_bytes =
        piece->size * x[0] * (int64_t)uc_dtype_bytes(problem->x_type);
    step->y_bytes =
        piece->size * y[0] * (int64_t)uc_dtype_bytes(problem->y_type);
    if ((int64_t)bytes > ready->workspace_bytes)
        ready->workspace_bytes = (int64_t)bytes;
    return check_notes(piece, problem->operation, uc_runner_notes(step->runner),
                       &scaling, err);
}

static void free_steps(struct uc_ready *ready)
{
    for (size_t i = 0; i < ready->step_count; i++)
        uc_runner_free(ready->steps[i].runner);
    free(ready->steps);
    ready->steps = NULL;
    ready->step_count = 0;
}

/** Told once an operation: other devices and scalars fare the same. */
static void set_broken(struct uc_ready *ready, struct uc_entry *entry,
                       const char *reason)
{
    const struct uc_plan_operation *op = entry->operation;

    if (!atomic_exchange_explicit(&entry->told, true, memory_order_relaxed))
        uc_log(UC_LOG_WARNING, "%s %s passes through: %s", op->layer,
               uc_operation_name(op->problem.operation), reason);
    snprintf(ready->reason, sizeof ready->reason, "%.159s", reason);
    free_steps(ready);
    ready->broken = true;
}

static void fill(struct uc_ready *ready, struct uc_entry *entry,
                 const struct uc_cudnn *cudnn, cudnnHandle_t handle)
{
    const struct uc_plan_operation *op = entry->operation;
    enum uc_status status = UC_OK;
    struct uc_error err;

    ready->steps = calloc(op->piece_count, sizeof *ready->steps);
    if (ready->steps == NULL)
        status = uc_no_memory(&err);
    for (size_t i = 0; i < op->piece_count && status == UC_OK; i++)
        status =
            make_step(ready, &op->problem, &op->pieces[i], cudnn, handle, &err);
    if (status != UC_OK) {
        set_broken(ready, entry, err.text);
    } else if (ready->workspace_bytes > op->workspace_bytes) {
        uc_log(UC_LOG_WARNING,
               "%s %s: cuDNN now asks for %lld bytes of workspace, planned "
               "were %lld",
               op->layer, uc_operation_name(op->problem.operation),
               (long long)ready->workspace_bytes,
               (long long)op->workspace_bytes);
    }
}

/** With the lock held. */
static struct uc_ready *make(struct uc_entry *entry,
                             const struct uc_cudnn *cudnn, cudnnHandle_t handle,
                             int device, const struct uc_scaling *scaling)
{
    struct uc_ready *first =
        atomic_load_explicit(&entry->ready, memory_order_relaxed);
    struct uc_ready *ready = calloc(1, sizeof *ready);

    if (ready == NULL)
        return NULL;
    ready->next = first;
    ready->device = device;
    ready->scaling = *scaling;
    ready->status = CUDNN_STATUS_NOT_SUPPORTED;
    ready->legacy = uc_ready_is_quick(entry);
    ready->wide = entry->key.x_type == UC_FP64;
    fill(ready, entry, cudnn, handle);
    atomic_store_explicit(&entry->ready, ready, memory_order_release);
    return ready;
}

struct uc_ready *uc_ready_make(struct uc_entry *entry,
                               const struct uc_cudnn *cudnn,
                               cudnnHandle_t handle, int device,
                               const struct uc_scaling *scaling)
{
    struct uc_ready *ready = uc_ready_find(entry, device, scaling);

    if (ready != NULL || uc_ready_is_full(entry, device))
        return ready;
    pthread_mutex_lock(&make_lock);
    ready = uc_ready_find(entry, device, scaling);
    if (ready == NULL && !uc_ready_is_full(entry, device))
        ready = make(entry, cudnn, handle, device, scaling);
    pthread_mutex_unlock(&make_lock);
    return ready;
}

bool uc_ready_is_warm(const struct uc_ready *ready, int device)
{
    return device >= 0 && device < UC_DEVICES &&
           (atomic_load_explicit(&ready->warm, memory_order_relaxed) >> device &
            1) != 0;
}

void uc_ready_set_warm(struct uc_ready *ready, int device)
{
    if (device >= 0 && device < UC_DEVICES && !uc_ready_is_warm(ready, device))
        atomic_fetch_or_explicit(&ready->warm, (uint64_t)1 << device,
                                 memory_order_relaxed);
}

void uc_ready_free(struct uc_ready *ready)
{
    while (ready != NULL) {
        struct uc_ready *next = ready->next;

        free_steps(ready);
        free(ready);
        ready = next;
    }
}
