# carry.sh: a build's programs run from the folder alone.
. "$abs_top_srcdir/tests/lib.sh"

double_present || skip_all "built without CUDA and cuDNN headers"
expect 0 "a build is packed" sh "$tests/carry.sh" "$abs_top_builddir" packed
for name in ucudnn-plan .libs/libucudnn.so .libs/libucudnn.so.0 \
    tests/gpu_api tests/gpu_devices tests/gpu_runner tests/gpu_runtime; do
    ok "with $name itself, no wrapper of it" \
        sh -c 'head -c 4 "$1" | grep -q ELF' sh "packed/build/$name"
done
expect 0 "a planner that runs with the libraries beside it" \
    env LD_LIBRARY_PATH=packed/lib packed/build/ucudnn-plan --version
ok "but no C library" sh -c '! ls packed/lib | grep -E "^lib(c|m)\.so"'
expect 0 "it is packed again" \
    sh "$tests/carry.sh" "$abs_top_builddir" packed

mkdir precious
: >precious/file
expect 1 "another folder is not replaced" \
    sh "$tests/carry.sh" "$abs_top_builddir" precious
err_is "carry.sh: precious is no folder that this made"
ok "nor touched" [ "$(ls precious)" = file ]

if gpu_present; then
    skip "all GPU tests skip by name without a GPU" "there is a GPU"
else
    expect 0 "all GPU tests skip by name without a GPU" \
        sh "$tests/gpu_all.sh" packed logs
    ok "and say so" \
        [ "$(grep -c '^1\.\.0 # SKIP ' logs/tests.log)" -eq 7 ] ||
        show_file logs/tests.log
fi

finish
