#include "config.h"

#include "runtime/session.h"

#include "common/log.h"
#include "runtime/capture.h"
#include "runtime/execute.h"
#include "runtime/match.h"
#include "runtime/record.h"
#include "runtime/sight.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** What queries are answered for: they are not told the scalars. */
static const struct uc_scaling usual = { 1, 0 };

static struct uc_session session;
static _Atomic bool usable;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uc_matcher matcher;
static bool recording;
static pid_t process; /**< that opened the session, or promised a summary */

/** A child that inherited the session has made no calls of its own: CUDA
    does not live through a fork. */
static void finish(void)
{
    const char *plan = uc_settings_get()->plan;

    if (getpid() != process)
        return;
    uc_record_finish(uc_stats_graph_count());
    uc_stats_write(session.table, session.table != NULL ? plan
                                  : plan != NULL        ? "not usable"
                                                        : "none");
}

/** Of a process that has cuDNN, and made no call that we could see. */
static void finish_unseen(void)
{
    const char *plan;

    if (getpid() != process || atomic_load(&usable) || uc_stats_explicit() ||
        uc_cudnn_loaded("cudnnConvolutionForward") == NULL ||
        uc_settings_get()->disable)
        return;
    plan = uc_settings_get()->plan;
    uc_stats_open();
    uc_stats_write(NULL, plan == NULL              ? "none"
                         : access(plan, R_OK) == 0 ? plan
                                                   : "not usable");
}

/** A program that asks for no summary pays for reading one variable. */
__attribute__((constructor)) static void promise_summary(void)
{
    const char *stats = secure_getenv("UCUDNN_STATS");

    if (stats == NULL || stats[0] == '\0' || strcmp(stats, "0") == 0)
        return;
    process = getpid();
    atexit(finish_unseen);
}

static void open_plan(const struct uc_settings *settings)
{
    struct uc_error err;

    if (uc_cuda_open(&session.cuda, &err) != UC_OK ||
        uc_table_open(settings->plan, &session.table, &err) != UC_OK ||
        uc_matcher_init(&matcher, &session.cuda, &session.cudnn, session.table,
                        settings->match, &err) != UC_OK) {
        uc_table_free(session.table);
        session.table = NULL;
        uc_log(UC_LOG_OFF, "no plan is followed: %s", err.text);
        return;
    }
    matcher.level = UC_LOG_OFF; /* the plan was asked for by name */
    uc_log(UC_LOG_INFO, "following the plan %s", settings->plan);
}

/** What needs all of cuDNN 9; `cause`, unless NULL, says why it is not there
    and every call passes through. */
static void open_services(const struct uc_settings *settings, const char *cause)
{
    const bool wanted = settings->plan != NULL || settings->record != NULL;

    if (cause != NULL) {
        uc_log(wanted ? UC_LOG_OFF : UC_LOG_INFO, "%s: %s",
               settings->plan == NULL && wanted ? "nothing is recorded"
                                                : "no plan is followed",
               cause);
        return;
    }
    if (settings->plan != NULL)
        open_plan(settings);
    recording = settings->record != NULL && uc_record_open(settings->record);
}

/** False when there is no cuDNN: it may be loaded later. */
static bool open_session(void)
{
    const struct uc_settings *settings = uc_settings_get();
    struct uc_error err;
    const bool whole = uc_cudnn_attach(&session.cudnn, &err) == UC_OK;

    if (!whole && session.cudnn.ConvolutionForward == NULL) {
        uc_log(UC_LOG_ERROR, "%s", err.text);
        return false;
    }
    if (settings->disable)
        return true;
    process = getpid();
    open_services(settings, whole ? NULL : err.text);
    session.observed = recording || uc_sight != NULL ||
                       (session.table == NULL && uc_stats_on());
    uc_stats_open();
    if (settings->stats != NULL || recording)
        atexit(finish);
    return true;
}

struct uc_session *uc_session_get(void)
{
    if (!atomic_load_explicit(&usable, memory_order_acquire)) {
        pthread_mutex_lock(&open_lock);
        if (!atomic_load_explicit(&usable, memory_order_acquire) &&
            open_session())
            atomic_store_explicit(&usable, true, memory_order_release);
        pthread_mutex_unlock(&open_lock);
    }
    return atomic_load_explicit(&usable, memory_order_acquire) ? &session
                                                               : NULL;
}

