# sweep, and plan --target: every answer is what plan gives at that limit.
. "$abs_top_srcdir/tests/lib.sh"

make=$abs_top_builddir/tests/profile_make
[ -x "$make" ] || skip_all "tests/profile_make was not built"

cat >net.json <<EOF
{
  "name": "net", "batch": 8, "dtype": "fp32", "math": "fma",
  "layout": "nchw",
  "layers": {
    "stem": { "in": [16, 16], "c": 4, "k": 16, "filter": 3, "pad": 1,
              "operations": ["forward", "backward-filter"] },
    "body": { "in": [16, 16], "c": 16, "k": 16, "filter": 3, "pad": 1,
              "repeat": 3 }
  }
}
EOF
ok "a profile is made" "$make" a.profile net.json power-of-two

sweep()
{
    ucudnn-plan sweep --offline net.json "$@"
}

# points MODE: "limit predicted undivided" a line, of the JSON in the file
# sweep.json, whose indentation says where the list is.
points()
{
    awk -v mode="$1" '
        /^  "w[rd]": / { inside = index($0, "\"" mode "\"") }
        inside && /^    "points": / { listed = 1 }
        listed && /"(limit_bytes|predicted_ns|undivided_ns)"/ {
            gsub(/.*: |,$/, "")
            printf "%s%s", $0, ++n % 3 ? " " : "\n"
        }
        /^    \]/ { listed = 0 }' sweep.json
}

# member MODE NAME: the three numbers of "knee" or "asked".
member()
{
    awk -v mode="$1" -v name="\"$2\"" '
        /^  "w[rd]": / { inside = index($0, "\"" mode "\"") }
        inside && index($0, "    " name ": {") { found = 1 }
        found && /_(bytes|ns)"/ {
            gsub(/.*: |,$/, "")
            printf "%s%s", $0, ++n % 3 ? " " : "\n"
        }
        found && /}/ { exit }' sweep.json
}

# planned OPTION...: "predicted undivided" by plan and show, another path.
planned()
{
    rm -f point.plan
    ucudnn-plan plan --offline net.json -p a.profile -q -o point.plan "$@" ||
        return
    ucudnn-plan show --json point.plan | awk '
        /^  "(predicted|undivided)_ns"/ { gsub(/.*: |,$/, ""); print }' |
        paste -sd ' ' -
}

# points_are_plans OPTION FILE PLAN_OPTION...: each point is what plan says.
points_are_plans()
{
    option=$1 file=$2
    shift 2
    [ -s "$file" ] || return
    while read -r limit predicted undivided; do
        got=$(planned "$@" "$option" "$limit")
        if [ "$got" != "$predicted $undivided" ]; then
            echo "at $limit: $predicted $undivided, but plan says $got"
            return 1
        fi
    done <"$file"
}

# changes_are_all FILE PLAN_OPTION...: one byte below a point, plan still
# gives what the point before does.
changes_are_all()
{
    file=$1 before=
    shift
    [ -s "$file" ] || return
    while read -r limit predicted undivided; do
        if [ -n "$before" ]; then
            got=$(planned "$@" -w $((limit - 1)))
            [ "$got" = "$before" ] || {
                echo "below $limit: $before, but plan says $got"
                return 1
            }
        fi
        before="$predicted $undivided"
    done <"$file"
}

# falls FILE: limits rise, and times never do.
falls()
{
    awk 'NR > 1 && ($1 <= limit || $2 > time) { exit 1 }
        { limit = $1; time = $2 }' "$1"
}

# knee SHARE FILE: the first line that reaches this share of the best.
knee()
{
    awk -v share="$1" '
        { line[NR] = $0; time[NR] = $2
          if (!best || $2 < best) best = $2 }
        END {
            for (i = 1; i <= NR; i++)
                if (time[i] * share <= best) { print line[i]; exit }
        }' "$2"
}

# Reuse.
expect 0 "as JSON" sweep -p a.profile --min-gain 0 --json
cp out sweep.json
points wr >wr
ok "there are many limits" [ "$(wc -l <wr)" -gt 20 ]
ok "each is what plan gives" points_are_plans -w wr --min-gain 0
ok "and no change is left out" changes_are_all wr --min-gain 0
ok "times fall" falls wr
least=$(sed -n '1s/ .*//p' wr)
ok "nothing gains beyond the last" [ "$(planned -w 1T --min-gain 0)" = \
    "$(sed -n '$s/^[0-9]* //p' wr)" ]
ok "the knee is the first to reach 95%" \
    [ "$(member wr knee)" = "$(knee 0.95 wr)" ]
