#include "config.h"

#include "tests/plan_support.h"

#include "planner/report.h"

#include <jansson.h>
#include <locale.h>

typedef enum uc_status plans_report(FILE *out, const struct uc_plan *plans,
                                    size_t count, struct uc_error *err);

static enum uc_status table(FILE *out, const struct uc_plan *plans,
                            size_t count, struct uc_error *err)
{
    (void)count;
    return uc_report_plan_table(out, plans, err);
}

/** What a report prints; free() it. */
static char *printed(plans_report *report, const struct uc_plan *plans,
                     size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_done(report(out, plans, count, err));
    assert_int_equal(fclose(out), 0);
    return text;
}

/* The sums are worked out in plan_support.h. 60000000 bytes are 57.22 MiB;
 * conv2 forward gains 1000 / 400. */
static const char wr_table[] =
    "network    alexnet, batch 256\n"
    "device     NVIDIA H200 (compute capability 9.0, 132 multiprocessors, "
    "139.7 GiB)\n"
    "versions   cuDNN 9.19.0, CUDA 13.0, driver 580.159.04\n"
    "mode       workspace reuse (WR), one workspace for all operations\n"
    "limit      64 MiB per operation, 57.2 MiB needed\n"
    "policy     power-of-two\n"
    "created    2025-11-30 00:00:00 UTC by ucudnn-plan 0.1.0\n"
    "predicted  2.20 ms\n"
    "undivided  not every operation fits the same limit\n"
    "unlimited  2.00 ms undivided with any workspace: 0.91x\n"
    "\n"
    "layer  operation        repeat  split  kernel                   workspace"
    "     time  undivided   gain\n"
    "conv2  forward               1  4x64   winograd/tf32             57.2 MiB"
    "   400 us    1.00 ms  2.50x\n"
    "conv2  backward-data         1  256    algo1/tf32                     0 B"
    "   500 us     500 us  1.00x\n"
    "conv3  backward-filter       2  2x128  algo3/tf32 + algo1/tf32      2 KiB"
    "   650 us          -      -\n"
    "total                                                            57.2 MiB"
    "  2.20 ms          -      -\n";

static void a_table_shows_splits_and_totals(void **state)
{
    struct uc_plan plan;
    char *text;

    (void)state;
    sample_plan(&plan);
    text = printed(table, &plan, 1);
    assert_string_equal(text, wr_table);
    free(text);
    plan.operations[2].undivided_ns = 1000000;
    plan.operations[2].unlimited_ns = -1;
    plan.operations[1].batch = 32;
    plan.mode = UC_PLAN_WD;
    plan.choices = sample_choices;
    text = printed(table, &plan, 1);
    assert_non_null(strstr(text, "batch 32 to 256\n"));
    assert_non_null(strstr(text, "workspace division (WD)"));
    assert_non_null(strstr(text, "64 MiB in total, 57.2 MiB needed\n"));
    assert_non_null(
        strstr(text, "policy     power-of-two, deterministic kernels only, "
                     "legacy kernels only, no kernels compiled at run time, "
                     "reduced-precision allowed, at most 5 micro-batches, "
                     "divided only for more than 29%\n"));
    /* 1000 + 500 + 2 * 1000 over 2200 */
    assert_non_null(strstr(text, "3.50 ms under the same limit: 1.59x\n"));
    assert_non_null(strstr(text, "not every operation runs undivided\n"));
    free(text);
    uc_plan_free(&plan);
}

static void csv_quotes_what_needs_it(void **state)
{
    struct uc_plan plan;
    char *text;

    (void)state;
    sample_plan(&plan);
    strcpy(plan.operations[0].layer, "a,\"b\"");
    plan.operation_count = 3;
    text = printed(uc_report_plans_csv, &plan, 1);
    assert_string_equal(
        text,
        "network,device,mode,limit_bytes,layer,operation,repeat,batch,problem,"
        "split,kernel,workspace_bytes,time_ns,undivided_ns,unlimited_ns\r\n"
        "alexnet,NVIDIA H200,wr,67108864,\"a,\"\"b\"\"\",forward,1,256,"
        "forward:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2,4x64,winograd/tf32,"
        "60000000,400000,1000000,350000\r\n"
        "alexnet,NVIDIA H200,wr,67108864,conv2,backward-data,1,256,"
        "backward-data:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2,256,"
        "algo1/tf32,0,500000,500000,450000\r\n"
        "alexnet,NVIDIA H200,wr,67108864,conv3,backward-filter,2,256,"
        "backward-filter:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2,2x128,"
        "algo3/tf32 + algo1/tf32,2048,650000,,600000\r\n");
    free(text);
    text = printed(uc_report_plans_csv, NULL, 0);
    assert_null(strchr(strchr(text, '\n') + 1, '\n'));
    free(text);
    uc_plan_free(&plan);
}

