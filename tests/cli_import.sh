# ucudnn-plan import: lists of layers become networks, or nothing is written.
. "$abs_top_srcdir/tests/lib.sh"

header=source,W,H,C_in,N,C_out,kernel_w,kernel_h,pad_w,pad_h,stride_w,stride_h

# AlexNet of the tools' own examples, with a line that is there twice.
cat >alexnet.csv <<CSV
$header
conv1,224,224,3,256,64,11,11,2,2,4,4
conv2,27,27,64,256,192,5,5,2,2,1,1
conv3,13,13,192,256,384,3,3,1,1,1,1
conv4,13,13,384,256,384,3,3,1,1,1,1
again,13,13,384,256,384,3,3,1,1,1,1
CSV
cat >alexnet.expected <<'JSON'
{
  "name": "alexnet",
  "source": "imported from FILE",
  "batch": 256,
  "layers": {
    "conv1": {"in": [224, 224], "c": 3, "k": 64, "filter": 11, "pad": 2, "stride": 4},
    "conv2": {"in": [27, 27], "c": 64, "k": 192, "filter": 5, "pad": 2},
    "conv3": {"in": [13, 13], "c": 192, "k": 384, "filter": 3, "pad": 1},
    "conv4": {"in": [13, 13], "c": 384, "k": 384, "filter": 3, "pad": 1, "repeat": 2}
  }
}
JSON
# from TEXT: the expected description, with its source.
from()
{
    sed "s/imported from FILE/imported from $1/" alexnet.expected >wanted
}

expect 0 "a DeepBench list is imported" \
    ucudnn-plan import alexnet.csv -o alexnet.json
cat >table.expected <<'END'
network       batch  layers  operations
alexnet.json    256       5          15
END
from 'alexnet.csv (deepbench)'
ok "the description is as worked out" same wanted alexnet.json
ok "the summary is a table" same table.expected out
expect 0 "networks reads it" ucudnn-plan networks ./alexnet.json
out_has "./alexnet.json    256       5          15"

# The same layers in the three formats make the same description.
cat >alexnet.benchdnn <<'END'
--reset --mb=256
ic3ih224oc64oh55kh11sh4ph2n"conv1"
ic64ih27oc192oh27kh5n"conv2" ic192ih13oc384oh13kh3ph1n"conv3"
ic384ih13oc384oh13kh3ph1n"conv4" ic384ih13oc384oh13kh3ph1n"conv5"
END
cat >alexnet.miopen <<'END'
MIOpenDriver conv -n 256 -c 3 -H 224 -W 224 -k 64 -y 11 -x 11 -p 2 -q 2 -u 4 -v 4 -F 1
MIOpenDriver conv -n 256 -c 64 -H 27 -W 27 -k 192 -y 5 -x 5 -p 2 -q 2 -F 1
MIOpenDriver conv -n 256 -c 192 -H 13 -W 13 -k 384 -y 3 -x 3 -p 1 -q 1 -F 1
MIOpenDriver conv -n 256 -c 384 -H 13 -W 13 -k 384 -y 3 -x 3 -p 1 -q 1 -F 1
MIOpenDriver conv -n 256 -c 384 -H 13 -W 13 -k 384 -y 3 -x 3 -p 1 -q 1 -F 1
END
sed 's/-F 1/-F 6/' alexnet.miopen >backward.log
cat backward.log >>alexnet.miopen
for format in benchdnn miopen; do
    expect 0 "a $format list is imported" \
        ucudnn-plan import alexnet.$format --output=other.json --name alexnet
    from "alexnet.$format ($format)"
    ok "and makes the same description" same wanted other.json
done
expect 0 "standard input is read, standard output written" \
    sh -c 'ucudnn-plan import - --name alexnet -o - <alexnet.csv'
from 'standard input (deepbench)'
ok "and nothing else is printed" same wanted out
expect 0 "--json sums up" ucudnn-plan import alexnet.csv -o a.json --json
out_has '"format": "deepbench"'
out_has '"name": "a"'
out_has '"path": "a.json"'
out_has '"layers": 5'
out_has '"operations": 15'

# Several batches: a file each.
cat >batches.csv <<CSV
$header
a,7,7,1,8,1,1,1,0,0,1,1
b,7,7,1,16,1,1,1,0,0,1,1
c,7,7,2,16,1,1,1,0,0,1,1
CSV
expect 0 "several batches make several networks" \
    ucudnn-plan import batches.csv -o net.json --operations forward
cat >table.expected <<'END'
network     batch  layers  operations
net.json       16       2           2
net.8.json      8       1           1
END
ok "the batch of most operations is the file named" same table.expected out
expect 0 "both are networks" ucudnn-plan networks ./net.json ./net.8.json
out_has "./net.8.json      8       1           1"
expect 1 "standard output takes one" ucudnn-plan import batches.csv -o -
err_is "ucudnn-plan import: batches.csv: 2 batch sizes would be as many networks, more than 1 (--batch gives all lines the same)"
expect 0 "--batch makes them one" \
    ucudnn-plan import batches.csv -o one.json --batch 32
cat >table.expected <<'END'
network   batch  layers  operations
one.json     32       3           9
END
ok "of all layers" same table.expected out
for n in $(seq 17); do
    echo "mb${n}ic1ih4oc1kh1"
done >many
expect 1 "more than 16 batches are refused" ucudnn-plan import many -o m.json
err_is "ucudnn-plan import: many: 17 batch sizes would be as many networks, more than 16 (--batch gives all lines the same)"
ok "and nothing is written" sh -c '! ls m.*'

