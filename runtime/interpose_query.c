/*
 * What programs ask before they convolve: workspace sizes and algorithms. A
 * planned operation is answered so that the program allocates what the plan
 * needs; anything else is cuDNN's own answer, untouched.
 */
#include "config.h"

#include "runtime/session.h"

#define EXPORT __attribute__((visibility("default")))

/** One result for a planned operation. The program writes the math type back
    into its descriptor, so it is the one that is there. */
struct answer {
    int algorithm; /**< the first piece's; we run the plan whichever comes */
    float time_ms;
    size_t workspace_bytes;
    cudnnDeterminism_t determinism;
    cudnnMathType_t math;
};

/** Implicit-precomp-gemm forward, "algo1" backward: deterministic, and there
    for nearly everything. */
enum { usual_algorithm = 1 };

static bool find_answer(const struct uc_session *session,
                        const struct uc_call *call, struct answer *answer)
{
    const struct uc_entry *entry =
        uc_session_find(call, &answer->workspace_bytes);
    const struct uc_plan_operation *op;
    unsigned notes = 0;

    if (entry == NULL)
        return false;
    op = entry->operation;
    for (size_t i = 0; i < op->piece_count; i++)
        notes |= op->pieces[i].notes;
    /* Where engines run, it only matters when the call passes through. */
    answer->algorithm = op->pieces[0].kernel.api == UC_API_LEGACY
                            ? op->pieces[0].kernel.algorithm
                            : usual_algorithm;
    answer->time_ms = (float)((double)op->time_ns * 1e-6);
    answer->determinism = notes & UC_NOTE_NONDETERMINISTIC
                              ? CUDNN_NON_DETERMINISTIC
                              : CUDNN_DETERMINISTIC;
    answer->math =
        uc_caller_math(&session->cudnn, call->descriptors.convolution);
    return true;
}

/* cuDNN names some of the same parameters differently in its own headers.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

#define LIST(...) __VA_ARGS__

/** A search that is told descriptors only: planned operations have one
    answer. */
#define DEFINE_SEARCH(Function, Algo, operation, X, Y, W, DESCRIPTORS, NAMES) \
    EXPORT cudnnStatus_t cudnn##Function(                                     \
        cudnnHandle_t handle, DESCRIPTORS, const int requestedAlgoCount,      \
        int *returnedAlgoCount,                                               \
        cudnnConvolution##Algo##AlgoPerf_t *perfResults)                      \
    {                                                                         \
        struct answer a;                                                      \
        struct uc_session *session = uc_session_get();                        \
        struct uc_call call = {                                               \
            handle, operation, { X, Y, W, convDesc }, false                   \
        };                                                                    \
                                                                              \
        if (session == NULL || session->cudnn.Function == NULL)               \
            return CUDNN_STATUS_NOT_INITIALIZED;                              \
        if (requestedAlgoCount < 1 || returnedAlgoCount == NULL ||            \
            perfResults == NULL || !find_answer(session, &call, &a))          \
            return session->cudnn.Function(handle, NAMES, requestedAlgoCount, \
                                           returnedAlgoCount, perfResults);   \
        fill_##Algo(&a, perfResults);                                         \
        *returnedAlgoCount = 1;                                               \
        return CUDNN_STATUS_SUCCESS;                                          \
    }

/*
 * The three operations differ in the types and the order of arguments only.
 * DESCRIPTORS: parameters; NAMES: the same, to be passed on; DATA and
 * DATA_NAMES: those of Find...Ex, with the tensors between.
 */
