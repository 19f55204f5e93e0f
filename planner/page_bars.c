#include "config.h"

#include "planner/page_bars.h"

#include "common/bytes.h"
#include "planner/canvas.h"
#include "planner/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** A bar's coordinates; what is below the blocks is the undivided time. */
enum { WIDTH = 1000, BLOCKS = 32, LEAST = 4, LINE_TOP = 34, HEIGHT = 38 };

/** Runs of more are one block. */
enum { MOST_BLOCKS = 128 };

static size_t colour_of(const struct uc_bars *bars, const char *kernel)
{
    for (size_t i = 0; i < bars->kernel_count; i++)
        if (strcmp(bars->kernels[i], kernel) == 0)
            return i;
    return UC_BARS_COLOURS - 1;
}

static void add_kernels(struct uc_bars *bars,
                        const struct uc_plan_operation *op)
{
    for (size_t i = 0; i < op->piece_count; i++) {
        char kernel[UC_KERNEL_TEXT];
        size_t seen = 0;

        uc_kernel_print(&op->pieces[i].kernel, op->problem.operation, kernel);
        while (seen < bars->kernel_count &&
               strcmp(bars->kernels[seen], kernel) != 0)
            seen++;
        if (seen < bars->kernel_count || seen == UC_BARS_COLOURS)
            continue;
        if (seen == UC_BARS_COLOURS - 1)
            strcpy(kernel, "others");
        memcpy(bars->kernels[bars->kernel_count++], kernel, sizeof kernel);
    }
}

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void uc_bars_init(struct uc_bars *bars, const struct uc_plan *plan)
{
    int64_t undivided_ns = 0;

    *bars = (struct uc_bars){ .full_ns = 1, .full_bytes = 1 };
    for (size_t i = 0; i < plan->operation_count; i++) {
        const struct uc_plan_operation *op = &plan->operations[i];

        bars->full_ns = largest(bars->full_ns, op->time_ns);
        bars->full_bytes = largest(bars->full_bytes, op->workspace_bytes);
        undivided_ns = largest(undivided_ns, op->undivided_ns);
        add_kernels(bars, op);
    }
    /* Much slower undivided times must not make the blocks too small. */
    if (undivided_ns > bars->full_ns)
        bars->full_ns =
            undivided_ns / 2 < bars->full_ns ? undivided_ns : bars->full_ns * 2;
}

void uc_bars_print_keys(FILE *out, const struct uc_bars *bars)
{
    fputs("<ul class=\"keys\">\n", out);
    for (size_t i = 0; i < bars->kernel_count; i++) {
        fprintf(out,
                "<li><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><rect "
                "class=\"k%zu\" width=\"14\" height=\"14\" rx=\"3\"/></svg>",
                i);
        uc_markup_text(out, bars->kernels[i]);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

/** Hundredths, whatever the locale's decimal point. */
static void put_number(FILE *out, const char *name, double value)
{
    long hundredths = lround(value * 100);

    fprintf(out, " %s=\"%ld.%02ld\"", name, hundredths / 100, hundredths % 100);
}

static double width_of(const struct uc_bars *bars, double ns)
{
    return fmin(WIDTH, ns / (double)bars->full_ns * WIDTH);
}

static void put_block(FILE *out, size_t colour, double x, double width,
                      double height)
{
    fprintf(out, "<rect class=\"k%zu\"", colour);
    put_number(out, "x", x);
    put_number(out, "width", width);
    put_number(out, "y", BLOCKS - height);
    put_number(out, "height", height);
    fputs("/>", out);
}

/** "3 x 32: winograd, 12 MiB, 1.23 ms each" */
static void put_title(FILE *out, const struct uc_plan_piece *piece,
                      const char *kernel)
{
    char bytes[UC_BYTES_TEXT], time[UC_REPORT_TEXT];

    uc_bytes_print(piece->workspace_bytes, bytes);
    uc_report_time(piece->time_ns, time);
    fputs("<title>", out);
    if (piece->count > 1)
        fprintf(out, "%lld x ", (long long)piece->count);
    fprintf(out, "%lld: ", (long long)piece->size);
    uc_markup_text(out, kernel);
    fprintf(out, ", %s, %s%s</title>", bytes, time,
            piece->count > 1 ? " each" : "");
}

/** Equal pieces in a row; returns where they end. */
static double put_run(FILE *out, const struct uc_bars *bars,
                      const struct uc_plan_operation *op,
                      const struct uc_plan_piece *piece, double x)
{
    int64_t blocks = piece->count <= MOST_BLOCKS ? piece->count : 1;
    double width =
        width_of(bars, (double)piece->time_ns * (double)piece->count) /
        (double)blocks;
    double height =
        (double)piece->workspace_bytes / (double)bars->full_bytes * BLOCKS;
    char kernel[UC_KERNEL_TEXT];

    uc_kernel_print(&piece->kernel, op->problem.operation, kernel);
    fputs("<g>", out);
    put_title(out, piece, kernel);
    for (int64_t i = 0; i < blocks; i++, x += width)
        put_block(out, colour_of(bars, kernel), x, width, fmax(LEAST, height));
    fputs("</g>", out);
    return x;
}

void uc_bars_print(FILE *out, const struct uc_bars *bars,
                   const struct uc_plan_operation *operation)
{
    double x = 0;

    fprintf(out,
            "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
            "role=\"img\" aria-label=\"micro-batches\"><rect class=\"ground\" "
            "width=\"%d\" height=\"%d\"/>",
            WIDTH, HEIGHT, WIDTH, BLOCKS);
    for (size_t i = 0; i < operation->piece_count; i++)
        x = put_run(out, bars, operation, &operation->pieces[i], x);
    if (operation->undivided_ns >= 0) {
        fputs("<rect class=\"undivided\"", out);
        put_number(out, "width",
                   width_of(bars, (double)operation->undivided_ns));
        fprintf(out, " y=\"%d\" height=\"3\"/>", LINE_TOP);
    }
    fputs("</svg>", out);
}
