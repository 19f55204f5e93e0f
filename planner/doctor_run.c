#include "config.h"

#include "planner/doctor.h"

#include "common/write.h"
#include "planner/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/** Between one signal and the next. */
static const double patience_s = 10;

/** A command that runs. */
struct watched {
    struct uc_sight *sight; /**< the mapping */
    int fd;                 /**< its file */
    char path[PATH_MAX];    /**< of it, as /proc has it */
    int signals;            /**< sent so far */
};

/** Made whole now, so that nothing that maps it can find the disk full. */
static enum uc_status write_file(int fd, const char *path, struct uc_error *err)
{
    struct uc_sight *empty = calloc(1, sizeof *empty);
    int cause;

    if (empty == NULL)
        return uc_no_memory(err);
    memcpy(empty->magic, UC_SIGHT_MAGIC, sizeof empty->magic);
    cause = uc_write_all(fd, empty, sizeof *empty);
    free(empty);
    if (cause != 0)
        return uc_fail(err, UC_EFILE, "%.256s: %s", path, strerror(cause));
    return UC_OK;
}

static enum uc_status map_file(struct watched *w, struct uc_error *err)
{
    void *map;
    enum uc_status status = write_file(w->fd, w->path, err);

    if (status != UC_OK)
        return status;
    map = mmap(NULL, sizeof *w->sight, PROT_READ | PROT_WRITE, MAP_SHARED,
               w->fd, 0);
    if (map == MAP_FAILED)
        return uc_fail(err, UC_EFILE, "%.256s: %s", w->path, strerror(errno));
    w->sight = map;
    return UC_OK;
}

/** A new file for the counters, named in the environment. */
static enum uc_status open_watched(struct watched *w, struct uc_error *err)
{
    const char *folder = getenv("TMPDIR");
    char name[PATH_MAX];
    enum uc_status status;

    if (folder == NULL || folder[0] == '\0')
        folder = "/tmp";
    if (realpath(folder, name) == NULL)
        return uc_fail(err, UC_EFILE,
                       "the folder for temporary files, %.256s: %s", folder,
                       strerror(errno));
    if (snprintf(w->path, sizeof w->path, "%s/ucudnn-doctor.XXXXXX", name) >=
        (int)sizeof w->path)
        return uc_fail(err, UC_EFILE, "%.256s: name too long", folder);
    w->fd = mkostemp(w->path, O_CLOEXEC);
    if (w->fd < 0)
        return uc_fail(err, UC_EFILE,
                       "the folder for temporary files, %.256s: %s", folder,
                       strerror(errno));
    status = map_file(w, err);
    if (status == UC_OK && setenv(UC_SIGHT_VARIABLE, w->path, 1) != 0)
        status = uc_no_memory(err);
    return status;
}

static void close_watched(struct watched *w)
{
    if (w->fd < 0)
        return;
    unlink(w->path);
    close(w->fd);
    if (w->sight != NULL)
        munmap(w->sight, sizeof *w->sight);
}

/** To touch a mapping of what somebody has cut off would end this process. */
static bool is_whole(const struct watched *w)
{
    struct stat st;

    return fstat(w->fd, &st) == 0 && st.st_size >= (off_t)sizeof *w->sight;
}

/* Its end -----------------------------------------------------------------*/

/** Look at what a process has loaded; whether it is one of the command's. */
static bool is_ours(struct watched *w, pid_t pid)
{
    char maps[64];
    bool own;

    snprintf(maps, sizeof maps, "/proc/%ld/maps", (long)pid);
    return uc_sight_look(w->sight, maps, 0, w->path, &own) && own;
}

/** A signal for all its processes but the first. */
static void signal_others(struct watched *w, pid_t first, int number)
{
    if (!is_whole(w))
        return;
    for (int i = 0; i < UC_SIGHT_PROCESSES; i++) {
        struct uc_sight_process *p = &w->sight->processes[i];
        pid_t pid = (pid_t)atomic_load(&p->pid);

        if (pid <= 0 || !is_ours(w, pid))
            continue;
        atomic_store(&p->looked, 1);
        if (pid != first)
            kill(pid, number);
    }
}

/** Its time is over: ask, then tell, then kill. */
static double stop(void *context, pid_t child)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGKILL };
    struct watched *w = context;

    signal_others(w, child, signals[w->signals]);
    kill(child, signals[w->signals++]);
    return w->signals < (int)(sizeof signals / sizeof *signals) ? patience_s
                                                                : -1;
}

/** A copy, whose texts end whatever the command's processes wrote there. */
static enum uc_status copy_sight(const struct watched *w, struct uc_sight **out,
                                 struct uc_error *err)
{
    struct uc_sight *copy = malloc(sizeof *copy);

    if (copy == NULL)
        return uc_no_memory(err);
    if (pread(w->fd, copy, sizeof *copy, 0) != (ssize_t)sizeof *copy) {
        free(copy);
        return uc_fail(err, UC_EFILE,
                       "%.256s: the counters were lost: the file was cut off",
                       w->path);
    }
    copy->cudnn_path[sizeof copy->cudnn_path - 1] = '\0';
    for (int i = 0; i < UC_SIGHT_PROCESSES; i++)
        copy->processes[i].name[UC_SIGHT_NAME - 1] = '\0';
    for (int i = 0; i < UC_SIGHT_REASONS; i++)
        copy->reasons[i].text[UC_SIGHT_TEXT - 1] = '\0';
    *out = copy;
    return UC_OK;
}

enum uc_status uc_doctor_run(struct uc_doctor_program *program, char **words,
                             size_t count, struct uc_error *err)
{
    struct watched w = { .fd = -1 };
    const struct launch_watch watch = { program->for_s, stop, &w };
    enum uc_status status = open_watched(&w, err);

    if (status != UC_OK) {
        close_watched(&w);
        return status;
    }
    status = launch_watch(words, count, &watch, &program->ended, err);
    program->stopped = w.signals > 0;
    if (program->stopped) /* a shell's background ignores SIGINT */
        signal_others(&w, 0, SIGTERM);
    if (status == UC_OK)
        status = copy_sight(&w, &program->sight, err);
    close_watched(&w);
    return status;
}

void uc_doctor_program_free(struct uc_doctor_program *program)
{
    free(program->sight);
    program->sight = NULL;
}
