#include "config.h"

#include "tests/client/convolve.h"

#include "tests/double/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum uc_number numbers[CLIENT_TYPES] = {
    [CLIENT_FP32] = UC_NUMBER_FP32, [CLIENT_TF32] = UC_NUMBER_FP32,
    [CLIENT_FP16] = UC_NUMBER_FP16, [CLIENT_BF16] = UC_NUMBER_BF16,
    [CLIENT_FP64] = UC_NUMBER_FP64,
};
static const cudnnDataType_t data_types[CLIENT_TYPES] = {
    [CLIENT_FP32] = CUDNN_DATA_FLOAT,  [CLIENT_TF32] = CUDNN_DATA_FLOAT,
    [CLIENT_FP16] = CUDNN_DATA_HALF,   [CLIENT_BF16] = CUDNN_DATA_BFLOAT16,
    [CLIENT_FP64] = CUDNN_DATA_DOUBLE,
};
static const cudnnMathType_t math_types[CLIENT_TYPES] = {
    [CLIENT_FP32] = CUDNN_FMA_MATH,     [CLIENT_TF32] = CUDNN_DEFAULT_MATH,
    [CLIENT_FP16] = CUDNN_DEFAULT_MATH, [CLIENT_BF16] = CUDNN_TENSOR_OP_MATH,
    [CLIENT_FP64] = CUDNN_DEFAULT_MATH,
};

void client_check(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "client: %s: %d\n", what, result);
    exit(99);
}

static void *check_memory(void *memory)
{
    client_check(memory == NULL, "memory");
    return memory;
}

static void *address(CUdeviceptr data)
{
    return (void *)(uintptr_t)data;
}

void client_start(struct client *client, CUstream stream,
                  size_t workspace_bytes)
{
    memset(client, 0, sizeof *client);
    CLIENT_DO(cudnnCreate(&client->handle));
    CLIENT_DO(cudnnSetStream(client->handle, (cudaStream_t)stream));
    client->stream = stream;
    client->workspace_bytes = workspace_bytes;
    if (workspace_bytes > 0)
        CLIENT_DO(cuMemAlloc(&client->workspace, workspace_bytes));
}

void client_stop(struct client *client)
{
    CLIENT_DO(cudnnDestroy(client->handle));
    if (client->workspace != 0)
        CLIENT_DO(cuMemFree(client->workspace));
}

/* Tensors ------------------------------------------------------------------*/

/** The same numbers for the same seed: multiples of 1/8 in [-1, 1), and -1,
    0 and 1 for the narrow types. */
static double number_at(uint32_t seed, size_t i, enum client_type type)
{
    uint32_t h = (seed + (uint32_t)i) * 2654435761u;

    h = (h ^ h >> 15) * 2246822519u;
    h ^= h >> 13;
    if (type == CLIENT_FP16 || type == CLIENT_BF16)
        return (double)(h % 3) - 1;
    return (double)(h % 16) / 8 - 1;
}

static size_t tensor_bytes(const struct client_problem *p, enum client_tensor t)
{
    return p->shape.count[t] * uc_number_bytes(numbers[p->shape.type]);
}

static void fill(struct client_problem *p, enum client_tensor t, bool nan)
{
    enum client_type type = p->shape.type;
    void *buffer = check_memory(malloc(tensor_bytes(p, t)));

    for (size_t i = 0; i < p->shape.count[t]; i++)
        uc_number_store(buffer, numbers[type], (int64_t)i,
                        nan ? NAN : number_at((uint32_t)t * 7919, i, type));
    CLIENT_DO(cuMemcpyHtoD(p->data[t], buffer, tensor_bytes(p, t)));
    free(buffer);
}

/** The strides of dimensions of extent 1 mean nothing: programs that say
    NHWC of such tensors write these. */
static void set_tensor(const struct client_case *c, enum client_tensor t,
                       cudnnTensorDescriptor_t descriptor)
{
    int dims = c->shape.spatial + 2, stride[CLIENT_DIMS];

    for (int d = 0; d < dims; d++)
        stride[d] =
            d > 0 && c->extent[t][d] == 1 ? c->extent[t][1] : c->stride[t][d];
    CLIENT_DO(cudnnSetTensorNdDescriptor(descriptor, data_types[c->type], dims,
                                         c->extent[t], stride));
}

