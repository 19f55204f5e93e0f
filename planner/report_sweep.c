#include "config.h"

#include "planner/report.h"

#include "common/bytes.h"
#include "planner/table.h"

#include <math.h>
#include <string.h>

/** Rows show where a time changed by this share, unless all are wanted. */
#define WORTH_A_ROW 0.05

enum { CELL = 64 };

static const struct {
    const char *name, *whole, *short_name;
} modes[] = {
    [UC_PLAN_WR] = { "workspace reuse", "per operation", "WR" },
    [UC_PLAN_WD] = { "workspace division", "in total", "WD" },
};

/* --------------------------------------------------------------- header */

static void print_header(FILE *out, const struct uc_report_sweep *sweep)
{
    char line[UC_REPORT_LINE], share[UC_REPORT_TEXT];
    char choices[UC_REPORT_CHOICES];

    fprintf(out, "network    %s, batch %lld\n", sweep->network,
            (long long)sweep->batch);
    uc_report_device(&sweep->environment->device, line);
    fprintf(out, "device     %s\n", line);
    uc_report_versions(&sweep->environment->versions, line);
    fprintf(out, "versions   %s\n", line);
    uc_report_choices(sweep->policy, &sweep->choices, choices);
    fprintf(out, "policy     %s\n", choices);
    uc_report_share(sweep->target, share);
    for (int mode = 0; mode < 2; mode++) {
        const struct uc_curve *curve = &sweep->curves[mode];
        const struct uc_curve_point *knee = uc_curve_knee(curve, sweep->target);
        char best[UC_REPORT_TEXT], bytes[UC_BYTES_TEXT];

        uc_report_time(curve->best_ns, best);
        uc_bytes_print(knee->limit_bytes, bytes);
        fprintf(out, "%s         %s of the best speed (%s) needs %s %s\n",
                modes[mode].short_name, share, best, bytes, modes[mode].whole);
    }
}

/* ---------------------------------------------------------------- table */

static void add_row(struct uc_table *table, const struct uc_curve *curve,
                    const struct uc_curve_point *point, const char *remark)
{
    char text[CELL];

    uc_bytes_print(point->limit_bytes, text);
    uc_table_add(table, text);
    snprintf(text, sizeof text, "%lld", (long long)point->limit_bytes);
    uc_table_add(table, text);
    uc_report_time(point->time_ns, text);
    uc_table_add(table, text);
    /* Rounded down: what misses a target does not look as if it met it. */
    snprintf(text, sizeof text, "%d%%",
             point->time_ns > 0
                 ? (int)(100 * (double)curve->best_ns / (double)point->time_ns)
                 : 100);
    uc_table_add(table, text);
    uc_report_time(point->undivided_ns, text);
    uc_table_add(table, text);
    uc_report_gain(point->undivided_ns, point->time_ns, text);
    uc_table_add(table, text[0] != '\0' ? text : "-");
    uc_table_add(table, remark);
}

static bool moved(int64_t from, int64_t to)
{
    if (from < 0 || to < 0)
        return from != to;
    return fabs((double)from - (double)to) >= WORTH_A_ROW * (double)from;
}

/** What a row is called; "" for one like the others. */
static const char *remark_on(const struct uc_report_sweep *sweep, int mode,
                             const struct uc_curve_point *point)
{
    const struct uc_curve *curve = &sweep->curves[mode];
    bool knee = point == uc_curve_knee(curve, sweep->target);
    bool asked = point->limit_bytes == sweep->asked_bytes[mode];

    if (knee)
        return asked ? "knee, asked for" : "knee";
    if (asked)
        return "asked for";
    return point == uc_curve_knee(curve, 1) ? "best" : "";
}

/** The limit asked for lies behind point i and before the next. */
static bool asked_behind(const struct uc_report_sweep *sweep, int mode,
                         size_t i)
{
    const struct uc_curve *curve = &sweep->curves[mode];
    int64_t asked = sweep->asked_bytes[mode];

    return asked > curve->points[i].limit_bytes &&
           (i + 1 == curve->count || asked < curve->points[i + 1].limit_bytes);
}

/** Returns how many points of the curve became rows. */
static size_t add_rows(struct uc_table *table,
                       const struct uc_report_sweep *sweep, int mode, bool all)
{
    const struct uc_curve *curve = &sweep->curves[mode];
    const struct uc_curve_point *last = NULL;
    size_t rows = 0;

    for (size_t i = 0; i < curve->count; i++) {
        const struct uc_curve_point *point = &curve->points[i];
        const char *remark = remark_on(sweep, mode, point);

        if (all || last == NULL || i + 1 == curve->count || *remark != '\0' ||
            moved(last->time_ns, point->time_ns) ||
            moved(last->undivided_ns, point->undivided_ns)) {
            add_row(table, curve, point, remark);
            last = point;
            rows++;
        }
        if (asked_behind(sweep, mode, i)) {
            struct uc_curve_point asked = *point;

            asked.limit_bytes = sweep->asked_bytes[mode];
            add_row(table, curve, &asked, "asked for");
        }
    }
    return rows;
}

static enum uc_status print_curve(FILE *out,
                                  const struct uc_report_sweep *sweep, int mode,
                                  bool all, struct uc_error *err)
{
    static const char *const titles[] = { "limit",     "bytes", "time", "speed",
                                          "undivided", "gain",  "" };
    const struct uc_curve *curve = &sweep->curves[mode];
    struct uc_table table;
    enum uc_status status;
    size_t rows;

    uc_table_init(&table, "rrrrrrl");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        uc_table_add(&table, titles[i]);
    rows = add_rows(&table, sweep, mode, all);
    fprintf(out, "\n%s (%s), limit %s", modes[mode].name,
            modes[mode].short_name, modes[mode].whole);
    if (rows < curve->count)
        fprintf(out, ": %zu of %zu limits (--all shows them all)", rows,
                curve->count);
    fputs("\n\n", out);
    status = uc_table_print(&table, out, err);
    uc_table_free(&table);
    return status;
}

enum uc_status uc_report_sweep_table(FILE *out,
                                     const struct uc_report_sweep *sweep,
                                     bool all, struct uc_error *err)
{
    enum uc_status status = UC_OK;

    print_header(out, sweep);
    for (int mode = 0; mode < 2 && status == UC_OK; mode++)
        status = print_curve(out, sweep, mode, all, err);
    return status;
}

void uc_report_sweep_titles(const struct uc_report_sweep *sweep,
                            enum uc_math math, char *title, size_t size,
                            char subtitle[UC_REPORT_LINE])
{
    char versions[UC_REPORT_LINE];

    snprintf(title, size, "%s, batch %lld, %s", sweep->network,
             (long long)sweep->batch, uc_math_name(math));
    uc_report_versions(&sweep->environment->versions, versions);
    snprintf(subtitle, UC_REPORT_LINE, "%s, %.150s",
             sweep->environment->device.name, versions);
}
