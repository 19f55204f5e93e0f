/* What the environment asks for, the log and the counters. */
#include "config.h"

#include "tests/double/state.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t settings_lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded; /* atomic */
static struct uc_double_settings settings;
static uint64_t counters[UC_DOUBLE_COUNTERS]; /* atomic */

void uc_double_lock(void)
{
    pthread_mutex_lock(&lock);
}

void uc_double_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/** A test that asks for nonsense must not pass: say it and abort. */
void uc_double_bad_environment(const char *name, const char *value)
{
    fprintf(stderr, "ucudnn double: bad %s: \"%s\"\n", name, value);
    abort();
}

static uint64_t number(const char *name, uint64_t fallback, uint64_t most)
{
    const char *text = getenv(name);
    char *end;
    unsigned long long value;

    if (!text) {
        return fallback;
    }
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || value > most) {
        uc_double_bad_environment(name, text);
    }
    return value;
}

static void text(const char *name, const char *fallback, char *to, size_t size)
{
    const char *value = getenv(name);

    if (!value) {
        value = fallback;
    }
    if (strlen(value) >= size) {
        uc_double_bad_environment(name, value);
    }
    strcpy(to, value);
}

static void load(void)
{
    settings.devices = (int)number("UC_DOUBLE_DEVICES", 1, UC_DOUBLE_DEVICES);
    text("UC_DOUBLE_DEVICE_NAME", "Double H200", settings.names,
         sizeof settings.names);
    settings.memory_bytes = number("UC_DOUBLE_MEMORY", 1 << 30, INT64_MAX);
    settings.cuda_version =
        (int)number("UC_DOUBLE_CUDA_VERSION", CUDA_VERSION, INT32_MAX);
    settings.cudnn_version = number("UC_DOUBLE_CUDNN_VERSION", 0, INT32_MAX);
    settings.alignment = number("UC_DOUBLE_ALIGNMENT", 16, 4096);
    if (settings.alignment == 0) {
        settings.alignment = 1;
    }
    settings.max_elements =
        (int64_t)number("UC_DOUBLE_MAX_ELEMENTS", INT32_MAX, INT32_MAX);
    settings.empty = number("UC_DOUBLE_EMPTY", 0, 1) == 1;
    text("UC_DOUBLE_LOG", "", settings.log, sizeof settings.log);
    uc_double_faults_load(getenv("UC_DOUBLE_FAULT"));
}

const struct uc_double_settings *uc_double_settings(void)
{
    if (!__atomic_load_n(&loaded, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&settings_lock);
        if (!loaded) {
            load();
            __atomic_store_n(&loaded, true, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&settings_lock);
    }
    return &settings;
}

void uc_double_reset(void)
{
    uc_double_context_reset();
    uc_double_memory_reset();
    uc_double_streams_reset();
    memset(counters, 0, sizeof counters);
    __atomic_store_n(&loaded, false, __ATOMIC_RELEASE);
}

uint64_t uc_double_count(enum uc_double_counter counter)
{
    return __atomic_load_n(&counters[counter], __ATOMIC_RELAXED);
}

void uc_double_add(enum uc_double_counter counter, int64_t amount)
{
    __atomic_add_fetch(&counters[counter], (uint64_t)amount, __ATOMIC_RELAXED);
}

/* One write() a line: processes that share the file do not mix lines. */
static void log_line(const char *line)
{
    char whole[1200];
    const char *path = uc_double_settings()->log;
    int length;
    int file;

    if (!*path) {
        return;
    }
    length = snprintf(whole, sizeof whole, "%ld %s\n", (long)getpid(), line);
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 || write(file, whole, (size_t)length) != length) {
        fprintf(stderr, "ucudnn double: %s: %s\n", path, strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
}

void uc_double_log(const char *format, ...)
{
    char line[1024];
    va_list args;

    if (*uc_double_settings()->log) {
        va_start(args, format);
        vsnprintf(line, sizeof line, format, args);
        va_end(args);
        log_line(line);
    }
}

void uc_double_misuse(const char *format, ...)
{
    char line[1024] = "misuse ";
    va_list args;

    va_start(args, format);
    vsnprintf(line + 7, sizeof line - 7, format, args);
    va_end(args);
    fprintf(stderr, "ucudnn double: %s\n", line + 7);
    uc_double_add(UC_DOUBLE_MISUSES, 1);
    log_line(line);
}

/** The last line of a process that ends in order. */
__attribute__((destructor)) static void summary(void)
{
    if (!__atomic_load_n(&loaded, __ATOMIC_ACQUIRE)) {
        return; /* nobody used the double */
    }
    uc_double_log(
        "summary allocations=%llu frees=%llu synchronisations=%llu "
        "copies=%llu sets=%llu launches=%llu queries=%llu searches=%llu "
        "convolutions=%llu executions=%llu heuristics=%llu plans=%llu "
        "descriptors=%llu live=%llu misuses=%llu",
        (unsigned long long)uc_double_count(UC_DOUBLE_ALLOCATIONS),
        (unsigned long long)uc_double_count(UC_DOUBLE_FREES),
        (unsigned long long)uc_double_count(UC_DOUBLE_SYNCHRONISATIONS),
        (unsigned long long)uc_double_count(UC_DOUBLE_COPIES),
        (unsigned long long)uc_double_count(UC_DOUBLE_SETS),
        (unsigned long long)uc_double_count(UC_DOUBLE_LAUNCHES),
        (unsigned long long)uc_double_count(UC_DOUBLE_QUERIES),
        (unsigned long long)uc_double_count(UC_DOUBLE_SEARCHES),
        (unsigned long long)uc_double_count(UC_DOUBLE_CONVOLUTIONS),
        (unsigned long long)uc_double_count(UC_DOUBLE_EXECUTIONS),
        (unsigned long long)uc_double_count(UC_DOUBLE_HEURISTICS),
        (unsigned long long)uc_double_count(UC_DOUBLE_PLANS),
        (unsigned long long)uc_double_count(UC_DOUBLE_DESCRIPTORS),
        (unsigned long long)uc_double_count(UC_DOUBLE_LIVE),
        (unsigned long long)uc_double_count(UC_DOUBLE_MISUSES));
    uc_double_memory_reset();
    uc_double_streams_reset();
}
