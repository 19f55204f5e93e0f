# plan: WR and WD from a profile, and everything that can be in the way.
. "$abs_top_srcdir/tests/lib.sh"

make=$abs_top_builddir/tests/profile_make
[ -x "$make" ] || skip_all "tests/profile_make was not built"

# plan OPTION...: never on a GPU.
plan()
{
    ucudnn-plan plan --offline net.json "$@"
}

# same_but_time FILE FILE: tables of two runs.
same_but_time()
{
    grep -v "^created" "$1" >same.a
    grep -v "^created" "$2" >same.b
    same same.a same.b
}

# no_file NAME
no_file()
{
    [ ! -e "$1" ]
}

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

# What is asked for.
expect 1 "a profile is needed" plan -w 64M
err_is "ucudnn-plan plan: --profile is needed"
err_one_line
expect 1 "a limit is needed" plan -p a.profile
err_is "ucudnn-plan plan: --workspace-limit, --target or --total-workspace is needed"
err_one_line
for size in -1 '' 8E 64X 9999999T; do
    expect 1 "\"$size\" is no limit" plan -p a.profile --workspace-limit "$size"
    err_one_line
done

expect 1 "a time can be too large" \
    plan -p a.profile -w 1G --time-limit 99999999h
err_is 'ucudnn-plan plan: --time-limit: "99999999h" is too large (at most 1000000000 seconds)'
expect 1 "so can a size of a policy" \
    plan -p a.profile -w 1G --policy 16,9223372036854775807
err_is 'ucudnn-plan plan: --policy: policy size 9223372036854775807 is too large (at most 2147483647)'
expect 1 "and all of them" plan -p a.profile -w 1G --policy 1000,1001
err_is "ucudnn-plan plan: --policy: every size is larger than the batch of net, 8"

mkfifo pipe
cat net.json >pipe &
expect 4 "a network from a pipe" timeout 60 \
    ucudnn-plan plan --offline ./pipe -p a.profile -w 1G --batch 5
err_has "lacks"

# WR.
expect 0 "a limit that everything fits" plan -p a.profile -w 1G
err_is "no graph engines measured for 5 of 5 problems; bench --api graph adds them"
out_has "body"
out_has "backward-filter"
cp out table
LC_ALL=de_DE.UTF-8 expect 0 "in any locale" plan -p a.profile -w 1G
ok "prints the same" same_but_time table out
expect 0 "the plan is stored" plan -p a.profile -w 1G -o a.plan --quiet
ok "quietly" [ ! -s out ]
expect 0 "and shows" ucudnn-plan show a.plan
ok "as it was printed" same_but_time table out
expect 0 "0 is a limit" plan -p a.profile -w 0 -o a.plan
expect 0 "both are in the file" ucudnn-plan show --csv a.plan
ok "ten operations and the header" [ "$(wc -l <out)" -eq 11 ]

# What a plan was chosen from, and plans that replace others.
rm -f how.plan
expect 0 "every option that chooses" plan -p a.profile -w 1G -o how.plan \
    --policy 4 --api legacy --no-runtime-compiled --allow down-convert \
    --max-pieces 2 --min-gain 5%
how="4, legacy kernels only, no kernels compiled at run time, \
down-convert allowed, at most 2 micro-batches, divided only for more than 5%"
out_has "policy     $how"
ok "nothing is replaced" [ ! -s err ]
expect 0 "is kept" ucudnn-plan show how.plan
out_has "policy     $how"
expect 0 "in the dump, too" ucudnn-plan dump how.plan
ok "as numbers" grep -q \
    "apis=1.allow=4.no_runtime_compiled=1.min_gain=0.05.max_pieces=2$" out
expect 0 "the same again" plan -p a.profile -w 1G -o how.plan --policy 4 \
    --api legacy --no-runtime-compiled --allow down-convert --max-pieces 2 \
    --min-gain 0.05
