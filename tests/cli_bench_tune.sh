# bench --tune on the double: engine 1 is fastest with tile 4, which below 8
# images no heuristic says: it says 3, a ninth slower (tests/double/README).
. "$abs_top_srcdir/tests/lib.sh"

double_present || skip_all "built without CUDA and cuDNN headers"
command -v sqlite3 >/dev/null || skip_all "no sqlite3"

cat >net.json <<'END'
{ "name": "net", "batch": 4, "defaults": { "filter": 5, "pad": 2 },
  "layers": { "conv1": { "in": [9, 9], "c": 4, "k": 4,
                         "operations": ["forward", "backward-filter"] } } }
END
UC_DOUBLE_LOG=$scratch/log
export UC_DOUBLE_LOG

bench()
{
    with_double ucudnn-plan bench --no-runtime-compiled "$@"
}

# The fastest engines at any size and beta case, with their first knob.
fastest="SELECT group_concat(DISTINCT substr(kernel, 1, 9)) FROM (SELECT kernel,
    min(time_ns)
    FROM readable WHERE outcome = 'measured' AND kernel LIKE 'eng%'
    GROUP BY problem, micro_batch, accumulate)"

# total PROFILE: predicted for the network, in ns.
total()
{
    rm -f plan
    ucudnn-plan plan net.json --profile "$1" --workspace-limit 64M --api graph \
        --offline --quiet -o plan && ucudnn-plan show plan --json |
        sed -n 's/.*"predicted_ns": \([0-9]*\).*/\1/p' | head -n 1
}

expect 0 "the heuristics' engines are measured" bench --profile p net.json
query_is "the fastest is what a heuristic says" p "$fastest" "eng1 k2=3"
total p >before
cp p untuned
query_is "nothing is tuned" p "SELECT max(tuned) FROM search" 0
expect 0 "a dry run says what tuning would do" \
    bench --profile p --tune --dry-run net.json
out_has "graph engines to be tuned"
measured_nothing ", 8 tunings of them (about 40), about "
expect 0 "and of a new profile all" \
    bench --profile none --tune --dry-run net.json
ok "searches, and as many tunings" grep -q "measurements, 8 searches for graph engines (about 25 measured in each), 8 tunings of them (about 40), about" out

: >log
expect 0 "what is there can be tuned" bench --profile p --tune net.json
query_is "the fastest is the one with its knob turned" p "$fastest" "eng1 k2=4"
total p >after
ok "the plan is faster" test "$(cat after)" -lt "$(cat before)"
query_is "every search of engines is tuned" p \
    "SELECT min(tuned) FROM search WHERE api = 'graph'" 1
query_is "all is right" p "SELECT count(*) FROM readable
    WHERE outcome NOT IN ('measured', 'unsupported', 'cut-off')" 0
ok "no misuse of CUDA or cuDNN" test -z "$(grep ' misuse ' log)"
: >log
expect 0 "a second run has nothing to do" bench --profile p --tune net.json
measured_nothing " in "
ok "nothing runs twice" test -z "$(grep -e ' convolution ' -e ' plan ' log)"
expect 0 "nor has one without tuning" bench --profile p net.json
measured_nothing " in "

expect 0 "all at once finds the same" bench --profile q --tune net.json
query_is "the same is the fastest" q "$fastest" "eng1 k2=4"
total q >once
ok "the plan is the same" cmp after once

expect 0 "a compacted profile" ucudnn-plan merge --compact -o c p
total c >compacted
ok "plans as before" cmp after compacted
expect 0 "merged with what was before" ucudnn-plan merge -o both c untuned
query_is "it is tuned as it was" both \
    "SELECT sum(tuned) FROM search" \
    "$(sqlite3 c "SELECT sum(tuned) FROM search")"
expect 0 "is tuned" bench --profile c --tune net.json
measured_nothing " in "

expect 0 "the time is up" bench --profile r --tune --time-budget 0.2 net.json
out_has "micro-batch sizes are left"
expect 0 "and it goes on" bench --profile r --tune net.json
query_is "to the same end" r "$fastest" "eng1 k2=4"
expect 0 "of the legacy API nothing is tuned" \
    bench --profile l --tune --api legacy net.json
query_is "there are no engines" l \
    "SELECT count(*) FROM kernel WHERE text LIKE 'eng%'" 0
# crashed PROFILE: configurations of engine 1 that died at 2 images.
crashed()
{
    sqlite3 "$1" "SELECT count(*) FROM readable WHERE outcome = 'crashed'
        AND kernel LIKE 'eng1 %' AND micro_batch = 2"
}

UC_DOUBLE_FAULT='crash:algorithm=eng1,n=2,op=forward'
export UC_DOUBLE_FAULT
expect 0 "an engine crashes at a size" bench --profile e --policy 2 net.json
expect 0 "and its knobs are not turned there" \
    bench --profile f --tune --policy 2 net.json
ok "it crashed as often, and did" sh -c '[ "$1" -gt 0 ] && [ "$1" = "$2" ]' \
    - "$(crashed e)" "$(crashed f)"
unset UC_DOUBLE_FAULT
expect 1 "a refresh does not search" \
    bench --profile p --tune --refresh 2026-01-01 net.json
err_is "ucudnn-plan bench: --refresh does not go with --remeasure, --exhaustive and --tune"

finish
