# merge: profiles of several machines as one.
. "$abs_top_srcdir/tests/lib.sh"

# row OUTCOME TIME SAMPLES DAY: a measurement in the text of a dump.
row()
{
    printf 'ucudnn-dump\tkind=profile\tversion=1\n'
    printf 'environment\tdevice=%s\tcompute_capability=90\t' "${device:-GPU}"
    printf 'multiprocessors=132\tmemory_bytes=1\tcudnn=91900\tcuda=13000\t'
    printf 'driver=\nmeasurement\tproblem=%s\tmicro_batch=1\t' \
        forward:fp32:fma:nchw:c1:k1:i9x9:f3x3
    printf 'accumulate=0\tkernel=%s\toutcome=%s\t' "implicit-gemm/fma" "$1"
    printf 'notes=0\tworkspace_bytes=0\ttime_ns=%s\tspread_ns=0\t' "$2"
    printf 'host_ns=0\tcalls=1\tsamples_ns=%s\t' "$3"
    printf 'measured_at=2025-11-%sT00:00:00Z\tbuild_ns=0\nend\n' "$4"
}

# kept RULE: outcome and time that stay of a.profile and b.profile.
kept()
{
    ucudnn-plan merge -q -o m.profile ${1:+--prefer $1} a.profile b.profile &&
        ucudnn-plan dump m.profile | tr '\t' '\n' |
        sed -n 's/^outcome=//p; s/^time_ns=//p' | tr '\n' ' '
}

row measured 30 1,2,3 01 | ucudnn-plan restore -o a.profile || exit 99
row measured 20 1,2 02 | ucudnn-plan restore -o b.profile || exit 99
ok "more samples by default" [ "$(kept '')" = "measured 30 " ]
ok "more samples" [ "$(kept more-samples)" = "measured 30 " ]
ok "the newest" [ "$(kept newest)" = "measured 20 " ]
ok "the faster" [ "$(kept faster)" = "measured 20 " ]
for outcome in wrong crashed out-of-bounds timed-out; do
    row $outcome 99 1 01 | ucudnn-plan restore -o b.profile || exit 99
    for rule in more-samples newest faster; do
        ok "$outcome is not lost by $rule" \
            [ "$(kept $rule)" = "$outcome 99 " ]
    done
done

expect 0 "a summary" ucudnn-plan merge -o m.profile a.profile b.profile
out_has "1 measurements in 1 environment, 1 of them in several profiles"
out_has "1 stay wrong, out-of-bounds, crashed or timed-out"
device=Other
row measured 10 1 03 | ucudnn-plan restore -o other.profile || exit 99
expect 0 "another GPU is another environment" \
    ucudnn-plan merge --output a.profile a.profile other.profile
out_has "2 measurements in 2 environments"
expect 0 "both are known" ucudnn-plan show a.profile
out_has "Other"

expect 1 "an output is needed" ucudnn-plan merge a.profile
err_is "ucudnn-plan merge: --output is needed"
expect 1 "no such rule" ucudnn-plan merge --prefer best -o m.profile a.profile
err_has '"best" is none of more-samples, newest, faster'
expect 1 "nothing to merge" ucudnn-plan merge -o m.profile
cp m.profile before.profile
expect 6 "an input that is not there" \
    ucudnn-plan merge -o m.profile a.profile none.profile
err_is "ucudnn-plan merge: none.profile: No such file or directory"
ok "leaves the output" cmp m.profile before.profile
make=$abs_top_builddir/tests/db_make
if [ -x "$make" ] && "$make" plan a.plan; then
    expect 6 "a plan" ucudnn-plan merge -o m.profile a.profile a.plan
    err_has "a.plan: is a ucudnn plan, not a ucudnn profile"
fi
ok "no temporary files are left" [ -z "$(ls -A | grep '^\.ucudnn')" ]

finish
