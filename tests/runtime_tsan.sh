# Eight threads, and one beside another that captures, under ThreadSanitizer:
# the library, the double and the program are compiled anew, the library linked
# before cuDNN instead of preloaded.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"

# compile ARGUMENT...: with the thread sanitizer.
compile()
{
    # shellcheck disable=SC2086 # words
    $TEST_CC -fsanitize=thread -g -O1 -pthread $TEST_CPPFLAGS "$@"
}
# library NAME ARGUMENT...: a shared library.
library()
{
    library_name=$1
    shift
    compile -fPIC -shared -o "$scratch/$library_name" \
        -Wl,-soname,"$library_name" "-Wl,-rpath,$scratch" "$@"
}

echo 'int main(void) { return 0; }' >try.c
if ! compile "$scratch/try.c" -o "$scratch/try" 2>/dev/null || ! ./try; then
    skip_all "no ThreadSanitizer here"
fi

src=$abs_top_srcdir
double=$src/tests/double
ok "the double is instrumented" library libcuda.so.1 -fvisibility=hidden \
    "$double"/cuda_*.c "$double/faults.c" "$double/number.c" \
    "$double/settings.c" -lm
ok "its cuDNN too" library libcudnn.so.9 -fvisibility=hidden \
    "$double"/cudnn_*.c "$double/convolve.c" "$double/number.c" \
    "$scratch/libcuda.so.1" -lm
# shellcheck disable=SC2086 # words
ok "the library too" library libucudnn.so.0 -fvisibility=hidden \
    "$src"/runtime/*.c "$src"/common/*.c "$src/db/plan.c" \
    "$src/db/plan_read.c" "$src/db/sql.c" "$src/db/sql_open.c" \
    "$src/db/sql_query.c" \
    "-Wl,--version-script=$src/runtime/libucudnn.map" $TEST_SQLITE_LIBS -ldl
ok "the program too" compile -o "$scratch/odd" "$src/tests/client/odd.c" \
    "$src/tests/client/cases.c" "$src/tests/client/convolve.c" \
    "$src/tests/client/count.c" "$src/tests/client/run.c" "$double/number.c" \
    "$scratch/libucudnn.so.0" "$scratch/libcudnn.so.9" \
    "$scratch/libcuda.so.1" "-Wl,-rpath,$scratch" -ldl -lm

client linked --case=square --one >one.out
for i in 1 2 3 4 5 6 7 8; do
    cat one.out
done >expected
client linked --case=square --one --expect | sort >one.calls
LD_LIBRARY_PATH=$scratch
TSAN_OPTIONS=halt_on_error=1:exitcode=66
export TSAN_OPTIONS

for mode in wr wd engines; do
    LD_LIBRARY_PATH=$abs_top_builddir/tests/double
    case $mode in
    engines) word=kernel=eng0 ;;
    *) word=$mode ;;
    esac
    ok "a plan, $mode" "$abs_top_builddir/tests/plan_make" $mode.plan $word \
        only=square
    LD_LIBRARY_PATH=$scratch
    rm -f log
    expect 0 "$mode: no race" env UCUDNN_PLAN=$mode.plan UC_DOUBLE_LOG=log \
        UCUDNN_STATS=stats ./odd threads --case=square --one
    ok "$mode: every thread's results are right" same expected out
    ok "$mode: everything is split" test -z "$(calls log | grep ' n=7 ')"
    ok "$mode: there was something to split" grep -q ' n=3 ' log
    ok "$mode: nothing is misused" unmisused log
    rm -f log
    expect 0 "$mode: no race with a thread that captures" \
        env UCUDNN_PLAN=$mode.plan UC_DOUBLE_LOG=log ./odd overlap \
        --case=square --one
    ok "$mode: and nothing is misused" unmisused log
done

finish
