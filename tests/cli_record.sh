# record: a program's convolutions become a network description.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime_steps.sh"

# What steps runs, from its own description.
cat >expected.json <<'END'
{
  "name": "net",
  "description": "recorded from steps",
  "source": "recorded by ucudnn VERSION",
  "batch": 6,
  "layers": {
    "conv1": { "in": [8, 8], "c": 3, "k": 4, "filter": 3, "pad": 1,
      "dtype": "fp32", "math": "fma", "layout": "nchw",
      "operations": ["forward", "backward-filter"] },
    "conv2": { "in": [8, 8], "c": 4, "k": 4, "filter": 3, "pad": 1,
      "dtype": "fp32", "math": "fma", "layout": "nchw",
      "operations": ["forward", "backward-data", "backward-filter"], "repeat": 2 }
  }
}
END
version=$(ucudnn-plan --version | sed 's/.* //')

# is_expected FILE
is_expected()
{
    sed "s/VERSION/$version/" expected.json | same - "$1"
}

expect 0 "a program is recorded" ucudnn-plan record -o net.json -- "$steps"
err_is "ucudnn-plan record: setting TORCH_CUDNN_V8_API_DISABLED=1, for PyTorch (--keep-graph-api does not)"
ok "the description is that of the program" is_expected net.json
ok "nothing else is left" test "$(ls)" = "$(printf '%s\n' \
    err err.expected expected.json net.json ok.log out)" || ls
expect 0 "it is a network" ucudnn-plan networks ./net.json
out_has "./net.json      6       3           8  recorded from steps"
for words in steps=1 steps=2 steps=50 "fork=1" "end=1" "graphs=3" \
    "workspace=0"; do
    rm -f net.json
    expect 0 "steps $words" ucudnn-plan record -o net.json -- "$steps" "$words"
    ok "gives the same" is_expected net.json
done
expect 0 "_exit() after two steps" \
    ucudnn-plan record -o net.json -- "$steps" steps=2 end=2
ok "gives the same" is_expected net.json

rm -f net.json
expect 0 "a second batch" \
    ucudnn-plan record -o net.json -- "$steps" steps=5 checks=7
said_nothing
expect 0 "two networks" ucudnn-plan networks ./net.json ./net.2.json
out_has "./net.json        6       3           8  recorded from steps; other batches: 2"
out_has "./net.2.json      2       3           3  recorded from steps; other batches: 6"
rm -f net*.json
expect 0 "the batch with more calls gets the file" \
    ucudnn-plan record -o net.json -- "$steps" steps=5 checks=70
expect 0 "two networks" ucudnn-plan networks ./net.json ./net.6.json
out_has "./net.json        2       3           3"
out_has "./net.6.json      6       3           8"
ok "and no other file" test ! -e net.2.json
mkdir folder
expect 0 "a name without a suffix" ucudnn-plan record -o folder/net -- \
    sh -c 'cd / && exec "$@"' sh "$steps" checks=1
ok "has the batch behind it" test -s folder/net -a -s folder/net.2

cp net.json before.json
expect 4 "a program without cuDNN" ucudnn-plan record -o net.json -- true
said_is "ucudnn-plan record: net.json: nothing was recorded: true made no convolution call that can be seen; \"ucudnn-plan doctor -- COMMAND\" says why"
ok "leaves the file alone" same before.json net.json
rm -f net.json
expect 4 "a program of graphs" \
    ucudnn-plan record -o net.json -- "$steps" steps=0 graphs=12
err_has "ucudnn: record: steps made no convolution call that can be recorded; 12 executions went through cuDNN's graph API"
err_has "ucudnn-plan record: net.json: nothing was recorded"
ok "no file is made" test ! -e net.json

expect 42 "the exit status is the command's" \
    ucudnn-plan record -o net.json -- "$steps" status=42
said_nothing
ok "the file is there all the same" is_expected net.json
expect 1 "also without a record" \
    ucudnn-plan record -o other.json -- sh -c 'exit 1'
said_nothing
expect 127 "a command that is not there" \
    ucudnn-plan record -o net.json -- ./none --option
said_is "ucudnn-plan record: ./none: command not found"
: >plain
expect 126 "a file that is no program" \
    ucudnn-plan record -o net.json -- ./plain
said_is "ucudnn-plan record: ./plain: Permission denied"
ok "the file is as it was" is_expected net.json

# A signal that ends the command ends record; one sent to record is handed on.
sh -c 'ucudnn-plan record -o net.json -- sh -c "kill -TERM \$\$"; echo $?' \
    >status 2>err
ok "a signal's end is handed on" grep -qx 143 status
ucudnn-plan record -o net.json -- sh -c \
    'trap "exit 7" USR1; : >ready; for i in $(seq 200); do sleep 0.05; done' 2>err &