expect 0 "the usual target" sweep -p a.profile --min-gain 0.1 --json
ok "is told as it was given" grep -q '"target": 0.95,$' out
ok "so is the least gain" grep -q '"min_gain": 0.1,$' out
expect 0 "another target" sweep -p a.profile --min-gain 0 --json --target 60%
cp out sweep.json
ok "has another knee" [ "$(member wr knee)" = "$(knee 0.6 wr)" ]
expect 0 "a least gain" sweep -p a.profile --min-gain 20% --json
cp out sweep.json
points wr >gain
ok "each is what plan gives then" points_are_plans -w gain --min-gain 20%
ok "and answers differ" [ "$(cat wr)" != "$(cat gain)" ]
expect 0 "what it is chosen from" sweep -p a.profile --api legacy \
    --max-pieces 3 --min-gain 0
out_has "policy     power-of-two, legacy kernels only, at most 3 \
micro-batches, divided for any gain"
expect 0 "in JSON" sweep -p a.profile --allow down-convert --max-pieces 3 --json
ok "all of it" sh -c 'tr -d " \n" <out | grep -qF \
    "\"policy\":\"power-of-two\",\"deterministic\":false,\"apis\":[\"legacy\",\"graph\"],\"allow\":[\"down-convert\"],\"no_runtime_compiled\":false,\"min_gain\":0.01,\"max_pieces\":3,\"target\":0.9"'
for how in --deterministic "--policy undivided" "--max-pieces 2" \
    "--policy 4,2"; do
    # shellcheck disable=SC2086 # an option and its value
    expect 0 "$how" sweep -p a.profile $how --json
    cp out sweep.json
    points wr >how
    # shellcheck disable=SC2086
    ok "each is what plan $how gives" points_are_plans -w how $how
done
sweep -p a.profile --policy undivided --json >sweep.json
points wr >undivided
ok "the policy undivided divides nothing" awk '$2 != $3 { exit 1 }' undivided

# On a grid.
expect 0 "on a grid" sweep -p a.profile --grid 2 --json
cp out sweep.json
points wr >grid
ok "of halves between powers of two, behind the least" awk -v least="$least" '
    NR == 1 { if ($1 != least) exit 1; next }
    { n = $1; while (n % 2 == 0) n /= 2
      if (n != 1 && n != 3) exit 1 }' grid
ok "each is what plan gives there" points_are_plans -w grid
ok "it goes as far as anything changes" awk -v last="$(tail -n 1 wr |
    sed 's/ .*//')" 'END { exit !($1 >= last && $1 < 1.5 * last) }' grid
sweep -p a.profile --grid 2 >out
ok "and none is left out of the table" [ \
    "$(sed -n '/^workspace reuse/,/^workspace division/p' out |
        grep -c '[0-9]x')" -eq "$(wc -l <grid)" ]
expect 1 "a grid can be too fine" sweep -p a.profile --grid 1025
err_is "ucudnn-plan sweep: --grid: 1025 is more than 1024"

# Division.
exactly="--min-gain 0 --mip-gap 0"
# shellcheck disable=SC2086 # several words
expect 0 "divisions" sweep -p a.profile $exactly --grid 2 -w 65537 -t 65539 \
    --json
cp out sweep.json
points wd >wd
ok "of many totals" [ "$(wc -l <wd)" -gt 10 ]
# shellcheck disable=SC2086
ok "each is what plan gives of it" points_are_plans -t wd $exactly
ok "its times fall" falls wd
ok "its knee is the first to reach 95%" \
    [ "$(member wd knee)" = "$(knee 0.95 wd)" ]
total=$(member wd knee | sed 's/ .*//')
best=$(awk '!best || $2 < best { best = $2 } END { print best }' wd)
# shellcheck disable=SC2086
ok "one byte less does not" awk -v best="$best" \
    -v got="$(planned -t $((total - 1)) $exactly)" '
    BEGIN { split(got, ns); exit !(ns[1] * 0.95 > best) }'
# shellcheck disable=SC2086
ok "the total asked for" [ "$(member wd asked)" = \
    "65539 $(planned -t 65539 $exactly)" ]
ok "the limit asked for" [ "$(member wr asked)" = \
    "65537 $(planned -w 65537 --min-gain 0)" ]

# The table.
# rows: how many of out begin with a size; a table's first column.
rows()
{
    grep -c '^ *[0-9.]* [KMGTPE]*i*B  ' out
}
expect 0 "a table" sweep -p a.profile -w 65537 --all --min-gain 0
all=$(rows)
ok "with a row for each limit, and the one asked for" [ "$(
    sed '/^workspace division/,$d' out | grep -c '^ *[0-9.]* [KMGTPE]*i*B  ')" \
    -eq $(($(wc -l <wr) + 1)) ]
out_has "asked for"
out_has "knee"
expect 0 "a shorter table" sweep -p a.profile --min-gain 0
ok "has fewer rows" [ "$(rows)" -lt "$all" ]
out_has "(--all shows them all)"
out_has "knee"
out_has "95% of the best speed"
expect 0 "quietly" sweep -p a.profile -q
ok "nothing is printed" [ ! -s out ]

