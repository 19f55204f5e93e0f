# Forward passes with bias and activation: split as a plan of the plain forward
# pass says, or handed on, and never half.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"

case=square-nchw-fp32
expect 0 "without the library" plain plain.log client fused --case=$case
cp out plain.out
ok "it has results" test "$(grep -c 'status=0 nans=0' plain.out)" -eq 3

# counts FILE: what a summary counts, less the operation.
counts()
{
    sed -n -e 's/^ *\(executed\) *\([0-9]* calls\) as planned$/\1 \2/p' \
        -e 's/^ *\([0-9]*\)  forward:.* batch 7: /\1 /p' "$1"
}

# fused NAME <COUNTS: the same results, with either plan; these counts.
fused()
{
    cat >expected.counts
    for mode in wr wd; do
        rm -f $mode.log stats
        expect 0 "$mode: $1" env UCUDNN_PLAN=$mode.plan LD_PRELOAD="$library" \
            UCUDNN_STATS=stats UC_DOUBLE_LOG=$mode.log "$clients/fused" \
            --case=$case
        ok "$mode: $1: the same results" same plain.out out
        ok "$mode: $1: nothing is said" test ! -s err
        counts stats | sort >counts.seen
        ok "$mode: $1: counted, and why" same expected.counts counts.seen
    done
}

# splits LOG: how many convolutions were of whole batches, and of pieces.
splits()
{
    echo "$(grep -c ' convolution .* n=7 .*status=0' "$1")" \
        "$(grep -c ' convolution .* n=[13] .*status=0' "$1")"
}

for mode in wr wd; do
    ok "a plan, $mode" "$abs_top_builddir/tests/plan_make" $mode.plan $mode \
        only=$case
done
fused "two kernels" <<'OUT'
1 fused with bias and activation: z is y, and several kernels are planned
1 fused with bias and activation: z lies differently from y
executed 1 calls
OUT
# Apart; in place, two kernels could end half done, and z of other strides is
# not sliced as y is.
ok "wr: split where it may be" test "$(splits wr.log)" = "2 3"
ok "wd: split where it may be" test "$(splits wd.log)" = "2 3"

for mode in wr wd; do
    rm -f $mode.plan
    ok "a plan of one kernel, $mode" "$abs_top_builddir/tests/plan_make" \
        $mode.plan $mode only=$case pieces=3
done
fused "one kernel" <<'OUT'
1 fused with bias and activation: z lies differently from y
executed 2 calls
OUT
ok "wr: split in place, too" test "$(splits wr.log)" = "1 6"
ok "wd: split in place, too" test "$(splits wd.log)" = "1 6"

for mode in wr wd; do
    rm -f $mode.plan
    ok "a plan of engines, $mode" "$abs_top_builddir/tests/plan_make" \
        $mode.plan $mode only=$case kernel=eng1
done
fused "engines" <<'OUT'
3 fused with bias and activation: planned with engines
executed 0 calls
OUT
ok "wr: engines do not fuse" test "$(splits wr.log)" = "3 0"
ok "wd: engines do not fuse" test "$(splits wd.log)" = "3 0"

UC_DOUBLE_FAULT='fail:n=3,status=3000'
export UC_DOUBLE_FAULT
for mode in wr wd; do
    rm -f $mode.plan
    "$abs_top_builddir/tests/plan_make" $mode.plan $mode only=$case
done
fused "a micro-batch that cuDNN refuses" <<'OUT'
1 cuDNN refused it when run
1 fused with bias and activation: z is y, and several kernels are planned
1 fused with bias and activation: z lies differently from y
executed 0 calls
OUT
ok "a refused call is handed on" test "$(splits wr.log)" = "3 0"

# Inside its first piece: in place nothing is done twice.
cat >expected.failed <<'OUT'
status=0
status=5000
status=0
1 status=5000
7 status=0
1 status=5000
7 status=0
OUT
for mode in wr wd; do
    rm -f $mode.plan $mode.log
    "$abs_top_builddir/tests/plan_make" $mode.plan $mode only=$case pieces=3
    expect 0 "$mode: a micro-batch that fails" env UCUDNN_PLAN=$mode.plan \
        LD_PRELOAD="$library" UC_DOUBLE_LOG=$mode.log \
        UC_DOUBLE_FAULT='fail:n=1,status=5000' "$clients/fused" --case=$case
    sed -n 's/.*\(status=[0-9]*\).*/\1/p' out >seen
    sed -n 's/^[0-9]* convolution .* n=\([0-9]*\) .*\(status=[0-9]*\).*/\1 \2/p' \
        $mode.log >>seen
    ok "$mode: a failed call in place is answered, and not run again" \
        same expected.failed seen
done

finish
