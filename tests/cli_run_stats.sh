# What the library says of calls that pass through, each in a program's life.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime_steps.sh"

expect 0 "a program is recorded" \
    ucudnn-plan record -o net.json -- "$steps" steps=2
expect 0 "measured" \
    with_double ucudnn-plan bench ./net.json -p net.profile -q --api legacy
expect 0 "and planned" with_double ucudnn-plan plan ./net.json \
    -p net.profile -w 20K -q --min-gain 0 -o net.plan
ucudnn-plan show --json net.plan >plan.json
# The operation that needs most, forward of conv1 or whichever.
most=$(sed -n 's/^ *"workspace_bytes": \([0-9]*\).*/\1/p' plan.json |
    sort -n | tail -n 1)
ok "some of it needs workspace" [ "${most:-0}" -gt 0 ]

run()
{
    ucudnn-plan run --stats --keep-graph-api net.plan -- "$steps" "$@"
}

expect 0 "another batch" run steps=2 batch=5
err_has "executed               0 calls as planned"
err_has "passed through        16 calls"
err_has "batch 5: not planned: the nearest that is differs in batch"
expect 0 "another batch at times" run steps=2 checks=3
err_has "executed              16 calls as planned"
err_has "passed through         9 calls"
err_has "       6  forward:fp32:fma:nchw:c4:k4:i8x8:f3x3:p1x1 batch 2: not planned"
err_has "       3  forward:fp32:fma:nchw:c3:k4:i8x8:f3x3:p1x1 batch 2: not planned"
expect 0 "no workspace" run steps=1 workspace=0
err_has ": workspace too small by up to "
expect 0 "a byte too little" run steps=1 workspace=$((most - 1))
err_has ": workspace too small by up to 1 B"
expect 0 "exactly enough" run steps=1 workspace=$most
err_has "executed               8 calls as planned"
# An input that begins at 4 of 16 bytes.
UC_DOUBLE_ALIGNMENT=4
export UC_DOUBLE_ALIGNMENT
expect 0 "tensors not aligned" run steps=1 shift=4
err_has "executed               0 calls as planned"
err_has ": tensors are not aligned to 16 bytes"
unset UC_DOUBLE_ALIGNMENT

# cuDNN is there, but no convolution is seen.
expect 0 "cudnnCreate() alone" run steps=0
err_has "plan $scratch/net.plan"
err_has '  0 calls seen; "ucudnn-plan doctor -- COMMAND" says why'
expect 0 "without a plan" env UCUDNN_STATS=1 LD_PRELOAD="$library" \
    "$steps" steps=0
err_has "steps"
err_has ", plan none"
err_has '  0 calls seen; '
ok "that is all of it" test "$(wc -l <err)" -eq 2
expect 0 "with a plan that is missing" env UCUDNN_STATS=1 \
    UCUDNN_PLAN=missing LD_PRELOAD="$library" "$steps" steps=0
err_has ", plan not usable"
err_has '  0 calls seen; '
expect 0 "into a file" env UCUDNN_STATS=seen.txt LD_PRELOAD="$library" \
    "$steps" steps=0
ok "says nothing" test ! -s err
ok "but in the file" grep -q '  0 calls seen; ' seen.txt
for off in UCUDNN_STATS=0 UCUDNN_STATS= UCUDNN_DISABLE=1; do
    expect 0 "$off" env UCUDNN_STATS=1 $off LD_PRELOAD="$library" \
        "$steps" steps=0
    ok "$off says nothing" test ! -s err
done

# A program that follows a plan file by ucudnn.h has no calls for us to see.
expect 0 "explicit calls" env UCUDNN_STATS=1 "$abs_top_builddir/tests/api_find"
ok "are not said to be unseen" sh -c '! grep "calls seen" err'

