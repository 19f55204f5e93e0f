/**
 * @file plan_support.h
 * A sample plan whose sums are worked out by hand.
 *
 * Included once per test program; everything is static.
 */
#ifndef UC_TESTS_PLAN_SUPPORT_H
#define UC_TESTS_PLAN_SUPPORT_H

#include "tests/db_support.h"

#include "db/plan.h"

/**
 * Three operations at batch 256 under 64 MiB in WR:
 *   conv2 forward          4x64 at 100 us            400 us, was 1 ms
 *   conv2 backward-data    256 at 500 us, no memory  500 us, was 500 us
 *   conv3 backward-filter  128 + 128 at 300 + 350 us 650 us, twice,
 *                          undivided does not fit
 * 400 + 500 + 2 * 650 = 2200 us.
 */
__attribute__((unused)) static void sample_plan(struct uc_plan *plan)
{
    struct uc_plan_operation *op;

    *plan = (struct uc_plan){
        .network = "alexnet",
        .environment = sample_environment(),
        .mode = UC_PLAN_WR,
        .limit_bytes = 64 << 20,
        .policy = "power-of-two",
        .choices = UC_PLAN_CHOICES,
        .created_at = 1764460800, /* 2025-11-30 00:00:00 */
        .tool = "0.1.0",
        .operations = calloc(3, sizeof *plan->operations),
        .operation_count = 3,
    };
    assert_non_null(plan->operations);
    op = plan->operations;
    for (int i = 0; i < 3; i++) {
        op[i].batch = 256;
        op[i].repeat = 1;
        strcpy(op[i].layer, i < 2 ? "conv2" : "conv3");
        op[i].piece_count = i < 2 ? 1 : 2;
        op[i].pieces = calloc(2, sizeof *op[i].pieces);
        assert_non_null(op[i].pieces);
        op[i].problem = sample_problem((enum uc_operation)i, 192);
    }
    op[0].pieces[0] =
        (struct uc_plan_piece){ .size = 64,
                                .count = 4,
                                .kernel = { .algorithm = 6,
                                            .math = UC_MATH_TF32 },
                                .notes = UC_NOTE_TENSOR_CORE | UC_NOTE_WINOGRAD,
                                .workspace_bytes = 60000000,
                                .time_ns = 100000 };
    op[0].workspace_bytes = 60000000;
    op[0].time_ns = 400000;
    op[0].undivided_ns = 1000000;
    op[0].unlimited_ns = 350000;
    op[1].pieces[0] =
        (struct uc_plan_piece){ .size = 256,
                                .count = 1,
                                .kernel = { .algorithm = 1,
                                            .math = UC_MATH_TF32 },
                                .notes = UC_NOTE_TENSOR_CORE,
                                .time_ns = 500000 };
    op[1].time_ns = 500000;
    op[1].undivided_ns = 500000;
    op[1].unlimited_ns = 450000;
    op[2].repeat = 2;
    op[2].pieces[0] = (struct uc_plan_piece){
        .size = 128,
        .count = 1,
        .kernel = { .algorithm = 3, .math = UC_MATH_TF32 },
        .notes = UC_NOTE_TENSOR_CORE | UC_NOTE_NONDETERMINISTIC,
        .workspace_bytes = 1024,
        .time_ns = 300000
    };
    op[2].pieces[1] =
        (struct uc_plan_piece){ .size = 128,
                                .count = 1,
                                .accumulate = true,
                                .kernel = { .algorithm = 1,
                                            .math = UC_MATH_TF32 },
                                .notes = UC_NOTE_TENSOR_CORE,
                                .workspace_bytes = 2048,
                                .time_ns = 350000 };
    op[2].workspace_bytes = 2048;
    op[2].time_ns = 650000;
    op[2].undivided_ns = -1;
    op[2].unlimited_ns = 600000;
}

/** No choice is what nobody told, and no two numbers are the same. */
__attribute__((unused)) static const struct uc_plan_choices sample_choices = {
    .deterministic = true,
    .no_runtime_compiled = true,
    .allow = UC_NOTE_REDUCED_PRECISION,
    .apis = 1u << UC_API_LEGACY,
    .max_pieces = 5,
    .min_gain = 0.29,
};

/** The sample plan as it could be with them, which is deterministic. */
__attribute__((unused)) static void sample_plan_chosen(struct uc_plan *plan)
{
    struct uc_plan_piece *piece;

    sample_plan(plan);
    plan->choices = sample_choices;
    piece = &plan->operations[2].pieces[0];
    piece->kernel.algorithm = 1;
    piece->notes = UC_NOTE_TENSOR_CORE;
}

__attribute__((unused)) static void assert_choices_equal(
    const struct uc_plan_choices *a, const struct uc_plan_choices *b)
{
    assert_int_equal(a->deterministic, b->deterministic);
    assert_int_equal(a->no_runtime_compiled, b->no_runtime_compiled);
    assert_int_equal(a->allow, b->allow);
    assert_int_equal(a->apis, b->apis);
    assert_int_equal(a->max_pieces, b->max_pieces);
    assert_true(a->min_gain == b->min_gain);
}

__attribute__((unused)) static void assert_plan_equal(const struct uc_plan *a,
                                                      const struct uc_plan *b)
{
    assert_string_equal(a->network, b->network);
    assert_null(uc_environment_difference(&a->environment, &b->environment));
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->limit_bytes, b->limit_bytes);
    assert_string_equal(a->policy, b->policy);
    assert_choices_equal(&a->choices, &b->choices);
    assert_int_equal(a->created_at, b->created_at);
    assert_string_equal(a->tool, b->tool);
    assert_int_equal(a->operation_count, b->operation_count);
    for (size_t i = 0; i < a->operation_count; i++) {
        const struct uc_plan_operation *p = &a->operations[i];
        const struct uc_plan_operation *q = &b->operations[i];

        assert_string_equal(p->layer, q->layer);
        assert_int_equal(p->batch, q->batch);
        assert_int_equal(p->repeat, q->repeat);
        assert_true(uc_problem_equal(&p->problem, &q->problem));
        assert_int_equal(p->workspace_bytes, q->workspace_bytes);
        assert_int_equal(p->time_ns, q->time_ns);
        assert_int_equal(p->undivided_ns, q->undivided_ns);
        assert_int_equal(p->unlimited_ns, q->unlimited_ns);
        assert_int_equal(p->piece_count, q->piece_count);
        for (size_t j = 0; j < p->piece_count; j++) {
            const struct uc_plan_piece *x = &p->pieces[j], *y = &q->pieces[j];

            assert_int_equal(x->size, y->size);
            assert_int_equal(x->count, y->count);
            assert_int_equal(x->accumulate, y->accumulate);
            assert_true(uc_kernel_equal(&x->kernel, &y->kernel));
            assert_int_equal(x->notes, y->notes);
            assert_int_equal(x->build_ns, y->build_ns);
            assert_int_equal(x->workspace_bytes, y->workspace_bytes);
            assert_int_equal(x->time_ns, y->time_ns);
        }
    }
}

#endif