await ready
kill -USR1 $!
wait $!
ok "a signal reaches the command" test $? -eq 7

for name in ALRM WINCH XCPU HUP CONT; do
    rm -f ready
    # The tests may be run with a hangup ignored, which no trap can undo.
    env --default-signal=$name ucudnn-plan record -o net.json -- sh -c \
        "trap 'exit 7' $name; : >ready; for i in \$(seq 200); do sleep 0.05; done" 2>err &
    await ready
    kill -$name $!
    wait $!
    ok "so does $name" test $? -eq 7
done

if perl -e 1 2>perl.log; then
    expect 142 "an alarm set before" sh -c 'perl -e "alarm 1; exec @ARGV" \
        ucudnn-plan record -o net.json -- sh -c "sleep 30 & wait"
        exit $?'
else
    skip "an alarm set before" "no perl here"
fi

# state PID: R, S, T (stopped), Z, or nothing.
state()
{
    sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null
}

# becomes PATTERN PID: within a few seconds.
becomes()
{
    for i in $(seq 100); do
        state "$2" | grep -qx "$1" && return 0
        sleep 0.05
    done
    return 1
}

# gone PID: ended, within a few seconds.
gone()
{
    for i in $(seq 100); do
        case $(state "$1") in
        '' | Z) return 0 ;;
        esac
        sleep 0.05
    done
    return 1
}

rm -f ready
ucudnn-plan record -o net.json -- sh -c 'echo $$ >pid; mv pid ready
    for i in $(seq 200); do sleep 0.05; done' 2>err &
wrapper=$!
await ready
command=$(cat ready)
# Not TSTP, which stops nothing in a group that no shell looks after.
kill -STOP "$command"
ok "record stops with the command" becomes T $wrapper
kill -CONT $wrapper
ok "CONT lets the command go on" becomes "[RS]" "$command"
ok "and record" becomes "[RS]" $wrapper
kill -KILL $wrapper
wait $wrapper 2>/dev/null
ok "a command whose record is killed is, too" gone "$command"
rm .ucudnn-*.new # what killed programs leave is swept when it is a day old
if env --ignore-signal=CHLD true 2>env.log; then
    expect 4 "an ignored end of children" env --ignore-signal=CHLD \
        ucudnn-plan record -o new.json -- cat /proc/self/status
    ok "stays ignored for the command" sh -c \
        'grep "^SigIgn:.*[13579bdf]....$" out'
else
    skip "an ignored end of children" "env does not ignore signals here"
fi

expect 1 "no output named" ucudnn-plan record -- "$steps"
err_is "ucudnn-plan record: --output is needed"
expect 1 "no command" ucudnn-plan record -o net.json
err_is "ucudnn-plan record: operand missing: -- COMMAND [ARGUMENT...]"
expect 6 "a folder that is not there" \
    ucudnn-plan record -o none/net.json -- touch ran
err_is "ucudnn-plan record: none/net.json: No such file or directory"
expect 6 "a folder in the file's place" \
    ucudnn-plan record -o folder -- touch ran
err_is "ucudnn-plan record: folder: is a folder"
printf 'SQLite format 3\0and more' >a.plan
expect 6 "a plan in its place" ucudnn-plan record -o a.plan -- touch ran
err_is "ucudnn-plan record: a.plan: is a database, which is not replaced"
ok "the command has not run" test ! -e ran

# What keeps a file from being written.
mkdir gone
expect 6 "a folder that is removed meanwhile" \
    ucudnn-plan record -o gone/net.json -- sh -c 'rm -r gone && exec "$@"' sh \
    "$steps"
err_has "ucudnn-plan record: gone/net.json: cannot be written: No such file or directory"
ln -s /proc/self/comm link.json
expect 6 "a link to a file of /proc" \
    ucudnn-plan record -o link.json -- touch ran
err_has "ucudnn-plan record: link.json: cannot be written: "
ok "the command has not run" test ! -e ran
UCUDNN_DISABLE=1
export UCUDNN_DISABLE
expect 4 "disabled" ucudnn-plan record -o new.json -- "$steps"
unset UCUDNN_DISABLE
said_is "ucudnn-plan record: new.json: nothing was recorded: UCUDNN_DISABLE=1 is in the environment"
ln -s nowhere.json nothing.json
expect 6 "a link to nothing" ucudnn-plan record -o nothing.json -- touch ran
err_is "ucudnn-plan record: nothing.json: is a symbolic link to nothing"

