#include "config.h"

#include "planner/network.h"
#include "tests/unit.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

/* In the texts of this file ' stands for ". */
static enum uc_status parse(const char *text,
                            const struct uc_network_overrides *overrides,
                            struct uc_network *network, struct uc_error *err)
{
    char *copy = strdup(text);
    enum uc_status status;

    assert_non_null(copy);
    for (char *p = copy; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    status = uc_network_parse(copy, strlen(copy), "t", overrides, network, err);
    free(copy);
    return status;
}

static struct uc_network parse_good(
    const char *text, const struct uc_network_overrides *overrides)
{
    struct uc_network network = { .layers = NULL };
    struct uc_error err = { .text = "" };

    if (parse(text, overrides, &network, &err) != UC_OK)
        fail_msg("%s: %s", text, err.text);
    return network;
}

static void everything_said_is_read(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf{'name':'n\\u00e9','description':'d','source':'s',"
        "'batch':6,'layout':'nhwc','mode':'convolution',"
        "'layers':{'z':{'in':[7,8,9],'c':4,'k':6,'filter':[1,2,3],"
        "'pad':[0,1,2],'stride':[3,2,1],'dilation':[1,2,1],'groups':2,"
        "'repeat':5,'operations':['backward-filter','forward']},"
        "'a':{'in':[30],'c':1,'k':1,'filter':3,'layout':'nchw',"
        "'mode':'cross-correlation','dtype':'fp64'}}}";
    const struct uc_problem expected = {
        .operation = UC_FORWARD,
        .spatial = 3,
        .mode = UC_CONVOLUTION,
        .groups = 2,
        .c = 4,
        .k = 6,
        .in = { 7, 8, 9 },
        .filter = { 1, 2, 3 },
        .pad = { 0, 1, 2 },
        .stride = { 3, 2, 1 },
        .dilation = { 1, 2, 1 },
        .x = { .kind = UC_NHWC },
        .w = { .kind = UC_NHWC },
        .y = { .kind = UC_NHWC },
    };
    struct uc_network network = parse_good(text, &UC_NETWORK_AS_IS);
    const struct uc_layer *layers = network.layers;

    (void)state;
    assert_string_equal(network.name, "n\xc3\xa9");
    assert_string_equal(network.description, "d");
    assert_string_equal(network.source, "s");
    assert_int_equal(network.batch, 6);
    assert_int_equal(network.layer_count, 2);
    assert_string_equal(layers[0].name, "z"); /* the file's order */
    assert_string_equal(layers[1].name, "a");
    assert_int_equal(layers[0].repeat, 5);
    assert_int_equal(layers[1].repeat, 1);
    assert_true(layers[0].runs[UC_FORWARD]);
    assert_false(layers[0].runs[UC_BACKWARD_DATA]);
    assert_true(layers[0].runs[UC_BACKWARD_FILTER]);
    assert_true(layers[1].runs[UC_BACKWARD_DATA]);
    assert_true(uc_problem_equal(&layers[0].problem, &expected));
    assert_int_equal(layers[1].problem.spatial, 1);
    assert_int_equal(layers[1].problem.mode, UC_CROSS_CORRELATION);
    assert_int_equal(layers[1].problem.x.kind, UC_NCHW);
    assert_int_equal(layers[1].problem.x_type, UC_FP64);
    assert_int_equal(layers[1].problem.compute_type, UC_FP64);
    uc_network_free(&network);
}

static void a_layer_outdoes_the_defaults(void **state)
{
    static const char text[] =
        "{'layers':{'a':{'in':[9,9],'pad':[2,0]},'b':{'in':[9,9],'k':7}},"
        "'defaults':{'c':3,'k':5,'filter':3,'pad':1,'groups':1,'repeat':2,"
        "'operations':['forward']},'batch':1,'name':'n'}";
    struct uc_network network = parse_good(text, &UC_NETWORK_AS_IS);
    const struct uc_layer *a = &network.layers[0], *b = &network.layers[1];

    (void)state;
    assert_int_equal(a->problem.k, 5);
    assert_int_equal(b->problem.k, 7);
    assert_int_equal(a->problem.pad[0], 2);
    assert_int_equal(a->problem.pad[1], 0);
    assert_int_equal(b->problem.pad[0], 1);
    assert_int_equal(b->problem.pad[1], 1);
    assert_int_equal(b->repeat, 2);
    assert_false(b->runs[UC_BACKWARD_FILTER]);
    uc_network_free(&network);
}

static void strides_describe_other_layouts(void **state)
{
    static const char text[] =
        "{'name':'n','batch':2,'layers':{'a':{'in':[4,4],'c':2,'k':3,"
        "'filter':1,'x_strides':[64,1,16,2],'w_layout':'nhwc'}}}";
    struct uc_network network = parse_good(text, &UC_NETWORK_AS_IS);
    struct uc_network_overrides nhwc = { 0, -1, UC_NHWC, -1 };
    const struct uc_problem *p = &network.layers[0].problem;

    (void)state;
    assert_int_equal(p->x.kind, UC_STRIDED);
    assert_int_equal(p->x.strides[2], 16);
    assert_int_equal(p->x.strides[4], 0);
    assert_int_equal(p->w.kind, UC_NHWC);
    assert_int_equal(p->y.kind, UC_NCHW);
    uc_network_free(&network);
    network = parse_good(text, &nhwc);
    p = &network.layers[0].problem;
    assert_int_equal(p->x.kind, UC_NHWC);
    assert_int_equal(p->x.strides[2], 0);
    assert_int_equal(p->y.kind, UC_NHWC);
    uc_network_free(&network);
}

/** Data type and math: what the file says, what is asked, what comes out. */
static const struct {
    const char *file; /* at the top level */
    const char *layer;
    int dtype, math; /* overrides */
    enum uc_dtype expected_dtype;
    enum uc_math expected_math;
} types[] = {
    { "", "", -1, -1, UC_FP32, UC_MATH_FMA },
    { "'dtype':'fp32',", "", -1, -1, UC_FP32, UC_MATH_FMA },
    { "'dtype':'fp16',", "", -1, -1, UC_FP16, UC_MATH_FP16 },
    { "'dtype':'bf16',", "", -1, -1, UC_BF16, UC_MATH_BF16 },
    { "'dtype':'fp64',", "", -1, -1, UC_FP64, UC_MATH_FMA },
    { "'math':'tf32',", "", -1, -1, UC_FP32, UC_MATH_TF32 },
    { "'math':'fp16',", "", -1, -1, UC_FP16, UC_MATH_FP16 },
    { "'dtype':'fp16','math':'fma',", "", -1, -1, UC_FP16, UC_MATH_FMA },
    /* a layer that says one of the two means the other with it */
    { "'math':'tf32',", ",'dtype':'fp16'", -1, -1, UC_FP16, UC_MATH_FP16 },
    { "'dtype':'fp16',", ",'math':'tf32'", -1, -1, UC_FP32, UC_MATH_TF32 },
    { "'dtype':'fp64',", ",'math':'fma'", -1, -1, UC_FP64, UC_MATH_FMA },
    /* and so does the command line */
    { "", "", UC_FP16, -1, UC_FP16, UC_MATH_FP16 },
    { "", "", -1, UC_MATH_TF32, UC_FP32, UC_MATH_TF32 },
    { "'dtype':'fp16',", "", -1, UC_MATH_FMA, UC_FP32, UC_MATH_FMA },
    { "'dtype':'fp16',", "", -1, UC_MATH_BF16, UC_BF16, UC_MATH_BF16 },
    { "'dtype':'fp64',", "", -1, UC_MATH_FMA, UC_FP64, UC_MATH_FMA },
    { "", "", UC_FP16, UC_MATH_FMA, UC_FP16, UC_MATH_FMA },
    /* asking for what is there changes nothing */
    { "'math':'tf32',", "", UC_FP32, -1, UC_FP32, UC_MATH_TF32 },
    { "'dtype':'fp16','math':'fma',", "", -1, UC_MATH_FMA, UC_FP16,
      UC_MATH_FMA },
};

static void one_of_data_type_and_math_brings_the_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(types); i++) {
        struct uc_network_overrides overrides = { 0, types[i].dtype, -1,
                                                  types[i].math };
        struct uc_network network;
        const struct uc_problem *p;
        char text[256];

        snprintf(text, sizeof text,
                 "{'name':'n','batch':2,%s'layers':{'a':{'in':[4,4],'c':2,"
                 "'k':3,'filter':1%s}}}",
                 types[i].file, types[i].layer);
        network = parse_good(text, &overrides);
        p = &network.layers[0].problem;
        if (p->x_type != types[i].expected_dtype || p->w_type != p->x_type ||
            p->y_type != p->x_type || p->math != types[i].expected_math)
            fail_msg("row %zu: %s/%s", i, uc_dtype_name(p->x_type),
                     uc_math_name(p->math));
        assert_int_equal(p->compute_type,
                         p->x_type == UC_FP64 ? UC_FP64 : UC_FP32);
        uc_network_free(&network);
    }
}

