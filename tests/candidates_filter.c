/* Which rows a plan may use: every combination of notes and filters. */
#include "config.h"

#include "tests/db_support.h"

#include "planner/candidates.h"

enum { BATCH = 4 };

static const struct uc_policy undivided = { .kind = UC_POLICY_UNDIVIDED };

static struct uc_problem problem_of(const char *text)
{
    struct uc_problem problem;

    assert_done(uc_problem_parse(text, &problem, err));
    return problem;
}

static struct uc_measurement row_of(const char *kernel, unsigned notes)
{
    struct uc_measurement row = { .micro_batch = BATCH,
                                  .outcome = UC_MEASURED,
                                  .notes = notes,
                                  .time_ns = 1000,
                                  .error = -1 };

    assert_done(uc_kernel_parse(kernel, UC_FORWARD, &row.kernel, err));
    return row;
}

/** How many of the rows may be used. */
static size_t admitted(const struct uc_problem *problem,
                       const struct uc_candidate_filter *filter,
                       const struct uc_measurement *rows, size_t count,
                       struct uc_candidate_counts *counts)
{
    struct uc_candidate_rows found;
    size_t result;
    int64_t refused = 0;

    assert_done(uc_candidate_rows_build(problem, BATCH, &undivided, filter,
                                        rows, count, &found, err));
    result = found.candidates.first_count;
    *counts = found.counts;
    for (int i = 0; i < UC_REFUSALS; i++)
        refused += counts->refused[i];
    assert_int_equal(counts->usable, result);
    assert_int_equal(counts->usable + refused, counts->outcomes[UC_MEASURED]);
    uc_candidate_rows_free(&found);
    return result;
}

/** The policy of precision, note by note. */
static bool may_be_used(bool fma, bool graph,
                        const struct uc_candidate_filter *filter,
                        unsigned notes)
{
    bool wanted = filter->apis == 0 || filter->apis == 3 ||
                  filter->apis == (graph ? 2u : 1u);

    if (fma && (notes & UC_NOTE_TENSOR_CORE))
        return false;
    if ((notes & UC_NOTE_DOWN_CONVERT) &&
        !(filter->allow & UC_NOTE_DOWN_CONVERT))
        return false;
    if ((notes & UC_NOTE_REDUCED_PRECISION) &&
        !(filter->allow & UC_NOTE_REDUCED_PRECISION))
        return false;
    if (filter->deterministic && (notes & UC_NOTE_NONDETERMINISTIC))
        return false;
    if (filter->no_runtime_compiled && (notes & UC_NOTE_RUNTIME_COMPILED))
        return false;
    return wanted;
}

static void every_combination_of_notes_and_filters(void **state)
{
    static const char *const problems[] = {
        "forward:fp32:fma:nchw:c8:k8:i9x9:f3x3",
        "forward:fp32:tf32:nchw:c8:k8:i9x9:f3x3",
        "forward:fp16:fp16:nhwc:c8:k8:i9x9:f3x3",
    };
    static const char *const kernels[] = { "gemm/fma", "eng67 k2=4" };
    static const unsigned allowances[] = { 0, UC_NOTE_DOWN_CONVERT,
                                           UC_NOTE_REDUCED_PRECISION,
                                           UC_NOTE_DOWN_CONVERT |
                                               UC_NOTE_REDUCED_PRECISION };

    (void)state;
    for (unsigned i = 0; i < 3 * 2 * 4 * 4 * 4; i++) {
        struct uc_problem problem = problem_of(problems[i % 3]);
        bool graph = i / 3 % 2 == 1;
        const struct uc_candidate_filter filter = {
            .deterministic = i / 6 % 2,
            .no_runtime_compiled = i / 12 % 2,
            .allow = allowances[i / 24 % 4],
            .apis = i / 96 % 4,
        };

        for (unsigned notes = 0; notes < 1u << UC_NOTES; notes++) {
            struct uc_measurement row = row_of(kernels[graph], notes);
            struct uc_candidate_counts counts;

            if (admitted(&problem, &filter, &row, 1, &counts) !=
                may_be_used(i % 3 == 0, graph, &filter, notes))
                fail_msg("%s, %s, notes %u, filter %u", problems[i % 3],
                         kernels[graph], notes, i);
        }
    }
}

