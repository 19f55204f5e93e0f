# show --html: the page is whole, hides nothing, lets nothing in, and a
# browser shows it without complaint at both widths.
. "$abs_top_srcdir/tests/lib.sh"

make=$abs_top_builddir/tests/profile_make
[ -x "$make" ] || skip_all "tests/profile_make was not built"

# A network whose names try to be more than text.
cat >net.json <<'END'
{
  "name": "</title><img src=x onerror=alert(1)>", "batch": 8,
  "dtype": "fp32", "math": "fma", "layout": "nchw",
  "layers": {
    "<script>alert(2)</script>": { "in": [16, 16], "c": 4, "k": 16,
      "filter": 3, "pad": 1, "operations": ["forward", "backward-filter"] },
    "\"'><b onclick='alert(3)'>&lt;i&gt;": { "in": [16, 16], "c": 16, "k": 16,
      "filter": 3, "pad": 1, "repeat": 3 },
    "averyveryveryveryverylongnamewithoutanyplacetobreakitanywhere":
      { "in": [9, 9], "c": 16, "k": 16, "filter": 3, "pad": 1 }
  }
}
END
ok "a profile is made" "$make" a.profile net.json power-of-two
ucudnn-plan plan net.json -p a.profile -w 64K -t 1M --offline -q -o a.plan
ucudnn-plan plan net.json -p a.profile -w 64K --offline -q -o one.plan

# absent PATTERN FILE
absent()
{
    ! grep -E -n -e "$1" "$2"
}

# What is asked for.
expect 1 "a page is not JSON" ucudnn-plan show a.plan --html a.html --json
err_is "ucudnn-plan show: --html and --json exclude each other"
expect 1 "nor CSV" ucudnn-plan show a.plan --html a.html --csv
expect 1 "a profile is for the page" ucudnn-plan show a.plan -p a.profile
err_is "ucudnn-plan show: --profile is for --html"
expect 1 "a profile has no page" ucudnn-plan show a.profile --html a.html
err_has "is a profile; --html is for plans"
expect 6 "a folder that is not there" \
    ucudnn-plan show a.plan --html none/a.html
err_one_line
ok "no page was written" [ ! -e a.html ]
cp a.plan before.plan
expect 6 "the plan is no place for its page" \
    ucudnn-plan show a.plan --html a.plan
err_is "ucudnn-plan show: a.plan: is a database, which is not replaced"
ok "and stays" cmp a.plan before.plan

# Where the curve comes from.
mkdir -p data/profiles
UCUDNN_DATA_DIR=$scratch/data expect 0 "no profile ships" \
    ucudnn-plan show one.plan --html one.html
ok "nothing is printed" [ ! -s out ]
ok "the page says why it has no curve" \
    grep -F "Not drawn: no profile was given, and none ships." one.html
ok "and draws none" absent '<svg class="chart"' one.html
ok "nor does a limit for each operation need notes on rows" \
    absent 'A layer in several rows' one.html
ucudnn-plan plan net.json -p a.profile -t 32K --offline -q -o divided.plan
ucudnn-plan show divided.plan --html divided.html
ok "rows that a division makes odd are explained below the table" \
    grep -F '<p class="note">A layer in several rows: ' divided.html
expect 0 "a profile is named" \
    ucudnn-plan show a.plan --html a.html -p a.profile
ok "each plan has its curve, in two sizes" \
    [ "$(grep -c '<svg class="chart"' a.html)" -eq 4 ]
ok "the plans are on their curves" \
    absent "its point is not on it" a.html
ucudnn-plan plan net.json -p a.profile -w 64K --max-pieces 2 --min-gain 0 \
    --offline -q -o other.plan
ucudnn-plan show other.plan --html other.html -p a.profile
ok "a plan of other choices has its curve" \
    grep -q '<svg class="chart"' other.html
ok "which it is on" \
    absent "its point is not on it" other.html
