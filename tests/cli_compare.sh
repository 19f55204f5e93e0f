# compare: plans and profiles, for people, pull requests and CI.
. "$abs_top_srcdir/tests/lib.sh"

make=$abs_top_builddir/tests/profile_make
[ -x "$make" ] || skip_all "tests/profile_make was not built"

cat >tiny.json <<'END'
{ "name": "tiny", "batch": 8, "dtype": "fp32", "math": "fma",
  "layout": "nchw", "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [9, 9], "c": 3, "k": 4 },
              "conv<2>|&": { "in": [30, 30], "c": 40, "k": 60,
                             "repeat": 2 } } }
END
"$make" old.profile tiny.json power-of-two || exit 99

# edited AWK: old.profile with each measurement's fields changed by a program
# that sees f[name] and says what it is.
edited()
{
    ucudnn-plan dump old.profile | awk -F '\t' -v OFS='\t' '
        function field(name,    i)
        {
            for (i = 2; i <= NF; i++)
                if (index($i, name "=") == 1)
                    return substr($i, length(name) + 2)
        }
        function set(name, value,    i)
        {
            for (i = 2; i <= NF; i++)
                if (index($i, name "=") == 1)
                    $i = name "=" value
        }
        # five samples around the time, `apart` ns from each other
        function samples(apart,    t)
        {
            t = field("time_ns")
            if (t > 0)
                set("calls", field("calls") "\tsamples_ns=" t - 2 * apart \
                    "," t - apart "," t "," t + apart "," t + 2 * apart)
        }
        $1 == "measurement" { '"$1"' }
        { print }'
}

# plan PROFILE OPTION...: a plan of tiny into the file plan.
plan()
{
    plan_profile=$1
    shift
    rm -f plan
    ucudnn-plan plan tiny.json --offline -q -p "$plan_profile" -o plan "$@"
}

slow='if (field("problem") ~ /^forward.*c40/)
          set("time_ns", int(field("time_ns") * 1.2))'
edited "$slow" | ucudnn-plan restore -o slow.profile || exit 99
plan old.profile -w 1M && mv plan old.plan &&
    plan slow.profile -w 1M && mv plan slow.plan || exit 99

expect 0 "a plan is like itself" ucudnn-plan compare old.plan old.plan
out_has "fine: 6 of the same speed"
expect 2 "a slower operation is a regression" \
    ucudnn-plan compare old.plan slow.plan
out_has "compared  tiny"
out_has "limit     1 MiB per operation"
out_has "regression: total slower, 1 slower, 5 of the same speed"
ok "the operation is named" grep -q "^conv<2>|& forward .*slower (!)" out
ok "nothing is said on standard error" [ ! -s err ]
expect 0 "the other way round it is faster" \
    ucudnn-plan compare slow.plan old.plan
out_has "fine: 1 faster, 5 of the same speed"
expect 0 "below the threshold is no change" \
    ucudnn-plan compare old.plan slow.plan --threshold 25%
out_has "fine: 6 of the same speed"

expect 2 "Markdown" ucudnn-plan compare old.plan slow.plan --markdown
out_has "### tiny"
out_has "**regression**"
ok "escapes what is Markdown" grep -qF '| conv\<2\>\|& forward |' out
ucudnn-plan dump old.plan | sed 's/network=tiny/network=<img> [a](b)/' |
    ucudnn-plan restore -o named.plan
expect 0 "so does the heading" \
    ucudnn-plan compare named.plan named.plan --markdown
out_has '### \<img\> \[a\](b)'
expect 2 "JSON" ucudnn-plan compare old.plan slow.plan --json --junit ci.xml
out_has '"regression": true'
out_has '"verdict": "slower"'
ok "JUnit's XML is written" \
    grep -qF '<testsuite name="tiny, 1 MiB per operation" tests="7"' ci.xml
ok "with a failure" [ "$(grep -c '<failure ' ci.xml)" -ge 1 ]
if command -v python3 >/dev/null; then
    ok "both can be parsed" python3 -c '
import json, xml.etree.ElementTree as tree
suite = tree.parse("ci.xml").getroot()[0]
failures = [c.get("name") for c in suite if c.find("failure") is not None]
assert len(suite) == int(suite.get("tests")) == 7
assert len(failures) == int(suite.get("failures"))
assert "conv<2>|& forward" in failures, failures
document = json.load(open("out"))
slower = [o for o in document["comparisons"][0]["operations"]
          if o["verdict"] == "slower"]
