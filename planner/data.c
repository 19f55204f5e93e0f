#include "config.h"

#include "planner/data.h"

#include "common/array.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *word, *folder, *suffix;
} kinds[] = {
    [UC_DATA_NETWORK] = { "network", "networks", ".json" },
    [UC_DATA_PROFILE] = { "profile", "profiles", ".profile" },
};

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/** Join into path[size]; false when it does not fit. */
static bool join(char *path, size_t size, const char *folder, const char *name,
                 const char *suffix)
{
    int length = snprintf(path, size, "%s/%s%s", folder, name, suffix);

    return length >= 0 && (size_t)length < size;
}

bool uc_data_program_folder(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    char *slash;

    if (length < 0 || (size_t)length >= size - 1)
        return false;
    path[length] = '\0';
    slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return true;
}

enum uc_status uc_data_file(const char *name, char *path, size_t size,
                            struct uc_error *err)
{
    static const char *const beside[] = { "db", "../share/ucudnn" };
    const char *set = getenv("UCUDNN_DATA_DIR");
    char program[PATH_MAX], root[PATH_MAX];

    if (set != NULL && set[0] != '\0') {
        if (!join(path, size, set, name, ""))
            return uc_fail(err, UC_EFILE, "UCUDNN_DATA_DIR is too long");
        return UC_OK;
    }
    if (uc_data_program_folder(program, sizeof program))
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
            if (join(root, sizeof root, program, beside[i], "") &&
                join(path, size, root, name, "") && access(path, F_OK) == 0)
                return UC_OK;
    if (!join(path, size, PKGDATADIR, name, ""))
        return uc_fail(err, UC_EFILE, "data folder's name is too long");
    return UC_OK;
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);

    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static bool is_path(enum uc_data_kind kind, const char *name)
{
    return strchr(name, '/') != NULL || ends_with(name, kinds[kind].suffix) ||
           (access(name, F_OK) == 0 && !is_folder(name));
}

static bool ships(enum uc_data_kind kind, const char *name)
{
    char folder[PATH_MAX], path[PATH_MAX + 256];
    struct uc_error err;

    return uc_data_file(kinds[kind].folder, folder, sizeof folder, &err) ==
               UC_OK &&
           join(path, sizeof path, folder, name, kinds[kind].suffix) &&
           access(path, F_OK) == 0;
}

/** "no network "x"; there are a, b", as many as the text holds. */
static enum uc_status not_found(enum uc_data_kind kind, const char *name,
                                const char *folder, struct uc_error *err)
{
    const char *hint = "";
    char there[280] = "", prefix[160];
    char **names = NULL;
    size_t count = 0, used = 0;

    if (kind == UC_DATA_PROFILE && ships(UC_DATA_NETWORK, name))
        hint = " but a network (see \"ucudnn-plan networks\")";
    if (uc_data_list(kind, &names, &count, err) != UC_OK) {
        snprintf(prefix, sizeof prefix, "no %s \"%.64s\"%s", kinds[kind].word,
                 name, hint);
        return uc_wrap(err, UC_EFILE, prefix);
    }
    if (count == 0)
        return uc_fail(err, UC_EFILE, "no %s \"%.64s\"%s: nothing in %.256s",
                       kinds[kind].word, name, hint, folder);
    for (size_t i = 0; i < count && used < sizeof there; i++)
        used += (size_t)snprintf(there + used, sizeof there - used, "%s%s",
                                 i > 0 ? ", " : "", names[i]);
    uc_data_free(names, count);
    return uc_fail(err, UC_EFILE, "no %s \"%.64s\"%s; there are %s%s",
                   kinds[kind].word, name, hint, there,
                   used < sizeof there ? "" : "...");
}

enum uc_status uc_data_find(enum uc_data_kind kind, const char *name,
                            char *path, size_t size, struct uc_error *err)
{
    char folder[PATH_MAX], found[PATH_MAX + 256];
    enum uc_status status;

    if (name[0] == '\0')
        return uc_fail(err, UC_EINPUT, "the %s's name is empty",
                       kinds[kind].word);
    if (is_path(kind, name)) {
        if (strlen(name) >= size)
            return uc_fail(err, UC_EFILE, "name too long: %.64s...", name);
        memcpy(path, name, strlen(name) + 1);
        return UC_OK;
    }
    status = uc_data_file(kinds[kind].folder, folder, sizeof folder, err);
    if (status != UC_OK)
        return status;
    if (!join(found, sizeof found, folder, name, kinds[kind].suffix) ||
        access(found, F_OK) != 0)
        return not_found(kind, name, folder, err);
    if (strlen(found) >= size)
        return uc_fail(err, UC_EFILE, "name too long: %.64s...", found);
    memcpy(path, found, strlen(found) + 1);
    return UC_OK;
}

enum uc_status uc_data_find_file(const char *name, char *path, size_t size,
                                 struct uc_error *err)
{
    if (name[0] == '\0')
        return uc_fail(err, UC_EINPUT, "the file's name is empty");
    if (access(name, F_OK) != 0 && strpbrk(name, "/.") == NULL)
        return uc_data_find(UC_DATA_PROFILE, name, path, size, err);
    if (strlen(name) >= size)
        return uc_fail(err, UC_EFILE, "name too long: %.64s...", name);
    memcpy(path, name, strlen(name) + 1);
    return UC_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/** Names of a kind in an open folder, suffix taken off. */
static enum uc_status read_names(DIR *dir, const char *suffix, char ***names,
                                 size_t *count, struct uc_error *err)
{
    void *list = NULL;
    char **name;
    size_t used = 0;

    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.' || !ends_with(entry->d_name, suffix))
            continue;
        name = uc_array_append(&list, &used, sizeof *name);
        if (name == NULL)
            goto no_memory;
        *name = strndup(entry->d_name, strlen(entry->d_name) - strlen(suffix));
        if (*name == NULL)
            goto no_memory;
    }
    if (used > 0)
        qsort(list, used, sizeof *name, by_name);
    *names = list;
    *count = used;
    return UC_OK;

no_memory:
    uc_data_free(list, used);
    return uc_no_memory(err);
}

/** A build that was not installed has its data elsewhere. */
static enum uc_status no_folder(const char *folder, struct uc_error *err)
{
    const char *set = getenv("UCUDNN_DATA_DIR");
    const char *reason = strerror(errno);

    if (errno != ENOENT)
        return uc_fail(err, UC_EFILE, "%.200s: %s", folder, reason);
    return uc_fail(err, UC_EFILE,
                   set != NULL && set[0] != '\0'
                       ? "%.128s: %s (UCUDNN_DATA_DIR names this folder)"
                       : "%.64s: %s (\"make install\" makes it; "
                         "UCUDNN_DATA_DIR can name another, such as db/ of the "
                         "sources)",
                   folder, reason);
}

enum uc_status uc_data_list(enum uc_data_kind kind, char ***names,
                            size_t *count, struct uc_error *err)
{
    char folder[PATH_MAX];
    enum uc_status status =
        uc_data_file(kinds[kind].folder, folder, sizeof folder, err);
    DIR *dir;

    if (status != UC_OK)
        return status;
    dir = opendir(folder);
    if (dir == NULL)
        return no_folder(folder, err);
    status = read_names(dir, kinds[kind].suffix, names, count, err);
    closedir(dir);
    return status;
}

void uc_data_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}
