# merge: profiles of several machines as one.
. "$abs_top_srcdir/tests/lib.sh"

# row OUTCOME TIME SAMPLES DAY: a measurement in the text of a dump.
row()
{
    printf 'ucudnn-dump\tkind=profile\tversion=1\n'
    printf 'environment\tdevice=%s\tcompute_capability=90\t' "${device:-GPU}"
    printf 'multiprocessors=132\tmemory_bytes=1\tcudnn=91900\tcuda=13000\t'
    printf 'driver=\nmeasurement\tproblem=%s\tmicro_batch=1\t' \
        forward:fp32:fma:nchw:c1:k1:i9x9:f3x3
    printf 'accumulate=0\tkernel=%s\toutcome=%s\t' "implicit-gemm/fma" "$1"
    printf 'notes=0\tworkspace_bytes=0\ttime_ns=%s\tspread_ns=0\t' "$2"
    printf 'host_ns=0\tcalls=1\tsamples_ns=%s\t' "$3"
    printf 'measured_at=2025-11-%sT00:00:00Z\tbuild_ns=0\nend\n' "$4"
}

# kept RULE: outcome and time that stay of a.profile and b.profile.
kept()
{
    ucudnn-plan merge -q -o m.profile ${1:+--prefer $1} a.profile b.profile &&
        ucudnn-plan dump m.profile | tr '\t' '\n' |
        sed -n 's/^outcome=//p; s/^time_ns=//p' | tr '\n' ' '
}

row measured 30 1,2,3 01 | ucudnn-plan restore -o a.profile || exit 99
row measured 20 1,2 02 | ucudnn-plan restore -o b.profile || exit 99
ok "more samples by default" [ "$(kept '')" = "measured 30 " ]
ok "more samples" [ "$(kept more-samples)" = "measured 30 " ]
ok "the newest" [ "$(kept newest)" = "measured 20 " ]
ok "the faster" [ "$(kept faster)" = "measured 20 " ]
for outcome in wrong crashed out-of-bounds timed-out; do
    row $outcome 99 1 01 | ucudnn-plan restore -o b.profile || exit 99
    for rule in more-samples newest faster; do
        ok "$outcome is not lost by $rule" \
            [ "$(kept $rule)" = "$outcome 99 " ]
    done
done
# Of two such the graver stays, though the other one is newer, of more samples
# and faster.
lesser=timed-out
for outcome in crashed wrong out-of-bounds; do
    row $lesser 10 1,2,3 02 | ucudnn-plan restore -o a.profile || exit 99
    row $outcome 99 1 01 | ucudnn-plan restore -o b.profile || exit 99
    for rule in more-samples newest faster; do
        ok "$outcome is kept before $lesser by $rule" \
            [ "$(kept $rule)" = "$outcome 99 " ]
    done
    lesser=$outcome
done
row measured 30 1,2,3 01 | ucudnn-plan restore -o a.profile || exit 99

expect 0 "a summary" ucudnn-plan merge -o m.profile a.profile b.profile
out_has "1 measurements in 1 environment, 1 of them in several profiles"
out_has "1 stay wrong, out-of-bounds, crashed or timed-out"
device=Other
row measured 10 1 03 | ucudnn-plan restore -o other.profile || exit 99
expect 0 "another GPU is another environment" \
    ucudnn-plan merge --output a.profile a.profile other.profile
out_has "2 measurements in 2 environments"
expect 0 "both are known" ucudnn-plan show a.profile
out_has "Other"

expect 1 "an output is needed" ucudnn-plan merge a.profile
err_is "ucudnn-plan merge: --output is needed"
expect 1 "no such rule" ucudnn-plan merge --prefer best -o m.profile a.profile
err_has '"best" is none of more-samples, newest, faster'
expect 1 "nothing to merge" ucudnn-plan merge -o m.profile
cp m.profile before.profile
expect 6 "an input that is not there" \
    ucudnn-plan merge -o m.profile a.profile none.profile
