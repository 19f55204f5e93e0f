#include "config.h"

#include "planner/report_verify.h"

#include "common/bytes.h"
#include "planner/report.h"
#include "planner/table.h"

#include <string.h>

enum { CELL = 256 };

/** "9.87 ms (+3.2%)" against what was predicted. */
static void time_against(int64_t ns, int64_t predicted_ns, char text[CELL])
{
    char time[UC_REPORT_TEXT];
    int64_t tenths;

    if (ns <= 0) {
        snprintf(text, CELL, "-");
        return;
    }
    uc_report_time(ns, time);
    /* From integers: the locale's decimal point never shows. */
    tenths =
        (int64_t)((double)(ns - predicted_ns) / (double)predicted_ns * 1e3 +
                  (ns < predicted_ns ? -0.5 : 0.5));
    snprintf(text, CELL, "%s (%s%lld.%lld%%)", time, tenths < 0 ? "-" : "+",
             (long long)(tenths < 0 ? -tenths : tenths) / 10,
             (long long)(tenths < 0 ? -tenths : tenths) % 10);
}

static void add_time(struct uc_table *table, int64_t ns)
{
    char text[UC_REPORT_TEXT];

    uc_report_time(ns > 0 ? ns : -1, text);
    uc_table_add(table, text);
}

/** Powers of ten: the locale's decimal point never shows. */
static void add_error(struct uc_table *table, double error)
{
    char text[32];
    int power = 0;

    if (error < 0) {
        snprintf(text, sizeof text, "-");
    } else if (error == 0) {
        snprintf(text, sizeof text, "0");
    } else if (!(error < 1e30)) {
        snprintf(text, sizeof text, "NaN");
    } else {
        for (; error < 1; power--)
            error *= 10;
        for (; error >= 9.5; power++)
            error /= 10;
        snprintf(text, sizeof text, "%de%d", (int)(error + 0.5), power);
    }
    uc_table_add(table, text);
}

static void add_undivided(struct uc_table *table,
                          const struct uc_plan_operation *op,
                          const struct uc_verify_operation *found)
{
    char text[UC_KERNEL_TEXT];

    if (found->choice.source == UC_UNDIVIDED_NONE)
        snprintf(text, sizeof text, "-");
    else
        uc_kernel_print(&found->choice.kernel, op->problem.operation, text);
    uc_table_add(table, text);
    add_time(table, found->undivided.time_ns);
}

static void add_operation(struct uc_table *table,
                          const struct uc_plan_operation *op,
                          const struct uc_verify_operation *found)
{
    const struct uc_verify_run *run = &found->planned;
    char text[CELL], bytes[UC_BYTES_TEXT];

    uc_table_add(table, op->layer);
    uc_table_add(table, uc_operation_name(op->problem.operation));
    snprintf(text, sizeof text, "%lld", (long long)op->repeat);
    uc_table_add(table, text);
    uc_report_split(op, text, sizeof text);
    uc_table_add(table, text);
    uc_report_kernels(op, text, sizeof text);
    uc_table_add(table, text);
    uc_bytes_print(run->workspace_bytes, bytes);
    uc_table_add(table, bytes);
    add_error(table, run->error);
    add_time(table, op->time_ns);
    time_against(run->time_ns, op->time_ns, text);
    uc_table_add(table, text);
    add_undivided(table, op, found);
    uc_table_add(table, uc_verdict_name(found->verdict));
}

static void print_header(FILE *out, const struct uc_verification *v)
{
    const struct uc_plan *plan = v->plan;
    char line[UC_REPORT_LINE], limit[UC_BYTES_TEXT];

    fprintf(out, "network    %s\n", plan->network);
    uc_bytes_print(plan->limit_bytes, limit);
    fprintf(out, "plan       %s, %s %s\n",
            plan->mode == UC_PLAN_WR ? "WR" : "WD", limit,
            plan->mode == UC_PLAN_WR ? "per operation" : "in total");
    if (v->skipped[0] != '\0') {
        fprintf(out, "consistent, and not run: %s\n", v->skipped);
        return;
    }
    uc_report_device(&v->here.device, line);
    fprintf(out, "device     %s\n", line);
    uc_report_versions(&v->here.versions, line);
    fprintf(out, "versions   %s\n", line);
}

