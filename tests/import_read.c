#include "config.h"

/*
 * Lists of layers, line by line. What is expected was worked out by hand from
 * the tools' own descriptions of their options.
 */

#include "planner/import.h"
#include "tests/unit.h"

#include <inttypes.h>
#include <stdlib.h>

/* What was told of wrong lines: "LINE: reason\n" each. */
static char told[4096];

static void tell(void *context, size_t line, const char *reason)
{
    size_t used = strlen(told);

    (void)context;
    snprintf(told + used, sizeof told - used, "%zu: %s\n", line, reason);
}

static enum uc_status read_list(enum uc_import_format format, const char *text,
                                struct uc_import_list *list,
                                struct uc_error *err)
{
    const struct uc_import_request request = {
        .format = format,
        .file = "list",
        .runs = { true, true, true },
        .wrong = tell,
    };

    told[0] = '\0';
    return uc_import_read(text, strlen(text), &request, list, err);
}

static struct uc_import_list read_good(enum uc_import_format format,
                                       const char *text)
{
    struct uc_import_list list = { NULL, 0 };
    struct uc_error err = { .text = "" };

    if (read_list(format, text, &list, &err) != UC_OK)
        fail_msg("%s: %s %s", text, err.text, told);
    return list;
}

/** "256 fdw NAME problem": batch, what runs, name, problem. */
static void describe(const struct uc_import_layer *layer, char *text,
                     size_t size)
{
    char problem[UC_PROBLEM_TEXT];

    uc_problem_print(&layer->problem, problem);
    snprintf(text, size,
             "%" PRId64 " %" PRId64 "/%" PRId64 "/%" PRId64 " %s %s",
             layer->batch, layer->repeat[UC_FORWARD],
             layer->repeat[UC_BACKWARD_DATA], layer->repeat[UC_BACKWARD_FILTER],
             layer->name, problem + strlen("forward:"));
}

struct good {
    const char *text;
    const char *layers[4]; /* as described, NULL at the end */
};

static void check_good(enum uc_import_format format, const struct good *good,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct uc_import_list list = read_good(format, good[i].text);

        for (size_t l = 0; l < list.count; l++) {
            char text[UC_PROBLEM_TEXT + 128];

            describe(list.layers[l], text, sizeof text);
            assert_true(l < 4 && good[i].layers[l] != NULL);
            assert_string_equal(text, good[i].layers[l]);
        }
        assert_true(list.count == 4 || good[i].layers[list.count] == NULL);
        uc_import_free(&list);
    }
}

#define HEADER                                                        \
    "source,W,H,C_in,N,C_out,kernel_w,kernel_h,pad_w,pad_h,stride_w," \
    "stride_h\n"

static void deepbench_rows_are_read(void **state)
{
    static const struct good good[] = {
        { HEADER "conv1,224,224,3,256,64,11,11,2,2,4,4\n",
          { "256 1/1/1 conv1 "
            "fp32:fma:nchw:c3:k64:i224x224:f11x11:p2x2:s4x4" } },
        /* Width first; no end of the last line. */
        { HEADER "s,700,161,1,4,32,20,5,1,2,4,3",
          { "4 1/1/1 s fp32:fma:nchw:c1:k32:i161x700:f5x20:p2x1:s3x4" } },
        { "\xef\xbb\xbf" HEADER "\r\n# a comment\r\n"
          " \"a, \"\"b\"\"\" , 7 ,7,1,1,1,1,1,0,0,1,1\r\n",
          { "1 1/1/1 a, \"b\" fp32:fma:nchw:c1:k1:i7x7:f1x1" } },
        /* Columns are found by name; others are results. */
        { "Time,N,c_in,C_OUT,h,w,kernel_h,kernel_w,pad_h,pad_w,stride_h,"
          "stride_w\n0.5,8,2,3,9,10,3,2,1,0,2,1\n",
          { "8 1/1/1  fp32:fma:nchw:c2:k3:i9x10:f3x2:p1x0:s2x1" } },
        /* Equal layers are counted, by batch, and keep the first name. */
        { HEADER "a,7,7,1,1,1,1,1,0,0,1,1\nb,7,7,1,1,1,1,1,0,0,1,1\n"
                 "c,7,7,1,2,1,1,1,0,0,1,1\n,7,7,1,1,1,1,1,0,0,1,1\n",
          { "1 3/3/3 a fp32:fma:nchw:c1:k1:i7x7:f1x1",
            "2 1/1/1 c fp32:fma:nchw:c1:k1:i7x7:f1x1" } },
    };

    (void)state;
    check_good(UC_IMPORT_DEEPBENCH, good, UNIT_COUNT(good));
}

