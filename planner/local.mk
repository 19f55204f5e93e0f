noinst_LIBRARIES += libuc-planner.a
libuc_planner_a_SOURCES = \
	planner/opt.c planner/opt.h \
	planner/opt_value.c planner/opt_value.h

bin_PROGRAMS += ucudnn-plan
ucudnn_plan_SOURCES = \
	planner/cmd_help.c \
	planner/commands.c planner/commands.h \
	planner/main.c
ucudnn_plan_LDADD = libuc-planner.a libuc-common.a \
	$(GLPK_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) -lm
