#include "config.h"

#include "common/device.h"
#include "tests/unit.h"

static struct uc_environment h200(void)
{
    return (struct uc_environment){
        .device = { "NVIDIA H200", 90, 132, INT64_C(150) << 30 },
        .versions = { 91900, 13000, "580.1" },
    };
}

static void equal_environments_have_no_difference(void **state)
{
    const struct uc_environment a = h200(), b = h200();

    (void)state;
    assert_null(uc_environment_difference(&a, &b));
    assert_null(uc_device_difference(&a.device, &b.device));
}

#define DIFFERS(change, on_device, name)                                    \
    do {                                                                    \
        const struct uc_environment a = h200();                             \
        struct uc_environment b = h200();                                   \
        change;                                                             \
        assert_string_equal(uc_environment_difference(&a, &b), name);       \
        assert_string_equal(uc_environment_difference(&b, &a), name);       \
        if (on_device)                                                      \
            assert_string_equal(uc_device_difference(&a.device, &b.device), \
                                name);                                      \
        else                                                                \
            assert_null(uc_device_difference(&a.device, &b.device));        \
    } while (0)

static void the_differing_field_is_named(void **state)
{
    (void)state;
    DIFFERS(b.device.name[10] = '1', true, "device name");
    DIFFERS(b.device.compute_capability = 100, true, "compute capability");
    DIFFERS(b.device.multiprocessors--, true, "multiprocessors");
    DIFFERS(b.device.memory_bytes++, true, "memory");
    DIFFERS(b.versions.cudnn++, false, "cudnn version");
    DIFFERS(b.versions.cuda++, false, "cuda version");
    DIFFERS(b.versions.driver[4] = '2', false, "driver version");
}

static void the_first_of_several_is_named(void **state)
{
    const struct uc_environment a = h200();
    struct uc_environment b = h200();

    (void)state;
    b.versions.driver[0] = 'x';
    b.versions.cudnn++;
    assert_string_equal(uc_environment_difference(&a, &b), "cudnn version");
    b.device.memory_bytes++;
    assert_string_equal(uc_environment_difference(&a, &b), "memory");
    b.device.name[0] = 'x';
    assert_string_equal(uc_environment_difference(&a, &b), "device name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_environments_have_no_difference),
        cmocka_unit_test(the_differing_field_is_named),
        cmocka_unit_test(the_first_of_several_is_named),
    };

    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
