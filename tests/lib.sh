# Sourced by the shell tests: runs the built ucudnn-plan and says what was
# seen, one TAP line an expectation.
#
#   . "$abs_top_srcdir/tests/lib.sh"
#   expect 1 "a negative limit is refused" ucudnn-plan plan x --limit -1
#   err_is "ucudnn-plan plan: ..."
#   finish
#
# The current folder is an empty scratch folder, removed at the end. The last
# command's output is in the files `out` and `err` there.

set -u
: "${abs_top_srcdir:?run the tests with make check}"
: "${abs_top_builddir:?run the tests with make check}"
tests=$abs_top_srcdir/tests
LC_ALL=C
export LC_ALL

count=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ucudnn-test.XXXXXX") || exit 99
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
trap 'exit 99' HUP INT TERM
cd "$scratch" || exit 99

# show_file FILE: as TAP comments.
show_file()
{
    sed "s/^/# ${1##*/}: /" "$1"
}

# ok NAME COMMAND...: passes when the command does.
ok()
{
    ok_name=$1
    shift
    count=$((count + 1))
    if "$@" >ok.log 2>&1; then
        echo "ok $count - $ok_name"
    else
        echo "not ok $count - $ok_name"
        show_file ok.log
        return 1
    fi
}

# skip NAME REASON: a test that cannot run here.
skip()
{
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# skip_all REASON: ends a script that cannot run here.
skip_all()
{
    echo "1..0 # SKIP $1"
    exit 0
}

# expect STATUS NAME COMMAND...: runs it into out and err; compares its exit
# status.
expect()
{
    expect_status=$1
    expect_name=$2
    shift 2
    "$@" >out 2>err </dev/null
    got_status=$?
    count=$((count + 1))
    if [ "$got_status" -eq "$expect_status" ]; then
        echo "ok $count - $expect_name"
    else
        echo "not ok $count - $expect_name"
        echo "# exit status $got_status instead of $expect_status from: $*"
        show_file out
        show_file err
        return 1
    fi
}

# same FILE FILE: compares, showing the difference.
same()
{
    diff -u "$1" "$2"
}

# out_is FILE: standard output of the last command equals tests/FILE.
out_is()
{
    ok "output is as in $1" same "$tests/$1" out
}

# err_is LINE: standard error of the last command is this line.
err_is()
{
    printf '%s\n' "$1" >err.expected
    ok "says: $1" same err.expected err
}

# out_has TEXT, err_has TEXT: a line of it holds the text.
out_has()
{
    ok "output has: $1" grep -F -e "$1" out || show_file out
}

err_has()
{
    ok "error has: $1" grep -F -e "$1" err || show_file err
}

# measured_nothing TEXT: bench's output begins with no measurements, and this.
measured_nothing()
{
    ok "nothing is measured$1" grep -e "^0 measurements$1" out || show_file out
}

one_line_and_no_output()
{
    [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ]
}

# err_one_line: one line of error and nothing on standard output.
err_one_line()
{
    ok "one line of error, no output" one_line_and_no_output ||
        show_file err
}

# query_is NAME FILE SQL VALUE: SQLite answers so.
query_is()
{
    sqlite3 "$2" "$3" >value
    printf '%s\n' "$4" >value.expected
    ok "$1" same value.expected value
}

# await FILE: until it is there, but not for ever.
await()
{
    for await_try in $(seq 400); do
        [ -e "$1" ] && return 0
        sleep 0.05
    done
    echo "# no $1 came: try $await_try was the last"
    return 1
}

# gpu_present: whether this machine has an NVIDIA device to measure on.
gpu_present()
{
    [ -c /dev/nvidia0 ] && [ -c /dev/nvidiactl ]
}

# double_present: whether the double of CUDA and cuDNN was built.
double_present()
{
    [ -f "$abs_top_builddir/tests/double/libcudnn.so.9" ]
}

# with_double COMMAND...: with the double in place of CUDA and cuDNN.
with_double()
{
    LD_LIBRARY_PATH=$abs_top_builddir/tests/double "$@"
}

# finish: the plan; a script that ends before it has failed.
finish()
{
    echo "1..$count"
}
