# Runs one test program and passes its output on as one TAP stream:
#
# - cmocka writes a plan a group; several groups become one plan, numbered
#   through, so that a program may run as many groups as it likes;
# - cmocka writes "not ok 3 # SKIP name" for a skipped test, which would
#   count as failed;
# - a program that runs no test and exits with 77 is skipped;
# - the line said before either is the reason.
#
# Usage: sh tap.sh PROGRAM [ARGUMENT...]; exits as the program does, except
# for 1 to 99, cmocka's count of tests that already said "not ok".

CMOCKA_MESSAGE_OUTPUT=TAP
export CMOCKA_MESSAGE_OUTPUT
program=${1##*/}

{
    "$@" 2>&1
    echo "exit status $?"
} | awk -v program="$program" '
function flush_held() {
    if (held != "")
        print held
    held = ""
}
/^1\.\.[0-9]+/ {
    planned += substr($1, 4)
    next
}
/^(not )?ok / {
    flush_held()
    word = $1
    sub(/^(not )?ok [0-9]* *(- *)?/, "")
    if (/^# SKIP /) {
        word = "ok"
        $0 = substr($0, 8) " # SKIP " (said == "" ? "no reason given" : said)
    } else if (word == "not") {
        word = "not ok"
        failed++
    }
    # cmocka sums a failed group up once more, without a number
    print word " " ++count " - " $0
    said = ""
    next
}
/^# not ok - / || /^# ok - / { next }
/^exit status [0-9]+$/ && held == "" {
    held = $0
    next
}
{
    flush_held()
    said = $0
    sub(/^# */, "", said)
    print "# " said
}
END {
    status = substr(held, 13) + 0
    if (status == 77 && count == 0 && planned == 0) {
        print "1..0 # SKIP " program ": " \
            (said == "" ? "no reason given" : said)
        exit 0
    }
    print "1.." planned + 0
    if (status > 0 && status < 100 && failed > 0)
        status = 0
    exit status
}'
