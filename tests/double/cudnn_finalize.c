/* What makes each kind of the graph API's descriptors complete. */
#include "config.h"

#include "tests/double/cudnn_graph.h"

#include <string.h>

static cudnnStatus_t bad(const char *text)
{
    return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "%s", text);
}

/* Tensors and convolutions -----------------------------------------------*/

static int64_t type_bytes(int type)
{
    return type == CUDNN_DATA_DOUBLE                                ? 8
           : type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16 ? 2
                                                                    : 4;
}

cudnnStatus_t uc_finalize_tensor(struct uc_node *node)
{
    int64_t dims;
    int64_t strides;
    const int64_t *extent =
        uc_node_values(node, CUDNN_ATTR_TENSOR_DIMENSIONS, &dims);
    const int64_t *stride =
        uc_node_values(node, CUDNN_ATTR_TENSOR_STRIDES, &strides);
    int64_t alignment =
        uc_node_number(node, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0);
    int type =
        uc_node_choice(node, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);

    if (!extent || !stride || dims != strides || dims > UC_DIMS) {
        return bad("tensor: extents and strides");
    }
    for (int64_t d = 0; d < dims; d++) {
        if (extent[d] < 0 || stride[d] < 0) {
            return bad("tensor: an extent or a stride is negative");
        }
    }
    if (alignment <= 0 || alignment % type_bytes(type) != 0) {
        return bad("tensor: the alignment is none of an element");
    }
    return CUDNN_STATUS_SUCCESS;
}

/** Whether there are `spatial` values, all >= least; or none, if they may. */
static bool complete(const struct uc_node *node,
                     cudnnBackendAttributeName_t name, int64_t spatial,
                     int64_t least, bool required)
{
    int64_t count;
    const int64_t *values = uc_node_values(node, name, &count);

    if (!values) {
        return !required;
    }
    for (int64_t d = 0; d < count; d++) {
        if (values[d] < least) {
            return false;
        }
    }
    return count == spatial;
}

