#include "config.h"

#include "planner/import_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

enum uc_status uc_import_write(struct uc_import_output *outputs, size_t count,
                               struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        status = outfile_begin(&outputs[i].file, outputs[i].path, err);
        if (status != UC_OK)
            break;
        fputs(outputs[i].text, outputs[i].file.stream);
        status = outfile_write(&outputs[i].file, err);
    }
    return status;
}

enum uc_status uc_import_store(struct uc_import_output *outputs, size_t count,
                               struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = count; i-- > 0 && status == UC_OK;)
        status = outfile_finish(&outputs[i].file, err);
    return status;
}

void uc_import_outputs_free(struct uc_import_output *outputs, size_t count)
{
    for (size_t i = 0; i < count && outputs != NULL; i++) {
        outfile_drop(&outputs[i].file);
        free(outputs[i].path);
        free(outputs[i].text);
    }
    free(outputs);
}
