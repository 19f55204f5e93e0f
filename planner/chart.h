/**
 * @file chart.h
 * The picture of a sweep: time in milliseconds against workspace, which is
 * logarithmic.
 *
 * What lies left of the axis' first power of two differs by less than can be
 * seen from the time without workspace, and is drawn at "0".
 *
 * Owner:   borrows everything.
 * Errors:  none; the canvas keeps its own.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_CHART_H
#define UC_PLANNER_CHART_H

#include "planner/canvas.h"
#include "planner/curve.h"

struct uc_chart_curve {
    const struct uc_curve *curve; /**< NULL: not drawn */
    int64_t asked_bytes;          /**< a limit to mark; -1: none */
    int64_t asked_ns;             /**< its time */
};

struct uc_chart {
    const char *title, *subtitle;    /**< "": none */
    struct uc_chart_curve curves[2]; /**< by enum uc_plan_mode */
    double target;                   /**< whose knees are marked */
};

/** Put a curve in, with a limit to mark; -1: none. Borrowed. */
void uc_chart_add(struct uc_chart *chart, const struct uc_curve *curve,
                  int64_t asked_bytes);

/** A uc_canvas_draw; `context` is a struct uc_chart. */
void uc_chart_draw(struct uc_canvas *canvas, const void *context);

#endif
