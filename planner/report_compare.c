#include "config.h"

#include "planner/report_compare.h"

#include "common/bytes.h"
#include "planner/report.h"
#include "planner/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, CELL = 640 };

/* ---------------------------------------------------------------- pieces */

static const struct uc_compare_item *either(const struct uc_compare_row *row)
{
    return row->now != NULL ? row->now : row->old;
}

void uc_report_change(const struct uc_compare_row *row,
                      char text[UC_REPORT_CHANGE])
{
    long long tenths;

    if (row->old == NULL || row->now == NULL || row->old->time_ns < 1) {
        snprintf(text, UC_REPORT_CHANGE, "-");
        return;
    }
    tenths = llround(
        1000 * ((double)row->now->time_ns / (double)row->old->time_ns - 1));
    snprintf(text, UC_REPORT_CHANGE, "%c%lld.%lld %%", tenths < 0 ? '-' : '+',
             llabs(tenths) / 10, llabs(tenths) % 10);
}

void uc_report_verdict(const struct uc_compare_row *row,
                       char text[UC_REPORT_VERDICT])
{
    static const char *const splits[] = {
        [UC_COMPARE_SAME_SPLIT] = "",
        [UC_COMPARE_OTHER_KERNELS] = "other kernels",
        [UC_COMPARE_OTHER_SPLIT] = "another split",
    };
    const char *verdict = row->verdict == UC_COMPARE_SAME
                              ? ""
                              : uc_compare_verdict_name(row->verdict);
    const char *split = splits[row->split];
    int used =
        snprintf(text, UC_REPORT_VERDICT, "%s%s%s", verdict,
                 verdict[0] != '\0' && split[0] != '\0' ? ", " : "", split);

    if (row->other_repeat && row->old != NULL && row->now != NULL)
        snprintf(text + used, UC_REPORT_VERDICT - (size_t)used,
                 "%srepeat %lld -> %lld", used > 0 ? ", " : "",
                 (long long)row->old->repeat, (long long)row->now->repeat);
}

void uc_report_limit(const struct uc_compare_side *side, char text[64])
{
    char bytes[UC_BYTES_TEXT];

    uc_bytes_print(side->limit_bytes, bytes);
    snprintf(text, 64, "%s %s", bytes,
             side->mode == UC_PLAN_WR ? "per operation" : "in total");
}

void uc_report_verdicts(const struct uc_comparison *comparison,
                        char text[UC_REPORT_VERDICTS])
{
    const size_t *n = comparison->verdicts;
    size_t used = 0;
    const struct {
        size_t count;
        const char *what;
    } parts[] = {
        { n[UC_COMPARE_SLOWER], "slower" },
        { n[UC_COMPARE_FASTER], "faster" },
        { n[UC_COMPARE_ADDED], "added" },
        { n[UC_COMPARE_REMOVED], "removed" },
        { n[UC_COMPARE_SAME], "of the same speed" },
        { comparison->splits, "with another split or other kernels" },
        { comparison->repeats, "repeated more or less often" },
    };

    text[0] = '\0';
    if (comparison->total.regression)
        used = (size_t)snprintf(text, UC_REPORT_VERDICTS, "total slower");
    for (size_t i = 0;
         i < sizeof parts / sizeof *parts && used < UC_REPORT_VERDICTS; i++)
        if (parts[i].count > 0)
            used += (size_t)snprintf(text + used, UC_REPORT_VERDICTS - used,
                                     "%s%zu %s", used > 0 ? ", " : "",
                                     parts[i].count, parts[i].what);
}

const char *uc_report_outcome(const struct uc_comparison *comparison)
{
    if (comparison->regression)
        return comparison->others ? "regression, not the same operations"
                                  : "regression";
    return comparison->others ? "not the same operations" : "fine";
}

bool uc_report_changed(const struct uc_compare_row *row)
{
    return row->verdict != UC_COMPARE_SAME ||
           row->split != UC_COMPARE_SAME_SPLIT || row->other_repeat;
}

void uc_report_name(const struct uc_compare_row *row, char *text, size_t size)
{
    const struct uc_compare_item *item = either(row);
    char problem[UC_PROBLEM_TEXT];

    if (item->layer[0] != '\0') {
        snprintf(text, size, "%s %s", item->layer,
                 uc_operation_name(item->problem.operation));
        return;
    }
    uc_problem_print(&item->problem, problem);
    snprintf(text, size, "%s batch %lld", problem, (long long)item->batch);
}

static void print_plain(FILE *out, const char *text)
{
    fputs(text, out);
}

/** In Markdown: what would end a cell or start a tag is escaped. */
static void print_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("|<>*_`[]\\", *text) != NULL)
            putc('\\', out);
        putc(*text, out);
    }
}

typedef void print_text(FILE *out, const char *text);

/** The two sides of "device" and so on: one text, or "A -> B". */
static void print_pair(FILE *out, const char *label, const char *old,
                       const char *now, print_text *print)
{
    fputs(label, out);
    print(out, old);
    if (strcmp(old, now) != 0) {
        fputs(" -> ", out);
        print(out, now);
    }
    putc('\n', out);
}

