#include "config.h"

#include "runtime/stats.h"

#include "common/bytes.h"
#include "common/write.h"
#include "runtime/settings.h"
#include "runtime/sight.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Slots are a power of two, and half of them stay empty. */
enum { SLOTS = 512, KINDS = SLOTS / 2, SHOWN = 64, REASON_TEXT = 160 };

/** What distinguishes one kind of miss; every byte is determined. */
struct key {
    struct uc_problem problem; /**< zeros: not known */
    int64_t batch;
    const char *why; /**< a constant or NULL */
    int64_t miss;
};

enum slot_state { SLOT_EMPTY, SLOT_FILLING, SLOT_READY };

struct slot {
    _Atomic int state;
    struct key key;
    const char *nearest; /**< UC_MISS_NOT_PLANNED: the field that differs */
    _Atomic int64_t calls;
    _Atomic int64_t most; /**< largest detail */
    /** The doctor's counter of its reason; NULL: not asked for yet. */
    _Atomic int64_t *_Atomic seen;
};

static struct slot slots[SLOTS];
static _Atomic int kinds;
static _Atomic int64_t other_calls; /**< that found no room */
static _Atomic int64_t passed_calls;
static _Atomic int64_t graph_calls;
static char path[PATH_MAX]; /**< of the summary; "": stderr */

bool uc_stats_on(void)
{
    const struct uc_settings *settings = uc_settings_get();

    return settings->stats != NULL || settings->log >= UC_LOG_INFO ||
           uc_sight != NULL;
}

void uc_stats_open(void)
{
    const char *name = uc_settings_get()->stats;
    char folder[PATH_MAX];
    size_t length = 0;

    if (name == NULL || strcmp(name, "1") == 0)
        return;
    if (name[0] != '/' && getcwd(folder, sizeof folder) != NULL)
        length = strlen(folder) + 1;
    if (length + strlen(name) >= sizeof path) {
        uc_log(UC_LOG_OFF,
               "UCUDNN_STATS=%.300s: name too long; the summary goes to "
               "stderr",
               name);
        return;
    }
    if (length > 0) {
        memcpy(path, folder, length - 1);
        path[length - 1] = '/';
    }
    memcpy(path + length, name, strlen(name) + 1);
}

/* Kinds of misses --------------------------------------------------------*/

static void describe(const struct slot *slot, char text[REASON_TEXT])
{
    const char *why = slot->key.why;
    char bytes[UC_BYTES_TEXT];
    int64_t most = atomic_load(&slot->most);

    uc_bytes_print(most, bytes);
    switch ((enum uc_miss)slot->key.miss) {
    case UC_MISS_NO_PLAN:
        snprintf(text, REASON_TEXT, "there is no plan to follow");
        break;
    case UC_MISS_NOT_PLANNED:
        snprintf(text, REASON_TEXT,
                 slot->nearest == NULL
                     ? "not planned"
                     : "not planned: the nearest that is differs in %s",
                 slot->nearest);
        break;
    case UC_MISS_DEVICE:
        snprintf(text, REASON_TEXT, "planned for another device%s%s",
                 why != NULL ? ", which differs in " : "",
                 why != NULL ? why : "");
        break;
    case UC_MISS_CALLER:
        snprintf(text, REASON_TEXT, "plans do not know its %s",
                 why != NULL ? why : "kind");
        break;
    case UC_MISS_WORKSPACE:
        snprintf(text, REASON_TEXT, "workspace too small%s%s%s%s",
                 most > 0 ? " by up to " : "", most > 0 ? bytes : "",
                 why != NULL ? ": " : "", why != NULL ? why : "");
        break;
    case UC_MISS_ALIGNMENT:
        snprintf(text, REASON_TEXT, "tensors are not aligned to 16 bytes");
        break;
    case UC_MISS_CAPTURE:
        snprintf(text, REASON_TEXT, "under stream capture: %s",
                 why != NULL ? why : "first use");
        break;
    case UC_MISS_GRAPH:
        snprintf(text, REASON_TEXT,
                 "its workspace belongs to a graph that another stream "
                 "captured");
        break;
    case UC_MISS_FUSED:
        snprintf(text, REASON_TEXT, "fused with bias and activation: %s",
                 why != NULL ? why : "not as planned");
        break;
    case UC_MISS_NOT_READY:
        snprintf(text, REASON_TEXT, "not made ready: %s",
                 why != NULL ? why : "no memory");
        break;
    case UC_MISS_REFUSED:
    default:
        snprintf(text, REASON_TEXT, "cuDNN refused it %s",
                 why != NULL ? why : "");
        break;
    }
}

static void describe_key(const struct key *key, char text[UC_PROBLEM_TEXT + 32])
{
    size_t used;

    if (key->problem.spatial == 0) {
        snprintf(text, UC_PROBLEM_TEXT + 32, "any convolution");
        return;
    }
    uc_problem_print(&key->problem, text);
    used = strlen(text);
    snprintf(text + used, UC_PROBLEM_TEXT + 32 - used, " batch %" PRId64,
             key->batch);
}

