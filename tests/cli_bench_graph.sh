# bench with the engines of the graph API, on the double. Its engines, their
# cost and workspaces are in tests/double/README; times are simulated, so what
# is hopeless follows from the table there.
. "$abs_top_srcdir/tests/lib.sh"

double_present || skip_all "built without CUDA and cuDNN headers"
command -v sqlite3 >/dev/null || skip_all "no sqlite3"

cat >net.json <<'END'
{ "name": "net", "batch": 64, "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [9, 9], "c": 4, "k": 4,
                         "operations": ["forward"] } } }
END
cat >cube.json <<'END'
{ "name": "cube", "batch": 4, "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [4, 4, 4], "c": 4, "k": 4 } } }
END
UC_DOUBLE_LOG=$scratch/log
export UC_DOUBLE_LOG

bench()
{
    with_double ucudnn-plan bench "$@"
}

query()
{
    sqlite3 "$1" "$2"
}

# Sizes at which a kernel has a row, falling.
sizes="SELECT group_concat(micro_batch, ' ') FROM (SELECT micro_batch
    FROM readable WHERE kernel = "

expect 0 "both APIs are measured" bench --profile p net.json
out_has " kernels were hopeless at larger sizes and not measured"
ok "no misuse of CUDA or cuDNN" test -z "$(grep ' misuse ' log)"
: >log
expect 0 "a second run has nothing to do" bench --profile p net.json
measured_nothing " in "
ok "nothing runs twice" test -z "$(grep -e ' convolution ' -e ' plan ' log)"
expect 0 "nor has a dry run" bench --profile p --dry-run net.json
measured_nothing ", about 0 s"

# Engine 1 with tile 4 takes 3,000 + 0.64 M ns and 7,776 N bytes, engine 2 takes
# 2,500 + 0.6 M and 65,536 + 1,296 N, which is less from 16 images on.
query_is "an engine beaten twice is not measured where it would be again" p \
    "$sizes 'eng1 k2=4 k3=0' ORDER BY micro_batch DESC)" "64 32 8 4 2 1"
query_is "its conqueror is" p \
    "$sizes 'eng2' ORDER BY micro_batch DESC)" "64 32 16 8 4 2 1"
query_is "the records say so" p "SELECT group_concat(pruned > 0, ' ') FROM (SELECT
    pruned FROM search WHERE api = 'graph' ORDER BY micro_batch DESC)" \
    "0 0 1 0 0 0 0"
query_is "no fma engine has tensor cores" p "SELECT count(*) FROM readable
    WHERE kernel LIKE 'eng%' AND notes & 2" 0
query_is "engines that are compiled are slow to build" p "SELECT count(*)
    FROM readable WHERE kernel LIKE 'eng12%' AND build_ns < 5000000" 0
query_is "legacy kernels are built by nobody" p "SELECT count(*) FROM readable
    WHERE kernel NOT LIKE 'eng%' AND build_ns > 0" 0
query_is "all is right" p "SELECT count(*) FROM readable
    WHERE outcome NOT IN ('measured', 'unsupported', 'cut-off')" 0
query_is "engines that are cut off keep no samples" p "SELECT count(*)
    FROM measurement JOIN kernel ON kernel.id = kernel
    JOIN outcome ON outcome.id = outcome WHERE kernel.text LIKE 'eng%'
    AND (outcome.text = 'cut-off') = (samples IS NOT NULL)" 0

expect 0 "an exhaustive run measures the rest" \
    bench --profile p --exhaustive net.json
query_is "at every size" p \
    "$sizes 'eng1 k2=4 k3=0' ORDER BY micro_batch DESC)" "64 32 16 8 4 2 1"
query_is "and the records say that, too" p \
    "SELECT sum(pruned) FROM search WHERE api = 'graph'" 0
expect 0 "and leaves nothing" bench --profile p --exhaustive net.json
measured_nothing " in "

expect 0 "the legacy API alone" bench --profile l --api legacy net.json
query_is "has no engines" l "SELECT count(*) FROM kernel WHERE text LIKE 'eng%'" 0
expect 0 "the graph API alone" bench --profile g --api graph net.json
query_is "has no algorithms" g \
    "SELECT count(*) FROM kernel WHERE text NOT LIKE 'eng%'" 0
expect 0 "what one has not, the other adds" bench --profile l net.json
query_is "engines were added" l "SELECT count(*) > 0 FROM kernel
    WHERE text LIKE 'eng%'" 1
expect 1 "another API is no API" bench --profile l --api cuda net.json
err_one_line

expect 0 "compiled engines can be left out" \
    bench --profile n --no-runtime-compiled net.json
query_is "there are none" n "SELECT count(*) FROM kernel WHERE text LIKE 'eng12%'" 0
expect 0 "and added" bench --profile n net.json
query_is "there are some" n "SELECT count(*) > 0 FROM readable
    WHERE kernel LIKE 'eng12%'" 1

expect 0 "tf32 takes tensor cores" bench --profile t --math tf32 net.json
query_is "no inputs are rounded to half" t "SELECT count(*) FROM kernel
    WHERE text LIKE 'eng8%'" 0
query_is "nor are other kernels shut out" t "SELECT count(DISTINCT notes & 2)
    FROM readable WHERE kernel LIKE 'eng%'" 2
expect 0 "unless that is allowed" \
    bench --profile t --math tf32 --allow down-convert net.json
query_is "then they are" t "SELECT count(*) > 0 FROM readable
    WHERE kernel LIKE 'eng8%' AND outcome = 'measured'" 1

