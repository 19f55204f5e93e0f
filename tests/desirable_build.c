/* Desirable sets against an enumeration of every configuration. */
#include "config.h"

#include "planner/desirable.h"

#include "tests/unit.h"

#include <stdlib.h>

enum { MAX_ROWS = 12, MAX_FOUND = 200000 };

static uint64_t random_state;

static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % bound;
}

struct found {
    int64_t workspace, time, pieces;
};
static struct found found[MAX_FOUND];
static size_t found_count;

struct instance {
    struct uc_micro first[MAX_ROWS], rest[MAX_ROWS];
    struct uc_candidates candidates;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/** Every multiset of rest rows from `row` on that fills `left` images. */
static void enumerate(const struct uc_candidates *c, size_t row, int64_t left,
                      struct found sofar, int64_t max_pieces)
{
    if (left == 0) {
        assert_true(found_count < MAX_FOUND);
        found[found_count++] = sofar;
        return;
    }
    if (max_pieces && sofar.pieces == max_pieces)
        return;
    for (size_t i = row; i < c->rest_count; i++)
        if (c->rest[i].size <= left)
            enumerate(c, i, left - c->rest[i].size,
                      (struct found){
                          larger(sofar.workspace, c->rest[i].workspace_bytes),
                          sofar.time + c->rest[i].time_ns, sofar.pieces + 1 },
                      max_pieces);
}

static void enumerate_all(const struct uc_candidates *c, int64_t max_pieces)
{
    found_count = 0;
    for (size_t i = 0; i < c->first_count; i++)
        if (c->first[i].size <= c->batch)
            enumerate(c, 0, c->batch - c->first[i].size,
                      (struct found){ c->first[i].workspace_bytes,
                                      c->first[i].time_ns, 1 },
                      max_pieces);
}

/** Fastest of at most `limit` bytes; ties by fewest pieces; NULL: none. */
static const struct found *fastest(int64_t limit)
{
    const struct found *best = NULL;

    for (size_t i = 0; i < found_count; i++)
        if (found[i].workspace <= limit &&
            (!best || found[i].time < best->time ||
             (found[i].time == best->time && found[i].pieces < best->pieces)))
            best = &found[i];
    return best;
}

static void random_rows(struct uc_micro *rows, size_t count, int64_t batch,
                        uint32_t times, uint32_t workspaces)
{
    bool proportional = random_below(2);

    for (size_t i = 0; i < count; i++) {
        struct uc_micro *row = &rows[i];

        row->size = 1 + random_below((uint32_t)batch);
        row->workspace_bytes = random_below(workspaces);
        row->time_ns = 1 + random_below(times);
        row->spread_ns = random_below(3);
        row->kernel = (int)i;
        if (proportional)
            row->time_ns *= row->size;
    }
    if (random_below(3)) /* usually there is an undivided one */
        rows[0].size = batch;
}

static void random_instance(struct instance *x)
{
    int64_t batch = 1 + random_below(8);
    uint32_t times = random_below(2) ? 12 : 1000;
    uint32_t workspaces = random_below(2) ? 4 : 500;
    size_t rest = 1 + random_below(7), first = 1 + random_below(7);

    random_rows(x->rest, rest, batch, times, workspaces);
    random_rows(x->first, first, batch, times, workspaces);
    x->candidates =
        (struct uc_candidates){ batch, x->first, first, x->rest, rest };
    if (random_below(2)) {
        x->candidates.first = x->rest;
        x->candidates.first_count = rest;
    }
}

/** The parts of a configuration are rows given and add up. */
static void check_parts(const struct uc_candidates *c,
                        const struct uc_configuration *config)
{
    bool same = c->first == c->rest;
    int64_t size = 0, time = 0, workspace = 0, pieces = 0;

    for (size_t i = 0; i < config->run_count; i++) {
        const struct uc_piece *run = &config->runs[i];
        const struct uc_micro *row = run->first ? c->first : c->rest;

        assert_int_equal(run->first, i == 0);
        if (run->first && !same)
            assert_int_equal(run->count, 1);
        assert_true(run->count >= 1);
        row += run->micro.kernel;
        assert_int_equal(run->micro.size, row->size);
        assert_int_equal(run->micro.workspace_bytes, row->workspace_bytes);
        assert_int_equal(run->micro.time_ns, row->time_ns);
        assert_int_equal(run->micro.spread_ns, row->spread_ns);
        if (i > 1 || (i == 1 && same))
            assert_true(run->micro.size <= config->runs[i - 1].micro.size);
        size += run->count * run->micro.size;
        time += run->count * run->micro.time_ns;
        workspace = larger(workspace, run->micro.workspace_bytes);
        pieces += run->count;
    }
    assert_int_equal(size, c->batch);
    assert_int_equal(time, config->time_ns);
    assert_int_equal(workspace, config->workspace_bytes);
    assert_int_equal(pieces, config->pieces);
}

static void check_against_enumeration(const struct uc_candidates *c,
                                      const struct uc_desirable *set)
{
    for (size_t i = 0; i < set->count; i++) {
        check_parts(c, &set->list[i]);
        if (i > 0) {
            assert_true(set->list[i].workspace_bytes >
                        set->list[i - 1].workspace_bytes);
            assert_true(set->list[i].time_ns < set->list[i - 1].time_ns);
        }
    }
    /* Every limit that can matter, and those around it. */
    for (int64_t limit = -1; limit <= 501; limit++) {
        const struct found *want = fastest(limit);
        const struct uc_configuration *got = uc_desirable_within(set, limit);

        assert_int_equal(want != NULL, got != NULL);
        if (!got)
            continue;
        assert_true(got->workspace_bytes <= limit);
        assert_int_equal(got->time_ns, want->time);
        /* Fewest pieces of those as fast in the same workspace. */
        assert_int_equal(got->pieces, fastest(got->workspace_bytes)->pieces);
    }
}

static void sets_equal_enumeration_on_random_instances(void **state)
{
    struct uc_error err;

    (void)state;
    random_state = 88172645463325252u;
    for (int i = 0; i < 4000; i++) {
        struct instance x;
        struct uc_desirable_options options = { 0 };
        struct uc_desirable set;

        random_instance(&x);
        if (random_below(3) == 0)
            options.max_pieces = 1 + random_below(9);
        assert_int_equal(
            uc_desirable_build(&x.candidates, &options, &set, &err), UC_OK);
        enumerate_all(&x.candidates, options.max_pieces);
        check_against_enumeration(&x.candidates, &set);
        uc_desirable_free(&set);
    }
}

/** Memory for a cap is asked for when it is needed, and within reason. */
static void caps_cost_nothing_unless_they_bind(void **state)
{
    const struct uc_micro rows[] = { { 30000, 9, 50000, 0, 0 },
                                     { 10000, 5, 20000, 0, 1 },
                                     { 1, 3, 1000, 0, 2 } };
    struct uc_candidates c = { 30000, rows, 2, rows, 2 };
    struct uc_desirable_options options = { .max_pieces = 20000 };
    struct uc_desirable set = { NULL, 7 };
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_desirable_build(&c, &options, &set, &err), UC_OK);
    assert_int_equal(set.count, 2);
    assert_int_equal(set.list[0].pieces, 3);
    assert_int_equal(set.list[1].pieces, 1);
    uc_desirable_free(&set);
    set.count = 7;
    c.first_count = c.rest_count = 3;
    assert_int_equal(uc_desirable_build(&c, &options, &set, &err), UC_EINPUT);
    assert_string_equal(err.text, "a cap of 20000 pieces at batch 30000 takes "
                                  "8.9 GiB of memory, over 1 GiB");
    assert_int_equal(set.count, 7);
    options.max_pieces = 2;
    assert_int_equal(uc_desirable_build(&c, &options, &set, &err), UC_OK);
    assert_int_equal(set.count, 1);
    uc_desirable_free(&set);
    c.batch = INT32_MAX - 1;
    assert_int_equal(uc_desirable_build(&c, &options, &set, &err), UC_EINPUT);
    assert_non_null(strstr(err.text, "is too large to be divided"));
    c.batch = (int64_t)1 << 40;
    assert_int_equal(uc_desirable_build(&c, &options, &set, &err), UC_EINPUT);
}