void uc_session_observe(const struct uc_call *call, cudnnStatus_t status)
{
    if (recording && status == CUDNN_STATUS_SUCCESS)
        uc_record_call(&session.cudnn, call->operation, &call->descriptors);
    if (uc_sight != NULL)
        uc_sight_count(&uc_sight->convolutions);
    if (session.table == NULL && uc_stats_on())
        uc_stats_missed(NULL, NULL, 0, UC_MISS_NO_PLAN, 0, NULL);
}

/* Finding ----------------------------------------------------------------*/

/** A call, and what it turned out to be. */
struct lookup {
    struct uc_problem problem;
    int64_t batch;
    bool known;               /**< problem and batch are set */
    bool query;               /**< asks only: not counted */
    const void *alpha, *beta; /**< NULL when it only asks */
    struct uc_entry *entry;   /**< that queries are answered for, or NULL */
    struct uc_ready *ready;
    CUdevice device;
};

static struct uc_entry *miss(const struct lookup *l, enum uc_miss reason,
                             int64_t detail, const char *why)
{
    if (!l->query && uc_stats_on())
        uc_stats_missed(session.table, l->known ? &l->problem : NULL, l->batch,
                        reason, detail, why);
    return NULL;
}

static bool is_capturing(cudnnHandle_t handle, CUstream *stream)
{
    return uc_is_capturing(&session.cuda, &session.cudnn, handle, stream);
}

static bool make_ready(const struct uc_call *call, struct uc_entry *entry,
                       struct lookup *l)
{
    struct uc_scaling scaling = usual;
    CUstreamCaptureMode mode;
    CUstream stream;

    if (call->fused && !uc_ready_is_quick(entry))
        return miss(l, UC_MISS_FUSED, 0, "planned with engines") != NULL;
    if (l->alpha != NULL && l->beta != NULL)
        scaling = uc_scaling_read(&l->problem, l->alpha, l->beta);
    l->ready = uc_ready_find(entry, l->device, &scaling);
    if (l->ready == NULL && !uc_ready_is_full(entry, l->device)) {
        if (!uc_ready_is_quick(entry) && is_capturing(call->handle, &stream))
            return miss(l, UC_MISS_CAPTURE, 0, "first use") != NULL;
        mode = uc_capture_relax(&session.cuda);
        l->ready = uc_ready_make(entry, &session.cudnn, call->handle, l->device,
                                 &scaling);
        uc_capture_restore(&session.cuda, mode);
    }
    if (l->ready == NULL)
        return miss(l, UC_MISS_NOT_READY, 0,
                    uc_ready_is_full(entry, l->device) ? UC_READY_FULL
                                                       : "no memory") != NULL;
    if (l->ready->broken)
        return miss(l, UC_MISS_REFUSED, 0, "when prepared") != NULL;
    return true;
}

/** Scalars, which queries do not tell, can keep an entry from running that
    they are answered for. */
static bool answers_queries(const struct uc_entry *entry, CUdevice device)
{
    const struct uc_ready *ready = uc_ready_find(entry, device, &usual);

    return ready != NULL && !ready->broken;
}

static struct uc_entry *find(const struct uc_call *call, struct lookup *l)
{
    const char *why =
        uc_caller_problem(&session.cudnn, call->operation, &call->descriptors,
                          &l->problem, &l->batch);
    struct uc_entry *entry;
    bool ready;

    l->entry = NULL;
    l->known = why == NULL;
    if (!l->known)
        return miss(l, UC_MISS_CALLER, 0, why);
    entry = uc_table_find(session.table, &l->problem, l->batch);
    if (entry == NULL)
        return miss(l, UC_MISS_NOT_PLANNED, 0, NULL);
    entry = uc_matcher_choose(&matcher, entry, &l->device, &why);
    if (entry == NULL)
        return miss(l, UC_MISS_DEVICE, 0, why);
    ready = make_ready(call, entry, l);
    l->entry = ready || answers_queries(entry, l->device) ? entry : NULL;
    return ready ? entry : NULL;
}