# What does not do.
expect 1 "a profile is needed" sweep
err_is "ucudnn-plan sweep: --profile is needed"
expect 4 "a batch that was not measured" sweep -p a.profile -b 16 -q
err_has "a.profile lacks 50 measurements of net; it has net up to batch 8; bench could add them (--offline does not measure)"
err_one_line
expect 3 "a limit that nothing fits" sweep -p a.profile -w 0 --deterministic
err_has "no configuration fits --workspace-limit 0: the least that would do is"
err_one_line
least=$(sed 's/.*would do is \([0-9]*\) bytes.*/\1/' err)
expect 0 "that least" sweep -p a.profile -w "$least" --deterministic
expect 3 "a total that nothing fits" sweep -p a.profile -t 0 --deterministic
err_has "no configuration fits --total-workspace 0"
expect 1 "two images of one name" sweep -p a.profile --svg a.svg --png a.svg
err_is "ucudnn-plan sweep: --svg and --png name one file"
ok "are not drawn" [ ! -e a.svg ]
expect 1 "a target of more than all" sweep -p a.profile --target 101%
err_one_line

# plan --target.
sweep -p a.profile --json >sweep.json
points wr >wr
for target in 0 0.5 80% 95% 99.9% 1; do
    share=$(echo "$target" | awk '{ print /%/ ? $0 / 100 : $0 + 0 }')
    rm -f t.plan
    expect 0 "a target of $target" ucudnn-plan plan --offline net.json \
        -p a.profile --target "$target" -o t.plan
    ok "is planned at the least limit that reaches it" [ \
        "$(ucudnn-plan show --json t.plan |
            sed -n 's/^  "limit_bytes": \([0-9]*\),/\1/p')" = \
        "$(knee "$share" wr | sed 's/ .*//')" ]
done
err_has "target 100% of the best speed"
bytes=$(ucudnn-plan show --json t.plan |
    sed -n 's/^  "limit_bytes": \([0-9]*\),/\1/p')
err_has "($bytes bytes) per operation"
expect 0 "quietly" ucudnn-plan plan --offline net.json -p a.profile \
    --target 95% -t 1M -q -o both.plan
ok "says nothing" [ ! -s err ]
ok "with a division" [ "$(ucudnn-plan show --json both.plan |
    grep -c '"mode": "w[rd]"')" -eq 2 ]
expect 1 "a target and a limit" ucudnn-plan plan --offline net.json \
    -p a.profile --target 95% -w 1M
err_is "ucudnn-plan plan: --target and --workspace-limit exclude each other"

# Images.
if ! sweep -p a.profile -q --svg a.svg 2>err; then
    expect 1 "without cairo" sweep -p a.profile --svg a.svg
    err_is "ucudnn-plan sweep: built without cairo, images cannot be drawn (Debian: libcairo2-dev, then ./configure again)"
    err_one_line
    ok "nothing is written" [ ! -e a.svg ]
    skip "images" "built without cairo"
    finish
    exit
fi
expect 0 "images" sweep -p a.profile -w 64K -t 1M --svg a.svg --png a.png
if command -v xmllint >/dev/null; then
    ok "the SVG is XML" xmllint --noout a.svg
    ok "of 800 by 470" [ "$(xmllint --xpath \
        'concat(/*/@width, " ", /*/@height)' a.svg | sed 's/pt//g')" = \
        "800 470" ]
else
    skip "the SVG is XML" "no xmllint"
fi
ok "the PNG is one" [ "$(od -An -tx1 -N8 a.png | tr -d ' ')" = \
    89504e470d0a1a0a ]
ok "and whole" [ "$(tail -c 8 a.png | od -An -tx1 | tr -d ' ')" = \
    49454e44ae426082 ]
expect 0 "under the largest limit" \
    sweep -p a.profile -w 9223372036854775807 --svg largest.svg
cp a.svg before.svg
expect 6 "a folder that is not there" \
    sweep -p a.profile --svg a.svg --png none/a.png
err_one_line
ok "the other image is as it was" cmp a.svg before.svg
cp a.profile before.profile
expect 6 "a profile is no place for an image" \
    sweep -p a.profile -q --svg a.profile
err_is "ucudnn-plan sweep: a.profile: is a database, which is not replaced"
ok "and stays" cmp a.profile before.profile
expect 1 "nor is the network" sweep -p a.profile -q --svg net.json
err_is "ucudnn-plan sweep: net.json: is the network itself"
if [ -c /dev/full ]; then
    expect 6 "a full disk" sweep -p a.profile -q --svg /dev/full
    err_is "ucudnn-plan sweep: /dev/full: No space left on device"
else
    skip "a full disk" "no /dev/full"
fi
ok "no temporary file is left" [ -z "$(ls | grep tmp)" ]

finish
