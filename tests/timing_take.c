/* Honest timing, with a sampler whose times are given. */
#include "config.h"

#include "tests/unit.h"

#include "planner/timing.h"

struct script {
    double device_ns; /**< of a call */
    double jitter;    /**< relative, alternating */
    int fail_at;      /**< the call of the sampler that fails; 0: none */
    int calls_of_sampler;
    int most_samples, most_calls;
    bool every_round_led;
};

static enum uc_status sampler(void *context, bool lead, int samples, int calls,
                              float *device_ns, float *host_ns,
                              struct uc_error *err)
{
    struct script *s = context;

    s->calls_of_sampler++;
    if (s->calls_of_sampler == s->fail_at)
        return uc_fail(err, UC_EDEVICE, "gone");
    if (s->calls_of_sampler > 1)
        s->every_round_led = s->every_round_led && lead;
    if (samples > s->most_samples)
        s->most_samples = samples;
    if (calls > s->most_calls)
        s->most_calls = calls;
    for (int i = 0; i < samples; i++) {
        device_ns[i] =
            (float)(s->device_ns * (1 + (i % 2 ? s->jitter : -s->jitter)));
        host_ns[i] = 1000;
    }
    return UC_OK;
}

static struct uc_timing take_within(struct script *script, double call_ns,
                                    double sample_ns)
{
    struct uc_timing_limits limits = { call_ns, sample_ns };
    struct uc_timing timing;
    struct uc_error err;

    script->every_round_led = true;
    assert_int_equal(uc_timing_take(sampler, script, &limits, &timing, &err),
                     UC_OK);
    assert_true(script->every_round_led);
    assert_true(script->most_samples <= UC_TIMING_ROUND);
    assert_true(timing.samples <= UC_MAX_SAMPLES);
    return timing;
}

static struct uc_timing take(struct script *script, double call_ns)
{
    return take_within(script, call_ns, 0);
}

static void a_steady_kernel_takes_one_round(void **state)
{
    struct script s = { .device_ns = 100e3 };
    struct uc_timing t = take(&s, 0);

    (void)state;
    assert_int_equal(t.samples, UC_TIMING_ROUND);
    assert_int_equal(t.median_ns, 100000);
    assert_int_equal(t.spread_ns, 0);
    assert_int_equal(t.host_ns, 1000);
    assert_int_equal(t.calls, 5); /* half a millisecond */
    assert_false(t.cut_off);
}

static void short_calls_are_many_in_a_sample_but_not_endless(void **state)
{
    struct script s = { .device_ns = 100 };

    (void)state;
    assert_int_equal(take(&s, 0).calls, 64);
    assert_int_equal(s.most_calls, 64);
}

static void long_calls_are_single_and_few(void **state)
{
    struct script s = { .device_ns = 50e6 };
    struct uc_timing t = take(&s, 0);

    (void)state;
    assert_int_equal(t.calls, 1);
    assert_int_equal(t.samples, 3);
}

static void an_unsteady_kernel_is_sampled_on_up_to_the_limit(void **state)
{
    struct script s = { .device_ns = 20e3, .jitter = 0.2 };
    struct uc_timing t = take(&s, 0);

    (void)state;
    assert_int_equal(t.samples,
                     UC_MAX_SAMPLES / UC_TIMING_ROUND * UC_TIMING_ROUND);
    assert_true(t.spread_ns > 0);
}

static void a_hopeless_kernel_gives_one_sample(void **state)
{
    struct script s = { .device_ns = 5e6 };
    struct uc_timing t = take(&s, 1e6);

    (void)state;
    assert_true(t.cut_off);
    assert_int_equal(t.samples, 1);
    assert_int_equal(s.calls_of_sampler, 1);
    assert_int_equal(t.median_ns, 5000000);
}

static void a_slow_first_sample_is_the_last(void **state)
{
    struct script s = { .device_ns = 100e3 };
    struct uc_timing t = take_within(&s, 0, 90e3);

    (void)state;
    assert_true(t.cut_off);
    assert_int_equal(t.samples, 1);
    assert_int_equal(t.calls, 5);
    assert_int_equal(s.calls_of_sampler, 2);
    assert_int_equal(t.median_ns, 100000);
}

static void a_fast_first_sample_is_one_of_them(void **state)
{
    struct script s = { .device_ns = 100e3 };
    struct uc_timing t = take_within(&s, 0, 110e3);

    (void)state;
    assert_false(t.cut_off);
    assert_int_equal(t.samples, 1 + UC_TIMING_ROUND);
    assert_int_equal(t.median_ns, 100000);
    s = (struct script){ .device_ns = 20e3, .jitter = 0.2 };
    t = take_within(&s, 0, 1e6);
    assert_true(t.samples > UC_MAX_SAMPLES - UC_TIMING_ROUND);
}

static void host_time_alone_never_cuts_off(void **state)
{
    /* The first call waits for the host: 100 us look like 250. */
    struct script s = { .device_ns = 250e3 };

    (void)state;
    assert_false(take(&s, 80e3).cut_off);
}

static void the_sampler_s_error_is_passed_on(void **state)
{
    const struct uc_timing_limits never = { 0, 0 };
    struct uc_timing timing = { .samples = -7 };
    struct uc_error err;

    (void)state;
    for (int at = 1; at <= 2; at++) {
        struct script s = { .device_ns = 1e6, .fail_at = at };

        assert_int_equal(uc_timing_take(sampler, &s, &never, &timing, &err),
                         UC_EDEVICE);
        assert_string_equal(err.text, "gone");
        assert_int_equal(timing.samples, -7);
    }
}

static void median_and_spread_are_those_of_order_statistics(void **state)
{
    static const float values[] = { 9, 1, 5, 3, 7 };
    double median, spread;

    (void)state;
    uc_timing_summarize(values, 5, &median, &spread);
    assert_true(median == 5);
    assert_true(spread == 2); /* quartiles 3 and 7 */
    uc_timing_summarize(values, 2, &median, &spread);
    assert_true(median == 5);
    assert_true(spread == 2); /* quartiles 3 and 7, interpolated */
    uc_timing_summarize(values, 1, &median, &spread);
    assert_true(median == 9 && spread == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_kernel_takes_one_round),
        cmocka_unit_test(short_calls_are_many_in_a_sample_but_not_endless),
        cmocka_unit_test(long_calls_are_single_and_few),
        cmocka_unit_test(an_unsteady_kernel_is_sampled_on_up_to_the_limit),
        cmocka_unit_test(a_hopeless_kernel_gives_one_sample),
        cmocka_unit_test(a_slow_first_sample_is_the_last),
        cmocka_unit_test(a_fast_first_sample_is_one_of_them),
        cmocka_unit_test(host_time_alone_never_cuts_off),
        cmocka_unit_test(the_sampler_s_error_is_passed_on),
        cmocka_unit_test(median_and_spread_are_those_of_order_statistics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
