#include "config.h"

#include "planner/canvas.h"

#include "tests/unit.h"

#include <stdlib.h>

static char *markup(const char *text)
{
    char *bytes = NULL;
    size_t length;
    FILE *out = open_memstream(&bytes, &length);

    assert_non_null(out);
    uc_markup_text(out, text);
    assert_int_equal(fclose(out), 0);
    return bytes;
}

static void text_stays_text(void **state)
{
    static const struct {
        const char *text, *markup;
    } cases[] = {
        { "", "" },
        { "conv1 a/b_c-d.e", "conv1 a/b_c-d.e" },
        { "<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;" },
        { "&lt;", "&amp;lt;" },
        { "\xce\xbc-cuDNN \xe5\xb1\xa4", "\xce\xbc-cuDNN \xe5\xb1\xa4" },
        /* no UTF-8: a start without its rest must not eat what follows */
        { "a\xffz", "a?z" },
        { "\xc3<", "?&lt;" },
        { "\xe5\xb1", "??" },
        { "\xc0\xbc", "??" }, /* '<', too long */
        /* control characters and separators of lines */
        { "a\n\tb\x7f", "a??b?" },
        { "\xc2\x85", "?" },
        { "a\xe2\x80\xa8z", "a?z" },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char *got = markup(cases[i].text);

        assert_string_equal(got, cases[i].markup);
        free(got);
    }
}

static void draw(struct uc_canvas *canvas, const void *context)
{
    static const struct uc_canvas_point points[] = { { 0, 1.25 },
                                                     { -0.51, 1000 } };

    (void)context;
    assert_true(canvas->width > 119 && canvas->width < 121);
    canvas->path(canvas, UC_INK_REUSE, points, 2);
    canvas->disc(canvas, UC_INK_ASKED, points[0], 4.5);
    canvas->text(canvas, UC_INK_TEXT, points[1], UC_END, "1 < 2");
}

static void a_drawing_is_markup(void **state)
{
    char *bytes = NULL;
    size_t length;
    FILE *out = open_memstream(&bytes, &length);

    (void)state;
    assert_non_null(out);
    uc_canvas_markup(120, 80, "a \"b\"", draw, NULL, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(
        bytes, "<svg class=\"chart\" viewBox=\"0 0 120 80\" role=\"img\" "
               "aria-label=\"a &quot;b&quot;\">\n"
               "<polyline class=\"reuse\" points=\"0,1.3 -0.5,1000\"/>\n"
               "<circle class=\"asked\" cx=\"0\" cy=\"1.3\" r=\"4.5\"/>\n"
               "<text class=\"text\" text-anchor=\"end\" x=\"-0.5\" "
               "y=\"1000\">1 &lt; 2</text>\n"
               "</svg>\n");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_stays_text),
        cmocka_unit_test(a_drawing_is_markup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
