noinst_LIBRARIES += libuc-db.a
libuc_db_a_SOURCES = \
	db/plan.c db/plan.h \
	db/profile.c db/profile.h \
	db/sql.c db/sql.h
libuc_db_a_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)

# A text file as one C string constant.
db_schemas = db/plan_schema.inc db/profile_schema.inc
db/%_schema.inc: db/%.sql
	$(AM_V_GEN)$(MKDIR_P) db && $(SED) -e 's/[\\"]/\\&/g' \
	    -e 's/^/"/' -e 's/$$/\\n"/' $< >$@.tmp && mv $@.tmp $@
BUILT_SOURCES += $(db_schemas)
CLEANFILES += $(db_schemas)
EXTRA_DIST += db/plan.sql db/profile.sql

networksdir = $(pkgdatadir)/networks
dist_networks_DATA = 
profilesdir = $(pkgdatadir)/profiles
dist_profiles_DATA =
