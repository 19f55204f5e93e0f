#include "config.h"

#include "planner/import_file.h"

#include "common/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 4 << 20 };

static enum uc_status fail(const char *path, int cause, struct uc_error *err)
{
    return uc_fail(err, UC_EFILE, "%.256s: %s", path, strerror(cause));
}

/** At most `room` bytes; an errno. */
static int read_all(int fd, char *buffer, size_t room, size_t *used)
{
    ssize_t got;

    *used = 0;
    while (*used < room &&
           (got = read(fd, buffer + *used, room - *used)) != 0) {
        if (got < 0 && errno != EINTR)
            return errno;
        if (got > 0)
            *used += (size_t)got;
    }
    return 0;
}

enum uc_status uc_import_load(const char *path, char **text, size_t *length,
                              struct uc_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    char *buffer = malloc(MAX_BYTES + 1);
    size_t used = 0;
    int fd, cause;

    if (buffer == NULL)
        return uc_no_memory(err);
    fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    cause = fd < 0 ? errno : read_all(fd, buffer, MAX_BYTES + 1, &used);
    if (!standard && fd >= 0)
        close(fd);
    if (cause == 0 && used <= MAX_BYTES) {
        *text = buffer;
        *length = used;
        return UC_OK;
    }
    free(buffer);
    if (cause != 0)
        return fail(name, cause, err);
    return uc_fail(err, UC_EINPUT, "%.256s: larger than %d MiB", name,
                   MAX_BYTES >> 20);
}

/** Where the file really is, and a name beside it. */
static enum uc_status find_target(struct uc_import_output *output,
                                  struct uc_error *err)
{
    struct stat st;

    if (stat(output->path, &st) == 0) {
        if (!S_ISREG(st.st_mode))
            return uc_fail(err, UC_EFILE, "%.256s: is no regular file",
                           output->path);
        /* A rename would get around the file's own permission. */
        if (access(output->path, W_OK) != 0)
            return fail(output->path, errno, err);
        output->target = realpath(output->path, NULL);
        if (output->target == NULL)
            return fail(output->path, errno, err);
    } else {
        output->target = strdup(output->path);
    }
    if (output->target == NULL ||
        asprintf(&output->temporary, "%s.%ld.tmp", output->target,
                 (long)getpid()) < 0) {
        output->temporary = NULL;
        return uc_no_memory(err);
    }
    return UC_OK;
}

static enum uc_status write_temporary(struct uc_import_output *output,
                                      struct uc_error *err)
{
    enum uc_status status = find_target(output, err);
    int fd, cause;

    if (status != UC_OK)
        return status;
    fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        cause = errno;
        free(output->temporary); /* not ours to remove */
        output->temporary = NULL;
        return fail(output->path, cause, err);
    }
    cause = uc_write_all(fd, output->text, strlen(output->text));
    if (cause == 0 && fsync(fd) != 0)
        cause = errno;
    if (close(fd) != 0 && cause == 0)
        cause = errno;
    return cause == 0 ? UC_OK : fail(output->path, cause, err);
}

enum uc_status uc_import_store(struct uc_import_output *outputs, size_t count,
                               struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = write_temporary(&outputs[i], err);
    for (size_t i = count; i-- > 0 && status == UC_OK;) {
        if (rename(outputs[i].temporary, outputs[i].target) != 0) {
            status = fail(outputs[i].path, errno, err);
            break;
        }
        free(outputs[i].temporary);
        outputs[i].temporary = NULL;
    }
    for (size_t i = 0; i < count && status != UC_OK; i++)
        if (outputs[i].temporary != NULL)
            unlink(outputs[i].temporary);
    return status;
}

void uc_import_outputs_free(struct uc_import_output *outputs, size_t count)
{
    for (size_t i = 0; i < count && outputs != NULL; i++) {
        free(outputs[i].path);
        free(outputs[i].text);
        free(outputs[i].temporary);
        free(outputs[i].target);
    }
    free(outputs);
}
