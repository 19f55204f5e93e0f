# dump and restore: profiles and plans as text, and back.
. "$abs_top_srcdir/tests/lib.sh"

make=$abs_top_builddir/tests/db_make
[ -x "$make" ] || skip_all "tests/db_make was not built"
"$make" plan a.plan && "$make" profile 'a b#c?d%20e.profile' || exit 99
mv 'a b#c?d%20e.profile' a.profile

# contents PROFILE: its measurements by SQLite alone, to the last bit.
contents()
{
    sqlite3 "$1" "
        SELECT e.device, e.compute_capability, e.multiprocessors,
            e.memory_bytes, e.cudnn, e.cuda, e.driver, p.text, m.micro_batch,
            m.accumulate, k.text, o.text, r.text, m.notes, m.workspace_bytes,
            m.time_ns, m.spread_ns, m.host_ns, printf('%!.20g', m.error),
            m.calls, hex(m.samples), m.measured_at
        FROM measurement AS m JOIN environment AS e ON e.id = m.environment
        JOIN problem AS p ON p.id = m.problem
        JOIN kernel AS k ON k.id = m.kernel
        JOIN outcome AS o ON o.id = m.outcome
        LEFT JOIN reason AS r ON r.id = m.reason
        ORDER BY 5, 7, 8, 9, 10, 11"
}

for file in a.plan a.profile; do
    expect 0 "$file is dumped" ucudnn-plan dump "$file"
    ok "to a line a record, the last being end" [ "$(tail -n 1 out)" = end ]
    mv out first.txt
    expect 0 "$file is restored" ucudnn-plan restore first.txt -o "b #?%20.$$"
    expect 0 "and dumped again" ucudnn-plan dump "b #?%20.$$"
    ok "to the same text" same first.txt out
    rm "b #?%20.$$"
done
ok "a dump goes through a pipe" sh -c \
    'ucudnn-plan dump a.plan | ucudnn-plan restore -o b.plan &&
     ucudnn-plan show b.plan >b && ucudnn-plan show a.plan | cmp - b'
ok "and - is standard input" sh -c \
    'ucudnn-plan dump a.plan | ucudnn-plan restore - -o b.plan'

if command -v sqlite3 >/dev/null; then
    name=a.profile
    if [ -e "$UCUDNN_DATA_DIR/profiles/h200.profile" ]; then
        name=$UCUDNN_DATA_DIR/profiles/h200.profile
    fi
    ucudnn-plan dump "$name" | ucudnn-plan restore -o c.profile
    contents "$name" >contents.before
    contents c.profile >contents.after
    ok "there is something to compare" [ -s contents.before ]
    ok "SQLite finds the same in both files" \
        cmp contents.before contents.after
    # A column that a dump does not hold would be lost.
    # columns FILE TABLE WORD COLUMN...: every column of the table but these is
    # a field of the word.
    columns()
    {
        sqlite3 "$1" "SELECT name FROM pragma_table_info('$2')" >names
        ucudnn-plan dump "$1" | grep "^$3" | tr '\t' '\n' |
            sed -n 's/=.*//p' | sort -u >fields
        shift 3
        # Which are where the line stands, and another name.
        printf '%s\n' environment plan operation position samples "$@" >>fields
        [ -s names ] && ! grep -vxF -f fields names
    }
    sqlite3 a.profile "INSERT INTO search (environment, problem, micro_batch,
        accumulate, api, found, pruned, left_out, searched_at)
        VALUES (1, 1, 1, 0, 'graph', 2, 1, 0, 0)"
    ok "every column of a measurement is in the text" \
        columns a.profile measurement measurement
    ok "every column of a search" columns a.profile search search
    ok "every column of a plan but its number and sums" columns a.plan plan \
        plan id predicted_ns undivided_ns unlimited_ns workspace_bytes
    ok "every column of a micro-batch" columns a.plan micro_batch micro-batch
else
    skip "SQLite finds the same in both files" "no sqlite3 shell"
fi

expect 1 "an output is needed" ucudnn-plan restore first.txt
err_is "ucudnn-plan restore: --output is needed"
expect 6 "a dump that is not there" ucudnn-plan restore none.txt -o b.plan
err_is "ucudnn-plan restore: none.txt: No such file or directory"
expect 6 "a file that is not there" ucudnn-plan dump none.plan
err_one_line
cp b.plan before.plan
sed 's/outcome=measured/outcome=good/' first.txt >bad.txt
expect 1 "a malformed dump" ucudnn-plan restore bad.txt -o new.profile
err_is 'ucudnn-plan restore: bad.txt:3: outcome: "good" is no outcome'
ok "leaves nothing" [ ! -e new.profile ]
ucudnn-plan dump a.plan | sed 's/size=64/size=65/' >bad.txt
expect 1 "a malformed dump of plans" ucudnn-plan restore bad.txt -o b.plan
ok "leaves what was there" cmp b.plan before.plan
expect 1 "an empty dump" ucudnn-plan restore /dev/null -o b.plan
err_is "ucudnn-plan restore: /dev/null:1: the text ends before its line \"end\""
echo text >text.plan
ucudnn-plan dump a.plan >good.txt
expect 6 "a file of another kind is not replaced" \
    ucudnn-plan restore good.txt -o text.plan
err_one_line
ok "and left as it is" [ "$(cat text.plan)" = text ]
# SQLite would play them back over what takes the name.
for end in journal wal; do
    for kind in plan profile; do
        ucudnn-plan dump a.$kind >good.txt
        rm -f c.$kind
        echo "a dead writer's" >c.$kind-$end
        expect 6 "a $kind does not take the name of a -$end's file" \
            ucudnn-plan restore good.txt -o c.$kind
        err_is "ucudnn-plan restore: c.$kind: a program is making it, or was killed: there is a -$end file beside it"
        ok "it has none then" [ ! -e c.$kind ]
        rm c.$kind-$end
    done
done
ok "no temporary files are left" [ -z "$(ls -A | grep '^\.ucudnn')" ]

finish
