# bench on the double: memory that runs out, references that fail, hangs, and
# kernels that a deterministic plan needs.
. "$abs_top_srcdir/tests/lib.sh"

double_present || skip_all "built without CUDA and cuDNN headers"

cat >tiny.json <<'END'
{ "name": "tiny", "batch": 6, "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [9, 9], "c": 3, "k": 4 } } }
END
cat >mixed.json <<'END'
{ "name": "mixed", "batch": 8, "defaults": { "filter": 3, "pad": 1 },
  "layers": { "big": { "in": [32, 32], "c": 8, "k": 8 },
              "small": { "in": [9, 9], "c": 3, "k": 4 } } }
END
all=49

bench()
{
    with_double ucudnn-plan bench --api legacy --exhaustive "$@"
}

# query SQL: one value of the profile p.
query()
{
    sqlite3 p "$1"
}

# rows OUTCOME COUNT: so many rows of the profile p have it.
rows()
{
    if command -v sqlite3 >/dev/null; then
        ok "$2 rows are $1" test "$2" = \
            "$(query "SELECT count(*) FROM readable WHERE outcome = '$1'")"
    else
        skip "$2 rows are $1" "no sqlite3"
    fi
}

# reason TEXT: the one bad row's reason in the profile p.
reason()
{
    if command -v sqlite3 >/dev/null; then
        ok "because: $1" test "$1" = \
            "$(query "SELECT reason FROM readable WHERE outcome IN ('crashed',
                'timed-out', 'out-of-bounds')")"
    else
        skip "because: $1" "no sqlite3"
    fi
}

# fault FAULT STATUS NAME [OPTION...]: a run with it into a fresh profile p.
fault()
{
    rm -f p
    UC_DOUBLE_FAULT=$1
    export UC_DOUBLE_FAULT
    fault_status=$2
    fault_name=$3
    shift 3
    expect "$fault_status" "$fault_name" bench --profile p "$@" tiny.json
    unset UC_DOUBLE_FAULT
}

# The reference is algorithm 1 first; the second opinion is algorithm 0.
fault 'wrong:op=forward,algorithm=1' 0 "a wrong reference is outvoted"
rows wrong 2
fault 'inexact:op=forward,algorithm=1,n=4' 0 "so is one that is inexact"
rows wrong 1
fault 'inexact:op=forward,algorithm=0,n=4' 0 "or an inexact second opinion"
rows wrong 1
fault 'nan:op=forward,algorithm=1,n=4' 0 "a reference of NaN is passed over"
rows wrong 1
fault 'crash:op=forward,algorithm=1,n=4' 0 "one that crashes condemns itself"
rows crashed 1
reason "signal 11 (Segmentation fault)"
fault 'hang:op=forward,algorithm=1,n=4' 0 "one that hangs condemns itself" \
    --kernel-timeout 4
rows timed-out 1
reason "no answer for 4 s"
fault 'write-output:op=forward,algorithm=2,n=4' 0 "a write behind the output"
rows out-of-bounds 1
reason "wrote outside its output"
fault 'write-workspace:op=forward,algorithm=2,n=4' 0 \
    "a write behind the workspace"
rows out-of-bounds 1
reason "wrote outside its workspace"
fault 'poison:op=forward,algorithm=2,n=4' 0 "a lost device costs one kernel"
rows failed 1
fault 'abort:op=backward-data' 0 "works whose references all fail are kept"
rows crashed 12
fault abort 5 "a device on which nothing runs is an error"
err_has "takes down its worker before any kernel"
rows crashed 0

# At 2 images and at 1 engines are hopeless, and would fail as all do.
cat >pruned.json <<'END'
{ "name": "pruned", "batch": 16, "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [16, 16], "c": 16, "k": 16,
                         "operations": ["forward", "backward-data"] } } }
END
rm -f p
UC_DOUBLE_FAULT='abort:op=forward,n=2;abort:op=forward,n=1'
export UC_DOUBLE_FAULT
expect 0 "where all fails, what was left out is not tried" \
    with_double ucudnn-plan bench --no-runtime-compiled --api graph \
    --profile p pruned.json
unset UC_DOUBLE_FAULT
out_has " kernels were hopeless at larger sizes and not measured"

rm -f p
UC_DOUBLE_MEMORY=300000
export UC_DOUBLE_MEMORY
expect 0 "what does not fit the device does not end the run" \
    bench --profile p mixed.json
out_has "too-large"
expect 0 "a second run tries them again" bench --profile p mixed.json
out_has "too-large"
unset UC_DOUBLE_MEMORY

rm -f p
expect 0 "a small cap leaves kernels out" \
    bench --profile p --max-workspace 1K tiny.json
out_has "too-large"
expect 0 "the same cap has nothing left to do" \
    bench --profile p --max-workspace 1K tiny.json
measured_nothing " in "
expect 0 "a raised cap measures them" bench --profile p tiny.json
rows too-large 0

# backward-filter: algorithm 3 is fast and non-deterministic.
rm -f p
UC_DOUBLE_FAULT='slow:op=backward-filter,algorithm=1,factor=40'
export UC_DOUBLE_FAULT
expect 0 "slow deterministic kernels are measured" bench --profile p tiny.json
expect 0 "a deterministic plan has one" ucudnn-plan plan tiny.json \
    --profile p --workspace-limit 2K --deterministic --offline
unset UC_DOUBLE_FAULT

rm -f p
expect 0 "a used up time budget is no error" \
    bench --profile p --time-budget 0.000001 tiny.json
