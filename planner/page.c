#include "config.h"

#include "planner/page.h"

#include "common/bytes.h"
#include "planner/canvas.h"
#include "planner/chart.h"
#include "planner/page_bars.h"
#include "planner/report.h"

#include <math.h>
#include <string.h>

static const char style[] = {
#include "planner/page_style.inc"
};
static const char script[] = {
#include "planner/page_script.inc"
};

/** SHA-256 of the script, the only one that browsers let run. */
#define SCRIPT_HASH "+yjnQM2PZSRKiI/f6a9pbWlHX+yWun5C3kV92fJuowk="

/* ---------------------------------------------------------------- texts */

/** Somebody's text: escaped, and its direction of writing kept inside. */
static void put_name(FILE *out, const char *text)
{
    fputs("<bdi>", out);
    uc_markup_text(out, text);
    fputs("</bdi>", out);
}

static void put_time(FILE *out, int64_t ns)
{
    char text[UC_REPORT_TEXT];

    uc_report_time(ns, text);
    fputs(text, out);
}

static void put_bytes(FILE *out, int64_t bytes)
{
    char text[UC_BYTES_TEXT];

    uc_bytes_print(bytes, text);
    fputs(text, out);
}

static const char *mode_name(const struct uc_plan *plan)
{
    return plan->mode == UC_PLAN_WR ? "workspace reuse (WR)"
                                    : "workspace division (WD)";
}

static const char *limit_of(const struct uc_plan *plan)
{
    return plan->mode == UC_PLAN_WR ? "per operation" : "in total";
}

/* --------------------------------------------------------------- totals */

static void put_heading(FILE *out, const struct uc_plan *plan)
{
    char line[UC_REPORT_LINE];

    fputs("<h1>", out);
    put_name(out, plan->network);
    fprintf(out, " <span class=\"faint\">&middot; %s, ", mode_name(plan));
    put_bytes(out, plan->limit_bytes);
    fprintf(out, " %s</span></h1>\n<p class=\"faint\">", limit_of(plan));
    uc_report_device(&plan->environment.device, line);
    put_name(out, line);
    fputs("<br>", out);
    uc_report_versions(&plan->environment.versions, line);
    put_name(out, line);
    fputs("</p>\n", out);
}

/** One of the times to compare with; `more` is shown when there is none. */
static void put_baseline(FILE *out, const char *title, int64_t ns,
                         int64_t predicted_ns, const char *more)
{
    char gain[UC_REPORT_TEXT];

    fprintf(out, "<div><dt>%s</dt><dd>", title);
    put_time(out, ns);
    uc_report_gain(ns, predicted_ns, gain);
    if (ns < 0)
        fprintf(out, "<span class=\"more\">%s</span>", more);
    else if (gain[0] != '\0')
        fprintf(out, "<span class=\"more%s\">gain %s</span>",
                ns > predicted_ns ? " gain" : "", gain);
    fputs("</dd></div>\n", out);
}

static void put_totals(FILE *out, const struct uc_plan *plan)
{
    struct uc_plan_totals totals;

    uc_plan_totals(plan, &totals);
    fputs("<dl class=\"totals\">\n<div><dt>Predicted</dt><dd>", out);
    put_time(out, totals.predicted_ns);
    fputs("<span class=\"more\">all operations, all their runs</span></dd>"
          "</div>\n",
          out);
    put_baseline(out, "Undivided, same limit", totals.undivided_ns,
                 totals.predicted_ns, "not every operation fits");
    put_baseline(out, "Undivided, any workspace", totals.unlimited_ns,
                 totals.predicted_ns, "not every operation runs");
    fputs("<div><dt>Workspace needed</dt><dd>", out);
    put_bytes(out, totals.workspace_bytes);
    fputs("<span class=\"more\">of ", out);
    put_bytes(out, plan->limit_bytes);
    fprintf(out, " %s</span></dd></div>\n</dl>\n", limit_of(plan));
}

/* -------------------------------------------------------------- picture */

