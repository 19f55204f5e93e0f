/** A profile as text, to compare it with another; included once a test. */
#ifndef UC_TESTS_DUMP_TEXT_H
#define UC_TESTS_DUMP_TEXT_H

#include "tests/db_support.h"

#include "planner/dump.h"

__attribute__((unused)) static char *dump_of_profile(const char *path)
{
    struct uc_profile *profile = NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_done(uc_profile_open(path, UC_PROFILE_READ, &profile, err));
    assert_done(uc_dump_profile(out, profile, err));
    uc_profile_close(profile);
    assert_int_equal(fclose(out), 0);
    return text;
}

#endif
