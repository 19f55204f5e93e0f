noinst_LIBRARIES += libuc-planner.a
libuc_planner_a_SOURCES = \
	planner/data.c planner/data.h \
	planner/desirable.c planner/desirable.h \
	planner/network.c planner/network.h \
	planner/opt.c planner/opt.h \
	planner/policy.c planner/policy.h \
	planner/wd.c planner/wd.h
libuc_planner_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS)

bin_PROGRAMS += ucudnn-plan
ucudnn_plan_SOURCES = planner/main.c
ucudnn_plan_LDADD = libuc-planner.a libuc-db.a libuc-common.a \
	$(GLPK_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) -lm
