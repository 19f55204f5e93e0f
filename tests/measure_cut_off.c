/*
 * What is cut off and what has too little memory, on the double of CUDA and
 * cuDNN: engine 2 takes 65,536 + 4 N K |O| bytes of workspace and 2.5 us + 0.6
 * ns a multiply-add, engine 1 with tile 1 takes 1.6 times as long, with more
 * workspace from 4 images on, and with tile 0 and tex 1 2.1 times as long, with
 * less (tests/double/README).
 */
#include "config.h"

#include "tests/unit.h"

#include "planner/measure.h"
#include "planner/trial.h"

#include <stdio.h>
#include <unistd.h>

static struct uc_measure_session session;
static const char *const forward =
    "forward:fp32:fma:nchw:c64:k4:i16x16:f3x3:p1x1";
static const char *const others[] = {
    "forward:fp32:fma:nchw:c64:k4:i16x16:f3x3:p1x1:s2x2",
    "backward-filter:fp32:fma:nchw:c64:k4:i16x16:f3x3:p1x1"
};

static const struct uc_kernel fast = { .api = UC_API_GRAPH, .engine = 2 };
static const struct uc_kernel slow = {
    .api = UC_API_GRAPH, .engine = 1, .knob_count = 1, .knobs = { { 2, 1 } }
};
static const struct uc_kernel small = { .api = UC_API_GRAPH,
                                        .engine = 1,
                                        .knob_count = 2,
                                        .knobs = { { 2, 0 }, { 3, 1 } } };
enum { FAST_BYTES = 65536 + 4 * 4 * 4 * 256 }; /* with 4 images */
enum { SLOW_BYTES = 4 * 4 * (64 + 4) * 256 / 2, SMALL_BYTES = SLOW_BYTES / 4 };

static void started(void *context, size_t kernel)
{
    (void)context;
    (void)kernel;
}

static void done(void *context, size_t kernel, const struct uc_measurement *m)
{
    assert_int_equal(kernel, 0);
    *(struct uc_measurement *)context = *m;
}

/** A work of its own, as of an earlier and a later round. How much workspace
    the kernel needs is asked, whatever the work says. */
static struct uc_measurement measure_of(const char *text, int64_t micro_batch,
                                        const struct uc_work_kernel *kernel)
{
    static struct uc_work work;
    struct uc_measurement m = { .time_ns = -1 };
    const struct uc_measure_events events = { started, done, &m };
    struct uc_error err;

    work = (struct uc_work){ .micro_batch = micro_batch,
                             .batch = 8,
                             .kernel_count = 1 };
    work.kernels[0] = *kernel;
    assert_int_equal(uc_problem_parse(text, &work.problem, &err), UC_OK);
    assert_int_equal(uc_measure_work(&session, &work, &events, &err), UC_OK);
    return m;
}

static struct uc_measurement measure(const struct uc_kernel *kernel,
                                     int64_t micro_batch, unsigned notes)
{
    const struct uc_work_kernel one = { .kernel = *kernel, .notes = notes };

    return measure_of(forward, micro_batch, &one);
}

static int open_session(void **state)
{
    struct uc_error err;

    (void)state;
    session.max_workspace_bytes = 1 << 30;
    return uc_gpu_open(&session.gpu, 0, &err) == UC_OK ? 0 : -1;
}

static void an_earlier_work_cuts_off(void **state)
{
    struct uc_measurement m;

    (void)state;
    m = measure(&slow, 4, 0);
    assert_int_equal(m.outcome, UC_MEASURED);
    assert_int_equal(m.workspace_bytes, SLOW_BYTES);
    m = measure(&fast, 4, 0);
    assert_int_equal(m.outcome, UC_MEASURED);
    assert_int_equal(m.workspace_bytes, FAST_BYTES);
    m = measure(&slow, 4, 0);
    assert_int_equal(m.outcome, UC_CUT_OFF);
    assert_int_equal(m.samples, 0);
    assert_string_equal(m.reason,
                        "over 1.3 times the best of no larger workspace");
}

static void with_less_workspace_it_is_measured(void **state)
{
    struct uc_measurement m;

    (void)state;
    measure(&fast, 4, 0);
    m = measure(&small, 4, 0);
    assert_int_equal(m.workspace_bytes, SMALL_BYTES);
    assert_int_equal(m.outcome, UC_MEASURED);
}

