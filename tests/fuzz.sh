# Builds the fuzzers named, in fuzz/ of the current folder, a build tree, and
# runs each for FUZZ_SECONDS (60): `make fuzz`. What they find goes to
# fuzz/found, new inputs to fuzz/NAME; SOURCE/tests/corpus is only read.
#
# Usage: sh fuzz.sh SOURCE NAME...; uses CLANG, FUZZ_SECONDS, FUZZ_CPPFLAGS,
# FUZZ_LIBS.
set -eu

source=$1
shift
clang=${CLANG:-clang}
flags="-g -O1 -std=gnu11 -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=all -fno-omit-frame-pointer"
mkdir -p fuzz/objects fuzz/found

command -v "$clang" >/dev/null || {
    echo "fuzz: no $clang; libFuzzer comes with it (CLANG=... says where)" >&2
    exit 1
}

# What the fuzzers need of the product, without GPU code.
for file in "$source"/common/*.c "$source"/db/*.c "$source"/planner/import*.c \
    "$source"/planner/json_text.c "$source"/planner/network*.c \
    "$source"/planner/outfile.c \
    "$source"/tests/fuzz.c; do
    # shellcheck disable=SC2086 # flags are words
    "$clang" $flags -I"$source" -I. $FUZZ_CPPFLAGS -c "$file" \
        -o "fuzz/objects/$(basename "$file" .c).o"
done
for name; do
    # shellcheck disable=SC2086
    "$clang" $flags -fsanitize=fuzzer -I"$source" -I. $FUZZ_CPPFLAGS \
        "$source/tests/fuzz_$name.c" fuzz/objects/*.o $FUZZ_LIBS \
        -o "fuzz/fuzz_$name"
done
for name; do
    dictionary=
    if [ -e "$source/tests/corpus/$name.dict" ]; then
        dictionary=-dict=$source/tests/corpus/$name.dict
    fi
    mkdir -p "fuzz/$name"
    echo "fuzz: $name, ${FUZZ_SECONDS:-60} seconds"
    "fuzz/fuzz_$name" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=5 \
        -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="fuzz/found/$name-" \
        ${dictionary:+"$dictionary"} "fuzz/$name" \
        "$source/tests/corpus/$name" >"fuzz/$name.log" 2>&1 || {
        tail -n 40 "fuzz/$name.log"
        echo "fuzz: $name found something: fuzz/found, fuzz/$name.log" >&2
        exit 1
    }
    grep -E 'Done|stat::number_of_executed|cov:' "fuzz/$name.log" | tail -n 3
done
