# While one thread captures in CUDA's default mode, another meets planned
# operations for the first time: execution plans are made and memory is
# allocated, which would spoil the capture were the thread not relaxed meanwhile.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"

case=square-nchw-fp32
"$clients/linked" --case=$case --one --repeat=2 >plain.out

# overlap NAME: into out; what the double saw in NAME.log.
overlap()
{
    rm -f "$1.log"
    UCUDNN_STATS=1 UCUDNN_PLAN=$1.plan LD_PRELOAD=$library \
        UC_DOUBLE_LOG=$1.log "$clients/odd" overlap --case=$case --one --repeat=2
}
captures()
{
    grep '^capture' out | sort | uniq -c | sed 's/^ *//'
}
right()
{
    grep -v '^capture' out | diff -u plain.out -
}
# modes LOG: in which mode each operation's pieces were run.
modes()
{
    sed -n 's/.* op=\([^ ]*\) .* n=[123] .* relaxed=\([01]\) .*/\1 \2/p' "$1" |
        uniq
}
for op in forward backward-data backward-filter; do
    echo "$op 1" && echo "$op 0"
done >expected.modes
echo '6 capture 0 whole' >whole

for words in wr wd 'wr kernel=eng1' 'wd kernel=eng1'; do
    name=$(echo "$words" | tr ' =' '--')
    # shellcheck disable=SC2086 # words
    ok "$words: a plan" "$abs_top_builddir/tests/plan_make" "$name.plan" \
        only=$case $words
    expect 0 "$words: met while another thread captures" overlap "$name"
    captures >seen
    ok "$words: every capture is whole" same whole seen
    ok "$words: every result is right" right
    err_has 'executed               6 calls as planned'
    err_has 'passed through         6 calls'
    ok "$words: nothing is misused" unmisused "$name.log"
    modes "$name.log" >seen
    ok "$words: relaxed at the first run only" same expected.modes seen
    ok "$words: the program's own calls are not relaxed" \
        test -z "$(grep ' n=7 .* relaxed=1' "$name.log")"
done

# A plan that divides a total: a captured workspace is its stream's for good.
# uses LOG: what follows each other, pieces or the whole batch.
uses()
{
    sed -n -e 's/^[0-9]* convolution .* n=\([0-9]*\) .*/\1/p' "$1" |
        sed -e 's/7/whole/' -e 's/[123]/pieces/' | uniq
}
rm -f log
expect 0 "two streams, one captures" env UCUDNN_PLAN=wd.plan UCUDNN_STATS=1 \
    LD_PRELOAD="$library" UC_DOUBLE_LOG=log "$clients/odd" graphs --case=$case
uses log >seen
printf '%s\n' pieces whole pieces >expected
ok "the other stream's calls are whole, its own are not" same expected seen
err_has "executed              15 calls as planned"
err_has "passed through         6 calls"
err_has "       2  forward:fp32:fma:nchw:c8:k16:i5x6:f3x3:p1x1 batch 7: its workspace belongs to a graph that another stream captured"
ok "nothing is misused" unmisused log
rm -f log
expect 0 "what a capture asked for and did not use" env UCUDNN_PLAN=wd.plan \
    UCUDNN_STATS=1 UC_DOUBLE_FAULT=fail:op=forward,at=4,status=3000 \
    LD_PRELOAD="$library" UC_DOUBLE_LOG=log "$clients/odd" refused --case=$case
err_has "executed               6 calls as planned"
ok "is free for the others" sh -c \
    '! grep "forward.* belongs to a graph" err && grep "belongs to a graph" err'
rm -f log
expect 0 "another stream's work is not done" env UCUDNN_PLAN=wd.plan \
    UCUDNN_STATS=1 UC_DOUBLE_FAULT=hang-later:n=1 LD_PRELOAD="$library" \
    UC_DOUBLE_LOG=log "$clients/odd" stuck --case=$case
uses log >seen
printf '%s\n' pieces whole >expected
ok "a capture does not get what it uses" same expected seen
err_has "batch 7: under stream capture: another stream may use its workspace"

# Questions of our own before a call is handed on leave no trace.
rm -f log
expect 0 "tensors that are not aligned" env UCUDNN_PLAN=wd.plan \
    LD_PRELOAD="$library" UC_DOUBLE_LOG=log UC_DOUBLE_ALIGNMENT=1 \
    "$clients/linked" --case=$case --one --offset=4
ok "some calls are handed on" grep -q ' n=7 ' log
ok "and are not relaxed" test -z "$(grep ' n=7 .* relaxed=1' log)"

# A driver that has no such mode: as before, and what that comes to.
sed 's/cuThreadExchangeStreamCaptureMode/cuThreadExchangeStreamCaptureXode/g' \
    "$LD_LIBRARY_PATH/libcuda.so.1" >libcuda.so.1
LD_LIBRARY_PATH=$scratch:$LD_LIBRARY_PATH
expect 0 "an old driver: engines" overlap wr-kernel-eng1
ok "the captures are spoiled" grep -q '^capture 901 spoiled' out
ok "every result is right" right
expect 0 "an old driver: memory" overlap wd
ok "a capture is spoiled" grep -q '^capture 901 spoiled' out
ok "every result is right" right

finish