assert [o["layer"] for o in slower] == ["conv<2>|&"]
ratio = slower[0]["new"]["time_ns"] / slower[0]["old"]["time_ns"]
assert 1.19 < ratio < 1.21, ratio
'
else
    skip "both can be parsed" "no python3"
fi
expect 1 "JSON and Markdown" \
    ucudnn-plan compare --json --markdown old.plan old.plan
err_is "ucudnn-plan compare: --json and --markdown exclude each other"

# Policy and choices.
expect 0 "what both were chosen from" ucudnn-plan compare old.plan old.plan
ok "is told once" grep -qx "policy    power-of-two" out
plan old.profile -w 1M --policy 4 --max-pieces 2 && mv plan four.plan || exit 99
ucudnn-plan compare old.plan four.plan >out
out_has "policy    power-of-two -> 4, at most 2 micro-batches"
ucudnn-plan compare old.plan four.plan --markdown >out
out_has "- policy: power-of-two -> 4, at most 2 micro-batches"
ucudnn-plan compare old.plan four.plan --json >out
out_has '"policy": "4"'
out_has '"max_pieces": 2'

# Splits, and what is for another limit.
plan old.profile -w 0 && mv plan zero.plan || exit 99
expect 2 "one plan each is compared whatever its limit" \
    ucudnn-plan compare old.plan zero.plan
out_has "limit     1 MiB per operation -> 0 B per operation"
out_has "with another split or other kernels"
ucudnn-plan plan tiny.json --offline -q -p old.profile -w 0 -o both.plan &&
    ucudnn-plan plan tiny.json --offline -q -p old.profile -w 1M -o both.plan
expect 0 "of several plans those for the same" \
    ucudnn-plan compare both.plan old.plan
out_has "fine: 6 of the same speed"
err_is "not compared: 1 of the 2 plans of both.plan"
expect 1 "nothing is for the same" sh -c '
    ucudnn-plan plan tiny.json --offline -q -p old.profile -w 2M -o two.plan &&
    ucudnn-plan compare both.plan two.plan'
err_has "no plan of two.plan is for network, batch, limit and arithmetic"
expect 1 "no such network" \
    ucudnn-plan compare old.plan old.plan --network other
err_is "ucudnn-plan compare: old.plan: no plan to compare"

# Another network under the name: layers that came, went or repeat.
sed 's/"repeat": 2/"repeat": 9/' tiny.json >often.json
"$make" often.profile often.json power-of-two &&
    mv tiny.json kept.json && mv often.json tiny.json &&
    plan often.profile -w 1M && mv plan often.plan && mv kept.json tiny.json ||
    exit 99
expect 2 "layers that run more often are a slower total" \
    ucudnn-plan compare old.plan often.plan
out_has "regression: total slower, 6 of the same speed, \
3 repeated more or less often"
ok "each is named" [ "$(grep -c 'repeat 2 -> 9$' out)" -eq 3 ]
cat >grown.json <<'END'
{ "name": "tiny", "batch": 8, "dtype": "fp32", "math": "fma",
  "layout": "nchw", "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [9, 9], "c": 3, "k": 4 },
              "conv<2>|&": { "in": [30, 30], "c": 40, "k": 61 },
              "conv3": { "in": [9, 9], "c": 4, "k": 4 } } }
END
"$make" grown.profile grown.json power-of-two &&
    mv tiny.json kept.json && cp grown.json tiny.json &&
    plan grown.profile -w 1M && mv plan grown.plan && mv kept.json tiny.json ||
    exit 99
expect 0 "operations of one side alone are no regression" \
    ucudnn-plan compare old.plan grown.plan --junit ci.xml
out_has "not the same operations: 6 added, 3 removed, 3 of the same speed"
ok "and nothing is called fine" sh -c '! grep fine out'
# What plan prints as predicted.
old_all=$(ucudnn-plan show old.plan | sed -n 's/^predicted *//p')
new_all=$(ucudnn-plan show grown.plan | sed -n 's/^predicted *//p')
ok "the whole of both sides is told" grep -q \
    "^total of all operations  *$old_all  *$new_all .* not judged$" out
