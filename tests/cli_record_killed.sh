# A program that is killed while it is recorded leaves a whole description.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime_steps.sh"

# usable: the file, if there is one, can be read.
usable()
{
    [ ! -e net.json ] || ucudnn-plan networks ./net.json
}

# The more steps, the more is in the file; waits of a few milliseconds spread
# the kills over starting, recording, and running on.
whole=0
for pause in 0 0.01 0.02 0.03 0.04 0.05 0.07 0.1 0.15 0.3; do
    rm -f net.json*
    UCUDNN_RECORD=net.json LD_PRELOAD=$library \
        "$steps" steps=1000000 >out 2>err &
    victim=$!
    sleep $pause
    kill -KILL $victim
    wait $victim 2>/dev/null
    ok "killed after $pause s: what is there can be read" usable
    if [ -e net.json ] &&
        ucudnn-plan networks ./net.json | grep -q ' 6       3           8 '
    then
        whole=$((whole + 1))
    fi
done
ok "some of them had recorded everything" test $whole -gt 0

# Two steps are enough for everything, repeats included.
rm -f net.json*
UCUDNN_RECORD=net.json LD_PRELOAD=$library "$steps" steps=2 end=3 &
victim=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 0.1
    [ -e net.json ] &&
        ucudnn-plan networks ./net.json | grep -q ' 3           8 ' && break
done
kill -KILL $victim
wait $victim 2>/dev/null
expect 0 "killed after two steps" ucudnn-plan networks ./net.json
out_has "./net.json      6       3           8"

finish
