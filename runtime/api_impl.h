/**
 * @file api_impl.h
 * What the files behind ucudnn.h share.
 *
 * Owner:   a plan file owns all that is here.
 * Threads: what changes after opening is atomic or under `lock`.
 */
#ifndef UC_RUNTIME_API_IMPL_H
#define UC_RUNTIME_API_IMPL_H

#include "runtime/match.h"
#include "runtime/ready.h"
#include "runtime/ucudnn.h"

/** Exported from the library, and in libucudnn.map. */
#define UC_API __attribute__((visibility("default")))

struct ucudnn_operation {
    struct ucudnn_plan_file *file;
    const struct uc_plan_operation *planned;
    /** Identical layers of a plan share the entry of the first, and are
        executed as that one is planned. */
    struct uc_entry *entry;
    char problem[UC_PROBLEM_TEXT];
};

struct ucudnn_plan_file {
    struct uc_table *table;
    struct ucudnn_operation *operations; /**< plan after plan */
    size_t *first;                       /**< by plan: its first operation */
    /** By entry: the first operation that has it. */
    const struct ucudnn_operation **by_entry;
    enum uc_match match;
    pthread_mutex_t lock;
    _Atomic bool attached; /**< the three below are set */
    struct uc_cuda cuda;
    struct uc_cudnn cudnn;
    struct uc_matcher matcher;
    _Atomic uint64_t executed, passed_through, not_found;
};

/** One line into a caller's buffer, which may be NULL, cut to size. */
void uc_api_tell(char *buffer, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
