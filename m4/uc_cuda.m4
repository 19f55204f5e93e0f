# UC_CUDA: headers of the CUDA driver API and cuDNN 9. Both libraries are
# opened at run time, so nothing is linked.
#
# Looked for in --with-cuda=DIR and --with-cudnn=DIR, else in /usr/local/cuda,
# in NVIDIA's Python wheels (site-packages/nvidia/...) and, cuDNN, in /usr.
# Sets CUDA_CPPFLAGS, uc_cuda_summary and the conditional HAVE_CUDNN.

# UC_FIND_HEADER(VARIABLE, HEADER, FOLDERS): the first folder, or folder's
# usual subfolder, that holds the header. Paths with blanks are not looked
# into.
AC_DEFUN([UC_FIND_HEADER], [
$1=
for uc_dir in $3; do
    for uc_sub in include targets/x86_64-linux/include \
        targets/sbsa-linux/include include/x86_64-linux-gnu \
        include/aarch64-linux-gnu cu13/include cu12/include \
        cuda_runtime/include cudnn/include .; do
        AS_IF([test -z "$[]$1" && test -f "$uc_dir/$uc_sub/$2"],
            [AS_CASE([$uc_sub], [.], [$1=$uc_dir], [$1=$uc_dir/$uc_sub])])
    done
done
])

AC_DEFUN([UC_CUDA], [
AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR], [CUDA Toolkit with headers; without it, or with "no", only the GPU-free half is built])],
    [], [with_cuda=auto])
AC_ARG_WITH([cudnn],
    [AS_HELP_STRING([--with-cudnn=DIR], [cuDNN 9 with headers (default: with CUDA)])],
    [], [with_cudnn=auto])

uc_wheels=
AS_CASE([$with_cuda/$with_cudnn], [*auto*|*yes*], [
    for uc_dir in `python3 -c '
import site, sysconfig
for path in (sysconfig.get_path("purelib"), site.getusersitepackages()):
    print(path + "/nvidia")' 2>/dev/null`
    do
        AS_IF([test -d "$uc_dir"], [uc_wheels="$uc_wheels $uc_dir"])
    done
])
UC_FIND_HEADER([uc_cuda_include], [cuda.h],
    [dnl
`AS_CASE([$with_cuda],
    [no], [],
    [auto|yes], [echo /usr/local/cuda $uc_wheels],
    [echo "$with_cuda"])`])
UC_FIND_HEADER([uc_cudnn_include], [cudnn.h],
    [dnl
`AS_CASE([$with_cuda/$with_cudnn],
    [no/*|*/no], [],
    [auto/auto|auto/yes|yes/auto|yes/yes],
        [echo /usr/local/cuda $uc_wheels /usr /usr/local],
    [*/auto|*/yes], [echo "$with_cuda" "$with_cuda/.." /usr/local/cuda $uc_wheels /usr /usr/local],
    [echo "$with_cudnn"])`])

# The runtime API's headers include crt/*.h, which are in a wheel of their own:
# nvidia-cuda-crt in the same folder, CUDA 12's nvidia-cuda-nvcc-cu12 in another.
uc_crt_include=
AS_IF([test -n "$uc_cuda_include" &&
    test ! -f "$uc_cuda_include/crt/host_defines.h"], [
    for uc_dir in "$uc_cuda_include/../../cuda_nvcc/include" \
        "$uc_cuda_include/../../cuda_crt/include"; do
        AS_IF([test -f "$uc_dir/crt/host_defines.h"],
            [uc_crt_include=$uc_dir])
    done
])

AC_MSG_CHECKING([for CUDA headers])
AC_MSG_RESULT([${uc_cuda_include:-no}])
AC_MSG_CHECKING([for cuDNN headers])
AC_MSG_RESULT([${uc_cudnn_include:-no}])
AS_CASE([$with_cuda], [no|auto], [],
    [AS_IF([test -z "$uc_cuda_include"],
        [AC_MSG_ERROR([--with-cuda=$with_cuda: no cuda.h there])])
    AS_IF([test -z "$uc_cudnn_include" && test "$with_cudnn" = auto],
        [AC_MSG_ERROR([--with-cuda=$with_cuda: no cudnn.h for it (--with-cudnn=DIR says where)])])])
AS_CASE([$with_cudnn], [no|auto], [],
    [AS_IF([test -z "$uc_cudnn_include"],
        [AC_MSG_ERROR([--with-cudnn=$with_cudnn: no cudnn.h there])])
    AS_IF([test -z "$uc_cuda_include"],
        [AC_MSG_ERROR([--with-cudnn=$with_cudnn: no cuda.h for it (--with-cuda=DIR says where)])])])

have_cudnn=no
uc_cuda_why="no CUDA and cuDNN 9 headers; --with-cuda=DIR, --with-cudnn=DIR"
AS_IF([test -n "$uc_cuda_include" && test -n "$uc_cudnn_include"], [
    CUDA_CPPFLAGS=
    for uc_dir in "$uc_cuda_include" "$uc_crt_include" "$uc_cudnn_include"; do
        # As a system folder /usr/include would come before the compiler's.
        AS_CASE([$uc_dir], [''|/usr/include], [],
            [CUDA_CPPFLAGS="$CUDA_CPPFLAGS -isystem $uc_dir"])
    done
    uc_saved_cppflags=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
    AC_MSG_CHECKING([whether the cuDNN headers are of version 9])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <cuda.h>
#include <cudnn.h>
#if CUDNN_MAJOR != 9
#error cuDNN 9 is needed
#endif
]], [])], [have_cudnn=yes])
    AC_MSG_RESULT([$have_cudnn])
    CPPFLAGS=$uc_saved_cppflags
    uc_cuda_why="the headers in $uc_cudnn_include do not compile as cuDNN 9"
    AS_IF([test -f "$uc_cuda_include/cuda_runtime_api.h" &&
        test -z "$uc_crt_include" &&
        test ! -f "$uc_cuda_include/crt/host_defines.h"],
        [uc_cuda_why="no crt/host_defines.h in $uc_cuda_include; in Python's wheels: nvidia-cuda-crt, of CUDA 12 nvidia-cuda-nvcc-cu12"])
    AS_CASE([$have_cudnn/$with_cuda/$with_cudnn],
        [yes/*|no/auto/auto], [],
        [AC_MSG_ERROR([$uc_cuda_why])])
])
AC_SUBST([CUDA_CPPFLAGS])
AM_CONDITIONAL([HAVE_CUDNN], [test "$have_cudnn" = yes])
AS_IF([test "$have_cudnn" = yes], [
    AC_DEFINE([HAVE_CUDNN], [1], [Define when CUDA and cuDNN headers were found.])
    AC_DEFINE_UNQUOTED([CUDNN_DIR], ["${uc_cudnn_include%/include*}"],
        [The folder whose include folder has cudnn.h.])
    uc_cuda_summary="yes (cuda.h in $uc_cuda_include, cudnn.h in $uc_cudnn_include)"
], [
    CUDA_CPPFLAGS=
    AS_CASE([$with_cuda/$with_cudnn],
        [no/*|*/no], [uc_cuda_why="not asked for"])
    uc_cuda_summary="no ($uc_cuda_why)"
    AC_MSG_WARN([only the GPU-free half is built, without measuring: $uc_cuda_why])
])
])