if command -v python3 >/dev/null; then
    ok "JUnit's XML has them as skipped, each by a name of its own" python3 -c '
import xml.etree.ElementTree as tree
suite = tree.parse("ci.xml").getroot()[0]
names = [c.get("name") for c in suite]
skipped = [c.get("name") for c in suite if c.find("skipped") is not None]
assert len(suite) == int(suite.get("tests")) == len(set(names)) == 14, names
assert len(skipped) == int(suite.get("skipped")) == 10, skipped
assert "conv<2>|& forward, removed" in skipped, skipped
assert "conv<2>|& forward, added" in skipped, skipped
assert "total of all operations" in skipped, skipped
'
else
    skip "JUnit's XML has them as skipped" "no python3"
fi
ucudnn-plan compare old.plan grown.plan --json >out
out_has '"same_operations": false'
ucudnn-plan compare old.plan grown.plan --markdown >out
out_has "- **not the same operations**: 6 added"
ucudnn-plan dump old.plan | sed 's/^\(operation.*layer=\)/\1new-/' |
    ucudnn-plan restore -o renamed.plan
expect 1 "nothing in common" ucudnn-plan compare old.plan renamed.plan
err_is "ucudnn-plan compare: the plans have no operation in common: \
tiny, batch 8, fp32 nchw, fma against tiny, batch 8, fp32 nchw, fma with other \
layers"
err_one_line
expect 1 "another batch" sh -c '
    ucudnn-plan plan tiny.json --offline -q -p old.profile -w 1M -b 4 \
        -o four-images.plan &&
    ucudnn-plan compare old.plan four-images.plan --junit none.xml'
err_has "batch 8, fp32 nchw, fma against tiny, batch 4, fp32 nchw, fma"
ok "writes no report" [ ! -e none.xml ]

# Profiles: each problem, and a network.
expect 0 "a profile is like itself" ucudnn-plan compare old.profile old.profile
out_has "compared  6 problems that both have, each at its largest batch"
expect 2 "a slower problem" \
    ucudnn-plan compare old.profile slow.profile -w 1M
out_has "regression: total slower, 1 slower, 5 of the same speed"
expect 2 "a network" \
    ucudnn-plan compare old.profile slow.profile --network tiny.json -w 1M
out_has "compared  tiny, batch 8"
cp out network.out
ok "is as its plans are" sh -c '
    ucudnn-plan compare old.plan slow.plan | tail -n 4 >plans.tail
    tail -n 4 network.out | diff - plans.tail'
expect 4 "a network that was not measured" \
    ucudnn-plan compare old.profile old.profile --network alexnet
err_has "old.profile lacks "
err_has " measurements of alexnet that bench could add"
err_one_line
expect 4 "a batch that was not measured, as plan refuses it" \
    ucudnn-plan compare old.profile old.profile --network tiny.json -b 6
# Six problems at batch 6, and the filters' at beta 1 also at batch 4, which are
# part of it: 8 forward, 6 backward-data, 7 backward-filter kernels.
err_has "old.profile lacks"
err_has "add; it has tiny at batch 4 and 8"
expect 0 "the batch below" \
    ucudnn-plan compare old.profile old.profile --network tiny.json -b 4

# The samples decide: 20 % slower, with samples apart and with samples mixed.
edited 'samples(1)' | ucudnn-plan restore -o calm.old.profile
edited "$slow; samples(1)" | ucudnn-plan restore -o calm.new.profile
expect 2 "samples apart" \
    ucudnn-plan compare calm.old.profile calm.new.profile -w 1M
ok "p is 2 of 252" grep -q "forward.*+20.0 %  0.0079  slower" out
edited 'samples(field("time_ns") / 2)' | ucudnn-plan restore -o wild.old.profile
edited "$slow; samples(field(\"time_ns\") / 2)" |
    ucudnn-plan restore -o wild.new.profile
expect 0 "samples mixed" \
    ucudnn-plan compare wild.old.profile wild.new.profile -w 1M
out_has "fine: 6 of the same speed"
expect 2 "a level that so few samples cannot reach leaves it to the spreads" \
    ucudnn-plan compare calm.old.profile calm.new.profile -w 1M \
    --significance 0.001