static json_int_t integer(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value))
        fail_msg("%s is no integer", key);
    return json_integer_value(value);
}

static const char *string(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    if (value == NULL)
        fail_msg("%s is no string", key);
    return value;
}

/** Apis and allow as JSON; `flags`: deterministic, and not compiled. */
static void assert_choices(const json_t *object, bool flags, const char *apis,
                           const char *allow, double min_gain,
                           json_int_t max_pieces)
{
    static const char *const names[] = { "apis", "allow" };
    const char *const lists[] = { apis, allow };

    for (int i = 0; i < 2; i++) {
        char *text = json_dumps(json_object_get(object, names[i]), 0);

        assert_non_null(text);
        assert_string_equal(text, lists[i]);
        free(text);
    }
    assert_int_equal(
        json_boolean_value(json_object_get(object, "deterministic")), flags);
    assert_int_equal(
        json_boolean_value(json_object_get(object, "no_runtime_compiled")),
        flags);
    assert_true(json_real_value(json_object_get(object, "min_gain")) ==
                min_gain);
    if (max_pieces < 0)
        assert_true(json_is_null(json_object_get(object, "max_pieces")));
    else
        assert_int_equal(integer(object, "max_pieces"), max_pieces);
}

static void json_tells_every_choice(void **state)
{
    struct uc_plan plan;
    json_t *root;
    char *text;

    (void)state;
    sample_plan(&plan);
    plan.choices = sample_choices;
    text = printed(uc_report_plans_json, &plan, 1);
    root = json_loads(text, 0, NULL);
    assert_non_null(root);
    assert_choices(root, true, "[\"legacy\"]", "[\"reduced-precision\"]", 0.29,
                   5);
    json_decref(root);
    free(text);
    uc_plan_free(&plan);
}

static void json_has_every_field_in_order(void **state)
{
    static const char *const keys[] = {
        "network",
        "batch",
        "device",
        "versions",
        "mode",
        "limit_bytes",
        "policy",
        "deterministic",
        "apis",
        "allow",
        "no_runtime_compiled",
        "min_gain",
        "max_pieces",
        "created_at",
        "tool",
        "predicted_ns",
        "undivided_ns",
        "unlimited_ns",
        "workspace_bytes",
        "operations",
    };
    struct uc_plan plan;
    const char *key;
    char *text;
    json_t *root, *op, *pieces, *value;
    size_t i = 0;

    (void)state;
    sample_plan(&plan);
    text = printed(uc_report_plans_json, &plan, 1);
    root = json_loads(text, 0, NULL);
    assert_non_null(root);
    assert_true(text[strlen(text) - 1] == '\n');
    json_object_foreach(root, key, value) assert_string_equal(key, keys[i++]);
    assert_int_equal(i, sizeof keys / sizeof *keys);
    assert_string_equal(string(root, "network"), "alexnet");
    assert_int_equal(integer(root, "batch"), 256);
    value = json_object_get(root, "device");
    assert_string_equal(string(value, "name"), "NVIDIA H200");
    assert_int_equal(integer(value, "compute_capability"), 90);
    assert_int_equal(integer(value, "multiprocessors"), 132);
    assert_int_equal(integer(value, "memory_bytes"), 150109880320);
    value = json_object_get(root, "versions");
    assert_int_equal(integer(value, "cudnn"), 91900);
    assert_int_equal(integer(value, "cuda"), 13000);
    assert_string_equal(string(value, "driver"), "580.159.04");
    assert_string_equal(string(root, "mode"), "wr");
    assert_int_equal(integer(root, "limit_bytes"), 67108864);
    assert_string_equal(string(root, "policy"), "power-of-two");
    assert_choices(root, false, "[\"legacy\", \"graph\"]", "[]", 0.01, -1);
    assert_string_equal(string(root, "created_at"), "2025-11-30T00:00:00Z");
    assert_int_equal(integer(root, "predicted_ns"), 2200000);
    assert_true(json_is_null(json_object_get(root, "undivided_ns")));
    assert_int_equal(integer(root, "unlimited_ns"), 2000000);
    assert_int_equal(integer(root, "workspace_bytes"), 60000000);
    assert_int_equal(json_array_size(json_object_get(root, "operations")), 3);
    op = json_array_get(json_object_get(root, "operations"), 2);
    assert_string_equal(string(op, "layer"), "conv3");
    assert_string_equal(string(op, "operation"), "backward-filter");
    assert_int_equal(integer(op, "repeat"), 2);
    assert_int_equal(integer(op, "batch"), 256);
    assert_string_equal(
        string(op, "problem"),
        "backward-filter:fp32:tf32:nchw:c64:k192:i27x27:f5x5:p2x2");
    assert_int_equal(integer(op, "workspace_bytes"), 2048);
    assert_int_equal(integer(op, "time_ns"), 650000);
    assert_true(json_is_null(json_object_get(op, "undivided_ns")));
    assert_int_equal(integer(op, "unlimited_ns"), 600000);
    pieces = json_object_get(op, "micro_batches");
    assert_int_equal(json_array_size(pieces), 2);
    value = json_array_get(pieces, 1);
    assert_int_equal(integer(value, "size"), 128);
    assert_int_equal(integer(value, "count"), 1);
    assert_true(json_is_true(json_object_get(value, "accumulate")));
    assert_string_equal(string(value, "kernel"), "algo1/tf32");
    assert_int_equal(integer(value, "build_ns"), 0);
    value = json_object_get(value, "notes");
    assert_int_equal(json_array_size(value), 1);
    assert_string_equal(json_string_value(json_array_get(value, 0)),
                        "tensor-core");
    value = json_array_get(pieces, 1);
    assert_int_equal(integer(value, "workspace_bytes"), 2048);
    assert_int_equal(integer(value, "time_ns"), 350000);
    json_decref(root);
    free(text);
    uc_plan_free(&plan);
}