UC_DOUBLE_DEVICE_NAME="Another GPU"
export UC_DOUBLE_DEVICE_NAME
expect 0 "another GPU" run steps=1
err_has "executed               0 calls as planned"
err_has ": planned for another device, which differs in device name"
unset UC_DOUBLE_DEVICE_NAME
UC_DOUBLE_CUDNN_VERSION=90100
export UC_DOUBLE_CUDNN_VERSION
expect 0 "another cuDNN" run steps=1
err_has ": planned for another device, which differs in cudnn version"
UCUDNN_MATCH=device
export UCUDNN_MATCH
expect 0 "allowed to differ" run steps=1
err_has "executed               8 calls as planned"
unset UC_DOUBLE_CUDNN_VERSION UCUDNN_MATCH

# Planned forward kernels fail when run; the program's own do not.
UC_DOUBLE_FAULT="fail:op=forward,algorithm=6"
export UC_DOUBLE_FAULT
expect 0 "refused by cuDNN" run steps=1
err_has "executed               5 calls as planned"
err_has "passed through         3 calls"
err_has ": cuDNN refused it when run"
unset UC_DOUBLE_FAULT

expect 0 "graphs" run steps=1 graphs=4
err_has "graph API              4 executions, which no plan knows"
expect 0 "exit() in a second thread" run steps=1 end=1
err_has "executed               8 calls as planned"
expect 0 "a child that makes no calls" run steps=1 fork=1
ok "says nothing" [ "$(grep -c 'executed' err)" -eq 1 ]
expect 0 "_exit()" run steps=1 end=2
ok "says nothing" test ! -s err

# The library by itself.
preloaded()
{
    LD_PRELOAD=$library "$@"
}
UCUDNN_STATS=1
export UCUDNN_STATS
expect 0 "no plan" preloaded "$steps" steps=1
err_has ", plan none"
err_has "       8  any convolution: there is no plan to follow"
UCUDNN_PLAN=none.plan
export UCUDNN_PLAN
expect 0 "a plan that is not there" preloaded "$steps" steps=1
err_has ", plan not usable"
err_has "passed through         8 calls"
UCUDNN_PLAN=net.plan
UCUDNN_STATS=stats.txt
expect 0 "a file" preloaded "$steps" steps=1
ok "stderr stays empty" test ! -s err
ok "the file has it" grep -q 'executed  *8 calls' stats.txt
expect 0 "a second program" preloaded "$steps" steps=2
ok "is appended" [ "$(grep -c 'plan net.plan$' stats.txt)" -eq 2 ]
UCUDNN_STATS=/none/stats.txt
expect 0 "a file that cannot be written" preloaded "$steps" steps=1
err_is "ucudnn: UCUDNN_STATS=/none/stats.txt: No such file or directory"
mkfifo pipe
UCUDNN_STATS=pipe
expect 0 "a pipe that nobody reads" timeout 20 env LD_PRELOAD="$library" \
    "$steps" steps=1
err_is "ucudnn: UCUDNN_STATS=$(pwd)/pipe: No such device or address"
if [ -c /dev/full ]; then
    UCUDNN_STATS=/dev/full
    expect 0 "a full device" preloaded "$steps" steps=1
    err_is "ucudnn: UCUDNN_STATS=/dev/full: No space left on device"
fi
UCUDNN_STATS=$(printf '%05000d' 7)
expect 0 "a name too long" preloaded "$steps" steps=1
err_has ": name too long; the summary goes to stderr"
err_has "passed through"
UCUDNN_STATS=limited.txt
expect 0 "a limit on file sizes" sh -c 'ulimit -f 0; LD_PRELOAD=$0 exec "$@" \
    2>/dev/null' "$library" "$steps" steps=1
# A pipe whose reader has ended when the program does.
mkfifo gone
UCUDNN_STATS=1
( LD_PRELOAD=$library "$steps" steps=1 2>gone; echo $? >status ) &
exec 3<gone
exec 3<&-
wait $!
ok "a reader of stderr that has gone" grep -qx 0 status
UCUDNN_STATS=0
expect 0 "switched off" preloaded "$steps" steps=1
ok "says nothing" test ! -s err
UCUDNN_LOG=info
export UCUDNN_LOG
expect 0 "a log of what passes through" preloaded "$steps" steps=9 batch=5
ok "tells each kind once" [ "$(grep -c 'passes through: not planned' err)" -eq 5 ]

finish
