/**
 * @file cudnn_graph.h
 * The graph API's descriptors: nodes with attributes, by one table.
 *
 * cudnn_kinds.c has the table, cudnn_backend.c the nodes, cudnn_finalize.c and
 * cudnn_choose.c what makes each kind complete, cudnn_engines.c the engines,
 * cudnn_execute.c runs.
 *
 * Owner:   a node lives while its creator or another node holds it.
 * Errors:  cudnnStatus_t, the cause in cudnnGetLastErrorString().
 * Threads: any, each node by one thread at a time; held by any.
 */
#ifndef UC_TESTS_DOUBLE_CUDNN_GRAPH_H
#define UC_TESTS_DOUBLE_CUDNN_GRAPH_H

#include "tests/double/cudnn_state.h"

/** What an operation node computes. */
struct uc_graph_operation {
    enum uc_double_operation operation;
    bool supported; /**< false: no engine has it, the rest is not set */
    struct uc_geometry geometry;
    double alpha, beta;
    int64_t uid[3];
    size_t alignment[3];
};

enum { UC_MOST_ATTRIBUTES = 7, UC_MOST_KNOBS = 2 };

struct uc_attribute {
    cudnnBackendAttributeType_t type;
    int64_t count; /**< 0: not set */
    unsigned char *values;
};

struct uc_node {
    unsigned magic;
    int references; /**< atomic */
    bool destroyed; /**< by its creator, held by others */
    bool finalized;
    bool busy; /**< a plan that is running; atomic */
    const struct uc_node_kind *kind;
    struct uc_attribute attributes[UC_MOST_ATTRIBUTES];
    struct uc_graph_operation work; /**< of an operation */
    struct uc_cost cost;            /**< of a configuration or a plan */
};

/** What a kind lets be done with one attribute. */
enum {
    UC_READ_ONLY = 1 << 0,
    UC_MAY_BE_EMPTY = 1 << 1,
    UC_OR_DOUBLE = 1 << 2,  /**< of type FLOAT */
    UC_DISTINCT = 1 << 3,   /**< knob choices */
    UC_SKIPS_FULL = 1 << 4, /**< what is asked for into finalized nodes */
    UC_PROMISES = 1 << 5,   /**< more when none are asked for than there are */
    UC_HIDES_COUNT = 1 << 6 /**< says 0 when none are asked for */
};

struct uc_attribute_kind {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int most;
    unsigned flags;
    cudnnStatus_t refusal; /**< of another type, or of setting READ_ONLY */
    cudnnStatus_t open;    /**< of a part that is not finalized */
};

struct uc_node_kind {
    cudnnBackendDescriptorType_t type;
    const char *name;
    cudnnStatus_t (*finalize)(struct uc_node *node);
    struct uc_attribute_kind attributes[UC_MOST_ATTRIBUTES];
};

/** NULL: not simulated. */
const struct uc_node_kind *uc_node_kind(cudnnBackendDescriptorType_t type);
/** NULL: not a kind that is simulated, or no memory. */
struct uc_node *uc_node_create(cudnnBackendDescriptorType_t type);
void uc_node_release(struct uc_node *node);
bool uc_node_is(const struct uc_node *node, cudnnBackendDescriptorType_t type);
/** Holds the parts among the values; read-only attributes too. */
cudnnStatus_t uc_node_store(struct uc_node *node,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t count,
                            const void *values);
/** NULL and 0 unless it is set. */
const void *uc_node_values(const struct uc_node *node,
                           cudnnBackendAttributeName_t name, int64_t *count);
/** The first value, a node; NULL unless it is set. */
struct uc_node *uc_node_part(const struct uc_node *node,
                             cudnnBackendAttributeName_t name);
int64_t uc_node_number(const struct uc_node *node,
                       cudnnBackendAttributeName_t name, int64_t fallback);
int uc_node_choice(const struct uc_node *node, cudnnBackendAttributeName_t name,
                   int fallback);

cudnnStatus_t uc_finalize_tensor(struct uc_node *node);
cudnnStatus_t uc_finalize_convolution(struct uc_node *node);
cudnnStatus_t uc_finalize_operation(struct uc_node *node);
cudnnStatus_t uc_finalize_graph(struct uc_node *node);
cudnnStatus_t uc_finalize_engine(struct uc_node *node);
cudnnStatus_t uc_finalize_choice(struct uc_node *node);
cudnnStatus_t uc_finalize_info(struct uc_node *node);
cudnnStatus_t uc_finalize_config(struct uc_node *node);
cudnnStatus_t uc_finalize_heuristics(struct uc_node *node);
cudnnStatus_t uc_finalize_plan(struct uc_node *node);
cudnnStatus_t uc_finalize_pack(struct uc_node *node);
cudnnStatus_t uc_finalize_device(struct uc_node *node);

/** The one operation of an engine's or a heuristic's finalized graph. */
const struct uc_graph_operation *uc_graph_work(const struct uc_node *graph);

/** Engines have indices below this; most of them do not exist. */
enum { UC_ENGINES = 24 };

struct uc_knob_kind {
    cudnnBackendKnobType_t type;
    int64_t least, most, usual;
};
struct uc_engine {
    int index;
    int notes[2], note_count;
    bool compiled; /**< at run time: its plan takes UC_COMPILE_MS */
    enum uc_rounding rounding;
    int64_t launch_ns, ps_per_mac;
    int knob_count;
    struct uc_knob_kind knobs[UC_MOST_KNOBS];
};
enum { UC_COMPILE_MS = 5 };

/** NULL when there is none, or when it does not do this. */
const struct uc_engine *uc_engine_find(int64_t index,
                                       const struct uc_graph_operation *work);
/** Knobs in the order of the engine's. Not supported: it does not do this
    with the operation's beta. */
void uc_engine_cost(const struct uc_engine *engine,
                    const struct uc_graph_operation *work,
                    const int64_t knobs[UC_MOST_KNOBS], struct uc_cost *cost);

/** A heuristic's advice. */
struct uc_advice {
    int engine;
    bool chooses; /**< knobs, all of them */
    int64_t knobs[UC_MOST_KNOBS];
};
enum { UC_MOST_ADVICE = 8 };
/** The best first; how many. */
int uc_engine_advice(int mode, const struct uc_graph_operation *work,
                     struct uc_advice advice[UC_MOST_ADVICE]);

#endif
