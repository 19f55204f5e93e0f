# Every operation, layout, shape, type, alpha and beta: a preloaded program
# gives what it gives without the library, by the plan's micro-batches.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"

ok "a plan for all of it" "$abs_top_builddir/tests/plan_make" plan
client linked --expect >expected.calls
ok "there is something to expect" test -s expected.calls

for name in linked host by_dlsym; do
    expect 0 "$name runs" plain plain.log client $name
    cp out plain.out
    ok "$name has results without the library" \
        grep -q 'status=0 nans=0' plain.out
    ok "$name has only good results" \
        test -z "$(grep -v 'status=0 nans=0' plain.out)"
    UCUDNN_PLAN=plan
    export UCUDNN_PLAN
    expect 0 "$name runs preloaded" preloaded split.log client $name
    unset UCUDNN_PLAN
    ok "$name says nothing" test ! -s err
    ok "$name has the same results" same plain.out out
    ok "$name does nothing that it must not" clean split.log
    if [ $name = by_dlsym ]; then
        story plain.log >plain.story
        story split.log >split.story
        ok "$name is not seen" same plain.story split.story
    else
        calls split.log >split.calls
        ok "$name runs the plan's micro-batches" \
            same expected.calls split.calls
    fi
done

finish
