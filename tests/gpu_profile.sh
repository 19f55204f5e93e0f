# Measures what the shipped profile lacks, on all GPUs, and verifies a plan of
# every network in every math; run from a build that carry.sh packed.
#
# usage: sh gpu_profile.sh CARRY OUT SECONDS [HOW]
#
# Stops measuring after SECONDS and can be repeated: OUT/h200.full.gz, if it is
# there, is gone on from, else the shipped profile. HOW says what else is
# measured: refresh=DATE, what is older, first; tune, what is like the best
# engines; compiled, AlexNet's and ResNet-18's undivided engines that are
# compiled when they are built. Writes that file, of which `merge --compact`
# makes what ships (HACKING.md), and OUT/verify.log. With exhaustive, what is
# hopeless is measured, into OUT/h200.exhaustive.gz, which does not ship but is
# for tests/bench_pruning.
#
# Exit status 1: a bench failed, or a plan does not hold (VGG-16's in fp16 never
# did, see README).
set -u
[ $# -eq 3 ] || [ $# -eq 4 ] || {
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 1
}
source=$(cd "$(dirname "$0")/.." && pwd) || exit 1
carry=$(cd "$1" && pwd) || exit 1
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 1
seconds=$3 how=${4-} begin=$(date +%s)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. "$source/tests/gpu_carried.sh"
profile=$(mktemp) || exit 1
trap 'rm -rf "$scratch" "$profile"' EXIT

kept=$out/h200.full.gz
[ "$how" != exhaustive ] || kept=$out/h200.exhaustive.gz
if [ -f "$kept" ]; then
    gzip -dc "$kept" >"$profile" || exit 1
else
    shipped "$profile" || exit 1
fi

# in_math MATH COMMAND...: what --math and --layout select it, behind it.
in_math()
{
    math=$1
    shift
    case $math in
        *:nhwc) "$@" --math "${math%:nhwc}" --layout nhwc ;;
        *) "$@" --math "$math" --layout nchw ;;
    esac
}

# measure BENCH-ARGUMENT...: in what is left of the time.
measure()
{
    left=$((seconds - $(date +%s) + begin))
    [ "$left" -gt 5 ] || return
    echo "$((seconds - left)) s: bench $*"
    # shellcheck disable=SC2086 # an option or nothing
    ucudnn-plan bench --profile "$profile" --devices all $no_compiled \
        --time-budget "$left" "$@" \
        2>"$scratch/progress" || {
        tail -n 1 "$scratch/progress"
        : >"$scratch/failed"
    }
}

maths="fp16:nhwc tf32 fma"
divided="alexnet resnet18"
small="mobilenet-v2 resnet50 inception-v3 densenet40"
large="vgg16 alexnet-grouped unet3d"

# each_math BENCH-ARGUMENT...
each_math()
{
    for math in $maths; do
        in_math "$math" measure "$@"
    done
}

no_compiled=--no-runtime-compiled
# shellcheck disable=SC2086 # the networks' names
case $how in
    compiled)
        no_compiled=
        each_math --api graph --policy undivided $divided
        each_math --tune --api graph --policy undivided $divided
        ;;
    exhaustive)
        for networks in "$divided" "$small" "$large"; do
            each_math --exhaustive --api graph $networks
        done
        ;;
    tune)
        each_math --tune $divided
        each_math --tune $divided --policy "$fine_sizes"
        each_math --tune $small $large
        ;;
    refresh=*)
        no_compiled=
        each_math "--$how" $divided --policy "1,2,4,$fine_sizes"
        each_math "--$how" $small $large
        no_compiled=--no-runtime-compiled
        each_math $divided $small $large
        each_math $divided --policy "$fine_sizes"
        ;;
    "")
        each_math $divided $small $large
        each_math $divided --policy "$fine_sizes"
        ;;
    *) echo "gpu_profile.sh: \"$how\"?" >&2; exit 1 ;;
esac
gzip -c "$profile" >"$kept.new" && mv "$kept.new" "$kept" || exit 1

# verify_on GPU: what no other GPU has taken.
verify_on()
{
    export CUDA_VISIBLE_DEVICES="$1"
    for network in $divided $small $large; do
        limit=64M
        [ "$network" != unet3d ] || limit=512M
        for math in $maths; do
            part=$scratch/$network:$math
            mkdir "$part" 2>/dev/null || continue
            echo "# $network $math"
            in_math "$math" ucudnn-plan plan "$network" --offline --quiet \
                --profile "$profile" --workspace-limit $limit -o "$part/plan" &&
                ucudnn-plan verify "$part/plan" --profile "$profile" --quiet
            echo "exit status $?"
        done >"$scratch/$network.$1.log" 2>&1
    done
}

gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
for gpu in $(seq 0 $((gpus - 1))); do
    verify_on "$gpu" &
done
wait
cat "$scratch"/*.log >"$out/verify.log"
grep -E '^(#|predicted|planned|undivided|ucudnn-plan|exit)' "$out/verify.log"
[ ! -e "$scratch/failed" ] && grep -q '^exit status' "$out/verify.log" &&
    ! grep -q '^exit status [^0]' "$out/verify.log"
