noinst_LIBRARIES += libuc-planner.a
libuc_planner_a_SOURCES = \
	planner/agenda.c planner/agenda.h planner/agenda_impl.h \
	planner/agenda_record.c \
	planner/agenda_tune.c \
	planner/bench.h \
	planner/canvas.h \
	planner/canvas_markup.c \
	planner/chart.c planner/chart.h \
	planner/compact.c planner/compact.h \
	planner/compare.c planner/compare.h \
	planner/compare_plan.c \
	planner/compare_profile.c \
	planner/coverage.c planner/coverage.h \
	planner/coverage_network.c \
	planner/data.c planner/data.h \
	planner/dump.c planner/dump.h \
	planner/dump_records.h \
	planner/gpu.h \
	planner/import.c planner/import.h \
	planner/import_benchdnn.c planner/import_benchdnn.h \
	planner/import_benchdnn_shape.c \
	planner/import_deepbench.c \
	planner/import_file.c planner/import_file.h \
	planner/import_miopen.c \
	planner/import_print.c planner/import_reader.h \
	planner/json_text.c planner/json_text.h \
	planner/known_bad.c planner/known_bad.h \
	planner/launch.c planner/launch.h \
	planner/measure.h \
	planner/merge.c planner/merge.h \
	planner/merge_search.c planner/merge_search.h \
	planner/network.c planner/network.h \
	planner/network_layer.c \
	planner/network_reader.c planner/network_reader.h \
	planner/opt.c planner/opt.h \
	planner/opt_value.c planner/opt_value.h \
	planner/outfile.c planner/outfile.h \
	planner/page.c planner/page.h \
	planner/page_bars.c planner/page_bars.h \
	planner/policy.c planner/policy.h \
	planner/progress.c planner/progress.h \
	planner/prune.c planner/prune.h \
	planner/rank_test.c planner/rank_test.h \
	planner/record.c planner/record.h \
	planner/report.h \
	planner/report_compare.c planner/report_compare.h \
	planner/report_compare_ci.c \
	planner/report_json.c planner/report_json.h \
	planner/report_plan.c \
	planner/report_profile.c \
	planner/report_sweep.c \
	planner/report_text.c \
	planner/restore.c \
	planner/seat.h \
	planner/shard.c planner/shard.h \
	planner/table.c planner/table.h \
	planner/timing.c planner/timing.h \
	planner/tolerance.c planner/tolerance.h \
	planner/tune.c planner/tune.h \
	planner/work.c planner/work.h \
	planner/worker.h \
	planner/workload.c planner/workload.h
# Desirable sets, WR and WD, and plans made of them.
libuc_planner_a_SOURCES += \
	planner/candidates.c planner/candidates.h \
	planner/curve.c planner/curve.h \
	planner/desirable.c planner/desirable.h \
	planner/device_list.c planner/device_list.h \
	planner/plan_build.c planner/plan_build.h \
	planner/plan_divide.c planner/planning.h \
	planner/replan.c planner/replan.h \
	planner/sweep.c planner/sweep.h \
	planner/wd.c planner/wd.h \
	planner/wd_bound.c \
	planner/wd_branch.c planner/wd_core.h
EXTRA_DIST += planner/gpu_kernels.cu planner/gpu_kernels.ptx

# Measuring needs the CUDA and cuDNN headers.
if HAVE_CUDNN
libuc_planner_a_SOURCES += \
	planner/bench.c \
	planner/gpu.c \
	planner/measure.c \
	planner/reference.c \
	planner/seat.c \
	planner/trial.c planner/trial.h \
	planner/trial_turns.c \
	planner/worker.c
planner_inc = planner/gpu_kernels.inc
BUILT_SOURCES += $(planner_inc)
CLEANFILES += $(planner_inc)
else
libuc_planner_a_SOURCES += planner/bench_none.c
endif
# Verifying a plan.
libuc_planner_a_SOURCES += \
	planner/report_verify.c planner/report_verify.h \
	planner/report_verify_json.c \
	planner/verify.h \
	planner/verify_choose.c \
	planner/verify_judge.c
if HAVE_CUDNN
libuc_planner_a_SOURCES += \
	planner/child.c planner/child.h \
	planner/verify.c planner/verify_impl.h \
	planner/verify_child.c \
	planner/verify_find.c \
	planner/verify_sequence.c \
	planner/verify_way.c
else
libuc_planner_a_SOURCES += planner/verify_none.c
endif

# What a machine has, and what of a program can be seen.
libuc_planner_a_SOURCES += \
	planner/doctor.h \
	planner/doctor_judge.c \
	planner/doctor_machine.c \
	planner/doctor_run.c \
	planner/probe.h \
	planner/report_machine.c \
	planner/report_program.c \
	runtime/sight.h runtime/sight_look.c
if HAVE_CUDNN
libuc_planner_a_SOURCES += planner/probe.c
else
libuc_planner_a_SOURCES += planner/probe_none.c
endif

# Images need cairo.
if HAVE_CAIRO
libuc_planner_a_SOURCES += planner/canvas_cairo.c
else
libuc_planner_a_SOURCES += planner/canvas_none.c
endif
libuc_planner_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) $(JANSSON_CFLAGS) \
	$(CAIRO_CFLAGS)

# A file as the bytes of a C string, to be included between braces.
as_bytes = $(AM_V_GEN)$(MKDIR_P) planner && { od -An -v -tu1 $< | \
	    $(SED) 's/ *\([0-9][0-9]*\)/\1,/g' && echo 0; } >$@.tmp && \
	    mv $@.tmp $@
SUFFIXES += .css .js .ptx
.css.inc:
	$(as_bytes)
.js.inc:
	$(as_bytes)
.ptx.inc:
	$(as_bytes)
page_parts = planner/page_script.inc planner/page_style.inc
BUILT_SOURCES += $(page_parts)
CLEANFILES += $(page_parts)
EXTRA_DIST += planner/page_script.js planner/page_style.css
planner/libuc_planner_a-page.$(OBJEXT): $(page_parts)

bin_PROGRAMS += ucudnn-plan
ucudnn_plan_SOURCES = \
	planner/cmd_bench.c \
	planner/cmd_compare.c \
	planner/cmd_doctor.c \
	planner/cmd_dump.c \
	planner/cmd_help.c \
	planner/cmd_import.c \
	planner/cmd_input.c planner/cmd_input.h \
	planner/cmd_merge.c \
	planner/cmd_networks.c \
	planner/cmd_plan.c \
	planner/cmd_record.c \
	planner/cmd_restore.c \
	planner/cmd_run.c \
	planner/cmd_show.c \
	planner/cmd_show_html.c planner/cmd_show_html.h \
	planner/cmd_sweep.c \
	planner/cmd_verify.c \
	planner/commands.c planner/commands.h \
	planner/main.c
ucudnn_plan_LDADD = libuc-planner.a $(runtime_library) libuc-db.a \
	libuc-common.a \
	$(CAIRO_LIBS) $(GLPK_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) -lm
