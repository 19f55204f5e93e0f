# The double's graph API and cuDNN's own answer the same calls the same.
. "$abs_top_srcdir/tests/lib.sh"

double_present || skip_all "configured without CUDA and cuDNN"
device=$tests/h200-deviceprop.json
backend=$abs_top_builddir/tests/client/backend

# What the sequence must have reached: a plan, its workspace, its end.
reached()
{
    [ "$(grep -c '^plan: 0$' out)" -eq 1 ] && [ "$(grep -c '^its plan: 0$' out)" -eq 5 ] &&
        [ "$(wc -l <out)" -gt 300 ]
}

expect 0 "the double answers" \
    with_double "$backend" libcudnn.so.9 "$device"
ok "to all calls" reached || show_file out
cp out double.out
cat >err.expected <<'END'
ucudnn double: (nil) is no handle
END
ok "only the missing handle is a misuse" same err.expected err

# cuDNN lies beside the headers that the double was made with.
folder=$(sed -n 's/^#define CUDNN_DIR "\(.*\)"$/\1/p' \
    "$abs_top_builddir/config.h")
real=
for place in lib64 lib lib/x86_64-linux-gnu lib/aarch64-linux-gnu; do
    [ -z "$real" ] && [ -e "$folder/$place/libcudnn.so.9" ] &&
        real=$folder/$place
done
name="cuDNN answers as the double"
if [ -z "$real" ]; then
    skip "$name" "no libcudnn.so.9 in $folder"
    finish
    exit 0
fi
expect 0 "cuDNN answers" env LD_LIBRARY_PATH="$real" \
    ASAN_OPTIONS=detect_leaks=0 "$backend" "$real/libcudnn.so.9" "$device"
ok "$name" same out double.out

finish
