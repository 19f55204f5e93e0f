/* Tensors, convolutions, operations and their graph, right and wrong. */
#include "config.h"

#include "tests/client/backend.h"

static const int64_t one = 1, two = 2, zero = 0, minus = -1;
static const cudnnDataType_t float_type = CUDNN_DATA_FLOAT;

/** A tensor with one piece changed. */
static void odd_tensor(const char *what, int name, int type, int64_t count,
                       const void *values)
{
    static const int64_t uid = 77, extent[] = { 8, 16, 14, 14 },
                         stride[] = { 3136, 196, 14, 1 }, alignment = 16;
    const struct piece pieces[] = {
        { CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid },
        { CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &float_type },
        { CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, extent },
        { CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride },
        { CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment },
    };
    descriptor d = backend_fresh(TENSOR);

    backend_put_all(d, pieces, 5, -1);
    printf("tensor, %s: set %d", what,
           (int)backend_put(d, name, type, count, values));
    printf(", finalize %d\n", (int)backend.finalize(d));
}

static descriptor tensor(int64_t uid, const int64_t extent[4])
{
    int64_t stride[4] = { extent[1] * extent[2] * extent[3],
                          extent[2] * extent[3], extent[3], 1 };
    int64_t alignment = 16;
    const struct piece pieces[] = {
        { CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid },
        { CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &float_type },
        { CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, extent },
        { CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride },
        { CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment },
    };

    return backend_build("tensor", TENSOR, pieces, 5);
}

void backend_tensors(void)
{
    static const int64_t nine[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 },
                         empty[4] = { 8, 0, 14, 14 },
                         negative[4] = { 8, -1, 14, 14 },
                         broadcast[4] = { 0, 196, 14, 1 },
                         below[4] = { -3136, 196, 14, 1 }, three = 3,
                         sixteen = 16;
    descriptor d;
    int64_t values[9];
    int64_t count = -7;

    odd_tensor("as it is", CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1,
               &one);
    odd_tensor("unknown attribute", CUDNN_ATTR_CONVOLUTION_CONV_MODE,
               CUDNN_TYPE_INT64, 1, &one);
    odd_tensor("no such attribute", 9999, CUDNN_TYPE_INT64, 1, &one);
    odd_tensor("wrong type", CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1,
               &one);
    odd_tensor("two uids", CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2,
               nine);
    odd_tensor("no uid", CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 0,
               nine);
    odd_tensor("uid at NULL", CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1,
               NULL);
    odd_tensor("negative uid", CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1,
               &minus);
    odd_tensor("zero uid", CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1,
               &zero);
    odd_tensor("9 extents", CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 9,
               nine);
    odd_tensor("0 extents", CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0,
               nine);
    odd_tensor("-1 extents", CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, -1,
               nine);
    odd_tensor("3 extents", CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 3,
               nine);
    odd_tensor("3 strides", CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 3,
               nine);
    odd_tensor("zero extent", CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4,
               empty);
    odd_tensor("negative extent", CUDNN_ATTR_TENSOR_DIMENSIONS,
               CUDNN_TYPE_INT64, 4, negative);
    odd_tensor("zero stride", CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4,
               broadcast);
    odd_tensor("negative stride", CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
               4, below);
    odd_tensor("alignment 0", CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
               CUDNN_TYPE_INT64, 1, &zero);
    odd_tensor("alignment 1", CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
               CUDNN_TYPE_INT64, 1, &one);
    for (int64_t a = 2; a <= 64; a += a < 8 ? 2 : 4) {
        odd_tensor("alignment", CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
                   CUDNN_TYPE_INT64, 1, &a);
    }
    odd_tensor("alignment 3", CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
               CUDNN_TYPE_INT64, 1, &three);
    odd_tensor("alignment -1", CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
               CUDNN_TYPE_INT64, 1, &minus);

    d = backend_fresh(TENSOR);
    backend_tell("get of an unset uid",
                 backend_ask(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64,
                             1, &count, values));
    backend_put(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &sixteen);
    backend_tell("get before finalize",
                 backend_ask(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64,
                             1, &count, values));
    d = tensor(5, (int64_t[]){ 8, 16, 14, 14 });
    backend_tell("set after finalize",
                 backend_put(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64,
                             1, &sixteen));
    backend_tell("finalize again", backend.finalize(d));
    memset(values, 0, sizeof values);
    backend_tell("get extents",
                 backend_ask(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                             9, &count, values));
    printf("  %" PRId64 ": %" PRId64 " %" PRId64 "\n", count, values[0],
           values[3]);
    memset(values, 0, sizeof values);
    backend_tell("get 2 extents",
                 backend_ask(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                             2, &count, values));
    printf("  %" PRId64 ": %" PRId64 " %" PRId64 "\n", count, values[1],
           values[2]);
    backend_tell("get 0 extents",
                 backend_ask(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                             0, &count, NULL));
    printf("  %" PRId64 "\n", count);
    backend_tell("get extents, no count",
                 backend_ask(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                             9, NULL, values));
    backend_tell("get extents to NULL",
                 backend_ask(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
                             9, &count, NULL));
    backend_tell("get with a wrong type",
                 backend_ask(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_FLOAT,
                             9, &count, values));
    backend_tell("get of an unknown attribute",
                 backend_ask(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                             CUDNN_TYPE_INT64, 9, &count, values));
}

