#include "config.h"

/* Imported layers as network descriptions, compared as text. */

#include "planner/import.h"
#include "tests/unit.h"

#include <stdlib.h>

static struct uc_import_list read_list(enum uc_import_format format,
                                       const char *text, int64_t batch,
                                       const char *operation)
{
    struct uc_import_request request = { .format = format,
                                         .file = "list",
                                         .batch = batch };
    struct uc_import_list list = { NULL, 0 };
    struct uc_error err = { .text = "" };

    for (int op = 0; op < UC_OPERATIONS; op++)
        request.runs[op] =
            operation == NULL ||
            strcmp(operation, uc_operation_name((enum uc_operation)op)) == 0;
    if (uc_import_read(text, strlen(text), &request, &list, &err) != UC_OK)
        fail_msg("%s: %s", text, err.text);
    return list;
}

/** The description's layers, from `"layers": {` on. */
static void assert_layers(const struct uc_import_list *list, int64_t batch,
                          const char *expected)
{
    struct uc_error err = { .text = "" };
    char *text = NULL, *layers;

    if (uc_import_print(list, batch, "n", "s", &text, &err) != UC_OK)
        fail_msg("%s", err.text);
    layers = strstr(text, "\"layers\"");
    assert_non_null(layers);
    assert_string_equal(layers, expected);
    free(text);
}

static void a_description_is_complete(void **state)
{
    struct uc_import_list list =
        read_list(UC_IMPORT_BENCHDNN, "mb3ic2ih4oc6kh1n\"a\"", 0, NULL);
    struct uc_error err;
    char *text = NULL;

    (void)state;
    assert_int_equal(
        uc_import_print(&list, 3, "net\xc3\xa9", "a \"b\"", &text, &err),
        UC_OK);
    assert_string_equal(
        text,
        "{\n  \"name\": \"net\xc3\xa9\",\n  \"source\": \"a \\\"b\\\"\",\n"
        "  \"batch\": 3,\n  \"layers\": {\n"
        "    \"a\": {\"in\": [4, 4], \"c\": 2, \"k\": 6, \"filter\": 1}\n"
        "  }\n}\n");
    free(text);
    uc_import_free(&list);
}

static void only_what_is_not_usual_is_said(void **state)
{
    struct uc_import_list list = read_list(
        UC_IMPORT_MIOPEN,
        "convfp16 -n 1 -c 4 -k 6 -H 8 -W 9 -y 3 -x 2 -p 1 -q 0 -u 2 -v 2 -l 1 "
        "-j 3 -g 2 -F 5 -I NHWC -O NHWC\n"
        "conv --spatial_dim 3 -n 1 -c 1 -k 1 --in_d 3 -H 4 -W 5 -p 1 -q 1 "
        "--pad_d 1\n",
        0, NULL);

    (void)state;
    assert_layers(&list, 1,
                  "\"layers\": {\n"
                  "    \"conv1\": {\"in\": [8, 9], \"c\": 4, \"k\": 6, "
                  "\"filter\": [3, 2], \"pad\": [1, 0], \"stride\": 2, "
                  "\"dilation\": [1, 3], \"groups\": 2, \"dtype\": \"fp16\", "
                  "\"layout\": \"nhwc\", \"w_layout\": \"nchw\", "
                  "\"operations\": [\"forward\", \"backward-filter\"]},\n"
                  "    \"conv2\": {\"in\": [3, 4, 5], \"c\": 1, \"k\": 1, "
                  "\"filter\": 3, \"pad\": 1}\n"
                  "  }\n}\n");
    uc_import_free(&list);
}

static void names_are_made_unique_and_fit(void **state)
{
    /* 63 bytes fit; the e with an accent is not cut in two. */
    static const char forty[] = "0123456789012345678901234567890123456789";
    char text[1024];
    struct uc_import_list list;
    struct uc_error err;
    struct uc_network network = { .layers = NULL };
    char *made = NULL;

    (void)state;
    snprintf(text, sizeof text,
             "--mb=1 ic1ih4oc1kh1na ic2ih4oc1kh1na ic3ih4oc1kh1na-2 "
             "ic4ih4oc1kh1na ic5ih4oc1kh1 ic6ih4oc1kh1nconv5 "
             "ic7ih4oc1kh1n%s0123456789012345678901\xc3\xa9 "
             "ic8ih4oc1kh1n%s01234567890123456789\xc3\xa9zz "
             "ic9ih4oc1kh1n%s01234567890123456789\xc3\xa9zz",
             forty, forty, forty);
    list = read_list(UC_IMPORT_BENCHDNN, text, 0, NULL);
    assert_int_equal(uc_import_print(&list, 1, "n", "s", &made, &err), UC_OK);
    assert_int_equal(uc_network_parse(made, strlen(made), "n",
                                      &UC_NETWORK_AS_IS, &network, &err),
                     UC_OK);
    assert_int_equal(network.layer_count, 9);
    assert_string_equal(network.layers[0].name, "a");
    assert_string_equal(network.layers[1].name, "a-2");
    assert_string_equal(network.layers[2].name, "a-2-2");
    assert_string_equal(network.layers[3].name, "a-3");
    assert_string_equal(network.layers[4].name, "conv5");
    assert_string_equal(network.layers[5].name, "conv5-2");
    snprintf(text, sizeof text, "%s0123456789012345678901", forty);
    assert_string_equal(network.layers[6].name, text);
    snprintf(text, sizeof text, "%s01234567890123456789\xc3\xa9z", forty);
    assert_string_equal(network.layers[7].name, text);
    /* Room for "-2" without half of a character. */
    snprintf(text, sizeof text, "%s01234567890123456789-2", forty);
    assert_string_equal(network.layers[8].name, text);
    uc_network_free(&network);
    free(made);
    uc_import_free(&list);
}

