# UC_COVERAGE: --enable-coverage, for `make coverage`.
AC_DEFUN([UC_COVERAGE], [
AC_ARG_ENABLE([coverage],
    [AS_HELP_STRING([--enable-coverage], [instrument for make coverage])],
    [], [enable_coverage=no])
AS_IF([test "$enable_coverage" = yes],
    [COVERAGE_FLAGS="--coverage -fprofile-update=atomic -O0"])
AC_SUBST([COVERAGE_FLAGS])
AM_CONDITIONAL([COVERAGE], [test "$enable_coverage" = yes])
])
