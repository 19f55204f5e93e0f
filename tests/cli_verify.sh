# verify on the double: what holds, what does not, and what cannot be run.
. "$abs_top_srcdir/tests/lib.sh"

double_present || skip_all "built without CUDA and cuDNN headers"
command -v sqlite3 >/dev/null || skip_all "no sqlite3 to change plans with"

cat >tiny.json <<'END_OF_NETWORK'
{ "name": "tiny", "batch": 6, "dtype": "fp32", "math": "fma",
  "layout": "nchw", "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [9, 9], "c": 3, "k": 4 },
              "conv2": { "in": [9, 9], "c": 4, "k": 6, "stride": 2,
                         "repeat": 2 } } }
END_OF_NETWORK

verify()
{
    with_double ucudnn-plan verify --quiet "$@"
}

# query SQL [FILE]: one value of the plan file.
query()
{
    sqlite3 "${2:-a.plan}" "$1"
}

# change FILE SQL: a copy of a.plan, changed whatever its schema forbids.
change()
{
    cp a.plan "$1"
    sqlite3 "$1" "PRAGMA ignore_check_constraints = 1; $2"
}

# json FILTER VALUE: what the last output has there.
json()
{
    json_has=$(python3 -c '
import json, sys
value = eval(sys.argv[1], {"v": json.load(open("out"))})
print(json.dumps(value))' "$1")
    ok "$1 is $2" test "$json_has" = "$2" || echo "# it is $json_has"
}

# With pieces of 3 in at most 2000 bytes: what the double's formulas make
# fastest. The kernels that run undivided here are known by them, too.
expect 0 "a profile is measured" with_double ucudnn-plan bench \
    --profile p --policy 3 --quiet tiny.json
expect 0 "a plan is made" ucudnn-plan plan tiny.json --profile p --policy 3 \
    --min-gain 0 --workspace-limit 1000 --api legacy --offline --quiet \
    --output a.plan
predicted=$(query 'SELECT predicted_ns FROM plan')
undivided=$(query 'SELECT undivided_ns FROM plan')

# A plan that holds.
expect 0 "a plan that holds is verified" verify a.plan --profile p
out_has "network    tiny"
out_has "plan       WR, 1000 B per operation"
out_has "device     Double H200"
out_has "all operations in one sequence"
ok "six operations are ok" [ "$(grep -c ' ok$' out)" -eq 7 ]
ok "nothing is said besides" test ! -s err
expect 0 "as JSON" verify a.plan --profile p --json
if command -v python3 >/dev/null; then
    json 'v["network"]' '"tiny"'
    json 'v["not_run"]' null
    json 'len(v["operations"])' 6
    json '[o["verdict"] for o in v["operations"]] == ["ok"] * 6' true
    # The double's clock is exact; what is not a whole number is rounded up.
    json "v['sequence']['predicted_ns'] == $predicted" true
    json "abs(v['sequence']['planned_ns'] - $predicted) < 100" true
    json "abs(v['sequence']['undivided_ns'] - $undivided) < 100" true
    json 'v["sequence"]["shared_tensors"]' false
    json '[o["planned"]["time_ns"] == o["predicted_ns"] or o["split"] != "6"
           for o in v["operations"]] == [True] * 6' true
    json '{o["undivided"]["source"] for o in v["operations"]} == {"profile"}' \
        true
    json '[o["planned"]["workspace_bytes"] == o["stored_workspace_bytes"]
           for o in v["operations"]] == [True] * 6' true
    json 'max(o["planned"]["error"] for o in v["operations"]) < 1e-6' true
else
    skip "JSON" "no python3"
fi
expect 0 "without a profile, undivided kernels are found" verify a.plan
out_has "note: undivided kernels that no profile tells"
# What is compared with it is what it could have been made of.
ucudnn-plan plan tiny.json --profile p --policy 3 --min-gain 0 -w 1M \
    --api legacy --deterministic --offline --quiet -o strict.plan
