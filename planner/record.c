#include "config.h"

#include "planner/record.h"

#include "common/date.h"
#include "common/real.h"
#include "common/text.h"
#include "db/plan.h"
#include "db/profile.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/** What a field is read from and written to. */
struct place {
    const struct uc_record_field *field;
    void *value;
    enum uc_operation *operation;
};

/* -------------------------------------------------------------- numbers */

enum { NUMBER = 32 }; /**< room for the text of any number */

/** The whole text is a decimal number that is not negative. */
static bool read_real(const char *text, bool single, double *value)
{
    char *end;

    if (strspn(text, "0123456789.e+-") != strlen(text) &&
        strcmp(text, "inf") != 0)
        return false;
    *value = single ? (double)strtof(text, &end) : strtod(text, &end);
    return end != text && *end == '\0' && *value >= 0;
}

static bool read_number(const char *text, int64_t most, int64_t *value)
{
    int64_t sum = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' ||
            __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, *text - '0', &sum))
            return false;
    }
    *value = sum;
    return sum <= most;
}

static enum uc_status number_at(const char *text, int64_t most, int64_t *value,
                                struct uc_error *err)
{
    if (read_number(text, most, value))
        return UC_OK;
    return uc_fail(err, UC_EINPUT,
                   "\"%.64s\" is no whole number from 0 to %" PRId64, text,
                   most);
}

/* --------------------------------------------------------------- values */

static bool text_empty(const struct place *at)
{
    return *(const char *)at->value == '\0';
}

static void text_print(FILE *out, const struct place *at)
{
    fputs(at->value, out);
}

static enum uc_status text_parse(const char *text, const struct place *at,
                                 struct uc_error *err)
{
    size_t length = strlen(text);

    if (length >= at->field->size)
        return uc_fail(err, UC_EINPUT, "longer than %zu bytes",
                       at->field->size - 1);
    if (!uc_text_is_line(text, length))
        return uc_fail(err, UC_EINPUT, "no line of UTF-8");
    memcpy(at->value, text, length + 1);
    return UC_OK;
}

static void int_print(FILE *out, const struct place *at)
{
    fprintf(out, "%d", *(const int *)at->value);
}

static enum uc_status int_parse(const char *text, const struct place *at,
                                struct uc_error *err)
{
    int64_t value;
    enum uc_status status = number_at(text, INT_MAX, &value, err);

    if (status == UC_OK)
        *(int *)at->value = (int)value;
    return status;
}

static bool number_empty(const struct place *at)
{
    return *(const int64_t *)at->value < 0;
}

static void number_print(FILE *out, const struct place *at)
{
    fprintf(out, "%" PRId64, *(const int64_t *)at->value);
}

static enum uc_status number_parse(const char *text, const struct place *at,
                                   struct uc_error *err)
{
    return number_at(text, INT64_MAX, at->value, err);
}

static void flag_print(FILE *out, const struct place *at)
{
    putc(*(const bool *)at->value ? '1' : '0', out);
}

static enum uc_status flag_parse(const char *text, const struct place *at,
                                 struct uc_error *err)
{
    int64_t value;
    enum uc_status status = number_at(text, 1, &value, err);

    if (status == UC_OK)
        *(bool *)at->value = value == 1;
    return status;
}

static bool real_empty(const struct place *at)
{
    return !(*(const double *)at->value >= 0);
}

static void real_print(FILE *out, const struct place *at)
{
    char text[NUMBER];

    uc_real_print(*(const double *)at->value, false, text);
    fputs(text, out);
}

static enum uc_status real_parse(const char *text, const struct place *at,
                                 struct uc_error *err)
{
    if (!read_real(text, false, at->value))
        return uc_fail(err, UC_EINPUT, "\"%.64s\" is no number of at least 0",
                       text);
    return UC_OK;
}

static void date_print(FILE *out, const struct place *at)
{
    char text[UC_DATE_TEXT];

    uc_date_print(*(const int64_t *)at->value, text);
    fputs(text, out);
}

