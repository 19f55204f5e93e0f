# ucudnn-plan networks: what ships, and checking one's own.
. "$abs_top_srcdir/tests/lib.sh"

expect 0 "networks lists what ships" ucudnn-plan networks
out_is cli_networks.out
expect 0 "networks --json lists the same" ucudnn-plan networks --json
for name in "$abs_top_srcdir"/db/networks/*.json; do
    name=${name##*/}
    out_has "\"name\": \"${name%.json}\""
done
out_has '"operations": 158'

cat >own.json <<'JSON'
{
  "name": "own",
  "batch": 8,
  "layers": {
    "conv1": { "in": [32, 32], "c": 3, "k": 16, "filter": 3, "repeat": 2 },
    "conv2": { "in": [30, 30], "c": 16, "k": 8, "filter": 3,
               "stride": 0 }
  }
}
JSON
expect 1 "a fault is one line with file, line and layer" \
    ucudnn-plan networks alexnet own.json
err_is 'ucudnn-plan networks: own.json:7: layer "conv2": stride must be >= 1, is 0'
err_one_line
sed 's/"stride": 0/"stride": 2/' own.json >good.json
expect 0 "a file of one's own is listed" ucudnn-plan networks ./good.json vgg16
ok "one line each and a heading" test "$(wc -l <out)" -eq 3
out_has "./good.json      8       3           9"
expect 0 "--json of a file of one's own" ucudnn-plan networks --json good.json
out_has '"path": "good.json"'

for text in '' '{' '[]' '{"name": NaN}' '{"batch": 0}' '{"layers": {"a": 1}}'; do
    printf '%s' "$text" >bad.json
    expect 1 "refused: $text" ucudnn-plan networks bad.json
    err_one_line
done

expect 6 "an unknown name says what there is" ucudnn-plan networks alexnot
err_is 'ucudnn-plan networks: no network "alexnot"; there are alexnet, alexnet-grouped, densenet40, inception-v3, mobilenet-v2, resnet18, resnet50, unet3d, vgg16'
err_one_line
expect 1 "an empty name is bad usage" ucudnn-plan networks ''
err_is "ucudnn-plan networks: the network's name is empty"
expect 6 "a missing file" ucudnn-plan networks none.json
err_is 'ucudnn-plan networks: none.json: No such file or directory'
expect 6 "a long path leaves room for the reason" \
    ucudnn-plan networks "$(printf '%0200d/' 1 2 3)net.json"
err_has ': No such file or directory'
expect 6 "a folder" ucudnn-plan networks ./
err_is 'ucudnn-plan networks: ./: Is a directory'
expect 6 "no data folder" env UCUDNN_DATA_DIR=/nonexistent ucudnn-plan networks
err_is 'ucudnn-plan networks: /nonexistent/networks: No such file or directory (UCUDNN_DATA_DIR names this folder)'

# Without the variable, data is found beside the program or where it is
# installed to, wherever the current folder is.
mkdir -p bin share/ucudnn/networks tree/db/networks
cp "$abs_top_builddir/ucudnn-plan" bin
cp good.json share/ucudnn/networks/installed.json
expect 0 "installed data is found from the program" \
    env -u UCUDNN_DATA_DIR bin/ucudnn-plan networks
out_has "installed"
cp "$abs_top_builddir/ucudnn-plan" tree
cp good.json tree/db/networks/built.json
expect 0 "a build tree's data is found from the program" \
    env -u UCUDNN_DATA_DIR tree/ucudnn-plan networks built
out_has "built"

# Built elsewhere and not installed.
mkdir -p alone/bin
cp "$abs_top_builddir/ucudnn-plan" alone/bin
if env -u UCUDNN_DATA_DIR alone/bin/ucudnn-plan networks >out 2>err; then
    skip "what is not installed says so" "ucudnn is installed here"
else
    expect 6 "what is not installed says so" env -u UCUDNN_DATA_DIR \
        alone/bin/ucudnn-plan plan alexnet -p ./p.profile -w 1M
    err_has 'no network "alexnet": '
    err_has '("make install" makes it; UCUDNN_DATA_DIR can name another, such as db/ of the sources)'
    err_one_line
fi

finish
