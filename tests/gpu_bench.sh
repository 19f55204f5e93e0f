# bench and plan on a real GPU: nothing is wrong, nothing is measured twice.
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

no_fault()
{
    ! grep -E ' (wrong|crashed|timed-out|out-of-bounds|failed)' out
}

for math in fma tf32 "fp16 --layout nhwc" "bf16 --layout nhwc"; do
    # shellcheck disable=SC2086 # the words of $math
    expect 0 "$math is measured" \
        ucudnn-plan bench small.json --profile p --policy all --math $math
    ok "no kernel is wrong, crashes or fails" no_fault || show_file out
    # shellcheck disable=SC2086
    expect 0 "$math has nothing left to measure" \
        ucudnn-plan bench small.json --profile p --policy all --math $math
    out_has "0 measurements in "
    # shellcheck disable=SC2086
    expect 0 "$math is planned" ucudnn-plan plan small.json --profile p \
        --policy all --offline --workspace-limit 1M --math $math
done

expect 0 "plan measures what is missing" \
    ucudnn-plan plan small.json --profile new.profile --workspace-limit 1M
expect 0 "and only once" \
    ucudnn-plan plan small.json --profile new.profile --workspace-limit 1M --offline

finish
