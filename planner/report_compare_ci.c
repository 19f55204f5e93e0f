#include "config.h"

#include "planner/report_compare.h"

#include "planner/report.h"
#include "planner/report_json.h"

#include <jansson.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ JSON */

/** As in report_json.c, NULL goes through to the end. */
static json_t *environment(const struct uc_environment *e)
{
    return json_pack(
        "{s:s, s:i, s:i, s:I, s:i, s:i, s:s}", "device", e->device.name,
        "compute_capability", e->device.compute_capability, "multiprocessors",
        e->device.multiprocessors, "memory_bytes",
        (json_int_t)e->device.memory_bytes, "cudnn", e->versions.cudnn, "cuda",
        e->versions.cuda, "driver", e->versions.driver);
}

static json_t *side(const struct uc_compare_side *s, int64_t total_ns,
                    int64_t all_ns)
{
    json_t *object =
        json_pack("{s:o, s:s, s:I, s:I, s:I}", "environment",
                  environment(&s->environment), "mode",
                  s->mode == UC_PLAN_WR ? "wr" : "wd", "limit_bytes",
                  (json_int_t)s->limit_bytes, "total_ns", (json_int_t)total_ns,
                  "all_operations_ns", (json_int_t)all_ns);

    return uc_json_joined(object, uc_json_choices(s->policy, &s->choices));
}

/** Null where a side lacks the operation. */
static json_t *item(const struct uc_compare_item *i)
{
    if (i == NULL)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:s, s:s}", "repeat",
                     (json_int_t)i->repeat, "time_ns", (json_int_t)i->time_ns,
                     "workspace_bytes", (json_int_t)i->workspace_bytes, "split",
                     i->split, "kernels", i->kernels);
}

static json_t *verdict(const struct uc_compare_row *row, json_t *object)
{
    json_t *p = row->p < 0 ? json_null() : json_real(row->p);
    json_t *more =
        json_pack("{s:s, s:b, s:b, s:o}", "verdict",
                  uc_compare_verdict_name(row->verdict), "split_changed",
                  row->split != UC_COMPARE_SAME_SPLIT, "regression",
                  row->regression ? 1 : 0, "p", p);

    return uc_json_joined(object, more);
}

static json_t *operation(const struct uc_compare_row *row)
{
    const struct uc_compare_item *i = row->now != NULL ? row->now : row->old;
    char problem[UC_PROBLEM_TEXT];

    uc_problem_print(&i->problem, problem);
    return verdict(
        row, json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "layer", i->layer,
                       "operation", uc_operation_name(i->problem.operation),
                       "problem", problem, "batch", (json_int_t)i->batch, "old",
                       item(row->old), "new", item(row->now)));
}

static json_t *comparison_object(const struct uc_comparison *c)
{
    json_t *operations = json_array();

    for (size_t i = 0; i < c->count && operations != NULL; i++)
        if (json_array_append_new(operations, operation(&c->rows[i])) != 0) {
            json_decref(operations);
            operations = NULL;
        }
    return json_pack(
        "{s:s, s:b, s:b, s:o, s:o, s:o, s:o}", "title", c->title, "regression",
        c->regression ? 1 : 0, "same_operations", c->others ? 0 : 1, "old",
        side(c->old, c->old_total.time_ns, c->old_all.time_ns), "new",
        side(c->now, c->new_total.time_ns, c->new_all.time_ns), "total",
        c->common > 0 ? verdict(&c->total, json_object()) : json_null(),
        "operations", operations);
}

