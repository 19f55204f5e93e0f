# doctor -- COMMAND: what of a program's convolutions can be seen.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"
. "$abs_top_srcdir/tests/runtime_steps.sh"
case=--case=square-nchw-fp32

doctor()
{
    ucudnn-plan doctor "$@"
}

# row NAME TEXT: a line of the table.
row()
{
    ok "$1: $2" grep -Eq "^$1  +$2\$" out || show_file out
}

# gone PID: ended, within a few seconds.
gone()
{
    for i in $(seq 100); do
        case $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' \
            "/proc/$1/status" 2>/dev/null) in
        '' | Z) return 0 ;;
        esac
        sleep 0.05
    done
    return 1
}

# Programs of every kind.
expect 0 "a program that links cuDNN" doctor -- "$steps" steps=2
err_is "ucudnn-plan doctor: setting TORCH_CUDNN_V8_API_DISABLED=1, for PyTorch (--keep-graph-api does not)"
row command "$steps steps=2"
row ended "with exit status 0"
row processes 1
row cuDNN "$(realpath "$abs_top_builddir/tests/double")/libcudnn.so.9, linked"
row "legacy API" "16 convolutions"
row "graph API" "0 executions"
out_has "16 convolutions through the legacy API: a plan will be followed."
out_has '"ucudnn-plan record" writes them down to be planned.'
expect 0 "a library that is opened for itself" doctor -- \
    env ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" \
    "$clients/host" "$clients/library.so" $case --one
row cuDNN ".*/libcudnn.so.9, opened at run time"
row "legacy API" "3 convolutions"
row processes 1
expect 4 "functions fetched from a handle" doctor -- "$clients/by_dlsym" $case
err_has "ucudnn-plan doctor: $clients/by_dlsym: cuDNN was loaded, but no call was seen"
row cuDNN ".*/libcudnn.so.9, opened at run time"
out_has "cuDNN was loaded, but no call was seen."
out_has "by dlsym (JAX, ONNX Runtime)"
expect 4 "cuDNN inside the program" doctor -- "$clients/hidden" steps=1
said_is "ucudnn-plan doctor: $clients/hidden: cuDNN was never loaded, though CUDA was"
out_has "links cuDNN statically"
expect 0 "a program that executes plans itself" \
    doctor --json -- "$abs_top_builddir/tests/api_linked"
ok "is seen to" grep -q '"explicit_executions": [1-9]' out
: >part.c
if ${TEST_CC:-cc} -shared -fPIC -o libcudnn_graph.so.9 part.c 2>cc.log; then
    expect 4 "a part of cuDNN alone" env LD_PRELOAD="$PWD/libcudnn_graph.so.9" \
        ucudnn-plan doctor -- /usr/bin/env true
    row cuDNN "parts of it, without libcudnn.so, linked"
else
    skip "a part of cuDNN alone" "no compiler here"
fi
expect 4 "a program without cuDNN" doctor -- /usr/bin/env true
out_has "cuDNN was never loaded."
expect 0 "a thousand calls" doctor -- "$steps" steps=156
out_has "1,248 convolutions through the legacy API"

expect 4 "a command's descriptors" doctor -- ls -l /proc/self/fd
ok "are its own" sh -c '! grep ucudnn-doctor err'

# Somebody cuts the counters' file off.
# shellcheck disable=SC2016 # the command's own variable
expect 6 "lost counters" doctor -- sh -c ': >"$UCUDNN_DOCTOR"; sleep 0.1'
err_has "the counters were lost: the file was cut off"
ok "and none are left" [ -z "$(ls "${TMPDIR:-/tmp}" | grep ucudnn-doctor)" ]

# The graph API.
expect 4 "graphs only" doctor -- "$steps" steps=0 graphs=1204
said_is "ucudnn-plan doctor: $steps: 1,204 graph executions, no legacy convolution"
row "graph API" "1,204 executions"
out_has "TORCH_CUDNN_V8_API_DISABLED=1 was set"
expect 4 "without the variable" \
    doctor --keep-graph-api -- "$steps" steps=0 graphs=1
