/*
 * ucudnn.h: opening plan files, and what is in them. Nothing here needs CUDA
 * or cuDNN.
 */
#include "config.h"

#include "runtime/api_impl.h"
#include "runtime/capture.h"
#include "runtime/stats.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void uc_api_tell(char *buffer, size_t bytes, const char *format, ...)
{
    va_list args;

    if (buffer == NULL || bytes == 0)
        return;
    va_start(args, format);
    vsnprintf(buffer, bytes, format, args);
    va_end(args);
}

UC_API int ucudnn_get_version(void)
{
    return UCUDNN_VERSION;
}

UC_API const char *ucudnn_describe_status(ucudnn_status status)
{
    static const char *const words[] = {
        [UCUDNN_OK] = "success",
        [UCUDNN_BAD_ARGUMENT] = "bad argument",
        [UCUDNN_NO_MEMORY] = "out of memory",
        [UCUDNN_BAD_FILE] = "no plan file that can be read",
        [UCUDNN_NO_CUDNN] = "no cuDNN 9 or no CUDA driver in this process",
        [UCUDNN_DISABLED] = "disabled by UCUDNN_DISABLE",
        [UCUDNN_UNSUPPORTED] = "no convolution that plans describe",
        [UCUDNN_NOT_PLANNED] = "not planned",
        [UCUDNN_OTHER_DEVICE] = "planned for another device or cuDNN",
        [UCUDNN_WORKSPACE] = "workspace too small",
        [UCUDNN_ALIGNMENT] = "address not aligned to 16 bytes",
        [UCUDNN_CAPTURE] = "first use under stream capture",
        [UCUDNN_REFUSED] = "refused by cuDNN",
        [UCUDNN_INCOMPLETE] = "failed when part of it may be done",
    };

    if ((int)status < 0 || (size_t)status >= sizeof words / sizeof *words)
        return "unknown status";
    return words[status];
}

/* Structs that grow ------------------------------------------------------*/

/** Whether a caller's struct has at least the fields of the first version,
    which for now are all. */
static bool has_room(const void *info, size_t bytes)
{
    size_t size;

    if (info == NULL)
        return false;
    memcpy(&size, info, sizeof size);
    return size >= bytes;
}

/** The options that the caller gave, the others zero. */
static bool read_options(const ucudnn_open_options *given,
                         ucudnn_open_options *options)
{
    memset(options, 0, sizeof *options);
    if (given == NULL)
        return true;
    if (!has_room(given, sizeof *options))
        return false;
    memcpy(options, given, sizeof *options);
    for (size_t i = sizeof *options; i < given->struct_size; i++)
        if (((const char *)given)[i] != 0)
            return false;
    return (int)options->match >= UCUDNN_MATCH_EXACT &&
           options->match <= UCUDNN_MATCH_ANY && options->reserved == 0;
}

/* Opening and closing ----------------------------------------------------*/

static struct uc_entry *entry_of(const struct uc_table *table,
                                 const struct uc_plan *plan,
                                 const struct uc_plan_operation *planned)
{
    struct uc_problem key = planned->problem;
    struct uc_entry *entry;

    uc_problem_canonical(&key);
    entry = uc_table_find(table, &key, planned->batch);
    while (entry != NULL && entry->plan != plan)
        entry = entry->next_copy;
    return entry;
}

static void add_plan(struct ucudnn_plan_file *file, const struct uc_plan *plan,
                     size_t first)
{
    size_t entries;
    const struct uc_entry *all = uc_table_entries(file->table, &entries);

    for (size_t i = 0; i < plan->operation_count; i++) {
        struct ucudnn_operation *o = &file->operations[first + i];

        o->file = file;
        o->planned = &plan->operations[i];
        o->entry = entry_of(file->table, plan, o->planned);
        uc_problem_print(&o->planned->problem, o->problem);
        if (file->by_entry[o->entry - all] == NULL)
            file->by_entry[o->entry - all] = o;
    }
}

static bool build(struct ucudnn_plan_file *file)
{
    size_t plan_count, entries, operations = 0;
    const struct uc_plan *plans = uc_table_plans(file->table, &plan_count);

    uc_table_entries(file->table, &entries);
    for (size_t i = 0; i < plan_count; i++)
        operations += plans[i].operation_count;
    file->operations = calloc(operations + 1, sizeof *file->operations);
    file->first = calloc(plan_count + 1, sizeof *file->first);
    file->by_entry = calloc(entries + 1, sizeof(struct ucudnn_operation *));
    if (file->operations == NULL || file->first == NULL ||
        file->by_entry == NULL)
        return false;
    operations = 0;
    for (size_t i = 0; i < plan_count; i++) {
        file->first[i] = operations;
        add_plan(file, &plans[i], operations);
        operations += plans[i].operation_count;
    }
    return true;
}

static ucudnn_status read_file(const char *path, ucudnn_plan_file *file,
                               char *error, size_t error_bytes)
{
    struct uc_error err;

    if (uc_table_open(path, &file->table, &err) != UC_OK) {
        uc_api_tell(error, error_bytes, "%s", err.text);
        return err.status == UC_EINTERNAL ? UCUDNN_NO_MEMORY : UCUDNN_BAD_FILE;
    }
    if (!build(file)) {
        uc_api_tell(error, error_bytes, "out of memory");
        return UCUDNN_NO_MEMORY;
    }
    return UCUDNN_OK;
}