const struct uc_entry *uc_session_find(const struct uc_call *call,
                                       size_t *workspace_bytes)
{
    struct uc_entry *entry;
    struct lookup l;
    CUstream stream;

    l.query = true;
    l.alpha = l.beta = NULL;
    if (session.table == NULL || (entry = find(call, &l)) == NULL)
        return NULL;
    if (entry->plan->mode != UC_PLAN_WD) {
        *workspace_bytes = (size_t)l.ready->workspace_bytes;
        return entry;
    }
    if (l.ready->workspace_bytes > entry->operation->workspace_bytes)
        return miss(&l, UC_MISS_WORKSPACE,
                    l.ready->workspace_bytes -
                        entry->operation->workspace_bytes,
                    "cuDNN asks for more than was planned");
    if (!is_capturing(call->handle, &stream) &&
        !uc_arena_reserve(&session.cuda, session.table, entry, l.device))
        return miss(&l, UC_MISS_WORKSPACE, l.ready->workspace_bytes,
                    "no memory for the plan's own");
    *workspace_bytes = 0;
    return entry;
}

/** The plan's own workspace in place of the program's. */
static bool take_segment(struct lookup *l, cudnnHandle_t handle,
                         struct uc_admission *a)
{
    CUstream stream = NULL;
    bool capturing = is_capturing(handle, &stream);
    enum uc_segment_lack lack;

    if (!capturing &&
        !uc_arena_reserve(&session.cuda, session.table, a->entry, l->device))
        return miss(l, UC_MISS_WORKSPACE, l->ready->workspace_bytes,
                    "no memory for the plan's own") != NULL;
    a->segment = uc_arena_acquire(&session.cuda, a->entry, l->device, stream,
                                  capturing, &lack);
    if (a->segment == NULL)
        return lack == UC_SEGMENT_GRAPH
                   ? miss(l, UC_MISS_GRAPH, 0, NULL) != NULL
                   : miss(l, UC_MISS_CAPTURE, 0,
                          lack == UC_SEGMENT_BUSY
                              ? "another stream may use its workspace"
                              : "first use") != NULL;
    a->workspace = uc_segment_address(a->segment);
    a->workspace_bytes = (size_t)a->entry->operation->workspace_bytes;
    return true;
}

bool uc_session_admit(const struct uc_call *call, const void *alpha,
                      const void *beta, const struct uc_tensors *tensors,
                      void *workspace, size_t workspace_bytes,
                      struct uc_admission *admission)
{
    struct uc_admission a = { .workspace = workspace,
                              .workspace_bytes = workspace_bytes };
    struct lookup l;
    CUstream stream;
    bool warm;

    l.query = false;
    l.alpha = alpha;
    l.beta = beta;
    admission->entry = NULL;
    if (alpha == NULL || beta == NULL)
        return false; /* a call that cuDNN refuses */
    if (session.table == NULL)
        return false;
    a.entry = find(call, &l);
    admission->entry = l.entry;
    if (a.entry == NULL)
        return false;
    a.ready = l.ready;
    if (!uc_is_aligned(tensors, workspace))
        return miss(&l, UC_MISS_ALIGNMENT, 0, NULL) != NULL;
    warm = uc_ready_is_warm(a.ready, l.device);
    if (!warm && is_capturing(call->handle, &stream))
        return miss(&l, UC_MISS_CAPTURE, 0, "first use") != NULL;
    if (a.entry->plan->mode == UC_PLAN_WD &&
        !take_segment(&l, call->handle, &a))
        return false;
    if (a.workspace == NULL)
        a.workspace_bytes = 0;
    if ((int64_t)a.workspace_bytes < a.ready->workspace_bytes) {
        if (a.segment != NULL)
            uc_arena_release(&session.cuda, a.segment, false);
        return miss(&l, UC_MISS_WORKSPACE,
                    a.ready->workspace_bytes - (int64_t)a.workspace_bytes,
                    NULL) != NULL;
    }
    a.device = l.device;
    a.mode = warm ? UC_CAPTURE_RELAXED : uc_capture_relax(&session.cuda);
    *admission = a;
    return true;
}

/* Passing through --------------------------------------------------------*/