static void operations_that_run_differently_often_are_apart(void **state)
{
    struct uc_import_list list =
        read_list(UC_IMPORT_BENCHDNN,
                  "--mb=1 --dir=FWD_B ic1ih4oc1kh1 ic1ih4oc1kh1 ic2ih4oc1kh1 "
                  "--dir=BWD_D,BWD_W ic1ih4oc1kh1 ic2ih4oc1kh1",
                  0, NULL);
    struct uc_import_batch *batches = NULL;
    struct uc_error err;
    size_t count = 0;

    (void)state;
    assert_layers(&list, 1,
                  "\"layers\": {\n"
                  "    \"conv1\": {\"in\": [4, 4], \"c\": 1, \"k\": 1, "
                  "\"filter\": 1, \"operations\": [\"forward\"], "
                  "\"repeat\": 2},\n"
                  "    \"conv1-2\": {\"in\": [4, 4], \"c\": 1, \"k\": 1, "
                  "\"filter\": 1, \"operations\": [\"backward-data\", "
                  "\"backward-filter\"]},\n"
                  "    \"conv2\": {\"in\": [4, 4], \"c\": 2, \"k\": 1, "
                  "\"filter\": 1}\n"
                  "  }\n}\n");
    assert_int_equal(uc_import_batches(&list, &batches, &count, &err), UC_OK);
    assert_int_equal(count, 1);
    assert_int_equal(batches[0].layers, 4);
    assert_int_equal(batches[0].operations, 7);
    free(batches);
    uc_import_free(&list);
}

static void the_batch_of_most_operations_is_first(void **state)
{
    static const int64_t expected[] = { 5, 2, 9, 40 };
    struct uc_import_list list =
        read_list(UC_IMPORT_BENCHDNN,
                  "mb40ic1ih4oc1kh1 mb9ic1ih4oc1kh1 mb5ic1ih4oc1kh1 "
                  "mb2ic1ih4oc1kh1 mb5ic1ih4oc1kh1",
                  0, NULL);
    struct uc_import_batch *batches = NULL;
    struct uc_error err;
    size_t count = 0;

    (void)state;
    assert_int_equal(uc_import_batches(&list, &batches, &count, &err), UC_OK);
    assert_int_equal(count, UNIT_COUNT(expected));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(batches[i].batch, expected[i]);
    assert_int_equal(batches[0].layers, 2);
    assert_int_equal(batches[0].operations, 6);
    assert_layers(&list, 9,
                  "\"layers\": {\n"
                  "    \"conv1\": {\"in\": [4, 4], \"c\": 1, \"k\": 1, "
                  "\"filter\": 1}\n  }\n}\n");
    free(batches);
    uc_import_free(&list);
}

static void a_request_replaces_batches_and_leaves_operations_out(void **state)
{
    struct uc_import_list list =
        read_list(UC_IMPORT_MIOPEN,
                  "conv -n 4 -F 1\nconv -n 8 -F 2\nconv -n 9 -F 4\n"
                  "conv -n 2 -F 5 -c 7",
                  6, "backward-filter");

    (void)state;
    assert_int_equal(list.count, 2);
    assert_layers(&list, 6,
                  "\"layers\": {\n"
                  "    \"conv1\": {\"in\": [32, 32], \"c\": 3, \"k\": 32, "
                  "\"filter\": 3, \"operations\": [\"backward-filter\"]},\n"
                  "    \"conv2\": {\"in\": [32, 32], \"c\": 7, \"k\": 32, "
                  "\"filter\": 3, \"operations\": [\"backward-filter\"]}\n"
                  "  }\n}\n");
    uc_import_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_description_is_complete),
        cmocka_unit_test(only_what_is_not_usual_is_said),
        cmocka_unit_test(names_are_made_unique_and_fit),
        cmocka_unit_test(operations_that_run_differently_often_are_apart),
        cmocka_unit_test(the_batch_of_most_operations_is_first),
        cmocka_unit_test(a_request_replaces_batches_and_leaves_operations_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
