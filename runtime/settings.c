#include "config.h"

#include "runtime/settings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct uc_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/**
 * A copy, since the program may change its environment; NULL: not set. None
 * of these is heeded with privileges that the caller does not have.
 */
static const char *text(const char *name)
{
    const char *value = secure_getenv(name);

    return value == NULL || value[0] == '\0' ? NULL : strdup(value);
}

static bool flag(const char *name)
{
    const char *value = secure_getenv(name);

    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

static void read_log(void)
{
    const char *value = secure_getenv("UCUDNN_LOG");

    if (value == NULL || value[0] == '\0')
        return;
    if (!uc_log_parse(value, &settings.log)) {
        settings.log = UC_LOG_WARNING;
        uc_log_set_level(settings.log);
        uc_log(UC_LOG_WARNING,
               "UCUDNN_LOG=%.32s: off, error, warning, info and debug are "
               "levels",
               value);
    }
    uc_log_set_level(settings.log);
}

static void read_match(void)
{
    static const char *const names[] = { "exact", "device", "any" };
    const char *value = secure_getenv("UCUDNN_MATCH");

    if (value == NULL || value[0] == '\0')
        return;
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            settings.match = (enum uc_match)i;
            return;
        }
    uc_log(UC_LOG_WARNING, "UCUDNN_MATCH=%.32s: exact, device or any", value);
}

static void read_all(void)
{
    settings.disable = flag("UCUDNN_DISABLE");
    read_log();
    read_match();
    settings.plan = text("UCUDNN_PLAN");
    settings.record = text("UCUDNN_RECORD");
    settings.stats = flag("UCUDNN_STATS") ? text("UCUDNN_STATS") : NULL;
}

const struct uc_settings *uc_settings_get(void)
{
    pthread_once(&once, read_all);
    return &settings;
}
