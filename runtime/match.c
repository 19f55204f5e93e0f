#include "config.h"

#include "runtime/match.h"

#include "common/log.h"
#include "runtime/describe.h"

#include <stdlib.h>
#include <string.h>

enum uc_status uc_matcher_init(struct uc_matcher *matcher,
                               const struct uc_cuda *cuda,
                               const struct uc_cudnn *cudnn,
                               const struct uc_table *table,
                               enum uc_match match, struct uc_error *err)
{
    memset(matcher, 0, sizeof *matcher);
    matcher->cuda = cuda;
    matcher->cudnn = cudnn;
    matcher->table = table;
    matcher->match = match;
    matcher->level = UC_LOG_WARNING;
    if (pthread_mutex_init(&matcher->lock, NULL) != 0)
        return uc_fail(err, UC_EINTERNAL, "no lock to be had");
    return UC_OK;
}

void uc_matcher_free(struct uc_matcher *matcher)
{
    for (int i = 0; i < UC_DEVICES; i++)
        free(atomic_load(&matcher->differences[i]));
    pthread_mutex_destroy(&matcher->lock);
}

/** NULL: may be used; else the field that differs. */
static const char *judge(const struct uc_plan *plan,
                         const struct uc_environment *here, enum uc_match match)
{
    switch (match) {
    case UC_MATCH_ANY:
        return NULL;
    case UC_MATCH_DEVICE:
        return uc_device_difference(&plan->environment.device, &here->device);
    case UC_MATCH_EXACT:
    default:
        return uc_followed_difference(&plan->environment, here);
    }
}

/** One line, on the newest plan, for the first device that may use none; all
    else is for those who want to know. */
static void tell(struct uc_matcher *m, CUdevice device,
                 const char *const *differences)
{
    size_t count, used = 0;
    const struct uc_plan *plans = uc_table_plans(m->table, &count);
    enum uc_log_level level;

    for (size_t i = 0; i < count; i++)
        used += differences[i] == NULL;
    level = used > 0 || m->told ? UC_LOG_INFO : m->level;
    for (size_t i = count; i-- > 0;) {
        if (differences[i] == NULL)
            continue;
        uc_log(level, "the plan of %s is not used on GPU %d: it differs in %s",
               plans[i].network, (int)device, differences[i]);
        level = UC_LOG_INFO;
    }
    m->told = m->told || used == 0;
}

/** Once a device: compare it with every plan. */
static const char **judge_all(struct uc_matcher *m, CUdevice device)
{
    size_t count;
    const struct uc_plan *plans = uc_table_plans(m->table, &count);
    const char **list = calloc(count + 1, sizeof *list);
    struct uc_environment here = { 0 };

    if (list == NULL || uc_describe_device(m->cuda, device, &here.device)) {
        free(list);
        return NULL;
    }
    here.versions.cudnn = (int)m->cudnn->GetVersion();
    for (size_t i = 0; i < count; i++)
        list[i] = judge(&plans[i], &here, m->match);
    tell(m, device, list);
    return list;
}

/** NULL: there is no current device, or nothing is known of it. */
static const char *const *differences_here(struct uc_matcher *m,
                                           CUdevice *current)
{
    const char **list;
    CUdevice device;

    if (m->cuda->CtxGetDevice(&device) != CUDA_SUCCESS || device < 0 ||
        device >= UC_DEVICES)
        return NULL;
    *current = device;
    list = atomic_load_explicit(&m->differences[device], memory_order_acquire);
    if (list != NULL)
        return list;
    pthread_mutex_lock(&m->lock);
    list = atomic_load_explicit(&m->differences[device], memory_order_acquire);
    if (list == NULL) {
        list = judge_all(m, device);
        atomic_store_explicit(&m->differences[device], list,
                              memory_order_release);
    }
    pthread_mutex_unlock(&m->lock);
    return list;
}

static size_t index_of(const struct uc_matcher *m, const struct uc_plan *plan)
{
    size_t count;

    return (size_t)(plan - uc_table_plans(m->table, &count));
}

bool uc_matcher_allows(struct uc_matcher *matcher, const struct uc_plan *plan,
                       CUdevice *device)
{
    const char *const *differences = differences_here(matcher, device);

    return differences != NULL && differences[index_of(matcher, plan)] == NULL;
}

struct uc_entry *uc_matcher_choose(struct uc_matcher *matcher,
                                   struct uc_entry *entry, CUdevice *device,
                                   const char **why)
{
    const char *const *differences = differences_here(matcher, device);

    *why = NULL;
    if (differences == NULL)
        return NULL;
    *why = differences[index_of(matcher, entry->plan)];
    while (entry != NULL && differences[index_of(matcher, entry->plan)] != NULL)
        entry = entry->next_copy;
    return entry;
}
