/**
 * @file ucudnn.h
 * Following a plan of cuDNN convolutions by explicit calls.
 *
 * A plan file, written by ucudnn-plan(1), says into which micro-batches a
 * convolution is split and how each is computed, so that it fits a workspace
 * limit. A program opens the file, looks its convolutions up by the very
 * descriptors it would give to cuDNN, allocates the workspace and executes
 * them in place of cudnnConvolutionForward(), ...BackwardData() and
 * ...BackwardFilter(). Where the answer is not UCUDNN_OK it calls cuDNN
 * itself, as it would without a plan. libucudnn(3) has a whole program.
 *
 * None of this needs the environment variables by which a program that knows
 * nothing of plans follows one. UCUDNN_LOG and UCUDNN_DISABLE are obeyed.
 *
 * Names:   x is a convolution's input, w its filter, y its output, whatever
 *          the operation: forward writes y, backward-data x (the gradient
 *          dx) and backward-filter w (dw).
 * Units:   *_bytes are bytes, *_ns nanoseconds; batches count images.
 * Owner:   ucudnn_open_plan_file() gives a file that the caller closes.
 *          Everything else that is returned, operations and strings, is
 *          borrowed from the file and lives until it is closed. The library
 *          keeps no handle, descriptor, tensor or workspace of the caller.
 * Errors:  enum ucudnn_status; outputs are untouched unless UCUDNN_OK is
 *          returned. Nothing is printed, nothing ends the process.
 * Threads: a file and its operations may be used by any number of threads at
 *          once, each with a cudnnHandle_t of its own, except for
 *          ucudnn_close_plan_file().
 * Structs: set struct_size to sizeof of the struct before the call. Structs
 *          only grow at their end, so programs keep working with a newer
 *          library.
 * Source:  Oyama et al., "Accelerating Deep Learning Frameworks with
 *          Micro-batches" (2018).
 *
 * cudnn.h is included because handles, descriptors and statuses are cuDNN's
 * own types, whose definitions are not ours to repeat.
 */
#ifndef UCUDNN_H
#define UCUDNN_H

#include <cudnn.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version ----------------------------------------------------------------*/

/** Of this header. */
#define UCUDNN_VERSION_MAJOR 0
#define UCUDNN_VERSION_MINOR 1
#define UCUDNN_VERSION_PATCH 0
#define UCUDNN_VERSION                                           \
    (UCUDNN_VERSION_MAJOR * 10000 + UCUDNN_VERSION_MINOR * 100 + \
     UCUDNN_VERSION_PATCH)

/** Of the library that is loaded, in the form of UCUDNN_VERSION. */
int ucudnn_get_version(void);

/* Statuses ---------------------------------------------------------------*/

/**
 * Unless it is UCUDNN_OK or UCUDNN_INCOMPLETE, nothing has been enqueued and
 * no tensor has changed: the program may call cuDNN instead.
 */
typedef enum ucudnn_status {
    UCUDNN_OK = 0,
    UCUDNN_BAD_ARGUMENT = 1, /**< NULL, out of range, struct_size */
    UCUDNN_NO_MEMORY = 2,    /**< of the host */
    UCUDNN_BAD_FILE = 3,     /**< missing, unreadable, or no plan file */
    UCUDNN_NO_CUDNN = 4,     /**< no cuDNN 9 or no driver in the process */
    UCUDNN_DISABLED = 5,     /**< UCUDNN_DISABLE is set */
    UCUDNN_UNSUPPORTED = 6,  /**< descriptors that no plan can describe */
    UCUDNN_NOT_PLANNED = 7,  /**< the file does not have this operation */
    UCUDNN_OTHER_DEVICE = 8, /**< planned for another GPU or cuDNN */
    UCUDNN_WORKSPACE = 9,    /**< fewer bytes than the operation needs */
    UCUDNN_ALIGNMENT = 10,   /**< an address is no multiple of 16 */
    UCUDNN_CAPTURE = 11,     /**< first use under stream capture */
    UCUDNN_REFUSED = 12,     /**< cuDNN refused it, or it cannot run as it was
                                  planned; nothing is enqueued */
    UCUDNN_INCOMPLETE = 13   /**< cuDNN failed when part of it may be done:
                                  the output is undefined */
} ucudnn_status;

/** A few words, constant; also for values that are no status. */
const char *ucudnn_describe_status(ucudnn_status status);

/* Plan files -------------------------------------------------------------*/

/** An open plan file. */
typedef struct ucudnn_plan_file ucudnn_plan_file;

/** Which plans of a file a device may use. */
typedef enum ucudnn_match {
    UCUDNN_MATCH_EXACT = 0,  /**< those of the same GPU and cuDNN version */
    UCUDNN_MATCH_DEVICE = 1, /**< those of the same GPU */
    UCUDNN_MATCH_ANY = 2     /**< all */
} ucudnn_match;

