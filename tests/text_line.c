#include "config.h"

#include "common/text.h"
#include "tests/unit.h"

static void characters_are_decoded(void **state)
{
    uint32_t point = 7;

    (void)state;
    assert_int_equal(uc_text_decode("", 0, &point), 0);
    assert_int_equal(point, 7);
    assert_int_equal(uc_text_decode("\xe2\x82\xac!", 4, &point), 3);
    assert_int_equal(point, 0x20ac);
    assert_int_equal(uc_text_decode("\xf0\x9f\x98\x80", 4, &point), 4);
    assert_int_equal(point, 0x1f600);
    assert_int_equal(uc_text_decode("\xf0\x9f\x98\x80", 3, &point), 0);
    assert_int_equal(uc_text_decode("\0", 1, &point), 1);
    assert_int_equal(point, 0);
}

static void text_is_one_line_of_valid_utf8(void **state)
{
    static const char *const good[] = { "",
                                        "conv1",
                                        "caf\xc3\xa9",
                                        "\xe5\xb1\xa4",
                                        "\xf0\x9f\x98\x80",
                                        "\xef\xbf\xbd",
                                        "\xf4\x8f\xbf\xbf" };
    static const char *const bad[] = {
        "\n",           "a\x1b[1m",         "\x7f",
        "\xc2\x85",     "\xc0\xaf",         "\xe0\x80\xaf",
        "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x80\x80\xaf",
        "\x80",         "\xe5\xb1",         "\xff",
        "\xe2\x80\xa8", "\xe2\x80\xa9",     "\xf8\x88\x80\x80\x80",
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(good); i++)
        assert_true(uc_text_is_line(good[i], strlen(good[i])));
    for (size_t i = 0; i < UNIT_COUNT(bad); i++)
        if (uc_text_is_line(bad[i], strlen(bad[i])))
            fail_msg("bad text %zu passed", i);
    assert_false(uc_text_is_line("a\0b", 3));
}

static void made_lines_keep_what_is_printable(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        { "", "" },
        { "caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80" },
        { "a\nb\x7f", "a?b?" },
        { "\xc2\x9b[2J", "??[2J" },
        { "\xe2\x80\xa8x", "???x" },
        { "\xff\xc3\xa9", "?\xc3\xa9" },
        { "cut \xe5\xb1", "cut ??" },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char text[32];

        snprintf(text, sizeof text, "%s", cases[i].before);
        uc_text_make_line(text);
        assert_string_equal(text, cases[i].after);
        assert_true(uc_text_is_line(text, strlen(text)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_decoded),
        cmocka_unit_test(text_is_one_line_of_valid_utf8),
        cmocka_unit_test(made_lines_keep_what_is_printable),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
