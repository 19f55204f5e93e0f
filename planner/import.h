/**
 * @file import.h
 * Other people's lists of convolutions, as networks.
 *
 * A list is read line by line into layers; equal ones are merged and counted.
 * A network has one batch: a list of several batches makes several networks.
 *
 * Units:   batches count images, lines from 1.
 * Owner:   free a list with uc_import_free(), which takes zeros.
 * Errors:  UC_EINPUT; every wrong line is also told to the request's callback.
 *          Outputs are untouched on failure.
 * Threads: no hidden state; the locale is never consulted.
 * Source:  DeepBench, code/kernels/conv_problems.h, and the columns its lists
 *          are spread with; oneDNN, tests/benchdnn/doc/driver_conv.md,
 *          knobs_desc.md, conv/conv_aux.cpp and dnnl_common.cpp; MIOpen,
 *          driver/conv_driver.hpp and InputFlags.cpp.
 */
#ifndef UC_PLANNER_IMPORT_H
#define UC_PLANNER_IMPORT_H

#include "planner/network.h"

enum uc_import_format {
    UC_IMPORT_DEEPBENCH, /**< comma-separated values, columns by name */
    UC_IMPORT_BENCHDNN,  /**< oneDNN: "ic64ih27oc192kh5ph2" and options */
    UC_IMPORT_MIOPEN,    /**< MIOpenDriver's command lines */
    UC_IMPORT_FORMATS
};

/** "deepbench", "benchdnn", "miopen". */
const char *uc_import_format_name(enum uc_import_format format);
bool uc_import_format_parse(const char *name, enum uc_import_format *format);

/** By the first line that says something; false: none of them. */
bool uc_import_detect(const char *text, size_t length,
                      enum uc_import_format *format);

/** One shape at one batch, in order of appearance. */
struct uc_import_layer {
    char name[UC_LAYER_NAME];      /**< the first given, or "" */
    struct uc_problem problem;     /**< its operation field is UC_FORWARD */
    int64_t batch;                 /**< 1 .. 2^31-1 */
    int64_t repeat[UC_OPERATIONS]; /**< how often each runs; not all 0 */
    char *key;                     /**< internal */
};

struct uc_import_list {
    struct uc_import_layer **layers; /**< NULL when there are none */
    size_t count;
};

struct uc_import_request {
    enum uc_import_format format;
    const char *file;         /**< in messages */
    int64_t batch;            /**< in place of the lines'; 0: theirs */
    bool runs[UC_OPERATIONS]; /**< others are left out */
    /** A wrong line and why; may be NULL. */
    void (*wrong)(void *context, size_t line, const char *reason);
    void *context;
};

enum {
    UC_IMPORT_MAX_LAYERS = 16384,  /**< as many as a network may have */
    UC_IMPORT_MAX_REPEAT = 1000000 /**< and as often */
};

/**
 * Read the whole text; no layer at all is an error too. Every layer keeps the
 * rules of a network's.
 */
enum uc_status uc_import_read(const char *text, size_t length,
                              const struct uc_import_request *request,
                              struct uc_import_list *list,
                              struct uc_error *err);
void uc_import_free(struct uc_import_list *list);

/** What one network of a list comes to. */
struct uc_import_batch {
    int64_t batch;
    int64_t layers, operations; /**< repeats counted */
};

/**
 * The batches of a list: the one with the most operations first, the first
 * seen of equals; the rest by size. *batches is the caller's to free().
 */
enum uc_status uc_import_batches(const struct uc_import_list *list,
                                 struct uc_import_batch **batches,
                                 size_t *count, struct uc_error *err);

/**
 * The description of the layers of one batch, which uc_network_parse()
 * accepts. Names are made unique; operations of a layer that run differently
 * often become entries of their own. *text is the caller's to free().
 */
enum uc_status uc_import_print(const struct uc_import_list *list, int64_t batch,
                               const char *name, const char *source,
                               char **text, struct uc_error *err);

#endif