#define DEFINE_QUERIES(Name, Algo, operation, X, Y, W, DESCRIPTORS, NAMES,    \
                       DATA, DATA_NAMES)                                      \
    static void fill_##Algo(const struct answer *a,                           \
                            cudnnConvolution##Algo##AlgoPerf_t *result)       \
    {                                                                         \
        *result = (cudnnConvolution##Algo##AlgoPerf_t){                       \
            .algo = (cudnnConvolution##Algo##Algo_t)a->algorithm,             \
            .status = CUDNN_STATUS_SUCCESS,                                   \
            .time = a->time_ms,                                               \
            .memory = a->workspace_bytes,                                     \
            .determinism = a->determinism,                                    \
            .mathType = a->math,                                              \
        };                                                                    \
    }                                                                         \
                                                                              \
    EXPORT cudnnStatus_t cudnnGetConvolution##Name##WorkspaceSize(            \
        cudnnHandle_t handle, DESCRIPTORS,                                    \
        cudnnConvolution##Algo##Algo_t algo, size_t *sizeInBytes)             \
    {                                                                         \
        struct uc_session *session = uc_session_get();                        \
        struct uc_call call = {                                               \
            handle, operation, { X, Y, W, convDesc }, false                   \
        };                                                                    \
                                                                              \
        if (session == NULL ||                                                \
            session->cudnn.GetConvolution##Name##WorkspaceSize == NULL)       \
            return CUDNN_STATUS_NOT_INITIALIZED;                              \
        if (sizeInBytes != NULL &&                                            \
            uc_session_find(&call, sizeInBytes) != NULL)                      \
            return CUDNN_STATUS_SUCCESS;                                      \
        return session->cudnn.GetConvolution##Name##WorkspaceSize(            \
            handle, NAMES, algo, sizeInBytes);                                \
    }                                                                         \
                                                                              \
    DEFINE_SEARCH(GetConvolution##Name##Algorithm_v7, Algo, operation, X, Y,  \
                  W, LIST(DESCRIPTORS), LIST(NAMES))                          \
    DEFINE_SEARCH(FindConvolution##Name##Algorithm, Algo, operation, X, Y, W, \
                  LIST(DESCRIPTORS), LIST(NAMES))                             \
                                                                              \
    EXPORT cudnnStatus_t cudnnFindConvolution##Name##AlgorithmEx(             \
        cudnnHandle_t handle, DATA, const int requestedAlgoCount,             \
        int *returnedAlgoCount,                                               \
        cudnnConvolution##Algo##AlgoPerf_t *perfResults, void *workSpace,     \
        size_t workSpaceSizeInBytes)                                          \
    {                                                                         \
        struct answer a;                                                      \
        struct uc_session *session = uc_session_get();                        \
        struct uc_call call = {                                               \
            handle, operation, { X, Y, W, convDesc }, false                   \
        };                                                                    \
                                                                              \
        if (session == NULL ||                                                \
            session->cudnn.FindConvolution##Name##AlgorithmEx == NULL)        \
            return CUDNN_STATUS_NOT_INITIALIZED;                              \
        /* What does not fit the workspace given would not be run. */         \
        if (requestedAlgoCount < 1 || returnedAlgoCount == NULL ||            \
            perfResults == NULL || !find_answer(session, &call, &a) ||        \
            a.workspace_bytes > workSpaceSizeInBytes)                         \
            return session->cudnn.FindConvolution##Name##AlgorithmEx(         \
                handle, DATA_NAMES, requestedAlgoCount, returnedAlgoCount,    \
                perfResults, workSpace, workSpaceSizeInBytes);                \
        fill_##Algo(&a, perfResults);                                         \
        *returnedAlgoCount = 1;                                               \
        return CUDNN_STATUS_SUCCESS;                                          \
    }

#define TENSOR const cudnnTensorDescriptor_t
#define FILTER const cudnnFilterDescriptor_t
#define CONVOLUTION const cudnnConvolutionDescriptor_t

DEFINE_QUERIES(Forward, Fwd, UC_FORWARD, xDesc, yDesc, wDesc,
               LIST(TENSOR xDesc, FILTER wDesc, CONVOLUTION convDesc,
                    TENSOR yDesc),
               LIST(xDesc, wDesc, convDesc, yDesc),
               LIST(TENSOR xDesc, const void *x, FILTER wDesc, const void *w,
                    CONVOLUTION convDesc, TENSOR yDesc, void *y),
               LIST(xDesc, x, wDesc, w, convDesc, yDesc, y))

DEFINE_QUERIES(BackwardData, BwdData, UC_BACKWARD_DATA, dxDesc, dyDesc, wDesc,
               LIST(FILTER wDesc, TENSOR dyDesc, CONVOLUTION convDesc,
                    TENSOR dxDesc),
               LIST(wDesc, dyDesc, convDesc, dxDesc),
               LIST(FILTER wDesc, const void *w, TENSOR dyDesc, const void *dy,
                    CONVOLUTION convDesc, TENSOR dxDesc, void *dx),
               LIST(wDesc, w, dyDesc, dy, convDesc, dxDesc, dx))

DEFINE_QUERIES(BackwardFilter, BwdFilter, UC_BACKWARD_FILTER, xDesc, dyDesc,
               dwDesc,
               LIST(TENSOR xDesc, TENSOR dyDesc, CONVOLUTION convDesc,
                    FILTER dwDesc),
               LIST(xDesc, dyDesc, convDesc, dwDesc),
               LIST(TENSOR xDesc, const void *x, TENSOR dyDesc, const void *y,
                    CONVOLUTION convDesc, FILTER dwDesc, void *dw),
               LIST(xDesc, x, dyDesc, y, convDesc, dwDesc, dw))

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
