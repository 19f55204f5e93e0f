#include "config.h"

/* A chart goes as far as its curves do: on a canvas that remembers. */

#include "planner/chart.h"

#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>

#define MIB (INT64_C(1) << 20)

struct memory {
    struct uc_canvas canvas;
    char texts[4096]; /**< each between bars */
    double right;     /**< of the widest path in the curve's ink */
    double last_step; /**< where that path changes for the last time */
    double at_4_gib;  /**< where the axis says so */
    double grid_end;  /**< how far the lines of the grid go */
};

static void remember_path(struct uc_canvas *canvas, enum uc_ink ink,
                          const struct uc_canvas_point *points, size_t count)
{
    struct memory *m = (struct memory *)canvas;

    if (ink == UC_INK_GRID && points[0].y == points[count - 1].y)
        m->grid_end = fmax(m->grid_end, points[count - 1].x);
    /* A key of the legend is a line; a curve with a step has more points. */
    if (ink != UC_INK_DIVISION || count < 3)
        return;
    m->right = points[count - 1].x;
    for (size_t i = 1; i < count; i++)
        if (points[i].y != points[i - 1].y)
            m->last_step = points[i].x;
}

static void forget_disc(struct uc_canvas *canvas, enum uc_ink ink,
                        struct uc_canvas_point at, double radius)
{
    (void)canvas;
    (void)ink;
    (void)at;
    (void)radius;
}

static void remember_text(struct uc_canvas *canvas, enum uc_ink ink,
                          struct uc_canvas_point at, enum uc_anchor anchor,
                          const char *text)
{
    struct memory *m = (struct memory *)canvas;
    size_t used = strlen(m->texts);

    (void)ink;
    (void)anchor;
    if (strcmp(text, "4 GiB") == 0)
        m->at_4_gib = at.x;
    snprintf(m->texts + used, sizeof m->texts - used, "|%s|", text);
}

static void draw(const struct uc_curve *curve, struct memory *m)
{
    struct uc_chart chart = { "", "", .target = 0.95 };

    *m = (struct memory){ .canvas = { 800, 470, remember_path, forget_disc,
                                      remember_text } };
    uc_chart_add(&chart, curve, -1);
    uc_chart_draw(&m->canvas, &chart);
}

/** The best is 0.2 % better than what comes before, too little to be seen,
 * and the table still ends there. */
static void the_axis_goes_to_the_best(void **state)
{
    struct uc_curve_point points[] = {
        { 1 * MIB, 40000000, 40000000 },
        { 256 * MIB, 10000000, 20000000 },
        { 4096 * MIB, 9980000, 9980000 },
        { 5120 * MIB, 9970000, 9970000 },
    };
    const struct uc_curve curve = {
        .mode = UC_PLAN_WD, .points = points, .count = 4, .best_ns = 9970000
    };
    struct memory m;

    (void)state;
    draw(&curve, &m);
    assert_non_null(strstr(m.texts, "|4 GiB|"));
    assert_null(strstr(m.texts, "|8 GiB|"));
    assert_true(m.right == m.grid_end);
    assert_true(m.at_4_gib < m.right - 1);
}

/** The end is the best's limit, not the power of two above it: the axis from
 * 1 MiB to 1.5 GiB is log2(1536) = 10.58 steps long. */
static void the_axis_ends_there(void **state)
{
    struct uc_curve_point points[] = {
        { 1 * MIB, 40000000, -1 },
        { 1024 * MIB, 20000000, -1 },
        { 1536 * MIB, 10000000, -1 },
    };
    const struct uc_curve curve = {
        .mode = UC_PLAN_WD, .points = points, .count = 3, .best_ns = 10000000
    };
    struct memory m;

    (void)state;
    draw(&curve, &m);
    assert_non_null(strstr(m.texts, "|1 GiB|"));
    assert_null(strstr(m.texts, "|2 GiB|"));
    assert_true(fabs(m.last_step - m.right) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_axis_goes_to_the_best),
        cmocka_unit_test(the_axis_ends_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
