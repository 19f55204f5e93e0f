#include "config.h"

#include "planner/report.h"

#include "common/bytes.h"
#include "planner/table.h"

#include <string.h>

enum { CELL = 256 };

/** "256", or "32 to 256" when operations differ. */
static void batch_text(const struct uc_plan *plan, char text[64])
{
    int64_t least = INT64_MAX, most = 0;

    for (size_t i = 0; i < plan->operation_count; i++) {
        int64_t batch = plan->operations[i].batch;

        least = batch < least ? batch : least;
        most = batch > most ? batch : most;
    }
    if (least >= most)
        snprintf(text, 64, "%lld", (long long)most);
    else
        snprintf(text, 64, "%lld to %lld", (long long)least, (long long)most);
}

/* --------------------------------------------------------------- header */

static void print_times(FILE *out, const struct uc_plan_totals *totals)
{
    char time[UC_REPORT_TEXT], gain[UC_REPORT_TEXT];

    uc_report_time(totals->predicted_ns, time);
    fprintf(out, "predicted  %s\n", time);
    if (totals->undivided_ns < 0) {
        fprintf(out, "undivided  not every operation fits the same limit\n");
    } else {
        uc_report_time(totals->undivided_ns, time);
        uc_report_gain(totals->undivided_ns, totals->predicted_ns, gain);
        fprintf(out, "undivided  %s under the same limit: %s\n", time, gain);
    }
    if (totals->unlimited_ns < 0) {
        fprintf(out, "unlimited  not every operation runs undivided\n");
    } else {
        uc_report_time(totals->unlimited_ns, time);
        uc_report_gain(totals->unlimited_ns, totals->predicted_ns, gain);
        fprintf(out, "unlimited  %s undivided with any workspace: %s\n", time,
                gain);
    }
}

/** Whether an operation before has the same problem and batch: its kernels
    are built once. */
static bool seen_before(const struct uc_plan *plan, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (plan->operations[i].batch == plan->operations[at].batch &&
            uc_problem_equal(&plan->operations[i].problem,
                             &plan->operations[at].problem))
            return true;
    return false;
}

/** What a program waits for when it begins to follow the plan. */
static void print_compiled(FILE *out, const struct uc_plan *plan)
{
    int64_t count = 0, ns = 0;
    char time[UC_REPORT_TEXT];

    for (size_t i = 0; i < plan->operation_count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];

        for (size_t j = 0; j < op->piece_count && !seen_before(plan, i); j++) {
            if ((op->pieces[j].notes & UC_NOTE_RUNTIME_COMPILED) == 0)
                continue;
            count++;
            if (__builtin_add_overflow(ns, op->pieces[j].build_ns, &ns))
                ns = INT64_MAX;
        }
    }
    if (count == 0)
        return;
    uc_report_time(ns, time);
    fprintf(out, "compiled   %lld kernels at run time, once, in %s\n",
            (long long)count, time);
}

static void print_header(FILE *out, const struct uc_plan *plan,
                         const struct uc_plan_totals *totals)
{
    char line[UC_REPORT_LINE], batch[64], limit[UC_BYTES_TEXT];
    char needed[UC_BYTES_TEXT], date[UC_REPORT_TEXT];
    char choices[UC_REPORT_CHOICES];

    batch_text(plan, batch);
    fprintf(out, "network    %s, batch %s\n", plan->network, batch);
    uc_report_device(&plan->environment.device, line);
    fprintf(out, "device     %s\n", line);
    uc_report_versions(&plan->environment.versions, line);
    fprintf(out, "versions   %s\n", line);
    fprintf(out, "mode       %s\n",
            plan->mode == UC_PLAN_WR
                ? "workspace reuse (WR), one workspace for all operations"
                : "workspace division (WD), a workspace for each operation");
    uc_bytes_print(plan->limit_bytes, limit);
    uc_bytes_print(totals->workspace_bytes, needed);
    fprintf(out, "limit      %s %s, %s needed\n", limit,
            plan->mode == UC_PLAN_WR ? "per operation" : "in total", needed);
    uc_report_choices(plan->policy, &plan->choices, choices);
    fprintf(out, "policy     %s\n", choices);
    uc_report_date(plan->created_at, date);
    fprintf(out, "created    %s UTC by ucudnn-plan %s\n", date, plan->tool);
    print_times(out, totals);
    print_compiled(out, plan);
}

