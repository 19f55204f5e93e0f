#include "config.h"

#include "planner/known_bad.h"

#include "common/array.h"
#include "common/text.h"
#include "planner/data.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    enum uc_operation operation;
    int spatial;
    int engine;
    int from, before; /**< versions of cuDNN */
    char reason[160];
};

struct uc_known_bad {
    struct rule *rules;
    size_t count;
};

/** The next word of a line, which is cut up; NULL at its end. */
static char *next_word(char **line)
{
    char *word = *line + strspn(*line, " \t");
    size_t length = strcspn(word, " \t");

    if (length == 0)
        return NULL;
    *line = word + length;
    if (**line != '\0')
        *(*line)++ = '\0';
    return word;
}

/** Digits up to `stop`, at most 4 of them; moves the text behind `stop`. */
static bool scan(const char **text, char stop, int *value)
{
    int digits = 0;

    *value = 0;
    for (; **text >= '0' && **text <= '9' && digits < 5; (*text)++, digits++)
        *value = *value * 10 + (**text - '0');
    if (digits == 0 || digits > 4 || **text != stop)
        return false;
    *text += stop != '\0';
    return true;
}

/** "9.15.0" as cudnnGetVersion() says it. */
static bool scan_version(const char *text, int *version)
{
    int major, minor, patch;

    if (!scan(&text, '.', &major) || !scan(&text, '.', &minor) ||
        !scan(&text, '\0', &patch) || minor > 99 || patch > 99)
        return false;
    *version = major * 10000 + minor * 100 + patch;
    return true;
}

static bool scan_spatial(const char *text, int *spatial)
{
    *spatial = text[0] - '0';
    return *spatial >= 1 && *spatial <= UC_MAX_SPATIAL &&
           strcmp(text + 1, "d") == 0;
}

static bool scan_engine(const char *text, int *engine)
{
    if (strncmp(text, "eng", 3) != 0)
        return false;
    text += 3;
    return scan(&text, '\0', engine);
}

/** NULL, or what is wrong with a line. */
static const char *parse(char *line, struct rule *rule)
{
    char *operation = next_word(&line), *spatial = next_word(&line);
    char *engine = next_word(&line), *from = next_word(&line);
    char *before = next_word(&line);

    line += strspn(line, " \t");
    if (before == NULL || *line == '\0')
        return "operation, dimensions, engine, two versions and a reason are "
               "needed";
    if (!uc_operation_parse(operation, &rule->operation))
        return "no such operation";
    if (!scan_spatial(spatial, &rule->spatial))
        return "dimensions are 1d, 2d or 3d";
    if (!scan_engine(engine, &rule->engine))
        return "an engine is a number behind eng";
    if (!scan_version(from, &rule->from))
        return "the first version is not like 9.8.0";
    rule->before = INT_MAX;
    if (strcmp(before, "-") != 0 && !scan_version(before, &rule->before))
        return "the second version is neither like 9.15.0 nor -";
    if (rule->before <= rule->from)
        return "the second version does not follow the first";
    if (strlen(line) >= sizeof rule->reason ||
        !uc_text_is_line(line, strlen(line)))
        return "the reason is no line of at most 159 bytes";
    memcpy(rule->reason, line, strlen(line) + 1);
    return NULL;
}

static enum uc_status read_lines(FILE *file, const char *path,
                                 struct uc_known_bad *list,
                                 struct uc_error *err)
{
    void *rules = NULL;
    char line[512];
    enum uc_status status = UC_OK;

    for (int number = 1; status == UC_OK && fgets(line, sizeof line, file);
         number++) {
        size_t length = strlen(line);
        const char *fault = NULL;
        struct rule *rule;

        if (length > 0 && line[length - 1] == '\n')
            line[--length] = '\0';
        else if (!feof(file))
            fault = "too long";
        if (fault == NULL &&
            (line[0] == '#' || line[strspn(line, " \t")] == '\0'))
            continue;
        rule = uc_array_append(&rules, &list->count, sizeof *rule);
        list->rules = rules;
        if (rule == NULL)
            return uc_no_memory(err);
        if (fault == NULL)
            fault = parse(line, rule);
        if (fault != NULL)
            status =
                uc_fail(err, UC_EINPUT, "%.256s:%d: %s", path, number, fault);
    }
    if (status == UC_OK && ferror(file))
        status = uc_fail(err, UC_EFILE, "%.256s: %s", path, strerror(errno));
    return status;
}

enum uc_status uc_known_bad_read(const char *path, struct uc_known_bad **out,
                                 struct uc_error *err)
{
    struct uc_known_bad *list = NULL;
    FILE *file = fopen(path, "re");
    enum uc_status status;

    if (file == NULL)
        return uc_fail(err, UC_EFILE, "%.256s: %s", path, strerror(errno));
    list = calloc(1, sizeof *list);
    status =
        list == NULL ? uc_no_memory(err) : read_lines(file, path, list, err);
    fclose(file);
    if (status != UC_OK) {
        uc_known_bad_free(list);
        return status;
    }
    *out = list;
    return UC_OK;
}

enum uc_status uc_known_bad_shipped(unsigned apis, struct uc_known_bad **out,
                                    struct uc_error *err)
{
    char path[PATH_MAX];
    enum uc_status status;

    if ((apis & 1u << UC_API_GRAPH) == 0) {
        *out = NULL;
        return UC_OK;
    }
    status = uc_data_file("known-bad-engines", path, sizeof path, err);
    return status == UC_OK ? uc_known_bad_read(path, out, err) : status;
}

void uc_known_bad_free(struct uc_known_bad *list)
{
    if (list == NULL)
        return;
    free(list->rules);
    free(list);
}

const char *uc_known_bad_reason(const struct uc_known_bad *list, int cudnn,
                                const struct uc_problem *problem,
                                const struct uc_kernel *kernel)
{
    if (list == NULL || kernel->api != UC_API_GRAPH)
        return NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct rule *rule = &list->rules[i];

        if (rule->operation == problem->operation &&
            rule->spatial == problem->spatial &&
            rule->engine == kernel->engine && cudnn >= rule->from &&
            cudnn < rule->before)
            return rule->reason;
    }
    return NULL;
}
