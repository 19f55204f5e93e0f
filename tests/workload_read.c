#include "config.h"

#include "planner/workload.h"
#include "tests/unit.h"

static char alexnet[] = "alexnet", vgg16[] = "vgg16",
            none[] = "no-such-network";

static void operations_follow_their_networks(void **state)
{
    /* Five layers, the first without backward-data, and one of its own. */
    char *names[] = { alexnet, vgg16 };
    struct uc_network_overrides overrides = UC_NETWORK_AS_IS;
    struct uc_workload one = { 0 }, both = { 0 };
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_workload_read(names, 1, &overrides, &one, &err), UC_OK);
    assert_int_equal(one.network_count, 1);
    assert_int_equal(one.operation_count, 14);
    overrides.batch = 32;
    overrides.math = UC_MATH_TF32;
    assert_int_equal(uc_workload_read(names, 2, &overrides, &both, &err),
                     UC_OK);
    assert_int_equal(both.network_count, 2);
    assert_true(both.operation_count > 14);
    assert_string_equal(both.networks[1].name, "vgg16");
    for (size_t i = 0; i < both.operation_count; i++) {
        const struct uc_network *network = &both.networks[i < 14 ? 0 : 1];
        const struct uc_layer *layer = both.operations[i].layer;

        assert_true(layer >= network->layers &&
                    layer < network->layers + network->layer_count);
        assert_int_equal(both.batches[i], 32);
        assert_int_equal(both.operations[i].problem.math, UC_MATH_TF32);
        if (i < 14)
            assert_int_equal(one.batches[i], 256);
    }
    uc_workload_free(&one);
    uc_workload_free(&both);
    uc_workload_free(&both);
}

static void output_is_untouched_when_a_network_is_bad(void **state)
{
    char *names[] = { alexnet, none };
    struct uc_workload workload, before;
    struct uc_error err;

    (void)state;
    memset(&workload, 0x5a, sizeof workload);
    before = workload;
    assert_int_equal(
        uc_workload_read(names, 2, &UC_NETWORK_AS_IS, &workload, &err),
        UC_EFILE);
    assert_memory_equal(&workload, &before, sizeof workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_follow_their_networks),
        cmocka_unit_test(output_is_untouched_when_a_network_is_bad),
    };

    return cmocka_run_group_tests_name("workload", tests, NULL, NULL);
}