static descriptor convolution(void)
{
    static const int64_t ones[2] = { 1, 1 };
    static const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const struct piece pieces[] = {
        { CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two },
        { CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
          &float_type },
        { CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1,
          &mode },
        { CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, ones },
        { CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, ones },
        { CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones },
        { CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, ones },
    };

    return backend_build("convolution", CONVOLUTION, pieces, 7);
}

static void odd_convolution(const char *what, int name, int type, int64_t count,
                            const void *values)
{
    static const int64_t ones[2] = { 1, 1 };
    static const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const struct piece pieces[] = {
        { CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two },
        { CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
          &float_type },
        { CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1,
          &mode },
        { CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, ones },
        { CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, ones },
        { CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones },
        { CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, ones },
    };
    descriptor d = backend_fresh(CONVOLUTION);

    backend_put_all(d, pieces, 7, -1);
    printf("convolution, %s: set %d", what,
           (int)backend_put(d, name, type, count, values));
    printf(", finalize %d\n", (int)backend.finalize(d));
}

void backend_convolutions(void)
{
    static const int64_t three[3] = { 1, 1, 1 }, zeros[2] = { 0, 0 },
                         negative[2] = { -1, -1 }, many = 9;

    odd_convolution("3 paddings", CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                    CUDNN_TYPE_INT64, 3, three);
    odd_convolution("1 stride", CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                    CUDNN_TYPE_INT64, 1, three);
    odd_convolution("3 spatial", CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
                    CUDNN_TYPE_INT64, 1, three);
    odd_convolution("9 spatial", CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
                    CUDNN_TYPE_INT64, 1, &many);
    odd_convolution("-1 spatial", CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
                    CUDNN_TYPE_INT64, 1, &minus);
    odd_convolution("stride 0", CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                    CUDNN_TYPE_INT64, 2, zeros);
    odd_convolution("dilation 0", CUDNN_ATTR_CONVOLUTION_DILATIONS,
                    CUDNN_TYPE_INT64, 2, zeros);
    odd_convolution("padding -1", CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                    CUDNN_TYPE_INT64, 2, negative);
    odd_convolution("mode as a number", CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                    CUDNN_TYPE_INT64, 1, &one);
}

static descriptor operation(const char *what, descriptor conv, descriptor w,
                            descriptor x, descriptor y, bool each)
{
    static const float scale[2] = { 1, 0 };
    const struct piece pieces[] = {
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1,
          &scale[0] },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1,
          &scale[1] },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &conv },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x },
        { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y },
    };
    descriptor d;

    if (each) {
        return backend_build(what, FORWARD, pieces, 6);
    }
    d = backend_fresh(FORWARD);
    backend_put_all(d, pieces, 6, -1);
    backend_tell(what, backend.finalize(d));
    return d;
}

