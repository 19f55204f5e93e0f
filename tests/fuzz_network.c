#include "config.h"

/* Any bytes as a network description. */

#include "planner/network.h"
#include "tests/fuzz.h"

#include <string.h>

const char fuzz_name[] = "network";

/** A description that was read keeps the rules the rest relies on. */
static void check_network(const struct uc_network *network)
{
    struct uc_network_operation *list;
    struct uc_error err;
    size_t count = 0;

    FUZZ_CHECK(network->batch >= 1 && network->batch <= INT32_MAX);
    FUZZ_CHECK(network->layer_count >= 1);
    FUZZ_CHECK(memchr(network->name, '\0', sizeof network->name) != NULL);
    FUZZ_CHECK(uc_network_operations(network, &list, &count, &err) == UC_OK);
    for (size_t i = 0; i < count; i++) {
        char text[UC_PROBLEM_TEXT], again[UC_PROBLEM_TEXT];
        struct uc_problem problem;
        int64_t bytes;

        FUZZ_CHECK(list[i].layer->repeat >= 1);
        FUZZ_CHECK(uc_problem_check(&list[i].problem, &err) == UC_OK);
        for (int t = UC_X; t <= UC_Y; t++)
            FUZZ_CHECK(
                uc_problem_tensor_bytes(&list[i].problem, (enum uc_tensor)t,
                                        network->batch, &bytes, &err) == UC_OK);
        uc_problem_print(&list[i].problem, text);
        FUZZ_CHECK(uc_problem_parse(text, &problem, &err) == UC_OK);
        uc_problem_print(&problem, again);
        FUZZ_CHECK(strcmp(text, again) == 0);
    }
    free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct uc_network_overrides all[] = {
        UC_NETWORK_AS_IS,
        { .batch = 7, .dtype = UC_FP16, .layout = UC_NHWC, .math = -1 },
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct uc_network network = { .layers = NULL };
        struct uc_error err = { .text = "" };
        enum uc_status status = uc_network_parse(
            (const char *)data, size, "fuzz", &all[i], &network, &err);

        if (status == UC_OK)
            check_network(&network);
        else
            fuzz_check_error(status, &err);
        uc_network_free(&network);
    }
    return 0;
}
