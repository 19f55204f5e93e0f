#include "config.h"

#include "planner/canvas.h"

#include "common/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const classes[UC_INKS] = {
    [UC_INK_TEXT] = "text",
    [UC_INK_TITLE] = "title",
    [UC_INK_FAINT] = "faint",
    [UC_INK_AXIS] = "axis",
    [UC_INK_GRID] = "grid",
    [UC_INK_REUSE] = "reuse",
    [UC_INK_REUSE_UNDIVIDED] = "reuse-undivided",
    [UC_INK_DIVISION] = "division",
    [UC_INK_DIVISION_UNDIVIDED] = "division-undivided",
    [UC_INK_ASKED] = "asked",
};

const char *uc_canvas_class(enum uc_ink ink)
{
    return classes[ink];
}

/** What stands for a byte that HTML gives a meaning; NULL: itself. */
static const char *escaped(char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void uc_markup_text(FILE *out, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        uint32_t point;
        size_t bytes = uc_text_decode(text, left, &point);

        if (escaped(*text) != NULL)
            fputs(escaped(*text), out);
        else if (bytes == 0 || !uc_text_is_line(text, bytes))
            putc('?', out);
        else
            fwrite(text, 1, bytes, out);
        bytes = bytes > 0 ? bytes : 1;
        text += bytes;
        left -= bytes;
    }
}

struct markup {
    struct uc_canvas canvas; /**< first */
    FILE *out;
};

/** Tenths, whatever the locale's decimal point. */
static void print_number(FILE *out, double value)
{
    long tenths = lround(value * 10);

    fprintf(out, "%s%ld", tenths < 0 ? "-" : "", labs(tenths) / 10);
    if (tenths % 10 != 0)
        fprintf(out, ".%ld", labs(tenths) % 10);
}

static void print_at(FILE *out, const char *x, const char *y,
                     struct uc_canvas_point at)
{
    fprintf(out, " %s=\"", x);
    print_number(out, at.x);
    fprintf(out, "\" %s=\"", y);
    print_number(out, at.y);
    fputs("\"", out);
}

static void draw_path(struct uc_canvas *canvas, enum uc_ink ink,
                      const struct uc_canvas_point *points, size_t count)
{
    FILE *out = ((struct markup *)canvas)->out;

    fprintf(out, "<polyline class=\"%s\" points=\"", classes[ink]);
    for (size_t i = 0; i < count; i++) {
        print_number(out, points[i].x);
        putc(',', out);
        print_number(out, points[i].y);
        putc(i + 1 < count ? ' ' : '"', out);
    }
    fputs("/>\n", out);
}

static void draw_disc(struct uc_canvas *canvas, enum uc_ink ink,
                      struct uc_canvas_point at, double radius)
{
    FILE *out = ((struct markup *)canvas)->out;

    fprintf(out, "<circle class=\"%s\"", classes[ink]);
    print_at(out, "cx", "cy", at);
    fputs(" r=\"", out);
    print_number(out, radius);
    fputs("\"/>\n", out);
}

static void draw_text(struct uc_canvas *canvas, enum uc_ink ink,
                      struct uc_canvas_point at, enum uc_anchor anchor,
                      const char *text)
{
    static const char *const anchors[] = { "start", "middle", "end" };
    FILE *out = ((struct markup *)canvas)->out;

    fprintf(out, "<text class=\"%s\" text-anchor=\"%s\"", classes[ink],
            anchors[anchor]);
    print_at(out, "x", "y", at);
    putc('>', out);
    uc_markup_text(out, text);
    fputs("</text>\n", out);
}

void uc_canvas_markup(double width, double height, const char *label,
                      uc_canvas_draw *draw, const void *context, FILE *out)
{
    struct markup markup = {
        .canvas = { width, height, draw_path, draw_disc, draw_text },
        .out = out,
    };

    fputs("<svg class=\"chart\" viewBox=\"0 0 ", out);
    print_number(out, width);
    putc(' ', out);
    print_number(out, height);
    fputs("\" role=\"img\" aria-label=\"", out);
    uc_markup_text(out, label);
    fputs("\">\n", out);
    draw(&markup.canvas, context);
    fputs("</svg>\n", out);
}