static void put_chart(FILE *out, const struct uc_page_plan *of,
                      const struct uc_plan_totals *totals)
{
    static const char label[] = "Predicted time against workspace";
    struct uc_chart chart = { "", "", .target = of->target };

    uc_chart_add(&chart, of->curve, of->plan->limit_bytes);
    /* The plan's own time, whatever the curve says there. */
    chart.curves[of->curve->mode].asked_bytes = of->plan->limit_bytes;
    chart.curves[of->curve->mode].asked_ns = totals->predicted_ns;
    fputs("<div class=\"wide\">", out);
    uc_canvas_markup(1180, 420, label, uc_chart_draw, &chart, out);
    fputs("</div>\n<div class=\"narrow\">", out);
    uc_canvas_markup(370, 390, label, uc_chart_draw, &chart, out);
    fputs("</div>\n", out);
}

static void put_picture(FILE *out, const struct uc_page_plan *of)
{
    const struct uc_curve_point *at, *knee;
    char share[UC_REPORT_TEXT];
    struct uc_plan_totals totals;

    fputs("<h2>Time against workspace</h2>\n<p class=\"note\">", out);
    if (of->curve == NULL) {
        fputs("Not drawn: ", out);
        uc_markup_text(out, of->why_none);
        fputs(". <code>show --html FILE --profile FILE</code> takes the curve "
              "from another profile.</p>\n",
              out);
        return;
    }
    uc_plan_totals(of->plan, &totals);
    knee = uc_curve_knee(of->curve, of->target);
    uc_report_share(of->target, share);
    fprintf(out, "%s of the best speed (", share);
    put_time(out, of->curve->best_ns);
    fputs(") needs ", out);
    put_bytes(out, knee->limit_bytes);
    fprintf(out, " %s. The dashed line is this plan&#39;s limit.",
            limit_of(of->plan));
    at = uc_curve_at(of->curve, of->plan->limit_bytes);
    if (at == NULL || at->time_ns != totals.predicted_ns)
        fputs(" The plan was made with other options or measurements than "
              "the curve: its point is not on it.",
              out);
    fputs("</p>\n", out);
    put_chart(out, of, &totals);
}

/* ----------------------------------------------------------- operations */

static void put_heads(FILE *out)
{
    static const struct {
        const char *title, *class;
    } heads[] = {
        { "layer", "" },           { "operation", "" },
        { "runs", "number" },      { "micro-batches", "fixed" },
        { "split", "" },           { "kernel", "" },
        { "workspace", "number" }, { "time", "number" },
        { "undivided", "number" }, { "gain", "number" },
    };

    fputs("<thead><tr>\n", out);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        fprintf(out,
                "<th scope=\"col\" class=\"%s\"><button type=\"button\">%s"
                "</button></th>\n",
                heads[i].class, heads[i].title);
    fputs("</tr></thead>\n", out);
}

/** A cell that sorts by a number; its text follows. */
static void begin_number(FILE *out, const char *label, double value)
{
    fprintf(out, "<td class=\"number\" data-label=\"%s\" data-v=\"%.0f\">",
            label, trunc(value));
}

static void put_operation(FILE *out, const struct uc_plan_operation *op,
                          const struct uc_bars *bars)
{
    char text[512];
    double gain = op->undivided_ns < 0
                      ? -1
                      : 1e6 * (double)op->undivided_ns /
                            (double)(op->time_ns > 0 ? op->time_ns : 1);

    fputs("<tr><td class=\"layer\">", out);
    put_name(out, op->layer);
    fprintf(out,
            "</td><td class=\"operation\" data-label=\"operation\">%s</td>",
            uc_operation_name(op->problem.operation));
    begin_number(out, "runs", (double)op->repeat);
    fprintf(out, "%lld</td><td class=\"bar\" data-v=\"%lld\">",
            (long long)op->repeat, (long long)op->time_ns);
    uc_bars_print(out, bars, op);
    uc_report_split(op, text, sizeof text);
    fprintf(out, "</td><td class=\"split\" data-label=\"split\">%s</td>", text);
    uc_report_kernels(op, text, sizeof text);
    fputs("<td class=\"kernel\" data-label=\"kernel\">", out);
    uc_markup_text(out, text);
    fputs("</td>", out);
    begin_number(out, "workspace", (double)op->workspace_bytes);
    put_bytes(out, op->workspace_bytes);
    fputs("</td>", out);
    begin_number(out, "time", (double)op->time_ns);
    put_time(out, op->time_ns);
    fputs("</td>", out);
    begin_number(out, "undivided", (double)op->undivided_ns);
    put_time(out, op->undivided_ns);
    fputs("</td>", out);
    begin_number(out, "gain", gain);
    uc_report_gain(op->undivided_ns, op->time_ns, text);
    fprintf(out, "%s</td></tr>\n", text[0] != '\0' ? text : "-");
}

