#include "config.h"

#include "runtime/record.h"

#include "common/beside.h"
#include "common/log.h"
#include "common/write.h"
#include "runtime/record_rounds.h"
#include "runtime/record_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_SHAPES = 4096,
    SLOTS = 2 * MAX_SHAPES, /**< a power of two */
    MAX_BATCHES = 256,
    MAX_FILES = 16,              /**< of one program */
    MAX_REASONS = 8,             /**< the last is for all others */
    PROMPT_SHAPES = 256,         /**< so many are written at once */
    PATIENCE_NS = 500 * 1000000, /**< the time between writes of more */
};

/** What one batch runs. */
struct batch {
    int64_t batch;
    struct uc_rounds rounds;
    uint64_t written; /**< hash of the text in its file; 0: none */
    bool beside;      /**< its file is FILE.N.json */
};

/** One shape at one batch. */
struct shape {
    struct uc_problem key; /**< canonical; its operation is none */
    struct uc_problem described;
    const char *fault; /**< why it cannot be described, or NULL */
    struct batch *batch;
    struct uc_round_count counts[UC_OPERATIONS];
    struct shape *next; /**< in order of appearance */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool recording;
static char path[PATH_MAX]; /**< absolute */
static char name[64];
static char witness[PATH_MAX]; /**< to be emptied at a failure; "": none */

static struct shape *slots[SLOTS];
static struct shape *first, **last = &first;
static size_t shape_count;
static struct batch batches[MAX_BATCHES];
static size_t batch_count;

static struct {
    const char *why;
    int64_t calls;
} left_out[MAX_REASONS];

static bool dirty;        /**< an operation is not in a file yet */
static int64_t calls;     /**< all of them */
static int64_t look_at;   /**< calls at which to look for changes */
static int64_t looked_ns; /**< when it was last written */
static bool failed;       /**< a file could not be written, and it is told */

/* Files ------------------------------------------------------------------*/

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/** `ucudnn-plan record` sees by its witness that something is missing. */
static void tell_failure(const char *file, const char *why)
{
    const char *name_part = strrchr(witness, '/');

    if (failed)
        return;
    uc_log(UC_LOG_OFF, "UCUDNN_RECORD=%.300s: %s", file, why);
    if (name_part != NULL && strncmp(name_part, "/.ucudnn-", 9) == 0)
        (void)!truncate(witness, 0);
    failed = true;
}

/** The path without ".json". */
static int stem_length(void)
{
    size_t length = strlen(path);

    return (int)(length > 5 && strcmp(path + length - 5, ".json") == 0
                     ? length - 5
                     : length);
}

/** False when it does not fit. */
static bool file_of(const struct batch *b, bool beside, char file[PATH_MAX])
{
    int stem = stem_length(), n;

    if (!beside)
        n = snprintf(file, PATH_MAX, "%s", path);
    else
        n = snprintf(file, PATH_MAX, "%.*s.%" PRId64 "%s", stem, path, b->batch,
                     path + stem);
    return n > 0 && n < PATH_MAX;
}

/** Write beside the file and rename. */
static bool replace(const char *file, const char *text, size_t length)
{
    char temporary[PATH_MAX + UC_BESIDE_NAME];
    const char *why = uc_beside_refusal(file);
    int fd, cause;

    if (why != NULL) {
        tell_failure(file, why);
        return false;
    }
    fd = uc_beside_create(file, UC_BESIDE_LOOSE, temporary, sizeof temporary);
    if (fd < 0) {
        tell_failure(file, strerror(errno));
        return false;
    }
    cause = uc_write_all(fd, text, length);
    if (close(fd) != 0 && cause == 0)
        cause = errno;
    if (cause == 0 && rename(temporary, file) != 0)
        cause = errno;
    if (cause == 0)
        return true;
    unlink(temporary);
    tell_failure(file, strerror(cause));
    return false;
}

/* Descriptions -----------------------------------------------------------*/

static uint64_t hash_bytes(const void *bytes, size_t length)
{
    uint64_t h = 0xCBF29CE484222325u;

    for (size_t i = 0; i < length; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001B3u;
    return h | 1;
}

/** Where the batches are, as far as 255 bytes reach. */
static void describe(struct batch *const *files, size_t count, size_t at,
                     char *text, size_t size)
{
    int used = snprintf(text, size, "recorded from %.60s",
                        program_invocation_short_name);

    for (size_t i = 0; i < count && used > 0 && (size_t)used < size; i++)
        if (i != at)
            used +=
                snprintf(text + used, size - (size_t)used, "%s%" PRId64,
                         i == (at == 0 ? 1 : 0) ? "; other batches: " : ", ",
                         files[i]->batch);
}

/** The batch's layers that can be described; *list is the caller's. */
static size_t list_layers(const struct batch *b, struct uc_record_layer **list)
{
    struct uc_record_layer *layers = calloc(shape_count + 1, sizeof *layers);
    int64_t divisor = 0;
    size_t count = 0;

    *list = layers;
    if (layers == NULL)
        return 0;
    for (const struct shape *s = first; s != NULL; s = s->next)
        if (s->batch == b && s->fault == NULL)
            for (int op = 0; op < UC_OPERATIONS; op++)
                divisor = uc_rounds_divisor(divisor, &s->counts[op]);
    for (const struct shape *s = first; s != NULL; s = s->next) {
        if (s->batch != b || s->fault != NULL)
            continue;
        layers[count].problem = s->described;
        for (int op = 0; op < UC_OPERATIONS; op++)
            layers[count].repeat[op] =
                uc_rounds_repeat(&b->rounds, &s->counts[op], divisor);
        count++;
    }
    return count;
}

/** Write a batch's file when it would change. False: it could not be. */
static bool write_batch(struct batch *const *files, size_t count, size_t at)
{
    struct batch *b = files[at];
    struct uc_record_layer *layers;
    size_t layer_count = list_layers(b, &layers), length = 0;
    char description[256], file[PATH_MAX], *text = NULL;
    FILE *out = open_memstream(&text, &length);
    bool done = false;
    uint64_t hash;

    if (out == NULL || layers == NULL) {
        tell_failure(path, "no memory");
        if (out != NULL)
            fclose(out);
        goto out;
    }
    describe(files, count, at, description, sizeof description);
    uc_record_print(out, name, description, b->batch, layers, layer_count);
    if (fclose(out) != 0) {
        tell_failure(path, "no memory");
        goto out;
    }
    if (!file_of(b, at > 0, file)) {
        tell_failure(path, "name too long");
        goto out;
    }
    hash = hash_bytes(text, length);
    done = b->written == hash && b->beside == (at > 0);
    if (!done && replace(file, text, length)) {
        b->written = hash;
        b->beside = at > 0;
        done = true;
    }
out:
    free(text);
    free(layers);
    return done;
}

/** Batches that have something to describe, those with most calls first. */
static size_t sort_batches(struct batch *list[MAX_BATCHES])
{
    size_t count = 0;

    for (size_t i = 0; i < batch_count; i++) {
        struct batch *b = &batches[i];
        size_t at;

        if (b->rounds.calls == 0)
            continue;
        for (at = count++; at > 0; at--) {
            if (list[at - 1]->rounds.calls >= b->rounds.calls)
                break;
            list[at] = list[at - 1];
        }
        list[at] = b;
    }
    return count;
}

static void write_files(void)
{
    struct batch *list[MAX_BATCHES];
    size_t count = sort_batches(list);
    char file[PATH_MAX];
    bool done = true;

    for (size_t i = 0; i < count; i++) {
        struct batch *b = list[i];
        bool wanted = i < MAX_FILES, was_beside = b->beside;

        if (wanted)
            done = write_batch(list, count, i) && done;
        /* It is in another file now, or in none. */
        if (was_beside && (!wanted || !b->beside) && file_of(b, true, file)) {
            unlink(file);
            b->beside = false;
            b->written = wanted ? b->written : 0;
        }
    }
    dirty = dirty && !done && !failed;
    looked_ns = now_ns();
    look_at = 2 * calls;
}

/* Calls ------------------------------------------------------------------*/

static void leave_out(const char *why)
{
    size_t i = 0;

    while (i < MAX_REASONS - 1 && left_out[i].why != NULL &&
           strcmp(left_out[i].why, why) != 0)
        i++;
    if (i == MAX_REASONS - 1)
        why = "other reasons";
    if (left_out[i].why == NULL)
        uc_log(UC_LOG_INFO, "not recorded: a convolution: %s", why);
    left_out[i].why = why;
    left_out[i].calls++;
}

static struct batch *find_batch(int64_t batch)
{
    for (size_t i = 0; i < batch_count; i++)
        if (batches[i].batch == batch)
            return &batches[i];
    if (batch_count == MAX_BATCHES)
        return NULL;
    batches[batch_count].batch = batch;
    return &batches[batch_count++];
}

static struct shape **find_slot(const struct uc_problem *key, int64_t batch)
{
    size_t i = (size_t)(hash_bytes(key, sizeof *key) ^ (uint64_t)batch);

    for (;; i++) {
        struct shape **slot = &slots[i % SLOTS];

        if (*slot == NULL || ((*slot)->batch->batch == batch &&
                              memcmp(&(*slot)->key, key, sizeof *key) == 0))
            return slot;
    }
}

/** NULL, and left out, when there is no room. */
static struct shape *add_shape(struct shape **slot,
                               const struct uc_problem *key, int64_t batch)
{
    struct shape *shape =
        shape_count < MAX_SHAPES ? calloc(1, sizeof *shape) : NULL;

    if (shape == NULL || (shape->batch = find_batch(batch)) == NULL) {
        free(shape);
        leave_out("too many shapes or batches");
        return NULL;
    }
    memcpy(&shape->key, key, sizeof *key);
    shape->fault = uc_record_describable(key, batch, &shape->described);
    *slot = shape;
    *last = shape;
    last = &shape->next;
    shape_count++;
    return shape;
}

static void count_call(enum uc_operation operation, struct uc_problem *problem,
                       int64_t batch)
{
    struct shape **slot, *shape;
    struct uc_round_count *count;

    problem->operation = UC_FORWARD;
    slot = find_slot(problem, batch);
    shape = *slot != NULL ? *slot : add_shape(slot, problem, batch);
    if (shape == NULL)
        return;
    if (shape->fault != NULL) {
        leave_out(shape->fault);
        return;
    }
    count = &shape->counts[operation];
    dirty = dirty || count->calls == 0;
    uc_rounds_count(&shape->batch->rounds, count);
    calls++;
    if (dirty ? shape_count <= PROMPT_SHAPES ||
                    now_ns() - looked_ns >= PATIENCE_NS
              : calls >= look_at)
        write_files();
}

void uc_record_call(const struct uc_cudnn *cudnn, enum uc_operation operation,
                    const struct uc_descriptors *descriptors)
{
    struct uc_problem problem;
    int64_t batch;
    const char *why =
        uc_caller_problem(cudnn, operation, descriptors, &problem, &batch);

    if (!recording)
        return;
    pthread_mutex_lock(&lock);
    if (why != NULL)
        leave_out(why);
    else
        count_call(operation, &problem, batch);
    pthread_mutex_unlock(&lock);
}

/* Opening and closing ----------------------------------------------------*/

/** "net" of "/tmp/net.json". */
static void set_name(void)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    int length = (int)(path + stem_length() - base);

    snprintf(name, sizeof name, "%.*s", length > 0 ? length : 0, base);
}

bool uc_record_open(const char *file)
{
    char folder[PATH_MAX] = "", target[PATH_MAX];
    const char *seen_by = getenv("UCUDNN_RECORD_WITNESS"), *why;

    if (seen_by != NULL && strlen(seen_by) < sizeof witness)
        memcpy(witness, seen_by, strlen(seen_by) + 1);
    if (file[0] != '/' && getcwd(folder, sizeof folder) == NULL) {
        tell_failure(file, strerror(errno));
        return false;
    }
    if (snprintf(path, sizeof path, "%s%s%s", folder,
                 folder[0] != '\0' ? "/" : "", file) >= (int)sizeof path) {
        tell_failure(file, "name too long");
        return false;
    }
    if (realpath(path, target) != NULL) /* as a link says */
        memcpy(path, target, strlen(target) + 1);
    if ((why = uc_beside_refusal(path)) != NULL) {
        tell_failure(file, why);
        return false;
    }
    set_name();
    recording = true;
    return true;
}

/** One line that says what the files lack. */
static void tell_left_out(void)
{
    for (size_t i = 0; i < MAX_REASONS && left_out[i].why != NULL; i++)
        uc_log(UC_LOG_OFF,
               "record: %" PRId64 " calls are left out, which a description "
               "cannot say: %s",
               left_out[i].calls, left_out[i].why);
}

void uc_record_finish(int64_t graph_executions)
{
    struct timespec limit;

    if (!recording)
        return;
    /* Whoever exits from a signal handler may have interrupted the owner. */
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 2;
    if (pthread_mutex_timedlock(&lock, &limit) != 0)
        return;
    if (calls > 0)
        write_files();
    else
        uc_log(UC_LOG_OFF,
               "record: %s made no convolution call that can be recorded; "
               "%" PRId64 " executions went through cuDNN's graph API",
               program_invocation_short_name, graph_executions);
    tell_left_out();
    recording = false;
    pthread_mutex_unlock(&lock);
}
