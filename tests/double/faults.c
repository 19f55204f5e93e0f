/* UC_DOUBLE_FAULT: "ACTION[:KEY=VALUE,...]" between semicolons. */
#include "config.h"

#include "tests/double/state.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum action {
    FAIL,
    ABORT,
    CRASH,
    HANG,
    HANG_LATER,
    POISON,
    WRONG,
    INEXACT,
    NOT_A_NUMBER,
    WRITE_OUTPUT,
    WRITE_WORKSPACE,
    SLOW,
    WORKSPACE,
    OUT_OF_MEMORY,
    ACTIONS
};

static const char *const action_names[ACTIONS] = {
    "fail",       "abort",         "crash",           "hang",
    "hang-later", "poison",        "wrong",           "inexact",
    "nan",        "write-output",  "write-workspace", "slow",
    "workspace",  "out-of-memory",
};

static const char *const operation_names[UC_DOUBLE_OPERATIONS] = {
    "forward",
    "backward-data",
    "backward-filter",
};

static const char *const call_names[] = { "", "build", "run", "advise" };

enum { ANY = -1, MOST = 16, CALLS = 4 };

struct fault {
    enum action action;
    int operation; /* or ANY */
    int algorithm; /* or UC_DOUBLE_ENGINE + engine, or ANY */
    int call;      /* enum uc_double_stage; runs, unless it is said */
    int64_t batch; /* or ANY */
    int beta;      /* 0: beta is zero, 1: it is not, or ANY */
    uint64_t at;   /* the match that it happens to, 0: to each */
    int status;    /* FAIL */
    double factor; /* SLOW, WORKSPACE (which does not know beta) */
    uint64_t matches;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault faults[MOST];
static size_t fault_count;

const char *uc_double_operation_name(enum uc_double_operation operation)
{
    return operation_names[operation];
}

static int find(const char *word, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(word, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static bool set(struct fault *fault, const char *key, const char *value)
{
    char *end;
    double number = strtod(value, &end);
    bool numeric = end != value && !*end && number >= 0;

    if (strcmp(key, "algorithm") == 0 && strncmp(value, "eng", 3) == 0) {
        number = strtod(value + 3, &end) + UC_DOUBLE_ENGINE;
        fault->algorithm = (int)number;
        return end != value + 3 && !*end && number >= UC_DOUBLE_ENGINE;
    }
    if (strcmp(key, "call") == 0) {
        fault->call = find(value, call_names, CALLS);
        return fault->call > UC_DOUBLE_QUERY;
    }
    if (strcmp(key, "op") == 0) {
        fault->operation = find(value, operation_names, UC_DOUBLE_OPERATIONS);
        return fault->operation >= 0;
    }
    if (strcmp(key, "algorithm") == 0) {
        fault->algorithm = (int)number;
    } else if (strcmp(key, "n") == 0) {
        fault->batch = (int64_t)number;
    } else if (strcmp(key, "beta") == 0) {
        fault->beta = number != 0;
    } else if (strcmp(key, "at") == 0) {
        fault->at = (uint64_t)number;
    } else if (strcmp(key, "status") == 0) {
        fault->status = (int)number;
    } else if (strcmp(key, "factor") == 0) {
        fault->factor = number;
    } else {
        return false;
    }
    return numeric;
}

static bool parse(char *text, struct fault *fault)
{
    char *save;
    char *keys = strchr(text, ':');
    int action;

    if (keys) {
        *keys++ = '\0';
    }
    action = find(text, action_names, ACTIONS);
    if (action < 0) {
        return false;
    }
    *fault = (struct fault){ .action = (enum action)action,
                             .operation = ANY,
                             .algorithm = ANY,
                             .call = UC_DOUBLE_RUN,
                             .batch = ANY,
                             .beta = ANY,
                             .status = 5000,
                             .factor = 2 };
    for (char *pair = keys ? strtok_r(keys, ",", &save) : NULL; pair;
         pair = strtok_r(NULL, ",", &save)) {
        char *value = strchr(pair, '=');

        if (!value) {
            return false;
        }
        *value++ = '\0';
        if (!set(fault, pair, value)) {
            return false;
        }
    }
    return true;
}

void uc_double_faults_load(const char *text)
{
    char copy[1024];
    char *save;

    fault_count = 0;
    if (!text) {
        return;
    }
    if (strlen(text) >= sizeof copy) {
        uc_double_bad_environment("UC_DOUBLE_FAULT", text);
    }
    strcpy(copy, text);
    for (char *spec = strtok_r(copy, ";", &save); spec;
         spec = strtok_r(NULL, ";", &save)) {
        if (fault_count == MOST || !parse(spec, &faults[fault_count])) {
            uc_double_bad_environment("UC_DOUBLE_FAULT", text);
        }
        fault_count++;
    }
}

static bool matches(const struct fault *fault, int operation, int algorithm,
                    int64_t batch, double beta)
{
    return (fault->operation == ANY || fault->operation == operation) &&
           (fault->algorithm == ANY || fault->algorithm == algorithm) &&
           (fault->batch == ANY || fault->batch == batch) &&
           (fault->beta == ANY || fault->beta == (beta != 0));
}

static void apply(const struct fault *fault, struct uc_double_effects *effects)
{
    switch (fault->action) {
    case FAIL:
        effects->status = fault->status;
        break;
    case ABORT:
        effects->abort = true;
        break;
    case CRASH:
        effects->crash = true;
        break;
    case HANG:
        effects->hang = true;
        break;
    case HANG_LATER:
        effects->hang_later = true;
        break;
    case POISON:
        effects->poison = true;
        break;
    case WRONG:
        effects->wrong = true;
        break;
    case INEXACT:
        effects->inexact = true;
        break;
    case NOT_A_NUMBER:
        effects->nan = true;
        break;
    case WRITE_OUTPUT:
        effects->write_output = true;
        break;
    case WRITE_WORKSPACE:
        effects->write_workspace = true;
        break;
    case SLOW: /* somewhere between 1 and the factor */
        effects->time_factor =
            1 + (fault->factor - 1) *
                    (double)(fault->matches * 2654435761U % 1024) / 1024;
        break;
    case WORKSPACE:
    case OUT_OF_MEMORY:
    case ACTIONS:
        break;
    }
}

void uc_double_effects(enum uc_double_operation operation, int algorithm,
                       int64_t batch, double beta, enum uc_double_stage stage,
                       struct uc_double_effects *effects)
{
    uc_double_settings();
    *effects =
        (struct uc_double_effects){ .time_factor = 1, .workspace_factor = 1 };
    if (fault_count == 0) {
        return;
    }
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < fault_count; i++) {
        struct fault *fault = &faults[i];

        if (fault->action == OUT_OF_MEMORY ||
            !matches(fault, operation, algorithm, batch, beta)) {
            continue;
        }
        if (fault->action == WORKSPACE) {
            effects->workspace_factor = fault->factor;
        } else if (fault->call == (int)stage) {
            fault->matches++;
            if (fault->at == 0 || fault->at == fault->matches) {
                apply(fault, effects);
            }
        }
    }
    pthread_mutex_unlock(&lock);
}

bool uc_double_allocation_fails(uint64_t number)
{
    uc_double_settings();
    for (size_t i = 0; i < fault_count; i++) {
        if (faults[i].action == OUT_OF_MEMORY &&
            (faults[i].at == 0 || faults[i].at == number)) {
            return true;
        }
    }
    return false;
}
