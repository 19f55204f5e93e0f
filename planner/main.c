#include "config.h"

#include "common/text.h"
#include "planner/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void signal_handler(int);

/** "ucudnn-plan COMMAND: text" on stderr, one line whatever the text holds. */
static void print_error(const char *command, char *text)
{
    fprintf(stderr, "ucudnn-plan%s%s: ", command != NULL ? " " : "",
            command != NULL ? command : "");
    uc_text_make_line(text);
    fprintf(stderr, "%s\n", text);
}

/**
 * Keep descriptors 0 to 2 taken, so that no data file ends up as one of
 * them. Reading a closed input and writing a closed output still fail.
 */
static void guard_descriptors(void)
{
    static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", modes[fd]);
}

/** What SIGPIPE did before main() had it ignored. */
static signal_handler *sigpipe;

static bool output_is_lost; /**< and a command knows */

/**
 * A reader that went away ends us by SIGPIPE, as if the signal had never
 * been ignored, unless our parent ignores it too.
 */
static enum uc_status output_failed(int cause, struct uc_error *err)
{
    if (cause == EPIPE && sigpipe == SIG_DFL) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    output_is_lost = true;
    return uc_fail(err, UC_EFILE, "standard output: %s",
                   cause != 0 ? strerror(cause) : "write error");
}

enum uc_status command_flush(struct uc_error *err)
{
    int failed = ferror(stdout), cause = 0;

    if (fflush(stdout) != 0) {
        failed = 1;
        cause = errno;
    }
    return failed ? output_failed(cause, err) : UC_OK;
}

/** Flush and close stdout. */
static enum uc_status finish_output(struct uc_error *err)
{
    enum uc_status status = output_is_lost ? UC_OK : command_flush(err);

    if (fclose(stdout) != 0 && !output_is_lost && errno != EBADF)
        status = output_failed(errno, err);
    return status;
}

static enum uc_status run_command(const struct cmd *cmd, int argc, char **argv,
                                  struct uc_error *err)
{
    void *args = calloc(1, cmd->args_size > 0 ? cmd->args_size : 1);
    size_t operands;
    int help;
    enum uc_status status;

    if (args == NULL)
        return uc_no_memory(err);
    if (cmd->defaults != NULL)
        memcpy(args, cmd->defaults, cmd->args_size);
    status = opt_parse(cmd, argc, argv, args, &operands, &help, err);
    if (status == UC_OK && help)
        opt_help(cmd);
    else if (status == UC_OK)
        status = cmd->run(args, argv, operands, err);
    free(args);
    return status;
}

/** What is left when argv[1] names no command. */
static enum uc_status run_global(int argc, char **argv, struct uc_error *err)
{
    if (argc < 2)
        return uc_fail(err, UC_EINPUT,
                       "no command given (see ucudnn-plan --help)");
    if (argv[1][0] != '-')
        return uc_fail(err, UC_EINPUT,
                       "unknown command \"%.64s\" (see ucudnn-plan --help)",
                       argv[1]);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        command_overview();
    else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        printf("ucudnn-plan %s\n", PACKAGE_VERSION);
    else
        return uc_fail(err, UC_EINPUT,
                       "unknown option %.64s (see ucudnn-plan --help)",
                       argv[1]);
    return UC_OK;
}

int main(int argc, char **argv)
{
    struct uc_error err = { .status = UC_OK };
    const struct cmd *cmd = argc > 1 ? command_find(argv[1]) : NULL;
    const char *name = cmd != NULL ? cmd->name : NULL;
    enum uc_status status, written;

    guard_descriptors();
    /* Worker processes and closed progress streams must not end a run. */
    if (cmd != NULL && cmd->launches) {
        sigpipe = SIG_DFL;
    } else {
        sigpipe = signal(SIGPIPE, SIG_IGN);
        /* A limit on file sizes is an error as a full disk is one. */
        signal(SIGXFSZ, SIG_IGN);
    }
    if (cmd != NULL)
        status = run_command(cmd, argc - 2, argv + 2, &err);
    else
        status = run_global(argc, argv, &err);
    if (status != UC_OK && err.text[0] != '\0')
        print_error(name, err.text);
    /* Whatever it says: who reads it would miss what was to be there. */
    written = finish_output(&err);
    if (written != UC_OK) {
        print_error(name, err.text);
        status = written;
    }
    return (int)status;
}
