# Splits a dump of a profile that ships, so that no file is too large: powers of
# two into ONE, every problem that has other sizes, whole, into OTHER. `merge`
# of the two gives the profile back.
#
# usage: awk -v one=ONE -v other=OTHER -f split-profile.awk DUMP DUMP
function field(name,   i, length_) {
    length_ = length(name) + 1
    for (i = 1; i <= NF; i++)
        if (substr($i, 1, length_) == name "=")
            return substr($i, length_ + 1)
}
BEGIN { FS = "\t" }
!/^(measurement|search)\t/ {
    if (NR != FNR) {
        print >one
        print >other
    }
    next
}
{
    problem = field("problem")
    odd = field("micro_batch")
    while (odd > 1 && odd % 2 == 0)
        odd /= 2
}
NR == FNR {
    if (odd > 1)
        finer[problem]
    next
}
odd == 1 { print >one }
problem in finer { print >other }
