/**
 * @file graph.h
 * A convolution as an operation graph of cuDNN's backend API, its engines
 * and their configurations.
 *
 * Units:   *_bytes are bytes.
 * Owner:   what a function makes is the caller's: descriptors to destroy
 *          with cuDNN, a graph to close. Graphs and engines outlive nothing
 *          that was made from them: close them last.
 * Errors:  cuDNN's own status; its category "not supported" says that there
 *          is no such graph, engine or configuration. Outputs are untouched.
 * Threads: no hidden state; one graph is used by one thread at a time.
 * Source:  cuDNN backend API reference.
 */
#ifndef UC_RUNTIME_GRAPH_H
#define UC_RUNTIME_GRAPH_H

#include "common/kernel.h"
#include "runtime/library.h"

/** Unique ids of the tensors in a graph. */
enum { UC_GRAPH_X = 1, UC_GRAPH_W, UC_GRAPH_Y };

/**
 * Where kernels shall run: the device of a handle, or one that is only
 * described (a finalized CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, from cuDNN 9.8
 * on), so that kernels can be searched without a GPU. One of the two is NULL.
 */
struct uc_graph_place {
    cudnnHandle_t handle;
    cudnnBackendDescriptor_t device;
};

/** output = alpha * operation + beta * output. A graph is made for one pair;
    a legacy kernel takes any when it runs. */
struct uc_scaling {
    double alpha, beta;
};

struct uc_graph {
    const struct uc_cudnn *cudnn; /**< borrowed */
    struct uc_graph_place place;
    cudnnBackendDescriptor_t tensors[3]; /**< by enum uc_tensor */
    cudnnBackendDescriptor_t convolution, operation, graph;
};

cudnnStatus_t uc_graph_open(const struct uc_cudnn *cudnn,
                            const struct uc_graph_place *place,
                            const struct uc_problem *problem,
                            int64_t micro_batch,
                            const struct uc_scaling *scaling,
                            struct uc_graph *graph);
/** Takes a zeroed one. */
void uc_graph_close(struct uc_graph *graph);

/** Engine by global index; `notes` are enum uc_kernel_note bits. */
cudnnStatus_t uc_graph_engine(const struct uc_graph *graph, int index,
                              cudnnBackendDescriptor_t *engine,
                              unsigned *notes);

/** A knob of an engine: lowest, lowest + stride .. highest, most of which most
    engines refuse in uc_graph_config(). */
struct uc_graph_knob {
    int type; /**< cudnnBackendKnobType_t */
    int64_t lowest, highest, stride;
};
/** The first UC_MAX_KNOBS of an engine. */
cudnnStatus_t uc_graph_knobs(const struct uc_graph *graph,
                             cudnnBackendDescriptor_t engine,
                             struct uc_graph_knob knobs[UC_MAX_KNOBS],
                             int *count);

/** The engine with the kernel's knobs, and the workspace it will need. */
cudnnStatus_t uc_graph_config(const struct uc_graph *graph,
                              cudnnBackendDescriptor_t engine,
                              const struct uc_kernel *kernel,
                              cudnnBackendDescriptor_t *config,
                              int64_t *workspace_bytes);

/** The execution plan of a configuration: may compile, for seconds. */
cudnnStatus_t uc_graph_plan(const struct uc_graph *graph,
                            cudnnBackendDescriptor_t config,
                            cudnnBackendDescriptor_t *plan,
                            int64_t *workspace_bytes);

void uc_descriptor_free(const struct uc_cudnn *cudnn,
                        cudnnBackendDescriptor_t descriptor);

/** One value of a descriptor. */
cudnnStatus_t uc_descriptor_get(const struct uc_cudnn *cudnn,
                                cudnnBackendDescriptor_t descriptor,
                                cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type, void *value);

/* A chain of descriptors: the first failure stops what follows ------------*/

struct uc_builder {
    const struct uc_cudnn *cudnn;
    cudnnStatus_t status;
};

/** NULL after a failure. */
cudnnBackendDescriptor_t uc_build(struct uc_builder *builder,
                                  cudnnBackendDescriptorType_t type);
void uc_build_set(struct uc_builder *builder,
                  cudnnBackendDescriptor_t descriptor,
                  cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t count,
                  const void *values);
void uc_build_finalize(struct uc_builder *builder,
                       cudnnBackendDescriptor_t descriptor);

/** Say which device, where it is only described. */
enum uc_placed { UC_PLACED_HEURISTIC, UC_PLACED_ENGINE, UC_PLACED_PLAN };
void uc_build_place(struct uc_builder *builder,
                    const struct uc_graph_place *place,
                    cudnnBackendDescriptor_t descriptor, enum uc_placed what);

#endif