static void benchdnn_shapes_are_read(void **state)
{
    static const struct good good[] = {
        { "mb256ic3ih227oc96oh55kh11sh4ph0n\"alexnet:conv1\"",
          { "256 1/1/1 alexnet:conv1 "
            "fp32:fma:nchw:c3:k96:i227x227:f11x11:s4x4" } },
        { "ic3ih227iw227_oc96oh55ow55_kh11kw11_sh4sw4ph0pw0_nx:1",
          { "2 1/1/1 x:1 fp32:fma:nchw:c3:k96:i227x227:f11x11:s4x4" } },
        /* Padding from the output: (26 * 1 - 27 + 5) / 2 = 2. */
        { "ic64ih27oc192oh27kh5",
          { "2 1/1/1  fp32:fma:nchw:c64:k192:i27x27:f5x5:p2x2" } },
        /* (3 * 2 - 10 + 3) / 2 is 0, not -1. */
        { "ic1ih10oc1oh4kh3sh2",
          { "2 1/1/1  fp32:fma:nchw:c1:k1:i10x10:f3x3:s2x2" } },
        { "ic4ih9iw10oc8kh3kw1ph1",
          { "2 1/1/1  fp32:fma:nchw:c4:k8:i9x10:f3x1:p1x0" } },
        { "ic8iw100oc8kw5pw2sw3dw1",
          { "2 1/1/1  fp32:fma:nchw:c8:k8:i100:f5:p2:s3:d2" } },
        { "ic4id8oc8kd3pd1sd2",
          { "2 1/1/1  fp32:fma:nchw:c4:k8:i8x8x8:f3x3x3:p1x1x1:s2x2x2" } },
        { "ic4id8ih9iw10oc8kd3kh1kw5pw2",
          { "2 1/1/1  fp32:fma:nchw:c4:k8:i8x9x10:f3x1x5:p0x0x2" } },
        /* Lists of topologies say how often a layer is there. */
        { "mb1ic4ih8oc4kh1n\"net:res*3\" mb1ic4ih8oc4kh1nother "
          "mb1ic5ih8oc4kh1n\"*11\" mb1ic6ih8oc4kh1na*b",
          { "1 4/4/4 net:res fp32:fma:nchw:c4:k4:i8x8:f1x1",
            "1 11/11/11  fp32:fma:nchw:c5:k4:i8x8:f1x1",
            "1 1/1/1 a*b fp32:fma:nchw:c6:k4:i8x8:f1x1" } },
        { "g4ic8ih16oc12kh3dh1ph2",
          { "2 1/1/1  fp32:fma:nchw:c8:k12:i16x16:f3x3:p2x2:d2x2:g4" } },
    };

    (void)state;
    check_good(UC_IMPORT_BENCHDNN, good, UNIT_COUNT(good));
}

static void benchdnn_options_hold_for_what_follows(void **state)
{
    static const struct good good[] = {
        { "--mb=64 mb2ic1ih4oc1kh1 --mb=0 mb3ic1ih4oc1kh1",
          { "64 1/1/1  fp32:fma:nchw:c1:k1:i4x4:f1x1",
            "3 1/1/1  fp32:fma:nchw:c1:k1:i4x4:f1x1" } },
        { "./benchdnn --conv -v5 --dir=FWD_B,BWD_WB\nic1ih4oc1kh1\n"
          "--dir=bwd_d\nic1ih4oc1kh1 ic1ih4oc1kh1\n",
          { "2 1/2/1  fp32:fma:nchw:c1:k1:i4x4:f1x1" } },
        { "--dt=f16,bf16:bf16:bf16,f64 --skip-impl=ref --stag=axb\n"
          "ic1ih4oc1kh1",
          { "2 1/1/1  fp16:fp16:nchw:c1:k1:i4x4:f1x1",
            "2 1/1/1  bf16:bf16:nchw:c1:k1:i4x4:f1x1",
            "2 1/1/1  fp64:fma:nchw:c1:k1:i4x4:f1x1" } },
        { "--cfg=bf16bf16bf16 --mb=5 --dir=FWD_I # ic9\n"
          "ic1ih4oc1kh1\n--reset\n\n# ic8\nic1ih4oc1kh1",
          { "5 1/0/0  bf16:bf16:nchw:c1:k1:i4x4:f1x1",
            "2 1/1/1  fp32:fma:nchw:c1:k1:i4x4:f1x1" } },
        /* A backslash joins words, at their end or on its own. */
        { "--mb=3, \\\n  4 ic1ih4\\\noc1kh1 --attr-post-ops=, \\\n sum:1\n",
          { "3 1/1/1  fp32:fma:nchw:c1:k1:i4x4:f1x1",
            "4 1/1/1  fp32:fma:nchw:c1:k1:i4x4:f1x1" } },
    };

    (void)state;
    check_good(UC_IMPORT_BENCHDNN, good, UNIT_COUNT(good));
}