/** The forward operation of 8 images; what the wrong ones answer. */
static descriptor operations(void)
{
    descriptor x = tensor(1, (int64_t[]){ 8, 16, 14, 14 });
    descriptor w = tensor(2, (int64_t[]){ 16, 16, 3, 3 });
    descriptor y = tensor(3, (int64_t[]){ 8, 16, 14, 14 });
    descriptor large = tensor(4, (int64_t[]){ 8, 16, 15, 14 });
    descriptor seven = tensor(5, (int64_t[]){ 8, 16, 14, 14 });
    descriptor odd = tensor(6, (int64_t[]){ 16, 5, 3, 3 });
    descriptor same = tensor(1, (int64_t[]){ 8, 16, 14, 14 });
    descriptor conv = convolution();
    descriptor open = backend_fresh(TENSOR);
    descriptor d = backend_fresh(FORWARD);
    double wide = 1;
    descriptor got = backend_fresh(TENSOR);
    int64_t count = -1;

    (void)seven;
    operation("an unfinalized tensor", conv, w, open, y, false);
    operation("an unfinalized convolution", backend_fresh(CONVOLUTION), w, x, y,
              false);
    operation("a tensor as convolution", x, w, x, y, false);
    operation("NULL as tensor", conv, w, NULL, y, false);
    operation("y too large", conv, w, x, large, false);
    operation("channels that do not fit", conv, odd, x, y, false);
    operation("x and y of one uid", conv, w, x, same, false);
    backend_tell("alpha as double",
                 backend_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                             CUDNN_TYPE_DOUBLE, 1, &wide));
    backend_tell("alpha as number",
                 backend_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                             CUDNN_TYPE_INT64, 1, &one));
    backend_tell("x of backward data",
                 backend_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x));
    d = operation("forward", conv, w, x, y, true);
    backend_tell("get x",
                 backend_ask(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &got));
    backend_tell("get x before",
                 backend_ask(backend_fresh(FORWARD),
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &got));
    return d;
}

/** A backward operation; its attributes follow each other from `first`. */
static descriptor backward(const char *what, int type, int first, float beta,
                           int64_t height)
{
    const float alpha = 1;
    descriptor x = tensor(1, (int64_t[]){ 8, 16, 14, 14 });
    descriptor w = tensor(2, (int64_t[]){ 16, 16, 3, 3 });
    descriptor y = tensor(3, (int64_t[]){ 8, 16, height, 14 });
    descriptor conv = convolution();
    /* x and w as the reference numbers them for either operation */
    bool data = first == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA;
    const struct piece pieces[] = {
        { first, CUDNN_TYPE_FLOAT, 1, &alpha },
        { first + 1, CUDNN_TYPE_FLOAT, 1, &beta },
        { first + 2, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &conv },
        { data ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W
               : CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w },
        { data ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX
               : CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x },
        { data ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY
               : CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y },
    };
    descriptor d = backend_build(what, type, pieces, 6);
    descriptor g = backend_fresh(GRAPH);

    backend_tell("graph", backend_put(g, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &d));
    backend_tell("graph", backend.finalize(g));
    return g;
}

descriptor backend_backward(bool data, float beta, int64_t height)
{
    return data
               ? backward(
                     "backward-data",
                     CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, beta,
                     height)
               : backward(
                     "backward-filter",
                     CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, beta,
                     height);
}

descriptor backend_graph(void)
{
    descriptor operation = operations();
    const struct piece pieces[] = {
        { CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
          &operation },
    };
    descriptor d = backend_fresh(GRAPH);
    descriptor open = backend_fresh(FORWARD);
    int64_t count = -1;
    int64_t value = -1;

    backend_tell("an open operation",
                 backend_put(d, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &open));
    backend_tell("  its graph", backend.finalize(d));
    d = backend_fresh(GRAPH);
    backend_tell("a graph as operation",
                 backend_put(d, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &d));
    backend_tell("  its graph", backend.finalize(d));
    backend_tell("engines before",
                 backend_ask(d, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
                             CUDNN_TYPE_INT64, 1, &count, &value));
    backend_tell("set engines",
                 backend_put(d, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
                             CUDNN_TYPE_INT64, 1, &one));
    d = backend_build("graph", GRAPH, pieces, 1);
    backend_tell("engines",
                 backend_ask(d, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
                             CUDNN_TYPE_INT64, 1, &count, &value));
    printf("  %" PRId64 ", some: %d\n", count, value > 1);
    return d;
}
