/**
 * @file api.h
 * cuDNN as the client programs call it: linked, or with CLIENT_DLSYM fetched
 * by dlsym() from a handle, as some frameworks do.
 *
 * Owner:   the library stays open.
 * Errors:  client_api_open() ends the program with status 99.
 * Threads: open once, before there are others.
 */
#ifndef UC_TESTS_CLIENT_API_H
#define UC_TESTS_CLIENT_API_H

#include <cudnn.h>

#ifdef CLIENT_DLSYM
#define CLIENT_FUNCTIONS(X)         \
    X(Create)                       \
    X(Destroy)                      \
    X(SetStream)                    \
    X(CreateTensorDescriptor)       \
    X(SetTensorNdDescriptor)        \
    X(DestroyTensorDescriptor)      \
    X(CreateFilterDescriptor)       \
    X(SetFilterNdDescriptor)        \
    X(DestroyFilterDescriptor)      \
    X(CreateConvolutionDescriptor)  \
    X(SetConvolutionNdDescriptor)   \
    X(SetConvolutionGroupCount)     \
    X(SetConvolutionMathType)       \
    X(DestroyConvolutionDescriptor) \
    X(ConvolutionForward)           \
    X(ConvolutionBackwardData)      \
    X(ConvolutionBackwardFilter)

struct client_api {
#define CLIENT_MEMBER(name) __typeof__(cudnn##name) *name;
    CLIENT_FUNCTIONS(CLIENT_MEMBER)
#undef CLIENT_MEMBER
};
extern struct client_api client_api;

void client_api_open(const char *library);

#define cudnnCreate client_api.Create
#define cudnnDestroy client_api.Destroy
#define cudnnSetStream client_api.SetStream
#define cudnnCreateTensorDescriptor client_api.CreateTensorDescriptor
#define cudnnSetTensorNdDescriptor client_api.SetTensorNdDescriptor
#define cudnnDestroyTensorDescriptor client_api.DestroyTensorDescriptor
#define cudnnCreateFilterDescriptor client_api.CreateFilterDescriptor
#define cudnnSetFilterNdDescriptor client_api.SetFilterNdDescriptor
#define cudnnDestroyFilterDescriptor client_api.DestroyFilterDescriptor
#define cudnnCreateConvolutionDescriptor client_api.CreateConvolutionDescriptor
#define cudnnSetConvolutionNdDescriptor client_api.SetConvolutionNdDescriptor
#define cudnnSetConvolutionGroupCount client_api.SetConvolutionGroupCount
#define cudnnSetConvolutionMathType client_api.SetConvolutionMathType
#define cudnnDestroyConvolutionDescriptor \
    client_api.DestroyConvolutionDescriptor
#define cudnnConvolutionForward client_api.ConvolutionForward
#define cudnnConvolutionBackwardData client_api.ConvolutionBackwardData
#define cudnnConvolutionBackwardFilter client_api.ConvolutionBackwardFilter
#endif

#endif