/** A stronger legacy kernel will do, a weaker one will not. */
static void legacy_kernels_keep_their_math(void **state)
{
    static const struct {
        const char *problem, *kernel;
        bool admitted;
    } cases[] = {
        { "forward:fp32:fma:nchw:c8:k8:i9x9:f3x3", "gemm/fma", true },
        { "forward:fp32:fma:nchw:c8:k8:i9x9:f3x3", "gemm/tf32", false },
        { "forward:fp32:tf32:nchw:c8:k8:i9x9:f3x3", "gemm/tf32", true },
        { "forward:fp32:tf32:nchw:c8:k8:i9x9:f3x3", "gemm/fma", true },
        { "forward:fp32:tf32:nchw:c8:k8:i9x9:f3x3", "gemm/fp16", false },
        { "forward:fp16:fp16:nchw:c8:k8:i9x9:f3x3", "gemm/fp16", true },
        { "forward:fp16:fp16:nchw:c8:k8:i9x9:f3x3", "gemm/bf16", false },
    };
    const struct uc_candidate_filter filter = { .deterministic = false };

    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        struct uc_problem problem = problem_of(cases[i].problem);
        struct uc_measurement row = row_of(cases[i].kernel, 0);
        struct uc_candidate_counts counts;

        assert_int_equal(admitted(&problem, &filter, &row, 1, &counts),
                         cases[i].admitted);
        assert_int_equal(counts.refused[UC_REFUSED_MATH], !cases[i].admitted);
    }
}

/** Rows of version 1 may lack notes: a legacy kernel's are known. */
static void a_legacy_kernels_notes_need_no_row(void **state)
{
    const struct uc_candidate_filter filter = { .deterministic = true };
    struct uc_problem problem =
        problem_of("backward-data:fp32:tf32:nchw:c8:k8:i9x9:f3x3");
    struct uc_measurement row = row_of("gemm/fma", 0);
    struct uc_candidate_counts counts;

    (void)state;
    row.kernel = (struct uc_kernel){ .algorithm = 0 };
    assert_int_equal(admitted(&problem, &filter, &row, 1, &counts), 0);
    assert_int_equal(counts.refused[UC_REFUSED_NONDETERMINISTIC], 1);
    row.kernel = (struct uc_kernel){ .api = UC_API_GRAPH };
    assert_int_equal(admitted(&problem, &filter, &row, 1, &counts), 1);
}

static void the_reason_counts_each_refusal(void **state)
{
    struct uc_problem problem =
        problem_of("forward:fp32:fma:nchw:c8:k8:i9x9:f3x3");
    struct uc_measurement rows[] = {
        row_of("eng1", UC_NOTE_NONDETERMINISTIC),
        row_of("eng2", UC_NOTE_DOWN_CONVERT),
        row_of("eng3", UC_NOTE_REDUCED_PRECISION),
        row_of("eng4", UC_NOTE_RUNTIME_COMPILED),
        row_of("eng5", UC_NOTE_RUNTIME_COMPILED),
        row_of("eng6", UC_NOTE_TENSOR_CORE),
        row_of("gemm/fma", 0),
        row_of("eng7", 0),
    };
    struct uc_candidate_filter filter = { .deterministic = true,
                                          .no_runtime_compiled = true,
                                          .apis = 1u << UC_API_GRAPH };
    struct uc_candidate_counts counts;
    char text[UC_CANDIDATE_REASON];

    (void)state;
    rows[7].outcome = UC_CRASHED;
    assert_int_equal(admitted(&problem, &filter, rows, 8, &counts), 0);
    uc_candidate_reason(&counts, text);
    assert_string_equal(text, "no kernel that works is allowed: 1 "
                              "nondeterministic, 1 down-convert, 1 "
                              "reduced-precision, 2 runtime-compiled, 1 of "
                              "weaker math, 1 of the other API, 1 crashed");
    assert_int_equal(admitted(&problem, &filter, rows, 1, &counts), 0);
    uc_candidate_reason(&counts, text);
    assert_string_equal(text, "no kernel that works is deterministic: 1 "
                              "nondeterministic");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_of_notes_and_filters),
        cmocka_unit_test(legacy_kernels_keep_their_math),
        cmocka_unit_test(a_legacy_kernels_notes_need_no_row),
        cmocka_unit_test(the_reason_counts_each_refusal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
