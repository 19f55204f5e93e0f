# show of a profile: what can be planned from it without measuring.
. "$abs_top_srcdir/tests/lib.sh"

make=$abs_top_builddir/tests/profile_make
[ -x "$make" ] || skip_all "tests/profile_make was not built"

# networks: the rows of the table of networks.
networks()
{
    sed '1,/^network  /d' out | sed 's/   */  /g'
}

# A data folder of its own: two networks that ship, and one profile.
shipped=$UCUDNN_DATA_DIR
mkdir -p data/networks data/profiles
for name in one two; do
    cat >data/networks/$name.json <<END
{ "name": "$name", "batch": 8, "dtype": "fp32", "math": "fma",
  "layout": "nchw", "layers": {
    "conv1": { "in": [16, 16], "c": 8, "k": 8, "filter": 3, "pad": 1 },
    "$name": { "in": [16, 16], "c": 8, "k": 16, "filter": 1 } } }
END
done
sed -i 's/"k": 16/"k": 24/' data/networks/two.json
UCUDNN_DATA_DIR=$scratch/data
"$make" one.profile data/networks/one.json power-of-two engines || exit 99
expect 0 "a network of which all was measured" ucudnn-plan show one.profile
networks >rows
echo "one  fma  nchw  8  measured" >wanted
ok "is in the table, one of which some was is not" same wanted rows
ok "and plan can plan it without measuring" \
    ucudnn-plan plan one -p one.profile -w 1M --offline -q
expect 4 "and not the other" \
    ucudnn-plan plan two -p one.profile -w 1M --offline -q
ok "a profile that ships" \
    "$make" data/profiles/b.profile data/networks/two.json power-of-two
expect 4 "is told of when it has what lacks" \
    ucudnn-plan plan two -p one.profile -w 1M --offline -q
err_has "; the shipped profile b has two; bench could add them"
expect 4 "and what is alike" \
    ucudnn-plan plan two -p one.profile -w 1M --offline -q --policy all
err_has "; the shipped profile b has two with --policy power-of-two; "
ucudnn-plan dump data/profiles/b.profile |
    sed '/^environment/s/device=[^	]*/device=another/' >another
ok "of another device" \
    ucudnn-plan restore -o data/profiles/b.profile another
expect 4 "it has nothing" ucudnn-plan plan two -p one.profile -w 1M --offline -q
ok "and is not told of" [ -z "$(grep shipped err)" ]
rm data/profiles/b.profile
expect 0 "JSON" ucudnn-plan show one.profile --json
out_has '"largest_batch": 8'
out_has '"problems_without_engines": 0'

# Larger than the network's own batch, and without engines for some.
sed 's/"batch": 8/"batch": 16/' data/networks/two.json >larger.json
"$make" two.profile larger.json power-of-two || exit 99
ucudnn-plan merge one.profile two.profile -o both.profile >/dev/null
expect 0 "two networks" ucudnn-plan show both.profile
networks >rows
cat >wanted <<'END'
one  fma  nchw  8  measured
two  fma  nchw  16  not measured for 3 of 6 problems
END
ok "each with its batch and its engines" same wanted rows
ok "plan counts as many problems without engines" sh -c '
    ucudnn-plan plan two -p both.profile -w 1M --offline 2>&1 >/dev/null |
    grep -q "^no graph engines measured for 3 of 6 problems;"'
expect 0 "without engines" ucudnn-plan show two.profile
networks >rows
echo "two  fma  nchw  16  not measured" >wanted
ok "is said" same wanted rows

# A network of one's own, and no data at all.
sed 's/"c": 8/"c": 9/' data/networks/one.json >own.json
"$make" own.profile own.json undivided || exit 99
expect 0 "nothing that ships" ucudnn-plan show own.profile
out_has "networks      none that ships can be planned without measuring"
UCUDNN_DATA_DIR=$scratch/none
expect 0 "no folder of networks" ucudnn-plan show one.profile
out_has "networks      none that ships can be planned without measuring"

# The profiles that ship: the table agrees with what plan says.
UCUDNN_DATA_DIR=$shipped
for name in h200 h200-fp16; do
    if ! [ -e "$shipped/profiles/$name.profile" ]; then
        skip "the profile that ships" "no profiles/$name.profile"
        continue
    fi
    expect 0 "$name, which ships" ucudnn-plan show $name
    networks >rows
    while read -r network math layout batch engines; do
        ucudnn-plan plan $network -p $name -w 8G -m $math --layout $layout \
            -b $batch --offline >plan.out 2>notes
        ok "$network $math $layout $batch can be planned" [ $? -eq 0 ]
        notes=$(sed -n 's/^no graph engines measured for \(.* of .*\) problems;.*/\1/p' notes)
        case $engines in
        measured) ok "with engines" [ -z "$notes" ] ;;
        "not measured") ok "without engines" \
            [ "${notes% of *}" = "${notes#* of }" ] ;;
        *) ok "and $engines" \
            [ "$engines" = "not measured for $notes problems" ] ;;
        esac
    done <rows
    ok "at least two networks" [ "$(wc -l <rows)" -ge 2 ]
done

finish
