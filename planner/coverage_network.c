#include "config.h"

#include "planner/coverage.h"

#include "common/array.h"
#include "planner/data.h"
#include "planner/workload.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct uc_policy powers = { .kind = UC_POLICY_POWER_OF_TWO };

/** A network by its name on the command line, with overrides. */
static enum uc_status read_coverage(
    struct uc_profile *profile, int64_t env, char *name,
    const struct uc_network_overrides *overrides,
    const struct uc_policy *policy, struct uc_workload *work,
    struct uc_coverage *coverage, struct uc_error *err)
{
    enum uc_status status = uc_workload_read(&name, 1, overrides, work, err);

    return status == UC_OK
               ? uc_coverage_of(profile, env, work->operations,
                                work->operation_count, policy, coverage, err)
               : status;
}

static int64_t largest(const struct uc_coverage *coverage)
{
    return ((const int64_t *)coverage->batches)[coverage->batch_count - 1];
}

/* ------------------------------------------------- networks that ship */

static enum uc_status add_row(struct uc_profile *profile, int64_t env,
                              char *name, enum uc_math math,
                              enum uc_layout layout, void **rows, size_t *count,
                              struct uc_error *err)
{
    const struct uc_network_overrides overrides = { 0, -1, (int)layout,
                                                    (int)math };
    struct uc_coverage coverage = { .batches = NULL };
    struct uc_workload work = { 0 };
    enum uc_status status = read_coverage(profile, env, name, &overrides,
                                          &powers, &work, &coverage, err);

    if (status == UC_OK && coverage.batch_count > 0) {
        struct uc_coverage_row *row = uc_array_append(rows, count, sizeof *row);

        if (row == NULL) {
            status = uc_no_memory(err);
        } else {
            snprintf(row->network, sizeof row->network, "%s", name);
            row->math = math;
            row->layout = layout;
            row->largest_batch = largest(&coverage);
            row->problems = coverage.problems;
            row->unsearched = coverage.unsearched;
        }
    }
    free(coverage.batches);
    uc_workload_free(&work);
    return status;
}

enum uc_status uc_coverage_shipped(struct uc_profile *profile, int64_t env,
                                   struct uc_coverage_row **rows, size_t *count,
                                   struct uc_error *err)
{
    struct uc_error no_folder;
    char **names = NULL;
    size_t name_count = 0, used = 0;
    enum uc_status status = UC_OK;
    void *made = NULL;

    /* A profile can be looked at where no data is installed. */
    if (uc_data_list(UC_DATA_NETWORK, &names, &name_count, &no_folder) != UC_OK)
        name_count = 0;
    for (size_t i = 0; i < name_count; i++)
        for (int math = 0; math < UC_MATHS; math++)
            for (int layout = UC_NCHW; layout <= UC_NHWC; layout++)
                if (status == UC_OK)
                    status = add_row(profile, env, names[i], (enum uc_math)math,
                                     (enum uc_layout)layout, &made, &used, err);
    uc_data_free(names, name_count);
    if (status != UC_OK) {
        free(made);
        return status;
    }
    *rows = made;
    *count = used;
    return UC_OK;
}

/* ------------------------------------------------------------- instead */

/** " at batch 64 and 128": those next to the one asked for, or "" when it is
 * among them itself. */
static void print_batches(const struct uc_coverage *coverage, int64_t asked,
                          char text[64])
{
    const int64_t *batches = coverage->batches;
    int64_t below = 0, above = 0;

    text[0] = '\0';
    for (size_t i = 0; i < coverage->batch_count; i++) {
        if (batches[i] == asked)
            return;
        if (batches[i] < asked)
            below = batches[i];
        else if (above == 0)
            above = batches[i];
    }
    if (above == 0)
        snprintf(text, 64, " up to batch %" PRId64, below);
    else if (below == 0)
        snprintf(text, 64, " from batch %" PRId64, above);
    else
        snprintf(text, 64, " at batch %" PRId64 " and %" PRId64, below, above);
}

/** What is looked for. */
struct search {
    struct uc_profile *profile;
    int64_t env;
    const struct uc_environment *environment; /**< the same */
    char *name;                               /**< on the command line */
    const struct uc_network_overrides *asked;
    const struct uc_policy *policy; /**< asked for */
    bool exact;                     /**< only at the batch asked for */
    const char *who;                /**< whose profile it is */
    char *text;
};

