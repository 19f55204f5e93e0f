# The examples of ucudnn-network(5): each file is written under the name that
# the text before it gives, each command is run and must print what the page
# shows.
. "$abs_top_srcdir/tests/lib.sh"

page=$abs_top_srcdir/man/ucudnn-network.5

# Files NAME from the blocks that start with a brace, example-N.cmd from those
# that start with "$ "; both are listed in page.list.
awk '
/^\.Pa .*\.json/ { name = $2 }
/^\.Bd -literal/ { inside = 1; first = 1; next }
/^\.Ed/          { inside = 0; close(file) }
inside {
    sub(/^\\&/, "")
    gsub(/\\-/, "-")
    gsub(/\\e/, "\\")
    if (first) {
        first = 0
        file = /^\$ / ? "example-" ++commands ".cmd" : name
        print file >"page.list"
    }
    print >file
}' "$page"

while read -r file; do
    case $file in
    *.json)
        ok "$file is not shown twice" \
            test "$(grep -Fxc "$file" page.list)" -eq 1
        case $file in
        wrong.json) status=1 ;;
        *) status=0 ;;
        esac
        expect $status "the page's $file reads as it says" \
            ucudnn-plan networks "$file"
        ;;
    esac
done <page.list
ok "the page has files" test "$(grep -c '\.json$' page.list)" -ge 5
ok "and commands" test "$(grep -c '\.cmd$' page.list)" -ge 2

for file in example-*.cmd; do
    sed -n '1s/^\$ //p' "$file" >run
    sed 1d "$file" >shown
    sh ./run >printed 2>&1
    ok "prints what the page shows: $(cat run)" same shown printed
done

if command -v mandoc >/dev/null 2>&1; then
    ok "mandoc finds nothing wrong" mandoc -Tlint -Wwarning "$page"
else
    skip "mandoc finds nothing wrong" "no mandoc"
fi

finish
