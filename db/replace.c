#include "config.h"

#include "db/replace.h"

#include "common/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------ the file */

static enum uc_status replace_fail(const struct uc_replace *replace,
                                   struct uc_error *err)
{
    return uc_fail(err, UC_EFILE, "%.256s: %s", replace->path, strerror(errno));
}

/** Follow links; a link to nothing is refused rather than guessed at. */
static enum uc_status replace_resolve(struct uc_replace *replace,
                                      struct uc_error *err)
{
    struct stat st;
    char *slash;

    if (replace->path[0] == '\0')
        return uc_fail(err, UC_EFILE, "the file name is empty");
    replace->real = realpath(replace->path, NULL);
    if (replace->real == NULL) {
        if (errno != ENOENT)
            return replace_fail(replace, err);
        /* Another writer may have made the file by now. */
        if (lstat(replace->path, &st) == 0 && S_ISLNK(st.st_mode))
            return uc_fail(err, UC_EFILE,
                           "%.256s: is a symbolic link to nothing",
                           replace->path);
        replace->real = strdup(replace->path);
    }
    if (replace->real == NULL)
        return uc_no_memory(err);
    slash = strrchr(replace->real, '/');
    if (slash == NULL)
        replace->folder = strdup(".");
    else if (slash == replace->real)
        replace->folder = strdup("/");
    else
        replace->folder =
            strndup(replace->real, (size_t)(slash - replace->real));
    return replace->folder == NULL ? uc_no_memory(err) : UC_OK;
}

/**
 * Writers of one file take turns, or the last rename would lose what the
 * others wrote. The folder is locked since the file itself is replaced. Where a
 * folder cannot be locked (NFS) writers are on their own.
 */
static enum uc_status replace_lock(struct uc_replace *replace,
                                   struct uc_error *err)
{
    const struct timespec pause = { 0, 5 * 1000 * 1000 };

    replace->folder_fd =
        open(replace->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (replace->folder_fd < 0)
        return replace_fail(replace, err);
    for (int tries = 0; flock(replace->folder_fd, LOCK_EX | LOCK_NB) != 0;
         tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return UC_OK;
        if (tries == 60 * 200)
            return uc_fail(err, UC_EFILE,
                           "%.256s: another program has locked its folder "
                           "for a minute",
                           replace->path);
        nanosleep(&pause, NULL);
    }
    replace->locked = true;
    return UC_OK;
}

static enum uc_status replace_look(struct uc_replace *replace,
                                   struct uc_error *err)
{
    struct stat st;

    if (stat(replace->real, &st) != 0)
        return errno == ENOENT ? UC_OK : replace_fail(replace, err);
    if (S_ISDIR(st.st_mode))
        return uc_fail(err, UC_EFILE, "%.256s: is a directory", replace->path);
    if (!S_ISREG(st.st_mode))
        return uc_fail(err, UC_EFILE, "%.256s: is not a regular file",
                       replace->path);
    /* A rename would get around the file's own permission. */
    if (access(replace->real, W_OK) != 0)
        return errno == ENOENT ? UC_OK : replace_fail(replace, err);
    replace->exists = st.st_size > 0;
    replace->mode = st.st_mode & 0777;
    return UC_OK;
}

enum uc_status uc_replace_begin(const char *path, struct uc_replace *replace,
                                struct uc_error *err)
{
    enum uc_status status;

    *replace = (struct uc_replace){ .path = path, .folder_fd = -1 };
    status = replace_resolve(replace, err);
    if (status == UC_OK)
        status = replace_lock(replace, err);
    if (status == UC_OK)
        status = replace_look(replace, err);
    return status;
}

/* ----------------------------------------------------- the new file */

enum uc_status uc_replace_create(struct uc_replace *replace,
                                 struct uc_error *err)
{
    size_t size = strlen(replace->real) + UC_BESIDE_NAME;
    char *name = malloc(size);
    enum uc_status status = UC_OK;
    int fd;

    if (name == NULL)
        return uc_no_memory(err);
    /* Who has the lock has the only one. */
    uc_beside_sweep(replace->real, replace->locked);
    fd = uc_beside_create(replace->real, UC_BESIDE_LOCKED, name, size);
    if (fd < 0 ||
        (replace->mode != 0 && fchmod(fd, replace->mode | S_IRUSR) != 0))
        status = replace_fail(replace, err);
    if (fd >= 0)
        close(fd);
    replace->temporary = name;
    return status;
}

/**
 * Behind a file that is held there is no journal with content. Else it is a
 * dead writer's, or that of one who is making the file right now: SQLite would
 * play it back over the new file.
 */
static enum uc_status check_journals(const struct uc_replace *replace,
                                     struct uc_error *err)
{
    static const char *const ends[] = { "-journal", "-wal" };
    size_t size = strlen(replace->real) + sizeof "-journal";
    char *journal = malloc(size);
    enum uc_status status = UC_OK;
    struct stat st;

    if (journal == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(journal, size, "%s%s", replace->real, ends[i]);
        if (status == UC_OK && stat(journal, &st) == 0 && st.st_size > 0)
            status = uc_fail(err, UC_EFILE,
                             "%.256s: a program is making it, or was killed: "
                             "there is a %s file beside it",
                             replace->path, ends[i]);
    }
    free(journal);
    return status;
}

enum uc_status uc_replace_commit(struct uc_replace *replace,
                                 struct uc_error *err)
{
    enum uc_status status = check_journals(replace, err);
    int fd;

    if (status != UC_OK)
        return status;
    fd = open(replace->temporary, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return replace_fail(replace, err);
    if (fsync(fd) != 0)
        status = replace_fail(replace, err);
    close(fd);
    if (status == UC_OK && rename(replace->temporary, replace->real) != 0)
        status = replace_fail(replace, err);
    if (status != UC_OK)
        return status;
    free(replace->temporary);
    replace->temporary = NULL;
    /* Some file systems cannot sync a folder; the name is right anyway. */
    if (fsync(replace->folder_fd) != 0 && errno == EIO)
        status = replace_fail(replace, err);
    return status;
}

void uc_replace_end(struct uc_replace *replace)
{
    if (replace->temporary != NULL && replace->temporary[0] != '\0')
        unlink(replace->temporary);
    if (replace->folder != NULL && replace->folder_fd >= 0)
        close(replace->folder_fd);
    free(replace->temporary);
    free(replace->folder);
    free(replace->real);
    *replace = (struct uc_replace){ .folder_fd = -1 };
}
