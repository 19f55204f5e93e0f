/*
 * host LIBRARY [OPTION...]: a program that knows nothing of cuDNN and opens a
 * library, linked with cuDNN, for itself alone, as Python opens its modules.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL,
         *symbol;
    int (*run)(int, char **);
    int status;

    if (library == NULL || (symbol = dlsym(library, "client_run")) == NULL) {
        fprintf(stderr, "host: %s\n", argc > 1 ? dlerror() : "which library?");
        return 99;
    }
    memcpy(&run, &symbol, sizeof run);
    status = run(argc - 1, argv + 1);
    if (dlclose(library) != 0) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 99;
    }
    return status;
}
