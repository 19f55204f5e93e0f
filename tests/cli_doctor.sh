# doctor: what a machine has, with the double, with real cuDNN or with nothing.
. "$abs_top_srcdir/tests/lib.sh"

expect 1 "what is for a command" ucudnn-plan doctor --for 1
err_is "ucudnn-plan doctor: --for is for a command"
expect 1 "so is a match" ucudnn-plan doctor --match any
err_is "ucudnn-plan doctor: --match is for a command"
expect 1 "and PyTorch" ucudnn-plan doctor --keep-graph-api
err_is "ucudnn-plan doctor: --keep-graph-api is for a command"

# How wide a column is depends on the names of the profiles that ship.
out_has()
{
    tr -s ' ' <out >squeezed
    ok "output has: $1" grep -F -e "$(echo "$1" | tr -s ' ')" squeezed ||
        show_file out
}

# Without a driver, whatever this machine has.
: >libcuda.so.1
without_gpu()
{
    LD_LIBRARY_PATH=$scratch CUDA_VISIBLE_DEVICES="" "$@"
}
expect 0 "no GPU is no fault" without_gpu ucudnn-plan doctor
out_has "ucudnn-plan    $(ucudnn-plan --version | sed 's/.* //')"
ok "it is said" grep -q '^GPU  *none: ' out
out_has "data           $UCUDNN_DATA_DIR: "
ok "plans can be made" grep -Eq '^plan  *yes$' out
ok "kernels cannot be measured" grep -q '^bench, verify  *no: ' out
expect 5 "unless one is asked for" without_gpu ucudnn-plan doctor --device 0
ok "the report is there all the same" grep -q '^bench, verify  *no: ' out
ok "and why" [ "$(wc -l <err)" -eq 1 ]

# The shipped data.
expect 0 "a shipped profile, asked for" without_gpu ucudnn-plan doctor -p h200
ok "is told of once" [ "$(grep -c '^profile h200 ' out)" -eq 1 ]
expect 5 "and a GPU" without_gpu ucudnn-plan doctor -p h200 --device 0
mkdir none
UCUDNN_DATA_DIR=$scratch/none
expect 6 "no data" without_gpu ucudnn-plan doctor
err_is "ucudnn-plan doctor: $scratch/none/networks: No such file or directory \
(UCUDNN_DATA_DIR names this folder)"
out_has "data           $scratch/none/networks: No such file"
mkdir none/networks none/profiles
expect 0 "empty folders" without_gpu ucudnn-plan doctor
out_has "data           $scratch/none: 0 networks, 0 profiles"
ok "then one's own are needed" \
    grep -Eq '^plan  *only networks and profiles of your own' out
echo text >none/profiles/broken.profile
expect 6 "a shipped profile that is none" without_gpu ucudnn-plan doctor
ok "in one line" [ "$(wc -l <err)" -eq 1 ]
err_has "none/profiles/broken.profile"
ok "and in the report" grep -q '^profile broken  .*broken.profile: ' out
expect 6 "as JSON" without_gpu ucudnn-plan doctor --json
out_has '"name": "broken"'
UCUDNN_DATA_DIR=$abs_top_srcdir/db

expect 6 "a profile that is not there" without_gpu ucudnn-plan doctor -p ./none.profile
err_has "none.profile"
expect 6 "a plan that is not there" without_gpu ucudnn-plan doctor --plan none.plan
err_is "ucudnn-plan doctor: none.plan: No such file or directory"
"$abs_top_builddir/tests/db_make" profile my.profile
expect 6 "a profile for a plan" without_gpu ucudnn-plan doctor --plan my.profile
ok "in one line" [ "$(wc -l <err)" -eq 1 ]
name=$(printf 'a\001b\377.plan')
: >"$name"
expect 6 "a name that is no text" without_gpu ucudnn-plan doctor --plan "$name" --json
ok "the JSON is whole" sh -c 'tail -n 1 out | grep -qx "}"'
if [ -c /dev/full ]; then
    expect 6 "a full device" \
        without_gpu sh -c 'exec ucudnn-plan doctor >/dev/full'
fi

if ! double_present; then
    skip "a GPU" "built without CUDA and cuDNN headers"
    finish
    exit
fi
unset LD_PRELOAD
double=$abs_top_builddir/tests/double

