/**
 * @file network.h
 * Network descriptions: JSON files, documented in ucudnn-network(5).
 *
 * Units:   extents count elements, batch images.
 * Owner:   free a network with uc_network_free() (takes NULL fields).
 * Errors:  UC_EINPUT for what the file says, UC_EFILE when it cannot be
 *          read; texts carry file, line, layer and reason.
 * Threads: no hidden state; the locale is never consulted.
 */
#ifndef UC_PLANNER_NETWORK_H
#define UC_PLANNER_NETWORK_H

#include "common/problem.h"

enum { UC_LAYER_NAME = 64, UC_NETWORK_NAME = 64 };

struct uc_layer {
    char name[UC_LAYER_NAME];
    int64_t repeat; /**< identical layers; >= 1 */
    bool runs[UC_OPERATIONS];
    struct uc_problem problem; /**< its operation field is UC_FORWARD */
};

struct uc_network {
    char name[UC_NETWORK_NAME];
    char description[256];
    char source[256]; /**< where the shapes come from */
    int64_t batch;    /**< >= 1 */
    struct uc_layer *layers;
    size_t layer_count;
};

/** What the command line replaces. Zero / -1 mean "as the file says". */
struct uc_network_overrides {
    int64_t batch; /**< 0: keep */
    int dtype;     /**< enum uc_dtype or -1 */
    int layout;    /**< enum uc_layout (UC_NCHW, UC_NHWC) or -1 */
    int math;      /**< enum uc_math or -1; alone it also sets the data type
                        it computes on, and a data type alone its math, where
                        that changes anything: uc_math_dtype(),
                        uc_dtype_math() */
};
#define UC_NETWORK_AS_IS ((struct uc_network_overrides){ 0, -1, -1, -1 })

enum uc_status uc_network_read(const char *path,
                               const struct uc_network_overrides *overrides,
                               struct uc_network *network,
                               struct uc_error *err);

/** The same from memory; `name` stands for the file in messages. */
enum uc_status uc_network_parse(const char *text, size_t length,
                                const char *name,
                                const struct uc_network_overrides *overrides,
                                struct uc_network *network,
                                struct uc_error *err);

void uc_network_free(struct uc_network *network);

/** One operation of one layer. */
struct uc_network_operation {
    const struct uc_layer *layer; /**< borrowed from the network */
    struct uc_problem problem;    /**< operation field set */
};

/**
 * Every operation that runs, layer by layer, forward, backward-data,
 * backward-filter. *list is the caller's to free().
 */
enum uc_status uc_network_operations(const struct uc_network *network,
                                     struct uc_network_operation **list,
                                     size_t *count, struct uc_error *err);

#endif
