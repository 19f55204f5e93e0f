#include "config.h"

#include "planner/chart.h"

#include "common/bytes.h"
#include "planner/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** Times that differ by less are the same to the eye. */
#define VISIBLE 0.005

enum { LINE = 19, TICK = 5, OCTAVES = 15 /**< most, of the x axis */ };

static const struct {
    enum uc_ink planned, undivided;
    const char *planned_name, *undivided_name;
    const char *unit;
} inks[] = {
    [UC_PLAN_WR] = { UC_INK_REUSE, UC_INK_REUSE_UNDIVIDED,
                     "planned, limit per operation (WR)",
                     "undivided, limit per operation", "per operation" },
    [UC_PLAN_WD] = { UC_INK_DIVISION, UC_INK_DIVISION_UNDIVIDED,
                     "planned, total of all operations (WD)",
                     "undivided, total of all operations", "in total" },
};

/** Where things are: the plot's box, and the scales along it. */
struct frame {
    const struct uc_chart *chart;
    struct uc_canvas *canvas;
    double left, right, top, bottom;
    int first;     /**< power of two at `origin` */
    double last;   /**< the same at `right`: a curve's end is no power */
    double origin; /**< x of 2^first; "0" is at `left` */
    double most_ms, step_ms;
};

static double x_of(const struct frame *f, int64_t bytes)
{
    double power = bytes > 0 ? log2((double)bytes) : 0;

    if (bytes <= 0 || power < f->first)
        return f->left;
    return f->origin + (fmin(power, f->last) - f->first) *
                           (f->right - f->origin) / (f->last - f->first);
}

static double y_of(const struct frame *f, int64_t ns)
{
    return f->bottom - (double)ns / 1e6 / f->most_ms * (f->bottom - f->top);
}

void uc_chart_add(struct uc_chart *chart, const struct uc_curve *curve,
                  int64_t asked_bytes)
{
    const struct uc_curve_point *at = uc_curve_at(curve, asked_bytes);

    chart->curves[curve->mode] =
        (struct uc_chart_curve){ curve, at != NULL ? asked_bytes : -1,
                                 at != NULL ? at->time_ns : 0 };
}

/* --------------------------------------------------------------- scales */

static bool looks_like(int64_t a, int64_t b)
{
    return fabs((double)a - (double)b) <= VISIBLE * (double)b;
}

static bool points_look_alike(const struct uc_curve_point *a,
                              const struct uc_curve_point *b)
{
    if (!looks_like(a->time_ns, b->time_ns))
        return false;
    return a->undivided_ns == b->undivided_ns ||
           (a->undivided_ns >= 0 && b->undivided_ns >= 0 &&
            looks_like(a->undivided_ns, b->undivided_ns));
}

/** The limits at which a curve first leaves its start, as far as can be seen,
 * and where it is at its best, or changes for the last time that can be. */
static void visible(const struct uc_curve *curve, int64_t *first, int64_t *last)
{
    const struct uc_curve_point *points = curve->points;
    size_t i = 0, j = curve->count - 1;

    while (i + 1 < curve->count && points_look_alike(&points[i], &points[0]))
        i++;
    while (j > 0 &&
           points_look_alike(&points[j - 1], &points[curve->count - 1]))
        j--;
    if (points[0].limit_bytes > 0 || points[i].limit_bytes < *first)
        *first = points[0].limit_bytes > 0 ? points[0].limit_bytes
                                           : points[i].limit_bytes;
    if (points[j].limit_bytes > *last)
        *last = points[j].limit_bytes;
    if (uc_curve_knee(curve, 1)->limit_bytes > *last)
        *last = uc_curve_knee(curve, 1)->limit_bytes;
}

