#include "config.h"

#include "runtime/sight.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static void keep_path(struct uc_sight *sight, const char *path)
{
    int32_t state = UC_SIGHT_EMPTY;

    if (strlen(path) >= sizeof sight->cudnn_path ||
        !atomic_compare_exchange_strong(&sight->path_state, &state,
                                        UC_SIGHT_FILLING))
        return;
    memcpy(sight->cudnn_path, path, strlen(path) + 1);
    atomic_store(&sight->path_state, UC_SIGHT_READY);
}

/** A file that is mapped. */
static void look_at(struct uc_sight *sight, const char *path, int start)
{
    const char *base = strrchr(path, '/') + 1;
    int found = 0;

    if (strncmp(base, "libcuda.so", 10) == 0)
        found = UC_SIGHT_CUDA;
    else if (strncmp(base, "libcudnn.so", 11) == 0)
        found = UC_SIGHT_CUDNN | start;
    else if (strncmp(base, "libcudnn_", 9) == 0)
        found = UC_SIGHT_CUDNN_PART | start;
    if (found != 0)
        atomic_fetch_or(&sight->loaded, found);
    if (found & UC_SIGHT_CUDNN)
        keep_path(sight, path);
}

/** Lines of a file, without allocating; a longer one is cut. */
struct lines {
    int fd;
    size_t used;
    char text[8192];
};

/** Drop the first `length` bytes and read on; false: nothing is left. */
static bool refill(struct lines *lines, size_t length)
{
    ssize_t got;

    lines->used -= length;
    memmove(lines->text, lines->text + length, lines->used);
    do
        got = read(lines->fd, lines->text + lines->used,
                   sizeof lines->text - 1 - lines->used);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        lines->used += (size_t)got;
    lines->text[lines->used] = '\0';
    return lines->used > 0;
}

bool uc_sight_look(struct uc_sight *sight, const char *maps, int start,
                   const char *name, bool *own)
{
    struct lines lines = { .fd = open(maps, O_RDONLY | O_CLOEXEC) };
    size_t length = 0;

    if (own != NULL)
        *own = false;
    if (lines.fd < 0)
        return false;
    while (refill(&lines, length)) {
        char *path = strchr(lines.text, '/');
        char *end = strchr(lines.text, '\n');

        length = end != NULL ? (size_t)(end - lines.text) : lines.used;
        lines.text[length] = '\0';
        if (path != NULL && path < lines.text + length) {
            look_at(sight, path, start);
            if (own != NULL && strcmp(path, name) == 0)
                *own = true;
        }
        length += end != NULL;
    }
    close(lines.fd);
    return true;
}