static void put_operations(FILE *out, const struct uc_plan *plan)
{
    const char *notes[UC_REPORT_NOTES];
    size_t note_count = uc_report_plan_notes(plan, notes);
    struct uc_bars bars;

    uc_bars_init(&bars, plan);
    fputs("<h2>Operations</h2>\n<p class=\"note\">Micro-batches to scale: a "
          "block&#39;s width is its time (all of it is ",
          out);
    put_time(out, bars.full_ns);
    fputs("), its height its workspace (all of it is ", out);
    put_bytes(out, bars.full_bytes);
    fputs("). The line below is the undivided operation under the same limit; "
          "one that is longer ends at the edge. Times are of one run.</p>\n",
          out);
    uc_bars_print_keys(out, &bars);
    fputs("<table class=\"operations\">\n", out);
    put_heads(out);
    fputs("<tbody>\n", out);
    for (size_t i = 0; i < plan->operation_count; i++)
        put_operation(out, &plan->operations[i], &bars);
    fputs("</tbody>\n</table>\n", out);
    for (size_t i = 0; i < note_count; i++)
        fprintf(out, "<p class=\"note\">%s</p>\n", notes[i]);
}

/* ----------------------------------------------------------------- page */

static void put_plan(FILE *out, const struct uc_page_plan *of, size_t number)
{
    const struct uc_plan *plan = of->plan;
    char date[UC_REPORT_TEXT], choices[UC_REPORT_CHOICES];

    fprintf(out, "<section id=\"plan-%zu\">\n", number);
    put_heading(out, plan);
    put_totals(out, plan);
    put_picture(out, of);
    put_operations(out, plan);
    uc_report_date(plan->created_at, date);
    fprintf(out, "<p class=\"note\">Created %s UTC by ucudnn-plan ", date);
    uc_markup_text(out, plan->tool);
    fputs("; micro-batch sizes: ", out);
    uc_report_choices(plan->policy, &plan->choices, choices);
    uc_markup_text(out, choices);
    fputs(".</p>\n</section>\n", out);
}

static void put_contents(FILE *out, const struct uc_page_plan *plans,
                         size_t count)
{
    fputs("<nav>", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "<a href=\"#plan-%zu\">", i + 1);
        put_name(out, plans[i].plan->network);
        fprintf(out, ", %s, ", plans[i].plan->mode == UC_PLAN_WR ? "WR" : "WD");
        put_bytes(out, plans[i].plan->limit_bytes);
        fputs("</a>\n", out);
    }
    fputs("</nav>\n", out);
}

static void put_head(FILE *out, const struct uc_page_plan *plans, size_t count)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\""
          "default-src 'none'; style-src 'unsafe-inline'; "
          "script-src 'sha256-" SCRIPT_HASH "'\">\n"
          "<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\">\n<title>",
          out);
    uc_markup_text(out, count > 0 ? plans[0].plan->network : "no plans");
    fputs(" - ucudnn plan</title>\n<style>\n", out);
    fwrite(style, 1, sizeof style - 1, out);
    fputs("</style>\n</head>\n", out);
}

void uc_page_print(FILE *out, const struct uc_page_plan *plans, size_t count)
{
    put_head(out, plans, count);
    fputs("<body>\n<main>\n", out);
    if (count == 0)
        fputs("<p>No plans.</p>\n", out);
    if (count > 1)
        put_contents(out, plans, count);
    for (size_t i = 0; i < count; i++)
        put_plan(out, &plans[i], i + 1);
    fputs("<footer>Written by ucudnn-plan " PACKAGE_VERSION
          ".</footer>\n</main>\n<script>",
          out);
    fwrite(script, 1, sizeof script - 1, out);
    fputs("</script>\n</body>\n</html>\n", out);
}