static void miopen_commands_are_read(void **state)
{
    static const struct good good[] = {
        { "./bin/MIOpenDriver conv -n 128 -c 64 -H 56 -W 57 -k 32 -y 3 -x 5 "
          "-p 1 -q 2 -u 2 -v 3 -l 1 -j 1 -m conv -g 2 -F 1 -t 1",
          { "128 1/0/0  "
            "fp32:fma:nchw:c64:k32:i56x57:f3x5:p1x2:s2x3:g2" } },
        { "MIOpen(HIP): Command [LogCmdConvolution] ./MIOpenDriver convfp16 "
          "--batchsize 4 --in_channels=8 --in_h 9 --in_w 10 --out_channels 16 "
          "--fil_h 3 --fil_w 2 --pad_h 1 --pad_w 0 --conv_stride_h 2 "
          "--conv_stride_1 3 --dilation_h 2 --dilation_w 1 --group_count 4 "
          "--forw 6 -I NHWC -O NHWC -f NHWC",
          { "4 0/1/1  "
            "fp16:fp16:nhwc:c8:k16:i9x10:f3x2:p1x0:s2x3:d2x1:g4" } },
        /* Nothing said: the driver's defaults. */
        { "conv", { "100 1/1/1  fp32:fma:nchw:c3:k32:i32x32:f3x3" } },
        { "convbfp16 --spatial_dim 3 --in_d 8 '-@' 1 -\\$ 2 -# 4 -^ 3 -g 0",
          { "100 1/1/1  bf16:bf16:nchw:c3:k32:i8x32x32:f1x3x3:p2x0x0:"
            "s4x1x1:d3x1x1" } },
        /* 12 x 12 from 5 x 5: 4 * 2 + 1 * 2 + 1 + 1 = 12; bwd is forward. */
        { "conv -m trans -n 1 -c 6 -k 4 -H 5 -W 5 -y 3 -x 3 -u 2 -v 2 -Y 1 "
          "-X 1 -F 5\n# a comment\nconv -m trans -n 1 -c 6 -k 4 -H 5 -W 5 "
          "-y 3 -x 3 -u 2 -v 2 -Y 1 -X 1 -F 2",
          { "1 1/1/1  fp32:fma:nchw:c4:k6:i12x12:f3x3:s2x2" } },
        /* same: 224 is even: (7 - 2) / 2 = 2; 9 is odd: (3 - 1) / 2 = 1. */
        { "conv -n 1 -c 1 -k 1 -H 224 -W 9 -y 7 -x 3 -u 2 -v 2 -z same",
          { "1 1/1/1  fp32:fma:nchw:c1:k1:i224x9:f7x3:p2x1:s2x2" } },
        { "conv -n 1 -c 1 -k 1 -H 8 -W 8 -p 3 -q 3 -z valid",
          { "1 1/1/1  fp32:fma:nchw:c1:k1:i8x8:f3x3" } },
        { "conv -n 1 -c 4 -k 4 -H 8 -W 8 -I NHWC -O NHWC",
          { "1 1/1/1  fp32:fma:x=nhwc+w=nchw+y=nhwc:c4:k4:i8x8:f3x3" } },
    };

    (void)state;
    check_good(UC_IMPORT_MIOPEN, good, UNIT_COUNT(good));
}

struct bad {
    enum uc_import_format format;
    const char *text, *reasons;
};
#define D UC_IMPORT_DEEPBENCH
#define B UC_IMPORT_BENCHDNN
#define M UC_IMPORT_MIOPEN

