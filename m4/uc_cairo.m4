# UC_CAIRO: --with-cairo, which draws the images of `ucudnn-plan sweep`; used
# when found. Sets CAIRO_CFLAGS, CAIRO_LIBS, HAVE_CAIRO (also a conditional)
# and uc_cairo_summary.
AC_DEFUN([UC_CAIRO], [
AC_ARG_WITH([cairo],
    [AS_HELP_STRING([--with-cairo], [draw images of sweeps; with "no", build without (default: when cairo is found)])],
    [], [with_cairo=auto])
have_cairo=no
uc_cairo_summary="no (not asked for)"
AS_CASE([$with_cairo],
    [no], [],
    [auto|yes], [PKG_CHECK_MODULES([CAIRO], [cairo-svg cairo-png],
        [have_cairo=yes
        uc_cairo_summary=yes],
        [uc_cairo_summary="no (no cairo; Debian: libcairo2-dev)"])],
    [AC_MSG_ERROR([--with-cairo takes no value but yes or no])])
AS_CASE([$with_cairo/$have_cairo],
    [yes/no],
        [AC_MSG_ERROR([--with-cairo: cairo not found (Debian: libcairo2-dev)])],
    [*/yes], [AC_DEFINE([HAVE_CAIRO], [1], [Define when cairo was found.])])
AM_CONDITIONAL([HAVE_CAIRO], [test "$have_cairo" = yes])
])
