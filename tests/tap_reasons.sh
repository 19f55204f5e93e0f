# tap.sh: a test that is skipped says why.
. "$abs_top_srcdir/tests/lib.sh"

# program NAME LINE...: prints its lines and exits with the last.
program()
{
    program_name=$1
    shift
    {
        echo "#!/bin/sh"
        while [ $# -gt 1 ]; do
            echo "echo '$1'"
            shift
        done
        echo "exit $1"
    } >"$program_name"
    chmod +x "$program_name"
}

# is LINE...: what tap.sh prints.
is()
{
    printf '%s\n' "$@" >wanted
    same wanted out
}

program whole '# no GPU' 77
expect 0 "a program that cannot run" sh "$tests/tap.sh" ./whole
ok "says why" is '# no GPU' '1..0 # SKIP whole: no GPU'
program silent 77
expect 0 "a program that says nothing" sh "$tests/tap.sh" ./silent
ok "is told so" is '1..0 # SKIP silent: no reason given'
program part '1..4' 'ok 1 - runs' 'no /dev/full here' 'not ok 2 # SKIP writes' \
    'not ok 3 # SKIP reads' 'a number is wrong' 'not ok 4 - counts' 1
expect 0 "tests that cannot run" sh "$tests/tap.sh" ./part
ok "say why, each for itself" is 'ok 1 - runs' '# no /dev/full here' \
    'ok 2 - writes # SKIP no /dev/full here' \
    'ok 3 - reads # SKIP no reason given' '# a number is wrong' \
    'not ok 4 - counts' '1..4'

# And none of ours leaves it out.
ok "no unit test skips without a reason" sh -c '
    ! grep -n "[^_]skip();" "$0"/*.c' "$tests"

finish
