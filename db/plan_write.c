#include "config.h"

#include "db/plan_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void bind_optional_ns(struct uc_sql_query *query, int at, int64_t ns)
{
    if (ns < 0)
        uc_sql_bind_null(query, at);
    else
        uc_sql_bind_int(query, at, ns);
}

/* ----------------------------------------------------------------- rows */

static enum uc_status add_piece(struct uc_sql *sql, int64_t plan,
                                const struct uc_plan_operation *op,
                                size_t position, size_t at,
                                struct uc_error *err)
{
    const struct uc_plan_piece *piece = &op->pieces[at];
    char kernel[UC_KERNEL_TEXT];
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(sql, UC_PLAN_ADD_MICRO_BATCH, "storing a micro-batch",
                          &query, err);
    if (status != UC_OK)
        return status;
    uc_kernel_print(&piece->kernel, op->problem.operation, kernel);
    uc_sql_bind_int(&query, 1, (int64_t)at);
    uc_sql_bind_int(&query, 2, piece->size);
    uc_sql_bind_int(&query, 3, piece->count);
    uc_sql_bind_int(&query, 4, piece->accumulate);
    uc_sql_bind_text(&query, 5, kernel);
    uc_sql_bind_int(&query, 6, piece->workspace_bytes);
    uc_sql_bind_int(&query, 7, piece->time_ns);
    uc_sql_bind_int(&query, 8, piece->notes);
    uc_sql_bind_int(&query, 9, piece->build_ns);
    uc_sql_bind_int(&query, 10, plan);
    uc_sql_bind_int(&query, 11, (int64_t)position);
    return uc_sql_finish(&query, err);
}

static enum uc_status add_operation(struct uc_sql *sql, int64_t plan,
                                    const struct uc_plan_operation *op,
                                    size_t position, struct uc_error *err)
{
    char problem[UC_PROBLEM_TEXT];
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(sql, UC_PLAN_ADD_OPERATION, "storing an operation",
                          &query, err);
    if (status != UC_OK)
        return status;
    uc_problem_print(&op->problem, problem);
    uc_sql_bind_int(&query, 1, (int64_t)position);
    uc_sql_bind_text(&query, 2, op->layer);
    uc_sql_bind_int(&query, 3, op->repeat);
    uc_sql_bind_int(&query, 4, op->batch);
    uc_sql_bind_text(&query, 5, problem);
    uc_sql_bind_int(&query, 6, op->workspace_bytes);
    uc_sql_bind_int(&query, 7, op->time_ns);
    bind_optional_ns(&query, 8, op->undivided_ns);
    bind_optional_ns(&query, 9, op->unlimited_ns);
    uc_sql_bind_int(&query, 10, plan);
    status = uc_sql_finish(&query, err);
    for (size_t i = 0; i < op->piece_count && status == UC_OK; i++)
        status = add_piece(sql, plan, op, position, i, err);
    return status;
}

static enum uc_status add_header(struct uc_sql *sql, int64_t id,
                                 const struct uc_plan *plan,
                                 struct uc_error *err)
{
    struct uc_plan_totals totals;
    struct uc_sql_query query;
    enum uc_status status;

    status = uc_sql_query(sql, UC_PLAN_ADD, "storing a plan", &query, err);
    if (status != UC_OK)
        return status;
    uc_plan_totals(plan, &totals);
    uc_sql_bind_text(&query, 1, plan->network);
    uc_sql_bind_environment(&query, 2, &plan->environment);
    uc_sql_bind_text(&query, 9, plan->mode == UC_PLAN_WR ? "wr" : "wd");
    uc_sql_bind_int(&query, 10, plan->limit_bytes);
    uc_sql_bind_text(&query, 11, plan->policy);
    uc_sql_bind_int(&query, 12, plan->deterministic);
    uc_sql_bind_int(&query, 13, plan->created_at);
    uc_sql_bind_text(&query, 14, plan->tool);
    uc_sql_bind_int(&query, 15, totals.predicted_ns);
    bind_optional_ns(&query, 16, totals.undivided_ns);
    bind_optional_ns(&query, 17, totals.unlimited_ns);
    uc_sql_bind_int(&query, 18, totals.workspace_bytes);
    uc_sql_bind_int(&query, 19, id);
    return uc_sql_finish(&query, err);
}

static enum uc_status add_plan(struct uc_sql *sql, int64_t id,
                               const struct uc_plan *plan, struct uc_error *err)
{
    enum uc_status status = add_header(sql, id, plan, err);

    for (size_t i = 0; i < plan->operation_count && status == UC_OK; i++)
        status = add_operation(sql, id, &plan->operations[i], i, err);
    return status;
}

/* ------------------------------------------------------------- identity */