static void scale_x(struct frame *f)
{
    int64_t first = INT64_MAX, last = 0;

    for (int mode = 0; mode < 2; mode++) {
        const struct uc_chart_curve *of = &f->chart->curves[mode];

        if (of->curve == NULL)
            continue;
        visible(of->curve, &first, &last);
        if (of->asked_bytes > last)
            last = of->asked_bytes;
        if (of->asked_bytes > 0 && of->asked_bytes < first)
            first = of->asked_bytes;
    }
    f->first = first > 1 ? (int)floor(log2((double)first)) : 0;
    f->last = last > 1 ? log2((double)last) : 1;
    if (f->last < f->first + 2)
        f->last = f->first + 2;
    if (f->first < f->last - OCTAVES)
        f->first = (int)ceil(f->last) - OCTAVES;
}

/** A step of 1, 2 or 5 times a power of ten, five to ten of them. */
static void scale_y(struct frame *f)
{
    static const double steps[] = { 1, 2, 5, 10 };
    int64_t most = 1;
    double power;
    int i = 0;

    for (int mode = 0; mode < 2; mode++) {
        const struct uc_curve *curve = f->chart->curves[mode].curve;

        for (size_t j = 0; curve != NULL && j < curve->count; j++) {
            const struct uc_curve_point *point = &curve->points[j];

            most = point->time_ns > most ? point->time_ns : most;
            most = point->undivided_ns > most ? point->undivided_ns : most;
        }
    }
    f->most_ms = (double)most / 1e6;
    power = pow(10, floor(log10(f->most_ms / 5)));
    while (i < 3 && power * steps[i] * 6 < f->most_ms)
        i++;
    f->step_ms = power * steps[i];
    f->most_ms = ceil(f->most_ms / f->step_ms - 1e-9) * f->step_ms;
}

/* ----------------------------------------------------------------- axes */

static void line(struct frame *f, enum uc_ink ink, double x1, double y1,
                 double x2, double y2)
{
    const struct uc_canvas_point ends[] = { { x1, y1 }, { x2, y2 } };

    f->canvas->path(f->canvas, ink, ends, 2);
}

static void text(struct frame *f, enum uc_ink ink, double x, double y,
                 enum uc_anchor anchor, const char *words)
{
    f->canvas->text(f->canvas, ink, (struct uc_canvas_point){ x, y }, anchor,
                    words);
}

/** A number of milliseconds with the decimals that the step has. */
static void tick_text(double ms, double step_ms, char *words, size_t size)
{
    int decimals = step_ms >= 1 ? 0 : (int)ceil(-log10(step_ms) - 1e-9);
    long long scale = 1, whole;

    for (int i = 0; i < decimals; i++)
        scale *= 10;
    whole = llround(ms * (double)scale);
    if (decimals == 0)
        snprintf(words, size, "%lld", whole);
    else
        snprintf(words, size, "%lld.%0*lld", whole / scale, decimals,
                 whole % scale);
}

static void draw_y_axis(struct frame *f)
{
    char words[32];

    for (int i = 0; i * f->step_ms <= f->most_ms * (1 + 1e-9); i++) {
        double y =
            f->bottom - i * f->step_ms / f->most_ms * (f->bottom - f->top);

        line(f, i > 0 ? UC_INK_GRID : UC_INK_AXIS, f->left, y, f->right, y);
        tick_text(i * f->step_ms, f->step_ms, words, sizeof words);
        text(f, UC_INK_TEXT, f->left - 8, y + 4.5, UC_END, words);
    }
    text(f, UC_INK_FAINT, 16, f->top - 14, UC_START, "predicted time, ms");
}

