/**
 * @file network_reader.h
 * What the two halves of the network reader share: network.c reads the file
 * and its top level, network_layer.c the keys of layers.
 *
 * Owner:   a reader borrows everything.
 * Errors:  UC_EINPUT, "FILE:LINE: [layer "NAME": ]reason".
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_NETWORK_READER_H
#define UC_PLANNER_NETWORK_READER_H

#include "planner/network.h"

#include <jansson.h>

struct uc_network_reader {
    const char *name; /**< the file, in messages */
    const char *text;
    size_t length;
    const json_t *root;  /**< NULL until the text is parsed */
    const char *section; /**< "", "defaults" or a layer's name */
    bool in_layer;       /**< section is a layer's name */
    const struct uc_network_overrides *overrides;
    struct uc_error *err;
};

/** A line of the file and why: fills reader->err, returns UC_EINPUT. */
enum uc_status uc_network_fault_at(const struct uc_network_reader *reader,
                                   size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The same at the member `key` of `object`, which is part of the root. */
enum uc_status uc_network_fault(const struct uc_network_reader *reader,
                                const json_t *object, const char *key,
                                const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** One integer, member `key` of `object`: `least` .. `most`. */
enum uc_status uc_network_integer(const struct uc_network_reader *reader,
                                  const json_t *object, const char *key,
                                  const json_t *value, int64_t least,
                                  int64_t most, int64_t *number);

/** One line of text that fits `size` bytes, member `key` of `object`. */
enum uc_status uc_network_text(const struct uc_network_reader *reader,
                               const json_t *object, const char *key,
                               const json_t *value, char *text, size_t size);

/** NULL when `text` is printable and fits `size` bytes, else the reason. */
const char *uc_network_text_fault(const char *text, size_t size);

/** Extents as written: a list, or one number for every dimension. */
struct uc_layer_extents {
    int count; /**< 0: not given, -1: one number */
    int64_t values[UC_MAX_DIMS];
};

/** A layer as the file describes it, before it becomes a problem. */
struct uc_layer_spec {
    struct uc_layer_extents in, filter, pad, stride, dilation;
    struct uc_layer_extents x_strides, y_strides;
    int64_t c, k; /**< 0: not given */
    int64_t groups, repeat;
    bool runs[UC_OPERATIONS];
    int dtype, math;
    int layout, w_layout; /**< w_layout -1: as layout */
    int mode;
};

/** What holds when nothing is said. */
struct uc_layer_spec uc_layer_spec_default(void);

/**
 * Whether `key` is one of a layer, or, with `top`, one of those that may
 * stand at the top level too.
 */
bool uc_layer_key_known(const char *key, bool top);

/**
 * Key number `index` of a layer, or NULL behind the last: for checking the
 * manual against.
 */
const char *uc_layer_key_name(size_t index);

/**
 * Put an object's layer keys over *spec. With `top` the object is the root:
 * only keys of the top level count and others are left alone; otherwise an
 * unknown key is an error. On failure *spec is undefined.
 */
enum uc_status uc_layer_spec_read(const struct uc_network_reader *reader,
                                  const json_t *object, bool top,
                                  struct uc_layer_spec *spec);

/**
 * The layer a spec describes, overrides applied, every rule checked at
 * `batch`. Faults name the line of the member `name` of `layers`.
 */
enum uc_status uc_layer_finish(const struct uc_network_reader *reader,
                               const json_t *layers, const char *name,
                               const struct uc_layer_spec *spec, int64_t batch,
                               struct uc_layer *layer);

#endif
