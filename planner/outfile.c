#include "config.h"

#include "planner/outfile.h"

#include "common/beside.h"
#include "common/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum uc_status fail(const char *path, int cause, struct uc_error *err)
{
    return uc_fail(err, UC_EFILE, "%.256s: %s", path, strerror(cause));
}

/** A new file beside the target; -1 with errno. */
static int create_beside(struct outfile *file)
{
    size_t size = strlen(file->target) + UC_BESIDE_NAME;
    char *name = malloc(size);
    int fd;

    if (name == NULL)
        return -1;
    uc_beside_sweep(file->target, false);
    fd = uc_beside_create(file->target, UC_BESIDE_LOOSE, name, size);
    file->temporary = name;
    return fd;
}

bool outfile_is_same(const char *path, const char *other)
{
    struct stat a, b;

    return stat(path, &a) == 0 && stat(other, &b) == 0 &&
           a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

enum uc_status outfile_check(const char *path, struct uc_error *err)
{
    const char *why = uc_beside_refusal(path);

    return why == NULL ? UC_OK
                       : uc_fail(err, UC_EFILE, "%.256s: %s", path, why);
}

enum uc_status outfile_begin(struct outfile *file, const char *path,
                             struct uc_error *err)
{
    struct stat there;
    bool is_there = stat(path, &there) == 0;
    bool is_file = is_there && S_ISREG(there.st_mode);

    *file = (struct outfile){ .path = path, .fd = -1 };
    file->target = is_file ? realpath(path, NULL) : strdup(path);
    if (file->target == NULL)
        return fail(file->path, errno, err);
    if ((is_file || !is_there) && outfile_check(path, err) != UC_OK)
        return err->status;
    file->fd = is_there && !is_file ? open(path, O_WRONLY | O_CLOEXEC)
                                    : create_beside(file);
    if (file->fd < 0)
        return fail(file->path, errno, err);
    if (is_file)
        (void)fchmod(file->fd, there.st_mode & 0777);
    file->stream = open_memstream(&file->bytes, &file->length);
    return file->stream != NULL ? UC_OK : uc_no_memory(err);
}

enum uc_status outfile_write(struct outfile *file, struct uc_error *err)
{
    int failed = ferror(file->stream), cause;

    failed |= fclose(file->stream);
    file->stream = NULL;
    if (failed)
        return uc_no_memory(err);
    cause = uc_write_all(file->fd, file->bytes, file->length);
    if (cause == 0 && file->temporary != NULL && fsync(file->fd) != 0)
        cause = errno;
    if (close(file->fd) != 0 && cause == 0)
        cause = errno;
    file->fd = -1;
    return cause == 0 ? UC_OK : fail(file->path, cause, err);
}

enum uc_status outfile_finish(struct outfile *file, struct uc_error *err)
{
    enum uc_status status =
        file->stream != NULL ? outfile_write(file, err) : UC_OK;

    if (status != UC_OK)
        return status;
    if (file->temporary != NULL && rename(file->temporary, file->target) != 0)
        return fail(file->path, errno, err);
    free(file->temporary);
    file->temporary = NULL;
    outfile_drop(file);
    return UC_OK;
}

void outfile_drop(struct outfile *file)
{
    if (file->target == NULL)
        return;
    if (file->stream != NULL)
        fclose(file->stream);
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary != NULL && file->temporary[0] != '\0')
        unlink(file->temporary);
    free(file->bytes);
    free(file->temporary);
    free(file->target);
    *file = (struct outfile){ .path = file->path };
}
