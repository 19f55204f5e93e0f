#include "config.h"

#include "planner/commands.h"
#include "planner/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct args {
    const char *output;
    bool keep_graph_api;
};

static const struct opt_spec opts[] = {
    { .name = "output",
      .letter = 'o',
      .type = OPT_STRING,
      .offset = offsetof(struct args, output),
      .argument = "NETWORK",
      .help = "file to write the description to (required)" },
    { .name = "keep-graph-api",
      .type = OPT_FLAG,
      .offset = offsetof(struct args, keep_graph_api),
      .help = "do not set TORCH_CUDNN_V8_API_DISABLED=1" },
    { .type = OPT_END },
};

/** The absolute path of a file that can be made or replaced. */
static enum uc_status check_output(const char *name, char path[PATH_MAX],
                                   struct uc_error *err)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash != NULL ? slash + 1 : name;
    char folder[PATH_MAX] = ".";
    struct stat st;
    size_t length;

    if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
        return uc_fail(err, UC_EFILE, "%.256s: is no regular file", name);
    if (strlen(name) >= sizeof folder || *base == '\0')
        return uc_fail(err, UC_EFILE, "%.256s: %s", name,
                       *base == '\0' ? "is a folder" : "name too long");
    if (slash != NULL) {
        memcpy(folder, name, (size_t)(base - name));
        folder[base - name] = '\0';
    }
    if (access(folder, W_OK) != 0 || realpath(folder, path) == NULL)
        return uc_fail(err, UC_EFILE, "%.256s: %s", name, strerror(errno));
    length = strlen(path);
    if (length + strlen(base) + 2 > PATH_MAX)
        return uc_fail(err, UC_EFILE, "%.256s: name too long", name);
    snprintf(path + length, PATH_MAX - length, "/%s", base);
    return UC_OK;
}

/** Whether a file is there that was not there before. */
static bool was_written(const char *path, const struct stat *before)
{
    struct stat now;

    return stat(path, &now) == 0 &&
           (now.st_ino != before->st_ino || now.st_dev != before->st_dev ||
            now.st_ctim.tv_sec != before->st_ctim.tv_sec ||
            now.st_ctim.tv_nsec != before->st_ctim.tv_nsec);
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    struct stat before = { .st_ino = 0 };
    char path[PATH_MAX];
    const char *note = NULL;
    enum uc_status status;
    int ended = 0;

    if (args->output == NULL)
        return uc_fail(err, UC_EINPUT, "--output is needed");
    status = check_output(args->output, path, err);
    if (status == UC_OK && stat(path, &before) != 0)
        before = (struct stat){ .st_ino = 0 };
    if (status == UC_OK)
        status = launch_prepare("UCUDNN_RECORD", path, args->keep_graph_api,
                                &note, err);
    if (status == UC_OK && note != NULL)
        fprintf(stderr, "ucudnn-plan record: %s\n", note);
    if (status == UC_OK)
        status = launch_wait(operands, count, &ended, err);
    if (status != UC_OK)
        return status;
    if (ended != 0)
        return (enum uc_status)ended; /* the command has said why */
    if (!was_written(path, &before))
        return uc_fail(err, UC_EMISSING,
                       "%.200s: nothing was recorded: %.200s made no "
                       "convolution call that can be seen",
                       args->output, operands[0]);
    return UC_OK;
}

const struct cmd cmd_record = {
    .name = "record",
    .operands = "-- COMMAND [ARGUMENT...]",
    .summary = "write the convolutions that a program runs as a network",
    .opts = opts,
    .args_size = sizeof(struct args),
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .launches = true,
    .run = run,
};
