/**
 * @file match.h
 * Which plans of a table a device may use: those made for this GPU and this
 * cuDNN, unless less is asked for.
 *
 * Owner:   a matcher borrows the three tables it is given; free what it holds
 *          with uc_matcher_free().
 * Errors:  a reason in words, a constant. The first device that may use none
 *          of the plans is told in one line; what was judged besides is logged
 *          as information, once a device.
 * Threads: any; a device is judged once, whoever comes first.
 */
#ifndef UC_RUNTIME_MATCH_H
#define UC_RUNTIME_MATCH_H

#include "runtime/library.h"
#include "runtime/settings.h"
#include "runtime/table.h"

#include <pthread.h>

struct uc_matcher {
    const struct uc_cuda *cuda;
    const struct uc_cudnn *cudnn;
    const struct uc_table *table;
    enum uc_match match;
    enum uc_log_level level; /**< of that line; UC_LOG_WARNING at first */
    bool told;               /**< the line is out; under the lock */
    pthread_mutex_t lock;
    /** By device, for each plan the field that differs or NULL, which means
        that it may be used; NULL: not judged yet. */
    _Atomic(const char **) differences[UC_DEVICES];
};

/** UC_EINTERNAL: no lock to be had. */
enum uc_status uc_matcher_init(struct uc_matcher *matcher,
                               const struct uc_cuda *cuda,
                               const struct uc_cudnn *cudnn,
                               const struct uc_table *table,
                               enum uc_match match, struct uc_error *err);
void uc_matcher_free(struct uc_matcher *matcher);

/** Whether the current device, which goes to *device, may use the plan. */
bool uc_matcher_allows(struct uc_matcher *matcher, const struct uc_plan *plan,
                       CUdevice *device);

/**
 * The first of an entry and its older copies that the current device may use
 * and that device; or NULL and in *why the field in which the first differs,
 * which is NULL when no device is current.
 */
struct uc_entry *uc_matcher_choose(struct uc_matcher *matcher,
                                   struct uc_entry *entry, CUdevice *device,
                                   const char **why);

#endif