/** Plans that refuse the faster one need it. */
static void with_fewer_notes_it_is_measured(void **state)
{
    (void)state;
    measure(&fast, 8, UC_NOTE_NONDETERMINISTIC);
    assert_int_equal(measure(&slow, 8, 0).outcome, UC_MEASURED);
    assert_int_equal(measure(&slow, 8, UC_NOTE_NONDETERMINISTIC).outcome,
                     UC_CUT_OFF);
}

static void another_size_is_another_matter(void **state)
{
    (void)state;
    measure(&fast, 4, 0);
    assert_int_equal(measure(&slow, 8, 0).outcome, UC_MEASURED);
    assert_int_equal(measure(&slow, 4, 0).outcome, UC_MEASURED);
}

/** With a stride of 2 all takes a quarter. */
static void another_problem_is_another_matter(void **state)
{
    const struct uc_work_kernel quick = { .kernel = small };

    (void)state;
    assert_int_equal(measure_of(others[0], 4, &quick).outcome, UC_MEASURED);
    assert_int_equal(measure(&small, 4, 0).outcome, UC_MEASURED);
}

static void another_beta_case_is_another_matter(void **state)
{
    const struct uc_work_kernel first = { .kernel = fast };
    struct uc_work_kernel second = { .kernel = slow, .accumulate = true };

    (void)state;
    assert_int_equal(measure_of(others[1], 4, &first).outcome, UC_MEASURED);
    assert_int_equal(measure_of(others[1], 4, &second).outcome, UC_MEASURED);
    second.accumulate = false;
    assert_int_equal(measure_of(others[1], 4, &second).outcome, UC_CUT_OFF);
}

/** How much it needs is unknown, as of a row from a crash. */
static void what_needs_too_much_is_not_run(void **state)
{
    int64_t most = session.max_workspace_bytes;

    (void)state;
    session.max_workspace_bytes = SLOW_BYTES - 1;
    assert_int_equal(measure(&slow, 4, 0).outcome, UC_TOO_LARGE);
    session.max_workspace_bytes = SLOW_BYTES;
    assert_int_equal(measure(&slow, 2, 0).outcome, UC_MEASURED);
    session.max_workspace_bytes = most;
}

/** Little memory is free, but more than the workspace needs is in buffers that
    are larger than this problem's. */
static void what_a_larger_problem_held_is_given_back(void **state)
{
    const struct uc_work_kernel none = { .kernel = { .api = UC_API_GRAPH,
                                                     .engine = 0 } };
    struct uc_buffer filler = { 0 };
    struct uc_measurement m;
    struct uc_error err;

    (void)state;
    assert_int_equal(
        measure_of("forward:fp32:fma:nchw:c64:k4:i64x64:f3x3:p1x1", 8, &none)
            .workspace_bytes,
        0);
    uc_gpu_release(&session.gpu, &session.workspace); /* the reference's */
    assert_int_equal(
        uc_gpu_reserve(&session.gpu, &filler,
                       uc_gpu_free_bytes(&session.gpu) - SLOW_BYTES / 2, &err),
        UC_OK);
    m = measure(&slow, 4, 0);
    uc_gpu_release(&session.gpu, &filler);
    assert_int_equal(m.workspace_bytes, SLOW_BYTES);
    assert_int_equal(m.outcome, UC_MEASURED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_earlier_work_cuts_off),
        cmocka_unit_test(with_less_workspace_it_is_measured),
        cmocka_unit_test(with_fewer_notes_it_is_measured),
        cmocka_unit_test(another_size_is_another_matter),
        cmocka_unit_test(another_problem_is_another_matter),
        cmocka_unit_test(another_beta_case_is_another_matter),
        cmocka_unit_test(what_needs_too_much_is_not_run),
        cmocka_unit_test(what_a_larger_problem_held_is_given_back),
    };

    int failed = cmocka_run_group_tests(tests, open_session, NULL);

    /* As a worker ends: a session owns what it has for the process's life. */
    fflush(NULL);
    _exit(failed == 0 ? 0 : 1);
}
