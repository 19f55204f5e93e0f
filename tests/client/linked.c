/* A program linked with cuDNN. */
#include "config.h"

#include "tests/client/run.h"

int main(int argc, char **argv)
{
    return client_run(argc, argv);
}
