/* Descriptors of the graph API: what they hold, set and get. */
#include "config.h"

#include "tests/double/cudnn_graph.h"

#include <stdlib.h>
#include <string.h>

enum { UC_NODE = 0x6e6f6465 };

static size_t size_of(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_CHAR:
        return 1;
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
        return 8;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return sizeof(void *);
    default: /* enumerators, int and float */
        return 4;
    }
}

/* Nodes ------------------------------------------------------------------*/

struct uc_node *uc_node_create(cudnnBackendDescriptorType_t type)
{
    const struct uc_node_kind *kind = uc_node_kind(type);
    struct uc_node *node = kind ? calloc(1, sizeof *node) : NULL;

    if (node) {
        node->magic = UC_NODE;
        node->references = 1;
        node->kind = kind;
    }
    return node;
}

static struct uc_node *part(const struct uc_attribute *attribute, int64_t i)
{
    return ((struct uc_node **)(void *)attribute->values)[i];
}

static void clear(struct uc_attribute *attribute)
{
    if (attribute->type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        for (int64_t i = 0; i < attribute->count; i++) {
            uc_node_release(part(attribute, i));
        }
    }
    free(attribute->values);
    *attribute = (struct uc_attribute){ 0 };
}

void uc_node_release(struct uc_node *node)
{
    if (!node ||
        __atomic_sub_fetch(&node->references, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (int i = 0; i < UC_MOST_ATTRIBUTES; i++) {
        clear(&node->attributes[i]);
    }
    node->magic = UC_DEAD;
    free(node);
}

bool uc_node_is(const struct uc_node *node, cudnnBackendDescriptorType_t type)
{
    return node && node->kind->type == type;
}

/** The attribute's place; -1: this kind has none. */
static int place(const struct uc_node *node, cudnnBackendAttributeName_t name)
{
    for (int i = 0; i < UC_MOST_ATTRIBUTES; i++) {
        if (node->kind->attributes[i].most > 0 &&
            node->kind->attributes[i].name == name) {
            return i;
        }
    }
    return -1;
}

static cudnnStatus_t hold(struct uc_attribute *attribute,
                          cudnnBackendAttributeType_t type, int64_t count,
                          const void *values)
{
    size_t bytes = (size_t)count * size_of(type);
    struct uc_attribute made = { type, count, malloc(bytes + 1) };

    if (!made.values) {
        return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
    }
    if (count > 0) {
        memcpy(made.values, values, bytes);
    }
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count;
         i++) {
        __atomic_add_fetch(&part(&made, i)->references, 1, __ATOMIC_ACQ_REL);
    }
    clear(attribute);
    *attribute = made;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t uc_node_store(struct uc_node *node,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t count,
                            const void *values)
{
    return hold(&node->attributes[place(node, name)], type, count, values);
}

const void *uc_node_values(const struct uc_node *node,
                           cudnnBackendAttributeName_t name, int64_t *count)
{
    const struct uc_attribute *attribute = &node->attributes[place(node, name)];

    *count = attribute->count;
    return attribute->count > 0 ? attribute->values : NULL;
}

struct uc_node *uc_node_part(const struct uc_node *node,
                             cudnnBackendAttributeName_t name)
{
    const struct uc_attribute *attribute = &node->attributes[place(node, name)];

    return attribute->count > 0 ? part(attribute, 0) : NULL;
}

int64_t uc_node_number(const struct uc_node *node,
                       cudnnBackendAttributeName_t name, int64_t fallback)
{
    int64_t count;
    const void *values = uc_node_values(node, name, &count);

    if (values) {
        memcpy(&fallback, values, sizeof fallback);
    }
    return fallback;
}

int uc_node_choice(const struct uc_node *node, cudnnBackendAttributeName_t name,
                   int fallback)
{
    int64_t count;
    const void *values = uc_node_values(node, name, &count);

    if (values) {
        memcpy(&fallback, values, sizeof fallback);
    }
    return fallback;
}

/* The interface ----------------------------------------------------------*/

/** The node behind a program's pointer, or NULL and the status. */
static struct uc_node *enter(cudnnBackendDescriptor_t descriptor,
                             cudnnStatus_t *status)
{
    struct uc_node *node = descriptor;

    if (!node) {
        *status =
            uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no descriptor");
        return NULL;
    }
    *status = CUDNN_STATUS_BAD_PARAM;
    if (!uc_cudnn_alive(node, UC_NODE, "descriptor of the graph API")) {
        return NULL;
    }
    if (node->destroyed) {
        uc_double_misuse("a destroyed %s is used", node->kind->name);
        return NULL;
    }
    *status = CUDNN_STATUS_SUCCESS;
    return node;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *descriptor)
{
    struct uc_node *node = descriptor ? uc_node_create(type) : NULL;

    if (!node) {
        return uc_cudnn_fail(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
                             "no descriptor of type %d", (int)type);
    }
    uc_double_add(UC_DOUBLE_DESCRIPTORS, 1);
    uc_double_add(UC_DOUBLE_LIVE, 1);
    *descriptor = node;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
    cudnnStatus_t status;
    struct uc_node *node = enter(descriptor, &status);

    if (!node) {
        return status;
    }
    if (node->finalized &&
        uc_node_is(node, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)) {
        (void)uc_double_capture_forbids("destroying an execution plan");
    }
    node->destroyed = true;
    uc_node_release(node);
    uc_double_add(UC_DOUBLE_LIVE, -1);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
    cudnnStatus_t status;
    struct uc_node *node = enter(descriptor, &status);

    if (!node) {
        return status;
    }
    if (node->finalized) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM, "%s: finalized already",
                             node->kind->name);
    }
    status = node->kind->finalize(node);
    node->finalized = status == CUDNN_STATUS_SUCCESS;
    return status;
}

