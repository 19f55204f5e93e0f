#include "config.h"

/* Any bytes as a plan file: every plan keeps the rules, or it is refused. */

#include "db/plan.h"
#include "tests/fuzz.h"

const char fuzz_name[] = "plan";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    struct uc_plan *plans = NULL;
    struct uc_error err = { .text = "" };
    size_t count = 0;
    enum uc_status status = uc_plans_read(path, &plans, &count, &err);

    if (status != UC_OK)
        fuzz_check_error(status, &err);
    for (size_t i = 0; i < count; i++) {
        struct uc_plan_totals totals;

        FUZZ_CHECK(uc_plan_check(&plans[i], &err) == UC_OK);
        uc_plan_totals(&plans[i], &totals);
        FUZZ_CHECK(totals.predicted_ns >= 0 && totals.workspace_bytes >= 0);
    }
    uc_plans_free(plans, count);
    return 0;
}
