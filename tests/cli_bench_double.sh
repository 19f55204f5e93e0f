# bench from end to end without a GPU, on the double of CUDA and cuDNN: the
# legacy API. The graph API is in cli_bench_graph.sh.
. "$abs_top_srcdir/tests/lib.sh"

double_present || skip_all "built without CUDA and cuDNN headers"

cat >tiny.json <<'END'
{ "name": "tiny", "batch": 6, "dtype": "fp32", "math": "fma",
  "layout": "nchw", "defaults": { "filter": 3, "pad": 1 },
  "layers": { "conv1": { "in": [9, 9], "c": 3, "k": 4 },
              "conv2": { "in": [9, 9], "c": 4, "k": 6, "stride": 2 } } }
END
UC_DOUBLE_LOG=$scratch/log
export UC_DOUBLE_LOG

bench()
{
    with_double ucudnn-plan bench --api legacy --exhaustive "$@" tiny.json
}

expect 0 "a tiny network is measured" bench --profile p
out_has "126 measurements in "
ok "the double was asked" grep -q " convolution op=forward " log
ok "no misuse of CUDA or cuDNN" test -z "$(grep ' misuse ' log)"

: >log
expect 0 "a second run has nothing left to do" bench --profile p
ok "nothing is measured twice" test -z "$(grep ' convolution ' log)"

# The double's cache holds 16 KiB, an image 1 KiB of x and of y: 16 calls are
# twice the cache, of 8 images 2 calls, of 16 one. The reference has a y more.
cat >one.json <<'END'
{ "name": "one", "batch": 16, "dtype": "fp32", "math": "fma", "layout": "nchw",
  "layers": { "conv": { "in": [8, 8], "c": 4, "k": 4, "filter": 3, "pad": 1 } } }
END
# places TENSOR BATCH ALGORITHM: how many different ones its calls had.
places()
{
    sed -n "s/.* op=forward algorithm=$3 n=$2 alpha.* $1=\([^ ]*\) .*/\1/p" \
        log | sort -u | wc -l
}
: >log
expect 0 "calls have images of their own" with_double ucudnn-plan bench \
    --api legacy --policy 1,8 --profile turns one.json
for want in x:1:16 x:8:2 x:16:1 y:1:17 y:8:3 y:16:2; do
    what=${want%:*} want=${want##*:}
    ok "$want places of ${what%:*} for ${what#*:} images" \
        [ "$(places "${what%:*}" "${what#*:}" 0)" -eq "$want" ]
done

# crowded BYTES: the device has no more.
crowded()
{
    : >log
    rm -f turns
    UC_DOUBLE_MEMORY=$1 with_double ucudnn-plan bench --api legacy \
        --batch 1 --policy undivided --profile turns one.json
}
expect 0 "where images do not fit 16 times" crowded 80000
out_has "13 measured, 2 unsupported, 6 too-large"
ok "calls share them" [ "$(places x 1 0)" -eq 1 ]
expect 0 "where the workspace of some does not fit beside them" crowded 130000
out_has "19 measured, 2 unsupported"
ok "the workspace has precedence" [ "$(places x 1 4)" -eq 1 ]
ok "where it has to" [ "$(places x 1 0)" -eq 16 ]

UC_DOUBLE_FAULT='wrong:op=backward-data,algorithm=5,n=4'
UC_DOUBLE_FAULT="$UC_DOUBLE_FAULT;crash:op=forward,algorithm=4,n=4"
UC_DOUBLE_FAULT="$UC_DOUBLE_FAULT;write-output:algorithm=2,beta=1"
UC_DOUBLE_FAULT="$UC_DOUBLE_FAULT;fail:op=forward,algorithm=7,n=4"
export UC_DOUBLE_FAULT
expect 0 "bad kernels do not end the run" bench --profile faulty
out_has "1 wrong"
out_has "1 out-of-bounds"
out_has "1 crashed"
out_has "1 failed"
unset UC_DOUBLE_FAULT

UC_DOUBLE_DEVICES=0
export UC_DOUBLE_DEVICES
expect 5 "no GPU" bench --profile none
err_one_line
UC_DOUBLE_DEVICES=2
expect 0 "two GPUs of a kind share the work" bench --profile two --devices all
UC_DOUBLE_DEVICE_NAME=A,B
export UC_DOUBLE_DEVICE_NAME
expect 5 "GPUs of different kinds are refused" \
    bench --profile none --devices all
err_has "differ in device name"
unset UC_DOUBLE_DEVICES UC_DOUBLE_DEVICE_NAME

UC_DOUBLE_CUDNN_VERSION=80905
export UC_DOUBLE_CUDNN_VERSION
expect 5 "another major version of cuDNN is refused" bench --profile none
err_is "ucudnn-plan bench: cuDNN 80905 found, but major version 9 is needed"

unset UC_DOUBLE_CUDNN_VERSION
expect 1 "a batch that the policy does not go up to" \
    bench --profile none --policy all --batch 65537
err_is "ucudnn-plan bench: policy all goes up to batch 65536, not 65537"
ok "no refused run makes a profile" [ ! -e none ]

finish
