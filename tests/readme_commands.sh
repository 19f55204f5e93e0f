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

finish
