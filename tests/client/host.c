/*
 * host LIBRARY [OPTION...]: a program that knows nothing of cuDNN and opens a
 * library, linked with cuDNN, for itself alone, as Python opens its modules.
 * It does so CLIENT_TIMES times, and closes the library each time.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** 0 to 2 are the library's own; 99: it cannot be used. */
static int use(int argc, char **argv)
{
    void *library = dlopen(argv[0], RTLD_NOW | RTLD_LOCAL), *symbol;
    int (*run)(int, char **);
    int status;

    if (library == NULL || (symbol = dlsym(library, "client_run")) == NULL) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 99;
    }
    memcpy(&run, &symbol, sizeof run);
    status = run(argc, argv);
    fflush(stdout);
    if (dlclose(library) != 0) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 99;
    }
    return status;
}

int main(int argc, char **argv)
{
    const char *times = getenv("CLIENT_TIMES");
    int status = argc > 1 ? 0 : 99;

    for (long i = times ? strtol(times, NULL, 10) : 1; i > 0 && !status; i--)
        status = use(argc - 1, argv + 1);
    return status;
}