/**
 * Two engines of conv2 forward, at 1 x 64 and 3 x 64; the second of them also
 * in conv3 backward-filter, where it is another kernel.
 */
static void engine_plan(struct uc_plan *plan)
{
    static const struct uc_kernel first = { .api = UC_API_GRAPH,
                                            .engine = 67,
                                            .knob_count = 2,
                                            .knobs = { { 2, 4 }, { 27, 8 } } };
    static const struct uc_kernel second = { .api = UC_API_GRAPH,
                                             .engine = 70 };
    struct uc_plan_operation *op;

    sample_plan(plan);
    op = plan->operations;
    op[0].pieces[1] = op[0].pieces[0];
    op[0].piece_count = 2;
    op[0].pieces[0].count = 1;
    op[0].pieces[1].count = 3;
    op[0].pieces[0].kernel = first;
    op[0].pieces[0].notes = UC_NOTE_TENSOR_CORE;
    op[0].pieces[0].build_ns = 1000000;
    op[0].pieces[1].kernel = second;
    op[0].pieces[1].notes = UC_NOTE_TENSOR_CORE | UC_NOTE_RUNTIME_COMPILED;
    op[0].pieces[1].build_ns = 400000000;
    op[2].pieces[1].kernel = second;
    op[2].pieces[1].notes = UC_NOTE_RUNTIME_COMPILED;
    op[2].pieces[1].build_ns = 300000000;
    assert_done(uc_plan_check(plan, err));
}

/** A division in which one operation gave way to the others, and the copies
 * of another are in two rows; the same rows under a limit for each say
 * nothing. */
static void a_division_explains_its_odd_rows(void **state)
{
    static const char gain[] = "\nA gain below 1: ";
    static const char copies[] = "\nA layer in several rows: ";
    struct uc_plan plan;
    char *text;

    (void)state;
    sample_plan(&plan);
    plan.mode = UC_PLAN_WD;
    text = printed(table, &plan, 1);
    assert_null(strstr(text, gain));
    assert_null(strstr(text, copies));
    free(text);
    plan.operations[1].undivided_ns = plan.operations[1].time_ns - 1;
    text = printed(table, &plan, 1);
    assert_non_null(strstr(text, gain));
    assert_null(strstr(text, copies));
    free(text);
    plan.operations[1].undivided_ns = plan.operations[1].time_ns;
    strcpy(plan.operations[1].layer, plan.operations[0].layer);
    plan.operations[1].problem = plan.operations[0].problem;
    text = printed(table, &plan, 1);
    assert_null(strstr(text, gain));
    assert_non_null(strstr(text, copies));
    free(text);
    plan.mode = UC_PLAN_WR;
    text = printed(table, &plan, 1);
    assert_null(strstr(text, copies));
    free(text);
    uc_plan_free(&plan);
}