/* ---------------------------------------------------------------- table */

static void add_time(struct uc_table *table, int64_t ns)
{
    char text[UC_REPORT_TEXT];

    uc_report_time(ns, text);
    uc_table_add(table, text);
}

static void add_bytes(struct uc_table *table, int64_t bytes)
{
    char text[UC_BYTES_TEXT];

    uc_bytes_print(bytes, text);
    uc_table_add(table, text);
}

static void add_gain(struct uc_table *table, int64_t before_ns, int64_t ns)
{
    char text[UC_REPORT_TEXT];

    uc_report_gain(before_ns, ns, text);
    uc_table_add(table, text[0] != '\0' ? text : "-");
}

static void add_operation(struct uc_table *table,
                          const struct uc_plan_operation *op)
{
    char text[CELL];

    uc_table_add(table, op->layer);
    uc_table_add(table, uc_operation_name(op->problem.operation));
    snprintf(text, sizeof text, "%lld", (long long)op->repeat);
    uc_table_add(table, text);
    uc_report_split(op, text, sizeof text);
    uc_table_add(table, text);
    uc_report_kernels(op, text, sizeof text);
    uc_table_add(table, text);
    add_bytes(table, op->workspace_bytes);
    add_time(table, op->time_ns);
    add_time(table, op->undivided_ns);
    add_gain(table, op->undivided_ns, op->time_ns);
}

static void add_totals(struct uc_table *table,
                       const struct uc_plan_totals *totals)
{
    uc_table_add(table, "total");
    for (int i = 0; i < 4; i++)
        uc_table_add(table, "");
    add_bytes(table, totals->workspace_bytes);
    add_time(table, totals->predicted_ns);
    add_time(table, totals->undivided_ns);
    add_gain(table, totals->undivided_ns, totals->predicted_ns);
}

/** Of a division only: under a limit of its own no operation gives anything
 * away, and all copies of one are alike. */
size_t uc_report_plan_notes(const struct uc_plan *plan,
                            const char *notes[UC_REPORT_NOTES])
{
    bool slower = false, copies = false;
    size_t count = 0;

    for (size_t i = 0; i < plan->operation_count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];

        slower |= op->undivided_ns >= 0 && op->undivided_ns < op->time_ns;
        for (size_t j = 0; j < i && plan->mode == UC_PLAN_WD; j++)
            copies |=
                strcmp(plan->operations[j].layer, op->layer) == 0 &&
                plan->operations[j].batch == op->batch &&
                uc_problem_equal(&plan->operations[j].problem, &op->problem);
    }
    if (slower && plan->mode == UC_PLAN_WD)
        notes[count++] =
            "A gain below 1: the undivided times are another division of the "
            "same total, in which that operation has more of it; the totals "
            "are what compares.";
    if (copies)
        notes[count++] =
            "A layer in several rows: its copies got different shares of the "
            "total, or do when undivided.";
    return count;
}

static void print_plan_notes(FILE *out, const struct uc_plan *plan)
{
    const char *notes[UC_REPORT_NOTES];
    size_t count = uc_report_plan_notes(plan, notes);

    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s\n", i == 0 ? "\n" : "", notes[i]);
}

/** "tensor-core, runtime-compiled" */
static void notes_text(unsigned notes, char text[CELL])
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < UC_NOTES; i++)
        if ((notes & 1u << i) != 0)
            used += (size_t)snprintf(text + used, CELL - used, "%s%s",
                                     used > 0 ? ", " : "", uc_note_name(i));
}

/** An engine of the same operation is one: add it once. */
static bool listed(const struct uc_plan *plan, size_t operation, size_t piece)
{
    const struct uc_plan_operation *op = &plan->operations[operation];

    for (size_t i = 0; i <= operation; i++) {
        const struct uc_plan_operation *before = &plan->operations[i];
        size_t end = i < operation ? before->piece_count : piece;

        for (size_t j = 0; j < end; j++)
            if (before->problem.operation == op->problem.operation &&
                before->pieces[j].notes == op->pieces[piece].notes &&
                uc_kernel_equal(&before->pieces[j].kernel,
                                &op->pieces[piece].kernel))
                return true;
    }
    return false;
}