static bool real_workspace(const struct uc_call *call, int algorithm,
                           size_t *bytes)
{
    const struct uc_cudnn *c = &session.cudnn;
    const struct uc_descriptors *d = &call->descriptors;

    switch (call->operation) {
    case UC_FORWARD:
        return c->GetConvolutionForwardWorkspaceSize(
                   call->handle, d->x, d->w, d->convolution, d->y,
                   (cudnnConvolutionFwdAlgo_t)algorithm,
                   bytes) == CUDNN_STATUS_SUCCESS;
    case UC_BACKWARD_DATA:
        return c->GetConvolutionBackwardDataWorkspaceSize(
                   call->handle, d->w, d->y, d->convolution, d->x,
                   (cudnnConvolutionBwdDataAlgo_t)algorithm,
                   bytes) == CUDNN_STATUS_SUCCESS;
    default:
        return c->GetConvolutionBackwardFilterWorkspaceSize(
                   call->handle, d->x, d->y, d->convolution, d->w,
                   (cudnnConvolutionBwdFilterAlgo_t)algorithm,
                   bytes) == CUDNN_STATUS_SUCCESS;
    }
}

static bool is_deterministic(enum uc_operation operation, int algorithm)
{
    const struct uc_kernel kernel = { .algorithm = algorithm };

    return !(uc_legacy_notes(&kernel, operation) & UC_NOTE_NONDETERMINISTIC);
}

/** The first algorithm that there is enough workspace for, or -1. */
static int first_fitting(const struct uc_call *call, bool deterministic,
                         size_t workspace_bytes)
{
    int count = uc_legacy_algorithm_count(call->operation);
    size_t bytes;

    for (int i = 0; i < count; i++)
        if (is_deterministic(call->operation, i) == deterministic &&
            real_workspace(call, i, &bytes) && bytes <= workspace_bytes)
            return i;
    return -1;
}

/** The program's algorithm, or one that there is enough workspace for. */
static int choose(const struct uc_call *call, int algorithm,
                  size_t workspace_bytes)
{
    size_t bytes;
    int other;

    if (real_workspace(call, algorithm, &bytes) && bytes <= workspace_bytes)
        return algorithm;
    other = first_fitting(call, true, workspace_bytes);
    if (other < 0)
        other = first_fitting(call, false, workspace_bytes);
    return other < 0 ? algorithm : other;
}

int uc_session_algorithm(const struct uc_call *call,
                         const struct uc_admission *admission, int algorithm,
                         size_t workspace_bytes)
{
    CUstreamCaptureMode mode;

    if (admission->entry == NULL)
        return algorithm;
    mode = uc_capture_relax(&session.cuda);
    algorithm = choose(call, algorithm, workspace_bytes);
    uc_capture_restore(&session.cuda, mode);
    return algorithm;
}

static void give_back(const struct uc_admission *admission, bool used)
{
    uc_capture_restore(&session.cuda, admission->mode);
    if (admission->segment != NULL)
        uc_arena_release(&session.cuda, admission->segment, used);
}

/** Of a call that was admitted, and so is known. */
static void miss_admitted(const struct uc_call *call, enum uc_miss reason,
                          const char *why)
{
    struct lookup l = { .query = false };

    l.known =
        uc_caller_problem(&session.cudnn, call->operation, &call->descriptors,
                          &l.problem, &l.batch) == NULL;
    miss(&l, reason, 0, why);
}

void uc_session_withdraw(const struct uc_call *call,
                         const struct uc_admission *admission, const char *why)
{
    give_back(admission, false);
    miss_admitted(call, UC_MISS_FUSED, why);
}

bool uc_session_finish(const struct uc_call *call,
                       const struct uc_admission *admission,
                       cudnnStatus_t status, bool started)
{
    struct uc_entry *entry = admission->entry;

    give_back(admission, started);
    if (status == CUDNN_STATUS_SUCCESS) {
        uc_ready_set_warm(admission->ready, admission->device);
        atomic_fetch_add_explicit(&entry->executed, 1, memory_order_relaxed);
        if (uc_sight != NULL)
            uc_sight_count(&uc_sight->planned);
        return true;
    }
    if (!atomic_exchange_explicit(&entry->told, true, memory_order_relaxed))
        uc_log(UC_LOG_WARNING, "%s %s %s: cuDNN: %s", entry->operation->layer,
               uc_operation_name(call->operation),
               started ? "fails half done" : "passes through",
               session.cudnn.GetErrorString(status));
    if (!started)
        miss_admitted(call, UC_MISS_REFUSED, "when run");
    return started;
}
