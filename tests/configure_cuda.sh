# Where configure looks for CUDA and cuDNN: folders given by name, the layout
# of NVIDIA's Python wheels, and what it says when there is nothing; and the
# same of cairo.
. "$abs_top_srcdir/tests/lib.sh"

# A copy, because the sources may be configured in place.
mkdir src src/planner src/runtime
cp "$abs_top_srcdir/configure" "$abs_top_srcdir/config.h.in" \
    "$abs_top_srcdir/Makefile.in" src
cp -R "$abs_top_srcdir/build-aux" src
cp "$abs_top_srcdir/planner/main.c" src/planner
cp "$abs_top_srcdir/runtime/ucudnn.pc.in" src/runtime
chmod -R u+w src

# headers FOLDER FILE VERSION: a stand-in for cuda.h or cudnn.h.
headers()
{
    mkdir -p "$1"
    echo "#define CUDNN_MAJOR $3" >"$1/$2"
}
headers toolkit/include cuda.h 9
headers toolkit/include cudnn.h 9
headers old/include cuda.h 8
headers old/include cudnn.h 8
headers wheels12/nvidia/cuda_runtime/include cuda.h 9
headers wheels12/nvidia/cudnn/include cudnn.h 9
headers wheels13/nvidia/cu13/include cuda.h 9
headers wheels13/nvidia/cudnn/include cudnn.h 9

# wheels_without_crt CUDA-FOLDER: as cuDNN's wheel and CUDA's runtime leave them.
wheels_without_crt()
{
    headers "$1/include" cuda.h 9
    headers "${1%/*}/cudnn/include" cudnn.h 9
    echo '#include <cuda_runtime_api.h>' >>"${1%/*}/cudnn/include/cudnn.h"
    # (A crt folder that the compiler searches anyway would not do.)
    printf '%s\n' '#include "crt/host_defines.h"' '#ifndef WHEEL' \
        '#error no wheel' '#endif' >"$1/include/cuda_runtime_api.h"
}
wheels_without_crt crt12/nvidia/cuda_runtime
wheels_without_crt crt13/nvidia/cu13

# expect_configure STATUS NAME OPTION...
expect_configure()
{
    configure_status=$1
    configure_name=$2
    shift 2
    expect "$configure_status" "$configure_name" sh src/configure \
        --cache-file="$scratch/cache" --disable-dependency-tracking \
        --srcdir=src "$@"
}

here=$PWD
expect_configure 0 "--with-cuda=DIR finds a toolkit" \
    --with-cuda="$here/toolkit"
out_has "measuring on a GPU (bench)       yes (cuda.h in $here/toolkit/include"
expect_configure 0 "--with-cuda=DIR finds the wheels of CUDA 12" \
    --with-cuda="$here/wheels12/nvidia"
out_has "cudnn.h in $here/wheels12/nvidia/cudnn/include"
expect_configure 0 "--with-cuda=DIR finds cuDNN beside CUDA 13's wheel" \
    --with-cuda="$here/wheels13/nvidia/cu13"
out_has "nvidia/cu13/../cudnn/include"
for folder in crt12/nvidia/cuda_runtime crt13/nvidia/cu13; do
    expect_configure 1 "a wheel that lacks CUDA's crt headers is told" \
        --with-cuda="$here/$folder"
    err_has "no crt/host_defines.h in $here/$folder/include; in Python's wheels"
done
mkdir -p crt12/nvidia/cuda_nvcc/include/crt crt13/nvidia/cu13/include/crt
echo '#define WHEEL' >crt12/nvidia/cuda_nvcc/include/crt/host_defines.h
echo '#define WHEEL' >crt13/nvidia/cu13/include/crt/host_defines.h
for folder in crt12/nvidia/cuda_runtime crt13/nvidia/cu13; do
    expect_configure 0 "and found where its own wheel leaves it" \
        --with-cuda="$here/$folder"
    out_has "yes (cuda.h in $here/$folder/include"
done
expect_configure 0 "--with-cudnn=DIR may be elsewhere" \
    --with-cuda="$here/toolkit" --with-cudnn="$here/wheels12/nvidia/cudnn"
out_has "cudnn.h in $here/wheels12/nvidia/cudnn/include"

expect_configure 1 "--with-cuda=DIR without headers is an error" \
    --with-cuda="$here/src"
err_has "--with-cuda=$here/src: no cuda.h there"
expect_configure 1 "--with-cudnn=DIR without headers is an error" \
    --with-cuda="$here/toolkit" --with-cudnn="$here/src"
err_has "--with-cudnn=$here/src: no cudnn.h there"
expect_configure 1 "cuDNN 8 asked for by name is an error" \
    --with-cuda="$here/old"
err_has "do not compile as cuDNN 9"

expect_configure 0 "--without-cuda builds the GPU-free half" --without-cuda
out_has "measuring on a GPU (bench)       no (not asked for)"
err_has "only the GPU-free half is built"

mkdir bin
printf '#!/bin/sh\necho "%s/wheels13/nvidia"\n' "$here" >bin/python3
chmod +x bin/python3
PATH=$here/bin:$PATH
expect_configure 0 "python3's wheels are found" --with-cuda
if [ -e /usr/local/cuda/include/cuda.h ]; then
    out_has "cuda.h in /usr/local/cuda/include"
else
    out_has "cuda.h in $here/wheels13/nvidia/cu13/include"
fi

# Cairo. A pkg-config that knows everything else:
cat >pkg-config-without-cairo <<END
#!/bin/sh
case \$* in *cairo*) exit 1 ;; esac
exec ${PKG_CONFIG:-pkg-config} "\$@"
END
chmod +x pkg-config-without-cairo
PKG_CONFIG=$PWD/pkg-config-without-cairo
export PKG_CONFIG
rm -f cache
expect_configure 0 "cairo may be missing" --without-cuda
out_has "images of sweeps (cairo)         no (no cairo; Debian: libcairo2-dev)"
expect_configure 1 "unless it was asked for" --without-cuda --with-cairo
err_has "--with-cairo: cairo not found (Debian: libcairo2-dev)"
expect_configure 0 "it may be left out" --without-cuda --without-cairo
out_has "images of sweeps (cairo)         no (not asked for)"
expect_configure 1 "it takes no folder" --without-cuda --with-cairo=/usr
err_has "--with-cairo takes no value but yes or no"

finish