static void overrides_are_checked_as_well(void **state)
{
    static const char text[] = "{'name':'n','batch':2,'layers':{'a':{'in':[4],"
                               "'c':2,'k':3,'filter':1}}}";
    static const struct {
        struct uc_network_overrides overrides;
        const char *message;
    } rows[] = {
        { { 0, UC_FP16, -1, UC_MATH_TF32 },
          "t:1: layer \"a\": math tf32 needs fp32 data, not fp16" },
        { { -1, -1, -1, -1 }, "batch must be 1 to 2147483647, is -1" },
        { { INT64_C(1) << 31, -1, -1, -1 },
          "batch must be 1 to 2147483647, is 2147483648" },
    };
    struct uc_network_overrides five = { 5, -1, -1, -1 };
    struct uc_network network = parse_good(text, &five);

    (void)state;
    assert_int_equal(network.batch, 5);
    uc_network_free(&network);
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        struct uc_error err;

        assert_int_equal(parse(text, &rows[i].overrides, &network, &err),
                         UC_EINPUT);
        assert_string_equal(err.text, rows[i].message);
    }
}

/** In a scratch file; the text is repeated blanks around `text`. */
static void write_file(const char *path, const char *text, size_t blanks)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    fputs(text, file);
    for (size_t i = 0; i < blanks; i++)
        putc(' ', file);
    assert_int_equal(fclose(file), 0);
}