ok "and there is no p" grep -q "forward.*+20.0 %     slower" out
edited 'if (field("problem") ~ /^forward.*c40/ && field("time_ns") > 0) {
            set("outcome", "crashed"); set("time_ns", 0) }' |
    ucudnn-plan restore -o dead.profile
expect 2 "an operation for which nothing works any more" \
    ucudnn-plan compare old.profile dead.profile
out_has "regression, not the same operations: 1 removed, 5 of the same speed"

# Devices and versions.
ucudnn-plan dump old.plan | sed 's/Test GPU/Other GPU/' |
    ucudnn-plan restore -o other.plan
expect 1 "another device is refused" ucudnn-plan compare old.plan other.plan
err_is "ucudnn-plan compare: the devices differ in device name (Test GPU, \
Other GPU); --across-devices compares them anyway"
expect 0 "unless asked for" \
    ucudnn-plan compare --across-devices old.plan other.plan
out_has "device    Test GPU (compute capability 9.0, 132 multiprocessors, \
80 GiB) -> Other GPU ("
ucudnn-plan dump old.profile | sed 's/Test GPU/Other GPU/' |
    ucudnn-plan restore -o other.profile
expect 1 "so are profiles" ucudnn-plan compare old.profile other.profile
ucudnn-plan dump old.plan | sed 's/cudnn=91900/cudnn=92000/' |
    ucudnn-plan restore -o newer.plan
expect 0 "another version is said" ucudnn-plan compare old.plan newer.plan
out_has "versions  cuDNN 9.19.0, CUDA 13.0, driver 580.1 -> cuDNN 9.20.0"
"$make" two.profile tiny.json power-of-two second-environment
expect 1 "several environments" ucudnn-plan compare two.profile old.profile
err_is "ucudnn-plan compare: two.profile: holds several environments, choose one \
with --old-environment: 1 (Test GPU, cuDNN 9.19.0, CUDA 13.0, driver 580.1), 2 \
(Test GPU, cuDNN 9.20.0, CUDA 13.0, driver 580.1)"
expect 0 "of one file" ucudnn-plan compare two.profile two.profile \
    --old-environment 1 --new-environment 2
out_has "-> cuDNN 9.20.0"
expect 1 "no such environment" \
    ucudnn-plan compare two.profile old.profile --old-environment 9
err_is "ucudnn-plan compare: two.profile: has no environment 9, it has 1 (Test \
GPU, cuDNN 9.19.0, CUDA 13.0, driver 580.1), 2 (Test GPU, cuDNN 9.20.0, CUDA \
13.0, driver 580.1)"

# What it refuses.
expect 1 "a plan and a profile" ucudnn-plan compare old.plan old.profile
err_is "ucudnn-plan compare: old.plan is a plan and old.profile is a profile: \
two of a kind can be compared"
expect 1 "a limit for plans" ucudnn-plan compare old.plan old.plan -w 1M
err_has "these are plans"
expect 6 "a file that is not there" ucudnn-plan compare none.plan old.plan
err_one_line
expect 1 "one file" ucudnn-plan compare old.plan
expect 6 "JUnit's file cannot be written" \
    ucudnn-plan compare old.plan old.plan --junit none/ci.xml
err_has "none/ci.xml: No such file or directory"
cp old.plan kept.plan
expect 6 "a plan is no place for it" \
    ucudnn-plan compare old.plan slow.plan --junit old.plan
err_is "ucudnn-plan compare: old.plan: is a database, which is not replaced"
ok "and stays" cmp old.plan kept.plan
cp tiny.json kept.json
expect 1 "nor is the network" ucudnn-plan compare old.profile old.profile \
    --network ./tiny.json --junit tiny.json
err_is "ucudnn-plan compare: tiny.json: is the network itself"
ok "which stays, too" cmp tiny.json kept.json
if [ -c /dev/full ]; then
    echo before >ci.xml
    expect 6 "a regression that cannot be told" sh -c 'exec ucudnn-plan \
        compare old.plan slow.plan --junit ci.xml >/dev/full'
    err_is "ucudnn-plan compare: standard output: No space left on device"
    ok "leaves JUnit's file as it was" grep -qx before ci.xml
fi

finish
