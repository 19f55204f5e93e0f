/* The graph API's descriptors and their attributes, as the reference has
   them, and what cuDNN answers to a wrong one. */
#include "config.h"

#include "tests/double/cudnn_graph.h"

#define INTEGERS(name, most)                         \
    {                                                \
        name, CUDNN_TYPE_INT64, most, 0,             \
            CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, 0 \
    }
#define ONE(name, type)                                            \
    {                                                              \
        name, type, 1, 0, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, 0 \
    }
#define PART(name) ONE(name, CUDNN_TYPE_BACKEND_DESCRIPTOR)
#define PARTS(name, flags, open)                        \
    {                                                   \
        name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 64, flags, \
            CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, open \
    }
#define SCALAR(name)                                                       \
    {                                                                      \
        name, CUDNN_TYPE_FLOAT, 1, UC_OR_DOUBLE, CUDNN_STATUS_BAD_PARAM, 0 \
    }
#define READ(name, type, flags)                                           \
    {                                                                     \
        name, type, 64, UC_READ_ONLY | (flags), CUDNN_STATUS_BAD_PARAM, 0 \
    }
#define KNOB(name, type)                                           \
    {                                                              \
        name, type, 1, UC_READ_ONLY, CUDNN_STATUS_NOT_SUPPORTED, 0 \
    }
#define OPERATION(type, name, prefix, x, w, y)                \
    {                                                         \
        type, name, uc_finalize_operation,                    \
        {                                                     \
            SCALAR(prefix##_ALPHA), SCALAR(prefix##_BETA),    \
                PART(prefix##_CONV_DESC), PART(prefix##_##x), \
                PART(prefix##_##w), PART(prefix##_##y)        \
        }                                                     \
    }

static const struct uc_node_kind kinds[] = {
    { CUDNN_BACKEND_TENSOR_DESCRIPTOR,
      "tensor",
      uc_finalize_tensor,
      { ONE(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64),
        ONE(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE),
        INTEGERS(CUDNN_ATTR_TENSOR_DIMENSIONS, 64),
        INTEGERS(CUDNN_ATTR_TENSOR_STRIDES, 64),
        ONE(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64) } },
    { CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
      "convolution",
      uc_finalize_convolution,
      { ONE(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64),
        ONE(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE),
        ONE(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE),
        INTEGERS(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 64),
        INTEGERS(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 64),
        INTEGERS(CUDNN_ATTR_CONVOLUTION_DILATIONS, 64),
        INTEGERS(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 64) } },
    OPERATION(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, "forward",
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD, X, W, Y),
    OPERATION(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              "backward-data", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA, DX, W,
              DY),
    OPERATION(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              "backward-filter", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER, X,
              DW, DY),
    { CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
      "graph",
      uc_finalize_graph,
      { ONE(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE),
        PARTS(CUDNN_ATTR_OPERATIONGRAPH_OPS, 0,
              CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED),
        READ(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64,
             0) } },
    { CUDNN_BACKEND_ENGINE_DESCRIPTOR,
      "engine",
      uc_finalize_engine,
      { PART(CUDNN_ATTR_ENGINE_OPERATION_GRAPH),
        ONE(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64),
        PART(CUDNN_ATTR_ENGINE_DEVICEPROP),
        READ(CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0),
        READ(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 0),
        READ(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, 0) } },
    { CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR,
      "knob",
      uc_finalize_info,
      { KNOB(CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE),
        KNOB(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, CUDNN_TYPE_INT64),
        KNOB(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, CUDNN_TYPE_INT64),
        KNOB(CUDNN_ATTR_KNOB_INFO_STRIDE, CUDNN_TYPE_INT64) } },
    { CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
      "choice",
      uc_finalize_choice,
      { ONE(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE),
        ONE(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64) } },
    { CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
      "configuration",
      uc_finalize_config,
      { PART(CUDNN_ATTR_ENGINECFG_ENGINE),
        PARTS(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
              UC_MAY_BE_EMPTY | UC_DISTINCT | UC_HIDES_COUNT,
              CUDNN_STATUS_NOT_INITIALIZED),
        READ(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 0) } },
    { CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
      "heuristics",
      uc_finalize_heuristics,
      { PART(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH),
        ONE(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE),
        PART(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP),
        READ(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
             UC_SKIPS_FULL | UC_PROMISES) } },
    { CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
      "plan",
      uc_finalize_plan,
      { ONE(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE),
        PART(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG),
        PART(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP),
        READ(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 0) } },
    { CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
      "pack",
      uc_finalize_pack,
      { INTEGERS(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, 64),
        { CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 64, 0,
          CUDNN_STATUS_NOT_SUPPORTED, 0 },
        ONE(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR) } },
    { CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
      "device",
      uc_finalize_device,
      { ONE(CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE),
        ONE(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32),
        { CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 65536, 0,
          CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, 0 } } },
};

const struct uc_node_kind *uc_node_kind(cudnnBackendDescriptorType_t type)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].type == type) {
            return &kinds[i];
        }
    }
    return NULL;
}