out_has "1 graph execution, no legacy convolution."
out_has "Set TORCH_CUDNN_V8_API_DISABLED=1 if it is PyTorch"
expect 0 "both" doctor -- "$steps" steps=1 graphs=2
out_has "8 convolutions through the legacy API"
out_has "What runs through the graph API stays as it is."

# With a plan.
ucudnn-plan record -o net.json -- "$steps" steps=2 2>/dev/null
with_double ucudnn-plan bench ./net.json -p net.profile -q --api legacy
with_double ucudnn-plan plan ./net.json -p net.profile -w 20K --min-gain 0 -q -o net.plan
expect 0 "a plan that is followed" doctor --plan net.plan -- "$steps" steps=3
out_has "24 of 24 convolutions followed the plan."
row followed "24 calls"
ok "none passed through" sh -c '! grep "passed through" out'
expect 0 "in part" doctor --plan net.plan -- "$steps" steps=2 checks=3
out_has "16 of 25 convolutions followed the plan."
row "passed through" "9 calls: not planned: the nearest that is differs in batch"
expect 4 "not at all" doctor --plan net.plan -- "$steps" steps=2 batch=5
said_is "ucudnn-plan doctor: $steps: 16 convolutions through the legacy API, none followed the plan"
row "passed through" "16 calls: not planned: the nearest that is differs in batch"
UC_DOUBLE_CUDNN_VERSION=90100
export UC_DOUBLE_CUDNN_VERSION
expect 4 "another cuDNN" doctor --plan net.plan -- "$steps" steps=1
row "passed through" "8 calls: planned for another device, which differs in cudnn version"
expect 0 "that may differ" \
    doctor --plan net.plan --match device -- "$steps" steps=1
out_has "8 of 8 convolutions followed the plan."
unset UC_DOUBLE_CUDNN_VERSION
expect 4 "too little workspace" \
    doctor --plan net.plan --json -- "$steps" steps=1 workspace=0
ok "is a reason" grep -q '"reason": "workspace too small"' out
out_has '"verdict": "not-followed"'
expect 0 "an outer plan or record is not heeded" env UCUDNN_PLAN=none \
    UCUDNN_RECORD=none.json ucudnn-plan doctor -- "$steps" steps=1
ok "nothing is recorded" test ! -e none.json

# Several processes, forked or started, and whatever ends them.
expect 0 "two programs" doctor -- bash -c '"$0" steps=1; "$0" steps=2; true' "$steps"
row processes 3
row "legacy API" "24 convolutions"
expect 0 "a program that becomes another" doctor -- \
    sh -c 'exec "$0" steps=1' "$steps"
row processes 1
expect 0 "a child that only exits" doctor -- "$steps" steps=1 fork=1
row processes 1
expect 0 "_exit()" doctor -- "$steps" steps=1 end=2
row processes "1, without exit\(\): steps"
row "legacy API" "8 convolutions"
expect 0 "exit() of a second thread" doctor -- "$steps" steps=1 end=1
row processes 1
expect 0 "a signal" doctor -- sh -c '"$0" steps=1 end=3 & sleep 2
    kill -KILL $!; wait $!; kill -TERM $$' "$steps"
row ended "by signal 15 .*"
row "legacy API" "8 convolutions"
expect 4 "a process that hides its end" doctor -- sh -c 'kill -KILL $$'
out_has "no call was seen, and what was loaded is not known, since not all processes ended by exit(): sh."
expect 0 "a failure of the command is told" doctor -- "$steps" status=3
row ended "with exit status 3"
expect 0 "through ucudnn run" doctor -- ucudnn-plan run net.plan -- "$steps" steps=1
row "legacy API" "8 convolutions"