static void announce(const struct slot *slot)
{
    char operation[UC_PROBLEM_TEXT + 32], reason[REASON_TEXT];

    if (uc_settings_get()->log < UC_LOG_INFO)
        return;
    describe_key(&slot->key, operation);
    describe(slot, reason);
    uc_log(UC_LOG_INFO, "%.400s passes through: %s", operation, reason);
}

static size_t hash(const struct key *key)
{
    uint64_t words[sizeof *key / 8], h = 0;

    _Static_assert(sizeof *key % 8 == 0, "a key is whole words");
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        h = (h ^ words[i]) * 0x9E3779B97F4A7C15u;
    return (size_t)(h ^ h >> 32);
}

/** Whoever fills a slot only copies a key. */
static int wait_filled(struct slot *slot)
{
    int state;

    do
        state = atomic_load_explicit(&slot->state, memory_order_acquire);
    while (state == SLOT_FILLING);
    return state;
}

/** Which goes through the whole plan: not while others wait for a slot. */
static const char *nearest_to(const struct uc_table *table,
                              const struct key *key)
{
    return key->miss == UC_MISS_NOT_PLANNED && table != NULL
               ? uc_table_nearest(table, &key->problem, key->batch)
               : NULL;
}

/** The slot of a key, new or not; NULL: there is no room. */
static struct slot *find_slot(const struct uc_table *table,
                              const struct key *key, bool *fresh)
{
    *fresh = false;
    for (size_t i = hash(key), n = 0; n < SLOTS; i++, n++) {
        struct slot *slot = &slots[i % SLOTS];
        int state = wait_filled(slot);

        if (state == SLOT_EMPTY) {
            const char *nearest;

            if (atomic_load(&kinds) >= KINDS)
                return NULL;
            nearest = nearest_to(table, key);
            if (atomic_compare_exchange_strong(&slot->state, &state,
                                               SLOT_FILLING)) {
                slot->key = *key;
                slot->nearest = nearest;
                atomic_fetch_add(&kinds, 1);
                atomic_store_explicit(&slot->state, SLOT_READY,
                                      memory_order_release);
                *fresh = true;
                return slot;
            }
            wait_filled(slot);
        }
        if (memcmp(&slot->key, key, sizeof *key) == 0)
            return slot;
    }
    return NULL;
}

/** Tell the doctor; of a slot whose `most` is not set when it is new. */
static void see(struct slot *slot)
{
    _Atomic int64_t *seen = atomic_load(&slot->seen);
    char reason[REASON_TEXT];

    if (seen == NULL) {
        describe(slot, reason);
        seen = uc_sight_reason(reason);
        if (seen == NULL)
            seen = &uc_sight->other_misses;
        atomic_store(&slot->seen, seen);
    }
    uc_sight_count(seen);
}

void uc_stats_missed(const struct uc_table *table,
                     const struct uc_problem *problem, int64_t batch,
                     enum uc_miss miss, int64_t detail, const char *why)
{
    struct key key;
    struct slot *slot;
    int64_t most;
    bool fresh;

    memset(&key, 0, sizeof key);
    if (problem != NULL) {
        memcpy(&key.problem, problem, sizeof key.problem);
        key.batch = batch;
    }
    key.miss = (int64_t)miss;
    key.why = why;
    atomic_fetch_add_explicit(&passed_calls, 1, memory_order_relaxed);
    slot = find_slot(table, &key, &fresh);
    if (slot == NULL) {
        atomic_fetch_add_explicit(&other_calls, 1, memory_order_relaxed);
        if (uc_sight != NULL)
            uc_sight_count(&uc_sight->other_misses);
        return;
    }
    if (uc_sight != NULL)
        see(slot);
    atomic_fetch_add_explicit(&slot->calls, 1, memory_order_relaxed);
    most = atomic_load_explicit(&slot->most, memory_order_relaxed);
    while (detail > most &&
           !atomic_compare_exchange_weak(&slot->most, &most, detail))
        ;
    if (fresh)
        announce(slot);
}

void uc_stats_graph(void)
{
    atomic_fetch_add_explicit(&graph_calls, 1, memory_order_relaxed);
}

int64_t uc_stats_graph_count(void)
{
    return atomic_load_explicit(&graph_calls, memory_order_relaxed);
}

static _Atomic bool explicit_calls;

void uc_stats_set_explicit(void)
{
    atomic_store_explicit(&explicit_calls, true, memory_order_relaxed);
}

bool uc_stats_explicit(void)
{
    return atomic_load_explicit(&explicit_calls, memory_order_relaxed);
}

