# Training steps of PyTorch with and without a plan, interleaved.
#
# usage: sh compare.sh PROFILE POLICY ROUNDS NETWORK:PRECISION:LIMIT_MIB...
#
# Each cell is recorded from the very program, measured into PROFILE where
# that lacks something, planned, and run ROUNDS times in turn:
#   capped   cuDNN's legacy API, its workspaces capped to the limit
#   planned  the same, with the plan
# Needs ucudnn-plan on the path, and a PyTorch that finds cuDNN.
set -eu
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
profile=$1 policy=$2 rounds=$3
shift 3
export TORCH_CUDNN_V8_API_DISABLED=1

for cell; do
    network=${cell%%:*} rest=${cell#*:}
    precision=${rest%%:*} limit=${rest#*:}
    step="${PYTHON:-python3} $here/step.py $network $precision"
    net=$scratch/$network-$precision.json
    plan=$scratch/$network-$precision.plan
    # shellcheck disable=SC2086 # the words of $step
    {
        ucudnn-plan record -o "$net" -- $step 3 >/dev/null
        ucudnn-plan bench "$net" --profile "$profile" --policy "$policy" \
            2>/dev/null
        ucudnn-plan plan "$net" --profile "$profile" --policy "$policy" \
            --workspace-limit "${limit}M" -o "$plan" |
            grep -E '^(predicted|undivided|limit)'
        for round in $(seq "$rounds"); do
            echo "$cell capped: $(CUDNN_CONV_WSCAP_DBG=$limit $step)"
            echo "$cell planned: $(CUDNN_CONV_WSCAP_DBG=$limit \
                UCUDNN_STATS=$scratch/stats \
                ucudnn-plan run "$plan" -- $step)"
        done
    }
    sed 's/^/    /' "$scratch/stats"
    rm -f "$scratch/stats"
done