UC_DOUBLE_CUDNN_VERSION=91402
export UC_DOUBLE_CUDNN_VERSION
expect 0 "engines known to be bad" bench --profile b cube.json
out_has " engines are known to be bad and were not measured"
query_is "are not measured" b "SELECT group_concat(DISTINCT
    substr(problem, 1, instr(problem, ':') - 1)) FROM readable
    WHERE kernel LIKE 'eng23%'" backward-filter
unset UC_DOUBLE_CUDNN_VERSION
expect 0 "in a version without the fault they are" bench --profile c cube.json
query_is "for every operation" c "SELECT count(DISTINCT problem) FROM readable
    WHERE kernel LIKE 'eng23%'" 3

# fault FAULT NAME [OPTION...]: a run with it into a fresh profile f.
fault()
{
    rm -f f
    UC_DOUBLE_FAULT=$1
    export UC_DOUBLE_FAULT
    fault_name=$2
    shift 2
    expect 0 "$fault_name" bench --profile f --api graph "$@" net.json
    unset UC_DOUBLE_FAULT
}

outcome="SELECT kernel || ' ' || micro_batch || ' ' || outcome FROM readable
    WHERE outcome NOT IN ('measured', 'cut-off')"
fault 'crash:algorithm=eng1,n=32' "an engine that crashes"
query_is "costs a row for each of its configurations" f \
    "SELECT count(*) FROM readable WHERE outcome = 'crashed'" 3
fault 'crash:algorithm=eng9,n=8,call=build' \
    "one that crashes when it is built"
query_is "is known to" f "$outcome" "eng9 8 crashed"
fault 'hang:algorithm=eng9,n=8' "one that hangs" --kernel-timeout 4
query_is "is known to hang" f "$outcome" "eng9 8 timed-out"
fault 'wrong:algorithm=eng9,n=8' "one that is wrong"
query_is "is found out" f "$outcome" "eng9 8 wrong"
fault 'fail:algorithm=eng9,n=8,call=build,status=3000' \
    "one that has no plan after all"
query_is "needs no row" f "SELECT count(*) FROM readable WHERE kernel = 'eng9'
    AND micro_batch = 8" 0
expect 0 "and is not missed" bench --profile f --api graph net.json
measured_nothing " in "

rm -f f
UC_DOUBLE_FAULT='crash:call=advise,n=8'
export UC_DOUBLE_FAULT
expect 0 "a search that crashes" bench --profile f net.json
unset UC_DOUBLE_FAULT
out_has "1 searches for graph engines failed (signal 11"
query_is "costs the engines of one size" f "SELECT group_concat(DISTINCT micro_batch)
    FROM readable WHERE kernel LIKE 'eng%' AND micro_batch IN (4, 8, 16)" "4,16"
query_is "and no legacy kernel" f "SELECT count(*) FROM readable
    WHERE micro_batch = 8 AND kernel NOT LIKE 'eng%'" 8
expect 0 "the next run searches again" bench --profile f net.json
query_is "and finds them" f "SELECT count(*) > 0 FROM readable
    WHERE kernel LIKE 'eng%' AND micro_batch = 8" 1
expect 0 "then nothing is left" bench --profile f net.json
measured_nothing " in "

rm -f f
expect 0 "what there is" bench --profile f --api graph --exhaustive net.json
found=$(query f "SELECT count(*) FROM readable")
for size in 8 16; do
    rm -f f
    UC_DOUBLE_FAULT="fail:call=advise,n=$size,status=1003"
    export UC_DOUBLE_FAULT
    expect 0 "a search that cuDNN fails in at $size" \
        bench --profile f --api graph --exhaustive net.json
    unset UC_DOUBLE_FAULT
    out_has "searches for graph engines failed"
    expect 0 "is made again" bench --profile f --api graph --exhaustive net.json
    query_is "and finds all" f "SELECT count(*) FROM readable" "$found"
done

# A killed run: it hangs at size 4, behind four finished sizes.
rm -f f
UC_DOUBLE_FAULT='hang:algorithm=eng9,n=4'
export UC_DOUBLE_FAULT
with_double ucudnn-plan bench --profile f --api graph net.json 2>/dev/null &
killed=$!
tries=0
while [ $tries -lt 400 ] &&
    [ "$(query f "SELECT count(*) FROM search" 2>/dev/null)" != 4 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
sleep 0.2
kill -9 $killed
wait $killed 2>/dev/null
unset UC_DOUBLE_FAULT
before=$(query f "SELECT count(*) FROM measurement")
expect 0 "a run goes on where another was killed" \
    bench --profile f --api graph net.json
done_again=$(sed -n 's/^\([0-9]*\) measurements.*/\1/p' out)
query_is "without measuring anything twice" f "SELECT count(*) FROM measurement" \
    "$((before + done_again))"
expect 0 "until all is there" bench --profile f --api graph net.json
measured_nothing " in "
query_is "as in a run that was not killed" f "SELECT count(*) FROM measurement" \
    "$(query g "SELECT count(*) FROM measurement")"

expect 0 "a dry run says what is to be searched" \
    bench --profile none --dry-run net.json
out_has "batch 32: 8 kernels, graph engines to be searched"
ok "with the engines that they find" \
    grep -q "s, [0-9]* searches for graph engines (about 25 measured in each), about [0-9]* s on one GPU$" out

mkdir data
ln -s "$abs_top_srcdir/db/networks" data/networks
echo "forward 9d eng1 9.0.0 - x" >data/known-bad-engines
UCUDNN_DATA_DIR=$scratch/data
expect 1 "a broken list of bad engines is told" bench --profile q net.json
err_is "ucudnn-plan bench: $scratch/data/known-bad-engines:1: dimensions are \
1d, 2d or 3d"
rm data/known-bad-engines
expect 6 "a missing one, too" bench --profile q net.json
err_one_line
expect 0 "the legacy API needs none" bench --profile q --api legacy net.json

finish
