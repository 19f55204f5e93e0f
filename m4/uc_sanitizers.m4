# UC_SANITIZERS: --with-sanitizers=LIST, given to the compiler as it is.
AC_DEFUN([UC_SANITIZERS], [
AC_ARG_WITH([sanitizers],
    [AS_HELP_STRING([--with-sanitizers=LIST], [build with these sanitizers (address,undefined)])],
    [], [with_sanitizers=no])
uc_sanitizers=$with_sanitizers
AS_IF([test "$with_sanitizers" != no], [
    uc_saved_cflags=$CFLAGS
    SANITIZER_FLAGS="-fsanitize=$with_sanitizers -fno-omit-frame-pointer -fno-sanitize-recover=all"
    CFLAGS="$CFLAGS $SANITIZER_FLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [],
        [AC_MSG_ERROR([the compiler does not build with -fsanitize=$with_sanitizers])])
    CFLAGS=$uc_saved_cflags
])
AC_SUBST([SANITIZER_FLAGS])
])