/** The same batch in the same arithmetic. */
static bool same_variant(const struct uc_plan_operation *a,
                         const struct uc_plan_operation *b)
{
    const struct uc_problem *p = &a->problem, *q = &b->problem;

    return a->batch == b->batch && p->x_type == q->x_type &&
           p->w_type == q->w_type && p->y_type == q->y_type &&
           p->math == q->math && p->x.kind == q->x.kind;
}

/** Every variant of `a` is in `b`. */
static bool variants_within(const struct uc_plan *a, const struct uc_plan *b)
{
    for (size_t i = 0; i < a->operation_count; i++) {
        size_t j = 0;

        while (j < b->operation_count &&
               !same_variant(&a->operations[i], &b->operations[j]))
            j++;
        if (j == b->operation_count)
            return false;
    }
    return true;
}

static bool same_plan(const struct uc_plan *a, const struct uc_plan *b)
{
    return strcmp(a->network, b->network) == 0 &&
           uc_environment_difference(&a->environment, &b->environment) ==
               NULL &&
           a->mode == b->mode && a->limit_bytes == b->limit_bytes &&
           variants_within(a, b) && variants_within(b, a);
}

/* ------------------------------------------------------ the target file */

struct target {
    const char *path; /**< as the user wrote it */
    char *real;       /**< the file itself, links followed */
    char *folder;     /**< of `real` */
    int folder_fd;
    bool locked; /**< the folder: some file systems cannot */
    bool exists; /**< and is not empty */
    mode_t mode; /**< of the file that exists, else 0 */
};

static enum uc_status target_fail(const struct target *target,
                                  struct uc_error *err)
{
    return uc_fail(err, UC_EFILE, "%.256s: %s", target->path, strerror(errno));
}

static void target_free(struct target *target)
{
    if (target->folder_fd >= 0)
        close(target->folder_fd);
    free(target->folder);
    free(target->real);
}

/** Follow links; a link to nothing is refused rather than guessed at. */
static enum uc_status target_resolve(struct target *target,
                                     struct uc_error *err)
{
    struct stat st;
    char *slash;

    if (target->path[0] == '\0')
        return uc_fail(err, UC_EFILE, "the file name is empty");
    target->real = realpath(target->path, NULL);
    if (target->real == NULL) {
        if (errno != ENOENT)
            return target_fail(target, err);
        if (lstat(target->path, &st) == 0)
            return uc_fail(err, UC_EFILE,
                           "%.256s: is a symbolic link to nothing",
                           target->path);
        target->real = strdup(target->path);
    }
    if (target->real == NULL)
        return uc_no_memory(err);
    slash = strrchr(target->real, '/');
    if (slash == NULL)
        target->folder = strdup(".");
    else if (slash == target->real)
        target->folder = strdup("/");
    else
        target->folder = strndup(target->real, (size_t)(slash - target->real));
    return target->folder == NULL ? uc_no_memory(err) : UC_OK;
}

/**
 * Writers of one file take turns, or the last rename would lose the others'
 * plans. The folder is locked since the file itself is replaced. Where a
 * folder cannot be locked (NFS) writers are on their own.
 */
static enum uc_status target_lock(struct target *target, struct uc_error *err)
{
    const struct timespec pause = { 0, 5 * 1000 * 1000 };

    target->folder_fd =
        open(target->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (target->folder_fd < 0)
        return target_fail(target, err);
    for (int tries = 0; flock(target->folder_fd, LOCK_EX | LOCK_NB) != 0;
         tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return UC_OK;
        if (tries == 60 * 200)
            return uc_fail(err, UC_EFILE,
                           "%.256s: another program has locked its folder "
                           "for a minute",
                           target->path);
        nanosleep(&pause, NULL);
    }
    target->locked = true;
    return UC_OK;
}

static enum uc_status target_look(struct target *target, struct uc_error *err)
{
    struct stat st;

    if (stat(target->real, &st) != 0)
        return errno == ENOENT ? UC_OK : target_fail(target, err);
    if (S_ISDIR(st.st_mode))
        return uc_fail(err, UC_EFILE, "%.256s: is a directory", target->path);
    if (!S_ISREG(st.st_mode))
        return uc_fail(err, UC_EFILE, "%.256s: is not a regular file",
                       target->path);
    /* A rename would get around the file's own permission. */
    if (access(target->real, W_OK) != 0)
        return target_fail(target, err);
    target->exists = st.st_size > 0;
    target->mode = st.st_mode & 0777;
    return UC_OK;
}

static enum uc_status target_open(const char *path, struct target *target,
                                  struct uc_error *err)
{
    enum uc_status status;

