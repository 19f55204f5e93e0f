# UC_SQLITE_STATIC: how libucudnn, which is preloaded into other programs, gets
# SQLite: a private copy from libsqlite3.a when that can go into a shared
# object, so that a program's own SQLite is left alone, else the shared one.
# Sets RUNTIME_SQLITE_LIBS and uc_runtime_sqlite.
AC_DEFUN([UC_SQLITE_STATIC], [
AC_MSG_CHECKING([for a libsqlite3.a that fits a shared object])
uc_saved_libs=$LIBS
uc_saved_cflags=$CFLAGS
CFLAGS="$CFLAGS $SQLITE_CFLAGS -shared -fPIC"
LIBS="-Wl,--exclude-libs,ALL -l:libsqlite3.a -lm -lpthread $LIBS"
AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include <sqlite3.h>
int open_it(sqlite3 **db);
int open_it(sqlite3 **db)
{
    return sqlite3_open(":memory:", db);
}
]])], [
    uc_runtime_sqlite=private
    RUNTIME_SQLITE_LIBS="-Wl,--exclude-libs,ALL -Wl,-l:libsqlite3.a,-lm"
], [
    uc_runtime_sqlite=shared
    RUNTIME_SQLITE_LIBS=$SQLITE_LIBS
])
LIBS=$uc_saved_libs
CFLAGS=$uc_saved_cflags
AC_MSG_RESULT([$uc_runtime_sqlite])
AC_SUBST([RUNTIME_SQLITE_LIBS])
])