cudnnStatus_t uc_finalize_convolution(struct uc_node *node)
{
    int64_t spatial =
        uc_node_number(node, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
    int mode = uc_node_choice(node, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                              CUDNN_CROSS_CORRELATION);

    if (spatial < 1 || spatial > UC_DIMS - 2) {
        return bad("convolution: spatial dimensions");
    }
    if (mode != CUDNN_CROSS_CORRELATION && mode != CUDNN_CONVOLUTION) {
        return bad("convolution: mode");
    }
    if (!complete(node, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, spatial, 0,
                  false) ||
        !complete(node, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, spatial, 0,
                  false) ||
        !complete(node, CUDNN_ATTR_CONVOLUTION_DILATIONS, spatial, 1, true) ||
        !complete(node, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, spatial, 1,
                  true)) {
        return bad("convolution: paddings, dilations or strides");
    }
    return CUDNN_STATUS_SUCCESS;
}

/* Operations -------------------------------------------------------------*/

/** alpha, beta, the convolution, x, w, y: as they follow each other. */
struct parts {
    cudnnBackendAttributeName_t alpha, beta, convolution, tensors[3];
};
static const struct parts parts[UC_DOUBLE_OPERATIONS] = {
    { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
      { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y } },
    { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
      { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY } },
    { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
      { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY } },
};

static double scalar(const struct uc_node *node,
                     cudnnBackendAttributeName_t name, double fallback)
{
    int64_t count;
    const void *value = uc_node_values(node, name, &count);
    float narrow;

    if (!value) {
        return fallback;
    }
    for (int i = 0; i < UC_MOST_ATTRIBUTES; i++) {
        if (node->attributes[i].values == value &&
            node->attributes[i].type == CUDNN_TYPE_DOUBLE) {
            memcpy(&fallback, value, sizeof fallback);
            return fallback;
        }
    }
    memcpy(&narrow, value, sizeof narrow);
    return narrow;
}

/** The extents as the legacy API's; false: too large for it. */
static bool narrow(const struct uc_node *node, cudnnBackendAttributeName_t name,
                   int most, int *to)
{
    int64_t count;
    const int64_t *values = uc_node_values(node, name, &count);

    for (int64_t d = 0; values && d < count; d++) {
        if (d >= most || values[d] > INT32_MAX || values[d] < 0) {
            return false;
        }
        to[d] = (int)values[d];
    }
    return true;
}

static bool legacy_tensor(const struct uc_node *node,
                          struct cudnnTensorStruct *to)
{
    int64_t dims;

    (void)uc_node_values(node, CUDNN_ATTR_TENSOR_DIMENSIONS, &dims);
    to->magic = UC_TENSOR;
    to->type = (cudnnDataType_t)uc_node_choice(
        node, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
    to->dims = (int)dims;
    return narrow(node, CUDNN_ATTR_TENSOR_DIMENSIONS, UC_DIMS, to->extent) &&
           narrow(node, CUDNN_ATTR_TENSOR_STRIDES, UC_DIMS, to->stride);
}

/** A filter is NCHW or NHWC; no engine has another. */
static bool legacy_filter(const struct uc_node *node,
                          struct cudnnFilterStruct *to)
{
    struct cudnnTensorStruct tensor = { 0 };
    int stride[UC_DIMS] = { 0 };

    if (!legacy_tensor(node, &tensor)) {
        return false;
    }
    *to = (struct cudnnFilterStruct){ .magic = UC_FILTER,
                                      .type = tensor.type,
                                      .dims = tensor.dims };
    memcpy(to->extent, tensor.extent, sizeof to->extent);
    for (int f = CUDNN_TENSOR_NCHW; f <= CUDNN_TENSOR_NHWC; f++) {
        to->format = (cudnnTensorFormat_t)f;
        uc_cudnn_strides(to->format, to->dims, to->extent, stride);
        if (memcmp(stride, tensor.stride, sizeof stride) == 0) {
            return true;
        }
    }
    return false;
}

static bool legacy_convolution(const struct uc_node *node, int groups,
                               struct cudnnConvolutionStruct *to)
{
    int after[UC_DIMS] = { 0 };

    to->magic = UC_CONVOLUTION;
    to->spatial =
        (int)uc_node_number(node, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
    to->mode = (cudnnConvolutionMode_t)uc_node_choice(
        node, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
    to->compute_type = (cudnnDataType_t)uc_node_choice(
        node, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    to->math = CUDNN_FMA_MATH;
    to->groups = groups;
    return narrow(node, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, UC_DIMS,
                  to->pad) &&
           narrow(node, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, UC_DIMS, after) &&
           memcmp(to->pad, after, sizeof after) == 0 &&
           narrow(node, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, UC_DIMS,
                  to->stride) &&
           narrow(node, CUDNN_ATTR_CONVOLUTION_DILATIONS, UC_DIMS,
                  to->dilation);
}

/** Extents that do not fit each other are an error; what the legacy API could
    not say is not supported by any engine. */
static cudnnStatus_t derive(const struct uc_node *convolution,
                            struct uc_node *const tensors[3],
                            struct uc_graph_operation *work)
{
    struct cudnnTensorStruct x = { 0 };
    struct cudnnTensorStruct y = { 0 };
    struct cudnnFilterStruct w = { 0 };
    struct cudnnConvolutionStruct c = { 0 };
    cudnnStatus_t status;
    int groups;

    if (!legacy_tensor(tensors[UC_ROLE_X], &x) ||
        !legacy_tensor(tensors[UC_ROLE_Y], &y) ||
        !legacy_filter(tensors[UC_ROLE_W], &w) || w.extent[1] < 1 ||
        x.extent[0] < 1) {
        return CUDNN_STATUS_SUCCESS;
    }
    groups = x.extent[1] / w.extent[1];
    if (groups < 1 || x.extent[1] % w.extent[1] != 0) {
        return bad("the filter's channels are none of the input's");
    }
    if (!legacy_convolution(convolution, groups, &c)) {
        return CUDNN_STATUS_SUCCESS;
    }
    status = uc_geometry_build(&x, &w, &c, &y, &work->geometry);
    work->supported = status == CUDNN_STATUS_SUCCESS;
    return status == CUDNN_STATUS_NOT_SUPPORTED ? CUDNN_STATUS_SUCCESS : status;
}

static enum uc_double_operation operation_of(const struct uc_node *node)
{
    switch (node->kind->type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        return UC_DOUBLE_FORWARD;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        return UC_DOUBLE_BACKWARD_DATA;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        return UC_DOUBLE_BACKWARD_FILTER;
    default:
        return UC_DOUBLE_OPERATIONS;
    }
}

cudnnStatus_t uc_finalize_operation(struct uc_node *node)
{
    struct uc_graph_operation work = { .operation = operation_of(node) };
    const struct parts *names = &parts[work.operation];
    struct uc_node *convolution = uc_node_part(node, names->convolution);
    struct uc_node *tensors[3];
    cudnnStatus_t status;

    if (!uc_node_is(convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) ||
        !convolution->finalized) {
        return bad("operation: the convolution");
    }
    for (int role = 0; role < 3; role++) {
        struct uc_node *tensor = uc_node_part(node, names->tensors[role]);

        if (!uc_node_is(tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR) ||
            !tensor->finalized) {
            return bad("operation: a tensor");
        }
        tensors[role] = tensor;
        work.uid[role] = uc_node_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
        work.alignment[role] =
            (size_t)uc_node_number(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1);
    }
    work.alpha = scalar(node, names->alpha, 1);
    work.beta = scalar(node, names->beta, 0);
    status = derive(convolution, tensors, &work);
    if (status == CUDNN_STATUS_SUCCESS) {
        node->work = work;
    }
    return status;
}

cudnnStatus_t uc_finalize_graph(struct uc_node *node)
{
    static const int64_t engines = UC_ENGINES;
    int64_t count;
    struct uc_node *const *operations =
        uc_node_values(node, CUDNN_ATTR_OPERATIONGRAPH_OPS, &count);

    for (int64_t i = 0; i < count; i++) {
        if (operation_of(operations[i]) == UC_DOUBLE_OPERATIONS) {
            return bad("graph: something that is no operation");
        }
    }
    if (count == 0) {
        return bad("graph: no operation");
    }
    if (count > 1) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_SUPPORTED,
                             "graph: more than one operation");
    }
    return uc_node_store(node, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
                         CUDNN_TYPE_INT64, 1, &engines);
}

const struct uc_graph_operation *uc_graph_work(const struct uc_node *graph)
{
    return &uc_node_part(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS)->work;
}

/* What is small ----------------------------------------------------------*/

cudnnStatus_t uc_finalize_choice(struct uc_node *node)
{
    (void)node;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t uc_finalize_info(struct uc_node *node)
{
    (void)node;
    return bad("knob: an engine fills it");
}

cudnnStatus_t uc_finalize_pack(struct uc_node *node)
{
    int64_t ids;
    int64_t pointers;

    (void)uc_node_values(node, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &ids);
    (void)uc_node_values(node, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                         &pointers);
    return ids == pointers ? CUDNN_STATUS_SUCCESS
                           : bad("pack: as many pointers as identifiers");
}

/** One object in braces that knows its compute capability. */
static bool describes(const char *json, int64_t count)
{
    const char *end;

    if (json[count - 1] != '\0' || json[0] != '{' ||
        !strstr(json, "\"deviceVer\":")) {
        return false;
    }
    end = strrchr(json, '}');
    return end && end[1 + strspn(end + 1, " \n")] == '\0';
}

/** A device that is there, or the text of one that is not. */
cudnnStatus_t uc_finalize_device(struct uc_node *node)
{
    int64_t count;
    const char *json =
        uc_node_values(node, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, &count);
    int device = uc_node_choice(node, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, -1);
    int64_t handles;

    if (json) {
        return describes(json, count)
                   ? CUDNN_STATUS_SUCCESS
                   : bad("device: not its description in JSON");
    }
    if (uc_node_values(node, CUDNN_ATTR_DEVICEPROP_HANDLE, &handles)) {
        return CUDNN_STATUS_SUCCESS;
    }
    if (device < 0) {
        return uc_cudnn_fail(CUDNN_STATUS_NOT_INITIALIZED, "device: none");
    }
    return device < uc_double_settings()->devices ? CUDNN_STATUS_SUCCESS
                                                  : bad("device: its number");
}
