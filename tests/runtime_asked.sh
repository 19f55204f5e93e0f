# A program that brings the workspace it was told to gets its results, also
# when the plan, which it was told of, then cannot be followed.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"

case=square-nchw-fp32
ok "a WR plan" "$abs_top_builddir/tests/plan_make" wr.plan
ok "a WD plan" "$abs_top_builddir/tests/plan_make" wd.plan wd
expect 0 "without the library" plain plain.log client asks --case=$case
cp out plain.out
ok "it has results" grep -q 'status=0 nans=0' plain.out

# asked NAME [OPTION...]: the same results, with either plan.
asked()
{
    asked_name=$1
    shift
    for plan in wr wd; do
        UCUDNN_PLAN=$plan.plan
        export UCUDNN_PLAN
        expect 0 "$plan: $asked_name" preloaded log client asks --case=$case "$@"
        ok "$plan: $asked_name: the same results" same plain.out out
        unset UCUDNN_PLAN
    done
}

asked "followed"
ok "in micro-batches" grep -q ' convolution op=forward .* n=3 ' log

UC_DOUBLE_ALIGNMENT=1
export UC_DOUBLE_ALIGNMENT
asked "tensors off their alignment" --offset=4
ok "not in micro-batches" test -z "$(grep ' convolution op=.* n=3 ' log)"
# The plan's algorithm needs more for the whole batch. Programs may have chosen
# it for being deterministic, as the second is and the first is not.
UCUDNN_PLAN=wr.plan
export UCUDNN_PLAN
expect 0 "a filter gradient off its alignment" \
    preloaded log client asks --case=$case --offset=4
unset UCUDNN_PLAN
ok "runs with a deterministic algorithm" \
    grep -q ' convolution op=backward-filter algorithm=1 n=7 ' log
unset UC_DOUBLE_ALIGNMENT

UC_DOUBLE_FAULT='fail:n=3,status=3000'
export UC_DOUBLE_FAULT
asked "a micro-batch that cuDNN refuses"
UC_DOUBLE_FAULT='workspace:factor=3'
asked "cuDNN asks for more than was planned"
unset UC_DOUBLE_FAULT

# Plans of graph engines depend on scalars, which no question tells: here some
# cannot be prepared that come after the answer.
for mode in wr wd; do
    rm -f $mode.plan
    ok "a plan of engines, $mode" "$abs_top_builddir/tests/plan_make" \
        $mode.plan $mode only=$case kernel=eng1
done
asked "engines"
calls log >seen
ok "no call is left as it was" test ! -s seen
UC_DOUBLE_FAULT='fail:algorithm=eng1,call=build,beta=1'
export UC_DOUBLE_FAULT
asked "engines that cuDNN refuses with beta 1"
UCUDNN_LOG=warning UCUDNN_PLAN=wr.plan
export UCUDNN_LOG UCUDNN_PLAN
expect 0 "with a log" preloaded log client asks --case=$case
ok "it is said once an operation" test "$(wc -l <err)" -eq 3
err_has "$case forward passes through: eng1: cuDNN: "
unset UC_DOUBLE_FAULT UCUDNN_LOG UCUDNN_PLAN
for mode in wr wd; do
    rm -f $mode.plan
    ok "a plan of engines that are compiled, $mode" \
        "$abs_top_builddir/tests/plan_make" $mode.plan $mode only=$case \
        kernel=eng12 pieces=1
done
asked "engines that run with alpha 1 and beta 0 only"

finish