static void draw_x_axis(struct frame *f)
{
    const double room = 62; /* of a label */
    double each = (f->right - f->origin) / (f->last - f->first);
    int stride = 1, end = (int)fmin(floor(f->last), 62); /* of an int64_t */
    char words[UC_BYTES_TEXT];

    while (stride * each < room)
        stride++;
    for (int power = f->first; power <= end; power++) {
        double x = f->origin + (power - f->first) * each;

        line(f, UC_INK_AXIS, x, f->bottom, x, f->bottom + TICK);
        if ((end - power) % stride != 0 || x - f->left < room * 0.7)
            continue;
        line(f, UC_INK_GRID, x, f->top, x, f->bottom);
        uc_bytes_print((int64_t)1 << power, words);
        text(f, UC_INK_TEXT, x, f->bottom + LINE, UC_MIDDLE, words);
    }
    line(f, UC_INK_AXIS, f->left, f->bottom, f->left, f->bottom + TICK);
    text(f, UC_INK_TEXT, f->left, f->bottom + LINE, UC_MIDDLE, "0");
    text(f, UC_INK_FAINT, (f->left + f->right) / 2, f->bottom + 2 * LINE,
         UC_MIDDLE, "workspace, bytes (logarithmic)");
}

/* --------------------------------------------------------------- curves */

/** One of a curve's two times as steps; -1 is not drawn, nor are steps that
 * are too small to be seen. */
static void draw_steps(struct frame *f, const struct uc_curve *curve,
                       bool undivided)
{
    const double least = 0.2;
    struct uc_canvas_point *path =
        malloc((2 * curve->count + 1) * sizeof *path);
    size_t used = 0;

    for (size_t i = 0; i < curve->count && path != NULL; i++) {
        const struct uc_curve_point *point = &curve->points[i];
        int64_t ns = undivided ? point->undivided_ns : point->time_ns;
        double x = x_of(f, point->limit_bytes), y = y_of(f, ns);

        if (ns < 0 || (used > 0 && fabs(y - path[used - 1].y) < least))
            continue;
        if (used > 0) {
            path[used] = (struct uc_canvas_point){ x, path[used - 1].y };
            used++;
        }
        path[used++] = (struct uc_canvas_point){ x, y };
    }
    if (used > 0) {
        path[used] = (struct uc_canvas_point){ f->right, path[used - 1].y };
        f->canvas->path(f->canvas,
                        undivided ? inks[curve->mode].undivided
                                  : inks[curve->mode].planned,
                        path, used + 1);
    }
    free(path);
}

/** A disc, and its limit below the curves, where nothing else is drawn but
 * the line of a limit asked for. */
static void draw_knee(struct frame *f, const struct uc_chart_curve *of)
{
    const double room = 80; /* of the limit */
    const struct uc_curve_point *knee =
        uc_curve_knee(of->curve, f->chart->target);
    enum uc_ink ink = inks[of->curve->mode].planned;
    struct uc_canvas_point at = { x_of(f, knee->limit_bytes),
                                  y_of(f, knee->time_ns) };
    double right = f->right + 20 - room;
    char words[UC_BYTES_TEXT];
    bool to_left;

    for (int mode = 0; mode < 2; mode++) {
        const struct uc_chart_curve *other = &f->chart->curves[mode];
        double x = x_of(f, other->asked_bytes);

        if (other->curve != NULL && other->asked_bytes >= 0 && x > at.x &&
            x - room < right)
            right = x - room;
    }
    to_left = at.x > right && at.x - room > f->left;
    uc_bytes_print(knee->limit_bytes, words);
    f->canvas->disc(f->canvas, ink, at, 5.5);
    if (at.y + 24 > f->bottom) { /* no room below */
        to_left = of->curve->mode == UC_PLAN_WR && at.x - room > f->left;
        text(f, ink, to_left ? at.x - 12 : at.x + 4,
             to_left ? at.y + 4.5 : at.y - 10, to_left ? UC_END : UC_START,
             words);
        return;
    }
    text(f, ink, to_left ? at.x - 4 : at.x + 4, at.y + 20,
         to_left ? UC_END : UC_START, words);
}

