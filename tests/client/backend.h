/**
 * @file backend.h
 * A sequence of calls of cuDNN's graph API, each with what it answered.
 *
 * Owner:   backend.c destroys every descriptor at the end.
 * Errors:  printed, as is everything; the process ends when it cannot go on.
 */
#ifndef UC_TESTS_CLIENT_BACKEND_H
#define UC_TESTS_CLIENT_BACKEND_H

#include <cudnn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef cudnnBackendDescriptor_t descriptor;

/** The library's functions. */
struct backend_calls {
    __typeof__(cudnnBackendCreateDescriptor) *create;
    __typeof__(cudnnBackendDestroyDescriptor) *destroy;
    __typeof__(cudnnBackendSetAttribute) *set;
    __typeof__(cudnnBackendGetAttribute) *get;
    __typeof__(cudnnBackendFinalize) *finalize;
    __typeof__(cudnnBackendExecute) *execute;
};
extern struct backend_calls backend;
/** The device that is described. */
extern descriptor backend_device;

enum {
    TENSOR = CUDNN_BACKEND_TENSOR_DESCRIPTOR,
    CONVOLUTION = CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
    FORWARD = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
    GRAPH = CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
    ENGINE = CUDNN_BACKEND_ENGINE_DESCRIPTOR,
    CONFIG = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
    HEURISTICS = CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
    PLAN = CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
    PACK = CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
    CHOICE = CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
    KNOB = CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR,
    DEVICE = CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
};

/** One attribute as a piece of a descriptor. */
struct piece {
    int name, type;
    int64_t count;
    const void *values;
};

void backend_tell(const char *what, cudnnStatus_t status);
descriptor backend_fresh(int type);
/** Destroys it now. */
void backend_drop(descriptor d);
cudnnStatus_t backend_put(descriptor d, int name, int type, int64_t count,
                          const void *values);
cudnnStatus_t backend_ask(descriptor d, int name, int type, int64_t wanted,
                          int64_t *count, void *values);
/** All pieces but one; what is refused is told. */
void backend_put_all(descriptor d, const struct piece *pieces, int count,
                     int without);
/** Finalized with all, and what finalizing answers without each piece. */
descriptor backend_build(const char *what, int type, const struct piece *pieces,
                         int count);

void backend_tensors(void);
void backend_convolutions(void);
/** The graph of one forward operation. */
descriptor backend_graph(void);
/** That of a backward operation; y is of this height, 14 fits. */
descriptor backend_backward(bool data, float beta, int64_t height);
void backend_engines(descriptor graph);

#endif
