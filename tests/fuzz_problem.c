#include "config.h"

/* Any bytes as a problem's text and as kernels' texts. */

#include "common/kernel.h"
#include "tests/fuzz.h"

#include <string.h>

const char fuzz_name[] = "problem";

static void parse_problem(const char *text)
{
    struct uc_problem problem, canonical;
    struct uc_error err = { .text = "" };
    enum uc_status status = uc_problem_parse(text, &problem, &err);
    char again[UC_PROBLEM_TEXT];
    int64_t bytes;

    if (status != UC_OK) {
        fuzz_check_error(status, &err);
        return;
    }
    uc_problem_print(&problem, again);
    FUZZ_CHECK(strcmp(text, again) == 0);
    FUZZ_CHECK(uc_problem_check(&problem, &err) == UC_OK);
    for (int t = UC_X; t <= UC_Y; t++)
        if (uc_problem_tensor_bytes(&problem, (enum uc_tensor)t, INT32_MAX,
                                    &bytes, &err) == UC_OK)
            FUZZ_CHECK(bytes > 0);
    (void)uc_problem_splits_at(&problem, INT32_MAX);
    FUZZ_CHECK(uc_problem_macs(&problem, 1) > 0);
    canonical = problem;
    uc_problem_canonical(&canonical);
    problem = canonical;
    uc_problem_canonical(&problem);
    FUZZ_CHECK(memcmp(&problem, &canonical, sizeof problem) == 0);
}

static void parse_kernel(const char *text, enum uc_operation operation)
{
    struct uc_kernel kernel, same;
    struct uc_error err = { .text = "" };
    enum uc_status status = uc_kernel_parse(text, operation, &kernel, &err);
    char again[UC_KERNEL_TEXT];

    if (status != UC_OK) {
        fuzz_check_error(status, &err);
        return;
    }
    FUZZ_CHECK(uc_kernel_fault(&kernel, operation) == NULL);
    uc_kernel_print(&kernel, operation, again);
    FUZZ_CHECK(uc_kernel_parse(again, operation, &same, &err) == UC_OK);
    FUZZ_CHECK(uc_kernel_equal(&kernel, &same));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_string(data, size);

    parse_problem(text);
    for (int op = 0; op < UC_OPERATIONS; op++)
        parse_kernel(text, (enum uc_operation)op);
    free(text);
    return 0;
}