static enum uc_status date_parse(const char *text, const struct place *at,
                                 struct uc_error *err)
{
    return uc_date_parse(text, at->value, err);
}

static void problem_print(FILE *out, const struct place *at)
{
    char text[UC_PROBLEM_TEXT];

    uc_problem_print(at->value, text);
    fputs(text, out);
}

static enum uc_status problem_parse(const char *text, const struct place *at,
                                    struct uc_error *err)
{
    struct uc_problem *problem = at->value;
    enum uc_status status = uc_problem_parse(text, problem, err);

    if (status == UC_OK)
        *at->operation = problem->operation;
    return status;
}

static void kernel_print(FILE *out, const struct place *at)
{
    char text[UC_KERNEL_TEXT];

    uc_kernel_print(at->value, *at->operation, text);
    fputs(text, out);
}

static enum uc_status kernel_parse(const char *text, const struct place *at,
                                   struct uc_error *err)
{
    return uc_kernel_parse(text, *at->operation, at->value, err);
}

static void api_print(FILE *out, const struct place *at)
{
    fputs(uc_api_name(*(const enum uc_api *)at->value), out);
}

static enum uc_status api_parse(const char *text, const struct place *at,
                                struct uc_error *err)
{
    for (int i = 0; i < UC_APIS; i++)
        if (strcmp(text, uc_api_name((enum uc_api)i)) == 0) {
            *(enum uc_api *)at->value = (enum uc_api)i;
            return UC_OK;
        }
    return uc_fail(err, UC_EINPUT, "\"%.64s\" is no API", text);
}

static void outcome_print(FILE *out, const struct place *at)
{
    fputs(uc_outcome_name(*(const enum uc_outcome *)at->value), out);
}

static enum uc_status outcome_parse(const char *text, const struct place *at,
                                    struct uc_error *err)
{
    if (!uc_outcome_parse(text, at->value))
        return uc_fail(err, UC_EINPUT, "\"%.64s\" is no outcome", text);
    return UC_OK;
}

static bool samples_empty(const struct place *at)
{
    return ((const struct uc_measurement *)at->value)->samples == 0;
}

static void samples_print(FILE *out, const struct place *at)
{
    const struct uc_measurement *m = at->value;
    char text[NUMBER];

    for (int i = 0; i < m->samples; i++) {
        uc_real_print((double)m->sample_ns[i], true, text);
        fprintf(out, "%s%s", i > 0 ? "," : "", text);
    }
}

static enum uc_status samples_parse(const char *text, const struct place *at,
                                    struct uc_error *err)
{
    struct uc_measurement *m = at->value;
    char one[NUMBER];

    for (m->samples = 0; m->samples < UC_MAX_SAMPLES;) {
        size_t length = strcspn(text, ",");
        double value;

        if (length >= sizeof one)
            break;
        memcpy(one, text, length);
        one[length] = '\0';
        if (!read_real(one, true, &value))
            break;
        m->sample_ns[m->samples++] = (float)value;
        if (text[length] == '\0')
            return UC_OK;
        text += length + 1;
    }
    return uc_fail(err, UC_EINPUT,
                   "not 1 to %d numbers of at least 0 between commas",
                   UC_MAX_SAMPLES);
}

static void mode_print(FILE *out, const struct place *at)
{
    fputs(*(const enum uc_plan_mode *)at->value == UC_PLAN_WR ? "wr" : "wd",
          out);
}

static enum uc_status mode_parse(const char *text, const struct place *at,
                                 struct uc_error *err)
{
    enum uc_plan_mode *mode = at->value;

    if (strcmp(text, "wr") != 0 && strcmp(text, "wd") != 0)
        return uc_fail(err, UC_EINPUT, "\"%.64s\" is neither wr nor wd", text);
    *mode = text[1] == 'r' ? UC_PLAN_WR : UC_PLAN_WD;
    return UC_OK;
}

