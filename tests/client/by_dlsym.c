/* A program that opens cuDNN and fetches its functions from the handle. */
#include "config.h"

#ifndef CLIENT_DLSYM
#define CLIENT_DLSYM
#endif

#include "tests/client/convolve.h"
#include "tests/client/run.h"

#include <dlfcn.h>
#include <string.h>

struct client_api client_api;

void client_api_open(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL), *symbol;

    client_check(handle == NULL, library);
#define CLIENT_FETCH(name)                       \
    symbol = dlsym(handle, "cudnn" #name);       \
    client_check(symbol == NULL, "cudnn" #name); \
    memcpy(&client_api.name, &symbol, sizeof symbol);
    CLIENT_FUNCTIONS(CLIENT_FETCH)
#undef CLIENT_FETCH
}

int main(int argc, char **argv)
{
    client_api_open("libcudnn.so.9");
    return client_run(argc, argv);
}
