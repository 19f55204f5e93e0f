#include "config.h"

#include "planner/network.h"
#include "tests/unit.h"

#include <inttypes.h>
#include <stdlib.h>

/* In the texts of this file ' stands for ". */
#define TOP "{'name':'n','batch':2,'layers':{"
#define GOOD "'in':[9,9],'c':4,'k':8,'filter':3"
#define LAYER(keys) TOP "\n'a':{" GOOD "," keys "}}}"

static const struct {
    const char *text;
    const char *message; /* behind the file's name */
} faults[] = {
    /* not JSON */
    { "", ":1: not valid JSON: '[' or '{' expected near end of file" },
    { "layers", ":1: not valid JSON: '[' or '{' expected near 'layers'" },
    { "[]", ":1: must be an object" },
    { TOP "\n'a':{" GOOD "}\n",
      ":2: layer \"a\": not valid JSON: '}' expected near end of file" },
    { LAYER("'pad':1") "\n}", ":3: not valid JSON: end of file expected near"
                              " '}'" },
    { LAYER("'pad':NaN"),
      ":2: layer \"a\": not valid JSON: invalid token near 'NaN'" },
    { LAYER("'pad':Infinity"),
      ":2: layer \"a\": not valid JSON: invalid token near 'Infinity'" },
    { LAYER("'pad':-Infinity"),
      ":2: layer \"a\": not valid JSON: invalid token near '-'" },
    { LAYER("'pad':01"),
      ":2: layer \"a\": not valid JSON: invalid token near '0'" },
    { LAYER("'pad':1,"),
      ":2: layer \"a\": not valid JSON: string or '}' expected near '}'" },
    { LAYER("'pad':9223372036854775808"),
      ":2: layer \"a\": not valid JSON: too big integer near"
      " '9223372036854775808'" },
    { LAYER("'pad':-9223372036854775809"),
      ":2: layer \"a\": not valid JSON: too big negative integer near"
      " '-9223372036854775809'" },
    { LAYER("'pad':1e999"), ":2: layer \"a\": not valid JSON: real number"
                            " overflow near '1e999'" },
    { "{'name':'n', // a comment\n'batch':1}",
      ":1: not valid JSON: string or '}' expected near '/'" },
    { "{'name':'a\\u0000b','batch':1,'layers':{}}", ":1: \\u0000 in a string" },

    /* encoding and nesting */
    { "{'name':\n'\x80'}", ":2: not valid UTF-8" },
    { "{'name':'\xc0\xaf'}", ":1: not valid UTF-8" },         /* overlong */
    { "{'name':'\xe0\x80\xaf'}", ":1: not valid UTF-8" },     /* overlong */
    { "{'name':'\xf0\x80\x80\xaf'}", ":1: not valid UTF-8" }, /* overlong */
    { "{'name':'\xed\xa0\x80'}", ":1: not valid UTF-8" },     /* surrogate */
    { "{'name':'\xf4\x90\x80\x80'}", ":1: not valid UTF-8" }, /* too large */
    { "{'name':'\xf8\x88\x80\x80\x80'}", ":1: not valid UTF-8" },
    { "{'name':'\xe2\x82", ":1: not valid UTF-8" }, /* cut off */
    { "{'a':\n[[[[[[[[1]]]]]]]]}", ":2: nested too deep" },
    { "[[[[[[[[[", ":1: nested too deep" },

    /* the top level */
    { "{'batch':1,'layers':{'a':{" GOOD "}}}", ":1: name is missing" },
    { "{'name':'n','layers':{'a':{" GOOD "}}}", ":1: batch is missing" },
    { "{'name':'n','batch':1}", ":1: layers is missing" },
    { "{'name':'n','batch':1,\n'layers':{}}", ":2: layers is empty" },
    { "{'name':'n','batch':1,\n'layers':[]}", ":2: layers must be an object" },
    { "{'name':'n','batch':1,\n'layer':{}}", ":2: unknown key \"layer\"" },
    { "{'name':'n','batch':1,\n'pad':1,'layers':{}}",
      ":2: key \"pad\" belongs into a layer or defaults" },
    { "{\n'name':'','batch':1,'layers':{}}", ":2: name is empty" },
    { "{'name':\n7}", ":1: name must be a string" },
    { "{'name':'a\\nb'}", ":1: name has control characters or line breaks" },
    { "{'name':'a\\u009b'}", ":1: name has control characters or line breaks" },
    { "{'name':'a\\u2028'}", ":1: name has control characters or line breaks" },
    { "{'name':'a\\u007f'}", ":1: name has control characters or line breaks" },
    { "{'description':null}", ":1: description must be a string" },
    { "{'source':['x']}", ":1: source must be a string" },
    { "{'name':'0123456789012345678901234567890123456789012345678901234567890"
      "123'}",
      ":1: name is too long" },
    { "{\n\n'batch':0}", ":3: batch must be >= 1, is 0" },
    { "{'batch':-5}", ":1: batch must be >= 1, is -5" },
    { "{'batch':2147483648}",
      ":1: batch must be <= 2147483647, is 2147483648" },
    { "{'batch':'3'}", ":1: batch must be an integer" },
    { "{'batch':3.0}", ":1: batch must be an integer" },
    { "{'batch':true}", ":1: batch must be an integer" },
    { "{'batch':null}", ":1: batch must be an integer" },
    { "{'batch':[1]}", ":1: batch must be an integer" },
    { "{'name':'n',\n'name':'n'}", ":2: duplicate key \"name\"" },
    { "{'name':'n','batch':1,'dtype':'float','layers':{'a':{}}}",
      ":1: dtype must be fp32, fp16, bf16 or fp64" },
    { "{'name':'n','batch':1,'defaults':[],'layers':{'a':{}}}",
      ":1: defaults must be an object" },
    { "{'name':'n','batch':1,\n'defaults':{\n'stride':0},'layers':{'a':{}}}",
      ":3: defaults: stride must be >= 1, is 0" },
    { "{'name':'n','batch':1,'defaults':{'batch':1},'layers':{'a':{}}}",
      ":1: defaults: unknown key \"batch\"" },
    { "{'name':'n','batch':1,'defaults':{'pad':1,\n'pad':1}}",
      ":2: duplicate key \"pad\"" },

    /* names of layers */
    { TOP "'a':{" GOOD "},\n'a':{}}}",
      ":2: layer \"a\": duplicate layer name" },
    { TOP "'a':{" GOOD "},\n\n'a'\n:{" GOOD "}}}",
      ":3: layer \"a\": duplicate layer name" },
    { TOP "'':{" GOOD "}}}", ":1: layer \"\": the name is empty" },
    { TOP "'a\\u001b[2J':{" GOOD "}}}",
      ":1: layer \"a?[2J\": the name has control characters or line breaks" },
    { TOP "'a\\u0085':{" GOOD "}}}",
      ":1: layer \"a??\": the name has control characters or line breaks" },
    { TOP "'0123456789012345678901234567890123456789012345678901234567890123"
          "4567':{" GOOD "}}}",
      ":1: layer "
      "\"0123456789012345678901234567890123456789012345678901234567890123\":"
      " the name is too long" },
    { TOP "'a':{" GOOD "},\n'b':7}}", ":2: layer \"b\": must be an object" },

    /* keys of layers */
    { LAYER("'strides':1"), ":2: layer \"a\": unknown key \"strides\"" },
    { LAYER("\n\n'stride':0"), ":4: layer \"a\": stride must be >= 1, is 0" },
    { LAYER("'pad':[1,\n-1]"), ":2: layer \"a\": pad must be >= 0, is -1" },
    { LAYER("'pad':1.5"), ":2: layer \"a\": pad must be an integer" },
    { LAYER("'pad':'1'"), ":2: layer \"a\": pad must be an integer" },
    { LAYER("'pad':true"), ":2: layer \"a\": pad must be an integer" },
    { LAYER("'pad':null"), ":2: layer \"a\": pad must be an integer" },
    { LAYER("'pad':{}"), ":2: layer \"a\": pad must be an integer" },
    { LAYER("'pad':[1,[1]]"), ":2: layer \"a\": pad must be an integer" },
    { LAYER("'pad':[]"), ":2: layer \"a\": pad must have 1 to 3 numbers" },
    { LAYER("'pad':[1,1,1,1]"),
      ":2: layer \"a\": pad must have 1 to 3 numbers" },
    { LAYER("'pad':[1,1,1]"), ":2: layer \"a\": pad and in differ in length" },
    { LAYER("'dilation':0"), ":2: layer \"a\": dilation must be >= 1, is 0" },
    { LAYER("'groups':0"), ":2: layer \"a\": groups must be >= 1, is 0" },
    { LAYER("'repeat':0"), ":2: layer \"a\": repeat must be >= 1, is 0" },
    { LAYER("'repeat':1000001"),
      ":2: layer \"a\": repeat must be <= 1000000, is 1000001" },
    { LAYER("'stride':2147483648"),
      ":2: layer \"a\": stride must be <= 2147483647, is 2147483648" },
    { LAYER("'pad':1,\n'pad':1"), ":3: layer \"a\": duplicate key \"pad\"" },
    { LAYER("'c':4"), ":2: layer \"a\": duplicate key \"c\"" },
    { LAYER("'operations':'forward'"),
      ":2: layer \"a\": operations must be a list of forward, backward-data,"
      " backward-filter" },
    { LAYER("'operations':[]"),
      ":2: layer \"a\": operations must be a list of forward, backward-data,"
      " backward-filter" },
    { LAYER("'operations':[1]"),
      ":2: layer \"a\": operations must hold strings" },
    { LAYER("'operations':['Forward']"),
      ":2: layer \"a\": unknown operation \"Forward\" (forward, backward-data"
      " or backward-filter)" },
    { LAYER("'operations':['forward','forward']"),
      ":2: layer \"a\": operation forward is named twice" },
    { LAYER("'dtype':32"),
      ":2: layer \"a\": dtype must be fp32, fp16, bf16 or fp64" },
    { LAYER("'math':'tf16'"),
      ":2: layer \"a\": math must be fma, tf32, fp16 or bf16" },
    { LAYER("'layout':'strided'"),
      ":2: layer \"a\": layout must be nchw or nhwc" },
    { LAYER("'mode':'correlation'"),
      ":2: layer \"a\": mode must be cross-correlation or convolution" },
    { LAYER("'x_strides':9"),
      ":2: layer \"a\": x_strides must be a list of integers" },
    { LAYER("'x_strides':[81,9,1]"),
      ":2: layer \"a\": x_strides and y_strides must have 4 numbers" },
    { LAYER("'y_strides':[1,1,1,1]"),
      ":2: layer \"a\": y strides: elements share memory at batch 1" },
    { LAYER("'y_strides':[81,9,0,1]"),
      ":2: layer \"a\": y_strides must be >= 1, is 0" },

    /* rules across keys */
    { TOP "'a':{'c':1,'k':1,'filter':1}}}", ":1: layer \"a\": in is missing" },
    { TOP "'a':{'in':[9],'k':1,'filter':1}}}",
      ":1: layer \"a\": c is missing" },
    { TOP "'a':{'in':[9],'c':1,'filter':1}}}",
      ":1: layer \"a\": k is missing" },
    { TOP "'a':{'in':[9],'c':1,'k':1}}}",
      ":1: layer \"a\": filter is missing" },
    { TOP "'a':{'in':9,'c':1,'k':1,'filter':1}}}",
      ":1: layer \"a\": in must be a list of integers" },
    { TOP "'a':{'in':[9,0],'c':1,'k':1,'filter':1}}}",
      ":1: layer \"a\": in must be >= 1, is 0" },
    { TOP "'a':{'in':[9,9],'c':0,'k':1,'filter':1}}}",
      ":1: layer \"a\": c must be >= 1, is 0" },
    { TOP "'a':{'in':[9,9],'c':1,'k':-1,'filter':1}}}",
      ":1: layer \"a\": k must be >= 1, is -1" },
    { LAYER("'dilation':8"),
      ":2: layer \"a\": output extent below 1: filter 3 (dilation 8) is larger"
      " than input 9 with padding 0" },
    { TOP "\n'g':{'in':[9],'c':9,'k':8,'filter':1,'groups':4}}}",
      ":2: layer \"g\": c 9 is not divisible by groups 4" },
    { TOP "\n'g':{'in':[9],'c':8,'k':9,'filter':1,'groups':4}}}",
      ":2: layer \"g\": k 9 is not divisible by groups 4" },
    { LAYER("'dtype':'fp16','math':'tf32'"),
      ":2: layer \"a\": math tf32 needs fp32 data, not fp16" },
    { TOP "'big':{'in':[2147483647,2147483647],'c':2147483647,'k':1,"
          "'filter':1}}}",
      ":1: layer \"big\": tensor x: more elements than cuDNN's limit "
      "2147483647" },
    { "{'name':'n','batch':2147483647,'layers':{'big':{'in':[32768,65535],"
      "'c':1,'k':1,'filter':1}}}",
      ":1: layer \"big\": tensor x: size overflows 64 bits at batch "
      "2147483647" },
};