# Its time. What a script starts in its background ignores SIGINT for good.
interrupted=yes
sh -c 'kill -INT $$; exit 5' || [ $? -ne 5 ] || interrupted=no
# ended_after_request HOW: after the first, that is, which is SIGINT.
ended_after_request()
{
    if [ $interrupted = yes ]; then
        row ended "$1, stopped as its time was over"
    else
        skip "ended $1" "SIGINT is ignored here"
    fi
}
expect 0 "a program that does not end" doctor --for 1 -- "$steps" steps=1 end=3
ended_after_request "by signal 2 \(Interrupt\)"
row processes 1
out_has "8 convolutions through the legacy API"
expect 4 "one that hides" doctor --for 1 -- bash -c '"$0" steps=1 end=3; true' \
    "$clients/hidden"
out_has "cuDNN was never loaded, though CUDA was."
expect 0 "all its processes are stopped" doctor --for 1 -- \
    sh -c '"$0" steps=1 end=3 & echo $! >pid; wait' "$steps"
ok "the one behind the shell, too" gone "$(cat pid)"
expect 0 "an end that a program chooses" doctor --for 1 -- \
    bash -c 'trap "exit 7" INT; "$0" steps=1; while :; do sleep 0.1; done' "$steps"
ended_after_request "with exit status 7"
expect 0 "one that heeds neither request" doctor --for 0.5 -- \
    bash -c 'trap "" INT TERM; "$0" steps=1; while :; do sleep 0.1; done' "$steps"
row ended "by signal 9 \(Killed\), stopped as its time was over"
expect 0 "a program that ends before" doctor --for 1h -- "$steps" steps=1
row ended "with exit status 0"

# A terminal's or another's signals, as `record` hands them on.
ucudnn-plan doctor -- sh -c 'trap "\"$0\" steps=1; exit 7" USR1; : >ready
    for i in $(seq 200); do sleep 0.05; done' "$steps" >out 2>err &
await ready
kill -USR1 $!
wait $!
ok "a signal reaches the command" test $? -eq 0
row ended "with exit status 7"

# The command is not disturbed, and the report stands alone.
expect 0 "its output" doctor --json -- sh -c 'echo hello; exec "$0" steps=1' \
    "$steps"
ok "is on standard error" grep -qx hello err
ok "and not in the report" sh -c '! grep hello out >&2 || grep "echo hello" out'
ok "which is an object" sh -c 'head -n 1 out | grep -qx "{"'
out_has '"verdict": "seen"'
out_has '"legacy_convolutions": 8'
out_has '"exit_status": 0'
out_has '"linked": true'
plain plain.log client linked $case >plain.out
expect 0 "the same story as without" env UC_DOUBLE_LOG=doctor.log \
    ucudnn-plan doctor -- "$clients/linked" $case
story plain.log >plain.story
story doctor.log >doctor.story
ok "cuDNN is asked the same" same plain.story doctor.story
said >linked.err
ok "and the results are the same" same plain.out linked.err
mkdir tmp
TMPDIR=$scratch/tmp
export TMPDIR
expect 0 "nothing" doctor -- "$steps" steps=1
ok "is left" [ -z "$(ls tmp)" ]

# A program that writes what it likes into the counters.
cat >scribble.sh <<'END'
head -c 400000 /dev/zero | tr '\0' "$1" |
    dd of="$UCUDNN_DOCTOR" bs=4096 seek="$2" count=10 conv=notrunc 2>/dev/null
END
for byte in '\377' '\1' '\2' A; do
    for block in 0 1 3 4; do
        doctor -- sh scribble.sh "$byte" $block >out 2>err
        ok "scribbles of $byte at $block are survived" [ $? -eq 0 -o $? -eq 4 ]
        doctor --json --plan net.plan -- sh scribble.sh "$byte" $block >out 2>err
        ok "as JSON" sh -c 'tail -n 1 out | grep -qx "}"'
    done
done

# What cannot be.
expect 6 "no folder for the counters" \
    env TMPDIR=/none ucudnn-plan doctor -- touch ran
said_is "ucudnn-plan doctor: the folder for temporary files, /none: No such file or directory"
expect 6 "a limit on file sizes" \
    sh -c 'ulimit -f 1; exec ucudnn-plan doctor -- touch ran'
