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

UC_DOUBLE_FAULT='fail:n=3'
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

finish