# Wrong lines: all are told, and nothing is written.
cat >wrong.csv <<CSV
$header
a,0,7,1,8,1,1,1,0,0,1,1
b,7,7,1,16,1,1,1,0,0,1,1
c,7,7,1,16,1,9,9,0,0,1,1
CSV
cp alexnet.expected kept.json
expect 1 "wrong lines are told" ucudnn-plan import wrong.csv -o kept.json
cat >err.wanted <<'END'
ucudnn-plan import: wrong.csv:2: W must be a whole number from 1 to 2147483647, is "0"
ucudnn-plan import: wrong.csv:4: output extent below 1: filter 9 (dilation 1) is larger than input 7 with padding 0
ucudnn-plan import: wrong.csv: 2 wrong lines
END
ok "all of them, by file and line" same err.wanted err
ok "the output is as it was" same alexnet.expected kept.json
expect 1 "a new one is not made" ucudnn-plan import wrong.csv -o new.json
ok "nothing is left behind" sh -c '! ls new.json* .ucudnn-*'

printf 'hello\n' >hello
expect 1 "no known format" ucudnn-plan import hello -o new.json
err_is "ucudnn-plan import: hello: the first line is of no known format (--format says which)"
err_one_line
expect 1 "--format names it" \
    ucudnn-plan import hello -o new.json --format benchdnn
err_has 'hello:1: "hello": no key begins "hello"'
expect 1 "an unknown format" ucudnn-plan import hello -o n --format x
err_is 'ucudnn-plan import: --format: "x" is none of deepbench, benchdnn, miopen'
expect 1 "no output" ucudnn-plan import alexnet.csv
err_is "ucudnn-plan import: --output is needed"
expect 1 "an unknown operation" \
    ucudnn-plan import alexnet.csv -o n --operations forward,x
err_has '"forward,x" is no list of forward, backward-data, backward-filter'
expect 1 "a name that is none" \
    ucudnn-plan import alexnet.csv -o n --name "$(printf 'a\nb')"
err_is "ucudnn-plan import: --name: the name has control characters or line breaks"
expect 1 "two outputs on standard output" \
    ucudnn-plan import alexnet.csv -o - --json
err_one_line
expect 1 "nothing is left of the operations" sh -c \
    'echo "--dir=FWD_B ic1ih4oc1kh1" |
    ucudnn-plan import - -o n --operations backward-data'
err_is "ucudnn-plan import: standard input: no layers"
expect 1 "an empty list" ucudnn-plan import /dev/null -o n --format miopen
err_is "ucudnn-plan import: /dev/null: no layers"
expect 6 "a missing list" ucudnn-plan import none.csv -o new.json
err_is "ucudnn-plan import: none.csv: No such file or directory"
expect 6 "a folder as list" ucudnn-plan import . -o new.json
err_is "ucudnn-plan import: .: Is a directory"
head -c 4194305 /dev/zero >large
expect 1 "a list that is too large" ucudnn-plan import large -o new.json
err_is "ucudnn-plan import: large: larger than 4 MiB"
head -c 4194304 "$abs_top_builddir/ucudnn-plan" >program
expect 1 "a program is refused" \
    ucudnn-plan import program -o new.json --format miopen
ok "in lines of text" sh -c '! LC_ALL=C grep -q "[[:cntrl:]]" err'
err_has "program:1: is not a line of UTF-8 text"

# Outputs that cannot be.
expect 6 "no folder for the output" \
    ucudnn-plan import alexnet.csv -o none/new.json
err_is "ucudnn-plan import: none/new.json: No such file or directory"
expect 6 "a folder as output" ucudnn-plan import alexnet.csv -o .
err_is "ucudnn-plan import: .: Is a directory"
mkdir net.8.json.d && mv net.8.json net.json net.8.json.d && mkdir net.8.json
expect 6 "one of several cannot be" \
    ucudnn-plan import batches.csv -o net.json
err_is "ucudnn-plan import: net.8.json: Is a directory"
ok "then none is written" sh -c '! ls net.json* .ucudnn-*'
ln -s kept.json link.json
expect 0 "a link is followed" \
    ucudnn-plan import alexnet.csv -o link.json --name other
ok "to what it names" grep -q '"name": "other"' kept.json
ok "and stays a link" test -h link.json

if [ -c /dev/full ]; then
    cp kept.json before.json
    expect 6 "a summary that cannot be written" sh -c \
        'exec ucudnn-plan import alexnet.csv -o kept.json --batch 3 >/dev/full'
    err_is "ucudnn-plan import: standard output: No space left on device"
    ok "leaves the network as it was" cmp kept.json before.json
fi

from 'alexnet.csv (deepbench)'
longest=$(printf %0255d 0)
expect 0 "the longest name there is" ucudnn-plan import alexnet.csv \
    -o "$longest" --name alexnet
ok "is written to" same wanted "$longest"
: >.ucudnn-1-0.new
: >.ucudnn-1-1.new
touch -d "25 hours ago" .ucudnn-1-0.new
expect 0 "what a killed program left" ucudnn-plan import alexnet.csv -o new.json
ok "is removed a day later" [ "$(echo .ucudnn-*)" = .ucudnn-1-1.new ]
rm -f "$longest" .ucudnn-1-1.new

# Inputs are no outputs.
cp alexnet.csv list.csv
ln list.csv same.csv
expect 1 "the list itself" ucudnn-plan import list.csv -o same.csv
err_is "ucudnn-plan import: same.csv: is the list itself"
ok "stays" cmp list.csv alexnet.csv
printf 'SQLite format 3\0and more' >a.profile
expect 6 "a database" ucudnn-plan import list.csv -o a.profile
err_is "ucudnn-plan import: a.profile: is a database, which is not replaced"

finish
