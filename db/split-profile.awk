# Splits a dump of a profile that ships, so that no file is too large: powers of
# two into FP32 or FP16, by the data type, and every problem that has other
# sizes, whole, into FINE. `merge` of the three gives the profile back.
#
# usage: awk -v fp32=FP32 -v fp16=FP16 -v fine=FINE \
#            -f split-profile.awk DUMP DUMP
function field(name,   i, length_) {
    length_ = length(name) + 1
    for (i = 1; i <= NF; i++)
        if (substr($i, 1, length_) == name "=")
            return substr($i, length_ + 1)
}
BEGIN { FS = "\t" }
!/^(measurement|search)\t/ {
    if (NR != FNR) {
        print >fp32
        print >fp16
        print >fine
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
odd == 1 {
    if (problem ~ /^[^:]*:fp16:/)
        print >fp16
    else
        print >fp32
}
problem in finer { print >fine }