/* The rule in the header, by comparing everything with everything. */

static double spread(const struct uc_configuration *c)
{
    double sum = 0;

    for (size_t i = 0; i < c->run_count; i++)
        sum += (double)(c->runs[i].count * c->runs[i].micro.spread_ns);
    return sum;
}

static bool survives(const struct uc_configuration *c,
                     const struct uc_desirable *undivided, double min_gain)
{
    const struct uc_configuration *best =
        uc_desirable_within(undivided, c->workspace_bytes);
    double gain;

    if (c->pieces == 1 || !best)
        return true;
    gain = (double)(best->time_ns - c->time_ns);
    assert_int_equal(uc_configuration_gains(c, best, min_gain),
                     gain > min_gain * (double)best->time_ns &&
                         gain > spread(c) + spread(best));
    return gain > min_gain * (double)best->time_ns &&
           gain > spread(c) + spread(best);
}

static void small_gains_stay_undivided(void **state)
{
    struct uc_error err;
    int filtered = 0;

    (void)state;
    random_state = 362436069u;
    for (int i = 0; i < 3000; i++) {
        struct instance x;
        struct uc_desirable_options exactly = { 0, 0 }, whole = { 1, 0 },
                                    options = { 0, 0.01 };
        struct uc_desirable exact, undivided, set;
        int64_t best = INT64_MAX;
        size_t at = 0;

        random_instance(&x);
        options.min_gain = 0.01 + 0.2 * random_below(4);
        assert_int_equal(
            uc_desirable_build(&x.candidates, &exactly, &exact, &err), UC_OK);
        assert_int_equal(
            uc_desirable_build(&x.candidates, &whole, &undivided, &err), UC_OK);
        assert_int_equal(
            uc_desirable_build(&x.candidates, &options, &set, &err), UC_OK);
        for (int64_t w = 0; w <= 500; w++) {
            const struct uc_configuration *want = NULL;

            for (size_t j = 0; j < exact.count; j++)
                if (exact.list[j].workspace_bytes == w &&
                    survives(&exact.list[j], &undivided, options.min_gain))
                    want = &exact.list[j];
            for (size_t j = 0; j < undivided.count; j++)
                if (undivided.list[j].workspace_bytes == w &&
                    (!want || undivided.list[j].time_ns < want->time_ns))
                    want = &undivided.list[j];
            if (!want || want->time_ns >= best)
                continue;
            best = want->time_ns;
            assert_true(at < set.count);
            assert_int_equal(set.list[at].workspace_bytes, w);
            assert_int_equal(set.list[at].time_ns, want->time_ns);
            assert_int_equal(set.list[at].pieces, want->pieces);
            check_parts(&x.candidates, &set.list[at]);
            at++;
        }
        assert_int_equal(at, set.count);
        filtered += set.count != exact.count;
        uc_desirable_free(&exact);
        uc_desirable_free(&undivided);
        uc_desirable_free(&set);
    }
    assert_true(filtered > 100);
}

