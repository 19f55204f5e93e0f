/* What was recorded is read back as the same operations. */
#include "config.h"

#include "tests/problem_support.h"
#include "tests/unit.h"

#include "planner/network.h"
#include "runtime/record_text.h"

#include <stdlib.h>

/** A canonical problem less its operation, as the recorder has it. */
static struct uc_problem canonical(const struct uc_problem *problem)
{
    struct uc_problem p = *problem;

    uc_problem_canonical(&p);
    p.operation = UC_FORWARD;
    return p;
}

static char *print(const char *name, const char *description, int64_t batch,
                   const struct uc_record_layer *layers, size_t count)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    uc_record_print(out, name, description, batch, layers, count);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void read_back(const char *text, struct uc_network *network)
{
    struct uc_error err = { .text = "" };
    enum uc_status status = uc_network_parse(text, strlen(text), "recorded",
                                             &UC_NETWORK_AS_IS, network, &err);

    if (status != UC_OK)
        print_error("%s\n%s\n", err.text, text);
    assert_int_equal(status, UC_OK);
}

static void test_every_problem_comes_back(void **state)
{
    struct test_random random = { 20261130 };
    int described = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct uc_problem p = test_random_problem(&random), key, again;
        struct uc_record_layer layer = { .repeat = { 0 } };
        struct uc_network network;
        int op = (int)p.operation;
        const char *why;
        char *text;

        if (i % 4 != 0) {
            p.w_type = p.y_type = p.x_type;
            p.compute_type = p.x_type == UC_FP64 ? UC_FP64 : UC_FP32;
        }
        key = canonical(&p);
        why = uc_record_describable(&key, 5, &layer.problem);
        if (why != NULL && strcmp(why, "size") == 0) {
            /* Images that overlap; random strides do that. */
            assert_true(p.x.kind == UC_STRIDED || p.y.kind == UC_STRIDED);
            continue;
        }
        if (why != NULL) {
            assert_true(p.w_type != p.x_type || p.y_type != p.x_type ||
                        (p.compute_type == UC_FP64) != (p.x_type == UC_FP64));
            continue;
        }
        described++;
        layer.repeat[op] = 1 + i % 3;
        text = print("net", "", 5, &layer, 1);
        read_back(text, &network);
        assert_int_equal(network.layer_count, 1);
        assert_int_equal(network.batch, 5);
        assert_string_equal(network.layers[0].name, "conv1");
        assert_int_equal(network.layers[0].repeat, 1 + i % 3);
        for (int j = 0; j < UC_OPERATIONS; j++)
            assert_int_equal(network.layers[0].runs[j], j == op);
        again = canonical(&network.layers[0].problem);
        assert_memory_equal(&key, &again, sizeof key);
        uc_network_free(&network);
        free(text);
    }
    assert_true(described > 1000);
}

static void test_strides_of_one_element_fit_their_neighbours(void **state)
{
    /* One channel of rows that are 12 apart in images that are 100 apart:
       its stride is that of a channel of 8 rows. */
    struct uc_problem p = test_problem(), described;

    (void)state;
    p.c = 1;
    p.in[0] = p.in[1] = 8;
    p.x = (struct uc_tensor_layout){ UC_STRIDED, { 100, 0, 12, 1 } };
    assert_null(uc_record_describable(&p, 4, &described));
    assert_int_equal(described.x.strides[1], 96);
    /* Channels last, 5 channels of one column. */
    p.c = 5;
    p.in[1] = 1;
    p.x = (struct uc_tensor_layout){ UC_STRIDED, { 100, 1, 12, 0 } };
    assert_null(uc_record_describable(&p, 4, &described));
    assert_int_equal(described.x.strides[3], 5);
}

static void test_what_cannot_be_described_is_named(void **state)
{
    struct uc_problem p = test_problem(), described = { .c = 77 };

    (void)state;
    p.math = UC_MATH_FMA;
    p.y_type = UC_FP64;
    assert_string_equal(uc_record_describable(&p, 4, &described),
                        "mixed data types");
    p.y_type = UC_FP32;
    p.compute_type = UC_FP64;
    assert_string_equal(uc_record_describable(&p, 4, &described),
                        "compute type");
    p.compute_type = UC_FP32;
    /* Broadcast: all channels are one. */
    p.x = (struct uc_tensor_layout){ UC_STRIDED, { 729, 0, 27, 1 } };
    assert_string_equal(uc_record_describable(&p, 4, &described), "shape");
    assert_int_equal(described.c, 77);
}

static void test_repeats_that_differ_make_entries(void **state)
{
    const struct uc_record_layer layers[] = {
        { test_problem(), { 1, 0, 1 } },
        { test_problem(), { 3, 2, 3 } },
        { test_problem(), { 4, 5, 6 } },
        { test_problem(), { 0, 7, 0 } },
    };
    static const struct {
        const char *name;
        int64_t repeat;
        bool runs[UC_OPERATIONS];
    } expected[] = {
        { "conv1", 1, { true, false, true } },
        { "conv2", 3, { true, false, true } },
        { "conv2-2", 2, { false, true, false } },
        { "conv3", 4, { true, false, false } },
        { "conv3-2", 5, { false, true, false } },
        { "conv3-3", 6, { false, false, true } },
        { "conv4", 7, { false, true, false } },
    };
    struct uc_network network;
    char *text = print("n", "d", 1, layers, UNIT_COUNT(layers));

    (void)state;
    read_back(text, &network);
    assert_int_equal(network.layer_count, UNIT_COUNT(expected));
    for (size_t i = 0; i < UNIT_COUNT(expected); i++) {
        assert_string_equal(network.layers[i].name, expected[i].name);
        assert_int_equal(network.layers[i].repeat, expected[i].repeat);
        assert_memory_equal(network.layers[i].runs, expected[i].runs,
                            sizeof expected[i].runs);
    }
    uc_network_free(&network);
    free(text);
}

static void test_names_become_printable_and_short(void **state)
{
    const struct uc_record_layer layer = { test_problem(), { 1, 1, 1 } };
    struct uc_network network;
    char longest[400], *text;

    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    text = print("a\"b\\c\nd\x01\xff", longest, 1, &layer, 1);
    read_back(text, &network);
    assert_string_equal(network.name, "a?b?c?d??");
    assert_int_equal(strlen(network.description), 255);
    uc_network_free(&network);
    free(text);
    text = print(longest, "", 1, &layer, 1);
    read_back(text, &network);
    assert_int_equal(strlen(network.name), 63);
    uc_network_free(&network);
    free(text);
    text = print("", "", 1, &layer, 1);
    read_back(text, &network);
    assert_string_equal(network.name, "recorded");
    uc_network_free(&network);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_problem_comes_back),
        cmocka_unit_test(test_strides_of_one_element_fit_their_neighbours),
        cmocka_unit_test(test_what_cannot_be_described_is_named),
        cmocka_unit_test(test_repeats_that_differ_make_entries),
        cmocka_unit_test(test_names_become_printable_and_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
