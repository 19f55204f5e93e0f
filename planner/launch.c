#include "config.h"

#include "planner/launch.h"

#include "common/clock.h"
#include "db/plan.h"
#include "planner/data.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libucudnn.so.0"

enum { MOST_WAIT_S = 1 << 20 };

/* The environment --------------------------------------------------------*/

enum uc_status launch_find_library(char *path, struct uc_error *err)
{
    static const char *const beside[] = { ".libs", "../lib", "../lib64" };
    char program[PATH_MAX], near[PATH_MAX + 64];

    if (uc_data_program_folder(program, sizeof program))
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            snprintf(near, sizeof near, "%s/%s/" LIBRARY, program, beside[i]);
            if (access(near, R_OK) == 0 && realpath(near, path) != NULL)
                return UC_OK;
        }
    if (access(LIBDIR "/" LIBRARY, R_OK) == 0 &&
        realpath(LIBDIR "/" LIBRARY, path) != NULL)
        return UC_OK;
    return uc_fail(err, UC_EFILE,
                   LIBRARY " found neither beside the program nor in " LIBDIR
                           " (it is built with CUDA and cuDNN headers only)");
}

static enum uc_status set_variable(const char *variable, const char *value,
                                   struct uc_error *err)
{
    return setenv(variable, value, 1) == 0 ? UC_OK : uc_no_memory(err);
}

/** Before what is preloaded already. */
static enum uc_status set_preload(struct uc_error *err)
{
    const char *others = getenv("LD_PRELOAD");
    char library[PATH_MAX], *value;
    enum uc_status status = launch_find_library(library, err);
    size_t size;

    if (status != UC_OK)
        return status;
    if (strpbrk(library, " :") != NULL)
        return uc_fail(err, UC_EFILE,
                       "%.256s: LD_PRELOAD takes no path with a blank or a "
                       "colon",
                       library);
    if (others == NULL || others[0] == '\0')
        return set_variable("LD_PRELOAD", library, err);
    size = strlen(library) + strlen(others) + 2;
    value = malloc(size);
    if (value == NULL)
        return uc_no_memory(err);
    snprintf(value, size, "%s:%s", library, others);
    status = set_variable("LD_PRELOAD", value, err);
    free(value);
    return status;
}

enum uc_status launch_prepare(const char *setting, const char *value,
                              bool keep_graph_api, const char **note,
                              struct uc_error *err)
{
#define TORCH "TORCH_CUDNN_V8_API_DISABLED"
    enum uc_status status = set_preload(err);
    static const char *const about[] = { "UCUDNN_PLAN", "UCUDNN_RECORD" };

    *note = NULL;
    /* One thing at a time, whatever an outer command is about. */
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (setting == NULL || strcmp(setting, about[i]) != 0)
            unsetenv(about[i]);
    if (status == UC_OK && setting != NULL)
        status = set_variable(setting, value, err);
    if (status != UC_OK || keep_graph_api || getenv(TORCH) != NULL)
        return status;
    *note = "setting " TORCH "=1, for PyTorch (--keep-graph-api does not)";
    return set_variable(TORCH, "1", err);
#undef TORCH
}

/* What the command is run with -------------------------------------------*/

enum uc_status launch_check_match(const char *match, struct uc_error *err)
{
    if (match == NULL || strcmp(match, "exact") == 0 ||
        strcmp(match, "device") == 0 || strcmp(match, "any") == 0)
        return UC_OK;
    return uc_fail(err, UC_EINPUT,
                   "--match: \"%.64s\" is not exact, device "
                   "or any",
                   match);
}

enum uc_status launch_check_plan(const char *name, char *path,
                                 struct uc_error *err)
{
    struct uc_plan *plans = NULL;
    enum uc_file_kind kind;
    size_t count = 0;
    enum uc_status status = uc_file_identify(name, &kind, err);

    if (status == UC_OK && kind != UC_FILE_PLAN)
        return uc_fail(err, UC_EFILE, "%.256s: is a profile, not a plan", name);
    if (status == UC_OK)
        status = uc_plans_read(name, &plans, &count, err);
    uc_plans_free(plans, count);
    if (status == UC_OK && realpath(name, path) == NULL)
        status = uc_fail(err, UC_EFILE, "%.256s: %s", name, strerror(errno));
    return status;
}

/* The command ------------------------------------------------------------*/

/** The words with a NULL behind; the caller's to free. */
static char **terminated(char **words, size_t count)
{
    char **list = calloc(count + 1, sizeof *list);

    if (list != NULL)
        memcpy(list, words, count * sizeof *list);
    return list;
}

static enum uc_status cannot_run(const char *command, int cause,
                                 struct uc_error *err)
{
    return uc_fail(err,
                   (enum uc_status)(cause == ENOENT ? LAUNCH_NOT_FOUND
                                                    : LAUNCH_CANNOT_RUN),
                   "%.256s: %s", command,
                   cause == ENOENT ? "command not found" : strerror(cause));
}

enum uc_status launch_become(char **words, size_t count, struct uc_error *err)
{
    char **list = terminated(words, count);
    int cause;

    if (list == NULL)
        return uc_no_memory(err);
    execvp(list[0], list);
    cause = errno;
    free(list);
    return cannot_run(words[0], cause, err);
}

/**
 * Signals that are handed on to the command, and the end of a child: all but
 * those that a program raises by its own faults, and what stops terminal
 * output.
 */
static void awaited_signals(sigset_t *set)
{
    static const int own[] = { SIGABRT, SIGBUS,  SIGFPE, SIGILL,
                               SIGPIPE, SIGSEGV, SIGSYS, SIGTRAP,
                               SIGTTIN, SIGTTOU, SIGXFSZ };

    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(set, own[i]);
}