ok "the choices are told" grep -F "micro-batch sizes: power-of-two, at most 2 \
micro-batches, divided for any gain.</p>" other.html
# As many sizes as a policy may have, most of them beyond the batch.
sizes=4$(seq -s '' -f ',%.0f' 2147483585 2147483647)
expect 0 "a plan of 64 sizes" ucudnn-plan plan net.json -p a.profile -w 64K \
    --policy "$sizes" --offline -q -o sizes.plan
expect 0 "is planned again" \
    ucudnn-plan show sizes.plan --html sizes.html -p a.profile
ok "its curve is drawn" grep -q '<svg class="chart"' sizes.html
ok "and its sizes told" grep -Fq "micro-batch sizes: $sizes.<" sizes.html
ucudnn-plan show sizes.plan >out
out_has "policy     $sizes"
ucudnn-plan show sizes.plan --json >out
out_has "\"policy\": \"$sizes\""
ok "a dump and back" sh -c 'ucudnn-plan dump sizes.plan >sizes.txt &&
    ucudnn-plan restore -o back.plan sizes.txt &&
    ucudnn-plan dump back.plan | cmp - sizes.txt'
ok "a profile of engines only" sh -c '
    "$1" engines.profile net.json power-of-two engines &&
    ucudnn-plan dump engines.profile | grep -v "	kernel=[^e]" |
        ucudnn-plan restore -o only.profile' sh "$make"
ucudnn-plan plan net.json -p only.profile -w 1G --api graph --offline -q \
    -o engines.plan
expect 0 "gives a plan of engines only" \
    ucudnn-plan show engines.plan --html engines.html -p only.profile
ok "and its curve" grep -q '<svg class="chart"' engines.html
ok "it is on" absent "its point is not on it" engines.html
# The same plan as if nothing had been told, as a plan of version 1 has it.
ucudnn-plan dump other.plan | sed 's/	apis=.*//' |
    ucudnn-plan restore -o old.plan
ucudnn-plan show old.plan --html other.html -p a.profile
ok "a plan that is off the curve says so" \
    grep -F "its point is not on it" other.html
ok "a profile of less" "$make" less.profile net.json undivided
cp a.profile data/profiles/shipped.profile
UCUDNN_DATA_DIR=$scratch/data expect 0 "a shipped profile is like the plan's" \
    ucudnn-plan show one.plan --html shipped.html
ok "and gives the curve" grep -q '<svg class="chart"' shipped.html
cp less.profile data/profiles/shipped.profile
UCUDNN_DATA_DIR=$scratch/data expect 0 "a shipped profile of less" \
    ucudnn-plan show one.plan --html shipped.html
ok "is told" grep -F "Not drawn: shipped: the profile lacks" shipped.html
cp a.html before.html
expect 4 "a profile that lacks measurements" \
    ucudnn-plan show a.plan --html a.html -p less.profile
err_has "less.profile: the profile lacks measurements of"
err_one_line
ok "the page is as it was" cmp a.html before.html
if [ -e "$UCUDNN_DATA_DIR/profiles/h200.profile" ]; then
    expect 1 "a profile of another device" \
        ucudnn-plan show a.plan --html a.html -p h200
    err_is "ucudnn-plan show: h200: the profile differs from the plan in device name"
    ucudnn-plan show a.plan --html other.html
    ok "a shipped one is told" grep -F \
        "Not drawn: h200: the profile differs from the plan in device name." \
        other.html
else
    skip "a profile of another device" "no profiles/h200.profile"
fi
expect 6 "no such profile" \
    ucudnn-plan show a.plan --html a.html -p ./none.profile
ok "the page is as it was then, too" cmp a.html before.html
if [ -c /dev/full ]; then
    expect 6 "a full disk" ucudnn-plan show a.plan --html /dev/full
    err_is "ucudnn-plan show: /dev/full: No space left on device"
else
    skip "a full disk" "no /dev/full"
fi
expect 0 "a page to a pipe" env UCUDNN_DATA_DIR="$scratch/data" sh -c \
    'rm data/profiles/*; ucudnn-plan show one.plan --html /dev/stdout | cat >piped.html'