static void print_sequence(FILE *out, const struct uc_verification *v)
{
    const struct uc_verify_sequence *s = &v->sequence;
    char time[CELL], text[UC_VERIFY_TEXT], spread[UC_REPORT_TEXT];

    fputs("\nall operations in one sequence\n", out);
    if (s->reason[0] != '\0' || !s->settled) {
        uc_verify_sequence_fault(v, text);
        fprintf(out, "%s\n", text);
        return;
    }
    uc_report_time(s->predicted_ns, time);
    fprintf(out, "predicted  %s\n", time);
    time_against(s->planned_ns, s->predicted_ns, time);
    uc_report_time(s->planned_spread_ns, spread);
    fprintf(out, "planned    %s, spread %s: %s\n", time, spread,
            uc_verdict_name(s->verdict));
    uc_report_time(s->undivided_ns, time);
    uc_report_time(s->undivided_spread_ns, spread);
    fprintf(out, "undivided  %s, spread %s", time, spread);
    uc_report_gain(s->undivided_ns, s->planned_ns, time);
    fprintf(out, ": %s\n", time);
    fprintf(out, "passes     %d of each, in turn\n", s->samples);
    if (s->shared_tensors)
        fputs("note: memory is too small for tensors of their own; all "
              "operations share one set\n",
              out);
    if (s->left_out > 0)
        fprintf(out, "note: left out: operations that do not run, %lld\n",
                (long long)s->left_out);
    if (s->without > 0)
        fprintf(out,
                "note: as planned in both: operations without an undivided "
                "kernel that fits, %lld\n",
                (long long)s->without);
}

/** Where the undivided kernels come from, and what went wrong with them. */
static void print_notes(FILE *out, const struct uc_verification *v)
{
    bool found = false;

    for (size_t i = 0; i < v->plan->operation_count; i++) {
        const struct uc_verify_operation *op = &v->operations[i];
        const struct uc_plan_operation *planned = &v->plan->operations[i];

        found = found || op->choice.source == UC_UNDIVIDED_FOUND;
        if (op->undivided.reason[0] != '\0')
            fprintf(out, "note: %s %s undivided: %s\n", planned->layer,
                    uc_operation_name(planned->problem.operation),
                    op->undivided.reason);
        else if (op->undivided.error > op->undivided.allowed)
            fprintf(out, "note: %s %s undivided: its result is wrong\n",
                    planned->layer,
                    uc_operation_name(planned->problem.operation));
    }
    if (found)
        fputs("note: undivided kernels that no profile tells are the fastest "
              "within the limit of cuDNN's legacy algorithms and its graph "
              "API's first choices\n",
              out);
}

enum uc_status uc_report_verification_table(FILE *out,
                                            const struct uc_verification *v,
                                            struct uc_error *err)
{
    static const char *const titles[] = { "layer",     "operation", "repeat",
                                          "split",     "kernel",    "workspace",
                                          "error",     "predicted", "time",
                                          "undivided", "time",      "verdict" };
    char text[UC_VERIFY_TEXT];
    struct uc_table table;
    enum uc_status status;

    print_header(out, v);
    if (v->skipped[0] != '\0')
        return UC_OK;
    uc_table_init(&table, "llrllrrrrlrl");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        uc_table_add(&table, titles[i]);
    for (size_t i = 0; i < v->plan->operation_count; i++)
        add_operation(&table, &v->plan->operations[i], &v->operations[i]);
    putc('\n', out);
    status = uc_table_print(&table, out, err);
    uc_table_free(&table);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < v->plan->operation_count; i++) {
        const struct uc_plan_operation *op = &v->plan->operations[i];

        uc_verify_fault(v, i, text);
        if (text[0] != '\0')
            fprintf(out, "%s %s %s\n", op->layer,
                    uc_operation_name(op->problem.operation), text);
    }
    print_notes(out, v);
    print_sequence(out, v);
    return UC_OK;
}