said_is "ucudnn-plan doctor: $(realpath tmp)/$(sed -n 's/.*\(ucudnn-doctor\.[^:]*\):.*/\1/p' err): File too large"
ok "that leaves no file" [ -z "$(ls tmp)" ]
expect 127 "a command that is not there" doctor -- ./none
said_is "ucudnn-plan doctor: ./none: command not found"
expect 126 "a folder" doctor -- /
ok "the counters are gone" [ -z "$(ls tmp)" ]
expect 1 "the machine's options" doctor --device 0 -- touch ran
err_is "ucudnn-plan doctor: --device is about the machine, not about a command"
expect 1 "a profile" doctor -p h200 -- touch ran
err_is "ucudnn-plan doctor: --profile is about the machine, not about a command"
expect 1 "a match that is none" doctor --match some -- touch ran
err_is 'ucudnn-plan doctor: --match: "some" is not exact, device or any'
expect 6 "a plan that is not there" doctor --plan none.plan -- touch ran
err_is "ucudnn-plan doctor: none.plan: No such file or directory"
expect 6 "a profile for a plan" doctor --plan net.profile -- touch ran
err_is "ucudnn-plan doctor: net.profile: is a profile, not a plan"
expect 1 "the library switched off" \
    env UCUDNN_DISABLE=1 ucudnn-plan doctor -- touch ran
err_is "ucudnn-plan doctor: nothing can be seen: UCUDNN_DISABLE=1 is in the environment"
ok "no command has run" test ! -e ran
expect 4 "an argument that is no text" doctor --json -- true "$(printf 'a\001\377')"
out_has '"a'

# Programs that cannot be preloaded.
echo 'int main(void) { return 0; }' >static.c
if ${TEST_CC:-cc} -static -o static static.c 2>cc.log; then
    expect 4 "a program that is linked statically" doctor -- ./static
    said_is "ucudnn-plan doctor: ./static: libucudnn was not loaded into the command"
else
    skip "a program that is linked statically" "no static C library here"
fi
expect 4 "a clean environment" doctor -- env -i /bin/true
row processes "1, without exit\(\): env"

# The library by itself, told of files that are not the doctor's.
# hostile NAME FILE SAYS
hostile()
{
    expect 0 "$1 runs" env LD_PRELOAD="$library" UCUDNN_DOCTOR="$2" "$steps" steps=1
    err_is "ucudnn: UCUDNN_DOCTOR=$2: $3"
}
: >empty
echo text >text
mkdir folder
mkfifo pipe
ln -s empty link
head -c 1000000 /dev/zero >large
hostile "no file" none "No such file or directory"
hostile "an empty file" empty "is not the doctor's"
hostile "a text" text "is not the doctor's"
hostile "a folder" folder "Is a directory"
hostile "a pipe" pipe "is not the doctor's"
hostile "a link" link "Too many levels of symbolic links"
hostile "zeros" large "is not the doctor's"
hostile "a device" /dev/zero "is not the doctor's"
ok "no file was touched" sh -c '[ ! -s empty ] && grep -qx text text'
# The right size, and every byte wrong.
cat >size.c <<'END'
#include "runtime/sight.h"
#include <stdio.h>
int main(void) { printf("%zu\n", sizeof(struct uc_sight)); return 0; }
END
if ${TEST_CC:-cc} $TEST_CPPFLAGS -o size size.c 2>cc.log; then
    size=$(./size)
    head -c "$size" /dev/zero >wrong
    hostile "another version's" wrong "is not the doctor's"
    head -c "$size" /dev/zero | tr '\0' '\377' >wrong
    { printf 'ucudnn doctor 1\0'; head -c $((size - 16)) wrong; } >bad
    expect 0 "a file of the right name and wrong bytes" env \
        LD_PRELOAD="$library" UCUDNN_DOCTOR=bad UCUDNN_PLAN=net.plan \
        "$steps" steps=1 batch=5
else
    skip "files of the right size" "no compiler here"
fi

finish