static void add_engine(struct uc_table *table,
                       const struct uc_plan_piece *piece,
                       enum uc_operation operation)
{
    char text[UC_KERNEL_TEXT], notes[CELL];

    uc_kernel_print(&piece->kernel, operation, text);
    notes_text(piece->notes, notes);
    uc_table_add(table, text);
    uc_table_add(table, uc_operation_name(operation));
    uc_table_add(table, notes);
}

/** What the engines declare of themselves; legacy names say it. */
static enum uc_status print_engines(FILE *out, const struct uc_plan *plan,
                                    struct uc_error *err)
{
    struct uc_table table;
    enum uc_status status = UC_OK;
    bool some = false;

    uc_table_init(&table, "lll");
    uc_table_add(&table, "kernel");
    uc_table_add(&table, "operation");
    uc_table_add(&table, "notes");
    for (size_t i = 0; i < plan->operation_count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];

        for (size_t j = 0; j < op->piece_count; j++) {
            if (op->pieces[j].kernel.api != UC_API_GRAPH ||
                op->pieces[j].notes == 0 || listed(plan, i, j))
                continue;
            add_engine(&table, &op->pieces[j], op->problem.operation);
            some = true;
        }
    }
    if (some) {
        putc('\n', out);
        status = uc_table_print(&table, out, err);
    }
    uc_table_free(&table);
    return status;
}

enum uc_status uc_report_plan_table(FILE *out, const struct uc_plan *plan,
                                    struct uc_error *err)
{
    static const char *const titles[] = { "layer", "operation", "repeat",
                                          "split", "kernel",    "workspace",
                                          "time",  "undivided", "gain" };
    struct uc_plan_totals totals;
    struct uc_table table;
    enum uc_status status;

    uc_plan_totals(plan, &totals);
    uc_table_init(&table, "llrllrrrr");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        uc_table_add(&table, titles[i]);
    for (size_t i = 0; i < plan->operation_count; i++)
        add_operation(&table, &plan->operations[i]);
    add_totals(&table, &totals);
    print_header(out, plan, &totals);
    putc('\n', out);
    status = uc_table_print(&table, out, err);
    uc_table_free(&table);
    if (status != UC_OK)
        return status;
    print_plan_notes(out, plan);
    return print_engines(out, plan, err);
}

/* ------------------------------------------------------------------ CSV */

/** A field as RFC 4180 quotes it, only when it must. */
static void csv_text(FILE *out, const char *text, const char *end)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fprintf(out, "%s%s", text, end);
        return;
    }
    putc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    fprintf(out, "\"%s", end);
}

/** -1 is an empty field. */
static void csv_int(FILE *out, int64_t value, const char *end)
{
    if (value < 0)
        fputs(end, out);
    else
        fprintf(out, "%lld%s", (long long)value, end);
}

static void csv_operation(FILE *out, const struct uc_plan *plan,
                          const struct uc_plan_operation *op)
{
    char text[UC_PROBLEM_TEXT];

    csv_text(out, plan->network, ",");
    csv_text(out, plan->environment.device.name, ",");
    csv_text(out, plan->mode == UC_PLAN_WR ? "wr" : "wd", ",");
    csv_int(out, plan->limit_bytes, ",");
    csv_text(out, op->layer, ",");
    csv_text(out, uc_operation_name(op->problem.operation), ",");
    csv_int(out, op->repeat, ",");
    csv_int(out, op->batch, ",");
    uc_problem_print(&op->problem, text);
    csv_text(out, text, ",");
    uc_report_split(op, text, sizeof text);
    csv_text(out, text, ",");
    uc_report_kernels(op, text, sizeof text);
    csv_text(out, text, ",");
    csv_int(out, op->workspace_bytes, ",");
    csv_int(out, op->time_ns, ",");
    csv_int(out, op->undivided_ns, ",");
    csv_int(out, op->unlimited_ns, "\r\n");
}

enum uc_status uc_report_plans_csv(FILE *out, const struct uc_plan *plans,
                                   size_t count, struct uc_error *err)
{
    (void)err;
    fputs("network,device,mode,limit_bytes,layer,operation,repeat,batch,"
          "problem,split,kernel,workspace_bytes,time_ns,undivided_ns,"
          "unlimited_ns\r\n",
          out);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < plans[i].operation_count; j++)
            csv_operation(out, &plans[i], &plans[i].operations[j]);
    return UC_OK;
}
