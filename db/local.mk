noinst_LIBRARIES += libuc-db.a
# What the runtime needs of it.
plan_reader_sources = \
	db/plan.c db/plan.h \
	db/plan_impl.h \
	db/plan_read.c \
	db/sql.c db/sql.h \
	db/sql_impl.h \
	db/sql_open.c \
	db/sql_query.c
libuc_db_a_SOURCES = \
	$(plan_reader_sources) \
	db/plan_write.c \
	db/profile.c db/profile.h \
	db/profile_contents.c \
	db/profile_impl.h \
	db/profile_replace.c db/profile_replace.h \
	db/profile_rows.c \
	db/profile_searches.c \
	db/replace.c db/replace.h
libuc_db_a_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)

# A schema as one C string constant.
SUFFIXES += .sql .inc
.sql.inc:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) -e 's/[\\"]/\\&/g' \
	    -e 's/^/"/' -e 's/$$/\\n"/' $< >$@.tmp && mv $@.tmp $@
db_schemas = db/plan.inc db/profile.inc
BUILT_SOURCES += $(db_schemas)
CLEANFILES += $(db_schemas)
EXTRA_DIST += db/plan.sql db/profile.sql
db/libuc_db_a-plan_read.$(OBJEXT): db/plan.inc
db/libuc_db_a-profile.$(OBJEXT): db/profile.inc

networksdir = $(pkgdatadir)/networks
dist_networks_DATA = \
	db/networks/alexnet-grouped.json \
	db/networks/alexnet.json \
	db/networks/densenet40.json \
	db/networks/inception-v3.json \
	db/networks/mobilenet-v2.json \
	db/networks/resnet18.json \
	db/networks/resnet50.json \
	db/networks/unet3d.json \
	db/networks/vgg16.json
dist_pkgdata_DATA = db/known-bad-engines
profilesdir = $(pkgdatadir)/profiles
dist_profiles_DATA = \
	db/profiles/h200-fine.profile \
	db/profiles/h200-fp16.profile \
	db/profiles/h200.profile
EXTRA_DIST += db/split-profile.awk