# What keeps a second batch's file from being written, or the last of one.
mkdir two
two="ucudnn-plan record -o two/net.json -- $steps steps=2 checks=3"
# shellcheck disable=SC2086 # the words of $two
expect 0 "two batches" $two
second=$(ls two | grep '^net\.[0-9]*\.json$')
rm two/*
printf 'SQLite format 3\0and more' >"two/$second"
cp "two/$second" kept
# shellcheck disable=SC2086
expect 6 "a database in the second file's place" $two
err_has "ucudnn: UCUDNN_RECORD=$(pwd -P)/two/$second: is a database, which is not replaced"
err_has "ucudnn-plan record: two/net.json: not all that was recorded could be written"
ok "stays" cmp kept "two/$second"
rm two/* && mkdir "two/$second"
# shellcheck disable=SC2086
expect 6 "a folder there" $two
rmdir "two/$second"
# In blocks of 512 bytes: the first description fits, that of all layers not.
expect 6 "a limit on file sizes" sh -c \
    'ulimit -f 1; exec ucudnn-plan record -o net.json -- "$@"' sh "$steps"
err_has "File too large"
rm -f net.json
expect 6 "one that lets nothing through" sh -c 'trap "" XFSZ
    exec ucudnn-plan record -o net.json -- sh -c "ulimit -f 0; exec \"\$@\"" \
    sh "$@"' sh "$steps"
err_has "ucudnn-plan record: net.json: what was recorded could not be written"
ok "no temporary file is left" sh -c '! ls -A . two | grep "^\.ucudnn"'

# What the command gets.
UCUDNN_PLAN=outer.plan
export UCUDNN_PLAN
expect 4 "a plan that an outer command follows" \
    ucudnn-plan record -o new.json -- env
unset UCUDNN_PLAN
ok "is not followed while recording" sh -c '! grep UCUDNN_PLAN out'
LD_PRELOAD=/usr/lib/none.so
export LD_PRELOAD
expect 4 "another preload" ucudnn-plan record -o new.json -- env
unset LD_PRELOAD
out_has "LD_PRELOAD=$library"
out_has ":/usr/lib/none.so"
out_has "UCUDNN_RECORD=$(pwd -P)/new.json"
out_has "TORCH_CUDNN_V8_API_DISABLED=1"
expect 4 "the graph API kept" \
    ucudnn-plan record --keep-graph-api -o new.json -- env
ok "PyTorch is left alone" sh -c '! grep TORCH_ out'
err_one_line_only() { [ "$(wc -l <err)" -eq 1 ]; }
ok "and nothing is said of it" err_one_line_only
TORCH_CUDNN_V8_API_DISABLED=0
export TORCH_CUDNN_V8_API_DISABLED
expect 4 "one's own setting" ucudnn-plan record -o new.json -- env
unset TORCH_CUDNN_V8_API_DISABLED
out_has "TORCH_CUDNN_V8_API_DISABLED=0"
ok "goes through untold" err_one_line_only
expect 4 "the command's own options" ucudnn-plan record -o new.json -- \
    echo --output -o --
out_has "--output -o --"

# The library by itself.
mkdir net.d
expect 0 "a folder to record into is told" sh -c \
    "UCUDNN_RECORD=net.d LD_PRELOAD=$library $steps"
err_is "ucudnn: UCUDNN_RECORD=net.d: is a folder"
expect 0 "a file that cannot be made is told once" sh -c \
    "UCUDNN_RECORD=/none/net.json LD_PRELOAD=$library $steps"
err_is "ucudnn: UCUDNN_RECORD=/none/net.json: No such file or directory"
rm -f net.json
echo precious >precious
expect 0 "a link in the temporary file's place" sh -c \
    "ln -s precious .ucudnn-\$\$-0.new; UCUDNN_RECORD=net.json \
    LD_PRELOAD=$library exec $steps"
ok "is not followed" grep -qx precious precious
ok "and the record is there" is_expected net.json
ok "nothing else but the link" [ "$(find . -name '.ucudnn-*' | wc -l)" -eq 1 ]
rm -f net.json .ucudnn-*
longest=$(printf %0255d 0)
expect 0 "the longest name there is" sh -c \
    "UCUDNN_RECORD=$longest LD_PRELOAD=$library exec $steps"
ok "is recorded into" grep -q '"layers"' "$longest"
rm -f "$longest"
expect 0 "a limit on file sizes" sh -c "ulimit -f 0; UCUDNN_RECORD=net.json \
    LD_PRELOAD=$library exec $steps 2>/dev/null"
ok "ends no program" test ! -e net.json
expect 0 "disabled" sh -c \
    "UCUDNN_DISABLE=1 UCUDNN_RECORD=net.json LD_PRELOAD=$library $steps"
ok "nothing is recorded" test ! -e net.json

finish