static void files_have_limits(void **state)
{
    static const char text[] =
        "{\"name\":\"n\",\"batch\":1,\"layers\":{\"a\":{\"in\":[1],\"c\":1,"
        "\"k\":1,\"filter\":1}}}";
    const size_t cap = (size_t)4 << 20, length = strlen(text);
    char path[] = "network_read.XXXXXX", expected[128];
    int fd = mkstemp(path);
    struct uc_network network;
    struct uc_error err;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    write_file(path, text, cap - length);
    assert_int_equal(uc_network_read(path, &UC_NETWORK_AS_IS, &network, &err),
                     UC_OK);
    uc_network_free(&network);
    write_file(path, text, cap - length + 1);
    assert_int_equal(uc_network_read(path, &UC_NETWORK_AS_IS, &network, &err),
                     UC_EINPUT);
    snprintf(expected, sizeof expected, "%s:1: larger than 4 MiB", path);
    assert_string_equal(err.text, expected);
    unlink(path);
    assert_int_equal(uc_network_read(path, &UC_NETWORK_AS_IS, &network, &err),
                     UC_EFILE);
    snprintf(expected, sizeof expected, "%s: %s", path, strerror(ENOENT));
    assert_string_equal(err.text, expected);
    assert_int_equal(uc_network_read(".", &UC_NETWORK_AS_IS, &network, &err),
                     UC_EFILE);
    snprintf(expected, sizeof expected, ".: %s", strerror(EISDIR));
    assert_string_equal(err.text, expected);
}

