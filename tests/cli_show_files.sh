# show: plans as a table, CSV and JSON; profiles; and what it refuses.
. "$abs_top_srcdir/tests/lib.sh"

make=$abs_top_builddir/tests/db_make
[ -x "$make" ] || skip_all "tests/db_make was not built"
ok "a plan file is made" "$make" plan 'a b#c?d%20e.plan'
cp 'a b#c?d%20e.plan' a.plan
ok "a profile is made" "$make" profile a.profile

expect 0 "a plan is shown" ucudnn-plan show 'a b#c?d%20e.plan'
out_has "network    alexnet, batch 256"
out_has "conv2  forward               1  4x64   winograd/tf32"
out_has "network    béta, batch 256"
expect 0 "one network's plans alone" ucudnn-plan show a.plan --network béta
ok "the other is left out" sh -c '! grep -q alexnet out'
expect 1 "a network that has none" ucudnn-plan show a.plan --network none
err_is 'ucudnn-plan show: a.plan: no plan of network "none"'
err_one_line
expect 0 "CSV" ucudnn-plan show --csv a.plan
ok "has a header and six operations" [ "$(wc -l <out)" -eq 7 ]
expect 0 "JSON" ucudnn-plan show a.plan --json
ok "is an array" [ "$(head -c 1 out)" = "[" ]
expect 0 "JSON of one" ucudnn-plan show a.plan --json --network alexnet
ok "is an object" [ "$(head -c 1 out)" = "{" ]
expect 1 "CSV and JSON" ucudnn-plan show a.plan --json --csv
err_is "ucudnn-plan show: --csv and --json exclude each other"

expect 0 "a profile is shown" ucudnn-plan show a.profile
out_has "measurements  36"
out_has "  failed     9"
expect 0 "a profile as JSON" ucudnn-plan show --json a.profile
out_has '"measurements": 36'
expect 1 "a profile as CSV" ucudnn-plan show --csv a.profile
err_is "ucudnn-plan show: a.profile: is a profile; --csv is for plans"
expect 1 "a profile has no networks" ucudnn-plan show a.profile --network x
err_is "ucudnn-plan show: a.profile: is a profile; --network is for plans"

expect 1 "an empty name is bad usage" ucudnn-plan show ''
err_is "ucudnn-plan show: the file's name is empty"
expect 6 "a missing file" ucudnn-plan show none.plan
err_is "ucudnn-plan show: none.plan: No such file or directory"
expect 6 "an unknown bare name" ucudnn-plan show none
err_one_line
expect 6 "a folder" ucudnn-plan show .
err_is "ucudnn-plan show: .: is a directory"
: >empty.plan
expect 6 "an empty file" ucudnn-plan show empty.plan
err_is "ucudnn-plan show: empty.plan: is empty"
echo "network = alexnet" >text.plan
expect 6 "a text file" ucudnn-plan show text.plan
err_is "ucudnn-plan show: text.plan: is no plan or profile file"
cp text.plan kept
expect 6 "verified" ucudnn-plan verify text.plan
err_is "ucudnn-plan verify: text.plan: is no plan file"
expect 6 "merged" ucudnn-plan merge -o new.profile text.plan
err_is "ucudnn-plan merge: text.plan: is no profile file"
expect 6 "merged into" ucudnn-plan merge -o text.plan a.profile
err_is "ucudnn-plan merge: text.plan: is no profile file"
ok "stays" cmp kept text.plan
expect 6 "a network by name" ucudnn-plan show alexnet
err_has 'no profile "alexnet" but a network (see "ucudnn-plan networks")'
head -c 6000 a.plan >short.plan
expect 6 "a truncated plan" ucudnn-plan show short.plan
err_has "malformed"
err_one_line
head -c 9000 a.profile >short.profile
expect 6 "a truncated profile" ucudnn-plan show short.profile
err_has "malformed"
err_one_line
if [ -c /dev/full ]; then
    expect 6 "a full disk" sh -c 'ucudnn-plan show a.plan --json >/dev/full'
    err_is "ucudnn-plan show: standard output: No space left on device"
fi

finish
