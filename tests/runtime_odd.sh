# What programs also do, with the library preloaded: stream capture, NULL
# arguments, fork, threads, an early exit, closing the library that uses cuDNN.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"

case=square-nchw-fp32
ok "a plan" "$abs_top_builddir/tests/plan_make" plan
odd=$clients/odd
UCUDNN_PLAN=plan
export UCUDNN_PLAN

# Otherwise the library would see the double's inner calls.
if readelf -Wr "$LD_LIBRARY_PATH/libcudnn.so.9" >relocations 2>&1; then
    ok "the double, like cuDNN, calls its own functions directly" \
        sh -c '! grep "JUMP_SL.* cudnn" relocations'
else
    skip "the double calls its own functions directly" "no readelf here"
fi

# operations LOG: the operations, algorithms and micro-batches of a log, and
# where captures begin and end.
operations()
{
    sed -n -e 's/^[0-9]* convolution \(op=.* n=[0-9]*\) .*/\1/p' \
        -e 's/^[0-9]* \(capture [a-z]*\) .*/\1/p' "$1"
}
split()
{
    client linked --case=$case --one --expect |
        sed 's/ alpha=.*//'
}
whole()
{
    for op in forward backward-data backward-filter; do
        echo "op=$op algorithm=0 n=7"
    done
}

# A cold operation passes through, a warm one is split.
{
    echo "capture begin" && whole && echo "capture end" && split
    echo "capture begin" && split && echo "capture end"
} >expected
UCUDNN_LOG=info
export UCUDNN_LOG
expect 0 "capture is survived" preloaded log "$odd" capture --case=$case
unset UCUDNN_LOG
operations log >seen
ok "first use under capture passes through, later use does not" \
    same expected seen
ok "capture is not disturbed" clean log

# What device this is, is asked of CUDA and cuDNN.
expect 0 "the first planned calls" env LD_PRELOAD="$library" "$odd" first \
    --case=$case
if grep -q unknown out; then
    skip "the first planned calls open no files" \
        "a sanitizer has replaced malloc()"
else
    ok "the first planned calls open no files" grep -qx 'files 0' out
fi

# Nothing but convolutions is done once warm. The double's own allocations
# do not count where its convolutions are empty.
expect 0 "a thousand warm calls" env UC_DOUBLE_EMPTY=1 \
    LD_PRELOAD="$library" "$odd" warm --case=$case
if grep -q unknown out; then
    skip "warm calls allocate nothing" "a sanitizer has replaced malloc()"
    sed -i '/unknown/d' out
else
    ok "warm calls allocate nothing" grep -qx 'allocations 0' out
    ok "warm calls open no files" grep -qx 'files 0' out
    sed -i '/^allocations\|^files/d' out
fi
cat >expected <<'OUT'
memory 0
synchronisations 0
queries 0
exchanges 0
descriptors 0
convolutions 9000
OUT
ok "warm calls do nothing but convolve" same expected out
env UC_DOUBLE_LOG=log "$odd" warm --case=$case >out
ok "allocations and files are counted at all" \
    test -z "$(grep -x -e 'allocations 0' -e 'files 0' out)"

# NULL is cuDNN's to refuse.
env -u UCUDNN_PLAN "$odd" null --case=$case >plain.out 2>plain.err
expect 0 "NULL arguments are survived" preloaded log "$odd" null --case=$case
ok "and answered as cuDNN does" same plain.out out
ok "some were refused and some were not" test \
    "$(sort -u out | wc -l)" -gt 2
UC_DOUBLE_EMPTY=0
export UC_DOUBLE_EMPTY

"$clients/linked" --case=$case --one >plain.out
client linked --case=$case --one --expect >expected.calls
expect 0 "children without CUDA" preloaded log env \
    UCUDNN_STATS=stats "$odd" fork --case=$case --one
cat plain.out plain.out >expected
ok "the parent's results are right before and after" same expected out
ok "the children did not touch CUDA" clean log
cat expected.calls expected.calls >expected
calls log >seen
ok "the parent is split before and after" same expected seen

