# bench, plan and verify on a real GPU: no algorithm is wrong, nothing is measured
# twice, and plans hold.
. "$abs_top_srcdir/tests/lib.sh"

gpu_present || skip_all "no GPU"

cat >small.json <<'END'
{ "name": "small", "batch": 12, "defaults": { "filter": 3, "pad": 1 },
  "layers": { "plain": { "in": [14, 14], "c": 16, "k": 32 },
              "strided": { "in": [14, 14], "c": 32, "k": 64, "stride": 2 },
              "point": { "in": [7, 7], "c": 64, "k": 64, "filter": 1,
                         "pad": 0 },
              "wide": { "in": [7, 7], "c": 64, "k": 64, "filter": 5,
                        "pad": 2 } } }
END

# no_fault OUTCOME...
no_fault()
{
    for outcome; do
        ! grep " $outcome" out || return 1
    done
}

# measured MATH API OUTCOME...: measured once, without these outcomes.
measured()
{
    math=$1 api=$2
    shift 2
    bench="ucudnn-plan bench small.json --profile p --api $api --math $math"
    # shellcheck disable=SC2086 # the words of $bench
    expect 0 "$math, $api is measured" $bench --no-runtime-compiled
    ok "no kernel: $*" no_fault "$@" || show_file out
    # shellcheck disable=SC2086
    expect 0 "$math, $api has nothing left to measure" \
        $bench --no-runtime-compiled
    measured_nothing " in "
}

# Engines are found wrong now and then (HACKING.md), which is what bench is for.
for math in fma tf32 "fp16 --layout nhwc" "bf16 --layout nhwc"; do
    measured "$math" legacy wrong crashed timed-out out-of-bounds failed
    measured "$math" graph crashed timed-out out-of-bounds failed
    # shellcheck disable=SC2086 # the words of $math
    expect 0 "$math is planned" ucudnn-plan plan small.json --profile p \
        --offline --workspace-limit 1M --math $math -o small.plan
    expect 0 "and holds what it promises" \
        ucudnn-plan verify --tolerance 50% small.plan --profile p ||
        show_file out
done

expect 0 "plan measures what is missing" \
    ucudnn-plan plan small.json --profile new.profile --workspace-limit 1M \
    --no-runtime-compiled
expect 0 "and only once" \
    ucudnn-plan plan small.json --profile new.profile --workspace-limit 1M \
    --no-runtime-compiled --offline

finish