/** A line, and above the plot what is where it meets the curve. */
static void draw_asked(struct frame *f, const struct uc_chart_curve *of)
{
    const double room = 70; /* of half the words */
    double x = x_of(f, of->asked_bytes), y = y_of(f, of->asked_ns);
    char bytes[UC_BYTES_TEXT], time[UC_REPORT_TEXT], words[96];
    enum uc_anchor anchor = UC_MIDDLE;
    const struct uc_chart_curve *reuse = &f->chart->curves[UC_PLAN_WR];
    bool above = of->curve->mode == UC_PLAN_WD && reuse->curve != NULL &&
                 reuse->asked_bytes >= 0;

    if (of->asked_bytes < 0)
        return;
    line(f, UC_INK_ASKED, x, f->top - 4, x, f->bottom);
    f->canvas->disc(f->canvas, UC_INK_ASKED, (struct uc_canvas_point){ x, y },
                    4);
    uc_bytes_print(of->asked_bytes, bytes);
    uc_report_time(of->asked_ns, time);
    snprintf(words, sizeof words, "%s: %s", bytes, time);
    if (x - room < 150) /* where the axis has its title */
        anchor = UC_START;
    else if (x + room > f->canvas->width)
        anchor = UC_END;
    text(f, UC_INK_TEXT, x, f->top - (above ? 25 : 9), anchor, words);
}

/* --------------------------------------------------------------- legend */

static double draw_key(struct frame *f, enum uc_ink ink, double x, double y,
                       const char *words)
{
    line(f, ink, x, y - 4.5, x + 26, y - 4.5);
    text(f, UC_INK_TEXT, x + 33, y, UC_START, words);
    return y + LINE;
}

/** Titles and keys from `y` down, in two columns when there is room; returns
 * where they end. */
static double draw_head(struct frame *f, double y)
{
    const struct uc_chart *chart = f->chart;
    double middle = f->canvas->width / 2, left = 16;
    bool wide = f->canvas->width >= 640;
    char words[64], share[UC_REPORT_TEXT];

    if (chart->title[0] != '\0') {
        text(f, UC_INK_TITLE, left, y, UC_START, chart->title);
        y += LINE;
    }
    if (chart->subtitle[0] != '\0') {
        text(f, UC_INK_FAINT, left, y, UC_START, chart->subtitle);
        y += LINE + 3;
    }
    for (int mode = 0; mode < 2; mode++) {
        double below = y;

        if (chart->curves[mode].curve == NULL)
            continue;
        below =
            draw_key(f, inks[mode].planned, left, y, inks[mode].planned_name);
        if (!wide)
            y = below;
        below = draw_key(f, inks[mode].undivided, wide ? middle : left, y,
                         inks[mode].undivided_name);
        y = below;
    }
    uc_report_share(chart->target, share);
    snprintf(words, sizeof words, "%s of the best speed", share);
    f->canvas->disc(f->canvas,
                    chart->curves[UC_PLAN_WR].curve != NULL ? UC_INK_REUSE
                                                            : UC_INK_DIVISION,
                    (struct uc_canvas_point){ left + 13, y - 4.5 }, 5.5);
    text(f, UC_INK_TEXT, left + 33, y, UC_START, words);
    return y + LINE;
}

void uc_chart_draw(struct uc_canvas *canvas, const void *context)
{
    struct frame f = { .chart = context, .canvas = canvas };

    f.left = 58;
    f.right = canvas->width - 30;
    f.bottom = canvas->height - 2 * LINE - 10;
    f.top = draw_head(&f, 24) + 32;
    f.origin = f.left + (f.right - f.left) * 0.06;
    scale_x(&f);
    scale_y(&f);
    draw_x_axis(&f);
    draw_y_axis(&f);
    for (int mode = 1; mode >= 0; mode--)
        if (f.chart->curves[mode].curve != NULL) {
            draw_steps(&f, f.chart->curves[mode].curve, true);
            draw_steps(&f, f.chart->curves[mode].curve, false);
        }
    for (int mode = 1; mode >= 0; mode--)
        if (f.chart->curves[mode].curve != NULL) {
            draw_asked(&f, &f.chart->curves[mode]);
            draw_knee(&f, &f.chart->curves[mode]);
        }
}
