bin_PROGRAMS += ucudnn-plan
ucudnn_plan_SOURCES = planner/main.c
ucudnn_plan_LDADD = libuc-common.a