expect 0 "of a deterministic plan, too" verify strict.plan --json
json 'any("algo0" in (o["undivided"]["kernel"] or "") or
          "algo3" in (o["undivided"]["kernel"] or "") or
          "eng" in (o["undivided"]["kernel"] or "")
          for o in v["operations"])' false
UC_DOUBLE_LOG=$scratch/log
export UC_DOUBLE_LOG
expect 0 "under the double's eye" verify a.plan --profile p
ok "it convolved" grep -q ' convolution ' log
ok "and was held until samples were enqueued" \
    grep -q ' launch kernel=uc_hold' log
ok "no misuse of CUDA or cuDNN" test -z "$(grep ' misuse ' log)"
# An image is 1 KiB of x and of y, the double's cache holds 16 KiB.
cat >one.json <<'END_OF_NETWORK'
{ "name": "one", "batch": 1, "dtype": "fp32", "math": "fma", "layout": "nchw",
  "layers": { "conv": { "in": [8, 8], "c": 4, "k": 4, "filter": 3, "pad": 1 } } }
END_OF_NETWORK
with_double ucudnn-plan bench --quiet --api legacy --profile one.p one.json
ucudnn-plan plan one.json --profile one.p -w 1M --offline --quiet -o one.plan
: >log
expect 0 "calls have images of their own" verify one.plan --profile one.p
ok "16 times, and in the sequence" [ "$(
    sed -n 's/.* op=forward algorithm=6 .* x=\([^ ]*\) .*/\1/p' log |
        sort -u | wc -l)" -eq 17 ]
unset UC_DOUBLE_LOG

# What does not hold. The kernel is the plan's own.
forward=$(query "SELECT kernel FROM micro_batch JOIN operation o
    ON o.plan = micro_batch.plan AND o.position = operation
    WHERE layer = 'conv2' AND problem LIKE 'forward%' LIMIT 1")
case $forward in
implicit-gemm/fma) algorithm=0 ;;
implicit-precomp-gemm/fma) algorithm=1 ;;
gemm/fma) algorithm=2 ;;
winograd/fma) algorithm=6 ;;
winograd-nonfused/fma) algorithm=7 ;;
*) algorithm=none ;;
esac
ok "the kernel of conv2 forward is known" [ "$algorithm" != none ] ||
    echo "# $forward"
