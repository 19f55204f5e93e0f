#include "config.h"

#include "common/array.h"
#include "tests/unit.h"

#include <stdlib.h>

static void entries_are_zero_and_stay(void **state)
{
    void *list = NULL;
    size_t count = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        int *entry = uc_array_append(&list, &count, sizeof *entry);

        assert_non_null(entry);
        assert_int_equal(*entry, 0);
        *entry = i;
        assert_int_equal(count, i + 1);
        assert_ptr_equal(entry, (int *)list + i);
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(((int *)list)[i], i);
    free(list);
}

static void the_array_is_as_it_was_without_memory(void **state)
{
    void *list = NULL;
    size_t count = 0;
    char *entry = uc_array_append(&list, &count, sizeof *entry);

    (void)state;
    assert_non_null(entry);
    assert_null(uc_array_append(&list, &count, SIZE_MAX));
    assert_null(uc_array_append(&list, &count, SIZE_MAX / 2 + 1));
    assert_ptr_equal(list, entry);
    assert_int_equal(count, 1);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_zero_and_stay),
        cmocka_unit_test(the_array_is_as_it_was_without_memory),
    };

    return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
