# Sourced after lib.sh by the tests that run tests/client/steps, a program
# that trains on the double, with libucudnn in front of its cuDNN.

steps=$abs_top_builddir/tests/client/steps
library=$abs_top_builddir/.libs/libucudnn.so.0
[ -x "$steps" ] || skip_all "built without CUDA and cuDNN headers"
unset UCUDNN_PLAN UCUDNN_MATCH UCUDNN_LOG UCUDNN_STATS UCUDNN_RECORD \
    UCUDNN_DISABLE TORCH_CUDNN_V8_API_DISABLED LD_PRELOAD

# An instrumented library is not the first that a program loads.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
export ASAN_OPTIONS

# recorded COMMAND...: preloaded, recording into net.json.
recorded()
{
    UCUDNN_RECORD=net.json LD_PRELOAD=$library "$@"
}

# said: the lines of err that are no note on PyTorch.
said()
{
    grep -v TORCH_CUDNN_V8_API_DISABLED err
}

# said_is LINE: one line, besides that note.
said_is()
{
    printf '%s\n' "$1" >err.expected
    said >err.said
    ok "says: $1" same err.expected err.said
}

# said_nothing: not even one.
said_nothing()
{
    said >err.said
    ok "says nothing" test ! -s err.said || show_file err
}
