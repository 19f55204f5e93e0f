#include "config.h"

#include "common/beside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAMES = 1000, DAY_S = 24 * 3600 };

/** ".ucudnn-PID-NUMBER" and what tells its kind. */
static const char prefix[] = ".ucudnn-";
static const char *const suffixes[] = {
    [UC_BESIDE_LOCKED] = ".tmp",
    [UC_BESIDE_LOOSE] = ".new",
};

/** Of the folder's part of a path, with the slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char start[sizeof magic];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got;

    if (fd < 0)
        return false;
    got = read(fd, start, sizeof start);
    close(fd);
    return got == (ssize_t)sizeof start &&
           memcmp(start, magic, sizeof magic) == 0;
}

const char *uc_beside_refusal(const char *target)
{
    struct stat st;

    if (stat(target, &st) != 0) {
        int cause = errno;

        if (lstat(target, &st) == 0 && S_ISLNK(st.st_mode))
            return cause == ENOENT ? "is a symbolic link to nothing"
                                   : strerror(cause);
        return NULL;
    }
    if (S_ISDIR(st.st_mode))
        return "is a folder";
    if (!S_ISREG(st.st_mode))
        return "is no regular file";
    if (access(target, W_OK) != 0)
        return strerror(errno);
    return is_database(target) ? "is a database, which is not replaced" : NULL;
}

int uc_beside_create(const char *target, enum uc_beside kind, char *path,
                     size_t size)
{
    size_t folder = folder_length(target);
    int fd = -1;

    path[0] = '\0';
    if (folder + UC_BESIDE_NAME > size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(path, target, folder);
    for (int i = 0; i < NAMES && fd < 0; i++) {
        snprintf(path + folder, size - folder, "%s%ld-%d%s", prefix,
                 (long)getpid(), i, suffixes[kind]);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        path[0] = '\0';
    return fd;
}

/** Whether it is a name of ours, and of which kind. */
static bool is_ours(const char *name, enum uc_beside *kind)
{
    static const char digits[] = "0123456789";
    size_t length;

    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return false;
    name += strlen(prefix);
    length = strspn(name, digits);
    if (length == 0 || name[length] != '-')
        return false;
    name += length + 1;
    length = strspn(name, digits);
    for (int i = UC_BESIDE_LOCKED; i <= UC_BESIDE_LOOSE; i++)
        if (length > 0 && strcmp(name + length, suffixes[i]) == 0) {
            *kind = (enum uc_beside)i;
            return true;
        }
    return false;
}

static bool is_old(int folder_fd, const char *name)
{
    struct stat st;

    return fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           time(NULL) - st.st_mtime > DAY_S;
}

void uc_beside_sweep(const char *target, bool locked)
{
    size_t length = folder_length(target);
    char *folder = length == 0 ? strdup(".") : strndup(target, length);
    DIR *entries = folder != NULL ? opendir(folder) : NULL;
    enum uc_beside kind;

    free(folder);
    if (entries == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (is_ours(entry->d_name, &kind) &&
            ((locked && kind == UC_BESIDE_LOCKED) ||
             is_old(dirfd(entries), entry->d_name)))
            unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
}
