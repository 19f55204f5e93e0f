/*
 * asks [--case=TEXT] [--offset=BYTES]: a program that brings what it was
 * told to: it asks for an algorithm and its workspace, allocates just that,
 * and calls, with scalars that it was not asked for. Prints as the other client
 * programs do. Not a test.
 */
#include "config.h"

#include "tests/client/run.h"

#include <inttypes.h>
#include <string.h>

/** The first answer's algorithm, and the workspace it then asks for. */
static int ask(struct client_problem *p, enum client_operation operation,
               size_t *bytes)
{
    cudnnHandle_t handle = p->client->handle;
    cudnnConvolutionFwdAlgoPerf_t forward[8];
    cudnnConvolutionBwdDataAlgoPerf_t data[8];
    cudnnConvolutionBwdFilterAlgoPerf_t filter[8];
    int count;

    switch (operation) {
    case CLIENT_FORWARD:
        CLIENT_DO(cudnnGetConvolutionForwardAlgorithm_v7(
            handle, p->x, p->w, p->convolution, p->y, 8, &count, forward));
        CLIENT_DO(cudnnGetConvolutionForwardWorkspaceSize(
            handle, p->x, p->w, p->convolution, p->y, forward[0].algo, bytes));
        return (int)forward[0].algo;
    case CLIENT_BACKWARD_DATA:
        CLIENT_DO(cudnnGetConvolutionBackwardDataAlgorithm_v7(
            handle, p->w, p->y, p->convolution, p->x, 8, &count, data));
        CLIENT_DO(cudnnGetConvolutionBackwardDataWorkspaceSize(
            handle, p->w, p->y, p->convolution, p->x, data[0].algo, bytes));
        return (int)data[0].algo;
    default:
        CLIENT_DO(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
            handle, p->x, p->y, p->convolution, p->w, 8, &count, filter));
        CLIENT_DO(cudnnGetConvolutionBackwardFilterWorkspaceSize(
            handle, p->x, p->y, p->convolution, p->w, filter[0].algo, bytes));
        return (int)filter[0].algo;
    }
}

static void call(struct client_problem *p, enum client_operation operation,
                 int algorithm, double alpha, double beta)
{
    cudnnStatus_t status;
    uint64_t hash;
    int nans;

    client_prefill(p, operation, beta);
    status = client_convolve(p, operation, algorithm, alpha, beta);
    hash = client_hash(p, operation, &nans);
    printf("%s %s alpha=%g beta=%g status=%d nans=%d %016" PRIx64 "\n",
           p->shape.name, client_operation_name(operation), alpha, beta,
           (int)status, nans, hash);
}

static void run_case(const struct client_case *shape, long offset)
{
    for (int op = 0; op < CLIENT_OPERATIONS; op++) {
        enum client_operation operation = (enum client_operation)op;
        struct client client = { 0 };
        struct client_problem problem;
        CUdeviceptr workspace = 0;
        int algorithm;

        client_start(&client, NULL, 0);
        client.offset = (size_t)offset;
        client_open(&client, shape, &problem);
        algorithm = ask(&problem, operation, &client.workspace_bytes);
        if (client.workspace_bytes > 0)
            CLIENT_DO(cuMemAlloc(&workspace, client.workspace_bytes));
        client.workspace = workspace;
        call(&problem, operation, algorithm, 1, 0);
        call(&problem, operation, algorithm, 2, 0.5);
        call(&problem, operation, algorithm, 1, 1);
        client_close(&problem);
        client_stop(&client);
    }
}

int main(int argc, char **argv)
{
    struct client_options options;
    CUcontext context;

    if (!client_parse(argc, argv, &options))
        return 2;
    CLIENT_DO(cuInit(0));
    CLIENT_DO(cuDevicePrimaryCtxRetain(&context, 0));
    CLIENT_DO(cuCtxSetCurrent(context));
    for (int i = 0; i < client_case_count(); i++) {
        struct client_case shape;

        client_case_make(i, &shape);
        if (options.only == NULL || strstr(shape.name, options.only) != NULL)
            run_case(&shape, options.offset);
    }
    CLIENT_DO(cuDevicePrimaryCtxRelease(0));
    return 0;
}
