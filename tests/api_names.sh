# ucudnn.h, the library's list of exports, its settings and libucudnn(3) agree;
# the header compiles alone, as C and as C++.
. "$abs_top_srcdir/tests/lib.sh"

header=$abs_top_srcdir/runtime/ucudnn.h
map=$abs_top_srcdir/runtime/libucudnn.map
page=$abs_top_srcdir/man/libucudnn.3

# section TITLE: the lines of a section of the page.
section()
{
    awk -v title="$1" '
        /^\.Sh / { inside = substr($0, 5) == title; next }
        inside' "$page"
}

# without_comments FILE: C as the compiler sees it.
without_comments()
{
    awk '{
        text = text $0 "\n"
    }
    END {
        while ((start = index(text, "/*")) > 0) {
            printf "%s", substr(text, 1, start - 1)
            text = substr(text, start + 2)
            text = substr(text, index(text, "*/") + 2)
        }
        printf "%s", text
    }' "$1"
}

without_comments "$header" >header
grep -o 'ucudnn_[a-z_]*(' header | tr -d '(' | sort >functions.header
sed -n 's/^ *\(ucudnn_[a-z_]*\);$/\1/p' "$map" | sort >functions.map
section SYNOPSIS | sed -n 's/^\.F[no] \([a-z_]*\).*/\1/p' | sort >functions.page
ok "the header has functions" [ "$(wc -l <functions.header)" -gt 5 ]
ok "the functions exported are the header's" \
    same functions.header functions.map
ok "the functions of the page are the header's" \
    same functions.header functions.page

sed -n 's/^ *\(cudnn[A-Za-z_0-9]*\);$/\1/p' "$map" >intercepted.map
section "INTERCEPTED CALLS" | sed -n 's/^\.Fn \(cudnn[A-Za-z_0-9]*\).*/\1/p' \
    >intercepted.page
ok "functions are intercepted" [ -s intercepted.map ]
for function in $(cat intercepted.map); do
    ok "the page tells of $function" grep -qx "$function" intercepted.page
done

sed -n '/^typedef enum ucudnn_status {/,/^}/p' header |
    grep -o 'UCUDNN_[A-Z_]*' | sort >statuses.header
section "RETURN VALUES" | sed -n 's/^\.It Dv //p' | sort >statuses.page
ok "the header has statuses" [ -s statuses.header ]
ok "the page has a paragraph for each status" \
    same statuses.header statuses.page

grep -o 'UCUDNN_[A-Z_]*=' "$abs_top_srcdir/runtime/settings.h" | tr -d = |
    sort >variables.header
section ENVIRONMENT | sed -n 's/^\.It Ev //p' | sort >variables.page
ok "there are settings" [ -s variables.header ]
ok "the page has a paragraph for each setting" \
    same variables.header variables.page

# compiles COMPILER LANGUAGE STANDARD: a file that holds the header alone.
compiles()
{
    # shellcheck disable=SC2086 # flags are words
    $1 -x "$2" -std="$3" -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
        -I"$abs_top_srcdir/runtime" $TEST_CUDA_CPPFLAGS alone.h
}

printf '#include "ucudnn.h"\nint alone;\n' >alone.h
if double_present; then
    ok "the header compiles alone as C11" compiles "$TEST_CC" c c11
    if command -v c++ >/dev/null; then
        ok "the header compiles alone as C++11" compiles c++ c++ c++11
    else
        skip "the header compiles alone as C++11" "no C++ compiler"
    fi
else
    skip "the header compiles alone" "built without CUDA and cuDNN headers"
fi

finish
