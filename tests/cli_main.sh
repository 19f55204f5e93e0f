# What ucudnn-plan does before any command: help, version, usage errors, and
# writing to a standard output that cannot be written.
. "$abs_top_srcdir/tests/lib.sh"

expect 0 "--help exits 0" ucudnn-plan --help
out_has "Usage: ucudnn-plan COMMAND"
cp out overview
expect 0 "-h is --help" ucudnn-plan -h
ok "and prints the same" same overview out
expect 0 "help is --help" ucudnn-plan help
ok "and prints the same" same overview out
expect 0 "help explains a command" ucudnn-plan help help
cp out help.help
expect 0 "COMMAND --help is help COMMAND" ucudnn-plan help --help
ok "and prints the same" same help.help out
out_has "--help"

expect 0 "--version exits 0" ucudnn-plan --version
ok "and prints name and version" grep -Eqx 'ucudnn-plan [0-9]+\.[0-9]+\.[0-9]+' out

expect 1 "no command is an error" ucudnn-plan
err_is "ucudnn-plan: no command given (see ucudnn-plan --help)"
err_one_line
expect 1 "an unknown command is an error" ucudnn-plan frobnicate --help
err_is 'ucudnn-plan: unknown command "frobnicate" (see ucudnn-plan --help)'
err_one_line
expect 1 "an empty command is an error" ucudnn-plan ''
err_one_line
expect 1 "an unknown option is an error" ucudnn-plan --frobnicate
err_is "ucudnn-plan: unknown option --frobnicate (see ucudnn-plan --help)"
expect 1 "an unknown option of a command is an error" ucudnn-plan help --fr=1
err_is "ucudnn-plan help: unknown option --fr (see ucudnn-plan help --help)"
err_one_line
expect 1 "help of an unknown command is an error" ucudnn-plan help fr
err_is 'ucudnn-plan help: unknown command "fr"'
err_one_line
expect 1 "an operand too many is an error" ucudnn-plan help help help
err_is 'ucudnn-plan help: unexpected operand "help"'
expect 1 "control characters do not make lines" ucudnn-plan help "a
b"
err_is 'ucudnn-plan help: unknown command "a?b"'
expect 1 "nor does what is no UTF-8 reach the terminal" \
    ucudnn-plan help "$(printf 'a\377b\302\233')"
err_is 'ucudnn-plan help: unknown command "a?b??"'

if [ -c /dev/full ]; then
    expect 6 "a full disk is an error" sh -c 'ucudnn-plan --help >/dev/full'
    err_is "ucudnn-plan: standard output: No space left on device"
else
    skip "a full disk is an error" "no /dev/full"
fi
expect 6 "a closed standard output is an error" sh -c 'ucudnn-plan help >&-'
err_is "ucudnn-plan help: standard output: Bad file descriptor"
expect 1 "a closed standard error is no more" \
    sh -c 'ucudnn-plan frobnicate 2>&-'
ok "and nothing is printed elsewhere" [ ! -s out ]

# The reader is gone before anything is written.
mkfifo pipe
broken_pipe()
{
    (
        : <pipe &
        exec 3>pipe
        wait
        sleep 0.1
        "$@" >&3
    )
}
if sh -c 'kill -PIPE $$; exit 0' 2>sigpipe.log; then
    skip "a closed pipe ends it by SIGPIPE" "SIGPIPE is ignored here"
else
    expect 141 "a closed pipe ends it by SIGPIPE" \
        broken_pipe ucudnn-plan --help
    ok "quietly" [ ! -s err ]
fi
expect 6 "unless the caller ignores that signal" \
    broken_pipe sh -c 'trap "" PIPE; exec ucudnn-plan --help'
err_is "ucudnn-plan: standard output: Broken pipe"

LC_ALL=de_DE.UTF-8 expect 0 "the locale changes nothing" ucudnn-plan --help
ok "and prints the same" same overview out

finish