# The double: its device, versions and libraries.
expect 0 "the double" with_double ucudnn-plan doctor --device 0
out_has "GPU 0          Double H200 (compute capability 9.0, 132 multiprocessors, 1 GiB)"
out_has "cuDNN          9.19.0, $(realpath "$double")/libcudnn.so.9"
out_has "libucudnn      $(ucudnn-plan --version | sed 's/.* //'), "
out_has "profile h200   environment 1: not for GPU 0, differs in device name: NVIDIA H200, here Double H200"
out_has "bench, verify  yes, on GPU 0"
out_has "run, record    yes"
expect 5 "a GPU that is not there" with_double ucudnn-plan doctor --device 9
err_has "no GPU 9"
UC_DOUBLE_DEVICES=2
export UC_DOUBLE_DEVICES
expect 0 "two GPUs" with_double ucudnn-plan doctor --device 1
out_has "GPU 1          Double H200"
out_has "bench, verify  yes, on GPU 1"
unset UC_DOUBLE_DEVICES

# A plan and a profile of this machine, and of others.
cat >tiny.json <<'END'
{ "name": "tiny", "batch": 4, "layers": {
  "conv1": { "in": [8, 8], "c": 3, "k": 4, "filter": 3, "pad": 1 } } }
END
with_double ucudnn-plan bench ./tiny.json -p tiny.profile -q --api legacy
with_double ucudnn-plan plan ./tiny.json -p tiny.profile -q -w 64K -o tiny.plan
expect 0 "its own plan and profile" with_double ucudnn-plan doctor \
    --plan tiny.plan -p ./tiny.profile --device 0
out_has "environment 1: for GPU 0"
out_has "tiny, wr 64 KiB: for GPU 0"
expect 0 "as JSON" with_double ucudnn-plan doctor --plan tiny.plan --json
ok "is valid" sh -c 'sed -n "/\"kind\": \"plan\"/,\$p" out |
    grep "\"valid\": true"'
out_has '"differs_in": null'
out_has '"usable": true'
expect 0 "without a GPU, it is not known" \
    without_gpu ucudnn-plan doctor --plan tiny.plan
out_has "tiny, wr 64 KiB: of Double H200 (compute capability 9.0,"

# differs FIELD THERE HERE VARIABLE=VALUE: of plan and profile.
differs()
{
    expect 0 "another $1 is a finding" with_double env "$4" \
        ucudnn-plan doctor --plan tiny.plan -p ./tiny.profile
    ok "of both files" [ "$(grep -c \
        "not for GPU 0, differs in $1: $2, here $3" out)" -ge 2 ]
    expect 5 "and a fault where a GPU was named" with_double env "$4" \
        ucudnn-plan doctor --plan tiny.plan --device 0
    err_is "ucudnn-plan doctor: tiny.plan: not for GPU 0, differs in $1"
}
differs "device name" "Double H200" "Other" UC_DOUBLE_DEVICE_NAME=Other
differs "cudnn version" "9.19.0" "9.1.0" UC_DOUBLE_CUDNN_VERSION=90100

# What is broken.
mkdir half
cp "$double/libcuda.so.1" half
echo text >half/libcudnn.so.9
crash()
{
    LD_LIBRARY_PATH=$scratch/half "$@"
}
cat >crash.c <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void crash(void) { abort(); }
END
if ${TEST_CC:-cc} -shared -fPIC -o half/libcudnn.so.9 crash.c 2>cc.log; then
    expect 0 "a cuDNN that crashes" crash ucudnn-plan doctor
    ok "is a finding" grep -q \
        '^cuDNN  *none: the process died when it was looked at: signal 6' out
    expect 5 "and a fault where a GPU was named" \
        crash ucudnn-plan doctor --device 0
    cat >crash.c <<'END'
int ucudnn_get_version(void) { return 90807; }
END
    mkdir other other/.libs
    cp "$abs_top_builddir/ucudnn-plan" other/
    ${TEST_CC:-cc} -shared -fPIC -o other/.libs/libucudnn.so.0 crash.c
    expect 0 "another libucudnn" with_double other/ucudnn-plan doctor
    out_has "libucudnn      9.8.7, not of this program's version, $(pwd -P)/other/.libs/libucudnn.so.0"
    expect 0 "as JSON" with_double other/ucudnn-plan doctor --json
    out_has '"libucudnn_matches": false'
    echo text >other/.libs/libucudnn.so.0
    expect 0 "one that is none" with_double other/ucudnn-plan doctor
    ok "is a finding" grep -q '^libucudnn  *none: .*libucudnn.so.0' out
    ok "that keeps programs from running" grep -q '^run, record  *no: ' out
else
    skip "libraries that are broken" "no compiler here"
fi

finish