enum uc_status uc_report_compare_json(FILE *out,
                                      const struct uc_comparison *list,
                                      size_t count, struct uc_error *err)
{
    json_t *array = json_array(), *all;
    bool regression = false;
    int failed;

    for (size_t i = 0; i < count && array != NULL; i++) {
        regression |= list[i].regression;
        if (json_array_append_new(array, comparison_object(&list[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    all = json_pack("{s:b, s:o}", "regression", regression ? 1 : 0,
                    "comparisons", array);
    if (all == NULL)
        return uc_no_memory(err);
    failed = json_dumpf(all, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) != 0;
    json_decref(all);
    if (failed && !ferror(out))
        return uc_no_memory(err);
    putc('\n', out);
    return UC_OK;
}

/* ----------------------------------------------------------------- JUnit */

static void xml_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            putc(*text, out);
        }
}

static void xml_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    xml_text(out, value);
    putc('"', out);
}

/** Seconds with nine decimals, from whole numbers. */
static void xml_time(FILE *out, const struct uc_compare_item *i)
{
    int64_t ns = i != NULL ? i->time_ns : 0;

    fprintf(out, " time=\"%lld.%09lld\"", (long long)(ns / 1000000000),
            (long long)(ns % 1000000000));
}

/** A case with a failure or something skipped in it, or neither. */
static void xml_case(FILE *out, const struct uc_comparison *c,
                     const struct uc_compare_row *row, const char *name,
                     const char *result, const char *message)
{
    fputs("    <testcase", out);
    xml_attribute(out, "classname", c->title);
    xml_attribute(out, "name", name);
    xml_time(out, row->now);
    if (result == NULL) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, ">\n      <%s", result);
    xml_attribute(out, "message", message);
    fputs("/>\n    </testcase>\n", out);
}

/** Of one side only: there is nothing to test. */
static bool is_skipped(const struct uc_compare_row *row)
{
    return (row->old == NULL || row->now == NULL) && !row->regression;
}

static void xml_row(FILE *out, const struct uc_comparison *c,
                    const struct uc_compare_row *row, const char *name)
{
    char change[UC_REPORT_CHANGE], text[UC_REPORT_VERDICT];
    char message[UC_REPORT_CHANGE + UC_REPORT_VERDICT + 2];

    uc_report_verdict(row, text);
    if (is_skipped(row)) {
        xml_case(out, c, row, name, "skipped", text);
        return;
    }
    uc_report_change(row, change);
    snprintf(message, sizeof message, "%s: %s", text, change);
    xml_case(out, c, row, name, row->regression ? "failure" : NULL, message);
}

/** The operations of two networks: the layer of a removed one may come again
 * among the added. */
static void xml_operations(FILE *out, const struct uc_comparison *c)
{
    char layer[640], name[680];

    for (size_t i = 0; i < c->count; i++) {
        const struct uc_compare_row *row = &c->rows[i];
        bool one_sided = row->old == NULL || row->now == NULL;

        uc_report_name(row, layer, sizeof layer);
        snprintf(name, sizeof name, "%s%s%s", layer, one_sided ? ", " : "",
                 one_sided ? uc_compare_verdict_name(row->verdict) : "");
        xml_row(out, c, row, name);
    }
}

/** The whole of either side, which is not judged. */
static void xml_all(FILE *out, const struct uc_comparison *c)
{
    char old[UC_REPORT_TEXT], now[UC_REPORT_TEXT];
    char verdicts[UC_REPORT_VERDICTS], message[UC_REPORT_VERDICTS + 160];

    uc_report_time(c->old_all.time_ns, old);
    uc_report_time(c->new_all.time_ns, now);
    uc_report_verdicts(c, verdicts);
    snprintf(message, sizeof message,
             "not the same operations, so not judged: %s -> %s; %s", old, now,
             verdicts);
    xml_case(out, c, &c->all, "total of all operations", "skipped", message);
}

static size_t skipped(const struct uc_comparison *c)
{
    size_t count = c->others;

    for (size_t i = 0; i < c->count; i++)
        count += is_skipped(&c->rows[i]);
    return count;
}

static size_t failures(const struct uc_comparison *c)
{
    size_t count = c->total.regression;

    for (size_t i = 0; i < c->count; i++)
        count += c->rows[i].regression;
    return count;
}

void uc_report_compare_junit(FILE *out, const struct uc_comparison *list,
                             size_t count)
{
    char name[640], limit[64];

    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
    for (size_t i = 0; i < count; i++) {
        const struct uc_comparison *c = &list[i];

        uc_report_limit(c->now, limit);
        snprintf(name, sizeof name, "%s, %s", c->title, limit);
        fputs("  <testsuite", out);
        xml_attribute(out, "name", name);
        fprintf(out,
                " tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
                "skipped=\"%zu\">\n",
                c->count + (c->common > 0) + c->others, failures(c),
                skipped(c));
        xml_operations(out, c);
        if (c->common > 0)
            xml_row(out, c, &c->total, "total of what both have");
        if (c->others)
            xml_all(out, c);
        fputs("  </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
}