size=$(query "SELECT max(size) FROM micro_batch JOIN operation o
    ON o.plan = micro_batch.plan AND o.position = operation
    WHERE layer = 'conv2' AND problem LIKE 'forward%'")
planned="op=forward,algorithm=$algorithm"

# fault FAULT NAME LINE: with it the plan does not hold, and the error's line
# begins so.
fault()
{
    UC_DOUBLE_FAULT=$1
    export UC_DOUBLE_FAULT
    expect 2 "$2" verify a.plan --profile p --kernel-timeout 3
    err_has "ucudnn-plan verify: tiny: $3"
    ok "$2: one line of error" [ "$(wc -l <err)" -eq 1 ]
    unset UC_DOUBLE_FAULT
}

fault "wrong:$planned" "a wrong kernel is found" \
    "conv2 forward wrong: relative L2 error "
fault "nan:$planned" "so is one that leaves a NaN" \
    "conv2 forward wrong: relative L2 error "
ok "and shown as such" grep -q '^conv2 *forward .* NaN .* wrong$' out
fault "write-output:$planned" "a write behind the output" \
    "conv2 forward failed: wrote outside its output"
fault "write-workspace:$planned" "a write behind the workspace" \
    "conv2 forward failed: wrote outside its workspace"
fault "crash:$planned" "a crash is a failed operation" \
    "conv2 forward failed: signal 11"
out_has "note: left out: operations that do not run, 1"
ok "the other operations are verified" [ "$(grep -c ' ok$' out)" -ge 5 ]
fault "hang:$planned,n=$size" "so is a hang" \
    "conv2 forward failed: no answer for 3 s"
fault "poison:$planned" "and a lost device" "conv2 forward failed: "
fault "fail:$planned,status=3000" "and what cuDNN refuses" \
    "conv2 forward failed: "
fault "workspace:op=backward-filter,factor=3" "more workspace than planned" \
    "conv"
err_has "backward-filter over-workspace: cuDNN asks for "
fault "slow:$planned,factor=9" "slower than predicted" \
    "conv2 forward slow: takes "
fault "abort" "nothing runs" "conv1 forward failed: signal 6"
out_has "failed: no operation runs"

UC_DOUBLE_FAULT="slow:$planned,factor=9"
export UC_DOUBLE_FAULT
if command -v python3 >/dev/null; then
    expect 2 "a slow one as JSON" verify a.plan --profile p --json
    json '[o["layer"] for o in v["operations"] if o["verdict"] == "slow"]' \
        '["conv2"]'
else
    skip "a slow one as JSON" "no python3"
fi
unset UC_DOUBLE_FAULT
sqlite3 a.plan '.dump' >a.sql
change slow.plan "
    UPDATE micro_batch SET time_ns = 1 WHERE operation = 0;
    UPDATE operation SET time_ns = (SELECT sum(count) FROM micro_batch m
        WHERE m.plan = operation.plan AND m.operation = 0) WHERE position = 0;
    UPDATE plan SET predicted_ns =
        (SELECT sum(repeat * time_ns) FROM operation);"
expect 2 "a plan that promises too much" verify slow.plan
err_has "ucudnn-plan verify: tiny: conv1 forward slow: takes "
expect 2 "within no tolerance" verify slow.plan --tolerance 0
expect 2 "the most tolerance is 100%" verify slow.plan --tolerance 100%
expect 1 "more is bad usage" verify slow.plan --tolerance 101%
err_one_line

# Engines, times and workspaces by the double's README, in pieces of 4 and 2:
# conv1 forward has 4*4*3*9*81 and 2*4*3*9*81 multiply-adds, conv2
# backward-filter 4*6*4*9*25 and 2*6*4*9*25.
change engines.plan "
    DELETE FROM micro_batch WHERE operation IN (0, 5);
    INSERT INTO micro_batch (plan, operation, position, size, count,
        accumulate, kernel, workspace_bytes, time_ns)
    SELECT id, 0, 0, 4, 1, 0, 'eng1 k2=4', 27216, 25395 FROM plan UNION ALL
    SELECT id, 0, 1, 2, 1, 0, 'eng1 k2=4', 13608, 14198 FROM plan UNION ALL
    SELECT id, 5, 0, 4, 1, 0, 'eng0', 0, 99200 FROM plan UNION ALL
    SELECT id, 5, 1, 2, 1, 1, 'eng0', 0, 51100 FROM plan;
    UPDATE operation SET time_ns = 25395 + 14198, workspace_bytes = 27216
        WHERE position = 0;
    UPDATE operation SET time_ns = 99200 + 51100, workspace_bytes = 0
        WHERE position = 5;
    UPDATE plan SET apis = 0, limit_bytes = 30000, policy = '2,3,4',
        workspace_bytes = (SELECT max(workspace_bytes) FROM operation),
        predicted_ns = (SELECT sum(repeat * time_ns) FROM operation);"
expect 0 "a plan of engines holds" verify engines.plan --tolerance 0.1%
ok "its engine is told" grep -q '^conv1 *forward *1  4+2 *eng1 k2=4 .* ok$' out
ok "and its sums of two" grep -q '^conv2 *backward-filter .* eng0 .* ok$' out
cp engines.plan odd.plan
sqlite3 odd.plan "UPDATE plan SET policy = '2,3'"
expect 2 "micro-batches are of the plan's policy" verify odd.plan
err_has 'conv1 forward: a micro-batch of 4 is none of the policy'"'"'s, "2,3"'
UC_DOUBLE_FAULT='wrong:op=forward,algorithm=eng1'
export UC_DOUBLE_FAULT
expect 2 "a wrong engine is found" verify engines.plan
err_has "conv1 forward wrong: relative L2 error "
UC_DOUBLE_FAULT='workspace:op=forward,algorithm=eng1'
expect 2 "and one that asks for more" verify engines.plan
err_has "cuDNN asks for 54432 bytes (53.1 KiB), planned were 27216 (26.5 KiB)"
UC_DOUBLE_FAULT='crash:op=forward,algorithm=eng1'
expect 2 "and one that crashes" verify engines.plan
err_has "conv1 forward failed: signal 11"
unset UC_DOUBLE_FAULT

# The memory is too small for tensors of their own.
UC_DOUBLE_MEMORY=160000
export UC_DOUBLE_MEMORY
here=$(query 'SELECT memory_bytes FROM plan')
change small.plan 'UPDATE plan SET memory_bytes = 160000'
ok "the plan is for another device" [ "$here" -ne 160000 ]
expect 0 "little memory is shared" verify small.plan
out_has "note: memory is too small for tensors of their own"
UC_DOUBLE_MEMORY=20000
change none.plan 'UPDATE plan SET memory_bytes = 20000'
expect 2 "too little memory is a failure" verify none.plan
err_has "out of device memory"
unset UC_DOUBLE_MEMORY

# Other machines.
change other.plan "UPDATE plan SET device = 'other'"
expect 5 "a plan for another GPU" verify other.plan
err_is "ucudnn-plan verify: other.plan: no plan is for this GPU: this machine differs in device name"
out_has "consistent, and not run: this machine differs in device name"
change other.plan "UPDATE plan SET cudnn = 90100"
expect 5 "a plan for another cuDNN" verify other.plan
err_has "this machine differs in cudnn version"
change other.plan "UPDATE plan SET driver = 'older', cuda = 12000"
expect 0 "another driver is no matter" verify other.plan
expect 1 "its profile knows nothing of it" verify other.plan --profile p
err_has "the profile has no measurements of the device and versions"
change two.plan "UPDATE plan SET device = 'other', network = 'else'"
expect 0 "a second plan in the file" ucudnn-plan plan tiny.json --profile p \
    --policy 3 --workspace-limit 1000 --offline --quiet -o two.plan
expect 0 "those for this machine are run" verify two.plan
out_has "consistent, and not run: this machine differs in device name"
expect 0 "one network alone" verify two.plan --network tiny
ok "the other is not told" sh -c '! grep -q "not run" out'
expect 1 "a network that has none" verify two.plan --network none
err_is 'ucudnn-plan verify: two.plan: no plan of network "none"'

# With a GPU that does not work, nothing was checked.
UC_DOUBLE_FAULT=out-of-memory
export UC_DOUBLE_FAULT
expect 5 "a GPU without memory" verify a.plan -q
err_is "ucudnn-plan verify: cannot use the GPU: CUDA error 2: out of memory"
UC_DOUBLE_FAULT=nan
if [ -c /dev/full ]; then
    # shellcheck disable=SC2016 # the inner shell's
    expect 6 "a report of faults that cannot be written" with_double \
        sh -c 'exec ucudnn-plan verify a.plan -q >/dev/full'
    err_has "standard output: No space left on device"
fi
unset UC_DOUBLE_FAULT

mkdir old
if echo 'int nothing;' | ${TEST_CC:-cc} -x c -shared -fPIC - \
    -o old/libcuda.so.1 2>cc.log; then
    expect 5 "a driver that lacks what is needed" \
        env LD_LIBRARY_PATH="$scratch/old" ucudnn-plan verify a.plan -q
    err_has "libcuda.so.1 has no function "
else
    skip "a driver that lacks what is needed" "no compiler here"
fi

# Without a GPU.
UC_DOUBLE_DEVICES=0
export UC_DOUBLE_DEVICES
expect 0 "without a GPU, what is consistent" verify a.plan
out_has "1 plan: batches, workspaces, kernels and problems are consistent"
out_has "This is all that was checked, there is no GPU here: "
expect 0 "nor is a profile looked at" verify a.plan -p p
out_has "This is all that was checked (not the profile), there is no GPU here: "
expect 0 "as JSON" verify a.plan --json
out_has '"operations": null'
expect 5 "a GPU that is asked for and is not there" verify a.plan --device 0
err_one_line
# inconsistent NAME SQL TEXT
inconsistent()
{
    change bad.plan "$2"
    expect 2 "$1" verify bad.plan
    err_has "$3"
    out_has "inconsistent, and not run: bad.plan: "
    out_has "$3"
}
as_json()
{
    expect 2 "$1 as JSON" verify bad.plan --json
    out_has '"consistent": false'
    ok "says where" grep -q '"fault": "bad.plan: .*'"$2" out
}
inconsistent "batches that do not add up" \
    "UPDATE operation SET batch = 7 WHERE position = 1" \
    "the micro-batches do not add up to the batch"
as_json "is told" "the micro-batches do not add up to the batch"
inconsistent "a workspace over the limit" "UPDATE plan SET limit_bytes = 10" \
    "over its limit of 10"
inconsistent "a problem that is none" \
    "UPDATE operation SET problem = 'forward:fp32' WHERE position = 0" \
    "malformed"
inconsistent "a kernel that is none" \
    "UPDATE micro_batch SET kernel = 'guess' WHERE operation = 2" "malformed"
inconsistent "totals that are none" "UPDATE plan SET predicted_ns = 7" \
    "the totals are not those of the operations"
inconsistent "a mode that is none" "UPDATE plan SET mode = 'x'" "unknown mode"
inconsistent "a policy that is none" "UPDATE plan SET policy = 'x'" \
    'policy "x" is none of'
unset UC_DOUBLE_DEVICES
inconsistent "with a GPU, too" "UPDATE plan SET predicted_ns = 7" \
    "the totals are not those of the operations"
expect 5 "a GPU beyond the last" verify a.plan --device 1
err_is "ucudnn-plan verify: no GPU 1: there are 1"
expect 1 "a GPU that is no number" verify a.plan --device x
err_one_line

# What is no plan.
echo "not a plan" >text.plan
expect 6 "a text" verify text.plan
err_one_line
expect 6 "a profile" verify p
err_one_line
head -c 5000 a.plan >cut.plan
expect 6 "half a file" verify cut.plan
err_one_line
expect 6 "no file" verify missing.plan
err_one_line
change new.plan "PRAGMA user_version = 99"
expect 6 "a newer schema" verify new.plan
err_one_line

# Plans of evil will.
change evil.plan "UPDATE operation SET repeat = 2000000000;
    UPDATE plan SET predicted_ns =
        (SELECT sum(repeat * time_ns) FROM operation),
        undivided_ns = (SELECT sum(repeat * undivided_ns) FROM operation),
        unlimited_ns = (SELECT sum(repeat * unlimited_ns) FROM operation);"
expect 2 "a sequence without end is not run" verify evil.plan
err_has "the sequence of all operations failed: one pass would be over"
change evil.plan "UPDATE plan SET apis = 0;
    UPDATE micro_batch SET kernel = 'eng9999 k2=4' WHERE operation = 0"
expect 2 "an engine that there is not" verify evil.plan
err_has "conv1 forward failed: eng9999 k2=4: cuDNN: "
change evil.plan "UPDATE micro_batch SET size = 2147483647, count = 1,
        accumulate = 0 WHERE operation = 0;
    UPDATE operation SET batch = 2147483647 WHERE position = 0;
    DELETE FROM micro_batch WHERE operation = 0 AND position > 0;
    UPDATE operation SET time_ns = (SELECT time_ns FROM micro_batch
        WHERE operation = 0) WHERE position = 0;
    UPDATE plan SET predicted_ns =
        (SELECT sum(repeat * time_ns) FROM operation);"
expect 2 "a batch larger than any memory" verify evil.plan
err_has "conv1 forward failed: out of device memory"

finish
