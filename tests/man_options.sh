# ucudnn-plan(1) and the program agree: commands, options with their letters
# and arguments, exit statuses.
. "$abs_top_srcdir/tests/lib.sh"

page=$abs_top_srcdir/man/ucudnn-plan.1

# section TITLE: the lines of a section or subsection.
section()
{
    awk -v title="$1" '
        /^\.S[hs] / { inside = substr($0, 5) == title; next }
        inside' "$page"
}

# options_of_page COMMAND: "-p, --profile FILE" a line, sorted.
options_of_page()
{
    section "$1" | sed -n '/^\.It Fl/ {
        s/^\.It //
        s/Fl -/--/g
        s/Fl /-/g
        s/ , /, /g
        s/ Ar / /g
        p
    }' | sort
}

# options_of_help: the same from --help in the file out.
options_of_help()
{
    awk '/^Options:/ { inside = 1; next }
        inside && /^  (-.,|   ) --/ {
            sub(/^ */, "")
            sub(/  .*/, "")
            print
        }' out | grep -v '^-h, --help$' | sort
}

expect 0 "the commands are listed" ucudnn-plan --help
commands=$(awk '/^Commands:/ { inside = 1; next } /^$/ { inside = 0 }
    inside { print $1 }' out)
ok "there are commands" [ -n "$commands" ]
echo "$commands" | sort >commands.program
sed -n 's/^\.Ss \([a-z]*\)$/\1/p' "$page" | sort >commands.page
ok "the page has a section for each command" \
    same commands.program commands.page
for command in $commands; do
    expect 0 "$command --help" ucudnn-plan "$command" --help
    options_of_help >options.program
    options_of_page "$command" >options.page
    ok "$command: the page's options are the program's" \
        same options.program options.page
done

sed -n '/^enum uc_status {/,/^}/s/.*= \([0-9]*\).*/\1/p' \
    "$abs_top_srcdir/common/error.h" >statuses.program
section "EXIT STATUS" | sed -n 's/^\.It //p' >statuses.page
ok "there are exit statuses" [ -s statuses.program ]
ok "the page's exit statuses are the program's" \
    same statuses.program statuses.page

finish