static const struct bad bad[] = {
    { D, HEADER "\n\na,0,7,1,1,1,1,1,0,0,1,1\nb,7,7\nc,7,7,1,1,1,1,1,0,0,1,1\n",
      "4: W must be a whole number from 1 to 2147483647, is \"0\"\n"
      "5: 3 values instead of 12\n" },
    { D, HEADER "a,7,7,1,1,1,1,1,-1,0,1,1",
      "2: pad_w must be a whole number from 0 to 2147483647, is \"-1\"\n" },
    { D, HEADER "a,7,7,1,2147483648,1,1,1,0,0,1,1",
      "2: N must be a whole number from 1 to 2147483647, is "
      "\"2147483648\"\n" },
    { D, HEADER "a,7,7,1,1,1,1.5,1,0,0,1,1",
      "2: kernel_w must be a whole number from 1 to 2147483647, is "
      "\"1.5\"\n" },
    { D, HEADER "a,7,7,1,1,1,9,9,0,0,1,1",
      "2: output extent below 1: filter 9 (dilation 1) is larger than input "
      "7 with padding 0\n" },
    { D, HEADER "a,65536,65536,1,1,1,1,1,0,0,1,1",
      "2: tensor x: more elements than cuDNN's limit 2147483647\n" },
    { D, HEADER "\"a,7,7,1,1,1,1,1,0,0,1,1\n\"b\"c,7,7,1,1,1,1,1,0,0,1,1\n",
      "2: value 1: quotes do not match\n3: value 1: quotes do not match\n" },
    { D, HEADER "a\x01,7,7,1,1,1,1,1,0,0,1,1\n\xff",
      "2: is not a line of UTF-8 text\n3: is not a line of UTF-8 text\n" },
    { D, "W,H,C_in,N\n1,1,1,1\n",
      "1: is no header: column C_out is missing\n" },
    { D, "W,H,C_in,N,C_out,kernel_w,kernel_h,pad_w,pad_h,stride_w,stride_h,w\n",
      "1: column W is there twice\n" },
    { B, "ic1ih4oc1kh1 \n ic0ih4oc1kh1\nfoo\nic1ih4oc1\nic1oc1\n",
      "2: ic must be a whole number from 1 to 2147483647, is \"0\"\n"
      "3: \"foo\": no key begins \"foo\"\n"
      "4: ih and kh are both needed\n"
      "5: no input extent is given\n" },
    { B, "ic1ih4oc1khX\nic1ic2\nih4kh1oc1\nih4kh1ic1\n",
      "1: kh must be a whole number from 0 to 2147483647, is \"\"\n"
      "2: ic is given twice\n3: ic is missing\n4: oc is missing\n" },
    { B, "ic1ih4oc1kh1n\"a\nic1ih4oc1kh1nb\"\n",
      "1: the name's quotes do not match\n" },
    { B, "ic1ih4oc1kh1na*1000000\n\nic1ih4oc1kh1\n",
      "3: more than 1000000 layers like this one\n" },
    { B, "ic1ih4oc1kh1na*0",
      "1: the count behind the name must be a whole number from 1 to "
      "2147483647, is \"0\"\n" },
    { B, "ic1ih99999999999999999999oc1kh1",
      "1: ih must be a whole number from 0 to 2147483647, is "
      "\"999999999999999\"\n" },
    /* (111 * 2 - 224 + 7) / 2 = 2 gives 111 rows; a third is on one side. */
    { B, "ic3ih224oc64oh112kh7sh2",
      "1: oh112 needs more padding on one side than on the other, or less "
      "than none, which cuDNN has not\n" },
    { B, "ic3ih10oc4oh2kh3",
      "1: oh2 needs more padding on one side than on the other, or less than "
      "none, which cuDNN has not\n" },
    { B, "ic1id4ih4oc1kd1kh1", "1: h and w are needed both, or neither\n" },
    { B, "g3ic4ih4oc6kh1", "1: c 4 is not divisible by groups 3\n" },
    { B,
      "--dir=FWD --dt=u8:s8:f32\n--dt=f32:f16:f32 --mb=1,x\n--dt=f32:f32\n"
      "--batch=shapes --matmul --mathc=.* ic1ih4oc1kh1",
      "1: --dir: \"FWD\" is none of FWD_B, FWD_D, FWD_I, BWD_D, BWD_W, "
      "BWD_WB\n"
      "1: data type \"u8:s8:f32\" is none of f32, f16, bf16, f64, for all "
      "tensors\n"
      "2: data type \"f32:f16:f32\" is none of f32, f16, bf16, f64, for all "
      "tensors\n"
      "2: --mb must be a whole number from 0 to 2147483647, is \"x\"\n"
      "3: data type \"f32:f32\" is none of f32, f16, bf16, f64, for all "
      "tensors\n"
      "4: --batch=shapes: import that file by itself\n"
      "4: --matmul is not followed\n4: --mathc=.* is not followed\n" },
    { M,
      "conv -n 0\nconvint8 -n 1\nMIOpenDriver\nconv -n\nconv -Q 1\nconv 1\n"
      "conv --foo 1\nconv -nn 1\n",
      "1: batchsize must be a whole number from 1 to 2147483647, is \"0\"\n"
      "2: \"convint8\" is none of conv, convfp16, convbfp16\n"
      "3: \"\" is none of conv, convfp16, convbfp16\n"
      "4: -n needs a value\n5: unknown option \"-Q\"\n"
      "6: unknown option \"1\"\n7: unknown option \"--foo\"\n"
      "8: unknown option \"-nn\"\n" },
    { M,
      "conv -F 8\nconv -_ 4\nconv -m x\nconv -z x\nconv -Z 1\nconv -U fp8\n"
      "conv -I NDHWC\nconv -I NHWC\nconv -m trans -u 2 -Y 2\nconv -g 5\n",
      "1: forw must be 0 to 7\n2: spatial_dim must be 2 or 3\n"
      "3: mode \"x\" is not conv or trans\n"
      "4: pad_mode \"x\" is not same, valid or default\n"
      "5: vectorized tensors are not known\n6: casts are not known\n"
      "7: layout \"NDHWC\" is not NCHW or NHWC\n"
      "8: in_layout and out_layout differ\n"
      "9: output padding 2 is not below the stride 2\n"
      "10: c 3 is not divisible by groups 5\n" },
};

