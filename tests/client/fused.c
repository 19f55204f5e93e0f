/*
 * fused [--case=TEXT]: forward passes with bias and activation, by every way
 * that z can come: apart from y, as y itself, and with strides of its own. Asks
 * for the workspace of its algorithm and brings no more. Not a test.
 */
#include "config.h"

#include "tests/client/run.h"

#include <inttypes.h>
#include <string.h>

/** What the fused call takes besides. */
struct parts {
    CUdeviceptr z, bias;
    cudnnTensorDescriptor_t bias_descriptor, wide; /**< wide: images apart */
    cudnnActivationDescriptor_t activation;
};

static void *address(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

static void set_tensor(cudnnTensorDescriptor_t descriptor, const int extent[4],
                       int gap)
{
    const int stride[4] = { extent[1] * extent[2] * extent[3] + gap,
                            extent[2] * extent[3], extent[3], 1 };

    CLIENT_DO(cudnnSetTensorNdDescriptor(descriptor, CUDNN_DATA_FLOAT, 4,
                                         extent, stride));
}

static void fill(CUdeviceptr to, int count)
{
    for (int i = 0; i < count; i++) {
        float value = (float)(i * 7 % 13) / 4 - 1;

        CLIENT_DO(cuMemcpyHtoD(to + (CUdeviceptr)i * sizeof value, &value,
                               sizeof value));
    }
}

static void open_parts(const struct client_case *c, struct parts *p)
{
    const int *y = c->extent[CLIENT_Y];
    const int bias[4] = { 1, y[1], 1, 1 };
    int count = y[0] * (y[1] * y[2] * y[3] + 4);

    CLIENT_DO(cuMemAlloc(&p->z, sizeof(float) * (size_t)count));
    CLIENT_DO(cuMemAlloc(&p->bias, sizeof(float) * (size_t)y[1]));
    fill(p->z, count);
    fill(p->bias, y[1]);
    CLIENT_DO(cudnnCreateTensorDescriptor(&p->bias_descriptor));
    CLIENT_DO(cudnnCreateTensorDescriptor(&p->wide));
    CLIENT_DO(cudnnCreateActivationDescriptor(&p->activation));
    set_tensor(p->bias_descriptor, bias, 0);
    set_tensor(p->wide, y, 4);
    CLIENT_DO(cudnnSetActivationDescriptor(p->activation, CUDNN_ACTIVATION_RELU,
                                           CUDNN_NOT_PROPAGATE_NAN, 0));
}

static void close_parts(struct parts *p)
{
    CLIENT_DO(cudnnDestroyActivationDescriptor(p->activation));
    CLIENT_DO(cudnnDestroyTensorDescriptor(p->wide));
    CLIENT_DO(cudnnDestroyTensorDescriptor(p->bias_descriptor));
    CLIENT_DO(cuMemFree(p->bias));
    CLIENT_DO(cuMemFree(p->z));
}

static void call(struct client_problem *p, const struct parts *parts,
                 const char *way)
{
    const struct client *c = p->client;
    const bool in_place = strcmp(way, "in-place") == 0;
    const bool wide = strcmp(way, "wide") == 0;
    const float alpha = 2, alpha2 = 0.5F;
    void *y = address(p->data[CLIENT_Y]);
    cudnnStatus_t status;
    uint64_t hash;
    int nans;

    client_prefill(p, CLIENT_FORWARD, in_place);
    status = cudnnConvolutionBiasActivationForward(
        c->handle, &alpha, p->x, address(p->data[CLIENT_X]), p->w,
        address(p->data[CLIENT_W]), p->convolution,
        CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, address(c->workspace),
        c->workspace_bytes, &alpha2, wide ? parts->wide : p->y,
        in_place ? y : address(parts->z), parts->bias_descriptor,
        address(parts->bias), parts->activation, p->y, y);
    hash = client_hash(p, CLIENT_FORWARD, &nans);
    printf("%s %s status=%d nans=%d %016" PRIx64 "\n", p->shape.name, way,
           (int)status, nans, hash);
}

static void run_case(const struct client_case *c)
{
    static const char *const ways[] = { "apart", "in-place", "wide" };
    struct client client = { 0 };
    struct client_problem problem;
    struct parts parts;

    client_start(&client, NULL, 0);
    client_open(&client, c, &problem);
    open_parts(c, &parts);
    CLIENT_DO(cudnnGetConvolutionForwardWorkspaceSize(
        client.handle, problem.x, problem.w, problem.convolution, problem.y,
        CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
        &client.workspace_bytes));
    if (client.workspace_bytes > 0)
        CLIENT_DO(cuMemAlloc(&client.workspace, client.workspace_bytes));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        call(&problem, &parts, ways[i]);
    close_parts(&parts);
    client_close(&problem);
    client_stop(&client);
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
        struct client_case c;

        client_case_make(i, &c);
        if (options.only == NULL || strstr(c.name, options.only) != NULL)
            run_case(&c);
    }
    CLIENT_DO(cuDevicePrimaryCtxRelease(0));
    return 0;
}
