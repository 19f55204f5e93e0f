#include "config.h"

/*
 * profile_make PROFILE NETWORK.json POLICY [WORD...]: a profile of made-up
 * measurements for the shell tests. Not a test.
 *
 * Words: "second-environment" stores everything twice, once for a newer
 * cuDNN; "fail=OPERATION" lets every kernel of it fail; "engines" adds a
 * fast engine of the graph API, compiled at run time, at the whole batch.
 */
#include "tests/synthetic.h"

#include <stdio.h>

static const char *failing;

static void check(enum uc_status status, const struct uc_error *err)
{
    if (status == UC_OK)
        return;
    fprintf(stderr, "profile_make: %s\n", err->text);
    exit((int)status);
}

static bool edit(const struct uc_problem *problem, struct uc_measurement *row,
                 void *context)
{
    (void)context;
    if (failing && !strcmp(failing, uc_operation_name(problem->operation))) {
        row->outcome = UC_FAILED;
        row->time_ns = 0;
        strcpy(row->reason, "failed");
    }
    return true;
}

static void store_engines(struct uc_profile *profile, int64_t id,
                          const struct uc_network *network)
{
    const struct uc_search search = { .api = UC_API_GRAPH,
                                      .micro_batch = network->batch,
                                      .found = 1 };
    const struct uc_measurement row = {
        .micro_batch = network->batch,
        .kernel = { .api = UC_API_GRAPH,
                    .engine = 67,
                    .knob_count = 2,
                    .knobs = { { 2, 4 }, { 27, 8 } } },
        .outcome = UC_MEASURED,
        .notes = UC_NOTE_RUNTIME_COMPILED,
        .time_ns = 1000,
        .error = -1,
        .build_ns = 250000000,
    };
    struct uc_network_operation *list = NULL;
    struct uc_error err;
    size_t count;

    check(uc_network_operations(network, &list, &count, &err), &err);
    for (size_t i = 0; i < count; i++) {
        check(uc_profile_store(profile, id, &list[i].problem, &row, &err),
              &err);
        check(uc_profile_store_search(profile, id, &list[i].problem, &search,
                                      &err),
              &err);
    }
    free(list);
}

int main(int argc, char **argv)
{
    struct uc_environment environment = synthetic_environment;
    struct uc_network_overrides as_is = UC_NETWORK_AS_IS;
    struct uc_profile *profile;
    struct uc_network network;
    struct uc_policy policy;
    struct uc_error err;
    int environments = 1;
    bool engines = false;
    int64_t id;

    if (argc < 4)
        return 1;
    for (int i = 4; i < argc; i++)
        if (!strcmp(argv[i], "second-environment"))
            environments = 2;
        else if (!strncmp(argv[i], "fail=", 5))
            failing = argv[i] + 5;
        else if (!strcmp(argv[i], "engines"))
            engines = true;
        else
            return 1;
    check(uc_policy_parse(argv[3], &policy, &err), &err);
    check(uc_network_read(argv[2], &as_is, &network, &err), &err);
    check(uc_profile_open(argv[1], UC_PROFILE_WRITE, &profile, &err), &err);
    for (int i = 0; i < environments; i++) {
        check(uc_profile_add_environment(profile, &environment, &id, &err),
              &err);
        check(synthetic_store(profile, id, &network, &policy, edit, NULL, &err),
              &err);
        if (engines)
            store_engines(profile, id, &network);
        environment.versions.cudnn = 92000;
    }
    uc_profile_close(profile);
    uc_network_free(&network);
    return 0;
}
