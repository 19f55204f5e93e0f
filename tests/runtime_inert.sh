# Programs without cuDNN do not notice the library, and it exports what its
# map says.
. "$abs_top_srcdir/tests/lib.sh"
. "$abs_top_srcdir/tests/runtime.sh"

sed -n '/global:/,/local:/s/^ *\([a-zA-Z0-9_]*\);$/\1/p' \
    "$abs_top_srcdir/runtime/libucudnn.map" | sort >expected
nm -D --defined-only "$library" | awk '{ print $3 }' | sort >seen
if sanitized; then
    skip "the map is what is exported" "a sanitizer exports more"
else
    ok "the map is what is exported" same expected seen
fi
ok "cuDNN's convolutions are" grep -qx cudnnConvolutionForward expected
# Anonymous: cuDNN 9 versions its symbols, and a version of ours would hide
# us from programs that ask for theirs.
ok "no symbol has a version" test -z "$(nm -D --defined-only "$library" |
    grep @)"

ldd "$library" >needed
ok "neither CUDA nor cuDNN is needed" test -z "$(grep -i -e cuda -e cudnn -e \
    nvidia needed)"
ok "nothing is missing" test -z "$(grep 'not found' needed)"

# Each function that is looked for is one that may be missing.
called()
{
    called_names=$(sed -n '/^#define UC_CUD.*_FUNCTIONS(X)/,/^$/s/.*X(\([A-Za-z0-9_]*\)).*/\1/p' \
        "$abs_top_srcdir/runtime/library.h")
    for called_name in $called_names; do
        grep -qE "(\.|->)$called_name\>" "$abs_top_srcdir"/runtime/*.c \
            "$abs_top_srcdir"/planner/*.c || echo "$called_name"
    done >uncalled
    [ -n "$called_names" ] && same /dev/null uncalled
}
ok "no function is required that is not called" called

# What the C library keeps once for the whole process is the program's.
nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' \
    >imports
ok "it calls the C library" grep -qx malloc imports
ok "it leaves alone what a process has once" test -z "$(grep -x -e strtok \
    -e setlocale -e setenv -e putenv -e unsetenv -e srand -e rand -e chdir \
    -e signal -e sigaction -e umask imports)"

if sanitized; then
    skip "programs without cuDNN" "the library is instrumented"
    finish
    exit
fi

inert()
{
    expect "$1" "$2" env -u LD_LIBRARY_PATH LD_PRELOAD="$library" \
        UCUDNN_PLAN=missing UCUDNN_LOG=debug UCUDNN_STATS=1 \
        UCUDNN_RECORD=record.json sh -c "$3"
    ok "$2: nothing is said" test ! -s err
    ok "$2: nothing is written" test ! -e record.json
}
inert 0 "true" "exec /bin/true"
inert 3 "a shell" "echo text | cat >/dev/null; exit 3"
inert 0 "a compiler" "${CC:-cc} --version"
# shellcheck disable=SC2016 # for the inner shell
inert 0 "a compilation" 'echo "int main(void) { return 0; }" >a.c &&
    ${CC:-cc} a.c -o a && ./a'

# The graph's library without the whole cuDNN, opened for one module alone.
cat >graph.c <<'END_OF'
int cudnnBackendExecute(void *handle, void *plan, void *pack)
{
    return handle == plan && plan == pack ? 7 : 8;
}
END_OF
cat >module.c <<'END_OF'
int cudnnBackendExecute(void *, void *, void *);
int run(void);
int run(void)
{
    return cudnnBackendExecute(0, 0, 0) == 7 && cudnnBackendExecute(0, 0, "");
}
END_OF
cat >main.c <<'END_OF'
#include <dlfcn.h>
int main(void)
{
    void *module = dlopen("./module.so", RTLD_NOW | RTLD_LOCAL);
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "run") : 0;

    return run && run() ? 0 : 1;
}
END_OF
build()
{
    ${CC:-cc} -shared -fPIC -Wl,-soname,libcudnn_graph.so.9 \
        -o libcudnn_graph.so.9 graph.c &&
        ${CC:-cc} -shared -fPIC '-Wl,-rpath,$ORIGIN' -o module.so module.c \
            libcudnn_graph.so.9 && ${CC:-cc} -o main main.c -ldl
}
ok "a program on the graph's library alone" build
expect 0 "it goes to that library" env -u LD_LIBRARY_PATH \
    LD_PRELOAD="$library" UCUDNN_PLAN=missing UCUDNN_STATS=1 ./main
ok "nothing is said" test ! -s err

if grep -q __gcov_ "$library"; then
    skip "starting takes less than 1 ms longer" "it writes its coverage"
    finish
    exit
fi
cost=$("$clients/startup" "$library" 100)
echo "# starting takes $cost ns longer"
ok "starting takes less than 1 ms longer" test "$cost" -lt 1000000

finish