UC_API ucudnn_status ucudnn_open_plan_file(const char *path,
                                           const ucudnn_open_options *options,
                                           ucudnn_plan_file **out, char *error,
                                           size_t error_bytes)
{
    ucudnn_open_options o;
    ucudnn_plan_file *file;
    ucudnn_status status;

    if (path == NULL || out == NULL || !read_options(options, &o)) {
        uc_api_tell(error, error_bytes, "bad argument");
        return UCUDNN_BAD_ARGUMENT;
    }
    uc_stats_set_explicit();
    uc_settings_get(); /* UCUDNN_LOG from here on */
    file = calloc(1, sizeof *file);
    if (file == NULL || pthread_mutex_init(&file->lock, NULL) != 0) {
        uc_api_tell(error, error_bytes, "out of memory");
        free(file);
        return UCUDNN_NO_MEMORY;
    }
    file->match = (enum uc_match)o.match; /* numbered alike */
    status = read_file(path, file, error, error_bytes);
    if (status != UCUDNN_OK) {
        ucudnn_close_plan_file(file);
        return status;
    }
    *out = file;
    return UCUDNN_OK;
}

/** What was made ready may hold modules of the device. */
static void free_table(struct ucudnn_plan_file *file)
{
    CUstreamCaptureMode mode;

    if (!atomic_load(&file->attached)) {
        uc_table_free(file->table);
        return;
    }
    uc_matcher_free(&file->matcher);
    mode = uc_capture_relax(&file->cuda);
    uc_table_free(file->table);
    uc_capture_restore(&file->cuda, mode);
}

UC_API void ucudnn_close_plan_file(ucudnn_plan_file *file)
{
    if (file == NULL)
        return;
    free_table(file);
    free(file->operations);
    free(file->first);
    free(file->by_entry);
    pthread_mutex_destroy(&file->lock);
    free(file);
}

/* Describing -------------------------------------------------------------*/

UC_API size_t ucudnn_count_plans(const ucudnn_plan_file *file)
{
    size_t count = 0;

    if (file != NULL)
        uc_table_plans(file->table, &count);
    return count;
}

UC_API ucudnn_status ucudnn_describe_plan(const ucudnn_plan_file *file,
                                          size_t plan, ucudnn_plan_info *info)
{
    const struct uc_plan *p;
    struct uc_plan_totals totals;
    size_t count;

    if (plan >= ucudnn_count_plans(file) || !has_room(info, sizeof *info))
        return UCUDNN_BAD_ARGUMENT;
    p = &uc_table_plans(file->table, &count)[plan];
    uc_plan_totals(p, &totals);
    *info = (ucudnn_plan_info){
        .struct_size = info->struct_size,
        .network = p->network,
        .device = p->environment.device.name,
        .cudnn_version = p->environment.versions.cudnn,
        .mode = p->mode == UC_PLAN_WD ? UCUDNN_WORKSPACE_DIVISION
                                      : UCUDNN_WORKSPACE_REUSE,
        .limit_bytes = p->limit_bytes,
        .operation_count = p->operation_count,
        .predicted_ns = totals.predicted_ns,
    };
    return UCUDNN_OK;
}

UC_API const ucudnn_operation *ucudnn_get_operation(
    const ucudnn_plan_file *file, size_t plan, size_t index)
{
    size_t count;

    if (plan >= ucudnn_count_plans(file) ||
        index >= uc_table_plans(file->table, &count)[plan].operation_count)
        return NULL;
    return &file->operations[file->first[plan] + index];
}

UC_API ucudnn_status ucudnn_describe_operation(
    const ucudnn_operation *operation, ucudnn_operation_info *info)
{
    const struct uc_plan_operation *followed;
    int64_t micro_batches = 0;

    if (operation == NULL || !has_room(info, sizeof *info))
        return UCUDNN_BAD_ARGUMENT;
    followed = operation->entry->operation;
    for (size_t i = 0; i < followed->piece_count; i++)
        micro_batches += followed->pieces[i].count;
    *info = (ucudnn_operation_info){
        .struct_size = info->struct_size,
        .layer = operation->planned->layer,
        .kind = (ucudnn_kind)followed->problem.operation, /* numbered alike */
        .problem = operation->problem,
        .batch = followed->batch,
        .workspace_bytes = uc_ready_workspace(operation->entry),
        .predicted_ns = followed->time_ns,
        .piece_count = followed->piece_count,
        .micro_batches = micro_batches,
    };
    return UCUDNN_OK;
}

UC_API ucudnn_status ucudnn_describe_piece(const ucudnn_operation *operation,
                                           size_t index,
                                           ucudnn_piece_info *info)
{
    const struct uc_plan_operation *followed;
    const struct uc_plan_piece *piece;

    if (operation == NULL || !has_room(info, sizeof *info) ||
        index >= operation->entry->operation->piece_count)
        return UCUDNN_BAD_ARGUMENT;
    followed = operation->entry->operation;
    piece = &followed->pieces[index];
    _Static_assert(sizeof info->kernel == UC_KERNEL_TEXT, "kernels' texts fit");
    *info = (ucudnn_piece_info){
        .struct_size = info->struct_size,
        .size = piece->size,
        .count = piece->count,
        .workspace_bytes = piece->workspace_bytes,
        .predicted_ns = piece->time_ns,
    };
    uc_kernel_print(&piece->kernel, followed->problem.operation, info->kernel);
    return UCUDNN_OK;
}

UC_API ucudnn_status ucudnn_get_counters(const ucudnn_plan_file *file,
                                         ucudnn_counters *counters)
{
    if (file == NULL || !has_room(counters, sizeof *counters))
        return UCUDNN_BAD_ARGUMENT;
    *counters = (ucudnn_counters){
        .struct_size = counters->struct_size,
        .executed = atomic_load(&file->executed),
        .passed_through = atomic_load(&file->passed_through),
        .not_found = atomic_load(&file->not_found),
    };
    return UCUDNN_OK;
}