    *target = (struct target){ .path = path, .folder_fd = -1 };
    status = target_resolve(target, err);
    if (status == UC_OK)
        status = target_lock(target, err);
    if (status == UC_OK)
        status = target_look(target, err);
    return status;
}

/* ----------------------------------------------------- the new file */

#define TEMPORARY_PREFIX ".ucudnn-"
#define TEMPORARY_SUFFIX ".tmp"

/** ".ucudnn-PID-NUMBER.tmp" */
static bool is_temporary(const char *name)
{
    static const char digits[] = "0123456789";
    size_t length;

    if (strncmp(name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) != 0)
        return false;
    name += strlen(TEMPORARY_PREFIX);
    length = strspn(name, digits);
    if (length == 0 || name[length] != '-')
        return false;
    name += length + 1;
    length = strspn(name, digits);
    return length > 0 && strcmp(name + length, TEMPORARY_SUFFIX) == 0;
}

/** Files that killed writers left: who has the lock has the only one. */
static void sweep_temporaries(const struct target *target)
{
    DIR *folder = target->locked ? opendir(target->folder) : NULL;

    if (folder == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (is_temporary(entry->d_name))
            unlinkat(target->folder_fd, entry->d_name, 0);
    closedir(folder);
}

/** A new empty file beside the target; *temporary is the caller's. */
static enum uc_status temporary_create(const struct target *target,
                                       char **temporary, struct uc_error *err)
{
    size_t size = strlen(target->folder) + 64;
    char *name = malloc(size);
    int fd = -1;

    if (name == NULL)
        return uc_no_memory(err);
    for (int i = 0; i < 1000 && fd < 0; i++) {
        snprintf(name, size, "%s/" TEMPORARY_PREFIX "%ld-%d" TEMPORARY_SUFFIX,
                 target->folder, (long)getpid(), i);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0 ||
        (target->mode != 0 && fchmod(fd, target->mode | S_IRUSR) != 0)) {
        enum uc_status status = target_fail(target, err);

        if (fd >= 0) {
            close(fd);
            unlink(name);
        }
        free(name);
        return status;
    }
    close(fd);
    *temporary = name;
    return UC_OK;
}

struct list {
    const struct uc_plan *plans;
    size_t count;
};

static bool replaced(const struct uc_plan *old, const struct list *added)
{
    for (size_t i = 0; i < added->count; i++)
        if (same_plan(old, &added->plans[i]))
            return true;
    return false;
}

/** `kept` but those that others replace, then those. */
static enum uc_status temporary_fill(const char *temporary,
                                     const struct list *kept,
                                     const struct list *added,
                                     struct uc_error *err)
{
    struct uc_sql *sql = NULL;
    int64_t id = 1;
    enum uc_status status;

    status = uc_sql_open(&uc_plan_format, temporary, UC_SQL_PRIVATE, &sql, err);
    if (status == UC_OK)
        status = uc_sql_begin(sql, err);
    for (size_t i = 0; i < kept->count && status == UC_OK; i++)
        if (!replaced(&kept->plans[i], added))
            status = add_plan(sql, id++, &kept->plans[i], err);
    for (size_t i = 0; i < added->count && status == UC_OK; i++)
        status = add_plan(sql, id++, &added->plans[i], err);
    if (status == UC_OK)
        status = uc_sql_commit(sql, err);
    uc_sql_close(sql);
    return status;
}

/** On the disk before it takes the name, so that a crash leaves either. */
static enum uc_status temporary_rename(const struct target *target,
                                       const char *temporary,
                                       struct uc_error *err)
{
    int fd = open(temporary, O_RDONLY | O_CLOEXEC);
    enum uc_status status = UC_OK;

    if (fd < 0)
        return target_fail(target, err);
    if (fsync(fd) != 0)
        status = target_fail(target, err);
    close(fd);
    if (status == UC_OK && rename(temporary, target->real) != 0)
        status = target_fail(target, err);
    /* Some file systems cannot sync a folder; the name is right anyway. */
    if (status == UC_OK && fsync(target->folder_fd) != 0 && errno == EIO)
        status = target_fail(target, err);
    return status;
}

enum uc_status uc_plans_write(const char *path, const struct uc_plan *plans,
                              size_t count, struct uc_error *err)
{
    const struct list added = { plans, count };
    struct target target;
    struct uc_plan *old = NULL;
    size_t old_count = 0;
    char *temporary = NULL;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = uc_plan_check(&plans[i], err);
    if (status != UC_OK)
        return status;
    status = target_open(path, &target, err);
    if (status == UC_OK && target.exists)
        status = uc_plans_read(path, &old, &old_count, err);
    if (status == UC_OK) {
        sweep_temporaries(&target);
        status = temporary_create(&target, &temporary, err);
    }
    if (status == UC_OK) {
        const struct list kept = { old, old_count };

        status = temporary_fill(temporary, &kept, &added, err);
        if (status != UC_OK)
            uc_wrap(err, status, path);
    }
    if (status == UC_OK)
        status = temporary_rename(&target, temporary, err);
    if (status != UC_OK && temporary != NULL)
        unlink(temporary);
    free(temporary);
    uc_plans_free(old, old_count);
    target_free(&target);
    return status;
}
