# The frame: every test speaks TAP, so that each case counts.
#
# unit_tests: cmocka programs, tests/NAME.c each.
# cli_tests:  shell scripts that run ucudnn-plan.
# test_tools: programs that tests run.
# gpu_tests:  programs and scripts named gpu_*; they skip without a GPU.
unit_tests =
cli_tests =
gpu_tests =
# Programs of `make bench`: built only then, and what they run.
bench_programs =
bench_tools =
# GPU code, which `make coverage` does not count.
coverage_exclude = \
	planner/gpu.c \
	planner/measure.c \
	planner/reference.c \
	planner/timing.c \
	planner/trial.c \
	planner/worker.c
test_tools =

TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/tap.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	abs_top_srcdir='$(abs_top_srcdir)'; export abs_top_srcdir; \
	abs_top_builddir='$(abs_top_builddir)'; export abs_top_builddir; \
	UCUDNN_DATA_DIR='$(abs_top_srcdir)/db'; export UCUDNN_DATA_DIR; \
	PATH='$(abs_top_builddir)':"$$PATH"; export PATH; \
	AWK='$(AWK)'; export AWK; \
	LSAN_OPTIONS=suppressions='$(abs_top_srcdir)'/tests/leaks.txt:print_suppressions=0; \
	export LSAN_OPTIONS; \
	TEST_CC='$(CC)'; export TEST_CC; \
	TEST_CFLAGS='$(SANITIZER_FLAGS) $(COVERAGE_FLAGS)'; \
	export TEST_CFLAGS; \
	TEST_CPPFLAGS='$(DEFS) -I$(abs_top_srcdir) \
	-I$(abs_top_builddir) $(SQLITE_CFLAGS) $(CUDA_CPPFLAGS)'; \
	export TEST_CPPFLAGS; \
	TEST_CUDA_CPPFLAGS='$(CUDA_CPPFLAGS)'; export TEST_CUDA_CPPFLAGS; \
	TEST_SQLITE_LIBS='$(SQLITE_LIBS)'; export TEST_SQLITE_LIBS;
EXTRA_DIST += tests/planning_support.h tests/leaks.txt tests/lib.sh tests/tap.sh tests/unit.h

# What a test program links when it does not say (archives give only what
# is used).
LDADD = libuc-planner.a $(runtime_library) libuc-db.a libuc-common.a \
	$(CMOCKA_LIBS) \
	$(CAIRO_LIBS) $(GLPK_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) -lm

# common
unit_tests += \
	tests/array_append \
	tests/bytes_parse \
	tests/device_difference \
	tests/error_wrap \
	tests/kernel_text \
	tests/log_line \
	tests/problem_canonical \
	tests/problem_check \
	tests/problem_text \
	tests/text_line
EXTRA_DIST += tests/problem_support.h tests/random.h

# build
cli_tests += \
	tests/configure_cuda.sh

# documents
cli_tests += \
	tests/api_names.sh \
	tests/ci_recipe.sh \
	tests/install_example.sh \
	tests/man_examples.sh \
	tests/man_lint.sh \
	tests/man_options.sh \
	tests/readme_commands.sh

# the frame itself
cli_tests += \
	tests/tap_reasons.sh

# command line
unit_tests += \
	tests/opt_parse
cli_tests += \
	tests/cli_main.sh

# db: profiles and plans
EXTRA_DIST += tests/db_support.h tests/plan_support.h
EXTRA_DIST += tests/plan_1.sql tests/profile_1.sql \
	tests/profile_2.sql
test_tools += tests/db_make
unit_tests += \
	tests/db_concurrent \
	tests/db_full \
	tests/db_hostile \
	tests/db_size \
	tests/db_versions \
	tests/plan_store \
	tests/profile_manual \
	tests/profile_store \
	tests/sql_open
cli_tests += \
	tests/cli_files.sh \
	tests/man_profile.sh

# profiles and plans as text
EXTRA_DIST += tests/dump_support.h tests/dump_text.h
unit_tests += tests/dump_faults tests/dump_restore
cli_tests += tests/cli_dump.sh

