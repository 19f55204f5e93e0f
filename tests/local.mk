
# db: profiles and plans
EXTRA_DIST += tests/db_support.h
if HAVE_CMOCKA
db_tests = \
	tests/db_size \
	tests/profile_store
check_PROGRAMS += $(db_tests)
TESTS += $(db_tests)
tests_db_size_CPPFLAGS = $(db_test_cppflags)
tests_db_size_LDADD = $(db_test_ldadd)
tests_profile_store_CPPFLAGS = $(db_test_cppflags)
tests_profile_store_LDADD = $(db_test_ldadd)
db_test_cppflags = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS)
db_test_ldadd = libuc-db.a libuc-common.a $(CMOCKA_LIBS) $(SQLITE_LIBS) -lm
endif