/** What there is to do with a type; without `empty` it always has a value. */
static const struct {
    void (*print)(FILE *out, const struct place *at);
    enum uc_status (*parse)(const char *text, const struct place *at,
                            struct uc_error *err);
    bool (*empty)(const struct place *at);
} types[] = {
    [UC_RECORD_TEXT] = { text_print, text_parse, text_empty },
    [UC_RECORD_INT] = { int_print, int_parse, NULL },
    [UC_RECORD_NUMBER] = { number_print, number_parse, number_empty },
    [UC_RECORD_FLAG] = { flag_print, flag_parse, NULL },
    [UC_RECORD_REAL] = { real_print, real_parse, real_empty },
    [UC_RECORD_DATE] = { date_print, date_parse, NULL },
    [UC_RECORD_PROBLEM] = { problem_print, problem_parse, NULL },
    [UC_RECORD_KERNEL] = { kernel_print, kernel_parse, NULL },
    [UC_RECORD_API] = { api_print, api_parse, NULL },
    [UC_RECORD_OUTCOME] = { outcome_print, outcome_parse, NULL },
    [UC_RECORD_SAMPLES] = { samples_print, samples_parse, samples_empty },
    [UC_RECORD_MODE] = { mode_print, mode_parse, NULL },
};

/* -------------------------------------------------------------- records */

static struct place place(const struct uc_record_field *field, void *value,
                          enum uc_operation *operation)
{
    return (struct place){ field, (char *)value + field->offset, operation };
}

void uc_record_print(FILE *out, const struct uc_record *record,
                     const void *value, enum uc_operation operation)
{
    fputs(record->word, out);
    for (const struct uc_record_field *f = record->fields; f->name; f++) {
        struct place at = place(f, (void *)(uintptr_t)value, &operation);

        if (f->presence == UC_OPTIONAL && types[f->type].empty != NULL &&
            types[f->type].empty(&at))
            continue;
        fprintf(out, "\t%s=", f->name);
        types[f->type].print(out, &at);
    }
    putc('\n', out);
}

bool uc_record_is(const struct uc_record *record, char *line, char **fields)
{
    size_t length = strlen(record->word);

    if (strncmp(line, record->word, length) != 0 ||
        (line[length] != '\t' && line[length] != '\0'))
        return false;
    *fields = line + length;
    return true;
}

/** The value when *fields begins with this field, which is cut off. */
static char *take(char **fields, const char *name)
{
    size_t length = strlen(name);
    char *value;

    if (**fields != '\t' || strncmp(*fields + 1, name, length) != 0 ||
        (*fields)[1 + length] != '=')
        return NULL;
    value = *fields + length + 2;
    *fields = value + strcspn(value, "\t");
    return value;
}

enum uc_status uc_record_parse(const struct uc_record *record, char *fields,
                               void *value, enum uc_operation *operation,
                               struct uc_error *err)
{
    const char *old = NULL; /* an added field that it lacks, as all then do */
    bool added = false;

    for (const struct uc_record_field *f = record->fields; f->name; f++) {
        struct place at = place(f, value, operation);
        char *text = take(&fields, f->name);
        char end = *fields;
        enum uc_status status;

        if (f->presence == UC_ADDED && text != NULL && old != NULL)
            return uc_fail(err, UC_EINPUT, "%s: \"%s\" without \"%s\"",
                           record->word, f->name, old);
        if (f->presence == UC_ADDED && text != NULL)
            added = true;
        if (f->presence == UC_ADDED && text == NULL && !added)
            old = f->name;
        if (text == NULL && (f->presence == UC_OPTIONAL || f->name == old))
            continue;
        if (text == NULL)
            return uc_fail(err, UC_EINPUT,
                           "%s: \"%s\" is expected in \"%.64s\"", record->word,
                           f->name, fields);
        *fields = '\0';
        status = types[f->type].parse(text, &at, err);
        *fields = end;
        if (status != UC_OK)
            return uc_wrap(err, status, f->name);
    }
    if (*fields != '\0')
        return uc_fail(err, UC_EINPUT, "%s: ends with the unknown \"%.64s\"",
                       record->word, fields[1] == '\0' ? "" : fields + 1);
    return UC_OK;
}