/** All zero but struct_size is the same as no options. */
typedef struct ucudnn_open_options {
    size_t struct_size;
    ucudnn_match match;
    int reserved; /**< 0 */
} ucudnn_open_options;

/**
 * Read a plan file; it needs neither GPU nor cuDNN and is not read again.
 *
 * @param path     the file.
 * @param options  NULL for the defaults. Bytes behind those that the library
 *                 knows must be zero.
 * @param out      the file; close it.
 * @param error    where to put what went wrong: one line, cut to size and
 *                 terminated; untouched on success. May be NULL.
 * @param error_bytes  size of that buffer; 256 is enough but for long paths.
 * @return UCUDNN_BAD_ARGUMENT, UCUDNN_BAD_FILE or UCUDNN_NO_MEMORY.
 */
ucudnn_status ucudnn_open_plan_file(const char *path,
                                    const ucudnn_open_options *options,
                                    ucudnn_plan_file **out, char *error,
                                    size_t error_bytes);

/**
 * Close it; NULL is fine. No thread may be inside a call with the file or one
 * of its operations. Work that is enqueued, and graphs that captured it, are
 * not affected. It calls cuDNN when operations were found: not at exit, when
 * cuDNN may be gone; a file need not be closed then.
 */
void ucudnn_close_plan_file(ucudnn_plan_file *file);

/** What a plan divides: each operation's workspace has a limit (workspace
    reuse), or the sum of all has (workspace division). */
typedef enum ucudnn_mode {
    UCUDNN_WORKSPACE_REUSE = 0,
    UCUDNN_WORKSPACE_DIVISION = 1
} ucudnn_mode;

typedef struct ucudnn_plan_info {
    size_t struct_size;
    const char *network; /**< its name */
    const char *device;  /**< the GPU it was made for: "NVIDIA H200" */
    int cudnn_version;   /**< it was made for, as cudnnGetVersion() says it */
    ucudnn_mode mode;
    int64_t limit_bytes;    /**< of an operation, or of all together */
    size_t operation_count; /**< as many as ucudnn_get_operation() has */
    int64_t predicted_ns;   /**< all operations, as often as the network runs
                                 each */
} ucudnn_plan_info;

/** How many plans the file has; 0 for NULL. */
size_t ucudnn_count_plans(const ucudnn_plan_file *file);

/** @param plan  0 .. ucudnn_count_plans() - 1.
    @return UCUDNN_BAD_ARGUMENT. */
ucudnn_status ucudnn_describe_plan(const ucudnn_plan_file *file, size_t plan,
                                   ucudnn_plan_info *info);

/* Operations -------------------------------------------------------------*/

/** One planned convolution at its batch; belongs to its file. */
typedef struct ucudnn_operation ucudnn_operation;

typedef enum ucudnn_kind {
    UCUDNN_FORWARD = 0,
    UCUDNN_BACKWARD_DATA = 1,
    UCUDNN_BACKWARD_FILTER = 2
} ucudnn_kind;

/** Operation `index` of plan `plan`, in the network's order, whatever the
    device; NULL when there is none. */
const ucudnn_operation *ucudnn_get_operation(const ucudnn_plan_file *file,
                                             size_t plan, size_t index);

/**
 * The operation that computes what a call of cuDNN with these descriptors
 * would, planned for the current device and for no less precise arithmetic.
 * When several plans have it, that of the plan written last is taken.
 *
 * The first time an operation is found cuDNN is asked for its workspaces and
 * memory of the host is allocated, nothing on the device. Where engines of
 * cuDNN's graph API are planned, their execution plans for alpha 1 and beta 0
 * are built, which takes up to seconds and is not done while the handle's
 * stream is captured. Later it costs about a microsecond. Nothing is enqueued.
 *
 * @param handle   only asked, never changed. The device it was made for must
 *                 be current.
 * @param x,w,convolution,y  only read, and not needed afterwards.
 * @param out      the operation.
 * @param reason   as `error` of ucudnn_open_plan_file(): the field that
 *                 differs when it is not planned, or planned for another
 *                 device; which kernel is refused, and why. May be NULL.
 * @return UCUDNN_BAD_ARGUMENT, UCUDNN_NO_MEMORY, UCUDNN_NO_CUDNN,
 *         UCUDNN_DISABLED, UCUDNN_UNSUPPORTED, UCUDNN_NOT_PLANNED,
 *         UCUDNN_OTHER_DEVICE, UCUDNN_CAPTURE (engines, the first time) or
 *         UCUDNN_REFUSED.
 */
