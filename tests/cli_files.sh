# Damaged, foreign and unreachable files: every command that reads or writes
# them says one clear line and exits with 6, and never crashes.
. "$abs_top_srcdir/tests/lib.sh"

make=$abs_top_builddir/tests/profile_make
[ -x "$make" ] || skip_all "tests/profile_make was not built"

cat >tiny.json <<'END'
{ "name": "tiny", "batch": 4, "dtype": "fp32", "math": "fma",
  "layout": "nchw", "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [9, 9], "c": 3, "k": 4 } } }
END
"$make" good.profile tiny.json power-of-two &&
    ucudnn-plan plan tiny.json -p good.profile -w 1M --offline -q \
        -o good.plan || exit 99

# readers KIND FILE: each command that reads a file of the kind, a line each.
readers()
{
    echo "show $2"
    echo "show --json $2"
    echo "dump $2"
    case $1 in
    profile)
        echo "plan tiny.json -w 1M --offline -q -p $2"
        echo "bench tiny.json --dry-run -p $2"
        echo "merge -q -o out.profile good.profile $2"
        echo "compare good.profile $2"
        ;;
    plan)
        echo "compare good.plan $2"
        echo "run $2 -- true"
        ;;
    esac
}

# writers KIND FILE: each command that writes one.
writers()
{
    case $1 in
    profile)
        echo "restore profile.txt -o $2"
        echo "merge -q -o $2 good.profile"
        ;;
    plan)
        echo "restore plan.txt -o $2"
        echo "plan tiny.json -w 1M --offline -q -p good.profile -o $2"
        ;;
    esac
}
ucudnn-plan dump good.plan >plan.txt && ucudnn-plan dump good.profile \
    >profile.txt || exit 99

# refuse COMMANDS...: each of these lines is refused.
refuse()
{
    refuse_bad=
    while IFS= read -r refuse_line; do
        # shellcheck disable=SC2086 # a line's words
        ucudnn-plan $refuse_line >out 2>err </dev/null
        refuse_status=$?
        if [ $refuse_status -ne 6 ] || [ "$(wc -l <err)" -ne 1 ]; then
            echo "status $refuse_status: ucudnn-plan $refuse_line"
            cat err
            refuse_bad=yes
        fi
    done <"$1"
    [ -z "$refuse_bad" ]
}

: >empty
echo "some text, as it stands in a letter" >text
head -c 4096 /dev/urandom >noise
for kind in profile plan; do
    size=$(wc -c <good.$kind)
    head -c $((size / 2)) good.$kind >half.$kind
    head -c $((size - 1)) good.$kind >short.$kind
    head -c 50 good.$kind >head.$kind
    for file in empty text noise half.$kind short.$kind head.$kind \
        none.$kind .; do
        readers $kind $file >lines
        # There is nothing to be measured yet: a profile is made.
        [ $file != none.profile ] || sed -i '/^bench/d; /^plan/d' lines
        ok "$kind: $file is refused by all that read it" refuse lines
    done
    if command -v sqlite3 >/dev/null; then
        rm -f foreign
        sqlite3 foreign 'CREATE TABLE t (x); INSERT INTO t VALUES (1)'
        readers $kind foreign >lines
        writers $kind foreign >>lines
        cp foreign foreign.before
        ok "$kind: another program's database is refused by all" refuse lines
        ok "and is as it was" cmp foreign foreign.before
    else
        skip "$kind: another program's database is refused" "no sqlite3 shell"
    fi
    cp text text.before
    { writers $kind text; writers $kind none/x; writers $kind .; } >lines
    ok "$kind: nothing is written over a text, a folder, into none" refuse lines
    ok "and the text is as it was" cmp text text.before
done

# flip FILE OFFSET: one byte of it inverted, into the file flipped.
flip()
{
    flip_byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    cp "$1" flipped
    printf "\\$(printf %o $((255 - flip_byte)))" |
        dd of=flipped bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# flips KIND: bytes of every page; what is not refused is read to its end.
flips()
{
    flips_refused=0
    flips_size=$(wc -c <good.$1)
    flips_page=0
    while [ $flips_page -lt "$flips_size" ]; do
        for flips_at in 0 3 5 21 100 1500 3000 4090; do
            flip good.$1 $((flips_page + flips_at))
            ucudnn-plan dump flipped >out 2>err </dev/null
            flips_status=$?
            case $flips_status in
            0) [ ! -s err ] || return 1 ;;
            6) flips_refused=$((flips_refused + 1))
                [ "$(wc -l <err)" -eq 1 ] || return 1 ;;
            *) echo "status $flips_status at $flips_page + $flips_at"
                cat err
                return 1 ;;
            esac
            rm -f flipped-journal
        done
        flips_page=$((flips_page + 4096))
    done
    echo "$flips_refused refused"
    [ $flips_refused -gt 10 ]
}

for kind in profile plan; do
    ok "$kind: a flipped byte in any page is read or refused" flips $kind
done

# Names that SQLite or a shell could take for something else, in a folder too.
odd='a b #?%20&mode=ro'
mkdir "$odd"
for name in "$odd/$odd" "$odd" 'file:x?mode=memory' ':memory:' '%20' '#' '?'; do
    [ ! -d "$name" ] || name="./$name.2"
    for kind in profile plan; do
        ok "$kind: \"$name\" is a file like any other" sh -c '
            ucudnn-plan restore "$1.txt" -o "$2" &&
            [ -f "$2" ] && ucudnn-plan dump "$2" | cmp - "$1.txt" &&
            rm "$2"' - $kind "$name"
    done
done

# Limits on file sizes, as a full disk.
for kind in profile plan; do
    writers $kind limited.$kind >lines
    ok "$kind: a limit on file sizes is one line" sh -c '
        ulimit -f 4
        while IFS= read -r line; do
            ucudnn-plan $line 2>err
            [ $? -eq 6 ] && [ "$(wc -l <err)" -eq 1 ] || {
                echo "$line"; cat err; exit 1; }
        done <lines'
    ok "and nothing is left" [ ! -e limited.$kind ]
done
ok "no temporary files are left" [ -z "$(ls -A | grep '^\.ucudnn')" ]

finish