static void too_many_layers_are_refused(void **state)
{
    size_t room = 400000;
    char *text = malloc(room);
    struct uc_network network;
    struct uc_error err;

    (void)state;
    assert_non_null(text);
    for (int layers = 16384; layers <= 16385; layers++) {
        size_t used = (size_t)snprintf(
            text, room,
            "{\"name\":\"n\",\"batch\":1,\"defaults\":{\"in\":[1],\"c\":1,"
            "\"k\":1,\"filter\":1},\n\"layers\":{");

        for (int i = 0; i < layers; i++)
            used += (size_t)snprintf(text + used, room - used, "%s\"%d\":{}",
                                     i > 0 ? "," : "", i);
        used += (size_t)snprintf(text + used, room - used, "}}");
        assert_true(used < room);
        if (layers == 16384) {
            assert_int_equal(uc_network_parse(text, used, "t",
                                              &UC_NETWORK_AS_IS, &network,
                                              &err),
                             UC_OK);
            uc_network_free(&network);
        } else {
            assert_int_equal(uc_network_parse(text, used, "t",
                                              &UC_NETWORK_AS_IS, &network,
                                              &err),
                             UC_EINPUT);
            assert_string_equal(err.text, "t:2: more than 16384 layers");
        }
    }
    free(text);
}

static void operations_come_in_order(void **state)
{
    static const char text[] =
        "{'name':'n','batch':2,'defaults':{'in':[4],'c':2,'filter':1},"
        "'layers':{'a':{'k':1,'operations':['backward-filter','forward']},"
        "'b':{'k':2}}}";
    static const struct {
        size_t layer;
        enum uc_operation operation;
    } expected[] = { { 0, UC_FORWARD },
                     { 0, UC_BACKWARD_FILTER },
                     { 1, UC_FORWARD },
                     { 1, UC_BACKWARD_DATA },
                     { 1, UC_BACKWARD_FILTER } };
    struct uc_network network = parse_good(text, &UC_NETWORK_AS_IS);
    struct uc_network_operation *list;
    struct uc_error err;
    size_t count;

    (void)state;
    assert_int_equal(uc_network_operations(&network, &list, &count, &err),
                     UC_OK);
    assert_int_equal(count, UNIT_COUNT(expected));
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(list[i].layer, &network.layers[expected[i].layer]);
        assert_int_equal(list[i].problem.operation, expected[i].operation);
        assert_int_equal(list[i].problem.k, list[i].layer->problem.k);
    }
    free(list);
    uc_network_free(&network);
    uc_network_free(&network); /* takes NULL fields */
}

/** A locale with a decimal comma, when this machine has one, changes nothing.
 */
static void the_locale_changes_nothing(void **state)
{
    static const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8",
                                           "tr_TR.UTF-8" };
    struct uc_network network;
    struct uc_error err;
    bool set = false;

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(locales) && !set; i++)
        set = setlocale(LC_ALL, locales[i]) != NULL;
    if (!set)
        skip_because("no locale with a decimal comma here");
    assert_int_equal(
        parse("{'name':'I','batch':1.5}", &UC_NETWORK_AS_IS, &network, &err),
        UC_EINPUT);
    assert_string_equal(err.text, "t:1: batch must be an integer");
    network = parse_good("{'name':'I','batch':1000000,'layers':{'a':{'in':"
                         "[1000],'c':1,'k':1,'filter':1,'dtype':'fp16'}}}",
                         &UC_NETWORK_AS_IS);
    assert_int_equal(network.batch, 1000000);
    assert_int_equal(network.layers[0].problem.in[0], 1000);
    uc_network_free(&network);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_said_is_read),
        cmocka_unit_test(a_layer_outdoes_the_defaults),
        cmocka_unit_test(strides_describe_other_layouts),
        cmocka_unit_test(one_of_data_type_and_math_brings_the_other),
        cmocka_unit_test(overrides_are_checked_as_well),
        cmocka_unit_test(files_have_limits),
        cmocka_unit_test(too_many_layers_are_refused),
        cmocka_unit_test(operations_come_in_order),
        cmocka_unit_test(the_locale_changes_nothing),
    };

    return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
