# UC_CUDA: headers of the CUDA driver API and cuDNN 9. Both libraries are
# opened at run time, so nothing is linked.
#
# Looked for in --with-cuda=DIR and --with-cudnn=DIR, /usr/local/cuda, and
# NVIDIA's Python wheels (site-packages/nvidia/...). Sets CUDA_CPPFLAGS,
# uc_cuda_summary and the conditional HAVE_CUDNN.
AC_DEFUN([UC_CUDA], [
AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR], [CUDA Toolkit, or "no" for the GPU-free half])],
    [], [with_cuda=auto])
AC_ARG_WITH([cudnn],
    [AS_HELP_STRING([--with-cudnn=DIR], [cuDNN 9 (default: with CUDA)])],
    [], [with_cudnn=auto])

# Folders to try, one a word; paths with blanks are not looked into.
uc_wheels=`python3 -c 'import sysconfig as s; print(s.get_paths()@<:@"purelib"@:>@ + "/nvidia")' 2>/dev/null`
AS_CASE([$with_cuda],
    [no], [uc_cuda_dirs=],
    [auto|yes], [uc_cuda_dirs="/usr/local/cuda $uc_wheels/cu13 $uc_wheels/cu12 $uc_wheels/cuda_runtime"],
    [uc_cuda_dirs=$with_cuda])
AS_CASE([$with_cudnn],
    [no], [uc_cudnn_dirs=],
    [auto|yes], [uc_cudnn_dirs="$uc_cuda_dirs $uc_wheels/cudnn /usr /usr/local"],
    [uc_cudnn_dirs=$with_cudnn])
AS_CASE([$with_cuda], [no], [uc_cudnn_dirs=])

uc_cuda_include=
for uc_dir in $uc_cuda_dirs; do
    for uc_sub in include cuda_runtime/include cu13/include cu12/include targets/x86_64-linux/include; do
        AS_IF([test -z "$uc_cuda_include" && test -f "$uc_dir/$uc_sub/cuda.h"],
            [uc_cuda_include=$uc_dir/$uc_sub])
    done
done
uc_cudnn_include=
for uc_dir in $uc_cudnn_dirs; do
    for uc_sub in include cudnn/include include/x86_64-linux-gnu; do
        AS_IF([test -z "$uc_cudnn_include" && test -f "$uc_dir/$uc_sub/cudnn.h"],
            [uc_cudnn_include=$uc_dir/$uc_sub])
    done
done

AC_MSG_CHECKING([for CUDA headers])
AC_MSG_RESULT([${uc_cuda_include:-no}])
AC_MSG_CHECKING([for cuDNN headers])
AC_MSG_RESULT([${uc_cudnn_include:-no}])
AS_CASE([$with_cuda], [no|auto], [],
    [AS_IF([test -z "$uc_cuda_include"],
        [AC_MSG_ERROR([--with-cuda=$with_cuda: no cuda.h there])])])
AS_CASE([$with_cudnn], [no|auto], [],
    [AS_IF([test -z "$uc_cudnn_include"],
        [AC_MSG_ERROR([--with-cudnn=$with_cudnn: no cudnn.h there])])])

have_cudnn=no
AS_IF([test -n "$uc_cuda_include" && test -n "$uc_cudnn_include"], [
    CUDA_CPPFLAGS="-isystem $uc_cuda_include -isystem $uc_cudnn_include -DCUDNN_DIR='\"${uc_cudnn_include%/include}\"'"
    uc_saved_cppflags=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
    AC_MSG_CHECKING([whether the cuDNN headers are of version 9])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <cuda.h>
#include <cudnn.h>
#if CUDNN_MAJOR != 9
#error cuDNN 9 is needed
#endif
]], [])], [have_cudnn=yes], [
        AS_CASE([$with_cuda$with_cudnn], [autoauto|noauto|autono], [],
            [AC_MSG_ERROR([cuDNN 9 headers are needed, $uc_cudnn_include has none that compile])])])
    AC_MSG_RESULT([$have_cudnn])
    CPPFLAGS=$uc_saved_cppflags
])
AC_SUBST([CUDA_CPPFLAGS])
AM_CONDITIONAL([HAVE_CUDNN], [test "$have_cudnn" = yes])
AS_IF([test "$have_cudnn" = yes], [
    AC_DEFINE([HAVE_CUDNN], [1], [Define when CUDA and cuDNN headers were found.])
    uc_cuda_summary="yes (cuda.h in $uc_cuda_include, cudnn.h in $uc_cudnn_include)"
], [
    AC_MSG_WARN([no CUDA and cuDNN 9 headers: building without measuring (bench)])
    uc_cuda_summary="no (no CUDA and cuDNN 9 headers; --with-cuda=DIR, --with-cudnn=DIR)"
])
])
