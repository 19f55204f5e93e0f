# The README's two commands for a fresh machine: there, each on one line, and
# the first one's planning works with the program as built.
. "$abs_top_srcdir/tests/lib.sh"

sed -n 's/^    //p' "$abs_top_srcdir/README.md" >commands
sed -n 1p commands >first
sed -n 2p commands >second

ok "the first bootstraps, builds, plans and shows" grep -Eqx \
    './bootstrap && ./configure && make -j2 && ./ucudnn-plan plan .* && ./ucudnn-plan show .*' first
ok "the second bootstraps, builds and tests" grep -qx \
    './bootstrap && ./configure && make -j2 check' second

if [ -e "$UCUDNN_DATA_DIR/profiles/h200.profile" ]; then
    sed 's/.* make -j2 && //; s,\./ucudnn-plan,ucudnn-plan,g' first >planning
    expect 0 "the first prints a plan" sh planning
    out_has alexnet
else
    skip "the first prints a plan" "no profiles/h200.profile"
fi

# The pictures' texts say what the profile says, and their command works.
sed -n 's/^\(ucudnn-plan sweep .*\) --svg .*/\1/p' \
    "$abs_top_srcdir/README.md" >sweep
ok "there is a sweep" [ "$(wc -l <sweep)" -eq 1 ]
if [ -e "$UCUDNN_DATA_DIR/profiles/h200.profile" ]; then
    for network in alexnet resnet18; do
        ok "README-$network.svg is there" \
            grep -q '^<svg ' "$abs_top_srcdir/README-$network.svg"
        sed "s/alexnet/$network/" sweep >command
        expect 0 "the sweep of $network" sh command
        times=$(awk '/asked for/ { print $4, $5 " planned, " $7, $8; exit }' \
            out)
        ok "is told as it is: $times" grep -F "64 MiB per operation $times" \
            "$abs_top_srcdir/README.md"
    done
else
    skip "the sweeps" "no profiles/h200.profile"
fi

finish