/** Parts that are there, finalized if they must be, choices of other knobs. */
static cudnnStatus_t check_parts(const struct uc_attribute_kind *kind,
                                 int64_t count, void *const *values)
{
    cudnnStatus_t status;

    for (int64_t i = 0; i < count; i++) {
        struct uc_node *node = enter(values[i], &status);

        if (!node) {
            return CUDNN_STATUS_BAD_PARAM;
        }
        if (kind->open && !node->finalized) {
            return uc_cudnn_fail(kind->open, "a %s is not finalized",
                                 node->kind->name);
        }
        for (int64_t j = 0; (kind->flags & UC_DISTINCT) && j < i; j++) {
            if (!uc_node_is(node, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR) ||
                uc_node_choice(node, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, 0) ==
                    uc_node_choice(values[j], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                                   0)) {
                return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM,
                                     "two choices of one knob");
            }
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count, const void *values)
{
    cudnnStatus_t status;
    struct uc_node *node = enter(descriptor, &status);
    const struct uc_attribute_kind *kind;
    int at = node ? place(node, name) : -1;

    if (!node) {
        return status;
    }
    if (node->finalized || at < 0) {
        return uc_cudnn_fail(
            CUDNN_STATUS_BAD_PARAM, "%s: %s %d", node->kind->name,
            at < 0 ? "has no attribute" : "is finalized, attribute", (int)name);
    }
    kind = &node->kind->attributes[at];
    if ((kind->flags & UC_READ_ONLY) ||
        (type != kind->type &&
         !((kind->flags & UC_OR_DOUBLE) && type == CUDNN_TYPE_DOUBLE))) {
        return uc_cudnn_fail(kind->refusal, "%s: attribute %d of type %d",
                             node->kind->name, (int)name, (int)type);
    }
    if (count > kind->most ||
        (!(kind->flags & UC_MAY_BE_EMPTY) && count == 0) || count < 0 ||
        (count > 0 && !values)) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM,
                             "%s: attribute %d: %lld values", node->kind->name,
                             (int)name, (long long)count);
    }
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        status = check_parts(kind, count, values);
        if (status != CUDNN_STATUS_SUCCESS) {
            return status;
        }
    }
    return hold(&node->attributes[at], type, count, values);
}

/** Makes a program's descriptor the same as ours. */
static cudnnStatus_t become(struct uc_node *to, const struct uc_node *from)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    if (to->kind != from->kind) {
        uc_double_misuse("a %s is asked for into a %s", from->kind->name,
                         to->kind->name);
        return CUDNN_STATUS_BAD_PARAM;
    }
    for (int i = 0; i < UC_MOST_ATTRIBUTES && status == CUDNN_STATUS_SUCCESS;
         i++) {
        const struct uc_attribute *a = &from->attributes[i];

        if (a->count > 0) {
            status = hold(&to->attributes[i], a->type, a->count, a->values);
        } else {
            clear(&to->attributes[i]);
        }
    }
    to->work = from->work;
    to->cost = from->cost;
    to->finalized = status == CUDNN_STATUS_SUCCESS;
    return status;
}

/** How many of the program's descriptors were filled, in *filled. */
static cudnnStatus_t get_parts(const struct uc_attribute_kind *kind,
                               const struct uc_attribute *attribute,
                               int64_t count, void **values, int64_t *filled)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

    *filled = 0;
    for (int64_t i = 0; i < count && status == CUDNN_STATUS_SUCCESS; i++) {
        struct uc_node *to = enter(values[i], &status);

        if (!to) {
            uc_double_misuse("a descriptor to be filled is missing");
            return status;
        }
        if (to->finalized && (kind->flags & UC_SKIPS_FULL)) {
            continue;
        }
        status = become(to, part(attribute, i));
        ++*filled;
    }
    return status;
}

cudnnStatus_t cudnnBackendGetAttribute(
    cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t wanted, int64_t *count,
    void *values)
{
    cudnnStatus_t status;
    struct uc_node *node = enter(descriptor, &status);
    const struct uc_attribute_kind *kind;
    const struct uc_attribute *attribute;
    int64_t filled;
    int at = node ? place(node, name) : -1;

    if (!node) {
        return status;
    }
    if (!node->finalized || at < 0) {
        return uc_cudnn_fail(node->finalized ? CUDNN_STATUS_BAD_PARAM
                                             : CUDNN_STATUS_NOT_INITIALIZED,
                             "%s: attribute %d is not there", node->kind->name,
                             (int)name);
    }
    kind = &node->kind->attributes[at];
    attribute = &node->attributes[at];
    if (type != (attribute->count > 0 ? attribute->type : kind->type)) {
        return uc_cudnn_fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
                             "%s: attribute %d is not of type %d",
                             node->kind->name, (int)name, (int)type);
    }
    filled = wanted < attribute->count ? wanted : attribute->count;
    if (wanted <= 0 || !values) {
        filled = kind->flags & UC_HIDES_COUNT ? 0 : attribute->count;
        filled += kind->flags & UC_PROMISES ? 4 : 0;
    } else if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        status = get_parts(kind, attribute, filled, values, &filled);
    } else if (filled > 0) {
        memcpy(values, attribute->values, (size_t)filled * size_of(type));
    }
    if (count) {
        *count = filled;
    }
    return status;
}