static void describe(struct client_problem *p)
{
    const struct client_case *c = &p->shape;
    const struct client_shape *s = &c->shape;

    CLIENT_DO(cudnnCreateTensorDescriptor(&p->x));
    CLIENT_DO(cudnnCreateTensorDescriptor(&p->y));
    CLIENT_DO(cudnnCreateFilterDescriptor(&p->w));
    CLIENT_DO(cudnnCreateConvolutionDescriptor(&p->convolution));
    set_tensor(c, CLIENT_X, p->x);
    set_tensor(c, CLIENT_Y, p->y);
    CLIENT_DO(cudnnSetFilterNdDescriptor(
        p->w, data_types[c->type],
        c->layout == CLIENT_NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
        s->spatial + 2, c->extent[CLIENT_W]));
    CLIENT_DO(cudnnSetConvolutionNdDescriptor(
        p->convolution, s->spatial, s->pad, s->stride, s->dilation,
        s->flip ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION,
        c->type == CLIENT_FP64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
    CLIENT_DO(cudnnSetConvolutionGroupCount(p->convolution, s->groups));
    CLIENT_DO(cudnnSetConvolutionMathType(p->convolution, math_types[c->type]));
}

void client_open(const struct client *client, const struct client_case *shape,
                 struct client_problem *problem)
{
    struct client_problem *p = problem;

    memset(p, 0, sizeof *p);
    p->client = client;
    p->shape = *shape;
    for (int t = 0; t < CLIENT_TENSORS; t++) {
        CLIENT_DO(
            cuMemAlloc(&p->memory[t], tensor_bytes(p, (enum client_tensor)t) +
                                          client->offset));
        p->data[t] = p->memory[t] + client->offset;
        fill(p, (enum client_tensor)t, false);
    }
    describe(p);
}

void client_close(struct client_problem *problem)
{
    struct client_problem *p = problem;

    for (int t = 0; t < CLIENT_TENSORS; t++)
        CLIENT_DO(cuMemFree(p->memory[t]));
    CLIENT_DO(cudnnDestroyTensorDescriptor(p->x));
    CLIENT_DO(cudnnDestroyTensorDescriptor(p->y));
    CLIENT_DO(cudnnDestroyFilterDescriptor(p->w));
    CLIENT_DO(cudnnDestroyConvolutionDescriptor(p->convolution));
}

/* Calls --------------------------------------------------------------------*/

enum client_tensor client_output(enum client_operation operation)
{
    static const enum client_tensor outputs[CLIENT_OPERATIONS] = { CLIENT_Y,
                                                                   CLIENT_X,
                                                                   CLIENT_W };

    return outputs[operation];
}

void client_prefill(struct client_problem *problem,
                    enum client_operation operation, double beta)
{
    /* Backward passes read what forward wrote: numbers again. */
    for (int t = 0; t < CLIENT_TENSORS; t++)
        if (t != (int)client_output(operation))
            fill(problem, (enum client_tensor)t, false);
    fill(problem, client_output(operation), beta == 0);
}

cudnnStatus_t client_convolve(struct client_problem *problem,
                              enum client_operation operation, int algorithm,
                              double alpha, double beta)
{
    const struct client_problem *p = problem;
    const struct client *c = p->client;
    float narrow[2] = { (float)alpha, (float)beta };
    bool wide = p->shape.type == CLIENT_FP64;
    const void *a = wide ? (const void *)&alpha : &narrow[0];
    const void *b = wide ? (const void *)&beta : &narrow[1];
    void *x = address(p->data[CLIENT_X]), *w = address(p->data[CLIENT_W]);
    void *y = address(p->data[CLIENT_Y]), *space = address(c->workspace);

    switch (operation) {
    case CLIENT_FORWARD:
        return cudnnConvolutionForward(c->handle, a, p->x, x, p->w, w,
                                       p->convolution,
                                       (cudnnConvolutionFwdAlgo_t)algorithm,
                                       space, c->workspace_bytes, b, p->y, y);
    case CLIENT_BACKWARD_DATA:
        return cudnnConvolutionBackwardData(
            c->handle, a, p->w, w, p->y, y, p->convolution,
            (cudnnConvolutionBwdDataAlgo_t)algorithm, space, c->workspace_bytes,
            b, p->x, x);
    default:
        return cudnnConvolutionBackwardFilter(
            c->handle, a, p->x, x, p->y, y, p->convolution,
            (cudnnConvolutionBwdFilterAlgo_t)algorithm, space,
            c->workspace_bytes, b, p->w, w);
    }
}

/* Results ------------------------------------------------------------------*/

static int count_nans(const struct client_case *c, enum client_tensor t,
                      const void *buffer)
{
    int at[CLIENT_DIMS] = { 0 }, dims = c->shape.spatial + 2, nans = 0, d;

    do {
        int64_t place = 0;

        for (d = 0; d < dims; d++)
            place += (int64_t)at[d] * c->stride[t][d];
        nans += isnan(uc_number_load(buffer, numbers[c->type], place)) != 0;
        for (d = 0; d < dims && ++at[d] == c->extent[t][d]; d++)
            at[d] = 0;
    } while (d < dims);
    return nans;
}

uint64_t client_hash(struct client_problem *problem,
                     enum client_operation operation, int *nans)
{
    enum client_tensor t = client_output(operation);
    size_t bytes = tensor_bytes(problem, t);
    unsigned char *buffer = check_memory(malloc(bytes));
    uint64_t hash = 14695981039346656037u;

    CLIENT_DO(cuStreamSynchronize(problem->client->stream));
    CLIENT_DO(cuMemcpyDtoH(buffer, problem->data[t], bytes));
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ buffer[i]) * 1099511628211u;
    *nans = count_nans(&problem->shape, t, buffer);
    free(buffer);
    return hash;
}
