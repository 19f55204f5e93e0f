# run: from a program that is recorded to the same program in micro-batches.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime_steps.sh"

expect 0 "the program is recorded" \
    ucudnn-plan record -o net.json -- "$steps" steps=2
expect 0 "what it runs is measured" \
    with_double ucudnn-plan bench ./net.json -p net.profile -q --api legacy
# By the formulas of tests/double/README the fastest kernel of a filter
# gradient needs 16 KiB for two images, 32 KiB for four.
expect 0 "it is planned" with_double ucudnn-plan plan ./net.json \
    -p net.profile -w 20K --min-gain 0 -o net.plan
cp out plan.table
ok "and some of it is divided" grep -q '[0-9]x[0-9]' plan.table

# calls LOG: "op= n=" of the convolutions.
calls()
{
    sed -n 's/^[0-9]* convolution \(op=[^ ]*\) .* \(n=[0-9]*\) .*/\1 \2/p' "$1"
}

UC_DOUBLE_LOG=$scratch/plain.log "$steps" steps=1
calls plain.log | sort >plain.calls
ok "by itself it runs eight operations of six images" \
    [ "$(grep -c 'n=6$' plain.calls)" -eq 8 ]

UC_DOUBLE_LOG=$scratch/run.log
export UC_DOUBLE_LOG
expect 0 "the program runs as planned" \
    ucudnn-plan run --stats net.plan -- "$steps" steps=1
err_has "ucudnn-plan run: setting TORCH_CUDNN_V8_API_DISABLED=1"
err_has "planned                5 operations, 5 of them ran"
err_has "executed               8 calls as planned"
err_has "passed through         0 calls"
calls run.log | sort >run.calls
ok "filter gradients in three pieces of two" \
    [ "$(grep -c 'op=backward-filter n=2$' run.calls)" -eq 9 ]
ok "and not as a whole" sh -c '! grep "op=backward-filter n=[^2]" run.calls'
# Images by operation are the same: nothing is left out or done twice.
images()
{
    awk '{ split($2, n, "="); sum[$1] += n[2] }
        END { for (op in sum) print op, sum[op] }' "$1" | sort
}
images plain.calls >plain.images
images run.calls >run.images
ok "and together have the same images" same plain.images run.images
ok "nothing is misused" sh -c '! grep -E " (misuse|leak) " run.log'
unset UC_DOUBLE_LOG

expect 3 "the exit status is the command's" \
    ucudnn-plan run net.plan -- "$steps" status=3
said_nothing
expect 0 "the command's own options" \
    ucudnn-plan run net.plan --match any -- echo --match -h
out_has "--match -h"
ok "and output" [ "$(wc -l <out)" -eq 1 ]
expect 0 "the environment" sh -c \
    'cd / && exec ucudnn-plan run --stats --match device "$1" -- env' sh \
    "$scratch/net.plan"
out_has "LD_PRELOAD=$library"
out_has "UCUDNN_PLAN=$(pwd -P)/net.plan"
out_has "UCUDNN_MATCH=device"
out_has "UCUDNN_STATS=1"
out_has "TORCH_CUDNN_V8_API_DISABLED=1"
expect 0 "the graph API kept" \
    ucudnn-plan run --keep-graph-api ./net.plan -- env
ok "PyTorch is left alone" sh -c '! grep TORCH_ out'
said_nothing
if sh -c 'kill -PIPE $$; exit 0' 2>sigpipe.log; then
    skip "the command dies of a closed pipe" "SIGPIPE is ignored here"
else
    expect 141 "the command dies of a closed pipe" \
        ucudnn-plan run net.plan -- sh -c 'kill -PIPE $$'
fi

UCUDNN_RECORD=$(pwd)/outer.json
export UCUDNN_RECORD
expect 0 "a record that an outer command makes" \
    ucudnn-plan run net.plan -- env
unset UCUDNN_RECORD
ok "is not made while a plan is followed" sh -c '! grep UCUDNN_RECORD out'
expect 127 "a command that is not there" ucudnn-plan run net.plan -- ./none
said_is "ucudnn-plan run: ./none: command not found"
expect 126 "a folder" ucudnn-plan run net.plan -- /
said_is "ucudnn-plan run: /: Permission denied"
expect 1 "no command" ucudnn-plan run net.plan --
err_is "ucudnn-plan run: operand missing: PLAN -- COMMAND [ARGUMENT...]"
expect 1 "a match that is none" \
    ucudnn-plan run net.plan --match some -- touch ran
err_is 'ucudnn-plan run: --match: "some" is not exact, device or any'
expect 6 "a plan that is not there" ucudnn-plan run none.plan -- touch ran
err_is "ucudnn-plan run: none.plan: No such file or directory"
expect 6 "a network" ucudnn-plan run net.json -- touch ran
err_one_line
expect 6 "a profile" ucudnn-plan run net.profile -- touch ran
err_is "ucudnn-plan run: net.profile: is a profile, not a plan"
head -c 6000 net.plan >short.plan
expect 6 "half a plan" ucudnn-plan run short.plan -- touch ran
err_one_line
ok "no command has run" test ! -e ran

finish