# profiles united
unit_tests += tests/compact_rows tests/merge_profiles
cli_tests += tests/cli_merge.sh

# what a machine has and what of a program is seen
cli_tests += \
	tests/cli_doctor.sh \
	tests/cli_doctor_command.sh

# plans and profiles compared
unit_tests += \
	tests/compare_sides \
	tests/rank_test
cli_tests += tests/cli_compare.sh

# reports
unit_tests += \
	tests/chart_draw \
	tests/json_print \
	tests/markup_text \
	tests/report_plan \
	tests/report_profile \
	tests/report_text
cli_tests += \
	tests/cli_show_files.sh \
	tests/cli_show_html.sh \
	tests/cli_show_profile.sh

# networks, policies and shipped data
unit_tests += \
	tests/data_find \
	tests/network_faults \
	tests/network_manual \
	tests/network_read \
	tests/network_shapes \
	tests/policy_sizes \
	tests/workload_read
tests_network_shapes_SOURCES = tests/network_shapes.c \
	tests/network_walks.c tests/network_walks.h
cli_tests += \
	tests/cli_networks.sh \
	tests/man_network.sh
EXTRA_DIST += tests/cli_networks.out

# lists of layers of other tools
unit_tests += \
	tests/import_print \
	tests/import_read
cli_tests += \
	tests/cli_import.sh

# fuzzers: make check replays their corpora; make fuzz needs clang
fuzz_programs = \
	tests/fuzz_import \
	tests/fuzz_network \
	tests/fuzz_plan \
	tests/fuzz_problem \
	tests/fuzz_profile
fuzz_frame = tests/fuzz.c tests/fuzz.h tests/fuzz_replay.c
tests_fuzz_import_SOURCES = tests/fuzz_import.c $(fuzz_frame)
tests_fuzz_network_SOURCES = tests/fuzz_network.c $(fuzz_frame)
tests_fuzz_plan_SOURCES = tests/fuzz_plan.c $(fuzz_frame)
tests_fuzz_problem_SOURCES = tests/fuzz_problem.c $(fuzz_frame)
tests_fuzz_profile_SOURCES = tests/fuzz_profile.c $(fuzz_frame)
check_PROGRAMS += $(fuzz_programs)
TESTS += $(fuzz_programs)
EXTRA_DIST += tests/corpus tests/fuzz.sh
fuzz: $(BUILT_SOURCES)
	FUZZ_CPPFLAGS='$(DEFS) $(CPPFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS)' \
	    FUZZ_LIBS='$(JANSSON_LIBS) $(SQLITE_LIBS) -lm' \
	    $(SHELL) $(srcdir)/tests/fuzz.sh $(srcdir) \
	    $(fuzz_programs:tests/fuzz_%=%)
.PHONY: fuzz

# desirable sets, workspace reuse and division
EXTRA_DIST += tests/synthetic.h
test_tools += tests/profile_make
cli_tests += \
	tests/cli_plan.sh \
	tests/cli_sweep.sh
unit_tests += \
	tests/candidates_filter \
	tests/coverage_batches \
	tests/curve_build \
	tests/desirable_build \
	tests/plan_build \
	tests/plan_options \
	tests/verify_judge \
	tests/wd_glpk_error \
	tests/wd_solve

# The speed of the planner: `make bench`.
bench_programs += tests/bench_planner

include tests/double/local.mk
include tests/client/local.mk

# measuring
unit_tests += \
	tests/agenda_record \
	tests/agenda_rounds \
	tests/agenda_sizes \
	tests/child_tell \
	tests/known_bad \
	tests/prune_rules \
	tests/shard_keep \
	tests/timing_take \
	tests/tolerance_classes \
	tests/tune_kernels
