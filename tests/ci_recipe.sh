# The recipes for CI in ucudnn-plan(1) and in the README: the same in both, YAML
# that can be read, and commands that pass with an unchanged plan and fail with
# a worse one, run here as a job would run them.
. "$abs_top_srcdir/tests/lib.sh"

page=$abs_top_srcdir/man/ucudnn-plan.1

# recipe NAME: the literal block behind `.\" recipe: NAME`.
recipe()
{
    awk -v name="$1" '
        /^\.\\" recipe: / { mine = $3 == name }
        /^\.Ed/ { if (inside) exit }
        inside { print }
        mine && /^\.Bd -literal/ { inside = 1 }' "$page"
}

# steps FILE: the ucudnn-plan commands of a job, one a line.
steps()
{
    sed -n 's/^ *- \(run: \)\{0,1\}\(ucudnn-plan .*\)$/\2/p' "$1"
}

# with_yaml FILE EXPRESSION: python's, with the file in y.
with_yaml()
{
    python3 -c 'import sys, yaml
y = yaml.safe_load(open(sys.argv[1]))
result = eval(sys.argv[2])
print(result)
sys.exit(not result)' "$1" "$2"
}

# job FILE: its commands as a runner runs them, up to the first that fails.
job()
{
    while read -r line; do
        sh -c "$line" </dev/null || return $?
    done <"$1"
}

# in_readme NAME: the README has it, too, between fences.
in_readme()
{
    awk '/^```/ { print "```"; next } { print }' "$abs_top_srcdir/README.md" |
        awk -v wanted="$1" '
            BEGIN { while ((getline line <wanted) > 0) text = text line "\n" }
            /^```/ { found = found || block == text; block = ""; next }
            { block = block $0 "\n" }
            END { exit !found }'
}

for name in github gitlab upgrade; do
    recipe $name >$name
    ok "the page has the recipe $name" test -s $name
    ok "the README has it, too" in_readme $name
done

if python3 -c 'import yaml' 2>yaml.log; then
    ok "GitHub's is YAML of one job with steps" \
        with_yaml github 'len(y["jobs"]["plan"]["steps"]) >= 6'
    with_yaml github '"\n".join(s["run"] for s in y["jobs"]["plan"]["steps"]
        if s.get("run", "").startswith("ucudnn-plan"))' >github.yaml
    steps github >github.lines
    ok "its commands are those that run below" same github.yaml github.lines
    ok "each step runs or uses something" with_yaml github \
        'all(("run" in s) != ("uses" in s) for s in y["jobs"]["plan"]["steps"])'
    ok "GitLab's is YAML of one job with a script" \
        with_yaml gitlab 'all(isinstance(s, str) for s in y["plan"]["script"])'
    with_yaml gitlab '"\n".join(s for s in y["plan"]["script"]
        if s.startswith("ucudnn-plan"))' >gitlab.yaml
    steps gitlab >gitlab.lines
    ok "its commands are those that run below" same gitlab.yaml gitlab.lines
    ok "its report is what compare writes" with_yaml gitlab \
        'y["plan"]["artifacts"]["reports"]["junit"] == "compare.xml"'
else
    skip "the YAML can be read" "no yaml module for python3"
fi

# What the jobs build with is there.
ok "the jobs build as the README does" sh -c '
    grep -q "./bootstrap && ./configure && make -j2 && sudo make install" github &&
    grep -q "./bootstrap && ./configure && make -j2 && make install" gitlab'

# A repository with a plan, without a GPU.
CUDA_VISIBLE_DEVICES=
GITHUB_STEP_SUMMARY=summary.md
export CUDA_VISIBLE_DEVICES GITHUB_STEP_SUMMARY
if ! [ -e "$UCUDNN_DATA_DIR/profiles/h200.profile" ]; then
    skip "the jobs" "no profiles/h200.profile"
else
    for name in github gitlab; do
        rm -f resnet18.plan new.plan compare.xml summary.md
        steps $name >commands
        ok "$name: verifies, plans and compares" [ "$(awk '{ printf "%s ", $2 }' \
            commands)" = "verify plan compare " ]
        expect 6 "$name: a repository without a plan fails" job commands
        ucudnn-plan plan resnet18 -p h200 -w 64M -m fma --offline -q \
            -o resnet18.plan
        cp resnet18.plan before.plan
        expect 0 "$name: an unchanged plan passes" job commands
        ok "$name: the plan is as it was" same before.plan resnet18.plan
        ok "$name: JUnit's report is there" grep -q '<testsuite' compare.xml
        ok "$name: without a failure" sh -c '! grep "<failure" compare.xml'
        # The plan so far was made with more workspace: the new one is slower.
        rm -f resnet18.plan new.plan compare.xml summary.md
        ucudnn-plan plan resnet18 -p h200 -w 1G -m fma --offline -q \
            -o resnet18.plan
        expect 2 "$name: a worse plan fails" job commands
        ok "$name: the new plan is there to be looked at" test -s new.plan
        ok "$name: JUnit's report says so" grep -q '<failure' compare.xml
        # A plan file that contradicts itself.
        rm -f new.plan
        sqlite3 resnet18.plan \
            'UPDATE micro_batch SET workspace_bytes = 1 << 40'
        expect 2 "$name: a plan that contradicts itself fails" job commands
        ok "$name: before anything is planned" test ! -e new.plan
    done
    rm -f resnet18.plan
    ucudnn-plan plan resnet18 -p h200 -w 64M -m fma --offline -q -o resnet18.plan
    steps github >commands
    job commands >out 2>&1
    ok "GitHub's summary is Markdown" grep -q '^|' summary.md
fi

# After an upgrade: a small network in place of the real one.
ok "the upgrade is one line" [ "$(wc -l <upgrade)" -eq 1 ]
ok "of four commands" [ "$(grep -o 'ucudnn-plan [a-z]*' upgrade |
    tr '\n' ' ')" = "ucudnn-plan bench ucudnn-plan plan ucudnn-plan compare ucudnn-plan verify " ]
if ! double_present; then
    skip "the upgrade" "built without CUDA and cuDNN headers"
    finish
    exit
fi
unset CUDA_VISIBLE_DEVICES
cat >tiny.json <<'END'
{ "name": "tiny", "batch": 16, "layers": {
  "conv1": { "in": [16, 16], "c": 8, "k": 8, "filter": 3, "pad": 1 } } }
END
sed 's,\(bench\|plan\) resnet18 ,\1 ./tiny.json ,g' upgrade >upgrade.tiny
with_double ucudnn-plan bench ./tiny.json -p old.profile -m fma -q
with_double ucudnn-plan plan ./tiny.json -p old.profile -w 64M -m fma -q \
    -o resnet18.plan
UC_DOUBLE_CUDNN_VERSION=92000
export UC_DOUBLE_CUDNN_VERSION
expect 0 "an upgrade that changes nothing passes" with_double sh upgrade.tiny
ok "and was measured" test -s new.profile
rm -f new.profile new.plan
UC_DOUBLE_FAULT="slow:factor=9"
export UC_DOUBLE_FAULT
expect 2 "one that makes kernels slower fails" with_double sh upgrade.tiny
ok "by the comparison" grep -F '(!)' out
unset UC_DOUBLE_FAULT
rm -f new.profile new.plan
expect 5 "a runner without a GPU fails" \
    env LD_LIBRARY_PATH="$scratch" CUDA_VISIBLE_DEVICES= sh upgrade.tiny

finish