/** `text` with ' as "; the caller frees it. */
static char *quoted(const char *text)
{
    char *copy = strdup(text);

    assert_non_null(copy);
    for (char *p = copy; *p != '\0'; p++)
        if (*p == '\'')
            *p = '"';
    return copy;
}

static enum uc_status parse(const char *text, struct uc_network *network,
                            struct uc_error *err)
{
    char *copy = quoted(text);
    enum uc_status status = uc_network_parse(copy, strlen(copy), "nets/a.json",
                                             &UC_NETWORK_AS_IS, network, err);

    free(copy);
    return status;
}

static void every_fault_names_file_line_layer_and_reason(void **state)
{
    int failed = 0;

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(faults); i++) {
        struct uc_network network = { .batch = 77 }, untouched = network;
        struct uc_error err = { .status = UC_OK };
        enum uc_status status = parse(faults[i].text, &network, &err);
        char *message = strdup(err.text);
        const char *prefix = "nets/a.json";

        assert_non_null(message);
        if (status != UC_EINPUT || err.status != UC_EINPUT ||
            strncmp(message, prefix, strlen(prefix)) != 0 ||
            strcmp(message + strlen(prefix), faults[i].message) != 0) {
            print_error("%s\n  expected: %s%s\n  got (%d): %s\n",
                        faults[i].text, prefix, faults[i].message, (int)status,
                        message);
            failed++;
        }
        free(message);
        assert_memory_equal(&network, &untouched, sizeof network);
    }
    assert_int_equal(failed, 0);
}