agenda_play_sources = tests/agenda_play.c tests/agenda_play.h
tests_agenda_record_SOURCES = tests/agenda_record.c $(agenda_play_sources)
tests_agenda_rounds_SOURCES = tests/agenda_rounds.c $(agenda_play_sources)
tests_agenda_sizes_SOURCES = tests/agenda_sizes.c $(agenda_play_sources)
tests_child_tell_SOURCES = tests/child_tell.c planner/child.c planner/child.h
if HAVE_CUDNN
unit_tests += tests/measure_cut_off
tests_measure_cut_off_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_measure_cut_off_LDFLAGS = $(double_test_ldflags)
tests_measure_cut_off_LDADD = $(double_cudnn) $(double_cuda) libuc-planner.a \
	$(runtime_library) libuc-db.a libuc-common.a $(CMOCKA_LIBS) \
	$(SQLITE_LIBS) -ldl -lm
endif
cli_tests += \
	tests/cli_bench_faults.sh \
	tests/cli_bench_graph.sh \
	tests/cli_bench_tune.sh \
	tests/cli_bench_slurm.sh

# statistics and recording; run and record
EXTRA_DIST += tests/runtime_steps.sh
cli_tests += \
	tests/cli_record.sh \
	tests/cli_record_killed.sh \
	tests/cli_run.sh \
	tests/cli_run_stats.sh \
	tests/cli_verify.sh
unit_tests += \
	tests/record_rounds \
	tests/record_text
tests_record_rounds_SOURCES = tests/record_rounds.c runtime/record_rounds.c \
	runtime/record_rounds.h
tests_record_text_SOURCES = tests/record_text.c runtime/record_text.c \
	runtime/record_text.h
if HAVE_CUDNN
unit_tests += \
	tests/record_reasons \
	tests/stats_summary
tests_record_reasons_SOURCES = tests/record_reasons.c \
	runtime/caller.c runtime/caller.h \
	runtime/record.c runtime/record.h \
	runtime/record_rounds.c runtime/record_rounds.h \
	runtime/record_text.c runtime/record_text.h
tests_record_reasons_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_record_reasons_LDFLAGS = $(AM_LDFLAGS) -pthread
tests_record_reasons_LDADD = libuc-common.a $(CMOCKA_LIBS)
tests_stats_summary_SOURCES = tests/stats_summary.c $(stats_test_sources)
stats_test_sources = \
	runtime/ready.c runtime/ready.h \
	runtime/settings.c runtime/settings.h \
	runtime/sight.c runtime/sight.h \
	runtime/sight_look.c \
	runtime/stats.c runtime/stats.h \
	runtime/table.c runtime/table.h
tests_stats_summary_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_stats_summary_LDFLAGS = $(AM_LDFLAGS) -pthread \
	-Wl,--wrap=uc_table_nearest
tests_stats_summary_LDADD = $(runtime_library) libuc-db.a libuc-common.a \
	$(CMOCKA_LIBS) $(SQLITE_LIBS)
check_PROGRAMS += tests/client/steps
tests_client_steps_SOURCES = tests/client/steps.c
tests_client_steps_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_client_steps_LDFLAGS = $(double_test_ldflags)
tests_client_steps_LDADD = $(double_cudnn) $(double_cuda)
endif

# ucudnn.h: the programs are linked as a user's are, libucudnn before cuDNN
EXTRA_DIST += tests/api_support.h
if HAVE_CUDNN
unit_tests += \
	tests/api_execute \
	tests/api_find \
	tests/api_linked \
	tests/api_plan
api_ldadd = $(double_cudnn) $(double_cuda) \
	$(runtime_library) libuc-db.a libuc-common.a \
	$(CMOCKA_LIBS) $(SQLITE_LIBS) -lm
# By the linker's own word, since libtool would put it behind the double.
api_ldflags = $(double_test_ldflags) -Wl,-rpath,$(abs_top_builddir)/.libs \
	-Wl,--no-as-needed,.libs/libucudnn.so