static void every_wrong_line_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
        struct uc_import_list list = { NULL, 17 };
        struct uc_error err = { .text = "" };

        assert_int_equal(read_list(bad[i].format, bad[i].text, &list, &err),
                         UC_EINPUT);
        assert_string_equal(told, bad[i].reasons);
        assert_non_null(strstr(err.text, "list: "));
        assert_non_null(strstr(err.text, " wrong line"));
        assert_null(list.layers);
        assert_int_equal(list.count, 17);
    }
}

static void a_list_without_layers_is_refused(void **state)
{
    static const char *const texts[] = { "", "\n\n", "# ic1ih4oc1kh1\n",
                                         "--dir=FWD_B\n" };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(texts); i++) {
        struct uc_import_list list = { NULL, 0 };
        struct uc_error err = { .text = "" };

        assert_int_equal(read_list(UC_IMPORT_BENCHDNN, texts[i], &list, &err),
                         UC_EINPUT);
        assert_string_equal(err.text, "list: no layers");
    }
}

static void more_layers_than_a_network_has_are_refused(void **state)
{
    size_t room = 64 * (UC_IMPORT_MAX_LAYERS + 2), used = 0;
    char *text = malloc(room);

    (void)state;
    assert_non_null(text);
    for (int extra = 0; extra < 2; extra++) {
        struct uc_import_list list = { NULL, 0 };
        struct uc_error err = { .text = "" };

        used = 0;
        for (int i = 0; i < UC_IMPORT_MAX_LAYERS + extra; i++)
            used += (size_t)snprintf(text + used, room - used,
                                     "ic%dih4oc1kh1\n", i + 1);
        if (extra == 0) {
            list = read_good(UC_IMPORT_BENCHDNN, text);
            assert_int_equal(list.count, UC_IMPORT_MAX_LAYERS);
            uc_import_free(&list);
        } else {
            assert_int_equal(read_list(UC_IMPORT_BENCHDNN, text, &list, &err),
                             UC_EINPUT);
            assert_string_equal(told,
                                "16385: more than 16384 different layers\n");
        }
    }
    free(text);
}

static void the_format_is_found_out(void **state)
{
    static const struct {
        const char *text;
        int format; /* -1: none */
    } cases[] = {
        { "\n# x\n" HEADER, D },
        { "--reset\nic1", B },
        { "mb1ic1ih4oc1kh1", B },
        { "tests/benchdnn --conv ic1", B },
        { "/opt/bin/MIOpenDriver conv -n 1", M },
        { "MIOpen(HIP): Command [x] ./bin/MIOpenDriver conv", M },
        { "convfp16 -n 1", M },
        { "convolution -n 1", -1 },
        { "", -1 },
        { "{\"name\": \"a\"}", -1 },
        { "good morning", -1 },
        { "a,b,c", -1 },
    };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        enum uc_import_format format = UC_IMPORT_FORMATS;
        bool found =
            uc_import_detect(cases[i].text, strlen(cases[i].text), &format);

        assert_int_equal(found ? (int)format : -1, cases[i].format);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deepbench_rows_are_read),
        cmocka_unit_test(benchdnn_shapes_are_read),
        cmocka_unit_test(benchdnn_options_hold_for_what_follows),
        cmocka_unit_test(miopen_commands_are_read),
        cmocka_unit_test(every_wrong_line_is_told),
        cmocka_unit_test(a_list_without_layers_is_refused),
        cmocka_unit_test(more_layers_than_a_network_has_are_refused),
        cmocka_unit_test(the_format_is_found_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