ok "is the same" cmp one.html piped.html
ok "no temporary file is left" [ -z "$(ls | grep tmp)" ]

# What the page lets in.
ok "names are escaped" grep -F "&lt;script&gt;alert(2)&lt;/script&gt;" a.html
for hostile in '<img' '<b[ >]' '<i>' 'alert\(2\)</script>' '<script>alert'; do
    ok "no $hostile" absent "$hostile" a.html
done
ok "nothing is fetched" \
    absent '(src|href)="[^#]|url\(|@import|https?://' a.html
ok "one script" [ "$(grep -c '<script' a.html)" -eq 1 ]

# In a browser.
browser=$(command -v chromium || command -v chromium-browser)
if [ -z "$browser" ]; then
    skip "the page in a browser" "no chromium"
    finish
    exit
fi

# browse FILE: its document after its scripts ran into out, messages into err.
browse()
{
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu \
        --disable-dev-shm-usage --user-data-dir="$scratch/browser" \
        --enable-logging=stderr --virtual-time-budget=4000 --dump-dom \
        "file://$scratch/$1" >out 2>err </dev/null
}

# frame PAGE WIDTH >WRAPPER: the page in a frame of that width, looked at.
frame()
{
    printf '<!DOCTYPE html><body><iframe id="f" style="border:0;'
    printf 'width:%spx;height:900px" srcdoc="' "$2"
    sed -e 's/&/\&amp;/g' -e 's/"/\&quot;/g' "$1"
    cat <<'END'
"></iframe><pre id="seen">nothing</pre><script>
document.getElementById("f").addEventListener("load", (event) => {
  const page = event.target.contentDocument;
  const width = event.target.contentWindow.innerWidth;
  const out = [...page.body.querySelectorAll("*")].filter((element) =>
    element.getBoundingClientRect().right > width + 0.5);
  const table = page.querySelector("table");
  const times = () => [...table.tBodies[0].rows].map(
    (row) => Number(row.cells[7].dataset.v));
  const button = [...table.tHead.querySelectorAll("button")].find(
    (candidate) => candidate.textContent === "time");
  const rises = (list) => list.every((v, i) => i == 0 || list[i - 1] <= v);
  const before = rises(times());
  button.click();
  const up = rises(times());
  button.click();
  const down = rises(times().reverse());
  document.getElementById("seen").textContent = [
    "width " + width,
    "scrolls " + (page.documentElement.scrollWidth > width),
    "sticks out " + out.map((element) => element.tagName).join(" "),
    "rows " + times().length,
    "sorted " + [before, up, down].join(" "),
    "layer " + page.querySelector("td.layer").textContent.length,
  ].join("\n");
});
</script>
END
}

no_message()
{
    ! grep "CONSOLE" err
}

# The browser tells of what goes wrong, or else the rest would prove nothing.
echo '<!DOCTYPE html><script>nonsense();</script>' >wrong.html
browse wrong.html
if ! grep -q "CONSOLE.*nonsense is not defined" err; then
    skip "the page in a browser" "$browser does not run here"
    show_file err | head -n 5
    finish
    exit
fi
browse a.html
ok "the page gives no message" no_message
for width in 1280 400; do
    frame a.html $width >frame.html
    browse frame.html
    cp out frame.out
    ok "$width: no message" no_message
    for seen in "width $width" "scrolls false" "sticks out \$" \
        "rows 8" "sorted false true true"; do
        ok "$width: $seen" grep -E "(^|>)$seen" frame.out ||
            sed -n '/<pre id="seen"/,/<\/pre>/s/^/# /p' frame.out | tail -n 8
    done
done
# The same look sees what does stick out.
sed 's/<footer>/<p style="width:2000px">wide<\/p><footer>/' a.html >wide.html
frame wide.html 400 >frame.html
browse frame.html
ok "a page that is too wide is seen" grep "scrolls true" out

finish