tests_api_execute_SOURCES = tests/api_execute.c $(double_test_sources)
tests_api_execute_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_api_execute_LDADD = $(api_ldadd)
tests_api_execute_LDFLAGS = $(api_ldflags)
EXTRA_tests_api_execute_DEPENDENCIES = libucudnn.la
tests_api_find_SOURCES = tests/api_find.c $(double_test_sources)
tests_api_find_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_api_find_LDADD = $(api_ldadd)
tests_api_find_LDFLAGS = $(api_ldflags)
EXTRA_tests_api_find_DEPENDENCIES = libucudnn.la
tests_api_linked_SOURCES = tests/api_linked.c $(double_test_sources)
tests_api_linked_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_api_linked_LDADD = $(api_ldadd)
tests_api_linked_LDFLAGS = $(api_ldflags)
EXTRA_tests_api_linked_DEPENDENCIES = libucudnn.la
tests_api_plan_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_api_plan_LDADD = $(api_ldadd)
tests_api_plan_LDFLAGS = $(api_ldflags)
EXTRA_tests_api_plan_DEPENDENCIES = libucudnn.la
endif

# the real cuDNN, for a GPU that is only described
EXTRA_DIST += tests/h200-deviceprop.json
if HAVE_CUDNN
unit_tests += tests/engines_search
tests_engines_search_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_engines_search_LDADD = $(runtime_library) libuc-db.a libuc-common.a \
	$(CMOCKA_LIBS) $(SQLITE_LIBS) -ldl
endif

# on a GPU
if HAVE_CUDNN
gpu_programs = \
	tests/gpu_api \
	tests/gpu_devices \
	tests/gpu_runner \
	tests/gpu_runtime
endif
gpu_tests += $(gpu_programs) \
	tests/gpu_bench.sh \
	tests/gpu_doctor.sh \
	tests/gpu_pytorch.sh
cli_tests += tests/carry_folder.sh
EXTRA_DIST += \
	tests/carry.sh \
	tests/gpu_all.sh \
	tests/gpu_carried.sh \
	tests/gpu_profile.sh \
	tests/gpu_bench.sh \
	tests/gpu_doctor.sh \
	tests/gpu_pytorch.sh \
	tests/pytorch/compare.py \
	tests/pytorch/step.py
gpu_fixture_sources = tests/gpu_fixture.c tests/gpu_fixture.h \
	tests/double/number.c
gpu_client_sources = $(gpu_fixture_sources) \
	tests/gpu_client.c tests/gpu_client.h \
	tests/gpu_plan.c tests/gpu_plan.h
# libucudnn by the linker's own word, before cuDNN.
gpu_client_ldflags = $(AM_LDFLAGS) \
	-Wl,-rpath,$(abs_top_builddir)/.libs \
	-Wl,--no-as-needed,.libs/libucudnn.so
tests_gpu_api_SOURCES = tests/gpu_api.c $(gpu_client_sources)
tests_gpu_api_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_gpu_api_LDFLAGS = $(gpu_client_ldflags)
tests_gpu_api_LDADD = $(LDADD) -ldl
EXTRA_tests_gpu_api_DEPENDENCIES = libucudnn.la
tests_gpu_devices_SOURCES = tests/gpu_devices.c $(gpu_client_sources)
tests_gpu_devices_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_gpu_devices_LDFLAGS = $(gpu_client_ldflags) -pthread
tests_gpu_devices_LDADD = $(LDADD) -ldl
EXTRA_tests_gpu_devices_DEPENDENCIES = libucudnn.la
tests_gpu_runner_SOURCES = tests/gpu_runner.c $(gpu_fixture_sources)
tests_gpu_runner_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_gpu_runtime_SOURCES = tests/gpu_runtime.c $(gpu_client_sources)
tests_gpu_runtime_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_gpu_runtime_LDFLAGS = $(gpu_client_ldflags) -pthread
tests_gpu_runtime_LDADD = $(LDADD) -ldl
EXTRA_tests_gpu_runtime_DEPENDENCIES = libucudnn.la

# Keep this at the end.
if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests) $(test_tools) $(gpu_programs)
TESTS += $(unit_tests)
else
# Fails, and says why: unit tests that were not built have not passed.
TESTS += tests/needs_cmocka.sh
endif
TESTS += $(cli_tests) $(gpu_tests)
EXTRA_PROGRAMS = $(bench_programs) tests/bench_pruning
CLEANFILES += $(bench_programs) tests/bench_pruning
EXTRA_DIST += $(cli_tests) tests/needs_cmocka.sh
