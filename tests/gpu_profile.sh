# Measures what the shipped profile lacks, on all GPUs, and verifies a plan of
# every network in every math; run from a build that carry.sh packed.
#
# usage: sh gpu_profile.sh CARRY OUT SECONDS
#
# Stops measuring after SECONDS and can be repeated: OUT/h200.full.gz, if it is
# there, is gone on from, else the shipped profile. Writes that file, and
# OUT/verify.log. `merge --compact` makes of it what ships (HACKING.md).
set -u
[ $# -eq 3 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 1; }
source=$(cd "$(dirname "$0")/.." && pwd) || exit 1
carry=$(cd "$1" && pwd) || exit 1
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 1
seconds=$3 begin=$(date +%s)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
. "$source/tests/gpu_carried.sh"
profile=$(mktemp) || exit 1
trap 'rm -rf "$scratch" "$profile"' EXIT

if [ -f "$out/h200.full.gz" ]; then
    gzip -dc "$out/h200.full.gz" >"$profile"
else
    shipped "$profile"
fi

# measure BENCH-ARGUMENT...: in what is left of the time.
measure()
{
    left=$((seconds - $(date +%s) + begin))
    [ "$left" -gt 5 ] || return
    echo "bench $*"
    ucudnn-plan bench --profile "$profile" --devices all \
        --no-runtime-compiled --quiet --time-budget "$left" "$@"
}

networks="alexnet resnet18 unet3d mobilenet-v2 resnet50 vgg16 alexnet-grouped
    inception-v3 densenet40"
maths="fma tf32 fp16:nhwc"
for math in $maths; do
    layout=nchw
    [ "$math" = "${math%:nhwc}" ] || layout=nhwc
    # shellcheck disable=SC2086 # the networks' names
    measure $networks --math "${math%:*}" --layout $layout
    measure alexnet resnet18 --math "${math%:*}" --layout $layout \
        --policy "$fine_sizes"
done
gzip -c "$profile" >"$out/h200.full.gz"

# What verify says of a plan's sequence, and what is wrong.
for network in $networks; do
    limit=64M
    [ "$network" != unet3d ] || limit=512M
    for math in $maths; do
        layout=nchw
        [ "$math" = "${math%:nhwc}" ] || layout=nhwc
        echo "# $network $math"
        ucudnn-plan plan "$network" --math "${math%:*}" --layout $layout \
            --offline --profile "$profile" --workspace-limit $limit --quiet \
            -o "$scratch/plan" 2>&1 &&
            ucudnn-plan verify "$scratch/plan" --profile "$profile" 2>&1
    done
done >"$out/verify.log"
grep -E '^(#|predicted|planned|undivided|ucudnn-plan)' "$out/verify.log"
