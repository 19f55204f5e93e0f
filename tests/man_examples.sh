# Runs the examples of ucudnn-plan(1). A comment before each says what it
# needs: "example"; "example: gpu"; "example: user" for a program of theirs, or
# what was made with it; or "example: FILE" of the shipped data, with "cairo"
# behind it when it draws.
# Lines that begin with "$ " are commands; lines behind one, if any, are its
# whole output.
. "$abs_top_srcdir/tests/lib.sh"

page=$abs_top_srcdir/man/ucudnn-plan.1

# One file an example: needs on the first line, then the block.
awk '
    /^\.\\" example/ {
        needs = $0
        sub(/^\.\\" example:? */, "", needs)
        file = sprintf("example.%02d", ++count)
        print needs >file
    }
    /^\.Ed/ { inside = 0 }
    inside {
        gsub(/\\-/, "-")
        gsub(/\\&/, "")
        gsub(/\\e/, "\\")
        print >file
    }
    /^\.Bd -literal/ && file != "" { inside = 1 }
    !inside && /^\.Ed/ { file = "" }' "$page"

ok "there are examples" [ -e example.01 ]
ok "each literal block of commands is marked as an example" \
    [ "$(ls example.* | wc -l)" -eq "$(grep -c '^\$ ' "$page")" ] ||
    echo "# one command an example, please"

# run_example FILE: its command's output is in out, the expected in wanted.
run_example()
{
    example_command=$(sed -n '2s/^\$ //p' "$1")
    sed 1,2d "$1" >wanted
    expect 0 "example: $example_command" sh -c "$example_command"
    if [ -s wanted ]; then
        ok "prints what the page says" same wanted out
    fi
}

for example in example.*; do
    needs=$(sed -n 1p "$example")
    name="example: $(sed -n '2s/^\$ //p' "$example")"
    case $needs in
    '')
        run_example "$example"
        ;;
    gpu)
        skip "$name" "it needs a GPU, and time on it"
        ;;
    user)
        skip "$name" "it needs a program of the user, or files made with one"
        ;;
    *cairo)
        needs=${needs% cairo}
        if ! [ -e "$UCUDNN_DATA_DIR/$needs" ]; then
            skip "$name" "no $needs"
        elif ! grep -q '^#define HAVE_CAIRO' "$abs_top_builddir/config.h"; then
            skip "$name" "built without cairo"
        else
            run_example "$example"
        fi
        ;;
    *)
        if [ -e "$UCUDNN_DATA_DIR/$needs" ]; then
            run_example "$example"
        else
            skip "$name" "no $needs"
        fi
        ;;
    esac
done

finish