early()
{
    for i in 1 2 3 4 5 6 7 8 9 10; do
        UC_DOUBLE_EMPTY=1 UCUDNN_STATS=stats LD_PRELOAD=$library \
            "$odd" exit --case=$case || return 1
    done
}
ok "ends while threads convolve" early

expect 0 "eight threads" preloaded log "$odd" threads --case=$case
"$clients/linked" --case=$case >one.out
for i in 1 2 3 4 5 6 7 8; do
    cat one.out
done >expected
ok "every thread's results are right" same expected out
ok "every thread does only what it may" clean log
client linked --case=$case --expect >one.calls
for i in 1 2 3 4 5 6 7 8; do
    cat one.calls
done | sort >expected
calls log | sort >seen
ok "every thread is split" same expected seen

expect 0 "a handle changes its stream" preloaded log "$odd" streams \
    --case=$case
sed 'p;p' out >expected
sed -n 's/.* stream=\(0x[0-9a-f]*\) .*/\1/p' log >seen
ok "every micro-batch is on the handle's stream" same expected seen

# Graph engines are made ready for each device and pair of scalars; a plan that
# divides a total has memory on each device.
UC_DOUBLE_DEVICES=4
export UC_DOUBLE_DEVICES
"$clients/linked" --case=$case >one.out
cat one.out one.out one.out one.out >expected
for mode in wr wd; do
    ok "a plan of engines, $mode" "$abs_top_builddir/tests/plan_make" \
        $mode.plan $mode only=$case kernel=eng1
    expect 0 "$mode: four devices" env UCUDNN_PLAN=$mode.plan UCUDNN_STATS=1 \
        LD_PRELOAD="$library" UC_DOUBLE_LOG=$mode.log "$odd" devices --case=$case
    ok "$mode: right on each" same expected out
    ok "$mode: nothing is misused" unmisused $mode.log
    err_has "executed              72 calls as planned"
    err_has "passed through         0 calls"
done
unset UC_DOUBLE_DEVICES

# More scalars than engines are kept for; nobody waits for another's engine.
expect 0 "seventeen alphas" env UCUDNN_PLAN=wr.plan UCUDNN_STATS=1 \
    UC_DOUBLE_FAULT='hang:op=backward-data,call=build' \
    ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" LD_PRELOAD="$library" \
    UC_DOUBLE_LOG=log "$odd" scalars --case=$case
ok "it comes to its end" grep -qx done out
err_has "executed              32 calls as planned"
err_has "passed through         2 calls"
err_has "batch 7: not made ready: engines are kept for 16 pairs of alpha and beta"
ok "nothing is misused" unmisused log
rm -f log

# The library that uses cuDNN is closed and opened again.
CLIENT_TIMES=2
export CLIENT_TIMES
expect 0 "opened twice" preloaded log client host --case=$case --one
cat plain.out plain.out >expected
ok "right both times" same expected out
cat expected.calls expected.calls >expected
calls log >seen
ok "split both times" same expected seen
ok "nothing is misused" clean log
unset CLIENT_TIMES

# A wheel's own copy of cuDNN has another name, and nobody else sees it.
rename()
{
    LC_ALL=C sed 's/libcudnn\.so\.9/libcudnnx.so9/g' "$1" >"$2"
}
ok "a copy of cuDNN by another name" \
    rename "$LD_LIBRARY_PATH/libcudnn.so.9" libcudnnx.so9
ok "and a library that uses it" rename "$clients/library.so" renamed.so
LD_LIBRARY_PATH=$scratch:$LD_LIBRARY_PATH
expect 0 "convolves" preloaded log \
    env ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" \
    "$clients/host" "$scratch/renamed.so" --case=$case --one
ok "the results are right" same plain.out out
calls log >seen
client linked --case=$case --one --expect >expected
ok "in micro-batches" same expected seen

finish