ucudnn_status ucudnn_find_operation(
    ucudnn_plan_file *file, cudnnHandle_t handle, ucudnn_kind kind,
    cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
    const ucudnn_operation **out, char *reason, size_t reason_bytes);

typedef struct ucudnn_operation_info {
    size_t struct_size;
    const char *layer; /**< its name in the network */
    ucudnn_kind kind;
    const char *problem; /**< all of the convolution but the batch, in the
                              text form that ucudnn-plan prints */
    int64_t batch;
    int64_t workspace_bytes; /**< that executing it needs: once found, what
                                  this process's cuDNN asks for, until then
                                  what the plan says */
    int64_t predicted_ns;    /**< of one execution, as it was measured */
    size_t piece_count;      /**< as many as ucudnn_describe_piece() has */
    int64_t micro_batches;   /**< calls of cuDNN in one execution */
} ucudnn_operation_info;

/** @return UCUDNN_BAD_ARGUMENT. */
ucudnn_status ucudnn_describe_operation(const ucudnn_operation *operation,
                                        ucudnn_operation_info *info);

/** `count` equal micro-batches in a row. */
typedef struct ucudnn_piece_info {
    size_t struct_size;
    int64_t size;            /**< images of one micro-batch */
    int64_t count;           /**< >= 1 */
    char kernel[256];        /**< how they are computed: "winograd/fma",
                                  "eng67 k2=4 k27=8" */
    int64_t workspace_bytes; /**< of one, as planned */
    int64_t predicted_ns;    /**< of one */
} ucudnn_piece_info;

/** @param index  0 .. piece_count - 1, in the order of execution.
    @return UCUDNN_BAD_ARGUMENT. */
ucudnn_status ucudnn_describe_piece(const ucudnn_operation *operation,
                                    size_t index, ucudnn_piece_info *info);

/**
 * Enqueue output = alpha * convolution + beta * output on the handle's
 * stream, micro-batch after micro-batch. The result is that of one call of
 * cuDNN with the same arguments, up to rounding.
 *
 * It does not wait for the device. Once the operation has been executed on the
 * device it allocates nothing; where engines are planned, once it has been
 * executed with this alpha and beta, and nothing but a small descriptor of
 * cuDNN's a micro-batch. Until then it is not executed under stream capture,
 * since cuDNN may have to load its kernels first: execute it once before
 * capturing.
 *
 * An operation of ucudnn_get_operation() is prepared here as
 * ucudnn_find_operation() would; that the tensors are those of its problem and
 * batch is then the caller's promise.
 *
 * @param handle   its stream is used; the device it was made for must be
 *                 current. One thread at a time may use a handle.
 * @param alpha,beta  on the host; double for fp64 tensors, else float.
 * @param x,w,y    on the device, at multiples of 16. Only the output is
 *                 written; it is not read when beta is 0.
 * @param workspace  on the device, at a multiple of 16; NULL when none is
 *                 needed. Its content is lost. Until the work is done nothing
 *                 else may use it, operations on other streams included.
 * @param workspace_bytes  at least the operation's.
 * @param cudnn_status  cuDNN's own status with UCUDNN_REFUSED and
 *                 UCUDNN_INCOMPLETE, the one output that is written on
 *                 failure; CUDNN_STATUS_NOT_SUPPORTED where it is not cuDNN
 *                 that refuses: weaker arithmetic than planned, scalars that
 *                 an engine was not measured with or that are too many. May
 *                 be NULL.
 * @return UCUDNN_BAD_ARGUMENT, UCUDNN_NO_MEMORY, UCUDNN_NO_CUDNN,
 *         UCUDNN_DISABLED, UCUDNN_OTHER_DEVICE, UCUDNN_WORKSPACE,
 * UCUDNN_ALIGNMENT, UCUDNN_CAPTURE, UCUDNN_REFUSED or UCUDNN_INCOMPLETE.
 */
ucudnn_status ucudnn_execute_operation(const ucudnn_operation *operation,
                                       cudnnHandle_t handle, const void *alpha,
                                       void *x, void *w, void *y,
                                       const void *beta, void *workspace,
                                       size_t workspace_bytes,
                                       cudnnStatus_t *cudnn_status);

/* Counters ---------------------------------------------------------------*/

/** What was asked of one file by these functions since it was opened. */
typedef struct ucudnn_counters {
    size_t struct_size;
    uint64_t executed;       /**< operations enqueued as planned */
    uint64_t passed_through; /**< executions that enqueued nothing, for the
                                  caller to pass on to cuDNN */
    uint64_t not_found;      /**< ucudnn_find_operation() in vain */
} ucudnn_counters;

/** The counters are read one by one, while others may count.
    @return UCUDNN_BAD_ARGUMENT. */
ucudnn_status ucudnn_get_counters(const ucudnn_plan_file *file,
                                  ucudnn_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
