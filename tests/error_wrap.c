#include "config.h"

#include "common/error.h"
#include "tests/unit.h"

static void fail_fills_status_and_text(void **state)
{
    struct uc_error err = { .status = UC_OK };

    (void)state;
    assert_int_equal(uc_fail(&err, UC_EFILE, "%s %d", "disk", 7), UC_EFILE);
    assert_int_equal(err.status, UC_EFILE);
    assert_string_equal(err.text, "disk 7");
}

static void wrap_puts_the_input_before_the_cause(void **state)
{
    struct uc_error err;

    (void)state;
    uc_fail(&err, UC_EINPUT, "stride must be >= 1");
    assert_int_equal(uc_wrap(&err, UC_EINPUT, "layer \"conv2\""), UC_EINPUT);
    assert_int_equal(uc_wrap(&err, UC_EINPUT, "100%s.json"), UC_EINPUT);
    assert_string_equal(err.text,
                        "100%s.json: layer \"conv2\": stride must be >= 1");
}

static void long_texts_are_truncated(void **state)
{
    struct uc_error err;
    char text[2 * sizeof err.text];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    uc_fail(&err, UC_EINPUT, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    uc_wrap(&err, UC_EINPUT, "file");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "file: xxx", 9);
    uc_wrap(&err, UC_EINPUT, text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void a_text_is_one_printable_line(void **state)
{
    struct uc_error err;

    (void)state;
    uc_fail(&err, UC_EINPUT, "wrong \"%s\"", "a\nb\x1b[1m\xff");
    assert_string_equal(err.text, "wrong \"a?b?[1m?\"");
    uc_wrap(&err, UC_EINPUT, "net\r\n\xc3\xa9.json");
    assert_string_equal(err.text, "net??\xc3\xa9.json: wrong \"a?b?[1m?\"");
}

static void no_memory_is_an_internal_error(void **state)
{
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_no_memory(&err), UC_EINTERNAL);
    assert_int_equal(err.status, UC_EINTERNAL);
    assert_string_equal(err.text, "out of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_fills_status_and_text),
        cmocka_unit_test(wrap_puts_the_input_before_the_cause),
        cmocka_unit_test(long_texts_are_truncated),
        cmocka_unit_test(a_text_is_one_printable_line),
        cmocka_unit_test(no_memory_is_an_internal_error),
    };

    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