out_has " micro-batch sizes are left"
expect 0 "and the next run goes on" bench --profile p tiny.json
expect 0 "until nothing is left" bench --profile p tiny.json
measured_nothing " in "
expect 0 "remeasuring measures all again" \
    bench --profile p --remeasure tiny.json
out_has "$all measurements in "
# refresh PROFILE DATE [OPTION...]
refresh()
{
    refresh_profile=$1 refresh_date=$2
    shift 2
    with_double ucudnn-plan bench --api legacy --profile "$refresh_profile" \
        --refresh "$refresh_date" "$@" tiny.json
}
expect 0 "so does a refresh of what is older than now" refresh p now
out_has "$all measurements in "
expect 0 "not of what is newer" refresh p 2001-09-09T01:46:40Z
measured_nothing " in "
expect 0 "what needs more than the cap stays as it was" \
    refresh p now --max-workspace 1K
rows too-large 0
expect 1 "no date" refresh p 2026-02-30
err_has '"2026-02-30T00:00:00Z" is no date'
expect 1 "nor one that nothing is older than" refresh p 1970-01-01
err_has "1970-01-01: nothing is older"
expect 0 "a day" refresh p 2001-09-09
measured_nothing " in "
for other in --remeasure --exhaustive; do
    expect 1 "not with $other" refresh p now $other
    err_is "ucudnn-plan bench: --refresh does not go with --remeasure, --exhaustive and --tune"
done
expect 6 "nor of a profile that is not there" refresh absent now
ok "which is not made" [ ! -e absent ]
cp p other
UC_DOUBLE_CUDNN_VERSION=92000 expect 4 "nor of other versions" refresh other now
err_is "ucudnn-plan bench: other has no measurements of this GPU and these versions to be refreshed"
ok "which are not added" cmp p other
expect 0 "quiet says nothing" bench --profile p --remeasure --quiet tiny.json
ok "neither on stdout nor on stderr" test ! -s out -a ! -s err

expect 0 "a dry run without a profile finds everything missing" \
    bench --profile none --dry-run tiny.json
out_has "$all measurements, about "
out_has "counted as for a new profile, none"
expect 0 "a dry run of a full profile finds nothing" \
    bench --profile p --dry-run tiny.json
measured_nothing ", about 0 s"
out_has "counted against what p has of this GPU and these versions"
UC_DOUBLE_CUDNN_VERSION=92000 expect 0 "after an upgrade" \
    bench --profile p --dry-run tiny.json
out_has "$all measurements, about "
out_has "counted as for a new environment: p has nothing of this GPU and these versions"
expect 0 "a dry run without a GPU" \
    env LD_LIBRARY_PATH="$scratch" ucudnn-plan bench -p p --dry-run \
    --api legacy tiny.json
measured_nothing ", about 0 s"
out_has "no GPU here: counted against what p has of its only environment, "
cp p two
UC_DOUBLE_CUDNN_VERSION=92000 bench --profile two --quiet tiny.json
expect 0 "a dry run without a GPU of a profile of two" \
    env LD_LIBRARY_PATH="$scratch" ucudnn-plan bench -p two --dry-run \
    --api legacy tiny.json
out_has "$all measurements, about "
out_has "no GPU here, and two has several environments: counted as for a new one"
mkdir -p data/profiles
cp p data/profiles/shipped.profile
expect 0 "a name that ships" env UCUDNN_DATA_DIR="$scratch/data" \
    LD_LIBRARY_PATH="$scratch" ucudnn-plan bench -p shipped --dry-run \
    --api legacy tiny.json
out_has "counted as for a new profile, shipped"
err_is "shipped: a new file in this folder, not the profile of this name that \
ships"
echo "not a profile" >text
expect 6 "a dry run of what is no profile is refused" \
    bench --profile text --dry-run tiny.json
err_one_line
expect 1 "a GPU named twice" bench --profile p --devices 0,0 tiny.json
err_one_line
expect 5 "a GPU that is not there" bench --profile new --devices 3 tiny.json
err_is "ucudnn-plan bench: no GPU 3: there are 1"
ok "no profile is left behind" test ! -e new
expect 1 "nonsense for devices" bench --profile p --devices 0, tiny.json
err_one_line
expect 1 "in a dry run, too" bench --profile p -n --devices 0, tiny.json
err_one_line
expect 6 "nothing to refresh" with_double ucudnn-plan bench -p none \
    --refresh now tiny.json
err_one_line
expect 6 "in a dry run, too" with_double ucudnn-plan bench -p none -n \
    --refresh now tiny.json
err_one_line
# Whatever comes next would take the free number, and its rows.
for table in environment problem kernel; do
    cp p orphans
    sqlite3 orphans "DELETE FROM $table WHERE id = (SELECT max(id) FROM $table)"
    cp orphans as-it-was
    expect 6 "rows of no $table are added to nothing" \
        bench --profile orphans mixed.json
    err_has "rows name what is not there"
    ok "and stay as they were" cmp orphans as-it-was
done

UC_DOUBLE_DEVICES=4 UC_DOUBLE_LOG=$scratch/log
export UC_DOUBLE_DEVICES UC_DOUBLE_LOG
rm -f p
expect 0 "four GPUs share the work" \
    bench --profile p --devices all mixed.json
ok "each of them convolved" test 4 -eq \
    "$(awk '$2 == "convolution" { print $1 }' log | sort -u | wc -l)"

finish
