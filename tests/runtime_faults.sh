# Micro-batches that cuDNN refuses: before anything was done the program's
# own call runs instead; after that its status is the call's.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"

case=square-nchw-fp32
ok "a plan" "$abs_top_builddir/tests/plan_make" plan
client linked --case=$case >plain.out
UCUDNN_PLAN=plan
export UCUDNN_PLAN

# The convolutions of a log: operation, algorithm, micro-batch, status.
calls_and_status()
{
    sed -n 's/^[0-9]* convolution \(op=.* n=[0-9]*\) .* \(status=.*\)/\1 \2/p' \
        "$1"
}

# with_fault FAULT [OPTION...]: the client runs while this goes wrong.
with_fault()
{
    fault=$1
    shift
    UC_DOUBLE_FAULT=$fault
    export UC_DOUBLE_FAULT
    preloaded log client linked --case=$case "$@"
    fault_status=$?
    unset UC_DOUBLE_FAULT
    return $fault_status
}

# first_fails STATUS: the first micro-batch of each operation always does.
first_fails()
{
    echo "fail:op=forward,n=3,status=$1;fail:op=backward-data,n=3,status=$1;fail:op=backward-filter,n=3,status=$1"
}
first=$(first_fails 3000)
expect 0 "the first micro-batch is refused" with_fault "$first"
ok "the program's own call gives the results" same plain.out out
calls_and_status log | sort | uniq -c | sed 's/^ *//' >seen
cat >expected <<'END_OF'
6 op=backward-data algorithm=0 n=7 status=0
6 op=backward-data algorithm=5 n=3 status=3000
6 op=backward-filter algorithm=0 n=7 status=0
6 op=backward-filter algorithm=5 n=3 status=3000
6 op=forward algorithm=0 n=7 status=0
6 op=forward algorithm=6 n=3 status=3000
END_OF
ok "each call falls back once" same expected seen
UCUDNN_LOG=warning
export UCUDNN_LOG
expect 0 "the same with a log" with_fault "$first"
unset UCUDNN_LOG
ok "it is said once an operation" test "$(wc -l <err)" -eq 3
err_has "$case forward passes through: cuDNN: CUDNN_STATUS_NOT_SUPPORTED"

# Where it fails inside, some of its kernels may have been enqueued: what is not
# overwritten must not be done twice.
for status in 4005 5000 5003; do
    expect 0 "the first micro-batch fails with $status" \
        with_fault "$(first_fails $status)"
    grep 'beta=0 ' plain.out >expected
    grep 'beta=0 ' out >seen
    ok "$status, beta 0: the program's own call gives the results" \
        same expected seen
    ok "$status, beta 0.5 and 1: the status is the call's" test \
        "$(grep -v 'beta=0 ' out | grep -c "status=$status")" -eq 12
    sed -n 's/^[0-9]* convolution .* n=\([0-9]*\) .* beta=\([^ ]*\) .*/\1 \2/p' \
        log | sort | uniq -c | sed 's/^ *//' >seen
    cat >expected <<'END_OF'
6 3 0
6 3 0.5
6 3 1
6 7 0
END_OF
    ok "$status: there is no second run but for beta 0" same expected seen
done

# A later one fails: nothing can be taken back unless all is overwritten.
later='fail:op=forward,n=1;fail:op=backward-data,n=1;fail:op=backward-filter,n=2,beta=1'
expect 0 "a later micro-batch is refused" with_fault "$later"
ok "beta 0: the program's own call gives the results" test \
    "$(grep -c 'beta=0 .*status=0' out)" -eq 6
grep 'beta=0 ' plain.out >expected
grep 'beta=0 ' out >seen
ok "beta 0: they are right" same expected seen
ok "beta 0.5 and 1: the status is the call's" test \
    "$(grep -v 'beta=0 ' out | grep -c 'status=5000')" -eq 12
UCUDNN_LOG=warning
export UCUDNN_LOG
expect 0 "beta 1 with a log" with_fault \
    'fail:op=forward,n=1,beta=1' --operation=forward
unset UCUDNN_LOG
ok "a call half done is told once" test "$(wc -l <err)" -eq 1
err_has "$case forward fails half done: cuDNN: CUDNN_STATUS_EXECUTION_FAILED"
expect 0 "again" with_fault "$later"
calls_and_status log | grep -c 'n=7 status=0' >seen
ok "and nothing is done twice" test "$(cat seen)" -eq 6

# Once only: the next call is as planned again.
expect 0 "one refusal" with_fault 'fail:op=forward,n=3,at=1,status=3000'
ok "the results are right" same plain.out out
calls log >seen
{
    echo "op=forward algorithm=6 n=3 alpha=1 beta=0"
    echo "op=forward algorithm=0 n=7 alpha=1 beta=0"
    client linked --case=$case --expect | sed 1,3d
} >expected
ok "the next calls are split" same expected seen

# Workspaces are asked of cuDNN, not of the plan.
expect 0 "cuDNN wants more than planned" with_fault 'workspace:factor=3'
ok "more workspace: the results are right" same plain.out out
calls log >seen
client linked --case=$case --expect >expected
ok "more workspace: it is split" same expected seen
ok "more workspace: cuDNN got it" clean log
expect 0 "cuDNN wants more than there is" \
    with_fault 'workspace:factor=1000' --operation=backward-filter
grep backward-filter plain.out >expected
ok "no such workspace: the results are right" same expected out
ok "no such workspace: nothing is split" \
    test -z "$(calls log | grep -v ' n=7 ')"

# Tensors that are too large for cuDNN as a whole; y has 3360 elements.
UC_DOUBLE_MAX_ELEMENTS=3000
export UC_DOUBLE_MAX_ELEMENTS
env -u UCUDNN_PLAN "$clients/linked" --case=$case >large.out
ok "cuDNN refuses it as a whole" test -z "$(grep status=0 large.out)"
expect 0 "a large tensor" preloaded log client linked --case=$case
ok "in pieces it runs" same plain.out out
UC_DOUBLE_MAX_ELEMENTS=400 # not even in pieces
env -u UCUDNN_PLAN "$clients/linked" --case=$case >large.out
expect 0 "a very large tensor" preloaded log client linked --case=$case
ok "what cuDNN refuses in pieces, too, passes through" same large.out out
unset UC_DOUBLE_MAX_ELEMENTS

finish
