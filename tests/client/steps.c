/*
 * steps [WORD=NUMBER...]: a program that trains, as far as cuDNN can see.
 *
 * The network is a convolution from 3 to 4 channels, which needs no gradient
 * of its input, and two alike from 4 to 4, on images of 8x8. Not a test.
 *
 *   steps=N       training steps (3)
 *   batch=N       of training (6)
 *   checks=N      forward passes behind the steps (0)
 *   check_batch=N of those (2)
 *   workspace=N   bytes given to each call (1 MiB)
 *   shift=N       bytes by which the input is off its alignment (0)
 *   graphs=N      executions of the graph API behind it (0)
 *   wait=MS       between two steps (0)
 *   fork=1        a child that does nothing exits before the end
 *   end=0..3      return from main(), exit() from a second thread,
 *                 _exit(), or wait to be killed (0)
 *   status=N      the exit status (0)
 */
#include "config.h"

#include <cuda.h>
#include <cudnn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXTENT = 8, MOST_BATCH = 64 };

static long steps = 3, batch = 6, checks, check_batch = 2;
static long workspace_bytes = 1 << 20, shift, graphs, wait_ms, forks, end;
static long status;

static const struct {
    const char *name;
    long *value;
} words[] = {
    { "steps", &steps },
    { "batch", &batch },
    { "checks", &checks },
    { "check_batch", &check_batch },
    { "workspace", &workspace_bytes },
    { "shift", &shift },
    { "graphs", &graphs },
    { "wait", &wait_ms },
    { "fork", &forks },
    { "end", &end },
    { "status", &status },
};

static cudnnHandle_t handle;
static CUdeviceptr data[3], workspace; /* x, w, y: large enough for all */

static void check(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "steps: %s: %d\n", what, result);
    _exit(99);
}

static void read_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t at = 0, count = sizeof words / sizeof *words;

        while (
            at < count &&
            (equals == NULL ||
             strlen(words[at].name) != (size_t)(equals - argv[i]) ||
             strncmp(words[at].name, argv[i], (size_t)(equals - argv[i])) != 0))
            at++;
        check(at == count, argv[i]);
        *words[at].value = strtol(equals + 1, NULL, 10);
    }
}

static void open_device(void)
{
    CUcontext context;

    check((int)cuInit(0), "cuInit");
    check((int)cuDevicePrimaryCtxRetain(&context, 0), "context");
    check((int)cuCtxSetCurrent(context), "context");
    check((int)cudnnCreate(&handle), "cudnnCreate");
    for (int i = 0; i < 3; i++) {
        check((int)cuMemAlloc(&data[i], 1 << 20), "memory");
        check((int)cuMemsetD8Async(data[i], 0, 1 << 20, NULL), "memory");
    }
    if (workspace_bytes > 0)
        check((int)cuMemAlloc(&workspace, (size_t)workspace_bytes), "memory");
    data[0] += (CUdeviceptr)shift;
}

static void close_device(void)
{
    data[0] -= (CUdeviceptr)shift;
    for (int i = 0; i < 3; i++)
        check((int)cuMemFree(data[i]), "free");
    check((int)cuMemFree(workspace), "free");
    check((int)cudnnDestroy(handle), "cudnnDestroy");
    check((int)cuDevicePrimaryCtxRelease(0), "context");
}

/** One layer of so many input channels; `op` as in "fwd". */
static void convolve(char op, int images, int channels)
{
    const float one = 1, zero = 0;
    void *x = (void *)(uintptr_t)data[0], *w = (void *)(uintptr_t)data[1];
    void *y = (void *)(uintptr_t)data[2], *space = (void *)(uintptr_t)workspace;
    size_t bytes = (size_t)workspace_bytes;
    cudnnTensorDescriptor_t xd, yd;
    cudnnFilterDescriptor_t wd;
    cudnnConvolutionDescriptor_t cd;
    int result;

    cudnnCreateTensorDescriptor(&xd);
    cudnnCreateTensorDescriptor(&yd);
    cudnnCreateFilterDescriptor(&wd);
    cudnnCreateConvolutionDescriptor(&cd);
    cudnnSetTensor4dDescriptor(xd, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, images,
                               channels, EXTENT, EXTENT);
    cudnnSetTensor4dDescriptor(yd, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, images,
                               4, EXTENT, EXTENT);
    cudnnSetFilter4dDescriptor(wd, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4,
                               channels, 3, 3);
    cudnnSetConvolution2dDescriptor(cd, 1, 1, 1, 1, 1, 1,
                                    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    cudnnSetConvolutionMathType(cd, CUDNN_FMA_MATH);
    if (op == 'f')
        result = (int)cudnnConvolutionForward(
            handle, &one, xd, x, wd, w, cd,
            CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, space, bytes, &zero, yd,
            y);
    else if (op == 'd')
        result = (int)cudnnConvolutionBackwardData(
            handle, &one, wd, w, yd, y, cd, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
            space, bytes, &zero, xd, x);
    else
        result = (int)cudnnConvolutionBackwardFilter(
            handle, &one, xd, x, yd, y, cd, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
            space, bytes, &zero, wd, w);
    check(result, "convolution");
    cudnnDestroyTensorDescriptor(xd);
    cudnnDestroyTensorDescriptor(yd);
    cudnnDestroyFilterDescriptor(wd);
    cudnnDestroyConvolutionDescriptor(cd);
}

static void pass_forward(int images)
{
    convolve('f', images, 3);
    convolve('f', images, 4);
    convolve('f', images, 4);
}

static void pass_backward(int images)
{
    for (int i = 0; i < 2; i++) {
        convolve('d', images, 4);
        convolve('w', images, 4);
    }
    convolve('w', images, 3);
}

static void pause_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static void *leave(void *unused)
{
    (void)unused;
    exit((int)status);
}

static void finish(void)
{
    pthread_t thread;

    if (end == 1) {
        check(pthread_create(&thread, NULL, leave, NULL), "thread");
        for (;;)
            pause();
    }
    if (end == 2)
        _exit((int)status);
    while (end == 3)
        pause();
}

int main(int argc, char **argv)
{
    read_words(argc, argv);
    open_device();
    for (long i = 0; i < steps; i++) {
        pass_forward((int)batch);
        pass_backward((int)batch);
        pause_ms(wait_ms);
    }
    for (long i = 0; i < checks; i++)
        pass_forward((int)check_batch);
    for (long i = 0; i < graphs; i++)
        check((int)cudnnBackendExecute(handle, NULL, NULL), "graph");
    if (forks) {
        pid_t child = fork();

        if (child == 0)
            exit(0);
        check(waitpid(child, NULL, 0) != child, "waitpid");
    }
    close_device();
    finish();
    return (int)status;
}