static void print_header(FILE *out, const struct uc_comparison *c,
                         const char *const labels[5], print_text *print)
{
    char old[UC_REPORT_CHOICES], now[UC_REPORT_CHOICES];

    print_pair(out, labels[0], c->title, c->title, print);
    uc_report_limit(c->old, old);
    uc_report_limit(c->now, now);
    print_pair(out, labels[1], old, now, print);
    uc_report_choices(c->old->policy, &c->old->choices, old);
    uc_report_choices(c->now->policy, &c->now->choices, now);
    print_pair(out, labels[2], old, now, print);
    uc_report_device(&c->old->environment.device, old);
    uc_report_device(&c->now->environment.device, now);
    print_pair(out, labels[3], old, now, print);
    uc_report_versions(&c->old->environment.versions, old);
    uc_report_versions(&c->now->environment.versions, now);
    print_pair(out, labels[4], old, now, print);
}

/** The cells of a line; those of the total have no names. */
static void fill_cells(const struct uc_compare_row *row, const char *name,
                       char cells[COLUMNS][CELL])
{
    const struct uc_compare_item *old = row->old, *now = row->now;

    memset(cells, 0, COLUMNS * sizeof *cells);
    snprintf(cells[0], CELL, "%s", name);
    snprintf(cells[1], CELL, "%s", old != NULL ? old->split : "-");
    snprintf(cells[2], CELL, "%s", now != NULL ? now->split : "-");
    if (row->split == UC_COMPARE_OTHER_KERNELS && old != NULL && now != NULL) {
        snprintf(cells[1], CELL, "%s %s", old->split, old->kernels);
        snprintf(cells[2], CELL, "%s %s", now->split, now->kernels);
    }
    uc_report_time(old != NULL ? old->time_ns : -1, cells[3]);
    uc_report_time(now != NULL ? now->time_ns : -1, cells[4]);
    uc_report_change(row, cells[5]);
    if (row->p >= 0)
        snprintf(cells[6], CELL, "%.2g", row->p);
    uc_report_verdict(row, cells[7]);
    if (row->regression)
        strcat(cells[7], " (!)");
}

static const char *const titles[COLUMNS] = {
    "operation", "old split", "new split", "old", "new", "change", "p", ""
};

/** The rows of a table: what has changed, and the totals. */
typedef void add_cells(void *table, char cells[COLUMNS][CELL]);

static void add_rows(const struct uc_comparison *c, add_cells *add, void *table)
{
    char cells[COLUMNS][CELL], name[CELL];

    for (size_t i = 0; i < c->count; i++)
        if (uc_report_changed(&c->rows[i])) {
            uc_report_name(&c->rows[i], name, sizeof name);
            fill_cells(&c->rows[i], name, cells);
            add(table, cells);
        }
    if (c->common > 0) {
        fill_cells(&c->total, "total of what both have", cells);
        add(table, cells);
    }
    if (c->others) {
        fill_cells(&c->all, "total of all operations", cells);
        strcpy(cells[COLUMNS - 1], "not judged");
        add(table, cells);
    }
}

/* ----------------------------------------------------------------- table */

static void add_to_table(void *table, char cells[COLUMNS][CELL])
{
    for (int i = 0; i < COLUMNS; i++)
        uc_table_add(table, cells[i]);
}

enum uc_status uc_report_compare_table(FILE *out,
                                       const struct uc_comparison *comparison,
                                       struct uc_error *err)
{
    static const char *const labels[] = { "compared  ", "limit     ",
                                          "policy    ", "device    ",
                                          "versions  " };
    char verdicts[UC_REPORT_VERDICTS];
    struct uc_table table;
    enum uc_status status;

    uc_table_init(&table, "lllrrrrl");
    for (int i = 0; i < COLUMNS; i++)
        uc_table_add(&table, titles[i]);
    add_rows(comparison, add_to_table, &table);
    print_header(out, comparison, labels, print_plain);
    putc('\n', out);
    status = uc_table_print(&table, out, err);
    uc_table_free(&table);
    uc_report_verdicts(comparison, verdicts);
    fprintf(out, "\n%s: %s\n", uc_report_outcome(comparison), verdicts);
    return status;
}

/* -------------------------------------------------------------- Markdown */

static void print_cell(FILE *out, const char *text)
{
    putc(' ', out);
    print_escaped(out, text);
    fputs(" |", out);
}

static void print_line(void *out, char cells[COLUMNS][CELL])
{
    putc('|', out);
    for (int i = 0; i < COLUMNS; i++)
        print_cell(out, cells[i]);
    putc('\n', out);
}

void uc_report_compare_markdown(FILE *out,
                                const struct uc_comparison *comparison)
{
    static const char *const labels[] = { "### ", "- limit: ", "- policy: ",
                                          "- device: ", "- versions: " };
    bool plain = !comparison->regression && !comparison->others;
    char verdicts[UC_REPORT_VERDICTS];

    uc_report_verdicts(comparison, verdicts);
    print_header(out, comparison, labels, print_escaped);
    fprintf(out, "- %s%s%s: %s\n\n|", plain ? "" : "**",
            uc_report_outcome(comparison), plain ? "" : "**", verdicts);
    for (int i = 0; i < COLUMNS; i++)
        print_cell(out, titles[i]);
    fputs("\n| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n", out);
    add_rows(comparison, print_line, out);
}