static void engines_are_listed_with_their_notes(void **state)
{
    static const char tail[] =
        "layer  operation        repeat  split  kernel          "
        "          workspace     time  undivided   gain\n"
        "conv2  forward               1  4x64   eng67 k2=4 k27=8"
        " + eng70   57.2 MiB   400 us    1.00 ms  2.50x\n"
        "conv2  backward-data         1  256    algo1/tf32      "
        "                0 B   500 us     500 us  1.00x\n"
        "conv3  backward-filter       2  2x128  algo3/tf32 + eng"
        "70            2 KiB   650 us          -      -\n"
        "total                                                  "
        "           57.2 MiB  2.20 ms          -      -\n"
        "\n"
        "kernel            operation        notes\n"
        "eng67 k2=4 k27=8  forward          tensor-core\n"
        "eng70             forward          tensor-core, runtime-compiled\n"
        "eng70             backward-filter  runtime-compiled\n";
    struct uc_plan plan;
    char *text, *found;
    json_t *root, *value;

    (void)state;
    engine_plan(&plan);
    text = printed(table, &plan, 1);
    found = strstr(text, "layer ");
    assert_non_null(found);
    assert_string_equal(found, tail);
    /* 0.4 s and 0.3 s */
    assert_non_null(
        strstr(text, "compiled   2 kernels at run time, once, in 700 ms\n"));
    free(text);

    text = printed(uc_report_plans_csv, &plan, 1);
    assert_non_null(strstr(text, ",4x64,eng67 k2=4 k27=8 + eng70,"));
    free(text);

    text = printed(uc_report_plans_json, &plan, 1);
    root = json_loads(text, 0, NULL);
    value = json_array_get(json_object_get(root, "operations"), 0);
    value = json_array_get(json_object_get(value, "micro_batches"), 1);
    assert_string_equal(string(value, "kernel"), "eng70");
    assert_int_equal(integer(value, "build_ns"), 400000000);
    value = json_object_get(value, "notes");
    assert_int_equal(json_array_size(value), 2);
    assert_string_equal(json_string_value(json_array_get(value, 0)),
                        "tensor-core");
    assert_string_equal(json_string_value(json_array_get(value, 1)),
                        "runtime-compiled");
    json_decref(root);
    free(text);

    /* One problem in two layers is built once. */
    strcpy(plan.operations[1].layer, "conv2b");
    plan.operations[1].problem = plan.operations[0].problem;
    free(plan.operations[1].pieces);
    plan.operations[1].pieces = calloc(2, sizeof *plan.operations[1].pieces);
    assert_non_null(plan.operations[1].pieces);
    memcpy(plan.operations[1].pieces, plan.operations[0].pieces,
           2 * sizeof *plan.operations[1].pieces);
    plan.operations[1].piece_count = 2;
    text = printed(table, &plan, 1);
    assert_non_null(
        strstr(text, "compiled   2 kernels at run time, once, in 700 ms\n"));
    free(text);
    uc_plan_free(&plan);
}

static void several_plans_are_an_array(void **state)
{
    struct uc_plan plans[2];
    char *text;
    json_t *root;

    (void)state;
    sample_plan(&plans[0]);
    sample_plan(&plans[1]);
    strcpy(plans[1].network, "b");
    plans[1].operations[0].batch = 1;
    text = printed(uc_report_plans_json, plans, 2);
    root = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(root), 2);
    assert_string_equal(string(json_array_get(root, 1), "network"), "b");
    assert_true(
        json_is_null(json_object_get(json_array_get(root, 1), "batch")));
    json_decref(root);
    free(text);
    text = printed(uc_report_plans_json, NULL, 0);
    assert_string_equal(text, "[]\n");
    free(text);
    uc_plan_free(&plans[0]);
    uc_plan_free(&plans[1]);
}

static void write_errors_stay_in_the_file(void **state)
{
    FILE *full = fopen("/dev/full", "w");
    struct uc_plan plan;

    (void)state;
    if (full == NULL)
        skip_because("no /dev/full here");
    setvbuf(full, NULL, _IONBF, 0);
    sample_plan(&plan);
    assert_done(uc_report_plans_json(full, &plan, 1, err));
    assert_true(ferror(full));
    fclose(full);
    uc_plan_free(&plan);
}

static void the_locale_changes_nothing(void **state)
{
    struct uc_plan plan;
    char *text;

    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip_because("no locale de_DE.UTF-8 here");
    sample_plan(&plan);
    text = printed(table, &plan, 1);
    assert_string_equal(text, wr_table);
    setlocale(LC_ALL, "C");
    free(text);
    uc_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_shows_splits_and_totals),
        cmocka_unit_test(csv_quotes_what_needs_it),
        cmocka_unit_test(json_has_every_field_in_order),
        cmocka_unit_test(json_tells_every_choice),
        cmocka_unit_test(a_division_explains_its_odd_rows),
        cmocka_unit_test(engines_are_listed_with_their_notes),
        cmocka_unit_test(several_plans_are_an_array),
        cmocka_unit_test(write_errors_stay_in_the_file),
        cmocka_unit_test(the_locale_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
