# The frame: every test speaks TAP, so that each case counts.
#
# unit_tests: cmocka programs, tests/NAME.c each.
# cli_tests:  shell scripts that run ucudnn-plan.
# test_tools: programs that tests run.
# gpu_tests:  programs and scripts named gpu_*; they skip without a GPU.
unit_tests =
cli_tests =
gpu_tests =
# Programs of `make bench`: built only then.
bench_programs =
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
	AWK='$(AWK)'; export AWK;
EXTRA_DIST += tests/lib.sh tests/tap.sh tests/unit.h

# What a test program links when it does not say (archives give only what
# is used).
LDADD = libuc-planner.a $(runtime_library) libuc-db.a libuc-common.a \
	$(CMOCKA_LIBS) \
	$(GLPK_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) -lm

# common
unit_tests += \
	tests/array_append \
	tests/bytes_parse \
	tests/device_difference \
	tests/error_wrap \
	tests/kernel_text \
	tests/problem_check \
	tests/problem_text \
	tests/text_line
EXTRA_DIST += tests/problem_support.h tests/random.h

# build
cli_tests += \
	tests/configure_cuda.sh

# documents
cli_tests += \
	tests/man_examples.sh \
	tests/man_lint.sh \
	tests/man_options.sh \
	tests/readme_commands.sh

# command line
unit_tests += \
	tests/opt_parse
cli_tests += \
	tests/cli_main.sh

# db: profiles and plans
EXTRA_DIST += tests/db_support.h tests/plan_support.h
test_tools += tests/db_make
unit_tests += \
	tests/db_concurrent \
	tests/db_hostile \
	tests/db_size \
	tests/plan_store \
	tests/profile_manual \
	tests/profile_store \
	tests/sql_open
cli_tests += \
	tests/man_profile.sh

# reports
unit_tests += \
	tests/report_plan \
	tests/report_profile \
	tests/report_text
cli_tests += \
	tests/cli_show_files.sh

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

# desirable sets, workspace reuse and division
EXTRA_DIST += tests/synthetic.h
test_tools += tests/profile_make
cli_tests += \
	tests/cli_plan.sh
unit_tests += \
	tests/desirable_build \
	tests/plan_build \
	tests/wd_glpk_error \
	tests/wd_solve

# The speed of the planner: `make bench`.
bench_programs += tests/bench_planner

include tests/double/local.mk

# measuring
unit_tests += tests/timing_take
cli_tests += tests/cli_bench_faults.sh

# on a GPU
if HAVE_CUDNN
gpu_programs = tests/gpu_runner
endif
gpu_tests += $(gpu_programs) tests/gpu_bench.sh
EXTRA_DIST += tests/gpu_bench.sh
tests_gpu_runner_SOURCES = tests/gpu_runner.c tests/double/number.c
tests_gpu_runner_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)

# Keep this at the end.
if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests) $(test_tools) $(gpu_programs)
TESTS += $(unit_tests)
else
# Fails, and says why: unit tests that were not built have not passed.
TESTS += tests/needs_cmocka.sh
endif
TESTS += $(cli_tests) $(gpu_tests)
EXTRA_PROGRAMS = $(bench_programs)
CLEANFILES += $(bench_programs)
EXTRA_DIST += $(cli_tests) tests/needs_cmocka.sh
