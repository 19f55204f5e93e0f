# All GPU tests, run from a build that carry.sh packed; then, if asked for, the
# training steps of PyTorch that the README shows, spread over all GPUs.
#
# usage: sh gpu_all.sh CARRY LOGS [pytorch]
#
# Writes LOGS/tests.log (TAP), LOGS/pytorch.log (a block a cell) and
# LOGS/pytorch.raw.log, part by part, so that what has ended is there whatever
# comes later; each part has a time limit. Exit status 1: something failed.
set -u
[ $# -ge 2 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 1; }
test_s=120 cell_s=300
source=$(cd "$(dirname "$0")/.." && pwd) || exit 1
carry=$(cd "$1" && pwd) || exit 1
mkdir -p "$2" && logs=$(cd "$2" && pwd) || exit 1
pytorch=${3-}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. "$source/tests/gpu_carried.sh"

# part NAME SECONDS COMMAND...: one part, and how it went.
part()
{
    part_name=$1 part_s=$2 part_begin=$(date +%s)
    shift 2
    timeout -k 5 "$part_s" "$@"
    part_status=$?
    echo "$part_name: exit status $part_status," \
        "$(($(date +%s) - part_begin)) s" >&3
    [ "$part_status" -eq 0 ] || : >"$scratch/failed"
}

# run_test NAME: into one log.
run_test()
{
    echo "# $1" >"$scratch/$1.log"
    case $1 in
        *.sh) part "$1" "$cell_s" sh "$source/tests/$1" ;;
        *) part "$1" "$test_s" env LD_LIBRARY_PATH="$libraries" \
            sh "$source/tests/tap.sh" "$carry/build/tests/$1" ;;
    esac >>"$scratch/$1.log" 2>&1
    ! grep -q '^not ok' "$scratch/$1.log" || : >"$scratch/failed"
    cat "$scratch/$1.log"
}

exec 3>&1
rm -f "$logs/tests.log"
for test in gpu_runner gpu_runtime gpu_api gpu_devices; do
    run_test "$test" >>"$logs/tests.log"
done

# The longest first: whichever GPU is idle takes the next.
cells="unet3d:fp32:512 resnet18:fp16:64:5 resnet18:fp32:64:2:$fine_sizes
    unet3d:tf32:512 alexnet:fp32:64:2:$fine_sizes unet3d:fp16:512
    resnet18:tf32:64:2:$fine_sizes alexnet:tf32:64:2:$fine_sizes
    alexnet:fp16:64:2:$fine_sizes"
slow_tests="gpu_doctor.sh gpu_bench.sh gpu_pytorch.sh"

# work GPU: every cell, then every test, that no other GPU has taken.
work()
{
    export CUDA_VISIBLE_DEVICES="$1"
    for cell in $cells $slow_tests; do
        mkdir "$scratch/$cell" 2>/dev/null || continue
        case $cell in
            *.sh) run_test "$cell" >>"$logs/tests.log" ;;
            *) part "$cell" "$cell_s" \
                python3 "$source/tests/pytorch/compare.py" \
                "$scratch/h200.profile" "$cell" \
                >>"$logs/pytorch.log" 2>>"$logs/pytorch.raw.log" ;;
        esac
    done
}

if [ "$pytorch" = pytorch ]; then
    rm -f "$logs/pytorch.log" "$logs/pytorch.raw.log"
    shipped "$scratch/h200.profile" || exit 1
    gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
    [ "$gpus" -gt 0 ] || { echo "gpu_all.sh: no GPU" >&2; exit 1; }
    for gpu in $(seq 0 $((gpus - 1))); do
        work "$gpu" &
    done
    wait
else
    for test in $slow_tests; do
        run_test "$test" >>"$logs/tests.log"
    done
fi
grep '^not ok' "$logs/tests.log"
[ "$pytorch" != pytorch ] || cat "$logs/pytorch.log"
[ ! -e "$scratch/failed" ]
