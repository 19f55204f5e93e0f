# Whatever keeps a plan from being followed, the program behaves exactly as
# without the library.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"

case=square-nchw-fp32
plan_make=$abs_top_builddir/tests/plan_make
ok "a plan" "$plan_make" plan
expect 0 "without the library" plain plain.log client linked --case=$case
cp out plain.out
story plain.log >plain.story

# as_without NAME COMMAND...: the same output, the same story.
as_without()
{
    as_name=$1
    shift
    expect 0 "$as_name: it runs" "$@"
    ok "$as_name: nothing is said" test ! -s err
    ok "$as_name: the same results" same plain.out out
    story preloaded.log >preloaded.story
    ok "$as_name: cuDNN is asked the same" same plain.story preloaded.story
}

# warns NAME TEXT COMMAND...: the same, but one line says why.
warns()
{
    warns_name=$1 warns_text=$2
    shift 2
    expect 0 "$warns_name: it runs" "$@"
    ok "$warns_name: one line says so" test "$(wc -l <err)" -eq 1
    err_has "$warns_text"
    ok "$warns_name: the same results" same plain.out out
    story preloaded.log >preloaded.story
    ok "$warns_name: cuDNN is asked the same" same plain.story preloaded.story
}

# splits NAME COMMAND...: the plan is followed.
splits()
{
    splits_name=$1
    shift
    expect 0 "$splits_name: it runs" "$@"
    ok "$splits_name: the same results" same plain.out out
    client linked --case=$case --expect >expected.calls
    calls preloaded.log >preloaded.calls
    ok "$splits_name: it is split" same expected.calls preloaded.calls
}

run()
{
    preloaded preloaded.log client linked --case=$case
}
with()
{
    env LD_PRELOAD="$library" UC_DOUBLE_LOG=preloaded.log "$@" \
        "$clients/linked" --case=$case
}
run_with()
{
    rm -f preloaded.log
    with "$@"
}

splits "with the plan" run_with UCUDNN_PLAN=plan
as_without "without a plan" run
as_without "switched off" run_with UCUDNN_PLAN=plan UCUDNN_DISABLE=1
splits "not switched off" run_with UCUDNN_PLAN=plan UCUDNN_DISABLE=0

