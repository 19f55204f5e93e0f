# Training steps of PyTorch with and without a plan, interleaved.
#
# usage: sh compare.sh ROUNDS NETWORK:PRECISION:LIMIT_MIB...
#
# Each cell is planned from the shipped profile and run ROUNDS times in turn:
# capped    cuDNN's legacy API, its workspaces capped to the limit
# planned   the same, preloaded with libucudnn and the plan
# Variables: LIBUCUDNN, PROFILE (h200), PYTHON (python3); and what finds cuDNN.
set -eu
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rounds=$1
shift
export TORCH_CUDNN_V8_API_DISABLED=1

for cell; do
    network=${cell%%:*} rest=${cell#*:}
    precision=${rest%%:*} limit=${rest#*:}
    case $precision in
    fp32) math="--math fma" ;;
    tf32) math="--math tf32" ;;
    fp16) math="--math fp16 --layout nhwc" ;;
    esac
    plan=$scratch/$network-$precision.plan
    # shellcheck disable=SC2086 # the words of $math
    ucudnn-plan plan "$network" --profile "${PROFILE:-h200}" $math --quiet \
        --workspace-limit "${limit}M" -o "$plan"
    for round in $(seq "$rounds"); do
        echo "capped $limit: $(CUDNN_CONV_WSCAP_DBG=$limit \
            "${PYTHON:-python3}" "$here/step.py" "$network" "$precision")"
        echo "planned $limit: $(CUDNN_CONV_WSCAP_DBG=$limit \
            LD_PRELOAD=$LIBUCUDNN UCUDNN_PLAN=$plan UCUDNN_LOG=warning \
            UCUDNN_STATS=$scratch/stats \
            "${PYTHON:-python3}" "$here/step.py" "$network" "$precision")"
    done
    [ ! -s "$scratch/stats" ] || sed 's/^/    /' "$scratch/stats"
done