static void rows_that_cannot_be_part_are_ignored(void **state)
{
    const struct uc_micro rows[] = {
        { 5, 0, 1, 0, 0 },         { 0, 0, 1, 0, 1 }, { -2, 0, 1, 0, 2 },
        { 2, -1, 1, 0, 3 },        { 2, 0, 0, 0, 4 }, { 2, 7, 9, 0, 5 },
        { 2, 3, INT64_MAX, 0, 6 },
    };
    struct uc_candidates c = { 4, rows, 7, rows, 7 };
    struct uc_desirable_options options = { 0 };
    struct uc_desirable set;
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_desirable_build(&c, &options, &set, &err), UC_OK);
    assert_int_equal(set.count, 1);
    assert_int_equal(set.list[0].workspace_bytes, 7);
    assert_int_equal(set.list[0].time_ns, 18);
    assert_int_equal(set.list[0].pieces, 2);
    uc_desirable_free(&set);
}

static void nothing_that_adds_up_is_an_empty_set(void **state)
{
    const struct uc_micro rows[] = { { 2, 0, 1, 0, 0 } };
    struct uc_desirable_options options = { 0 };
    struct uc_desirable set;
    struct uc_error err;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct uc_candidates c = { 3, rows, i != 1, rows, i != 2 };

        options.min_gain = i * 0.01;
        assert_int_equal(uc_desirable_build(&c, &options, &set, &err), UC_OK);
        assert_int_equal(set.count, 0);
        assert_null(uc_desirable_within(&set, INT64_MAX));
        uc_desirable_free(&set);
    }
}

static void times_near_the_64_bit_end_do_not_wrap(void **state)
{
    const int64_t most = INT64_MAX / 2 - 1;
    const struct uc_micro rows[] = {
        { 1, 0, most, 0, 0 },
        { 4, INT64_MAX, most, 0, 1 },
        { 1, 5, most / 4, 0, 2 },
        { 2, 9, most / 2 - 9, 0, 3 },
    };
    struct uc_candidates c = { 4, rows, 4, rows, 4 };
    struct uc_desirable_options options = { 0 };
    struct uc_desirable set;
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_desirable_build(&c, &options, &set, &err), UC_OK);
    assert_int_equal(set.count, 2);
    assert_int_equal(set.list[0].workspace_bytes, 5);
    assert_int_equal(set.list[0].time_ns, most / 4 * 4);
    assert_int_equal(set.list[1].workspace_bytes, 9);
    assert_int_equal(set.list[1].time_ns, 2 * (most / 2 - 9));
    assert_null(uc_desirable_within(&set, 4));
    assert_ptr_equal(uc_desirable_within(&set, 5), &set.list[0]);
    uc_desirable_free(&set);
}

static void output_is_untouched_on_failure(void **state)
{
    const struct uc_micro rows[] = { { 2, 0, 1, 0, 0 } };
    struct uc_candidates c = { INT64_MAX, rows, 1, rows, 1 };
    struct uc_desirable_options options = { 0 };
    struct uc_desirable set, before;
    struct uc_error err;

    (void)state;
    memset(&set, 0x5a, sizeof set);
    before = set;
    assert_int_equal(uc_desirable_build(&c, &options, &set, &err), UC_EINPUT);
    assert_memory_equal(&set, &before, sizeof set);
    assert_string_equal(err.text,
                        "batch 9223372036854775807 is too large to be divided");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_equal_enumeration_on_random_instances),
        cmocka_unit_test(caps_cost_nothing_unless_they_bind),
        cmocka_unit_test(small_gains_stay_undivided),
        cmocka_unit_test(rows_that_cannot_be_part_are_ignored),
        cmocka_unit_test(nothing_that_adds_up_is_an_empty_set),
        cmocka_unit_test(times_near_the_64_bit_end_do_not_wrap),
        cmocka_unit_test(output_is_untouched_on_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