# Files that are no plans.
mkdir folder
: >empty
echo "not a plan" >text
head -c 5000 plan >half
head -c 100 plan >stump
cp plan header
printf '\377\377\377\377' | dd of=header bs=1 seek=28 conv=notrunc 2>/dev/null
"$abs_top_builddir/tests/db_make" profile profile
for file in missing folder empty text half stump header profile \
    "$clients/linked" /dev/null; do
    what=${file##*/}
    warns "plan file $what" "no plan is followed: " \
        run_with "UCUDNN_PLAN=$file"
done

# Damage that is not seen at once must not matter either.
size=$(wc -c <plan)
damaged()
{
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        cp plan damaged
        printf '\252\0\0\125' | dd of=damaged bs=1 conv=notrunc \
            seek=$((size / 13 * i + i)) 2>/dev/null
        run_with UCUDNN_PLAN=damaged >damaged.out || return 1
        same plain.out damaged.out || return 1
        clean preloaded.log || return 1
    done
}
ok "a plan file damaged anywhere does no harm" damaged

# Plans of other machines.
elsewhere()
{
    elsewhere_field=$1 word=$2
    rm -f other
    ok "a plan of another $elsewhere_field" "$plan_make" other "$word"
    warns "another $elsewhere_field" \
        "is not used on GPU 0: it differs in $elsewhere_field" \
        run_with UCUDNN_PLAN=other
    splits "any may have another $elsewhere_field" \
        run_with UCUDNN_PLAN=other UCUDNN_MATCH=any
}
for field in "device name:name=Other" "compute capability:capability=89" \
    "multiprocessors:multiprocessors=108" "memory:memory=1000"; do
    elsewhere "${field%%:*}" "${field#*:}"
    warns "device is not any, with another ${field%%:*}" \
        "it differs in ${field%%:*}" run_with UCUDNN_PLAN=other UCUDNN_MATCH=device
done
elsewhere "cudnn version" cudnn=90100
splits "device may have another cudnn version" \
    run_with UCUDNN_PLAN=other UCUDNN_MATCH=device
rm -f other
ok "a plan of another driver" "$plan_make" other driver=999.9
splits "another driver is no reason" run_with UCUDNN_PLAN=other

# The plan of the right machine is found behind that of another.
"$plan_make" other cudnn=90100
splits "two plans in one file" run_with UCUDNN_PLAN=other
ok "two plans in one file: nothing is said" test ! -s err
rm -f other
"$plan_make" other name=Other && "$plan_make" other cudnn=90100
warns "two plans of other machines" \
    "is not used on GPU 0: it differs in cudnn version" \
    run_with UCUDNN_PLAN=other

# Another cuDNN than 9, or not the whole of it, is the program's own affair.
warns "another major version" \
    "no plan is followed: cuDNN 8902 found, but major version 9 is needed" \
    run_with UCUDNN_PLAN=plan UCUDNN_MATCH=device UC_DOUBLE_CUDNN_VERSION=8902
warns "another major version, recorded" \
    "nothing is recorded: cuDNN 8902 found" \
    run_with UCUDNN_RECORD=net.json UC_DOUBLE_CUDNN_VERSION=8902
ok "another major version, recorded: no file is made" test ! -e net.json
as_without "another major version, without a plan" \
    run_with UC_DOUBLE_CUDNN_VERSION=8902

# lacks FUNCTION: a cuDNN in lacking/ that does not have it.
mkdir lacking
lacks()
{
    LC_ALL=C sed "s/\\<$1\\>/$(echo "$1" | tr a-z b-za)/g" \
        "$LD_LIBRARY_PATH/libcudnn.so.9" >lacking/libcudnn.so.9
}
for name in cudnnBackendFinalize cudnnBackendExecute \
    cudnnGetConvolutionMathType cudnnFindConvolutionForwardAlgorithm; do
    ok "a cuDNN without $name" lacks $name
    warns "without $name" \
        "no plan is followed: the loaded cuDNN has no function $name" run_with \
        UCUDNN_PLAN=plan "LD_LIBRARY_PATH=$scratch/lacking:$LD_LIBRARY_PATH"
    as_without "without $name and a plan" run_with \
        "LD_LIBRARY_PATH=$scratch/lacking:$LD_LIBRARY_PATH"
done

# Operations that the plan does not have.
for only in square-nchw-tf32 square-nhwc-fp32 five-nchw-fp32; do
    rm -f other
    ok "a plan of $only alone" "$plan_make" other "only=$only"
    as_without "a plan of $only" run_with UCUDNN_PLAN=other
done

case=square-nchw-tf32
expect 0 "$case without the library" plain plain.log client linked --case=$case
cp out plain.out
story plain.log >plain.story
rm -f other
ok "a plan of square-nchw-fp32 alone" "$plan_make" other only=square-nchw-fp32
as_without "a plan of other arithmetic" run_with UCUDNN_PLAN=other
case=square-nchw-fp32

# Calls that the plan cannot answer. The library may ask cuDNN for the sizes
# of its workspaces; all else is as without it.
like_without()
{
    like_name=$1
    shift
    expect 0 "$like_name, without the library" \
        plain plain.log "$@" client linked --case=$case $options
    cp out like.out
    # shellcheck disable=SC2086 # options are words
    expect 0 "$like_name, with it" env UCUDNN_PLAN=plan LD_PRELOAD="$library" \
        UC_DOUBLE_LOG=like.log "$@" "$clients/linked" --case=$case $options
    ok "$like_name: nothing is said" test ! -s err
    ok "$like_name: the same results" same like.out out
    story plain.log | grep -v '^summary' >plain.story
    story like.log | grep -v -e '^summary' -e '^query' >like.story
    ok "$like_name: cuDNN is asked the same" same plain.story like.story
    ok "$like_name: nothing is misused" clean like.log
    rm -f like.log
}
options=--workspace=0
like_without "no workspace"
options=--workspace=256
like_without "too little workspace"
options=--offset=8
UC_DOUBLE_ALIGNMENT=1
export UC_DOUBLE_ALIGNMENT
like_without "tensors at odd addresses"
unset UC_DOUBLE_ALIGNMENT

finish