err_is "ucudnn-plan merge: none.profile: No such file or directory"
ok "leaves the output" cmp m.profile before.profile
make=$abs_top_builddir/tests/db_make
if [ -x "$make" ] && "$make" plan a.plan; then
    expect 6 "a plan" ucudnn-plan merge -o m.profile a.profile a.plan
    err_has "a.plan: is a ucudnn plan, not a ucudnn profile"
fi
# Of every algorithm a row: the first two are of use, by time and workspace.
{
    row measured 30 1 01 | sed '/^measurement/d; /^end/d'
    n=0
    for kernel in implicit-gemm implicit-precomp-gemm gemm direct fft \
        fft-tiling winograd winograd-nonfused; do
        n=$((n + 1))
        row measured $((n == 2 ? 20 : 30 + n)) 1 01 | sed -n "/^measurement/{
            s,implicit-gemm/fma,$kernel/fma,
            s,workspace_bytes=0,workspace_bytes=$((n == 1 ? 0 : 50 * n)),p; }"
    done
    echo end
} | ucudnn-plan restore -o full.profile || exit 99
echo '{ "name": "tiny", "batch": 1, "layers": { "only": { "in": [9, 9], "c": 1,
    "k": 1, "filter": 3, "operations": ["forward"] } } }' >tiny.json
expect 0 "what no plan can need is left out" \
    ucudnn-plan merge --compact -o small.profile full.profile
out_has "2 measurements in 1 environment"
out_has "6 that no plan can need left out, and all samples"
for limit in 0 99 1K; do
    plan="ucudnn-plan plan tiny.json --offline --workspace-limit $limit"
    $plan --profile full.profile -o full.plan >full.out 2>&1
    expect 0 "a plan of the rest" $plan --profile small.profile -o small.plan
    ok "is the same with $limit" [ "$(grep ^predicted full.out)" = \
        "$(grep ^predicted out)" ]
done
expect 0 "a compacted one and one that is not" \
    ucudnn-plan merge --compact -o both.profile small.profile full.profile
ok "make the same" sh -c 'for p in small both; do
    ucudnn-plan dump $p.profile >$p.dump; done; cmp small.dump both.dump'

# Rows of a big profile do not come in the order of the file.
expect 0 "a big profile" ucudnn-plan merge -o big.profile h200
if command -v python3 >/dev/null; then
    cp big.profile vacuumed.profile
    python3 -c 'import sqlite3
sqlite3.connect("vacuumed.profile").execute("vacuum")'
    ok "has no room between rows" \
        [ "$(wc -c <big.profile)" -eq "$(wc -c <vacuumed.profile)" ]
else
    skip "has no room between rows" "no python3"
fi

if [ -c /dev/full ]; then
    cp full.profile before.profile
    expect 6 "a summary that cannot be written" sh -c 'exec ucudnn-plan merge \
        --compact -o full.profile full.profile >/dev/full'
    err_is "ucudnn-plan merge: standard output: No space left on device"
    ok "leaves the profile as it was" cmp full.profile before.profile
fi

ok "no temporary files are left" [ -z "$(ls -A | grep '^\.ucudnn')" ]

# Rows that nothing would read are not lost without a word.
if command -v sqlite3 >/dev/null; then
    "$make" profile lost.profile
    sqlite3 lost.profile 'PRAGMA foreign_keys = OFF;
        UPDATE measurement SET environment = 99'
    cp lost.profile before.profile
    expect 6 "rows of no environment" \
        ucudnn-plan merge -o lost.profile ./lost.profile
    err_has "lost.profile: malformed: "
    err_has " rows name what is not there"
    ok "and all is as it was" cmp lost.profile before.profile
    expect 6 "nor are they dumped" ucudnn-plan dump ./lost.profile
else
    skip "rows of no environment" "no sqlite3"
fi

finish
