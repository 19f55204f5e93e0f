# Packs a build for a machine with a GPU that has none of the tools and
# libraries to build there: programs, GPU tests, and what they are linked with
# but the C library. gpu_all.sh runs them.
#
# usage: sh carry.sh BUILD DEST
#
# BUILD must have been built with `make check TESTS=`. DEST is replaced.
set -eu
[ $# -eq 2 ] && [ -n "$2" ] || {
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 1
}
build=$1 dest=$2
[ ! -e "$dest" ] || [ -z "$(ls -A "$dest")" ] ||
    [ -f "$dest/build/ucudnn-plan" ] || {
    echo "carry.sh: $dest is no folder that this made" >&2
    exit 1
}
rm -rf "${dest:?}/build" "$dest/lib"
mkdir -p "$dest/build/.libs" "$dest/build/tests" "$dest/lib"

# What libtool wraps in a script lies in .libs beside it.
program()
{
    wrapped=${1%/*}/.libs/${1##*/}
    [ -f "$wrapped" ] || wrapped=$1
    cp "$wrapped" "$2"
}

program "$build/ucudnn-plan" "$dest/build/"
for test in "$build"/tests/gpu_*; do
    case ${test##*/} in
        *.*) ;;
        *) program "$test" "$dest/build/tests/" ;;
    esac
done
for name in libucudnn.so.0 libucudnn.so; do
    cp "$build/.libs/$name" "$dest/build/.libs/"
done

# The C library and the compiler's are the other machine's own.
LD_LIBRARY_PATH=$dest/build/.libs ldd "$dest"/build/ucudnn-plan \
    "$dest"/build/tests/* |
    awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|libgcc_s|libucudnn)\.so' |
    while read -r library; do
        cp "$library" "$dest/lib/"
    done
