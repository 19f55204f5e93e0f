/**
 * @file planning_support.h
 * A small network with a synthetic profile, planned in tests.
 *
 * Included once per test program; everything is static.
 */
#ifndef UC_TESTS_PLANNING_SUPPORT_H
#define UC_TESTS_PLANNING_SUPPORT_H

#include "planner/plan_build.h"

#include "tests/db_support.h"
#include "tests/synthetic.h"

#include <inttypes.h>

#define NETWORK                                                              \
    "{\"name\":\"tiny\",\"batch\":12,\"dtype\":\"fp32\",\"math\":\"fma\","   \
    "\"layout\":\"nchw\",\"defaults\":{\"filter\":3,\"pad\":1},\"layers\":{" \
    "\"a\":{\"in\":[9,9],\"c\":3,\"k\":16,"                                  \
    "\"operations\":[\"forward\",\"backward-filter\"]},"                     \
    "\"b\":{\"in\":[8,8],\"c\":16,\"k\":16,\"repeat\":3},"                   \
    "\"c\":{\"in\":[8,8],\"c\":16,\"k\":16}}}"

struct fixture {
    struct uc_network network;
    struct uc_profile *profile;
    struct uc_profile_environment environment;
    struct uc_planning_options options;
};

__attribute__((unused)) static struct uc_policy policy_of(const char *text)
{
    struct uc_policy policy;

    assert_done(uc_policy_parse(text, &policy, err));
    return policy;
}

typedef bool edit_row(const struct uc_problem *, struct uc_measurement *,
                      void *);

/** A profile with the rows of a policy; each is a commit, so few is fast. */
__attribute__((unused)) static void start(struct fixture *f, const char *policy,
                                          edit_row *edit, void *context)
{
    static int number;
    char name[32];

    memset(f, 0, sizeof *f);
    assert_done(uc_network_parse(NETWORK, strlen(NETWORK), "tiny.json",
                                 &UC_NETWORK_AS_IS, &f->network, err));
    snprintf(name, sizeof name, "profile%d", number++);
    assert_done(
        uc_profile_open(in_folder(name), UC_PROFILE_WRITE, &f->profile, err));
    f->environment.environment = synthetic_environment;
    assert_done(uc_profile_add_environment(f->profile, &synthetic_environment,
                                           &f->environment.id, err));
    f->options.policy = policy_of(policy);
    assert_done(synthetic_store(f->profile, f->environment.id, &f->network,
                                &f->options.policy, edit, context, err));
}

__attribute__((unused)) static void stop(struct fixture *f)
{
    uc_profile_close(f->profile);
    uc_network_free(&f->network);
}

/** Every test that changes no rows reads the same profile. */
static struct fixture shared;

__attribute__((unused)) static int setup(void **state)
{
    if (folder_setup(state) != 0)
        return -1;
    start(&shared, "1,2,3,4,6", NULL, NULL);
    return 0;
}

__attribute__((unused)) static int teardown(void **state)
{
    stop(&shared);
    return folder_teardown(state);
}

struct operation {
    const struct uc_layer *layer;
    struct uc_problem problem;
    struct uc_measurement *rows;
    size_t count;
};

/** The operations of the network with all their rows. */
__attribute__((unused)) static struct operation *load(const struct fixture *f,
                                                      size_t *count)
{
    struct uc_network_operation *list;
    struct operation *operations;

    assert_done(uc_network_operations(&f->network, &list, count, err));
    operations = calloc(*count, sizeof *operations);
    assert_non_null(operations);
    for (size_t i = 0; i < *count; i++) {
        operations[i].layer = list[i].layer;
        operations[i].problem = list[i].problem;
        assert_done(uc_profile_load(f->profile, f->environment.id,
                                    &list[i].problem, &operations[i].rows,
                                    &operations[i].count, err));
    }
    free(list);
    return operations;
}

__attribute__((unused)) static void unload(struct operation *operations,
                                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(operations[i].rows);
    free(operations);
}

#endif