ok "is nothing to tell" [ ! -s err ]
expect 0 "another limit" plan -p a.profile -w 2G --api legacy -o how.plan
ok "replaces nothing" [ ! -s err ]
expect 0 "other choices" plan -p a.profile -w 1G --api legacy -o how.plan
err_is "how.plan: replaces a plan of the same limit made with policy $how"
expect 0 "another policy" \
    plan -p a.profile -w 1G --api legacy --policy 4 -o how.plan
err_is "how.plan: replaces a plan of the same limit made with policy \
power-of-two, legacy kernels only"
expect 0 "quietly" plan -p a.profile -w 1G --api legacy -o how.plan -q
ok "nothing is told" [ ! -s err ]
expect 0 "both APIs by name" plan -p a.profile -w 1G --api both -o both.plan
expect 0 "are those of nobody's choice" plan -p a.profile -w 1G -o both.plan
ok "and replace the same" sh -c '! grep replaces err'
rm both.plan

# Engines of the graph API.
expect 0 "without engines on purpose" plan -p a.profile -w 1G --api legacy
ok "nothing on standard error" [ ! -s err ]
expect 4 "with engines only" plan -p a.profile -w 1G --api graph
err_is "ucudnn-plan plan: net: layer \"stem\": forward: no graph engines measured; bench --api graph adds them"
err_one_line
expect 1 "an API that cuDNN has not" plan -p a.profile -w 1G --api all
err_is 'ucudnn-plan plan: --api: "all" is none of legacy, graph, both'
ok "a profile with engines is made" \
    "$make" engines.profile net.json power-of-two engines
expect 0 "engines are planned" plan -p engines.profile -w 1G -o engines.plan
ok "nothing on standard error" [ ! -s err ]
out_has "eng67 k2=4 k27=8  forward          runtime-compiled"
out_has "compiled   5 kernels at run time, once, in 1.25 s"
expect 0 "no other kernel" plan -p engines.profile -w 1G --api graph
ok "nothing on standard error" [ ! -s err ]
expect 0 "none that is compiled" \
    plan -p engines.profile -w 1G --no-runtime-compiled
ok "is an engine" sh -c '! grep -q eng67 out'
expect 3 "no engine that is not compiled" \
    plan -p engines.profile -w 1G --api graph --no-runtime-compiled
err_has "no kernel that works is allowed: 1 runtime-compiled"
expect 0 "the plan's JSON" ucudnn-plan show --json engines.plan
out_has '"kernel": "eng67 k2=4 k27=8"'
out_has '"runtime-compiled"'

# WD, and both.
expect 0 "a total" plan -p a.profile --total-workspace 1M
expect 0 "both limits" plan -p a.profile -w 64K -t 1M -o both.plan
cp out table
expect 0 "make two plans" ucudnn-plan show both.plan
ok "as they were printed" same table out
expect 0 "the gap and a time limit" \
    plan -p a.profile -t 300K --mip-gap 0 --time-limit 10

# A run that fails leaves the file, also when it is the printing that fails.
cp both.plan before.plan
if [ -c /dev/full ]; then
    expect 6 "a full disk" sh -c \
        'ucudnn-plan plan --offline net.json -p a.profile -w 9M -o both.plan >/dev/full'
    err_is "ucudnn-plan plan: standard output: No space left on device"
    ok "the plan file is untouched" cmp both.plan before.plan
else
    skip "a full disk" "no /dev/full"
fi
expect 3 "the second of two plans does not fit" \
    plan -p a.profile -w 9M -t 0 --deterministic -o both.plan
ok "and the first is not written" cmp both.plan before.plan

# What does not fit.
expect 3 "nothing fits" plan -p a.profile -w 0 --deterministic -o none.plan
err_has "ucudnn-plan plan: net: layer \"stem\": backward-filter: no"
err_has "the least workspace that would do is"
err_one_line
ok "no plan is written" no_file none.plan
least=$(sed 's/.*would do is \([0-9]*\) bytes.*/\1/' err)
expect 3 "one byte less does not fit" \
    plan -p a.profile -w $((least - 1)) --deterministic
