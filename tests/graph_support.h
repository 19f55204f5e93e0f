/**
 * @file graph_support.h
 * A case of double_support.h through the graph API.
 *
 * Owner:   graph_close() destroys what a graph was made of; descriptors that
 *          functions return are the caller's to destroy.
 * Errors:  cmocka assertions, but for what returns a status.
 */
#ifndef UC_TESTS_GRAPH_SUPPORT_H
#define UC_TESTS_GRAPH_SUPPORT_H

#include "tests/double_support.h"

typedef cudnnBackendDescriptor_t descriptor;

struct graph {
    descriptor tensors[3], convolution, operation, graph;
};

/** With the addresses' alignment as it is told. */
void graph_open_aligned(struct graph *g, const struct uc_case *c,
                        enum uc_double_operation op, double alpha, double beta,
                        int64_t alignment);
void graph_open(struct graph *g, const struct uc_case *c,
                enum uc_double_operation op, double alpha, double beta);
void graph_close(struct graph *g);

/** A choice of knobs, up to two. */
struct choices {
    int count, type[2];
    int64_t value[2];
};

descriptor graph_create(cudnnBackendDescriptorType_t type);
void graph_destroy(descriptor d);
void graph_set(descriptor d, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t count,
               const void *values);
int64_t graph_number(descriptor d, cudnnBackendAttributeName_t name);
/** Not destroyed when it fails: NULL. */
cudnnStatus_t graph_engine(const struct graph *g, int64_t index,
                           descriptor *engine);
cudnnStatus_t graph_config(const struct graph *g, int64_t index,
                           const struct choices *choices, descriptor *config);
cudnnStatus_t graph_plan(descriptor config, descriptor *plan);
/** A plan of the case at an engine with its usual knobs; it holds the rest. */
descriptor graph_plan_at(const struct uc_case *c, enum uc_double_operation op,
                         int64_t index, double beta, int64_t alignment);
/** The pack of the case's tensors and workspace. */
descriptor graph_pack(const struct uc_case *c);
cudnnStatus_t graph_execute(const struct uc_case *c, descriptor plan);
/** Makes the plan, gives the case as much workspace as it asks, runs it. */
cudnnStatus_t graph_run(struct uc_case *c, enum uc_double_operation op,
                        int64_t index, const struct choices *choices,
                        double alpha, double beta);
/** Nanoseconds of such a run. */
double graph_time(struct uc_case *c, enum uc_double_operation op, int64_t index,
                  const struct choices *choices, double beta);

#endif
