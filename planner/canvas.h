/**
 * @file canvas.h
 * What a chart is drawn on: an image file, or markup inside an HTML page.
 *
 * An ink says what is drawn; the canvas decides colour, width and dashes. A
 * canvas remembers what goes wrong and says it at its end.
 *
 * Units:   points of a coordinate system with its origin at the top left;
 *          an image has a pixel (SVG) or two (PNG) a point.
 * Owner:   borrows everything.
 * Errors:  UC_EINPUT (built without cairo), UC_EFILE, UC_EINTERNAL.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_CANVAS_H
#define UC_PLANNER_CANVAS_H

#include "common/error.h"

#include <stddef.h>
#include <stdio.h>

enum uc_ink {
    UC_INK_TEXT,
    UC_INK_TITLE,
    UC_INK_FAINT, /**< text beside the matter */
    UC_INK_AXIS,
    UC_INK_GRID,
    UC_INK_REUSE, /**< curves: WR, the same undivided; WD, the same */
    UC_INK_REUSE_UNDIVIDED,
    UC_INK_DIVISION,
    UC_INK_DIVISION_UNDIVIDED,
    UC_INK_ASKED, /**< the limit asked for */
    UC_INKS
};

enum uc_anchor { UC_START, UC_MIDDLE, UC_END };

struct uc_canvas_point {
    double x, y;
};

struct uc_canvas {
    double width, height;
    void (*path)(struct uc_canvas *canvas, enum uc_ink ink,
                 const struct uc_canvas_point *points, size_t count);
    void (*disc)(struct uc_canvas *canvas, enum uc_ink ink,
                 struct uc_canvas_point at, double radius);
    /** The baseline starts, is centred or ends at the point. */
    void (*text)(struct uc_canvas *canvas, enum uc_ink ink,
                 struct uc_canvas_point at, enum uc_anchor anchor,
                 const char *text);
};

/* ------------------------------------------------------------ by cairo */

enum uc_image { UC_IMAGE_SVG, UC_IMAGE_PNG };

/** Draws on a canvas. */
typedef void uc_canvas_draw(struct uc_canvas *canvas, const void *context);

/** An image file of what is drawn, to a stream. */
enum uc_status uc_canvas_image(enum uc_image kind, double width, double height,
                               uc_canvas_draw *draw, const void *context,
                               FILE *out, struct uc_error *err);

/** UC_OK when images can be made, else why not: before work is done. */
enum uc_status uc_canvas_can_image(struct uc_error *err);

/* ----------------------------------------------------------- as markup */

/**
 * An <svg> element for an HTML page, whose style sheet gives ink N the class
 * that uc_canvas_class(N) names. Texts are escaped.
 */
void uc_canvas_markup(double width, double height, const char *label,
                      uc_canvas_draw *draw, const void *context, FILE *out);
const char *uc_canvas_class(enum uc_ink ink);

/** One line of text, with what HTML and XML give a meaning escaped, in
 * attributes too; what is not printable, or no UTF-8, becomes '?'. */
void uc_markup_text(FILE *out, const char *text);

#endif
