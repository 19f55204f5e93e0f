# Runs the examples of ucudnn-profile(5) with the sqlite3 shell. A comment
# before each names its file: of the shipped data, or a.profile and a.plan,
# which tests/db_make writes. A command may have several lines; lines behind
# it, if any, are its whole output.
. "$abs_top_srcdir/tests/lib.sh"

command -v sqlite3 >/dev/null || skip_all "no sqlite3 shell"
make=$abs_top_builddir/tests/db_make
[ -x "$make" ] || skip_all "tests/db_make was not built"
page=$abs_top_srcdir/man/ucudnn-profile.5

"$make" plan a.plan && "$make" profile a.profile || exit 99

# example.N: the file, example.N.sh: the command, example.N.out: its output.
awk '
    /^\.\\" example: / { base = "example." ++count; print $3 >base; next }
    /^\.Ed/ { inside = 0 }
    inside {
        gsub(/\\e/, "\\")
        if (sub(/^\$ /, ""))
            file = base ".sh"
        print >file
        # a command ends with its second quote
        quotes += gsub(/"/, "")
        if (file ~ /sh$/ && quotes % 2 == 0)
            file = base ".out"
    }
    /^\.Bd -literal/ { inside = 1; quotes = 0 }' "$page"

ok "there are three examples" [ "$(ls example.?.sh | wc -l)" -eq 3 ]
for example in example.?; do
    file=$(cat "$example")
    name="example of $file"
    case $file in
    */*)
        if [ ! -e "$UCUDNN_DATA_DIR/$file" ]; then
            skip "$name" "no $file"
            continue
        fi
        ln -sf "$UCUDNN_DATA_DIR/$file" .
        ;;
    esac
    expect 0 "$name" sh "./$example.sh"
    if [ -e "$example.out" ]; then
        ok "prints what the page says" same "$example.out" out
    else
        ok "prints something" [ -s out ]
    fi
done

finish
