#include "config.h"

#include "planner/canvas.h"

#include <cairo-svg.h>

struct style {
    double red, green, blue, width;
    double dash; /**< length of dashes and gaps; 0: none */
    double size; /**< of text */
    cairo_font_weight_t weight;
};

#define COLOUR(hex)                                                      \
    (double)((hex) >> 16 & 255) / 255, (double)((hex) >> 8 & 255) / 255, \
        (double)((hex)&255) / 255

static const struct style styles[UC_INKS] = {
    [UC_INK_TEXT] = { COLOUR(0x24292f), 1, 0, 13, CAIRO_FONT_WEIGHT_NORMAL },
    [UC_INK_TITLE] = { COLOUR(0x24292f), 1, 0, 16, CAIRO_FONT_WEIGHT_BOLD },
    [UC_INK_FAINT] = { COLOUR(0x57606a), 1, 0, 12, CAIRO_FONT_WEIGHT_NORMAL },
    [UC_INK_AXIS] = { COLOUR(0x57606a), 1, 0, 13, CAIRO_FONT_WEIGHT_NORMAL },
    [UC_INK_GRID] = { COLOUR(0xe4e7eb), 1, 0, 13, CAIRO_FONT_WEIGHT_NORMAL },
    [UC_INK_REUSE] = { COLOUR(0x0b6bcb), 2.6, 0, 13, CAIRO_FONT_WEIGHT_BOLD },
    [UC_INK_REUSE_UNDIVIDED] = { COLOUR(0x0b6bcb), 1.5, 5, 13,
                                 CAIRO_FONT_WEIGHT_NORMAL },
    [UC_INK_DIVISION] = { COLOUR(0xc2560c), 2.6, 0, 13,
                          CAIRO_FONT_WEIGHT_BOLD },
    [UC_INK_DIVISION_UNDIVIDED] = { COLOUR(0xc2560c), 1.5, 5, 13,
                                    CAIRO_FONT_WEIGHT_NORMAL },
    [UC_INK_ASKED] = { COLOUR(0x24292f), 1.2, 3, 13, CAIRO_FONT_WEIGHT_NORMAL },
};

struct cairo_canvas {
    struct uc_canvas canvas; /**< first */
    cairo_t *cairo;
};

/** Our cairo context, with the ink's colour, line and font. */
static cairo_t *with_ink(struct uc_canvas *canvas, enum uc_ink ink)
{
    cairo_t *cairo = ((struct cairo_canvas *)canvas)->cairo;
    const struct style *style = &styles[ink];

    cairo_set_source_rgb(cairo, style->red, style->green, style->blue);
    cairo_set_line_width(cairo, style->width);
    cairo_set_dash(cairo, &style->dash, style->dash > 0, 0);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_new_path(cairo);
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           style->weight);
    cairo_set_font_size(cairo, style->size);
    return cairo;
}

static void draw_path(struct uc_canvas *canvas, enum uc_ink ink,
                      const struct uc_canvas_point *points, size_t count)
{
    cairo_t *cairo = with_ink(canvas, ink);

    for (size_t i = 0; i < count; i++)
        cairo_line_to(cairo, points[i].x, points[i].y);
    cairo_stroke(cairo);
}

static void draw_disc(struct uc_canvas *canvas, enum uc_ink ink,
                      struct uc_canvas_point at, double radius)
{
    cairo_t *cairo = with_ink(canvas, ink);

    cairo_arc(cairo, at.x, at.y, radius, 0, 6.283185307179586);
    cairo_fill_preserve(cairo);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_set_line_width(cairo, 1.5);
    cairo_set_dash(cairo, NULL, 0, 0);
    cairo_stroke(cairo);
}

static void draw_text(struct uc_canvas *canvas, enum uc_ink ink,
                      struct uc_canvas_point at, enum uc_anchor anchor,
                      const char *text)
{
    cairo_t *cairo = with_ink(canvas, ink);
    cairo_text_extents_t extents;

    cairo_text_extents(cairo, text, &extents);
    at.x -= extents.x_advance * anchor / 2;
    cairo_move_to(cairo, at.x, at.y);
    if (ink == UC_INK_REUSE || ink == UC_INK_DIVISION) {
        /* It may lie on a line: clear the paper around it. */
        cairo_text_path(cairo, text);
        cairo_set_source_rgb(cairo, 1, 1, 1);
        cairo_set_line_width(cairo, 5);
        cairo_stroke(cairo);
        with_ink(canvas, ink);
        cairo_move_to(cairo, at.x, at.y);
    }
    cairo_show_text(cairo, text);
}

static cairo_status_t write_to(void *stream, const unsigned char *bytes,
                               unsigned length)
{
    return fwrite(bytes, 1, length, stream) == length
               ? CAIRO_STATUS_SUCCESS
               : CAIRO_STATUS_WRITE_ERROR;
}

/** A PNG has two pixels a point. */
enum { PNG_SCALE = 2 };

static cairo_surface_t *surface_of(enum uc_image kind, double width,
                                   double height, FILE *out)
{
    if (kind == UC_IMAGE_SVG)
        return cairo_svg_surface_create_for_stream(write_to, out, width,
                                                   height);
    return cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, (int)width * PNG_SCALE, (int)height * PNG_SCALE);
}

enum uc_status uc_canvas_image(enum uc_image kind, double width, double height,
                               uc_canvas_draw *draw, const void *context,
                               FILE *out, struct uc_error *err)
{
    cairo_surface_t *surface = surface_of(kind, width, height, out);
    struct cairo_canvas canvas = {
        .canvas = { width, height, draw_path, draw_disc, draw_text },
        .cairo = cairo_create(surface),
    };
    cairo_status_t failed;

    if (kind == UC_IMAGE_PNG)
        cairo_scale(canvas.cairo, PNG_SCALE, PNG_SCALE);
    cairo_set_source_rgb(canvas.cairo, 1, 1, 1);
    cairo_paint(canvas.cairo);
    draw(&canvas.canvas, context);
    failed = cairo_status(canvas.cairo);
    if (failed == CAIRO_STATUS_SUCCESS && kind == UC_IMAGE_PNG)
        failed = cairo_surface_write_to_png_stream(surface, write_to, out);
    cairo_destroy(canvas.cairo);
    cairo_surface_finish(surface);
    if (failed == CAIRO_STATUS_SUCCESS)
        failed = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (failed == CAIRO_STATUS_SUCCESS || failed == CAIRO_STATUS_WRITE_ERROR)
        return UC_OK; /* the stream's owner finds write errors */
    return uc_fail(err, UC_EINTERNAL, "drawing: %s",
                   cairo_status_to_string(failed));
}

enum uc_status uc_canvas_can_image(struct uc_error *err)
{
    (void)err;
    return UC_OK;
}