/** Another way to ask for the network; false: it cannot be planned so. */
static bool try_variant(const struct search *search,
                        const struct uc_network_overrides *overrides,
                        const struct uc_policy *policy, const char *how)
{
    struct uc_coverage coverage = { .batches = NULL };
    struct uc_workload work = { 0 };
    struct uc_error err;
    char batches[64];
    bool found =
        read_coverage(search->profile, search->env, search->name, overrides,
                      policy, &work, &coverage, &err) == UC_OK &&
        coverage.batch_count > 0;

    if (found) {
        print_batches(&coverage, work.networks->batch, batches);
        found = batches[0] == '\0' || !search->exact;
    }
    if (found)
        snprintf(search->text, UC_COVERAGE_HINT, "; %s has %.40s%s%s",
                 search->who, work.networks->name, how, batches);
    free(coverage.batches);
    uc_workload_free(&work);
    return found;
}

static bool try_policies(const struct search *search)
{
    static const struct uc_policy undivided = { .kind = UC_POLICY_UNDIVIDED };
    bool is_powers = search->policy->kind == UC_POLICY_POWER_OF_TWO;

    return try_variant(search, search->asked, &powers,
                       is_powers ? "" : " with --policy power-of-two") ||
           try_variant(search, search->asked, search->policy, "") ||
           try_variant(search, search->asked, &undivided,
                       " with --policy undivided");
}

static bool try_layouts(const struct search *search)
{
    for (int layout = UC_NCHW; layout <= UC_NHWC; layout++) {
        struct uc_network_overrides other = *search->asked;
        char how[64];

        other.layout = layout;
        snprintf(how, sizeof how, " with --layout %s",
                 uc_layout_name((enum uc_layout)layout));
        if (try_variant(search, &other, &powers, how))
            return true;
    }
    return false;
}

static bool try_alike(const struct search *search)
{
    return try_policies(search) || try_layouts(search);
}

/** Each on its usual data type. */
static bool try_maths(const struct search *search)
{
    for (int math = 0; math < UC_MATHS; math++)
        for (int layout = UC_NCHW; layout <= UC_NHWC; layout++) {
            const struct uc_network_overrides other = { search->asked->batch,
                                                        -1, layout, math };
            char how[64];

            snprintf(how, sizeof how, " with --math %s --layout %s",
                     uc_math_name((enum uc_math)math),
                     uc_layout_name((enum uc_layout)layout));
            if (try_variant(search, &other, &powers, how))
                return true;
        }
    return false;
}

typedef bool search_for(const struct search *search);

static bool try_as_asked(const struct search *search)
{
    return try_variant(search, search->asked, search->policy, "");
}

/** In a profile that ships, of the same device and versions. */
static bool try_profile(const struct search *search, const char *name,
                        search_for *what)
{
    struct search other = *search;
    struct uc_error err;
    char path[PATH_MAX], who[96];
    bool found;

    if (uc_data_find(UC_DATA_PROFILE, name, path, sizeof path, &err) != UC_OK ||
        uc_profile_open(path, UC_PROFILE_READ, &other.profile, &err) != UC_OK)
        return false;
    snprintf(who, sizeof who, "the shipped profile %.64s", name);
    other.who = who;
    found = uc_profile_add_environment(other.profile, search->environment,
                                       &other.env, &err) == UC_OK &&
            other.env >= 0 && what(&other);
    uc_profile_close(other.profile);
    return found;
}

static bool try_profiles(const struct search *search, search_for *what)
{
    struct uc_error err;
    char **names = NULL;
    size_t count = 0;
    bool found = false;

    if (uc_data_list(UC_DATA_PROFILE, &names, &count, &err) != UC_OK)
        return false;
    for (size_t i = 0; i < count && !found; i++)
        found = try_profile(search, names[i], what);
    uc_data_free(names, count);
    return found;
}

/** What comes through a pipe cannot be read again. */
static bool is_readable_again(const char *name)
{
    struct stat st;

    return stat(name, &st) != 0 /* the name of one that ships */ ||
           S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
}

void uc_coverage_hint(struct uc_profile *profile,
                      const struct uc_profile_environment *environment,
                      char *name, const struct uc_network_overrides *asked,
                      const struct uc_policy *policy,
                      char text[UC_COVERAGE_HINT])
{
    struct search search = { .profile = profile,
                             .env = environment->id,
                             .environment = &environment->environment,
                             .name = name,
                             .asked = asked,
                             .policy = policy,
                             .exact = true,
                             .who = "it",
                             .text = text };

    text[0] = '\0';
    if (!is_readable_again(name))
        return;
    if (try_profiles(&search, try_as_asked) || try_alike(&search) ||
        try_profiles(&search, try_alike) || try_maths(&search))
        return;
    search.exact = false;
    (void)(try_alike(&search) || try_maths(&search));
}
