# Sourced after lib.sh by the tests of libucudnn on the double: client
# programs with and without the library in front of cuDNN.

double_present || skip_all "built without CUDA and cuDNN headers"

clients=$abs_top_builddir/tests/client
library=$abs_top_builddir/.libs/libucudnn.so
LD_LIBRARY_PATH=$abs_top_builddir/tests/double
export LD_LIBRARY_PATH
unset UCUDNN_PLAN UCUDNN_MATCH UCUDNN_LOG UCUDNN_STATS UCUDNN_RECORD \
    UCUDNN_DISABLE

# An instrumented library must not be the first that a program loads.
sanitized()
{
    grep -q __asan_ "$library"
}
# Nothing of it is freed: the session lives as long as the process.
ASAN_OPTIONS=${ASAN_OPTIONS:-}${ASAN_OPTIONS:+:}verify_asan_link_order=0
export ASAN_OPTIONS

# plain LOG COMMAND...: without the library; what cuDNN was asked in LOG.
plain()
{
    plain_log=$1
    shift
    rm -f "$plain_log"
    UC_DOUBLE_LOG=$plain_log "$@"
}

# preloaded LOG COMMAND...: the same with the library.
preloaded()
{
    preloaded_log=$1
    shift
    rm -f "$preloaded_log"
    LD_PRELOAD=$library UC_DOUBLE_LOG=$preloaded_log "$@"
}

# client NAME [OPTION...]: one of the client programs. LeakSanitizer does not
# survive libraries that are closed.
client()
{
    client_name=$1
    shift
    case $client_name in
    host)
        ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 "$clients/host" "$clients/library.so" "$@"
        ;;
    *) "$clients/$client_name" "$@" ;;
    esac
}

# calls LOG: the convolutions of a log, as `--expect` prints them.
calls()
{
    sed -n 's/^[0-9]* convolution \(op=.* beta=[^ ]*\) .*/\1/p' "$1"
}

# story LOG: all that happened, less what differs between two runs.
story()
{
    sed -e 's/^[0-9]* //' -e 's/=0x[0-9a-f]*/=P/g' "$1"
}

# unmisused LOG: the double had nothing to complain of. A plan of the mode WD
# leaves its memory to the end of the process.
unmisused()
{
    [ -s "$1" ] && ! grep -E '^[0-9]+ misuse ' "$1"
}

# clean LOG: and no memory was left.
clean()
{
    [ -s "$1" ] && ! grep -E '^[0-9]+ (misuse|leak) ' "$1"
}