# The stem is the first that fails; the body may need more.
expect 3 "a total that is too small" plan -p a.profile -t 0 --deterministic
err_has "ucudnn-plan plan: net: no division fits the total of 0 bytes"
err_one_line
least=$(sed 's/.*would do is \([0-9]*\) bytes.*/\1/' err)
expect 0 "the least total fits exactly" \
    plan -p a.profile -t "$least" --deterministic
expect 3 "one byte less does not" \
    plan -p a.profile -t $((least - 1)) --deterministic
cp a.plan before.plan
expect 3 "one of two does not fit" \
    plan -p a.profile -w 1G -t $((least - 1)) --deterministic -o a.plan
err_one_line
ok "the old plan is untouched" cmp a.plan before.plan

ok "a profile without backward-data" \
    "$make" failed.profile net.json undivided fail=backward-data
expect 3 "no kernel works" \
    plan -p failed.profile -w 1G --policy undivided
err_is "ucudnn-plan plan: net: layer \"body\": backward-data: no kernel works: 6 failed"
err_one_line

# What is missing.
expect 4 "a batch that was not measured" \
    plan -p a.profile -w 1G --batch 16 -o missing.plan
err_has "missing: forward:fp32:fma:nchw:c4:k16:i16x16:f3x3:p1x1 micro-batch 16: 8 kernels"
# Five problems at batch 16; backward-filter at beta 1 also at batch 8.
err_has "a.profile lacks 50 measurements of net; it has net up to batch 8; bench could add them (--offline does not measure)"
ok "nothing is printed" [ ! -s out ]
ok "no plan is written" no_file missing.plan
expect 4 "quietly" plan -p a.profile -w 1G --batch 16 --quiet
err_one_line
expect 4 "other arithmetic was not measured" plan -p a.profile -w 1G -m tf32 -q
err_has "; it has net with --math fma --layout nchw; "
expect 4 "another layout was not measured" \
    plan -p a.profile -w 1G --layout nhwc -q
err_has "; it has net with --layout nchw; "
expect 4 "nor both" plan -p a.profile -w 1G --layout nhwc -b 16 -q
err_has "; it has net with --layout nchw up to batch 8; "
expect 4 "all sizes were not measured" plan -p a.profile -w 1G --policy all
err_has "missing: 15 more"
err_has "; it has net with --policy power-of-two; "
expect 4 "a batch between two" plan -p a.profile -w 1G -b 6 -q
err_has "; it has net at batch 4 and 8; "
sed 's/"c": 4/"c": 5/' net.json >other.json
expect 4 "nothing alike was measured" \
    ucudnn-plan plan --offline other.json -p a.profile -w 1G -q
err_has " measurements of net that bench could add (--offline"
expect 0 "fewer sizes are enough" plan -p a.profile -w 1G --policy 4
expect 0 "undivided" plan -p a.profile -w 64K --policy undivided

# Environments.
ok "a profile of two versions" \
    "$make" two.profile net.json undivided second-environment
expect 1 "one must be chosen" plan -p two.profile -w 1G --policy undivided
err_is "ucudnn-plan plan: two.profile holds several environments, choose one with --environment: 1 (Test GPU, cuDNN 9.19.0, CUDA 13.0, driver 580.1), 2 (Test GPU, cuDNN 9.20.0, CUDA 13.0, driver 580.1)"
expect 0 "the second" \
    plan -p two.profile -w 1G --policy undivided --environment 2
out_has "9.20.0"
expect 1 "there is no third" \
    plan -p two.profile -w 1G --policy undivided --environment 3
err_has "two.profile has no environment 3, it has 1 (Test GPU"

# Files.
expect 6 "no such profile" plan -p ./none.profile -w 1G
err_one_line
echo text >text.profile
expect 6 "a text file is no profile" plan -p text.profile -w 1G
err_one_line
cp text.profile text.plan
expect 6 "nor is it a plan to add to" plan -p a.profile -w 1G -o text.plan
ok "it is untouched" cmp text.profile text.plan
expect 6 "a network that does not exist" \
    ucudnn-plan plan no-such-network -p a.profile -w 1G --offline
err_one_line
chmod a-w a.profile
expect 0 "a read-only profile" plan -p a.profile -w 1G

finish
