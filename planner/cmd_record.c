#include "config.h"

#include "common/beside.h"
#include "common/write.h"
#include "planner/commands.h"
#include "planner/launch.h"
#include "planner/outfile.h"

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
    size_t length;

    if (outfile_check(name, err) != UC_OK)
        return err->status;
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

/** A file with something in it, beside the one that is to be written. */
struct witness {
    char path[PATH_MAX];
    int fd;
};

/**
 * Links into /proc and full disks show in no other way. The library empties it
 * when it cannot write something: in another process, on a disk that is full.
 */
static enum uc_status make_witness(const char *name, const char *path,
                                   struct witness *witness,
                                   struct uc_error *err)
{
    char target[PATH_MAX];
    int cause;

    if (realpath(path, target) == NULL)
        snprintf(target, sizeof target, "%s", path);
    uc_beside_sweep(target, false);
    witness->fd = uc_beside_create(target, UC_BESIDE_LOOSE, witness->path,
                                   sizeof witness->path);
    cause = witness->fd < 0 ? errno : uc_write_all(witness->fd, "x", 1);
    if (cause == 0 && setenv("UCUDNN_RECORD_WITNESS", witness->path, 1) != 0)
        cause = errno;
    if (cause == 0)
        return UC_OK;
    if (witness->fd >= 0) {
        unlink(witness->path);
        close(witness->fd);
    }
    return uc_fail(err, UC_EFILE, "%.200s: cannot be written: %s", name,
                   strerror(cause));
}

/** Whether it has seen no failure. */
static bool end_witness(struct witness *witness)
{
    struct stat st;
    bool well = fstat(witness->fd, &st) == 0 && st.st_size > 0;

    unlink(witness->path);
    close(witness->fd);
    return well;
}

/** Why there is no file, or no whole one, though the command ended well. */
static enum uc_status not_written(const char *name, const char *path,
                                  const char *command, bool well,
                                  struct uc_error *err)
{
    const char *disable = getenv("UCUDNN_DISABLE");
    struct witness witness;

    /* A folder that was removed meanwhile. */
    if (make_witness(name, path, &witness, err) != UC_OK)
        return err->status;
    end_witness(&witness);
    if (!well)
        return uc_fail(err, UC_EFILE,
                       "%.256s: what was recorded could not be written", name);
    if (disable != NULL && disable[0] != '\0' && strcmp(disable, "0") != 0)
        return uc_fail(err, UC_EMISSING,
                       "%.200s: nothing was recorded: UCUDNN_DISABLE=%.32s is "
                       "in the environment",
                       name, disable);
    return uc_fail(err, UC_EMISSING,
                   "%.80s: nothing was recorded: %.60s made no convolution "
                   "call that can be seen; \"ucudnn-plan doctor -- COMMAND\" "
                   "says why",
                   name, command);
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    struct stat before = { .st_ino = 0 };
    struct witness witness;
    char path[PATH_MAX];
    const char *note = NULL;
    enum uc_status status;
    bool well;
    int ended = 0;

    if (args->output == NULL)
        return uc_fail(err, UC_EINPUT, "--output is needed");
    status = check_output(args->output, path, err);
    if (status == UC_OK)
        status = make_witness(args->output, path, &witness, err);
    if (status != UC_OK)
        return status;
    if (stat(path, &before) != 0)
        before = (struct stat){ .st_ino = 0 };
    if (status == UC_OK)
        status = launch_prepare("UCUDNN_RECORD", path, args->keep_graph_api,
                                &note, err);
    if (status == UC_OK && note != NULL)
        fprintf(stderr, "ucudnn-plan record: %s\n", note);
    if (status == UC_OK)
        status = launch_watch(operands, count, NULL, &ended, err);
    well = end_witness(&witness);
    if (status != UC_OK)
        return status;
    ended = launch_status(ended);
    if (ended != 0)
        return (enum uc_status)ended; /* the command has said why */
    if (!was_written(path, &before))
        return not_written(args->output, path, operands[0], well, err);
    if (!well)
        return uc_fail(err, UC_EFILE,
                       "%.256s: not all that was recorded could be written",
                       args->output);
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
