# The programs that carry.sh packed, ready to be run: sourced by gpu_all.sh and
# gpu_profile.sh, which set `source` (the sources' folder), `carry` (what was
# packed) and `scratch` (a folder to write to).
#
# Has shipped(); sets `libraries` (for LD_LIBRARY_PATH), PATH (ucudnn-plan
# first) and what the tests want; `fine_sizes` is the policy of the README.
export abs_top_srcdir="$source" abs_top_builddir="$carry/build"
export UCUDNN_DATA_DIR="$source/db" PYTHONDONTWRITEBYTECODE=1
cudnn=$(python3 -c 'import nvidia.cudnn as c; print(list(c.__path__)[0])' \
    2>/dev/null) && cudnn=:$cudnn/lib
libraries=$carry/lib:$carry/build/.libs$cudnn
libraries=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# Of all programs only ours see the libraries that came with them.
cat >"$scratch/ucudnn-plan" <<END
#!/bin/sh
LD_LIBRARY_PATH='$libraries' exec '$carry/build/ucudnn-plan' "\$@"
END
chmod +x "$scratch/ucudnn-plan"
PATH=$scratch:$PATH
# shipped FILE: all that ships for the H200, as one profile.
shipped()
{
    ucudnn-plan merge --quiet -o "$1" h200 h200-fp16 h200-fine
}
# Where it is in memory a database is not waited for.
[ -n "${TMPDIR-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
# shellcheck disable=SC2034 # for those who source this
fine_sizes=8,10,12,14,16,18,20,22,24,26,28,32,36,40,43,48,52,56,64,72,80,86,96
fine_sizes=$fine_sizes,112,128,144,160,192