static void a_nul_byte_is_refused(void **state)
{
    static const char text[] = "{\n\"name\":\"a\0b\"}";
    struct uc_network network;
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_network_parse(text, sizeof text - 1, "a",
                                      &UC_NETWORK_AS_IS, &network, &err),
                     UC_EINPUT);
    assert_string_equal(err.text, "a:2: NUL byte");
}

/** Every prefix of a good text is refused in one printable line. */
static void every_cut_off_file_is_refused(void **state)
{
    char *text = quoted(LAYER("'operations':['forward'],'stride':[1,2]"));
    struct uc_network network;
    struct uc_error err;

    (void)state;
    for (size_t length = 0; length < strlen(text); length++) {
        char *part = malloc(length + 1); /* exact, for the sanitizers */

        assert_non_null(part);
        memcpy(part, text, length);
        assert_int_equal(uc_network_parse(part, length, "a", &UC_NETWORK_AS_IS,
                                          &network, &err),
                         UC_EINPUT);
        assert_null(strchr(err.text, '\n'));
        free(part);
    }
    free(text);
}

/**
 * Any single damaged byte is either refused in one line or gives a network
 * that keeps the rules.
 */
static void damage_is_refused_or_harmless(void **state)
{
    static const char bytes[] = {
        '\0', '"', '{', '}', '[', ']',  ',',  ':',
        '-',  '0', '9', 'e', ' ', '\n', '\\', '\xff'
    };
    char *text = quoted(LAYER("'operations':['forward'],'stride':[1,2]"));
    size_t length = strlen(text);

    (void)state;
    for (size_t at = 0; at < length; at++)
        for (size_t i = 0; i < sizeof bytes; i++) {
            char kept = text[at];
            struct uc_network network;
            struct uc_error err;

            text[at] = bytes[i];
            if (uc_network_parse(text, length, "a", &UC_NETWORK_AS_IS, &network,
                                 &err) == UC_OK) {
                assert_in_range(network.batch, 1, INT32_MAX);
                assert_int_equal(network.layer_count, 1);
                assert_int_equal(
                    uc_problem_check(&network.layers[0].problem, &err), UC_OK);
                uc_network_free(&network);
            } else {
                assert_null(strchr(err.text, '\n'));
            }
            text[at] = kept;
        }
    free(text);
}

static void a_long_file_name_keeps_its_end(void **state)
{
    char name[1001];
    struct uc_network network;
    struct uc_error err;

    (void)state;
    memset(name, 'x', sizeof name - 1);
    memcpy(name + sizeof name - 8, "/a.json", 8);
    assert_int_equal(
        uc_network_parse("[]", 2, name, &UC_NETWORK_AS_IS, &network, &err),
        UC_EINPUT);
    assert_non_null(strstr(err.text, "xxx/a.json:1: must be an object"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_names_file_line_layer_and_reason),
        cmocka_unit_test(a_nul_byte_is_refused),
        cmocka_unit_test(every_cut_off_file_is_refused),
        cmocka_unit_test(damage_is_refused_or_harmless),
        cmocka_unit_test(a_long_file_name_keeps_its_end),
    };

    return cmocka_run_group_tests_name("network faults", tests, NULL, NULL);
}