/** How this process was started, which the command is to be, too. */
struct inherited {
    sigset_t mask;
    struct sigaction child; /**< of SIGCHLD: its end can be ignored */
    bool to_stderr;         /**< not inherited: its output goes there */
};

/**
 * In the child: become the command; when that fails, the cause goes through
 * the pipe, which a command that runs closes.
 */
static void run_child(char **list, const struct inherited *inherited,
                      pid_t parent, int report)
{
    ssize_t written;
    int cause;

    /* Nothing else tells the command that this process was killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(LAUNCH_CANNOT_RUN);
    sigaction(SIGCHLD, &inherited->child, NULL);
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
    if (inherited->to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(list[0], list);
    cause = errno;
    do
        written = write(report, &cause, sizeof cause);
    while (written < 0 && errno == EINTR);
    _exit(LAUNCH_NOT_FOUND);
}

/** 0, or why the child could not become the command. */
static int read_cause(int report)
{
    int cause = 0;
    ssize_t got;

    do
        got = read(report, &cause, sizeof cause);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof cause ? cause : 0;
}

/**
 * Whether the command lacks a signal. What a terminal sends reaches it by
 * itself, except that a hangup is for the session's leader; an alarm set
 * before this program was run is for this process alone.
 */
static bool to_hand_on(const siginfo_t *info)
{
    switch (info->si_signo) {
    case SIGCHLD:
        return false;
    case SIGHUP:
    case SIGCONT:
        return info->si_code <= 0 || getsid(0) == getpid();
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGWINCH:
        return info->si_code <= 0;
    default:
        return true;
    }
}

/** Wait for one of the signals, but at most for so long; < 0: for ever. */
static int await_signal(const sigset_t *awaited, siginfo_t *info, double left_s)
{
    struct timespec left;

    if (left_s < 0)
        return sigwaitinfo(awaited, info);
    if (left_s > MOST_WAIT_S)
        left_s = MOST_WAIT_S;
    left.tv_sec = (time_t)left_s;
    left.tv_nsec = (long)((left_s - (double)left.tv_sec) * 1e9);
    return sigtimedwait(awaited, info, &left);
}

/** What is left until then; an alarm whose time has come is told. */
static double heed_alarm(const struct launch_watch *watch, pid_t child,
                         double *until_s)
{
    double left;

    if (watch == NULL || *until_s < 0)
        return -1;
    left = *until_s - uc_clock_s();
    if (left > 0)
        return left;
    left = watch->alarm(watch->context, child);
    *until_s = left < 0 ? -1 : uc_clock_s() + left;
    return left;
}

/** Until the child has ended; stopped while it is. */
static int wait_child(pid_t child, const sigset_t *awaited,
                      const struct launch_watch *watch)
{
    const struct timespec now = { 0, 0 };
    double until_s = watch != NULL && watch->after_s >= 0
                         ? uc_clock_s() + watch->after_s
                         : -1;
    int status = 0;
    siginfo_t info;

    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG | WUNTRACED);

        if (ended == child && WIFSTOPPED(status)) {
            raise(SIGSTOP);
            continue;
        }
        if (ended == child || (ended < 0 && errno != EINTR))
            break;
        if (await_signal(awaited, &info, heed_alarm(watch, child, &until_s)) >
                0 &&
            to_hand_on(&info))
            kill(child, info.si_signo);
    }
    /* Those that came too late for the command are not for this process. */
    while (sigtimedwait(awaited, &info, &now) > 0)
        ;
    return status;
}

/** As the command ended; without a second core file. */
static void die_of(int signal_number)
{
    const struct rlimit none = { 0, 0 };
    sigset_t set;

    setrlimit(RLIMIT_CORE, &none);
    signal(signal_number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(signal_number);
}

static enum uc_status start_child(char **list,
                                  const struct inherited *inherited,
                                  pid_t *child, struct uc_error *err)
{
    pid_t parent = getpid();
    int report[2], cause;

    if (pipe2(report, O_CLOEXEC) != 0)
        return uc_fail(err, UC_EINTERNAL, "pipe: %s", strerror(errno));
    *child = fork();
    if (*child == 0)
        run_child(list, inherited, parent, report[1]);
    cause = errno;
    close(report[1]);
    if (*child < 0) {
        close(report[0]);
        return uc_fail(err, UC_EINTERNAL, "fork: %s", strerror(cause));
    }
    cause = read_cause(report[0]);
    close(report[0]);
    if (cause == 0)
        return UC_OK;
    waitpid(*child, NULL, 0);
    return cannot_run(list[0], cause, err);
}

enum uc_status launch_watch(char **words, size_t count,
                            const struct launch_watch *watch, int *ended,
                            struct uc_error *err)
{
    char **list = terminated(words, count);
    struct sigaction waiting = { .sa_handler = SIG_DFL };
    struct inherited inherited = { .to_stderr = watch != NULL };
    sigset_t awaited;
    enum uc_status started;
    pid_t child = -1;

    if (list == NULL)
        return uc_no_memory(err);
    awaited_signals(&awaited);
    sigaction(SIGCHLD, &waiting, &inherited.child);
    sigprocmask(SIG_BLOCK, &awaited, &inherited.mask);
    started = start_child(list, &inherited, &child, err);
    free(list);
    if (started != UC_OK) {
        sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
        return started;
    }
    *ended = wait_child(child, &awaited, watch);
    sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
    return UC_OK;
}

int launch_status(int ended)
{
    if (!WIFSIGNALED(ended))
        return WEXITSTATUS(ended);
    die_of(WTERMSIG(ended));
    return 128 + WTERMSIG(ended);
}