/** How many calls there were, of whatever kind. */
static int64_t count_seen(const struct uc_table *table)
{
    int64_t seen = atomic_load(&passed_calls) + uc_stats_graph_count();
    size_t count = 0;
    const struct uc_entry *entries =
        table != NULL ? uc_table_entries(table, &count) : NULL;

    for (size_t i = 0; i < count; i++)
        seen += atomic_load(&entries[i].executed);
    return seen;
}

/* The summary ------------------------------------------------------------*/

struct output {
    int fd;
    int cause; /**< errno of the first write that failed, or 0 */
    size_t used;
    char text[4096];
};

static void flush(struct output *out)
{
    if (out->cause == 0)
        out->cause = uc_write_all(out->fd, out->text, out->used);
    out->used = 0;
}

/** At most 1000 bytes a line. */
__attribute__((format(printf, 2, 3))) static void put(struct output *out,
                                                      const char *format, ...)
{
    va_list args;
    int n;

    if (sizeof out->text - out->used < 1000)
        flush(out);
    va_start(args, format);
    n = vsnprintf(out->text + out->used, 1000, format, args);
    va_end(args);
    if (n > 0)
        out->used += n < 1000 ? (size_t)n : 999;
}

static void put_planned(struct output *out, const struct uc_table *table)
{
    size_t count = 0, ran = 0;
    int64_t executed = 0;
    const struct uc_entry *entries =
        table != NULL ? uc_table_entries(table, &count) : NULL;

    for (size_t i = 0; i < count; i++) {
        int64_t n =
            atomic_load_explicit(&entries[i].executed, memory_order_relaxed);

        executed += n;
        ran += n > 0;
    }
    put(out, "  planned         %8zu operations, %zu of them ran\n", count,
        ran);
    put(out, "  executed        %8" PRId64 " calls as planned\n", executed);
}

/** Ready slots, those with the most calls first. */
static size_t sort_slots(const struct slot *list[SLOTS], int64_t calls[SLOTS])
{
    size_t count = 0;

    for (size_t i = 0; i < SLOTS; i++) {
        int64_t n = atomic_load_explicit(&slots[i].calls, memory_order_relaxed);
        size_t at;

        if (atomic_load_explicit(&slots[i].state, memory_order_acquire) !=
            SLOT_READY)
            continue;
        for (at = count++; at > 0 && calls[at - 1] < n; at--) {
            list[at] = list[at - 1];
            calls[at] = calls[at - 1];
        }
        list[at] = &slots[i];
        calls[at] = n;
    }
    return count;
}

static void put_misses(struct output *out)
{
    const struct slot *list[SLOTS];
    int64_t calls[SLOTS];
    size_t count = sort_slots(list, calls), rest = 0;
    int64_t rest_calls = atomic_load(&other_calls);

    put(out, "  passed through  %8" PRId64 " calls\n",
        atomic_load(&passed_calls));
    for (size_t i = 0; i < count; i++) {
        char operation[UC_PROBLEM_TEXT + 32], reason[REASON_TEXT];

        if (i >= SHOWN) {
            rest++;
            rest_calls += calls[i];
            continue;
        }
        describe_key(&list[i]->key, operation);
        describe(list[i], reason);
        put(out, "  %8" PRId64 "  %s: %s\n", calls[i], operation, reason);
    }
    if (rest_calls > 0)
        put(out, "  %8" PRId64 "  more, of %s%zu other kinds\n", rest_calls,
            atomic_load(&other_calls) > 0 ? "over " : "", rest);
}

/** A pipe that nobody reads fails at once: a program's end waits for none. */
static int open_file(void)
{
    return open(
        path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
        0666);
}

static void tell_failure(int cause)
{
    uc_log(UC_LOG_OFF, "UCUDNN_STATS=%.300s: %s", path, strerror(cause));
}

void uc_stats_write(const struct uc_table *table, const char *plan)
{
    static atomic_flag written = ATOMIC_FLAG_INIT;
    struct output out = { .fd = STDERR_FILENO };
    const bool seen = count_seen(table) > 0;

    if (uc_settings_get()->stats == NULL || atomic_flag_test_and_set(&written))
        return;
    if (path[0] != '\0') {
        out.fd = open_file();
        if (out.fd < 0) {
            tell_failure(errno);
            return;
        }
    }
    put(&out, "ucudnn: %.100s[%ld], plan %.500s\n",
        program_invocation_short_name, (long)getpid(), plan);
    if (seen || table != NULL) {
        put_planned(&out, table);
        put_misses(&out);
    }
    if (!seen)
        put(&out,
            "  0 calls seen; \"ucudnn-plan doctor -- COMMAND\" says why\n");
    if (uc_stats_graph_count() > 0)
        put(&out,
            "  graph API       %8" PRId64 " executions, which no plan knows\n",
            uc_stats_graph_count());
    flush(&out);
    if (path[0] == '\0')
        return;
    if (close(out.fd) != 0 && out.cause == 0)
        out.cause = errno;
    if (out.cause != 0)
        tell_failure(out.cause);
}
