# What `make install` installs, by what a user does with it: the example of
# libucudnn(3) is compiled and linked by pkg-config's word, and runs on the
# double with a plan made for it.
. "$abs_top_srcdir/tests/lib.sh"

double_present || skip_all "built without CUDA and cuDNN headers"

# The outer make's options and variables are not for this one.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
stage=$scratch/stage
double=$abs_top_builddir/tests/double
expect 0 "make install into a folder" \
    make -C "$abs_top_builddir" install DESTDIR="$stage"

pc=$(find "$stage" -name ucudnn.pc)
PKG_CONFIG_PATH=${pc%/*}
PKG_CONFIG_SYSROOT_DIR=$stage
PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS PKG_CONFIG_ALLOW_SYSTEM_LIBS
expect 0 "pkg-config knows ucudnn" pkg-config --cflags --libs ucudnn
flags=$(cat out)

# A sysroot may come before the variables as well.
variable()
{
    variable_value=$(pkg-config --variable="$1" ucudnn)
    echo "$stage${variable_value#"$stage"}"
}
libdir=$(variable libdir)
ok "pkg-config's file lies in the library's folder" \
    [ "$pc" = "$libdir/pkgconfig/ucudnn.pc" ]
ok "the header is installed" [ -f "$(variable includedir)/ucudnn.h" ]
ok "the page is installed" [ -n "$(find "$stage" -path '*/man3/libucudnn.3')" ]
ok "the library is installed" [ -f "$libdir/libucudnn.so" ]
ok "the library is found by its soname" [ -f "$libdir/libucudnn.so.0" ]
readelf -d "$libdir/libucudnn.so" >dynamic
ok "its soname is libucudnn.so.0" grep -F 'soname: [libucudnn.so.0]' dynamic
ok "it needs neither CUDA nor cuDNN" sh -c '! grep -E "cuda|cudnn\.so" dynamic |
    grep NEEDED'
version=$(pkg-config --modversion ucudnn)
ok "pkg-config's version is the program's" \
    [ "$(ucudnn-plan --version)" = "ucudnn-plan $version" ]

# The last literal block of the page.
awk '
    /^\.Bd -literal/ { inside = 1; text = ""; next }
    /^\.Ed/ { inside = 0 }
    inside {
        gsub(/\\-/, "-")
        gsub(/\\&/, "")
        gsub(/\\e/, "\\")
        text = text $0 "\n"
    }
    END { printf "%s", text }' "$abs_top_srcdir/man/libucudnn.3" >example.c

mkdir links
ln -s "$double/libcudnn.so.9" links/libcudnn.so
ln -s "$double/libcuda.so.1" links/libcuda.so
# shellcheck disable=SC2086 # flags are words
expect 0 "the page's example compiles and links" \
    $TEST_CC -std=c11 -Wall -Werror -o example example.c $TEST_CFLAGS \
    $TEST_CUDA_CPPFLAGS $flags -Llinks -Wl,-rpath-link,"$double" -lcudnn -lcuda
readelf -d example | sed -n 's/.*(NEEDED).*\[\(libu*cudnn\).*/\1/p' >needed
printf 'libucudnn\nlibcudnn\n' >needed.expected
ok "libucudnn comes before cuDNN" same needed.expected needed

# By the double's README: nonfused in pairs, 16*4*2*(3+8)*8*8 bytes and four
# times 12,000 + 0.5*2*8*3*9*256 ns.
cat >example.json <<'END_OF_FILE'
{ "name": "example", "batch": 8, "dtype": "fp32", "math": "fma",
  "layout": "nchw",
  "layers": { "conv1": { "in": [16, 16], "c": 3, "k": 8, "filter": 3,
                         "pad": 1 } } }
END_OF_FILE
expect 0 "the example's layer is measured" with_double ucudnn-plan bench \
    example.json --profile p --policy power-of-two --api legacy --quiet
expect 0 "the example's layer is planned" ucudnn-plan plan example.json \
    --profile p --workspace-limit 100K --offline --quiet -o plan
run_example()
{
    LD_LIBRARY_PATH=$libdir:$double ./example "$1"
}
expect 0 "the example runs" run_example plan
cat >expected <<'END_OF_FILE'
conv1: 4 micro-batches, 90112 bytes, 269184 ns
in the middle: 27
END_OF_FILE
ok "it executes the plan" same expected out

UCUDNN_DISABLE=1
export UCUDNN_DISABLE
expect 0 "the example runs with the library disabled" run_example plan
cat >expected <<'END_OF_FILE'
disabled by UCUDNN_DISABLE
disabled by UCUDNN_DISABLE: left to cuDNN
in the middle: 27
END_OF_FILE
ok "it leaves the convolution to cuDNN" same expected out
unset UCUDNN_DISABLE

UC_DOUBLE_DEVICE_NAME=Another
export UC_DOUBLE_DEVICE_NAME
expect 0 "the example runs on another GPU" run_example plan
cat >expected <<'END_OF_FILE'
planned for another device, which differs in device name
planned for another device or cuDNN: left to cuDNN
in the middle: 27
END_OF_FILE
ok "it leaves the convolution to cuDNN" same expected out
expect 1 "the example without its plan" run_example none
err_has "none"

# Made-up descriptors: they are not looked at without cuDNN.
cat >without.c <<'END_OF_FILE'
#include <stdio.h>
#include <ucudnn.h>
int main(int argc, char **argv)
{
    const ucudnn_operation *operation = NULL;
    ucudnn_plan_file *file = NULL;
    void *any = &file;
    int status;

    if (argc != 2 || ucudnn_open_plan_file(argv[1], NULL, &file, NULL, 0))
        return 1;
    status = ucudnn_find_operation(file, any, UCUDNN_FORWARD, any, any, any,
                                   any, &operation, NULL, 0);
    printf("%d plan, status %d\n", (int)ucudnn_count_plans(file), status);
    ucudnn_close_plan_file(file);
    return 0;
}
END_OF_FILE
# shellcheck disable=SC2086 # flags are words
expect 0 "a program without cuDNN links" $TEST_CC -std=c11 -Wall -Werror \
    -o without without.c $TEST_CFLAGS $TEST_CUDA_CPPFLAGS $flags
expect 0 "and reads plan files" env LD_LIBRARY_PATH="$libdir" ./without plan
echo "1 plan, status 4" >expected
ok "it is told that there is no cuDNN" same expected out

finish
