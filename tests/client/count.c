#include "config.h"

#include "tests/client/count.h"

#ifdef CLIENT_COUNT
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long allocations, files;

/* The program's own functions stand in front of the C library's, for every
 * library of the process. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

void *malloc(size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(old, bytes);
}

static int open_really(const char *path, int flags, mode_t mode)
{
    static int (*function)(const char *, int, ...);
    void *symbol = dlsym(RTLD_NEXT, "open");

    memcpy(&function, &symbol, sizeof function);
    return function(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    atomic_fetch_add(&files, 1);
    return open_really(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    atomic_fetch_add(&files, 1);
    return open_really(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*function)(const char *, const char *);
    void *symbol = dlsym(RTLD_NEXT, "fopen");

    memcpy(&function, &symbol, sizeof function);
    atomic_fetch_add(&files, 1);
    return function(path, mode);
}

long client_allocations(void)
{
    return atomic_load(&allocations);
}

long client_files(void)
{
    return atomic_load(&files);
}
#else
long client_allocations(void)
{
    return -1;
}

long client_files(void)
{
    return -1;
}
#endif
